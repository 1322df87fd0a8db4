"""Spatial manipulators of n flexible links and n flexible joints (seeds/001), section 4: a beam spun up by its joint
without and with dynamic stiffening (figures 3-5), and the Canadarm2 dropping in the field of gravity (figures 8-18).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from math import pi
from typing import TYPE_CHECKING, Literal

import numpy as np

import flexarm as fa
from flexarm.papers.figures import Curves, curves
from flexarm.papers.page import Page
from flexarm.papers.study import Study
from flexarm.show.moments import Moments
from flexarm.show.sketch import Sketch
from flexarm.show.style import Picture
from flexarm.show.view import View

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.beam.polynomials import Array

# --- 4.1 the rotating beam ---

SPEEDS = (0.6, 2.0, 3.0, 8.0, 10.0)  # rad/s
SPIN_UP = 15.0  # s
MODELS: dict[str, Literal["none", "shortening"]] = {"zero-order": "none", "high-order": "shortening"}
Runs = Mapping[float, fa.Run]  # by speed

# Peaks of the tip's deflection (m), computed independently of flexarm by high-order Galerkin solutions: linear theory
# with centrifugal stiffening, geometrically nonlinear inextensible beam, linear theory without stiffening (where it is
# bounded).
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


def listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.2g}" for number in numbers)


def first_frequency() -> float:
    """First bending frequency of the beam at rest, its joint held (Hz)."""
    return float(fa.modes(fa.library.rotating_beam(), joints="locked").frequencies[0])


# --- 4.2 the Canadarm2 ---

ROTOR_INERTIAS = (2.0, 5.0, 10.0, 15.0)  # kg m2, as the joint feels them
STIFFNESSES = (0.60e6, 1.33e6, 2.66e6, 5.00e6)  # N m/rad
JOINTS = {"upper": "shoulder", "lower": "elbow", "pitch": "wrist pitch", "yaw": "wrist yaw", "roll": "wrist roll"}
POSTURE = {"upper": 0.4 * pi, "lower": -0.4 * pi}  # rad

BOOM = 7.11  # m
YOUNG, SHEAR, DENSITY = 7.0e10, 2.7e10, 2700.0  # Pa, Pa, kg/m3 (masses are given: the density hardly matters)
EI, EA, ROLL_INERTIA = 3.8e6, 2.84e7, 15.41  # N m2, N, kg m2
OFFSET = 0.475  # m, between the booms
WRIST_DIAMETER = 0.35  # m

DROP = 3.0  # s, figure 8
WATCH = 1.8  # s, figures 9-18: until the arm, stretched out, whips through
SAMPLE, TENTH = 5e-4, 0.1  # s


def canadarm2(
    rotor_inertia: float = 10.0,
    joint_stiffness: float = 2.66e6,
    modes: int = 3,
    stiffening: Literal["none", "shortening", "full"] = "shortening",
) -> fa.Robot:
    """Two flexible booms, the second beside the first, and the wrist's three rigid links, all on elastic joints.

    Printed in the paper: EI, EA, G, the booms' inertia about their axis, the offset between them. Masses and lengths
    are those published for the Space Station's arm (Nguyen and Hughes, 1994), since Table 1 is lost. The axes of
    shoulder, elbow and wrist pitch are parallel and level.
    """
    aluminium = fa.Material(E=YOUNG, rho=DENSITY, G=SHEAR)
    area, second = EA / YOUNG, EI / YOUNG
    drive = fa.Drive(stiffness=joint_stiffness, rotor_inertia=rotor_inertia)

    def boom(name: str, mass: float, beside: float) -> fa.Link:
        polar = area * ROLL_INERTIA / mass  # gives the boom its inertia about its axis
        return fa.Link(
            name,
            length=BOOM,
            joint=fa.Revolute("z", drive=drive),
            section=fa.Section.properties(area, second, second, J=2 * second, I_p=polar),
            material=aluminium,
            mass=mass,
            flexible=fa.Flexible(modes, modes, modes, modes, stiffening=stiffening),
            offset=(0, 0, beside),
        )

    def wrist(name: str, axis: str, length: float, mass: float) -> fa.Link:
        joint, cylinder = fa.Revolute(axis, drive=drive), fa.Section.circle(WRIST_DIAMETER)
        return fa.Link(name, length=length, joint=joint, section=cylinder, mass=mass, rotary_inertia=True)

    return fa.Robot(
        name="Canadarm2",
        gravity=(0, 0, -9.81),
        base=fa.Pose(rotation=(pi / 2, 0, 0)),  # the first joints' axes z lie level, y points up
        links=[
            boom("upper", 314.88, 0.0),
            boom("lower", 279.2, OFFSET),
            wrist("pitch", "z", 0.5692, 105.98),
            wrist("yaw", "y", 0.7026, 105.98),
            wrist("roll", "x", 1.3589, 243.66),
        ],
    )


def dropped(robot: fa.Robot, duration: float, rtol: float = 1e-7, native: bool = True) -> fa.Run:
    """The arm let go at rest, its motors free.

    Runge-Kutta with a small tolerance: rotors on their springs tremble by hundredths of a milliradian at some 100 Hz,
    and that is what figure 9 shows.
    """
    with warnings.catch_warnings():  # how far the second-order model carries is told on the page
        warnings.simplefilter("ignore", fa.ValidityWarning)
        return fa.simulate(
            robot, duration, q0=start(robot), method="rk45", rtol=rtol, sample=SAMPLE, progress=False, native=native
        )


def start(robot: fa.Robot) -> dict[str, float]:
    """The posture in which the arm is let go, no spring wound up."""
    elastic = any(link.joint.coordinates == 2 for link in robot.links)
    sides = ("q", "motor") if elastic else ("q",)
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


def least_inertia(run: fa.Run, robot: fa.Robot, sample: int = -1) -> float:
    """Smallest eigenvalue of a robot's mass matrix in a posture of a run, the last one unless given."""
    mass = fa.System(robot, native=False).mass_matrix(run.data["q"].values[sample])
    return float(np.linalg.eigvalsh(mass)[0])


