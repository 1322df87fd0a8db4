from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from flexarm.plotting.colours import LINE_STYLES


def luminance(colour) -> float:
    """Return the relative luminance as defined by WCAG."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("colour", [colour for colour, _ in LINE_STYLES])
def test_contrast_of_line_colours(colour):
    assert 1.05 / (luminance(colour) + 0.05) > 3.0  # required by WCAG for graphics


def test_line_styles_have_different_dashes():
    assert len({str(dashes) for _, dashes in LINE_STYLES}) == len(LINE_STYLES)


# what protanopes, deuteranopes and tritanopes see of linear RGB (Machado, Oliveira and Fernandes, 2009)
SIGHT = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(linear) -> np.ndarray:
    """Return CIE L*a*b* of linear RGB under daylight."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = to_xyz @ np.clip(linear, 0, 1) / [0.9505, 1.0, 1.089]
    x, y, z = (np.cbrt(c) if c > 0.008856 else 7.787 * c + 16 / 116 for c in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_colour_blind_readers(sight):
    linear = [
        np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)])
        for colour, _ in LINE_STYLES[:5]
    ]
    seen = [lab(np.array(SIGHT[sight]) @ each) for each in linear]
    least = min(np.linalg.norm(one - other) for one, other in combinations(seen, 2))
    assert least > 30  # 2.3 is just noticeable
