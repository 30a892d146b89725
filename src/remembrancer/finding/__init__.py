"""Query to memory: the bank index, its arms, fusion, composite score, budget."""
