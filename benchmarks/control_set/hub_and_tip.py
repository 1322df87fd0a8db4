"""Linear models: a uniform beam on a hub against the exact equations; models against runs and differences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import flexarm as fa
from control_set.part import Part, Row, below
from flexarm.plotting.colours import LINE_STYLES
from tests.helpers import unit_link
from tests.oracles import beam_on_hub

HUB = 0.1  # kg m2, of a beam of 1 kg and 1 m with EI = 1 N m2
OUTPUTS = ["beam.q", "tip.y", "tip.y''", "beam.strain(1, 0.01, 0)"]
SWEEP = 10.0  # s
DRAWN = 70.0  # 1/s


def beam(count: int, basis: Any) -> fa.Robot:
    flexible = fa.Flexible(bend_y=count, basis=basis, stiffening="none")
    hub = fa.PointMass(0.0, inertia=(0, 0, HUB))
    return fa.Robot(links=[unit_link("beam", joint=fa.Revolute("z"), flexible=flexible, hub=hub)])


def away(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest relative distance; infinite where some were not found."""
    found = np.sort(found)[: len(exact)]
    return float(np.abs(found / exact - 1).max()) if len(found) == len(exact) else np.inf


def poles_and_zeros(count: int = 24, modes: int = 20) -> Part:
    lin = fa.linearize(beam(count, fa.Splines(5)), inputs=["beam"], outputs=["beam.q", "tip.y"])
    modal = fa.linearize(beam(modes, "modes"), inputs=["beam"], outputs=["beam.q", "tip.y"])
    poles, clamped, tips = beam_on_hub.poles(HUB), beam_on_hub.collocated_zeros(), beam_on_hub.tip_zeros()

    def upper(values: np.ndarray) -> np.ndarray:
        return values.imag[values.imag > 1e-3]

    def real(values: np.ndarray, sign: int) -> np.ndarray:
        own = sign * values.real[np.abs(values.imag) < 1e-6 * np.abs(values)]
        return own[own > 0]

    hub, tip = lin["beam.q", "beam"].zeros, lin["tip.y", "beam"].zeros
    between = np.sort(upper(hub))[:5], np.sort(upper(lin.poles))[:5]
    interlace = bool((between[0] < between[1]).all() and (between[1][:-1] < between[0][1:]).all())
    modal_tip = modal["tip.y", "beam"].zeros
    near = sum(bool(np.abs(modal_tip - each).min() < 1e-2 * each) for each in tips)
    first = float(np.abs(modal_tip - tips[0]).min() / tips[0])
    rows = [
        below("first five poles, to 1e-6", away(upper(lin.poles), poles), 1e-6),
        below("first five zeros to the hub's angle, to 1e-6", away(upper(hub), clamped), 1e-6),
        Row("they interlace", "a zero below every pole" if interlace else "they do not", interlace),
        below("first five zeros to the tip in the right half plane, to 1e-6", away(real(tip, 1), tips), 1e-6),
        below("and their mirror images in the left", away(real(tip, -1), tips), 1e-6),
        below(f"poles with {modes} modes in place of {count} splines, to 1e-6", away(upper(modal.poles), poles), 1e-6),
        Row(f"zeros to the tip with {modes} modes, to 1 %", f"{near} of the first five; the first: {first:.0e}"),
    ]

    def panel(plot: Any) -> None:
        near = [each[np.abs(each) < DRAWN] for each in (lin.poles, hub, tip)]
        looks = (
            ("x", "poles", LINE_STYLES[0]),
            ("o", "zeros to the hub", LINE_STYLES[1]),
            ("s", "zeros to the tip", LINE_STYLES[3]),
        )
        for values, (marker, label, (colour, _)) in zip(near, looks):
            plot.plot(values.real, values.imag, marker, color=colour, fillstyle="none", label=label, markersize=6)
        for each in tips[tips < DRAWN]:
            plot.axvline(each, color="0.85", linewidth=0.8, zorder=0)
        for each in (*poles[poles < DRAWN], *clamped[clamped < DRAWN]):
            plot.axhline(each, color="0.85", linewidth=0.8, zorder=0)
        plot.set(xlabel="real part (1/s)", ylabel="imaginary part (rad/s)", title="a beam on a hub; grey: exact")
        plot.legend(fontsize=8)

    return Part(rows, [panel])


