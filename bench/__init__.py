"""The measures: each module is one bench, run as `python -m bench.NAME`."""
