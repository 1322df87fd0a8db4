"""Spatial manipulators of n flexible links and n flexible joints, section 4: a beam spun up by its joint
without and with dynamic stiffening (figures 3-5), and the Canadarm2 dropping in the field of gravity (figures 8-18)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from math import pi
from typing import TYPE_CHECKING, Literal

import numpy as np

import flexarm as fa
from flexarm.show.style import Picture
from flexarm_papers.figures import Curves, curves, strip_of_poses
from flexarm_papers.page import Page
from flexarm_papers.study import Study

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.foundation.numbers import Array

# --- 4.1 the rotating beam ---

SPEEDS = (0.6, 2.0, 3.0, 8.0, 10.0)  # rad/s
SPIN_UP = 15.0  # s
MODELS: dict[str, Literal["none", "shortening"]] = {"zero-order": "none", "high-order": "shortening"}
Runs = Mapping[float, fa.Run]  # by speed

# Peaks of the tip's deflection (m) by Galerkin solutions of high order, independent of flexarm: linear theory with
# centrifugal stiffening, geometrically nonlinear inextensible beam, linear theory without stiffening where bounded.
LINEAR = {0.6: -0.0855431, 2.0: -0.2802450, 3.0: -0.4115490, 8.0: -0.9356210, 10.0: -1.0882513}
NONLINEAR = {0.6: -0.0855394, 2.0: -0.2801192, 3.0: -0.4111629, 8.0: -0.9319832, 10.0: -1.0830201}
ZERO_ORDER = {0.6: -0.0865474, 2.0: -0.343153}


def spun_up(speed: float, model: str, modes: int = 8, rtol: float = 1e-6, native: bool = True) -> fa.Run:
    """The beam brought to a speed (rad/s) in 15 s and observed for 5 s more; it may run away before that."""
    beam = fa.library.rotating_beam(modes, MODELS[model])
    motion = {"beam": fa.spin_up(speed, SPIN_UP)}
    with warnings.catch_warnings():  # that the zero-order model runs away is what is to be seen
        warnings.simplefilter("ignore", fa.ValidityWarning)
        return fa.simulate(beam, SPIN_UP + 5.0, motion=motion, rtol=rtol, progress=False, native=native)


def bending(run: fa.Run) -> xr.DataArray:
    """Deflection of the beam's tip in its root frame (m)."""
    return run.deflection("beam").sel(axis="y")


def peak(run: fa.Run) -> float:
    return float(bending(run).min())


def runs_away(run: fa.Run) -> bool:
    return run.reason.startswith("diverged")


def first_frequency() -> float:
    """First bending frequency of the beam at rest, its joint held (Hz)."""
    return float(fa.modes(fa.library.rotating_beam(), joints="locked").frequencies[0])


# --- 4.2 the Canadarm2 ---

ROTOR_INERTIAS = (2.0, 5.0, 10.0, 15.0)  # kg m2, as the joint feels them
STIFFNESSES = (0.60e6, 1.33e6, 2.66e6, 5.00e6)  # N m/rad
JOINTS = {"upper": "shoulder", "lower": "elbow", "pitch": "wrist pitch", "yaw": "wrist yaw", "roll": "wrist roll"}
POSTURE = {"upper": 0.4 * pi, "lower": -0.4 * pi}  # rad

BOOM, OFFSET, WRIST_DIAMETER = 7.11, 0.475, 0.35  # m; the offset is between the booms
YOUNG, SHEAR, DENSITY = 7.0e10, 2.7e10, 2700.0  # Pa, Pa, kg/m3 (masses are given: the density hardly matters)
EI, EA, ROLL_INERTIA = 3.8e6, 2.84e7, 15.41  # N m2, N, kg m2

DROP, WHIP = 3.0, 1.8  # s, the whole run, and about when the arm, stretched out, begins to whip through
SAMPLE, TENTH = 5e-4, 0.1  # s


