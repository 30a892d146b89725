"""The suite is run by its clients' own interpreters, never by this one."""

from __future__ import annotations

collect_ignore = ["suite"]
