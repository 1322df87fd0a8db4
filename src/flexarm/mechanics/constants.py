"""Numbers in expressions."""

from __future__ import annotations

from typing import Any

import casadi as ca


def constant(matrix: Any) -> ca.SX:
    """A constant matrix whose zeros cost nothing."""
    return ca.SX(ca.sparsify(ca.DM(matrix)))