def canadarm2(rotor_inertia: float = 10.0, joint_stiffness: float = 2.66e6, modes: int = 3) -> fa.Robot:
    """Two flexible booms, the second beside the first, and the wrist's three rigid links, all on elastic joints.

    Printed in the paper: EI, EA, G, the booms' inertia about their axis, the offset between them. Masses and lengths
    are those published for the Space Station's arm (Nguyen and Hughes, 1994), since Table 1 is lost. The axes of
    shoulder, elbow and wrist pitch are parallel and level.
    """
    aluminium = fa.Material(E=YOUNG, rho=DENSITY, G=SHEAR)
    area, second = EA / YOUNG, EI / YOUNG
    drive = fa.Drive(stiffness=joint_stiffness, rotor_inertia=rotor_inertia)
    shapes = fa.Flexible(modes, modes, modes, modes, basis=fa.Modes(tip_mass=0))

    def boom(name: str, mass: float, offset: tuple[float, float, float]) -> fa.Link:
        polar = area * ROLL_INERTIA / mass  # gives the boom its inertia about its axis
        tube = fa.Section.properties(area, second, second, J=2 * second, I_p=polar)
        joint = fa.Revolute("z", drive=drive)
        return fa.Link(
            name, length=BOOM, joint=joint, section=tube, material=aluminium, mass=mass, flexible=shapes, offset=offset
        )

    def wrist(name: str, axis: str, length: float, mass: float) -> fa.Link:
        joint, cylinder = fa.Revolute(axis, drive=drive), fa.Section.circle(WRIST_DIAMETER)
        return fa.Link(name, length=length, joint=joint, section=cylinder, mass=mass, rotary_inertia=True)

    return fa.Robot(
        name="Canadarm2",
        gravity=(0, 0, -9.81),
        base=fa.Pose(rotation=(pi / 2, 0, 0)),  # the first joints' axes z lie level, y points up
        links=[
            boom("upper", 314.88, (0, 0, 0)),
            boom("lower", 279.2, (0, 0, OFFSET)),
            wrist("pitch", "z", 0.5692, 105.98),
            wrist("yaw", "y", 0.7026, 105.98),
            wrist("roll", "x", 1.3589, 243.66),
        ],
    )


def every_order(arm: fa.Robot) -> fa.Robot:
    """The arm with booms that bend as far as they like."""
    return arm.with_({f"links.{boom}.flexible.stiffening": "exact" for boom in ("upper", "lower")})


def dropped(robot: fa.Robot, duration: float = DROP, rtol: float = 1e-7, native: bool = True) -> fa.Run:
    """The arm let go at rest, its motors free. The small tolerance is for figure 9: rotors tremble on their springs by
    hundredths of a milliradian at some 100 Hz."""
    return fa.simulate(
        robot, duration, q0=start(robot), method="rk45", rtol=rtol, sample=SAMPLE, progress=False, native=native
    )


def start(robot: fa.Robot) -> dict[str, float]:
    """The posture in which the arm is let go, no spring wound up."""
    sides = ("q", "motor") if any(link.joint.coordinates == 2 for link in robot.links) else ("q",)
    return {f"{link}.{side}": angle for link, angle in POSTURE.items() for side in sides}


def wind_up(run: fa.Run, link: str) -> xr.DataArray:
    """Torsional angle of a joint: link minus motor (rad)."""
    return run[f"{link}.q"] - run[f"{link}.motor"]


def twist(run: fa.Run, link: str) -> Array:
    """Angle by which a link's tip is twisted about its axis (rad)."""
    from scipy.spatial.transform import Rotation

    system, q = fa.System(run.robot, native=False), run.data["q"].values
    root, tip = (system.frame(link, x, q)[:, :3, :3] for x in (0.0, None))
    return np.asarray(Rotation.from_matrix(root.transpose(0, 2, 1) @ tip).as_rotvec()[:, 0])


def first_link(run: fa.Run) -> xr.Dataset:
    """What figures 9-13 show: the first joint's torsional angle, and deflections and twist of the first link's tip."""
    u, v, w = run.deflection("upper").values.T
    epsilon, theta = wind_up(run, "upper").values, twist(run, "upper")
    return _histories(run, "rad", epsilon=epsilon, theta=theta).merge(_histories(run, "m", u=u, v=v, w=w))


def joint_angles(run: fa.Run) -> xr.Dataset:
    """What figures 14-18 show: the angles of the five joints on the links' side."""
    return _histories(run, "rad", **{link: run[f"{link}.q"].values for link in JOINTS})


