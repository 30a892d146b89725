"""The rounds of faults take minutes: `make faults` plays them, and `make prove`."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("REMEMBRANCER_PROVE") else ["test_faults.py"]