def tip_apart(one: fa.Run, other: fa.Run) -> xr.DataArray:
    """Distance between the tips of two runs over time (m)."""
    apart: xr.DataArray = (one.compare(other)["tip"] ** 2).sum("axis") ** 0.5
    return apart


# --- figures ---


def spin_figure(zero: Runs, high: Runs, speeds: Iterable[float], deepest: float | None = None) -> Picture:
    """Tip deflection in one panel for each speed; what runs away is followed down to `deepest` (m)."""
    panels = {}
    for speed in speeds:
        models = {"zero-order": zero[speed], "high-order": high[speed]}
        panels[f"tip deflection (m)\nat {speed:g} rad/s"] = {
            model: (run.time, bending(run)) for model, run in models.items()
        }
    figure = curves(panels)
    if deepest is not None:
        for plot in figure.axes:
            plot.set_ylim(deepest, -0.15 * deepest)
    return figure


def poses(run: fa.Run, times: Array, columns: int = 4) -> Picture:
    """The arm at some times side by side, with the way of its tip so far."""
    moments = Moments(run)
    arm, (moment, way) = moments.arm(times), moments.way(times)
    view = View.of(np.concatenate([arm.cloud, way]))
    rows = -(-len(times) // columns)
    figure = Picture(figsize=(2.9 * columns, 3.0 * rows))
    for k, time in enumerate(times):
        plot = view.plot(figure, rows, columns, k + 1)
        Sketch(plot, view, arm, width=1.8).show(k)
        plot.plot(*view.data(way[moment <= time]), color="#d1495b", linewidth=0.9)
        plot.set_title(f"t = {time:.3g} s", fontsize=9, y=0.97)
        plot.set_box_aspect(view.high - view.low, zoom=0.92)
        for axis in "xyz":  # close to the small picture
            plot.tick_params(axis, pad=-1, labelsize=7)
            getattr(plot, f"set_{axis}label")(f"{axis} (m)", fontsize=8, labelpad=-4)
    return figure


def envelope(values: xr.DataArray) -> xr.DataArray:
    """The largest size of a quantity that trembles, in each tenth of a second."""
    pieces = abs(values).coarsen(time=round(TENTH / SAMPLE), boundary="trim")
    largest: xr.DataArray = pieces.max()
    return largest


def wind_up_figure(data: xr.Dataset) -> Picture:
    """The first joint's torsional angle in the first tenth of a second, and its largest size in each."""
    micro = 1e6 * data["epsilon"]
    early, largest = micro.sel(time=slice(0.0, TENTH)), envelope(micro)
    panels = {
        "ε_1 (1e-6 rad)": {rotor(J): (early.time, early.sel(rotor_inertia=J)) for J in ROTOR_INERTIAS},
        "largest |ε_1| in\n0.1 s (1e-6 rad)": {
            rotor(J): (largest.time, largest.sel(rotor_inertia=J)) for J in ROTOR_INERTIAS
        },
    }
    return curves(panels)


def rotor(inertia: float) -> str:
    return f"{inertia:g} kg m2"


def first_link_figure(data: xr.Dataset) -> Picture:
    panels = {"u": "u_x (mm)", "v": "v_y (mm)", "w": "w_z (mm)", "theta": "θ_x (mrad)"}
    return curves(
        {
            title: {rotor(J): (data.time, 1e3 * data[name].sel(rotor_inertia=J)) for J in ROTOR_INERTIAS}
            for name, title in panels.items()
        }
    )


def joint_angle_figure(data: xr.Dataset) -> Picture:
    """Angles on the left, and on the right by how much they differ from those on the stiffest joints."""
    labels = {K: f"{K / 1e6:.2f}e6 N m/rad" for K in STIFFNESSES}
    panels: dict[str, Curves] = {}
    for link, joint in JOINTS.items():
        angle = data[link]
        change = envelope(1e3 * (angle - angle.isel(stiffness=-1)))
        panels[f"{joint}\n(rad)"] = {label: (data.time, angle.sel(stiffness=K)) for K, label in labels.items()}
        panels[f"{joint}: largest\nchange in 0.1 s (mrad)"] = {
            label: (change.time, change.sel(stiffness=K)) for K, label in labels.items()
        }
    return curves(panels, columns=2)


# --- sections ---


def spin_up(page: Page) -> None:
    zero = {speed: spun_up(speed, "zero-order") for speed in SPEEDS}
    high = {speed: spun_up(speed, "high-order") for speed in SPEEDS}
    page.heading("4.1 A beam spun up by its joint")
    page.text(
        f"""
        A beam of 8 m is brought to a speed w0 within {SPIN_UP:g} s, smoothly, and then keeps it. The joint follows the
        prescribed angle exactly; there is no gravity. The zero-order model leaves out that a bent beam is shorter along
        its axis; the high-order model counts it to second order. Eight bending modes.
        """
    )
    page.figure(
        "figure_3",
        spin_figure(zero, high, (0.6, 2.0)),
        "Figure 3: below the first bending frequency both models stay bounded.",
    )
    page.figure(
        "figure_4",
        spin_figure(zero, high, (3.0,), deepest=-1.5),
        f"Figure 4: at 3 rad/s the zero-order model leaves the picture; it reaches "
        f"{float(bending(zero[3.0]).interp(time=SPIN_UP)):.2f} m at {SPIN_UP:g} s and ends at "
        f"{float(zero[3.0].time[-1]):.1f} s.",
    )
    page.figure(
        "figure_5",
        spin_figure(zero, high, (8.0, 10.0), deepest=-3.0),
        f"Figure 5: above, it runs away while the beam still speeds up: the runs end at "
        f"{float(zero[8.0].time[-1]):.2f} s (8 rad/s) and {float(zero[10.0].time[-1]):.2f} s (10 rad/s).",
    )
    for speed in SPEEDS:
        page.data(f"spin_up_{speed:g}_zero-order", zero[speed])
        page.data(f"spin_up_{speed:g}_high-order", high[speed])
    tell_peaks(page, zero, high)
    tell_of_spinning(page, zero, high)


def tell_peaks(page: Page, zero: Runs, high: Runs) -> None:
    page.text(
        """
        The peaks beside solutions that were computed independently of flexarm: linear theory with centrifugal
        stiffening, a geometrically nonlinear inextensible beam, and linear theory without stiffening.
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
    growth = peak(high[3.0]) / peak(high[2.0])
    ringing = [float(abs(bending(run).sel(time=slice(SPIN_UP, None))).max()) for run in high.values()]
    page.statements(
        [
            (
                "The first bending frequency is 0.464 Hz.",
                f"{frequency:.5f} Hz, that is {2 * pi * frequency:.4f} rad/s.",
                abs(frequency - 0.464) < 1e-3,
            ),
            (
                "Already at 0.6 and 2 rad/s the two models differ visibly, and more so the faster it turns.",
                f"by {100 * apart[0]:.1f} and {100 * apart[1]:.1f} % of the peak.",
                0.01 < apart[0] < apart[1],
            ),
            (
                "At 3, 8 and 10 rad/s the zero-order model diverges.",
                f"it runs away at {listed(away)} rad/s only.",
                away == [3.0, 8.0, 10.0],
            ),
            (
                "The high-order model converges at every speed.",
                f"{sum(not runs_away(run) for run in high.values())} of {len(high)} runs are complete and bounded.",
                not any(map(runs_away, high.values())),
            ),
            (
                "At 3 rad/s, near the first frequency, the tip's amplitude rises much higher.",
                f"from 2 to 3 rad/s the speed grows 1.5 times, the peak {growth:.2f} times; the ringing after "
                f"{SPIN_UP:g} s is {listed(1000 * size for size in ringing)} mm at the five speeds.",
                growth > 1.5 or ringing[2] > ringing[3],
            ),
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
    page.chosen(
        [
            (
                "Table 1 and figure 7: links, masses, lengths",
                f"booms of {BOOM} m with 314.88 and 279.2 kg, then the wrist: 0.5692, 0.7026, 1.3589 m with 105.98, "
                f"105.98, 243.66 kg, solid cylinders of {WRIST_DIAMETER} m",
                "published data of the Space Station's arm (Nguyen and Hughes, 1994); they fit the printed offset of "
                "0.475 m and J_x = 15.41 kg m2, which is that of the whole upper boom",
            ),
            ("E and GJ", f"E = {YOUNG:g} Pa, GJ = {2 * EI / YOUNG * SHEAR:.4g} N m2", "aluminium; a round section"),
            (
                "axes and gravity",
                "shoulder, elbow and wrist pitch parallel and level, then yaw and roll; 9.81 m/s2",
                "the arm drops in its plane; the offset between the booms twists and bends them out of it",
            ),
            ("motors", "free: no torque, no damping", "otherwise the arm would not drop"),
            ("J_r n = 2 ... 15", "J_r n2 in kg m2: the rotor as the joint feels it", "only that enters the equations"),
            (
                "joint stiffness in N/mm",
                "the numbers in N m/rad",
                "the spring is torsional; were N mm/rad meant, little would change (last table)",
            ),
            ("the other parameter", "10 kg m2 in figures 14-18, 2.66e6 N m/rad in figures 8-13", "in the middle"),
            ("duration", f"{DROP:g} s for figure 8, {WATCH:g} s for the others", "see below"),
        ]
    )
    second = dropped(canadarm2(), DROP, rtol=1e-6)
    full = dropped(canadarm2(stiffening="full"), DROP, rtol=1e-6)
    rigid = dropped(canadarm2().rigid(), DROP, rtol=1e-6)
    end = float(second.time[-1])
    between = tip_apart(second, full).sel(time=slice(0.0, WATCH))
    bent = abs(float(second.deflection("lower").sel(axis="z")[-1]))
    tube = YOUNG * canadarm2().links[0].beam_mass / BOOM / DENSITY  # N
    page.figure(
        "figure_8",
        poses(full, np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.3, 2.6, 3.0])),
        "Figure 8: the arm drops from rest; red is the way of its tip.",
    )
    page.data("drop_high-order", second)
    page.data("drop_every_order", full)
    page.text(
        f"""
        Five joints, five rotors and twice twelve modes: {len(full.data["coordinate"])} coordinates. Figure 8 counts the
        kinetic energy of the deformed booms to every order (`stiffening="full"`). The paper's model, which keeps the
        second order, gives the same motion up to {WATCH:g} s, to {1000 * float(between.max()):.2g} mm at the tip. Then
        the arm, stretched out, whips through, the lower boom bends by {bent:.2f} m out of the plane, and the run ends
        at {end:.3f} s: the mass matrix to second order is about to become singular. Its smallest eigenvalue has fallen
        from {least_inertia(second, canadarm2(), 0):.1e} to {least_inertia(second, canadarm2()):.1e}, where every order
        leaves {least_inertia(second, canadarm2(stiffening="full")):.1e}. The shortened boom has less inertia about its
        joint, but the coupling of its joint with its bending, a product of third order, is still that of a straight
        boom; turning against bending then costs too little. So the studies below, made with the paper's model, end at
        {WATCH:g} s.

        With the printed EA the booms are soft along their axis: at the whip the upper one stretches by
        {1000 * float(full.deflection("upper").sel(axis="x").max()):.0f} mm. As much aluminium as the boom's mass would
        be {tube / EA:.0f} times as stiff. Energy is conserved to
        {float(abs(full.data["balance"]).max() / full.data["kinetic"].max()):.0e} of the largest kinetic energy. The
        tip of the rigid twin is {float(tip_apart(rigid, full).sel(time=WATCH, method="nearest")):.2f} m away at
        {WATCH:g} s and {float(tip_apart(rigid, full)[-1]):.1f} m at the end.
        """
    )


def rotor_inertia(page: Page) -> None:
    runs = {J: dropped(canadarm2(rotor_inertia=J), WATCH) for J in ROTOR_INERTIAS}
    data = by("rotor_inertia", {J: first_link(run) for J, run in runs.items()})
    page.data("rotor_inertia", data)
    page.heading("Rotor inertia")
    page.figure(
        "figure_9",
        wind_up_figure(data),
        "Figure 9: torsional angle of the first joint. The rotor alone winds up the spring and trembles on it. Above, "
        "the first tenth of a second; below, the largest size in each tenth.",
    )
    page.figure(
        "figures_10_13",
        first_link_figure(data),
        "Figures 10-13: stretch, bending in the arm's plane and out of it, and twist at the tip of the first link.",
    )
    largest = abs(data).max("time")
    names = {"epsilon": ("ε_1", 1e6, "1e-6 rad"), "u": ("u_x", 1e3, "mm"), "v": ("v_y", 1e3, "mm")}
    names |= {"w": ("w_z", 1e3, "mm"), "theta": ("θ_x", 1e3, "mrad")}
    page.text("Largest sizes:")
    page.table(
        ["J_r n2 (kg m2)", *(f"{symbol} ({unit})" for symbol, _, unit in names.values())],
        [
            (f"{J:g}", *(f"{scale * float(largest[name][k]):.3g}" for name, (_, scale, _) in names.items()))
            for k, J in enumerate(ROTOR_INERTIAS)
        ],
    )
    grows = {name: bool((np.diff(largest[name].values) > 0).all()) for name in names}
    others = [names[name][0] for name in names if name != "epsilon" and not grows[name]]
    page.statements(
        [
            (
                "The larger the rotor's inertia, the larger the torsional angle of the first joint.",
                f"its largest size grows {float(largest['epsilon'][-1] / largest['epsilon'][0]):.1f} times "
                f"from {ROTOR_INERTIAS[0]:g} to {ROTOR_INERTIAS[-1]:g} kg m2.",
                grows["epsilon"],
            ),
            (
                "The same holds of the deformations of the first link.",
                "of all of them." if not others else f"not of {' and '.join(others)}: see the table.",
                all(grows.values()),
            ),
        ]
    )


def joint_stiffness(page: Page) -> None:
    runs = {K: dropped(canadarm2(joint_stiffness=K), WATCH) for K in STIFFNESSES}
    data = by("stiffness", {K: joint_angles(run) for K, run in runs.items()})
    page.data("joint_stiffness", data)
    soft = joint_angles(dropped(canadarm2(joint_stiffness=STIFFNESSES[0] / 1000), WATCH))
    page.heading("Joint stiffness")
    page.figure(
        "figures_14_18",
        joint_angle_figure(data),
        "Figures 14-18: the angles of the five joints on the links' side. Left, the curves lie on one another; right, "
        "by how much they differ from those on the stiffest joints.",
    )
    stiffest = data.isel(stiffness=-1)
    change = {link: float(abs(data[link] - stiffest[link]).max()) for link in JOINTS}
    softest = {link: float(abs(soft[link] - stiffest[link]).max()) for link in JOINTS}
    turn = {link: float(stiffest[link].max() - stiffest[link].min()) for link in JOINTS}
    page.text("How far each joint turns, and how much that changes (mrad) over the four stiffnesses:")
    page.table(
        ["joint", "turns by (rad)", "changes by (mrad)", f"with {STIFFNESSES[0] / 1000:g} N m/rad (mrad)"],
        [
            (name, f"{turn[link]:.3g}", f"{1000 * change[link]:.2g}", f"{1000 * softest[link]:.2g}")
            for link, name in JOINTS.items()
        ],
    )
    share = max(change[link] / turn[link] for link in POSTURE)
    page.statements(
        [
            (
                "Flexible joints have a significant effect on the arm's motion.",
                f"in this drop shoulder and elbow change by {100 * share:.1g} % of what they turn.",
                share > 0.01,
            )
        ]
    )
    torque = max(K * float(abs(wind_up(run, "upper")).max()) for K, run in runs.items())
    weight = float(fa.System(canadarm2(), native=False).gravity(start(canadarm2()))[0])
    page.text(
        f"""
        A free motor winds up its spring by no more than its own inertia asks for: up to {torque:.0f} N m at the
        shoulder, where the arm's weight turns with {weight / 1000:.0f} kN m at first. So the drop tells little about
        the joints' stiffness, in whatever unit the paper means it; motors that drive or hold the joints would tell
        more.
        """
    )


STUDY = Study(
    name="spatial",
    paper="Dynamics of spatial manipulators of n flexible links and n flexible joints (seeds/001)",
    covers="figures 3-5 and 8-18",
    sections=(spin_up, dropping, rotor_inertia, joint_stiffness),
)
