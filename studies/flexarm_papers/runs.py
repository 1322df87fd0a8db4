"""Runs of the studies: silent, and given up with the study when it is interrupted."""

from __future__ import annotations

from typing import Any

import flexarm as fa


def simulate(*args: Any, **options: Any) -> fa.Run:
    """As `fa.simulate`, but for a run that was interrupted: half of one is of no use to a page."""
    run = fa.simulate(*args, progress=False, **options)
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run
