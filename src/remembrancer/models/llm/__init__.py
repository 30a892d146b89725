"""Language models behind one small protocol; none of it is needed to run the house."""
