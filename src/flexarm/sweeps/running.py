"""Which engine runs the members."""

from __future__ import annotations

from flexarm.sweeps.one_by_one import run

__all__ = ["run"]
