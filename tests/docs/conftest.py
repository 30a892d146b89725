"""Makes the kit of the wire tests importable here: the documented server is a real one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "wire"))
