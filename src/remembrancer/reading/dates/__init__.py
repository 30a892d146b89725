"""Dates in a text, resolved against a reference time."""

from __future__ import annotations

from .finder import find_dates

__all__ = ["find_dates"]
