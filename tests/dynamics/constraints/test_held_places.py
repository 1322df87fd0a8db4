"""Wrenches of constraints at the positions where they act: their work equals that of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics.joint_reactions import outer_forces
from tests.helpers import ALUMINIUM

BAR = fa.Section.rectangle(0.02, 0.03)
SHAPES = fa.Flexible(bend_y=2, bend_z=2, twist=1)
KINDS = {
    "loop": fa.Loop("b", "a", first_at=0.3, second_at=0.4, axis=(1.0, 2.0, 0.5), mount=(0.2, 0.1, 0.3)),
    "weld": fa.Loop("b", "ground", joint="weld", position=(1.0, 0.2, 0.1), mount=(0.2, 0.1, 0.3)),
    "line": fa.OnLine("b", at=0.5, point=(0.1, 0.2, 0.3), direction=(1.0, 1.0, 0.2)),
    "plane": fa.OnPlane("a", normal=(1.0, 1.0, 0.2)),
    "support": fa.PointSupport("b", (1.2, 0.1, 0.05)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_wrenches_at_the_places_do_the_work_of_the_rows(kind):
    """For any motion, on or off the constraint, the power is that of the row forces on the rates of the rows."""
    links = [
        fa.Link("a", 1.0, fa.Revolute("y"), BAR, ALUMINIUM, SHAPES),
        fa.Link("b", 0.8, fa.Revolute("z", mount=(0.1, 0.2, 0.3)), BAR, ALUMINIUM, SHAPES),
    ]
    found = fa.System(fa.Robot(links=links, constraints=[KINDS[kind]]), native=False)
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, found.nq)) * np.where(found.elastic, 1e-3, 0.2)
    if (
        kind == "support"
    ):  # which slides along its link: off the constraint, shapes move another point than the one held
        v[[each.link == "b" and each.kind == "elastic" for each in found.coordinates]] = 0.0
    forces = rng.normal(size=len(found.constraints))
    power = forces @ found.constraint_jacobian(q) @ v
    given = 0.0
    for each in outer_forces(found, (q, 0 * q, 0 * q), (), forces):
        link = found.robot.links[each.link].name
        twist = found.jacobian(link, float(each.x), q, axes="world") @ v
        arm = each.p - found.frame(link, float(each.x), q)[:3, 3]
        given += each.wrench[:3] @ (twist[3:] + np.cross(twist[:3], arm)) + each.wrench[3:] @ twist[:3]
    assert_allclose(given, power, rtol=1e-10)


def test_places_are_counted_along_their_links():
    robot = fa.Robot(
        links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 0.8, mass=1.0)],
        constraints=[fa.Loop("b", "a", second_at=0.4, name="one"), fa.PointSupport("a", (0.7, 0.0, 0.0), name="two")],
    )
    found = fa.System(robot, native=False)
    still = np.zeros((3, 2))
    places = outer_forces(found, (still, still, still), (), np.zeros(len(found.constraints)))
    assert [(each.link, np.broadcast_to(each.x, 3).tolist()) for each in places] == [
        (1, [0.8] * 3),
        (0, [0.4] * 3),
        (0, pytest.approx([0.7] * 3)),
    ]
