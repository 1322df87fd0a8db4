"""Every registered kind of joint, and one that is defined here, in every package."""

from typing import Any, ClassVar, Literal

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from pydantic import Field

import flexarm as fa
from flexarm.dynamics.joints import supported_joints
from flexarm.plotting.arm_points import Arm
from flexarm.plotting.meshes import ArmSolids
from flexarm.robot.joints import JOINT_KINDS, PACKAGE_KINDS, Prismatic, SlideAlong, TurnAbout
from tests.dynamics.joints.chains import KINDS, SLIDES

mpl.use("agg")
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.dynamics.accuracy.validity.ValidityWarning")

BEAM = {"section": fa.Section.rectangle(0.02, 0.01), "material": fa.Material(7e10, 2700.0)}


class HelicalSlide(Prismatic):
    """Slide whose link turns by `twist` for each metre."""

    type: Literal["helical-slide"] = Field("helical-slide", description="kind of joint")
    twist: float = Field(3.0, description="rotation for each metre (rad/m)")

    words: ClassVar[list[str]] = ["helical slide"]

    @property
    def elementary_motions(self) -> Any:
        return SlideAlong(self.axis_vector), TurnAbout(self.axis_vector, ratio=self.twist)


JOINTS = {**KINDS, **SLIDES, "helical slide": HelicalSlide("z", mount=(0.3, -0.4, 0.2))}


@pytest.fixture(autouse=True)
def helical_slide(monkeypatch):
    """Register the new kind for these tests only."""
    monkeypatch.setitem(JOINT_KINDS, "helical-slide", HelicalSlide)


JOINT_KINDS.pop("helical-slide")  # defined above: other tests list all kinds


def arm(kind):
    """Return a robot with the joint between two links, and its posture by name."""
    joint = JOINTS[kind]
    after = {} if joint.rides else {"at": 0.5}
    links = [
        fa.Link("base", 0.6, fa.Revolute("z", viscous=0.1), mass=1.0),
        fa.Link("part", 0.5, joint, mass=0.5, payload=fa.PointMass(0.2, inertia=(1e-3, 2e-3, 3e-3)), **after),
        fa.Link("end", 0.3, fa.Revolute("y"), flexible=fa.Flexible(bend_y=1, bend_z=1), **BEAM),
    ]
    robot = fa.Robot(links=links, gravity=(0, 0, -9.81))
    if kind == "sleeve":
        q = {"part.q": 0.5, "end.q": 0.1}
    else:
        q = {f"part.{each.name}": 0.2 for each in joint.freedoms} | {"end.q": 0.1}
    return robot, q


def test_all_kinds_are_here():
    assert {type(each) for each in JOINTS.values()} == {*PACKAGE_KINDS, HelicalSlide}
    assert set(supported_joints()) == {*PACKAGE_KINDS, HelicalSlide}


@pytest.mark.parametrize("kind", JOINTS)
def test_it_is_described_and_written_to_files(kind, tmp_path):
    robot, _ = arm(kind)
    robot.save(tmp_path / "arm.yaml")
    loaded = fa.load(tmp_path / "arm.yaml")
    assert loaded == robot
    assert type(loaded.link("part").joint) is type(JOINTS[kind])
    assert JOINTS[kind].words[0].split()[0] in str(robot) if JOINTS[kind].freedoms else "weld" in str(robot)
    assert repr(JOINTS[kind]).startswith(type(JOINTS[kind]).__name__)
    assert robot.coordinates == fa.System(robot, native=False).nq
    assert all(motion.freedom < len(JOINTS[kind].freedoms) for motion in JOINTS[kind].elementary_motions)


@pytest.mark.parametrize("kind", JOINTS)
def test_it_is_simulated(kind, tmp_path):
    robot, q = arm(kind)
    run = fa.simulate(robot, 0.05, q0=q)
    system = fa.System(robot, native=False)
    total = sum(run[name].values for name in ("kinetic", "elastic", "gravity", "drive"))
    lost = 0.1 * np.trapezoid(run["base.q'"].values ** 2, run.array("time"))
    assert abs(total[-1] - total[0] + lost) < 1e-4 * np.ptp(run["kinetic"].values)
    for freedom in JOINTS[kind].freedoms:
        assert f"part.{freedom.name}" in run.names
        assert np.isfinite(run[f"part.{freedom.name}''"].values).all()
    assert np.isfinite(system.reaction("part", *(run.array(part)[-1] for part in "qva"))).all()
    run.save(tmp_path / "run.nc")
    assert_allclose(fa.Run.load(tmp_path / "run.nc").array("q"), run.array("q"))


@pytest.mark.parametrize("method", ["dop853", "generalized-alpha", "bdf"])
@pytest.mark.parametrize("kind", ["universal", "driven planar", "helical slide"])
def test_all_methods_agree(kind, method):
    robot, q = arm(kind)
    ends = [fa.simulate(robot, 0.05, q0=q, rtol=1e-6, method=each).array("q")[-1] for each in ("auto", method)]
    assert_allclose(ends[1], ends[0], atol=1e-4)


