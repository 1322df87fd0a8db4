"""Frequencies over postures against `fa.modes` at each, and work in pieces."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.analysis import frequency_maps
from flexarm.analysis.frequency_maps import run_pieces

ARM = fa.library.two_link_arm(damping=1e-4)
FORE, UPPER = [0.0, 0.7, 1.5], [-0.3, 0.4]


@pytest.mark.parametrize("joints", ["locked", "free", {"upper": "locked"}])
def test_each_posture_has_the_frequencies_of_its_modes(joints):
    found = fa.frequency_map(ARM, {"fore.q": FORE, "upper.q": UPPER}, modes=2, joints=joints)
    assert found.frequencies.shape == (3, 2, 2)
    for i, fore in enumerate(FORE):
        expected = fa.modes(ARM, {"fore.q": fore, "upper.q": UPPER[1]}, joints=joints)
        kept = np.flatnonzero(~expected.rigid)[:2]
        assert found.frequencies[i, 1] == pytest.approx(expected.frequencies[kept])
        assert found.damping_ratios[i, 1] == pytest.approx(expected.damping_ratios[kept])


def test_data_are_labelled_copies():
    found = fa.frequency_map(ARM, {"fore.q": FORE}, modes=2)
    data = found.data
    assert data["frequency"].dims == ("fore.q", "mode")
    assert data["frequency"].sel({"fore.q": 0.7, "mode": 2}) == found.frequencies[1, 1]
    assert data["fore.q"].attrs["units"] == "rad"
    data["frequency"][:] = 0
    assert found.frequencies.min() > 0


def test_a_load_bends_links_before_they_vibrate():
    robot = ARM.with_({"gravity": (0, -9.81, 0)})
    q = fa.equilibrium(robot, {"fore.q": 0.7})
    found = fa.frequency_map(robot, {"fore.q": [0.7]}, modes=2, at_equilibrium=True)
    assert found.frequencies[0] == pytest.approx(fa.modes(robot, q, joints="locked").frequencies[:2])


def test_slides_and_closed_loops():
    bar = {"section": fa.Section.rectangle(0.02, 0.004), "material": fa.Material(7e10, 2700)}
    boom = fa.Link("boom", 1.0, fa.FixedPrismatic(limits=(0.1, 0.9)), flexible=fa.Flexible(bend_y=3), **bar)
    telescope = fa.Robot(links=[fa.Link("shoulder", 0.3, mass=1.0), boom])
    found = fa.frequency_map(telescope, {"boom.q": [0.3, 0.6]}, modes=1)
    assert found.units == {"boom.q": "m"}
    for k, out in enumerate((0.3, 0.6)):
        expected = fa.modes(telescope, {"boom.q": out}, joints="locked").frequencies[0]
        assert found.frequencies[k, 0] == pytest.approx(expected)
    links = [fa.Link("crank", 0.2, **bar), fa.Link("coupler", 0.5, flexible=fa.Flexible(bend_y=1), **bar)]
    links.append(fa.Link("rocker", 0.4, fa.Revolute("z"), parent="ground", offset=(0.5, 0, 0), **bar))
    loop = fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")])
    start, joints = {"coupler.q": -0.6, "rocker.q": 1.4}, {"crank": "locked"}
    found = fa.frequency_map(loop, {"crank.q": [0.9, 1.0]}, q=start, joints=joints, modes=1)
    expected = fa.modes(loop, {"crank.q": 1.0, **start}, joints=joints).frequencies[0]
    assert found.frequencies[1, 0] == pytest.approx(expected)


def test_postures_with_fewer_vibrations_cause_a_warning():
    rod = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)], gravity=(9.81, 0, 0))
    with pytest.warns(fa.ValidityWarning, match="at 1 of 2 postures fewer"):
        found = fa.frequency_map(rod, {"rod.q": [0.0, 3.0]}, modes=1, joints="free")
    assert np.isnan(found.frequencies).tolist() == [[False], [True]]  # upright it falls
    with pytest.raises(KeyError, match=r"did you mean 'rod\.q'"):
        fa.frequency_map(rod, {"rod": [0.0]}, modes=1)
    with pytest.raises(ValueError, match="over which the map goes"):
        fa.frequency_map(ARM, {"fore.q": FORE}, q={"fore.q": 1.0})
    with pytest.raises(ValueError, match="more than 1000000 postures"):
        fa.frequency_map(ARM, {"fore.q": np.arange(2000.0), "upper.q": np.arange(2000.0)})


def test_motors_behind_springs_go_with_their_joints():
    soft = fa.Drive(stiffness=50.0, rotor_inertia=0.01)
    robot = ARM.with_({"links.upper.joint.drive": soft, "gravity": (0, -9.81, 0)})
    for at_equilibrium in (True, False):
        options = {"modes": 2, "at_equilibrium": at_equilibrium}
        found = fa.frequency_map(robot, {"upper.q": [-0.5, 0.6]}, q={"fore.q": 0.3}, **options)
        for k, upper in enumerate((-0.5, 0.6)):
            posture = {"upper.q": upper, "fore.q": 0.3}
            expected = fa.modes(robot, fa.equilibrium(robot, posture) if at_equilibrium else posture, joints="locked")
            kept = [each for each, kind in enumerate(expected.kinds) if kind == "vibration"][:2]
            assert found.frequencies[k] == pytest.approx(expected.frequencies[kept], rel=1e-9)
    held = fa.frequency_map(robot, {"upper.q": [0.1, 0.6]}, q={"upper.motor": 0.2}, modes=1, at_equilibrium=True)
    assert held.frequencies[0] == pytest.approx(held.frequencies[1])  # where the motor is held, there the joint hangs


# --- work in pieces ---


def test_all_is_done_in_order():
    done = []
    assert run_pieces([3, 1, 2], done.append, "pieces", False) == 3
    assert done == [3, 1, 2]


def test_an_interrupt_keeps_what_is_done():
    done = []

    def work(piece):
        if piece == 2:
            raise KeyboardInterrupt
        done.append(piece)

    with pytest.warns(fa.ValidityWarning, match="interrupted: 2 of 4 pieces are done"):
        assert run_pieces([0, 1, 2, 3], work, "pieces", False) == 2
    with pytest.raises(KeyboardInterrupt):
        run_pieces([2, 3], work, "pieces", False)


def test_errors_are_not_swallowed_and_the_bar_counts(capsys):
    with pytest.raises(ZeroDivisionError):
        run_pieces([1, 0], lambda piece: 1 / piece, "pieces", True)
    with pytest.raises(ValueError, match="progress = 3"):
        run_pieces([1], print, "pieces", 3)


def heavy(joint, stiffening="auto"):
    """A spatial arm whose load bends it by 10 % of its length and buckles second-order links."""
    flexible = fa.Flexible(bend_y=3, bend_z=3, twist=1, stiffening=stiffening)
    steel = fa.Material(2.1e11, 7850, 1e-3)
    section = fa.Section.rectangle(0.008, 0.008)
    link = fa.Link("arm", 1.0, fa.Revolute(joint), section, steel, flexible, payload=fa.PointMass(2.0))
    return fa.Robot(links=[link], gravity=(0, 0, -9.81))


def test_links_that_hang_far_are_exact():
    over = {"arm.q": [0.0, 0.5]}
    with pytest.warns(fa.ValidityWarning, match="the exact model is used for 'arm'"):
        found = fa.frequency_map(heavy("y"), over, at_equilibrium=True)
    exact = fa.frequency_map(heavy("y", "exact"), over, at_equilibrium=True)
    assert found.frequencies == pytest.approx(exact.frequencies)


def test_links_that_hang_far_are_exact_in_rotation():
    with pytest.warns(fa.ValidityWarning, match="the exact model is used for 'arm'"):
        found = fa.campbell(heavy("z"), "arm", [0.0, 3.0], modes=3)
    assert found.frequencies == pytest.approx(fa.campbell(heavy("z", "exact"), "arm", [0.0, 3.0], modes=3).frequencies)


def test_an_interrupted_map_is_not_repeated_with_exact_links(monkeypatch):
    def interrupted(pieces, work, what, progress):
        work(pieces[0])
        return 1

    monkeypatch.setattr(frequency_maps, "run_pieces", interrupted)
    robot = heavy("z", "auto").with_({"links.arm.payload.mass": 0.4})
    with pytest.warns(fa.ValidityWarning) as warned:
        found = fa.frequency_map(robot, {"arm.q": [0.0, 0.5, 1.0]}, q={"arm.bend_y[1]": 0.3}, modes=1)
    assert np.isfinite(found.frequencies[0]).all()
    assert np.isnan(found.frequencies[1:]).all()
    assert not any("the exact model is used" in str(each.message) for each in warned)
