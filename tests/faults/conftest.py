"""That broken builds are caught takes minutes: `make prove` runs it."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("REMEMBRANCER_PROVE") else ["test_broken_builds.py"]
