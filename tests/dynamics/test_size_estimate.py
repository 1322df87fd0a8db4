"""Estimates of the size of the equations before they are built."""

import pytest

import flexarm as fa
from benchmarks.robots import planar_chain, spatial_chain
from flexarm.dynamics.accuracy.validity import size_estimate

STEEL = {"section": fa.Section.rectangle(0.02, 0.005), "material": fa.Material(2.1e11, 7850.0)}


def beam(**flexible):
    return fa.Robot("beam", links=[fa.Link("beam", 1.0, flexible=fa.Flexible(**flexible), **STEEL)])


ROBOTS = {
    "rigid chain": fa.Robot(links=[fa.Link(f"l{k}", 0.1, mass=0.1) for k in range(10)]),
    "planar chain": planar_chain(3),
    "spatial chain": spatial_chain(2),
    "modes": beam(bend_y=20),
    "modes in space": beam(bend_y=5, bend_z=5, twist=5, stretch=5),
    "elements": beam(bend_y=20, basis="elements"),
    "elements in space": beam(bend_y=10, bend_z=10, twist=10, stretch=10, basis="elements"),
    "second order": beam(bend_y=20, stiffening="shortening"),
    "exact in space": beam(bend_y=3, bend_z=3, twist=2, stiffening="exact"),
    "exact elements": beam(bend_y=6, stiffening="exact", basis="elements"),
    "none": beam(bend_y=20, stiffening="none"),
    "slide": fa.Robot(links=[fa.Link("s", 1.0, fa.FixedPrismatic(), flexible=fa.Flexible(bend_y=8), **STEEL)]),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_the_estimate_is_of_the_right_size(name):
    system = fa.System(ROBOTS[name], native=False)
    forces, masses = (system.casadi[name].n_instructions() for name in ("inverse_dynamics", "mass_matrix"))
    assert forces / 3 < system.size_estimate < 3 * max(forces, masses)
    assert system.size_estimate == size_estimate(ROBOTS[name])


def test_a_robot_that_takes_long_is_announced():
    sentence = "about 110 000 instructions in the equations of 'beam', 100% of them in link 'beam'; take fewer shapes"
    with pytest.warns(UserWarning, match=sentence):
        fa.System(beam(bend_y=100, stiffening="shortening"))


def test_a_robot_that_would_never_be_ready_is_refused():
    with pytest.raises(ValueError, match=r"about 2 300 000 instructions in the equations of 'beam'.*; 2 000 000 are"):
        fa.System(beam(bend_y=60, stiffening="exact"))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: beam(bend_y=101), "bend_y = 101: must be at most 100 with basis modes"),
        (lambda: beam(bend_y=501, basis="elements"), "bend_y = 501: must be a whole number, 0 to 500"),
        (lambda: beam(twist=3, basis=fa.Reduced(501)), "elements = 501: must be a whole number, 1 to 500"),
        (lambda: beam(twist=3, basis=fa.Reduced(300, 101)), "modes = 101: must be a whole number, 1 to 100"),
        (
            lambda: fa.Robot(links=[fa.Link(f"l{k}", 0.1, mass=0.1) for k in range(201)]),
            "links: there are 201, but a robot has at most 200",
        ),
    ],
)
def test_bounds_name_their_field(build, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        build()
