"""The suite is run by its client's own interpreter, never by this one."""

from __future__ import annotations

collect_ignore = ["suite"]
