import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.mesh_frames import (
    FRAMES,
    KIND_COLOURS,
    STATIONS,
    STOPS,
    MeshFrames,
    legend,
    legend_words,
    light,
    shades,
    thickening,
)

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
def film(run: fa.Run) -> MeshFrames:
    return MeshFrames(fa.System(ARM, native=False), run, magnify=1.0, thicken=1.0)


def test_frames_are_samples_of_the_run(film: MeshFrames, run: fa.Run) -> None:
    assert len(film.times) == FRAMES + 1
    assert set(film.times) <= set(run.array("time"))
    assert (film.times[0], film.times[-1]) == (0.0, 0.3)
    for k in (0, 300, 600):
        np.testing.assert_array_equal(film.points(k), film.alone(k))
    np.testing.assert_allclose(film.way[-1], run.array("tip")[-1], atol=1e-9)


def test_corners_have_kinds_and_stations(film: MeshFrames) -> None:
    assert film.faces.max() < len(film.points(0)) == len(film.triangles.kinds) == len(film.triangles.stations)
    assert film.triangles.stations.max() + 1 == 2 * STATIONS
    places = film.points(0)[film.triangles.stations >= STATIONS]  # in the first frame the arm lies along x
    along = 0.5 + np.linspace(0, 1, STATIONS)[film.triangles.stations[film.triangles.stations >= STATIONS] - STATIONS]
    np.testing.assert_allclose(places[:, 0], along, atol=1e-6)
    assert (film.triangles.stations[film.triangles.kinds == 0] >= 0).all()
    assert (film.triangles.stations[film.triangles.kinds != 0] == -1).all()


def test_colours_are_what_the_run_says(film: MeshFrames, run: fa.Run) -> None:
    deflection = np.linalg.norm(run.deflection("b").values[film.samples], axis=-1)
    np.testing.assert_allclose(film.values("deflection")[:, -1], deflection, atol=1e-12)
    assert not film.values("deflection")[:, :STATIONS].any()  # a rigid link has none
    moment = np.abs(run.moment("b", 0.0).values[film.samples][:, 2])
    np.testing.assert_allclose(film.values("moment")[:, STATIONS], moment, rtol=1e-9)
    outermost = np.abs(film.system.strain("b", 0.0, film.q(), at=(0.015, 0.0)))
    np.testing.assert_allclose(film.values("strain")[:, STATIONS], outermost, rtol=1e-6)


def test_moments_change_along_rigid_links(film: MeshFrames, run: fa.Run) -> None:
    x = 0.5 * np.array([0.0, 0.25, 1.0])
    moment = np.linalg.norm(run.moment("a", x).values[film.samples][..., 1:], axis=-1)
    np.testing.assert_allclose(film.values("moment")[:, [0, 4, 16]], moment, rtol=1e-9, atol=1e-12)


def test_corners_have_the_colours_of_their_stations(film: MeshFrames) -> None:
    values, k = film.values("strain"), 300
    found = film.colours(k, "strain")
    expected = shades(values[k], values.max())
    for corner in np.flatnonzero(film.triangles.kinds == 0):
        assert (found[corner] == expected[film.triangles.stations[corner]]).all()
    assert len(np.unique(found[film.triangles.kinds == 0], axis=0)) > STATIONS / 2
    masses = found[film.triangles.kinds == 3]
    assert (masses == KIND_COLOURS["mass"]).all()
    assert len(masses)
    assert (film.colours(k)[film.triangles.kinds == 0] == KIND_COLOURS["link"]).all()


def test_round_links_that_bend_both_ways_show_their_largest_strain() -> None:
    link = fa.Link("a", 1.0, section=fa.Section.circle(0.02), material=METAL, flexible=fa.Flexible(bend_y=1, bend_z=1))
    system = fa.System(fa.Robot(links=[link]), native=False)
    names = {"a.bend_y[1]": 0.02, "a.bend_z[1]": 0.013}
    found = MeshFrames(system, fa.simulate(system, 0.01, q0=names), 1.0, 1.0).values("strain")[0, 0]
    turn = np.linspace(0, 2 * np.pi, 3601)
    around = [system.strain("a", 0.0, names, at=(0.00999999 * np.cos(t), 0.00999999 * np.sin(t))) for t in turn]
    assert found == pytest.approx(np.abs(around).max(), rel=1e-5)


def test_thin_links_are_drawn_thicker() -> None:
    thin = fa.Robot(links=[fa.Link("a", 1.0, section=fa.Section.circle(0.001), material=METAL)])
    assert thickening(fa.System(ARM, native=False)) == 1.0
    assert thickening(fa.System(thin, native=False)) == 8.0


def test_colours_go_from_nothing_to_the_largest() -> None:
    assert (shades(np.array([0.0, 1.0]), 0.0) == STOPS[0]).all()  # nothing moves
    assert (shades(np.array([9.0]), 1.0) == STOPS[-1]).all()
    brightness = shades(np.linspace(0, 1, 50), 1.0).astype(float) @ [0.299, 0.587, 0.114]
    assert (np.diff(brightness) > 0).all()  # readable in grey
    assert "0.25 N m" in legend(legend_words("moment", "N m", 0.25))
    assert "<b>" not in legend(("<b>", "0", "1"))
    assert light(np.array([[255, 0, 0]], dtype=np.uint8)).tolist() == [[1.0, 0.0, 0.0]]
