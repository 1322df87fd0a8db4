import numpy as np
import pytest
from matplotlib.colors import to_rgb

from flexarm.show.style import STYLES


def luminance(colour) -> float:
    """Relative luminance as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("colour", [colour for colour, _ in STYLES])
def test_every_line_stands_out_from_the_paper(colour):
    assert 1.05 / (luminance(colour) + 0.05) > 3.0  # what WCAG asks of graphics


def test_lines_differ_by_dashes_too():
    assert len({str(dashes) for _, dashes in STYLES}) == len(STYLES)
