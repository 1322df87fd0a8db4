import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.film import FRAMES, STATIONS, Film, thickening
from flexarm.studio.palette import BANDS, band_colours, bands_of, legend

TUBE = fa.Section.tapered(fa.Section.tube(0.03, 0.02), fa.Section.tube(0.02, 0.012))
METAL = fa.Material(7e10, 2700.0, damping=1e-3)
ARM = fa.Robot(
    links=[
        fa.Link("a", 0.5, mass=0.5),
        fa.Link("b", 1.0, section=TUBE, material=METAL, flexible=fa.Flexible(bend_y=2), payload=fa.PointMass(0.3)),
    ]
)


@pytest.fixture(scope="module")
def run() -> fa.Run:
    return fa.simulate(ARM, 0.3, torque={"b": 0.5}, native=False)


@pytest.fixture(scope="module")
def film(run: fa.Run) -> Film:
    return Film(fa.System(ARM, native=False), run, magnify=1.0, thicken=1.0)


def test_frames_are_samples_of_the_run(film: Film, run: fa.Run) -> None:
    assert len(film.times) == FRAMES + 1
    assert set(film.times) <= set(run.array("time"))
    assert (film.times[0], film.times[-1]) == (0.0, 0.3)
    for k in (0, 300, 600):
        np.testing.assert_array_equal(film.points(k), film.alone(k))
    np.testing.assert_allclose(film.way[-1], run.array("tip")[-1], atol=1e-9)


def test_triangles_have_kinds_and_stations(film: Film) -> None:
    assert film.faces.max() < len(film.points(0))
    assert len(film.faces) == len(film.kinds) == len(film.stations)
    assert film.stations.max() < 2 + STATIONS
    assert (film.stations[film.kinds == 0] >= 0).all()
    assert (film.stations[film.kinds != 0] == -1).all()


def test_colours_are_what_the_run_says(film: Film, run: fa.Run) -> None:
    deflection = np.linalg.norm(run.deflection("b").values[film.samples], axis=-1)
    np.testing.assert_allclose(film.values("deflection")[:, -1], deflection, atol=1e-12)
    assert not film.values("deflection")[:, :2].any()  # a rigid link has none
    moment = np.abs(run.moment("b", 0.0).values[film.samples][:, 2])
    np.testing.assert_allclose(film.values("moment")[:, 2], moment, rtol=1e-9)
    outermost = np.abs(film.system.strain("b", 0.0, film.q(), at=(0.015, 0.0)))
    np.testing.assert_allclose(film.values("strain")[:, 2], outermost, rtol=1e-6)


def test_thin_links_are_drawn_thicker() -> None:
    thin = fa.Robot(links=[fa.Link("a", 1.0, section=fa.Section.circle(0.001), material=METAL)])
    assert thickening(fa.System(ARM, native=False)) == 1.0
    assert thickening(fa.System(thin, native=False)) == 8.0


def test_bands_go_from_nothing_to_the_largest() -> None:
    assert len(band_colours()) == BANDS
    assert bands_of(np.array([0.0, 1.0]), 0.0).tolist() == [0, 0]  # nothing moves
    brightness = [sum(colour) for colour in band_colours()]
    assert brightness == sorted(brightness)  # readable in grey
    assert "0.25 N m" in legend("moment", "N m", 0.25)
