"""The words of the house: dataclasses, ids, time, errors. Imports nothing of ours."""
