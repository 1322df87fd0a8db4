import numpy as np
import pytest

import flexarm as fa
from flexarm.results.dataset import ENERGIES
from flexarm.results.energy_balance import balance_sentence, energy_balance

ARM = fa.Robot(links=[fa.Link("arm", 1.0, mass=3.0)])


def energies(**given):
    return {name: np.array(given.get(name, [0.0, 0.0])) for name in ENERGIES}


def test_what_moved_is_the_largest_change_or_the_largest_kinetic_energy():
    assert energy_balance(energies(gravity=[5.0, 3.0], kinetic=[0.0, 1.5]), ARM, 1.0).moved == 2.0
    assert energy_balance(energies(kinetic=[1.5, 1.5], elastic=[0.0, 0.1]), ARM, 1.0).moved == 1.5  # it coasts


def test_the_share_has_the_sign_of_the_worst_balance():
    seen = energy_balance(energies(kinetic=[0.0, 2.0], balance=[0.02, -0.1]), ARM, 1.0)
    assert (seen.balance, seen.sample, seen.share) == (-0.1, 1, -0.05)
    assert energy_balance(energies(balance=[0.0, 1e-20]), ARM, 1.0).share == 0.0


def test_words():
    assert balance_sentence(-0.00021, ARM) == "the integration lost 0.021 % of the energy moved"
    assert balance_sentence(0.3, ARM) == "the integration gained 30 % of the energy moved"
    assert balance_sentence(-1e-9, ARM) == "the integration lost less than 0.0001 % of the energy moved"


def test_every_run_says_what_was_lost():
    run = fa.simulate(ARM.with_({"gravity": (0, -9.81, 0)}), 1.0, method="newmark", dt=0.02, native=False)
    share = run.statistics["energy_share"]
    assert 1e-6 < abs(share) < 1e-2
    assert repr(run).endswith(balance_sentence(share, run.robot))
    assert repr(run.at(0.5)).endswith(balance_sentence(share, run.robot))
    assert "integration" not in repr(fa.simulate(ARM, 1.0, native=False))  # it rests


@pytest.mark.parametrize("method", ["generalized-alpha", "esdirk", "rk45"])
@pytest.mark.parametrize("stiffness", [1e6, 1e8, 1e10])
def test_a_stop_that_is_hit_at_the_end_of_a_step_is_not_jumped_over(method, stiffness):
    """1 m/s from 0.3 m before the stop: there and back is one step of 10 ms, and the contact lasts a tenth of that."""
    joint = fa.FixedPrismatic(limits=(0.1, 0.6), stop=fa.Stop(stiffness))
    robot = fa.Robot(links=[fa.Link("slide", 1.0, mass=1.0, joint=joint)])
    run = fa.simulate(robot, 0.5, q0={"slide.q": 0.3}, v0={"slide.q": 1.0}, method=method, native=False)
    energy = sum(run.array(name) for name in ("kinetic", "elastic", "drive"))
    assert energy.max() < 0.505
    assert run.array("q")[-1, 0] == pytest.approx(0.6 - (0.2 - np.pi / np.sqrt(stiffness)), abs=2e-3)


def test_rounding_beside_nothing_or_beside_a_large_store_is_no_motion():
    nothing = 1e-12 * 3.0 * 1.0**2  # J: of an arm of 3 kg and 1 m that moves about once a second
    for kinetic, moves in ((0.6 * nothing, False), (1.6 * nothing, True)):
        assert bool(energy_balance(energies(kinetic=[0.0, kinetic], balance=[0.0, 1e-3]), ARM, 1.0).moved) == moves
    for kinetic, moves in ((0.6e-3, False), (1.6e-3, True)):
        seen = energy_balance(energies(kinetic=[0.0, kinetic], gravity=[1e6, 1e6], balance=[0.0, 1.0]), ARM, 1.0)
        assert bool(seen.moved) == moves


@pytest.mark.parametrize("contact", ["nodal", "element"])
def test_contact_from_node_to_node_is_told_apart(contact):
    """Energy goes, and comes, where a node changes: that is not the integration's."""
    slide = fa.FixedPrismatic(limits=(0.2, 0.8), contact=contact)
    section, material = fa.Section.rectangle(0.01, 0.01), fa.Material(E=7e10, rho=2700.0)
    flexible = fa.Flexible(bend_y=3, basis="elements")
    robot = fa.Robot(links=[fa.Link("bar", 1.0, slide, section, material, flexible)])
    share = energy_balance(energies(kinetic=[0.0, 2.0], balance=[0.0, -1.0]), robot, 1.0).share
    assert balance_sentence(share, robot) == "contact from node to node lost 50 % of the energy moved"
    none = robot.with_({"links.bar.joint": {"type": "fixed-prismatic", "rear": "none"}})
    assert energy_balance(energies(kinetic=[0.0, 2.0], balance=[0.0, -1.0]), none, 1.0).share == 0.0
