import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.mesh_frames import (
    COLOUR_MAP,
    KIND_COLOURS,
    MAX_FRAME_COUNT,
    STATION_COUNT,
    MeshFrames,
    legend_html,
    legend_labels,
    linear_rgb,
    map_colours,
    thickness_factor,
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
def frames(run: fa.Run) -> MeshFrames:
    return MeshFrames(fa.System(ARM, native=False), run, magnify=1.0, thicken=1.0)


def test_frames_are_samples_of_the_run(frames: MeshFrames, run: fa.Run) -> None:
    assert len(frames.times) == MAX_FRAME_COUNT + 1
    assert set(frames.times) <= set(run.array("time"))
    assert (frames.times[0], frames.times[-1]) == (0.0, 0.3)
    for k in (0, 300, 600):
        np.testing.assert_array_equal(frames.points(k, playing=True), frames.mesh.corners(frames.q([k]))[0])
    np.testing.assert_allclose(frames.tip_path[-1], run.array("tip")[-1], atol=1e-9)


def test_corners_have_kinds_and_stations(frames: MeshFrames) -> None:
    assert frames.mesh.faces.max() < len(frames.points(0)) == len(frames.mesh.kinds) == len(frames.mesh.stations)
    assert frames.mesh.stations.max() + 1 == 2 * STATION_COUNT
    places = frames.points(0)[frames.mesh.stations >= STATION_COUNT]  # in the first frame the arm lies along x
    along = (
        0.5
        + np.linspace(0, 1, STATION_COUNT)[frames.mesh.stations[frames.mesh.stations >= STATION_COUNT] - STATION_COUNT]
    )
    np.testing.assert_allclose(places[:, 0], along, atol=1e-6)
    assert (frames.mesh.stations[frames.mesh.kinds == "link"] >= 0).all()
    assert (frames.mesh.stations[frames.mesh.kinds != "link"] == -1).all()


def test_mapped_values_match_the_run(frames: MeshFrames, run: fa.Run) -> None:
    deflection = np.linalg.norm(run.deflection("b").values[frames.samples], axis=-1)
    np.testing.assert_allclose(frames.values("deflection")[:, -1], deflection, atol=1e-12)
    assert not frames.values("deflection")[:, :STATION_COUNT].any()  # rigid link
    moment = np.abs(run.moment("b", 0.0).values[frames.samples][:, 2])
    np.testing.assert_allclose(frames.values("moment")[:, STATION_COUNT], moment, rtol=1e-9)
    outermost = np.abs(frames.system.strain("b", 0.0, frames.q(), at=(0.015, 0.0)))
    np.testing.assert_allclose(frames.values("strain")[:, STATION_COUNT], outermost, rtol=1e-6)


def test_moments_change_along_rigid_links(frames: MeshFrames, run: fa.Run) -> None:
    x = 0.5 * np.array([0.0, 0.25, 1.0])
    moment = np.linalg.norm(run.moment("a", x).values[frames.samples][..., 1:], axis=-1)
    np.testing.assert_allclose(frames.values("moment")[:, [0, 4, 16]], moment, rtol=1e-9, atol=1e-12)


def test_corners_have_the_colours_of_their_stations(frames: MeshFrames) -> None:
    values, k = frames.values("strain"), 300
    found = frames.colours(k, "strain")
    expected = map_colours(values[k], values.max())
    for corner in np.flatnonzero(frames.mesh.kinds == "link"):
        assert (found[corner] == expected[frames.mesh.stations[corner]]).all()
    assert len(np.unique(found[frames.mesh.kinds == "link"], axis=0)) > STATION_COUNT / 2
    masses = found[frames.mesh.kinds == "mass"]
    assert (masses == KIND_COLOURS["mass"]).all()
    assert len(masses)
    assert (frames.colours(k)[frames.mesh.kinds == "link"] == KIND_COLOURS["link"]).all()


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
    assert thickness_factor(fa.System(ARM, native=False)) == 1.0
    assert thickness_factor(fa.System(thin, native=False)) == 8.0


def test_colours_span_zero_to_the_largest_value() -> None:
    assert (map_colours(np.array([0.0, 1.0]), 0.0) == COLOUR_MAP[0]).all()  # no motion
    assert (map_colours(np.array([9.0]), 1.0) == COLOUR_MAP[-1]).all()
    brightness = map_colours(np.linspace(0, 1, 50), 1.0).astype(float) @ [0.299, 0.587, 0.114]
    assert (np.diff(brightness) > 0).all()  # readable in grey
    assert "0.25 N m" in legend_html(legend_labels("moment", "N m", 0.25))
    assert "<b>" not in legend_html(("<b>", "0", "1"))
    assert linear_rgb(np.array([[255, 0, 0]], dtype=np.uint8)).tolist() == [[1.0, 0.0, 0.0]]


def test_rigid_bodies_without_length_have_solids() -> None:
    body = fa.RigidBody(1.0, com=(0.1, 0, 0), inertia=0.01)
    links = [fa.Link("a", body=body), fa.Link("b", 0.2, fa.Revolute("y"), offset=(0.3, 0, 0), body=body)]
    robot = fa.Robot(links=links, frames=[fa.Frame("tool", "b", position=(0, 0, 0.2))], tip="tool")
    run = fa.simulate(robot, 0.1, torque={"b": 0.1}, native=False)
    found = MeshFrames(fa.System(robot, native=False), run, magnify=1.0, thicken=1.0)
    assert np.isfinite(found.points(0)).all()
    np.testing.assert_allclose(found.tip_path[-1], run.array("tip")[-1], atol=1e-9)
    for colouring in ("deflection", "strain", "moment"):
        assert not found.values(colouring).any()