def by(parameter: str, results: Mapping[float, xr.Dataset]) -> xr.Dataset:
    """Results side by side along a parameter."""
    import xarray as xr

    return xr.concat([*results.values()], dim=parameter).assign_coords({parameter: [*results]})


def _histories(run: fa.Run, unit: str, **values: Array) -> xr.Dataset:
    import xarray as xr

    variables = {name: ("time", each, {"units": unit}) for name, each in values.items()}
    return xr.Dataset(variables, {"time": run.time.values})


def tip_apart(one: fa.Run, other: fa.Run) -> xr.DataArray:
    """Distance between the tips of two runs over time (m)."""
    apart: xr.DataArray = (one.compare(other)["tip"] ** 2).sum("axis") ** 0.5
    return apart


# --- figures ---


def spin_figure(zero: Runs, high: Runs, speeds: Iterable[float], deepest: float | None = None) -> Picture:
    """Tip deflection in one panel for each speed; what runs away is followed down to `deepest` (m)."""
    panels: dict[str, Curves] = {}
    for speed in speeds:
        runs = {"zero-order": zero[speed], "high-order": high[speed]}
        panels[f"tip deflection (m)\nat {speed:g} rad/s"] = {k: (run.time, bending(run)) for k, run in runs.items()}
    figure = curves(panels)
    if deepest is not None:
        for plot in figure.axes:
            plot.set_ylim(deepest, -0.15 * deepest)
    return figure


def envelope(values: xr.DataArray) -> xr.DataArray:
    """The largest size of a quantity that trembles, in each tenth of a second."""
    largest: xr.DataArray = abs(values).coarsen(time=round(TENTH / SAMPLE), boundary="trim").max()
    return largest


def each_rotor(values: xr.DataArray) -> Curves:
    """A curve for each inertia of the rotors."""
    return {f"{J:g} kg m2": (values.time, values.sel(rotor_inertia=J)) for J in ROTOR_INERTIAS}


def each_spring(values: xr.DataArray) -> Curves:
    """A curve for each stiffness of the joints."""
    return {f"{K / 1e6:.2f}e6 N m/rad": (values.time, values.sel(stiffness=K)) for K in STIFFNESSES}


def wind_up_figure(data: xr.Dataset) -> Picture:
    """The first joint's torsional angle in the first tenth of a second, and its largest size in each."""
    angle = 1e3 * data["epsilon"]
    early = angle.sel(time=slice(0.0, TENTH))
    figure = curves({"ε_1 (mrad)": each_rotor(early), "largest |ε_1|\nin 0.1 s (mrad)": each_rotor(envelope(angle))})
    figure.axes[1].set_yscale("log")
    return figure


def first_link_figure(data: xr.Dataset) -> Picture:
    """Before the whip on the left, whip and after on the right, where the deformations are far larger."""
    panels = {}
    for name, title in {"u": "u_x (mm)", "v": "v_y (mm)", "w": "w_z (mm)", "theta": "θ_x (mrad)"}.items():
        panels[f"{title}\nuntil {WHIP:g} s"] = each_rotor(1e3 * data[name].sel(time=slice(0.0, WHIP)))
        panels[f"{title}\nfrom {WHIP:g} s on"] = each_rotor(1e3 * data[name].sel(time=slice(WHIP, DROP)))
    return curves(panels, columns=2)


def joint_angle_figure(data: xr.Dataset) -> Picture:
    """Angles on the left, and on the right by how much they differ from those on the stiffest joints."""
    panels = {}
    for link, joint in JOINTS.items():
        angle = data[link]
        panels[f"{joint}\n(rad)"] = each_spring(angle)
        change = envelope(1e3 * (angle - angle.isel(stiffness=-1)))
        panels[f"{joint}: largest\nchange in 0.1 s (mrad)"] = each_spring(change.where(change > 0))
    figure = curves(panels, columns=2)
    for plot in figure.axes[1::2]:
        plot.set_yscale("log")
    return figure


# --- sections ---