def reciprocity() -> Row:
    names = ["tip", "upper(0.2)"]
    forces, moved = [f"{each}.fy" for each in names], [f"{each}.y" for each in names]
    lin = fa.linearize(fa.library.two_link_arm(), {"fore.q": 0.7}, inputs=forces, outputs=moved)
    response = lin.frf(np.geomspace(0.1, 50, 101))
    apart = float(np.abs(response[:, 0, 1] / response[:, 1, 0] - 1).max())
    return below("forces at two points of the two-link arm are reciprocal, to 1e-9", apart, 1e-9)


def chirp() -> Part:
    damping = {"links.beam.flexible.damping": fa.Damping(ratio=0.02)}
    system = fa.System(fa.library.rotating_beam(modes=3).with_(damping))
    lin = fa.linearize(system, inputs=["beam"], outputs=OUTPUTS)
    sweep = {"beam": fa.chirp(0.05, 0.2, 10.0, SWEEP)}
    run = fa.simulate(system, SWEEP + 2.0, torque=sweep, rtol=1e-8, sample=0.02, progress=False)
    rows, shown = [], []
    for name in OUTPUTS:
        found = run.frf("beam", name)
        wanted = lin[name, "beam"].frf(found.frequency)[:, 0, 0]
        apart = float(np.abs(found.response / wanted - 1).max())
        low, high = found.frequency[[0, -1]]
        asked = f"a chirp's response to `{name}` within 1 % of `lin.frf`, {low:.2g} to {high:.2g} Hz"
        rows.append(below(asked, apart, 1e-2))
        shown.append(found)

    def panel(plot: Any) -> None:
        f = np.geomspace(*shown[0].frequency[[0, -1]], 2001)
        dots = {"marker": "o", "linestyle": "", "fillstyle": "none", "markersize": 4}
        for name, found, (colour, _) in zip(OUTPUTS[:2], shown, LINE_STYLES):
            plot.loglog(f, np.abs(lin[name, "beam"].frf(f)[:, 0, 0]), color=colour, label=f"{name}, lin.frf")
            plot.loglog(found.frequency, found.magnitude, color=colour, **dots, label=f"{name}, chirp run")
        plot.set(xlabel="frequency (Hz)", ylabel="rad/(N m), m/(N m)", title="from the hub's torque, 2 % damping")
        plot.legend(fontsize=8)

    return Part(rows, [panel])


def differences() -> Row:
    """A, B, C, D about a posture that is held against gravity."""
    arm = fa.System(fa.library.two_link_arm().with_({"gravity": (0, -9.81, 0)}), native=False)
    q0, n = fa.equilibrium(arm, {"upper.q": 0.3, "fore.q": -0.8}), arm.nq
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)  # which tells what holds it
        lin = fa.linearize(
            arm, q0, inputs=["upper", "tip.fy"],
            outputs=["tip.x", "tip.y'", "fore.q''", "upper.strain(0.1)", "upper.moment(0.1)"],
        )  # fmt: skip
    hold = arm.inverse_dynamics(q0, None, None)
    half = next(iter(arm.robot.link("upper").section.extents().values())) / 2

    def both(z: np.ndarray) -> np.ndarray:
        """Rates of states, then outputs, of states and inputs."""
        q, v, u = z[:n], z[n : 2 * n], z[2 * n :]
        J = arm.jacobian("fore", None, q, axes="world")
        a = arm.forward_dynamics(q, v, hold + arm.input_matrix[:, 0] * u[0] + J[4] * u[1])
        loads = [("fore", None, np.r_[0, u[1], np.zeros(4)])]
        cut = arm.section_forces("upper", 0.1, q, v, a, loads=loads)[5]
        strain = arm.strain("upper", 0.1, q, at=(half, 0))
        return np.r_[v, a, arm.tip(q)[0], J[4] @ v, a[arm.index("fore.q")], strain, cut]

    at, h = np.r_[q0, np.zeros(n + 2)], 1e-5
    wanted = np.array([(both(at + e) - both(at - e)) / (2 * h) for e in h * np.eye(2 * n + 2)]).T
    found = np.block([[lin.A, lin.B], [lin.C, lin.D]])
    apart = float((np.abs(found - wanted) / np.abs(wanted).max(axis=1, keepdims=True)).max())
    return below("A, B, C, D are differences of the nonlinear robot, to 1e-4 of each row's largest", apart, 1e-4)


def part() -> Part:
    exact, measured = poles_and_zeros(), chirp()
    return Part([*exact.rows, reciprocity(), *measured.rows, differences()], [*exact.panels, *measured.panels])