@pytest.mark.parametrize("kind", JOINTS)
def test_it_has_modes_and_linear_models(kind):
    robot, q = arm(kind)
    system = fa.System(robot, native=False)
    found = fa.modes(robot, q)
    assert len(found.frequencies) == system.nq
    locked = fa.modes(robot, q, joints="locked")
    assert len(locked.frequencies) == system.nq - system.nu
    lin = fa.linearize(robot, q)
    assert len(lin.states) == 2 * system.nq
    assert [each.name for each in lin.inputs] == list(system.inputs)
    # eigenvalues of the linear model of the undamped robot are those of the modes
    still = robot.with_({"links.base.joint.viscous": 0.0})
    squares = np.linalg.eigvals(fa.linearize(still, q).A)
    fast = np.sort(found.frequencies)[-1] * 2 * np.pi
    assert_allclose(np.abs(squares).max(), fast, rtol=1e-6)


@pytest.mark.parametrize("kind", JOINTS)
def test_lanes_of_a_sweep_are_single_runs(kind):
    robot, q = arm(kind)
    masses = [0.3, 0.4, 0.5, 0.6, 0.7]
    options = {"q0": q, "torque": {"base": 0.5}}
    found = fa.sweep(robot, {"links.part.mass": masses}, 0.05, measure=_last, **options)
    for k, mass in enumerate(masses[:2]):
        alone = fa.simulate(robot.with_({"links.part.mass": mass}), 0.05, **options)
        assert_allclose(found["_last"].values[k], _last(alone), atol=1e-6)


def _last(run: Any) -> float:
    return float(run["tip.x"].values[-1] + run["tip.z"].values[-1])


@pytest.mark.parametrize("kind", JOINTS)
def test_it_is_drawn(kind):
    robot, q = arm(kind)
    system = fa.System(robot, native=False)
    arm_points = Arm(system, system.vector(q)[None])
    turns = any(isinstance(each, TurnAbout) for each in JOINTS[kind].elementary_motions)
    assert arm_points.hinges.shape[1] == 2 + turns
    slides = sum(isinstance(each, SlideAlong) for each in JOINTS[kind].elementary_motions)
    assert arm_points.guides.shape[1] == slides + (JOINTS[kind].rides or JOINTS[kind].grips)
    run = fa.simulate(robot, 0.02, q0=q)
    run.plot()
    assert all(np.isfinite(each.points).all() for each in ArmSolids(arm_points).all())


@pytest.mark.parametrize("kind", JOINTS)
def test_it_is_stepped_and_controlled(kind):
    robot, q = arm(kind)
    system = fa.System(robot, native=False)
    sim = fa.Simulation(robot, dt=1e-3, q0=q)
    sim.step(np.zeros(system.nu))
    assert sim.q.shape == (system.nq,)
    start = system.vector(q)
    references = {each.name: float(start[each.joint.index]) for each in system.actuators}
    law = fa.pd(robot, 20.0, 2.0, references)
    assert np.isfinite(fa.simulate(robot, 0.05, torque=law, q0=q).array("q")).all()
    pose = system.frame("end", None, system.vector(q))
    assert np.isfinite(fa.inverse_kinematics(robot, [pose[:3, 3]], q0=q)).all()


@pytest.mark.parametrize("kind", JOINTS)
def test_fields_may_be_changed_by_path(kind):
    robot, _ = arm(kind)
    count = len(JOINTS[kind].freedoms)
    if not count:
        return
    value: Any = 0.3 if count == 1 else [0.3] * count
    changed = robot.with_({"links.part.joint.viscous": value, "links.part.joint.stiffness": value})
    assert [each.stiffness for each in changed.link("part").joint.freedom_properties] == [0.3] * count
    system = fa.System(changed, native=False)
    places = [each.index for each in system.joints("part")]
    assert_allclose(np.diag(system.linearization().D)[places], 0.3)


def test_wrong_values_have_a_path():
    for change, message in (
        ({"links.part.joint.viscous": [0.1]}, r"joint.viscous = .*: must be 0 or 2 finite numbers"),
        ({"links.part.joint.viscous": [0.1, -1.0]}, "joint.viscous"),
        ({"links.part.joint.coulomb_speed": 0.0}, "joint.coulomb_speed"),
        ({"links.part.joint.limits": [[1, 0], None]}, r"joint.limits\[0\]"),
        ({"links.part.joint.limits": [1, 0]}, r"joint.limits = .*: must be 2 pairs"),
        ({"links.part.joint.axes": ["x", "x"]}, "must not be parallel"),
        ({"links.part.joint.axes": ["x"]}, "joint.axes"),
    ):
        robot, _ = arm("universal")
        with pytest.raises(fa.DescriptionError, match=message):
            robot.with_(change)
    with pytest.raises(fa.DescriptionError, match=r"links\[1\].joint.twist"):
        arm("helical slide")[0].with_({"links.part.joint.twist": "much"})