def spin_up(page: Page) -> None:
    zero = {speed: spun_up(speed, "zero-order") for speed in SPEEDS}
    high = {speed: spun_up(speed, "high-order") for speed in SPEEDS}
    page.heading("4.1 A beam spun up by its joint")
    page.text(
        f"""
        A beam of 8 m is brought to a speed w0 within {SPIN_UP:g} s, smoothly, and then keeps it. The joint follows the
        prescribed angle exactly; there is no gravity. The zero-order model leaves out that a bent beam is shorter along
        its axis; the high-order model counts it. Eight bending modes.
        """
    )
    show_spinning(page, zero, high)
    tell_peaks(page, zero, high)
    tell_of_spinning(page, zero, high)
    for speed in SPEEDS:
        page.data(f"spin_up_{speed:g}_zero-order", zero[speed])
        page.data(f"spin_up_{speed:g}_high-order", high[speed])


def show_spinning(page: Page, zero: Runs, high: Runs) -> None:
    end = {speed: float(run.time[-1]) for speed, run in zero.items()}
    at_speed = float(bending(zero[3.0]).interp(time=SPIN_UP))
    page.figure("figure_3", spin_figure(zero, high, (0.6, 2.0)), "Figure 3: both models stay bounded at low speeds.")
    caption = (
        f"Figure 4: the zero-order model runs away: {at_speed:.2f} m at {SPIN_UP:g} s; it ends at {end[3.0]:.1f} s."
    )
    page.figure("figure_4", spin_figure(zero, high, (3.0,), deepest=-1.5), caption)
    caption = f"Figure 5: it runs away while the beam still speeds up, until {end[8.0]:.2f} and {end[10.0]:.2f} s."
    page.figure("figure_5", spin_figure(zero, high, (8.0, 10.0), deepest=-3.0), caption)


def tell_peaks(page: Page, zero: Runs, high: Runs) -> None:
    linear, nonlinear = (
        max(abs(peak(high[speed]) / exact - 1) for speed, exact in reference.items())
        for reference in (LINEAR, NONLINEAR)
    )
    page.text(
        f"""
        The peaks beside solutions that were computed independently of flexarm: linear theory with centrifugal
        stiffening, a geometrically nonlinear inextensible beam, and linear theory without stiffening. The high-order
        model is within {100 * linear:.2f} % of the first and {100 * nonlinear:.2f} % of the second.
        """
    )
    rows = []
    for speed in SPEEDS:
        bounded = "runs away" if runs_away(zero[speed]) else f"{peak(zero[speed]):.6f}"
        reference = f"{ZERO_ORDER[speed]:.6f}" if speed in ZERO_ORDER else "runs away"
        stiffened = [f"{value:.6f}" for value in (peak(high[speed]), LINEAR[speed], NONLINEAR[speed])]
        rows.append([f"{speed:g}", *stiffened, bounded, reference])
    page.table(["w0 (rad/s)", "high-order (m)", "linear", "nonlinear", "zero-order (m)", "not stiffened"], rows)


def tell_of_spinning(page: Page, zero: Runs, high: Runs) -> None:
    frequency = first_frequency()
    apart = [float(abs(bending(zero[w]) - bending(high[w])).max()) / abs(peak(high[w])) for w in (0.6, 2.0)]
    away = [speed for speed in SPEEDS if runs_away(zero[speed])]
    bounded = sum(not runs_away(run) for run in high.values())
    growth = peak(high[3.0]) / peak(high[2.0])
    ringing = [float(abs(bending(run).sel(time=slice(SPIN_UP, None))).max()) for run in high.values()]
    resonance = growth > 1.5 or ringing[2] > ringing[3]
    known = f"{frequency:.5f} Hz, that is {2 * pi * frequency:.4f} rad/s."
    differ = f"by {100 * apart[0]:.1f} and {100 * apart[1]:.1f} % of the peak."
    diverge = f"it runs away at {', '.join(f'{speed:g}' for speed in away)} rad/s only."
    rise = (
        f"from 2 to 3 rad/s the speed grows 1.5 times, the peak {growth:.2f} times; the ringing after {SPIN_UP:g} s is "
        f"{', '.join(f'{1000 * size:.2g}' for size in ringing)} mm at the five speeds."
    )
    page.statements(
        [
            ("The first bending frequency is 0.464 Hz.", known, abs(frequency - 0.464) < 1e-3),
            ("At 0.6 and 2 rad/s the models differ, the more the faster it turns.", differ, 0.01 < apart[0] < apart[1]),
            ("At 3, 8 and 10 rad/s the zero-order model diverges.", diverge, away == [3.0, 8.0, 10.0]),
            ("The high-order model converges at every speed.", f"in {bounded} of {len(high)}.", bounded == len(high)),
            ("Near the first frequency, at 3 rad/s, the tip swings much wider.", rise, resonance),
        ]
    )
    page.text(
        f"""
        The last statement does not hold as a resonance. A steady rotation excites nothing at its own frequency, and the
        rotation itself raises the beam's frequency; {2 * pi * frequency:.3f} rad/s matters in another way: it is the
        speed above which the zero-order beam is unstable, its centrifugal force being stronger than its stiffness.
        """
    )


