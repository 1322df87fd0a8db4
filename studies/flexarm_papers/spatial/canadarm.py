"""The Canadarm2 of section 4.2: the robot, its drop with free motors, the same with held ones, what is read from it."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import TYPE_CHECKING

import numpy as np

import flexarm as fa
from flexarm_papers.runs import simulate

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.foundation.validation import Array

ROTOR_INERTIAS = (2.0, 5.0, 10.0, 15.0)  # kg m^2, as the joint feels them
STIFFNESSES = (0.60e6, 1.33e6, 2.66e6, 5.00e6)  # N m/rad
JOINTS = {"upper": "shoulder", "lower": "elbow", "pitch": "wrist pitch", "yaw": "wrist yaw", "roll": "wrist roll"}
POSTURE = {"upper": 0.4 * pi, "lower": -0.4 * pi}  # rad

BOOM, OFFSET, WRIST_DIAMETER = 7.11, 0.475, 0.35  # m; the offset is between the booms
YOUNG, SHEAR, DENSITY = 7.0e10, 2.7e10, 2700.0  # Pa, Pa, kg/m^3 (masses are given: the density hardly matters)
EI, EA, ROLL_INERTIA = 3.8e6, 2.84e7, 15.41  # N m^2, N, kg m^2

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


def zero_order(arm: fa.Robot) -> fa.Robot:
    """Return the arm with the zero-order model of the booms, without foreshortening."""
    return arm.with_({f"links.{boom}.flexible.stiffening": "none" for boom in ("upper", "lower")})


def without_springs(arm: fa.Robot) -> fa.Robot:
    """The arm with its rotors rigidly on the joints."""
    return arm.with_({f"links.{link}.joint.drive.stiffness": None for link in JOINTS})


def dropped(robot: fa.Robot, duration: float = DROP, rtol: float = 1e-7, native: bool = True) -> fa.Run:
    """The arm let go at rest, its motors free. The small tolerance is for figure 9: rotors tremble on their springs by
    hundredths of a milliradian at some 100 Hz."""
    return simulate(robot, duration, q0=start(robot), method="rk45", rtol=rtol, sample=SAMPLE, native=native)


def held(robot: fa.Robot, duration: float = DROP, rtol: float = 1e-6, native: bool = True) -> fa.Run:
    """The same arm from the same start, but its motors are held where they are: it sags and swings on its springs."""
    angles = {link: POSTURE.get(link, 0.0) for link in JOINTS}
    return simulate(robot, duration, q0=start(robot), motion=angles, rtol=rtol, sample=SAMPLE, native=native)


def held_at_rest(robot: fa.Robot) -> Array:
    """Where the tip hangs with the motors held (m): weight, springs and booms in balance."""
    from scipy.optimize import fsolve

    system = fa.System(robot, native=False)
    q = np.asarray(system.vector(start(robot)))
    moving = np.array([not name.endswith(".motor") for name in system.names])

    def out_of_balance(x: Array) -> Array:
        posture = q.copy()
        posture[moving] = x
        return np.asarray(system.inverse_dynamics(posture, 0 * q, 0 * q)[moving])

    q[moving] = fsolve(out_of_balance, q[moving])
    return np.asarray(system.tip(q))


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


def envelope(values: xr.DataArray) -> xr.DataArray:
    """The largest size of a quantity that trembles, in each tenth of a second."""
    largest: xr.DataArray = abs(values).coarsen(time=round(TENTH / SAMPLE), boundary="trim").max()
    return largest
