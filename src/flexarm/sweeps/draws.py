"""Values drawn from distributions, the same for the same seed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown

EDGE = 2.0**-53  # quantiles of unbounded distributions at 0 and 1 are infinite


def drawn(over: Any, members: int, seed: int, sobol: bool) -> dict[str, list[Any]]:
    """By field as many values as members: quantiles at points of the unit cube, at random or of Sobol's sequence."""
    if not isinstance(over, Mapping) or not over:
        raise TypeError(
            f"over = {shown(over)}: must be distributions by name, "
            "{'links.fore.payload.mass': scipy.stats.norm(0.15, 0.01)}"
        )
    inverses = {name: _inverse(name, each) for name, each in over.items()}
    points = np.clip(_points(members, len(over), seed, sobol), EDGE, 1 - EDGE)
    found = {}
    for column, (name, inverse) in zip(points.T, inverses.items(), strict=True):
        values = np.asarray(inverse(column), dtype=float)
        if values.shape != column.shape or not np.isfinite(values).all():
            raise ValueError(f"over[{name!r}] = {shown(over[name])}: its quantiles are not finite numbers")
        whole = _is_discrete(over[name]) and (values == np.rint(values)).all()
        found[name] = values.astype(int).tolist() if whole else values.tolist()
    return found


def _is_discrete(distribution: Any) -> bool:
    """Whether its values are whole numbers, which some fields want."""
    return hasattr(distribution, "pmf") and not hasattr(getattr(distribution, "dist", distribution), "pdf")


def _inverse(name: object, distribution: Any) -> Any:
    """The inverse of its distribution function."""
    inverse = getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
    from scipy.stats import rv_continuous, rv_discrete

    if not callable(inverse) or isinstance(distribution, (type, rv_continuous, rv_discrete)):
        raise TypeError(
            f"over[{name!r}] = {shown(distribution)}: must be a frozen distribution, scipy.stats.norm(0.15, 0.01)"
        )
    try:
        inverse(0.5)
    except TypeError:  # one that is not frozen lacks its shape
        raise TypeError(
            f"over[{name!r}] = {shown(distribution)}: must be frozen: give it its numbers, scipy.stats.norm(0.15, 0.01)"
        ) from None
    return inverse


def _points(members: int, dimensions: int, seed: int, sobol: bool) -> Array:
    if not sobol:
        return np.asarray(np.random.default_rng(seed).random((members, dimensions)))
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, seed=np.random.default_rng(seed))
    if members & (members - 1):
        near = 2 ** round(np.log2(members))
        warnings.warn(
            f"members = {members}: Sobol's points are balanced where they are a power of two; take {near}",
            UserWarning,
            stacklevel=4,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(sequence.random(members), dtype=float)
