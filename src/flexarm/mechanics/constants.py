"""Numbers in expressions."""

from __future__ import annotations

from typing import Any

import casadi as ca

# How much counts of the coupling between deflection and speed of shortening, int mu v ds. With more than a half, the
# mass matrix would need its counterpart of fourth order to stay definite; with none, or with all, the spin-up of a beam
# bends less, or more, than that of the geometrically nonlinear beam (docs/theory.md).
AXIAL_SHARE = 1 / 3


def constant(matrix: Any) -> ca.SX:
    """A constant matrix whose zeros cost nothing."""
    return ca.SX(ca.sparsify(ca.DM(matrix)))