def dropping(page: Page) -> None:
    page.heading("4.2 The Canadarm2 drops in the field of gravity")
    tell_choices(page)
    run = dropped(canadarm2())
    page.data("drop", run)
    picture = strip_of_poses(run, (0.0, 0.5, 1.0, 1.5, 2.0, 2.3, 2.6, 3.0))
    page.figure("figure_8", picture, "Figure 8: the arm drops from rest; red is the way of its tip.")
    full = tip_apart(run, dropped(every_order(canadarm2())))
    rigid = tip_apart(run, dropped(canadarm2().rigid()))
    stretch = run.deflection("upper").sel(axis="x").max()
    tube = YOUNG * canadarm2().links[0].beam_mass / BOOM / DENSITY  # N
    balance = abs(run.data["balance"]).max() / run.data["kinetic"].max()
    page.text(
        f"""
        Five joints, five rotors and twice twelve modes: {len(run.data["coordinate"])} coordinates. Near 2 s the arm,
        stretched out, whips through. Booms that are geometrically exact, not complete to second
        order only (`stiffening="exact"`), move the tip by at most {1000 * float(full.max()):.1f} mm within {DROP:g} s;
        energy is conserved to {float(balance):.0e} of the largest kinetic energy. The rigid twin's tip is
        {float(rigid.sel(time=WHIP, method="nearest")):.2f} m away at {WHIP:g} s, {float(rigid[-1]):.1f} m at the end.

        With the printed EA the booms are soft along their axis: at the whip the upper one stretches by
        {1000 * float(stretch):.0f} mm. As much aluminium as the boom's mass would be {tube / EA:.0f} times as stiff.
        """
    )


def tell_choices(page: Page) -> None:
    masses = "booms of 314.88 and 279.2 kg; wrist of 0.5692, 0.7026, 1.3589 m with 105.98, 105.98, 243.66 kg"
    links = f"{masses}; booms {BOOM} m long, wrist {WRIST_DIAMETER} m thick"
    published = "published for the Space Station's arm (Nguyen and Hughes, 1994); its upper boom has the printed J_x"
    axes = "shoulder, elbow and wrist pitch parallel and level, then yaw and roll; 9.81 m/s2"
    plane = "the arm drops in its plane; the offset between the booms twists and bends them out of it"
    page.chosen(
        [
            ("Table 1 and figure 7: links, masses, lengths", links, published),
            ("E and GJ", f"E = {YOUNG:g} Pa, GJ = {2 * EI / YOUNG * SHEAR:.4g} N m2", "aluminium; a round section"),
            ("axes and gravity", axes, plane),
            ("motors", "free: no torque, no damping", "otherwise the arm would not drop"),
            ("J_r n = 2 ... 15", "J_r n2 in kg m2: the rotor as the joint feels it", "only that enters the equations"),
            ("joint stiffness in N/mm", "the numbers in N m/rad", "the spring is torsional; see the end of the page"),
            ("the other parameter", "10 kg m2 in figures 14-18, 2.66e6 N m/rad in figures 8-13", "in the middle"),
            ("duration", f"{DROP:g} s", "the drop, the whip and what follows"),
        ]
    )


