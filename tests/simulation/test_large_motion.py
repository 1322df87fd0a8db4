"""Links that bend far in motion: spin-up of a long beam, whips, against a nonlinear beam and their own energy."""

import numpy as np
import pytest

import flexarm as fa
from tests.helpers import table, unit_link

PEAKS = {0.6: -0.0855394, 2.0: -0.2801192, 3.0: -0.4111629, 8.0: -0.9319832, 10.0: -1.0830201}
"""Lowest deflections of the tip (m) of a nonlinear beam, 8 m long, by speed (rad/s)."""


def spun_up(speed: float, modes: int, stiffening: str = "exact", end: float = 9.0, native: bool = False) -> fa.Run:
    beam = fa.library.rotating_beam(modes, stiffening)
    motion = {"beam": fa.spin_up(speed, 15.0)}
    return fa.simulate(beam, end, motion=motion, rtol=1e-7, sample=0.01, native=native, progress=False)


def lowest(run: fa.Run) -> float:
    return float(run.deflection("beam").sel(axis="y").min())


@pytest.mark.parametrize(("speed", "modes"), [(2.0, 4), (10.0, 6)])
def test_peaks_of_the_spin_up_are_those_of_the_nonlinear_beam(speed, modes):
    assert lowest(spun_up(speed, modes)) == pytest.approx(PEAKS[speed], abs=1e-5 * 8)


@pytest.mark.slow
@pytest.mark.parametrize("speed", PEAKS)
@pytest.mark.parametrize("modes", [6, 8])
def test_peaks_of_the_spin_up_at_every_speed(speed, modes):
    found = lowest(spun_up(speed, modes, end=15.0, native=True))
    assert found == pytest.approx(PEAKS[speed], abs=1e-5 * 8)


def test_the_spin_up_follows_the_nonlinear_beam_all_the_way():
    rows = [row for row in table("spin_up_nonlinear.csv") if float(row["t"]) <= 9]
    run = spun_up(10.0, 6)
    found = run.deflection("beam").interp(time=[float(row["t"]) for row in rows])
    for axis, column in (("y", "y_tip_w0=10"), ("x", "u_x_tip_w0=10")):
        known = np.array([float(row[column]) for row in rows])
        assert np.abs(found.sel(axis=axis).values - known).max() < 1e-4 * 8


def test_second_order_is_not_enough_for_the_fastest_spin_up():
    """A deflection of 13 % of the length."""
    exact, second = (abs(lowest(spun_up(10.0, 6, each)) - PEAKS[10.0]) for each in ("exact", "shortening"))
    assert exact < 1e-4 < 10 * exact < second < 2e-2


# --- whips ---


def whip(counts: dict[str, int], size: float = 0.5) -> tuple[fa.System, np.ndarray]:
    """A link on a free hinge, let go from a strongly bent shape; nothing damps it."""
    section = fa.Section.properties(A=1, I_y=1.0, I_z=0.6, J=0.8, I_p=1.6)
    flexible = fa.Flexible(**counts, stiffening="exact")
    link = unit_link(joint=fa.Revolute("z"), flexible=flexible, section=section, mass=0.05)
    system = fa.System(fa.Robot(links=[link], gravity=(0, -9.81, 0 if len(counts) == 1 else -5.0)), native=False)
    q = np.zeros(system.nq)
    for name, share in (
        ("bend_y[1]", 1.0),
        ("bend_y[2]", 0.2),
        ("bend_z[1]", 1.0),
        ("bend_z[2]", 0.2),
        ("twist[1]", 1),
    ):
        if (own := f"beam.{name}") in system.names:
            q[system.index(own)] = size * share * system.sizes[system.index(own)]
    return system, q


PLANE, SPACE = {"bend_y": 3}, {"bend_y": 2, "bend_z": 2, "twist": 2}


@pytest.mark.parametrize("counts", [PLANE, SPACE])
def test_a_whip_keeps_its_energy(counts):
    system, q = whip(counts)
    assert np.linalg.norm(system.tip(q) - [1, 0, 0]) > 0.3
    run = fa.simulate(system, 0.5, q0=q, rtol=1e-6, native=False)
    assert abs(run.statistics["energy_share"]) < 5e-6
    assert np.ptp(run.tip.values, axis=0).max() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("counts", [PLANE, SPACE])
def test_a_whip_keeps_its_energy_for_ten_seconds(counts, size):
    """As well as the tolerance says, over 85 periods of its first mode; 2.3e-6 of what moved were lost at the most."""
    system, q = whip(counts, size)
    run = fa.simulate(system, 10.0, q0=q, rtol=1e-6, native=True)
    assert abs(run.statistics["energy_share"]) < 3e-6


@pytest.mark.parametrize("counts", [PLANE, SPACE])
def test_energies_of_a_whip_at_every_sample(counts):
    """Between steps too, where the tolerance is tight."""
    system, q = whip(counts)
    energy = fa.simulate(system, 0.1, q0=q, rtol=1e-10, native=False).energy
    total = sum(energy[name].values for name in ("kinetic", "elastic", "gravity"))
    assert np.abs(total - total[0]).max() < 1e-6 * energy["kinetic"].values.max()
