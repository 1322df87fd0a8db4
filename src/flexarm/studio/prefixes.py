"""Units with which numbers can be read off an axis that has three decimals: mm, mrad, kJ, or 1e-6 kg."""

from __future__ import annotations

import math

PREFIXES = {-9: "n", -6: "µ", -3: "m", 3: "k", 6: "M", 9: "G"}
PREFIXED = ("m", "rad", "N", "J", "W", "Pa", "Hz", "s")  # units that begin with one of these can have a prefix
SMALL, LARGE = 0.1, 1e4  # numbers between these are read as they are
SPAN = 0.01  # over less than this, all ticks of an axis would be the same number
LONGEST = 1e6  # larger numbers do not fit beside an axis


def prefixed(low: float, high: float, unit: str) -> tuple[float, str]:
    """By what numbers from low to high are to be multiplied, and their unit then.

    >>> prefixed(-2e-4, 3e-3, "m"), prefixed(0.0, 2.5e-6, "N m"), prefixed(0.0, 0.7, "rad")
    ((1000.0, 'mm'), (1000000.0, 'µN m'), (1.0, 'rad'))
    >>> prefixed(0.3, 0.302, "rad"), prefixed(0.0, 2e-6, "kg"), prefixed(0.0, 2e-4, "1")
    ((1000.0, 'mrad'), (1000000.0, '1e-6 kg'), (1000000.0, '1e-6'))
    """
    size, span = max(abs(low), abs(high)), high - low
    if size == 0 or (SMALL <= size < LARGE and not 0 < span < SPAN):
        return 1.0, unit
    power = 3 * math.floor(math.log10(span if 0 < span < SPAN else size) / 3)
    while power < 0 and size * 10.0**-power > LONGEST:
        power += 3
    if power == 0:
        return 1.0, unit
    factor = 10.0**-power
    if power in PREFIXES and unit.replace("/", " ").split(" ")[0] in PREFIXED:
        return factor, f"{PREFIXES[power]}{unit}"
    return factor, f"1e{power} {unit}".removesuffix(" 1").rstrip()