def rotor_inertia(page: Page) -> None:
    data = by("rotor_inertia", {J: first_link(dropped(canadarm2(rotor_inertia=J))) for J in ROTOR_INERTIAS})
    page.data("rotor_inertia", data)
    page.heading("Rotor inertia")
    caption = (
        "Figure 9: torsional angle of the first joint; above at first, below its largest size in tenths of a second."
    )
    page.figure("figure_9", wind_up_figure(data), caption)
    caption = "Figures 10-13: stretch, bending in the arm's plane and out of it, and twist at the first link's tip."
    page.figure("figures_10_13", first_link_figure(data), caption)
    largest = 1e3 * abs(data).max("time")
    units = {"epsilon": "ε_1 (mrad)", "u": "u_x (mm)", "v": "v_y (mm)", "w": "w_z (mm)", "theta": "θ_x (mrad)"}
    page.text("Largest sizes:")
    page.table(
        ["J_r n2 (kg m2)", *units.values()],
        [(f"{J:g}", *(f"{largest[name][k]:.3g}" for name in units)) for k, J in enumerate(ROTOR_INERTIAS)],
    )
    grows = {name: bool((np.diff(largest[name]) > 0).all()) for name in units}
    others = ", ".join(units[name].split()[0] for name in units if not grows[name])
    times = f"{float(largest['epsilon'][-1] / largest['epsilon'][0]):.1f} times from the lightest to the heaviest."
    page.statements(
        [
            ("The larger the rotor's inertia, the larger the first joint's torsional angle.", times, grows["epsilon"]),
            ("So are the deformations of the first link.", f"not {others}" if others else "all of them", not others),
        ]
    )


def joint_stiffness(page: Page) -> None:
    runs = {K: dropped(canadarm2(joint_stiffness=K)) for K in STIFFNESSES}
    soft = dropped(canadarm2(joint_stiffness=STIFFNESSES[0] / 1000))
    data = by("stiffness", {K: joint_angles(run) for K, run in runs.items()})
    page.data("joint_stiffness", data)
    page.heading("Joint stiffness")
    caption = "Figures 14-18: the joints' angles on the links' side; right, how they differ from those on the stiffest."
    page.figure("figures_14_18", joint_angle_figure(data), caption)
    tell_changes(page, data, joint_angles(soft))
    softest, stiffest = runs[STIFFNESSES[0]], runs[STIFFNESSES[-1]]
    apart = float(tip_apart(softest, stiffest).max())
    share = apart / sum(link.length for link in canadarm2().links)
    moved = f"from softest to stiffest joints the tip moves by {1000 * apart:.1f} mm, {100 * share:.1g} % of the reach."
    page.statements([("Flexible joints have a significant effect on the arm's motion.", moved, share > 0.01)])
    torque = max(K * float(abs(wind_up(run, "upper")).max()) for K, run in runs.items())
    weight = float(fa.System(canadarm2(), native=False).gravity(start(canadarm2()))[0])
    page.text(
        f"""
        The angles change more than the tip, since the booms shake and the heavy wrist hardly does. A free motor winds
        up its spring by no more than its own inertia asks for: up to {torque / 1000:.1f} kN m at the shoulder, where
        the arm's weight turns with {weight / 1000:.0f} kN m at first. So a drop tells little about the joints'
        stiffness; motors that drive or hold the joints would tell more. On springs a thousand times as soft as the
        softest (were N mm/rad meant) the tip strays by {float(tip_apart(soft, stiffest).max()):.2f} m.
        """
    )


def tell_changes(page: Page, data: xr.Dataset, soft: xr.Dataset) -> None:
    """How the joints' angles depend on the springs."""
    stiffest = data.isel(stiffness=-1)
    turn, change, softest = stiffest.max() - stiffest.min(), abs(data - stiffest).max(), abs(soft - stiffest).max()
    page.text("How far each joint turns, and how much that changes over the four stiffnesses:")
    rows = []
    for link, joint in JOINTS.items():
        rows.append([joint, f"{turn[link]:.3g}", f"{1000 * change[link]:.2g}", f"{1000 * softest[link]:.3g}"])
    soft_joint = f"with {STIFFNESSES[0] / 1000:g} N m/rad (mrad)"
    page.table(["joint", "turns by (rad)", "changes by (mrad)", soft_joint], rows)


STUDY = Study(
    name="spatial",
    paper="Dynamics of spatial manipulators of n flexible links and n flexible joints",
    covers="figures 3-5 and 8-18",
    sections=(spin_up, dropping, rotor_inertia, joint_stiffness),
)
