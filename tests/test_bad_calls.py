"""A bad value for any argument of any public function is refused in a sentence that names the argument.

Each call of the table is valid as it stands; each of its arguments is then replaced by what its kind must refuse.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import flexarm as fa

NAN, INF = float("nan"), float("inf")
THING = object()

# What must be refused, whatever else an argument may be.
NOT_NUMBERS = ("text", "", NAN, INF, True, 1j, [], {}, THING)
NUMBER = (None, *NOT_NUMBERS)
NONNEGATIVE = (*NUMBER, -1.0)
POSITIVE = (*NUMBER, -1.0, 0.0)
COUNT = (*NUMBER, -1, 1.5)
CHOICE = (None, "text", "", 3, NAN, [], {}, THING)
NAME = (None, "absent", "", 3, NAN, [], {}, THING)
TEXT = (None, "", 3, NAN, [], {}, THING)
FLAG = (None, "text", "", 3, NAN, [], {}, THING)
VECTOR = (None, 1.0, "text", NAN, [1.0], [1.0] * 4, ["a", "b", "c"], [NAN, 0, 0], [1j, 0, 0], [True, 0, 0], {}, THING)
AXIS = (*VECTOR, [0, 0, 0])
PART = ("text", 3, NAN, [], THING)  # of a description: another one, or its fields
STATE = ("text", 1.0, NAN, [1.0] * 9, [NAN] * 3, [1j] * 3, ["a"] * 3, {"absent": 1.0}, {"b.q": "text"}, {"b.q": NAN},
         {"b.q": None}, {3: 1.0}, True, THING)  # fmt: skip
ROBOT = (None, "text", 3, NAN, [], {}, THING)
RUN = (None, "text", 3, [], {}, THING)
PATH = (None, 3, NAN, [], {}, THING)
MAPPING = ("text", 3, NAN, [1, 2], THING)


def optional(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same for an argument that may be None."""
    return tuple(value for value in values if value is not None)


@dataclass(frozen=True)
class Made:
    """A valid value that is made when it is needed."""

    make: Callable[[], Any]


@dataclass(frozen=True)
class Call:
    """A valid call: by argument its value and the values to be refused."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, tuple[Any, tuple[Any, ...]]]

    def __call__(self, **changes: Any) -> Any:
        valid = {name: value for name, (value, _) in self.arguments.items()} | changes
        return self.function(
            **{name: value.make() if isinstance(value, Made) else value for name, value in valid.items()}
        )


# --- what the calls are about ---

BAR = fa.Section.rectangle(0.02, 0.02)
METAL = fa.Material(7e10, 2700.0)
SHAPES = fa.Flexible(bend_y=1)
SPRING = fa.Drive(50.0, 0.1, 0.02)


def bar(name: str, **fields: Any) -> fa.Link:
    return fa.Link(name, 1.0, section=BAR, material=METAL, **fields)


ARM = fa.Robot(links=[bar("a", flexible=SHAPES), bar("b")])
ROD = fa.Robot(links=[bar("b")])


@cache
def arm() -> fa.System:
    return fa.System(ARM, native=False)


@cache
def rod() -> fa.System:
    return fa.System(ROD, native=False)


@cache
def run() -> fa.Run:
    return fa.simulate(arm(), 0.01, method="rk4", dt=1e-3, sample=1e-3, native=False)


@cache
def shaken() -> fa.Run:
    """The arm, let go with its first link bent."""
    return fa.simulate(arm(), 0.1, q0=[0.0, 0.01, 0.0], method="rk4", dt=1e-3, sample=1e-3, native=False)


@cache
def pushed() -> fa.Run:
    """The arm, its first joint shaken a little."""
    push = fa.chirp(1.0, 10.0, 100.0, 0.05)
    return fa.simulate(arm(), 0.1, torque={"a": push}, method="rk4", dt=1e-3, sample=1e-3, native=False)


@cache
def mode_set() -> fa.ModeSet:
    return fa.modes(arm())


@cache
def form() -> fa.ClosedForm:
    return fa.equations(ROD)


@cache
def evaluate() -> Callable[..., Any]:
    return form().lambdify()


def simulate(**given: Any) -> fa.Run:
    return fa.simulate(**{"method": "rk4", "dt": 5e-3, "native": False, **given})


@cache
def simulation() -> fa.Simulation:
    return fa.Simulation(rod(), method="rk4", native=False)


def zero_law(t: Any, x: Any) -> Any:
    return [0.0, 0.0]


def zero(t: Any) -> Any:
    return 0.0


Q = [0.1, 0.0, 0.1]
STATES = {"q": (Q, STATE), "v": (Q, STATE), "a": (Q, STATE)}
PLACE = {"link": ("a", NAME), "x": (0.5, (*optional(NUMBER), -1.0, 2.0)), "q": (Q, STATE)}
NOWHERE = (None, "text", "", NAN, INF, True, 1j, {}, THING, -1.0, 2.0, [[0.5]], ["a"], [NAN], [True], [0.5, 2.0])
ALONG = ([0.0, 0.5], NOWHERE)
IN_SECTION = ((0.01, 0.0), (0.0, "text", NAN, [0.0], [0.0] * 3, [NAN, 0.0], ["a", "b"], [1.0, 0.0], {}, THING))
JOINT = {
    "limits": ([0.1, 0.5], (1.0, "text", NAN, [1.0], [1.0, 0.0], ["a", "b"], [NAN, 1.0], {}, THING)),
    "viscous": (0.1, NONNEGATIVE),
    "coulomb": (0.1, NONNEGATIVE),
    "coulomb_speed": (0.1, POSITIVE),
    "drive": (SPRING, PART),
    "stop": (fa.Stop(100.0), PART),
    "stiffness": (5.0, NONNEGATIVE),
    "rest": (0.2, NUMBER),
    "actuated": (True, FLAG),
}
PAIR = (1.0, "text", NAN, [1.0], [1.0, 2.0, 3.0], ["a", "b"], [NAN, 1.0], {}, THING)
SIGNED_PAIR = (*PAIR, [-1.0, 1.0])
COMPOUND = {
    "limits": ([[0.1, 0.5], None], (1.0, "text", NAN, [1.0], [1.0, 0.0], ["a", "b"], [[0.5, 0.1], None], {}, THING)),
    "stiffness": ([1.0, 2.0], SIGNED_PAIR),
    "rest": ([0.1, 0.2], PAIR),
    "viscous": ([1.0, 2.0], SIGNED_PAIR),
    "coulomb": ([1.0, 2.0], SIGNED_PAIR),
    "coulomb_speed": ([1.0, 2.0], (*SIGNED_PAIR, 0, [0.0, 1.0])),
    "actuated": (True, FLAG),
}
SLIDE = {"angle": (0.1, NUMBER), "contact": ("continuous", CHOICE), **JOINT}
ON_LINK = {"at": (0.5, optional(NONNEGATIVE)), "point": ([0, 0, 0], VECTOR), "name": ("c", optional(TEXT))}
LENGTHS = (1.0, POSITIVE)
TIMES = (None, "text", 1.0, NAN, [1.0, 0.5], ["a", "b"], [NAN, 1.0], [1j, 2.0], [True, 2.0], {}, THING)

STRETCH = {
    "after": (0.0, (*optional(NUMBER), -1.0, 9.0)),
    "before": (0.01, (*optional(POSITIVE), 9.0)),
    "sample": (2e-4, (*optional(POSITIVE), 1.0)),
}
WEIGHTS = {"window": ("hann", CHOICE), "scaling": ("amplitude", CHOICE), "trend": ("mean", CHOICE)}
NOT_SAMPLES = (None, 1.0, "text", NAN, [1.0], [1.0] * 3, ["a"] * 20, [NAN] * 20, [1j] * 20, [[1.0] * 20], {}, THING)
SIGNAL = {
    "t": ([0.1 * k for k in range(20)], (*NOT_SAMPLES, [1.0] * 20, [k * k for k in range(20)])),
    "x": ([float(k % 5) for k in range(20)], NOT_SAMPLES),
}

NOT_PLACES = (3, None, (), ("b",), ("absent", 0.5), ("b", "text"), ("b", 2.0))


def calls() -> Iterator[Call]:
    yield from descriptions()
    yield from library()
    yield from profiles()
    yield from systems()
    yield from motions()
    yield from controllers()
    yield from designs()
    yield from results()
    yield from closed_forms()
    yield from sweeps()


def descriptions() -> Iterator[Call]:
    section = fa.Section
    yield Call("Section.rectangle", section.rectangle, {"width": LENGTHS, "height": LENGTHS})
    yield Call("Section.circle", section.circle, {"diameter": LENGTHS})
    yield Call("Section.tube", section.tube, {"outer": LENGTHS, "inner": (0.5, (*POSITIVE, 2.0))})
    yield Call("Section.box", section.box, {"width": LENGTHS, "height": LENGTHS, "thickness": (0.1, (*POSITIVE, 0.6))})
    yield Call(
        "Section.ibeam",
        section.ibeam,
        {"width": LENGTHS, "height": LENGTHS, "flange": (0.1, (*POSITIVE, 0.6)), "web": (0.1, (*POSITIVE, 2.0))},
    )
    second = (1e-8, POSITIVE)
    polar = (1e-8, optional(POSITIVE))
    yield Call(
        "Section.properties", section.properties, {"A": second, "I_y": second, "I_z": second, "J": polar, "I_p": polar}
    )
    yield Call("Section.tapered", section.tapered, {"root": (BAR, (None, *PART)), "tip": (BAR, (None, *PART))})
    pieces = [{"upto": 0.5, "section": BAR}, {"upto": 1.0, "section": BAR}]
    yield Call(
        "Section.stepped", section.stepped, {"pieces": (pieces, (None, "text", 3, NAN, [], {}, THING, [3], [{}]))}
    )
    yield Call("Section.at", BAR.at, {"xi": (0.5, (*NUMBER, -1.0, 2.0))})
    yield Call(
        "Material",
        fa.Material,
        {"E": (7e10, POSITIVE), "rho": (2700.0, POSITIVE), "nu": (0.3, (*optional(NUMBER), -1.0, 0.6)),
         "damping": (0.0, NONNEGATIVE)},
    )  # fmt: skip
    yield Call(
        "Material.G", fa.Material, {"E": (7e10, POSITIVE), "rho": (1.0e3, POSITIVE), "G": (3e10, optional(POSITIVE))}
    )
    yield Call(
        "PointMass",
        fa.PointMass,
        {
            "mass": (1.0, NONNEGATIVE),
            "offset": ([0, 0, 0], VECTOR),
            "inertia": (0.1, ("text", NAN, -1.0, [1.0], [[1, 0], [0, 1]], {}, THING, True, 1j)),
            "at": (0.1, optional(NONNEGATIVE)),
        },
    )
    yield Call(
        "Damping",
        fa.Damping,
        {
            "ratio": (0.01, (*optional(NONNEGATIVE), [-1.0], ["a"])),
            "alpha": (0.1, NONNEGATIVE),
            "beta": (0.1, NONNEGATIVE),
        },
    )
    yield Call("Modes", fa.Modes, dict.fromkeys(("tip_mass", "tip_inertia"), (0.1, optional(NONNEGATIVE))))
    yield Call("Elements", fa.Elements, {"order": (1, (*COUNT, 0, 3)), "root": ("clamped", CHOICE)})
    shapes = {"elements": (4, (*COUNT, 0)), "modes": (2, (*optional(COUNT), 0)), "interface": ("free", CHOICE)}
    yield Call("Reduced", fa.Reduced, shapes)
    yield Call(
        "Flexible",
        fa.Flexible,
        {
            **dict.fromkeys(("bend_y", "bend_z", "twist", "stretch"), (1, COUNT)),
            "basis": ("modes", (None, "text", 3, NAN, [], THING)),
            "stiffening": ("shortening", CHOICE),
            "damping": (fa.Damping(0.01), PART),
        },
    )
    yield Call("Flexible.open", fa.Flexible, {"up_to": (50.0, optional(POSITIVE))})
    yield Call(
        "Drive",
        fa.Drive,
        {
            "stiffness": (50.0, optional(POSITIVE)),
            "damping": (0.1, NONNEGATIVE),
            "rotor_inertia": (0.02, (*NONNEGATIVE, 0.0)),
            "gear_ratio": (10.0, POSITIVE),
            "torque_at": ("joint", CHOICE),
        },
    )
    yield Call("Stop", fa.Stop, {"stiffness": (50.0, POSITIVE), "damping": (0.1, NONNEGATIVE)})
    mount = ([0, 0, 0], VECTOR)
    yield Call("Revolute", fa.Revolute, {"axis": ("z", AXIS), "mount": mount, **JOINT})
    yield Call("Prismatic", fa.Prismatic, {"axis": ("z", AXIS), "mount": mount, **JOINT})
    yield Call("Screw", fa.Screw, {"axis": ("z", AXIS), "pitch": (0.01, NUMBER), "mount": mount, **JOINT})
    axes = (["x", "y"], (1.0, "x", NAN, ["x"], ["x", "x"], ["x", "q"], [[0, 0, 0], "x"], {}, THING))
    yield Call("Universal", fa.Universal, {"axes": axes, "mount": mount, **COMPOUND})
    yield Call("Cylindrical", fa.Cylindrical, {"axis": ("z", AXIS), "mount": mount, **COMPOUND})
    yield Call("Planar", fa.Planar, {"axes": axes, "mount": mount})
    yield Call("SlidingPrismatic", fa.SlidingPrismatic, SLIDE)
    yield Call("SlidingPrismatic.mount", fa.SlidingPrismatic, {"mount": mount})
    yield Call("FixedPrismatic", fa.FixedPrismatic, {"rear": ("flexible", CHOICE), **SLIDE})
    yield Call("Sleeve", fa.Sleeve, {"mouth": (0.5, optional(NUMBER)), **JOINT})
    yield Call("Splines", fa.Splines, {"degree": (5, (*COUNT, 0, 1, 4, 7))})
    yield Call("FixedPrismatic.mount", fa.FixedPrismatic, {"mount": mount})
    yield Call("Weld", fa.Weld, {"mount": mount})
    yield Call(
        "Link",
        fa.Link,
        {
            "name": ("a", (*TEXT, "ground", "a b")),
            "length": LENGTHS,
            "joint": ("revolute", (None, "text", 3, NAN, [], THING)),
            "section": (BAR, PART),
            "material": (METAL, PART),
            "flexible": (SHAPES, PART),
            "mass": (1.0, optional(POSITIVE)),
            "hub": (fa.PointMass(1.0), PART),
            "payload": (fa.PointMass(1.0), PART),
            "masses": (
                [fa.PointMass(1.0, at=0.5)],
                (None, "text", 3, NAN, {}, THING, [3], [fa.PointMass(1.0, at=2.0)]),
            ),
            "rotary_inertia": (False, FLAG),
            "parent": ("ground", (3, NAN, [], {}, THING)),
            "at": (0.5, optional(NONNEGATIVE)),
            "offset": ([0, 0, 0], VECTOR),
        },
    )
    yield Call("Link.body", fa.Link, {"name": ("a", TEXT), "body": (fa.RigidBody(1.0), PART)})
    inertia = (0.1, ("text", NAN, -1.0, [1.0], [[1, 0], [0, 1]], [1, 1, 3], {}, THING, True, 1j))
    yield Call("RigidBody", fa.RigidBody, {"mass": (1.0, NONNEGATIVE), "com": ([0, 0, 0], VECTOR), "inertia": inertia})
    frame = {"name": ("tool", (*TEXT, "ground", "tip")), "on": ("a", (None, 3, NAN, [], {}, THING))}
    place = {"x": (0.5, optional(NONNEGATIVE)), "position": ([0, 0, 0], VECTOR), "rpy": mount}
    yield Call("Frame", fa.Frame, {**frame, **place, "rotation": (None, optional(VECTOR))})
    yield Call("Pose", fa.Pose, {"position": ([0, 0, 0], VECTOR), "rotation": mount})
    yield Call(
        "Loop",
        fa.Loop,
        {
            "first": ("a", (None, 3, NAN, [], {}, THING, "ground")),
            "second": ("ground", (None, 3, NAN, [], {}, THING)),
            "first_at": (0.5, optional(NONNEGATIVE)),
            "joint": ("revolute", CHOICE),
            "axis": ("z", AXIS),
            "mount": mount,
            "position": ([0, 0, 0], VECTOR),
            "name": ("c", optional(TEXT)),
        },
    )
    yield Call(
        "Loop.second_at", fa.Loop, {"first": ("a", ()), "second": ("b", ()), "second_at": (0.5, optional(NONNEGATIVE))}
    )
    link = ("a", (None, 3, NAN, [], {}, THING))
    yield Call("OnLine", fa.OnLine, {"link": link, "direction": ("x", AXIS), **ON_LINK})
    yield Call("OnPlane", fa.OnPlane, {"link": link, "normal": ("x", AXIS), **ON_LINK})
    yield Call(
        "PointSupport",
        fa.PointSupport,
        {
            "link": link,
            "position": ([0, 0, 0], VECTOR),
            "directions": ("yz", CHOICE),
            "name": ("c", optional(TEXT)),
            "on": ("ground", (None, 3, NAN, [], {}, THING)),
        },
    )
    yield Call(
        "Robot",
        fa.Robot,
        {
            "name": ("arm", TEXT),
            "links": ([bar("a")], (None, "text", 3, NAN, [], {}, THING, [3], [bar("a"), bar("a")])),
            "gravity": ([0, 0, -9.81], VECTOR),
            "base": (fa.Pose(), (None, *PART)),
            "constraints": ([fa.OnPlane("a")], (None, "text", 3, NAN, THING, [3], [fa.OnPlane("absent")])),
        },
    )
    yield Call("Robot.link", ARM.link, {"name": ("a", NAME)})
    yield Call("Robot.travel", ARM.travel, {"link": ("a", NAME)})
    yield Call(
        "Robot.with_",
        ARM.with_,
        {"changes": ({"gravity": [0, 0, -1]}, (*MAPPING, {3: 1.0}, {"links.nobody.length": 1.0}, {"mass": 1.0}))},
    )
    yield Call("Robot.with_.gravity", ARM.with_, {"gravity": ([0, 0, -1], VECTOR)})
    yield Call("Robot.save", ARM.save, {"path": ("arm.yaml", PATH)})
    yield Call("save", fa.save, {"robot": (ARM, ROBOT), "path": ("arm.yaml", PATH)})
    yield Call(
        "from_dh",
        fa.from_dh,
        {
            "rows": ([(1.0, 0, 0, 0)], (None, 3, "text", NAN, [], {}, THING, [1.0], [(1.0, 0, 0)], [(NAN, 0, 0, 0)])),
            "convention": ("standard", CHOICE),
            "links": ([fa.RigidBody(1.0)], ("text", 3, NAN, [], {}, THING, ["text"], [None, None])),
            "name": ("arm", TEXT),
            "gravity": ([0, 0, 0], VECTOR),
            "base": (fa.Pose(), ("text", 3, NAN, [], THING)),
        },
    )
    yield Call("load", load, {"path": ("arm.yaml", PATH)})
    yield Call("schema", fa.schema, {})


def load(path: Any) -> Any:
    ARM.save("arm.yaml")
    return fa.load(path)


def library() -> Iterator[Call]:
    yield Call("library.two_link_arm", fa.library.two_link_arm, {"damping": (0.0, NONNEGATIVE)})
    yield Call(
        "library.rotating_beam", fa.library.rotating_beam, {"modes": (1, (*COUNT, 0)), "stiffening": ("none", CHOICE)}
    )
    two = {"damping": (0.0, NONNEGATIVE), "modes": (1, (*COUNT, 0))}
    yield Call("library.de_luca_siciliano_arm", fa.library.de_luca_siciliano_arm, two)
    yield Call("library.two_masses", fa.library.two_masses, {"stiffness": (1.0, POSITIVE)})
    yield Call("library.tokhi_azad_arm", fa.library.tokhi_azad_arm, {"payload": (0.1, NONNEGATIVE)})
    yield Call(
        "library.rrr_arm",
        fa.library.rrr_arm,
        {"elastic_joints": (True, FLAG), "rotor_inertia": (5.0, (*NONNEGATIVE, 0.0))},
    )


def profiles() -> Iterator[Call]:
    number, time = (1.0, NUMBER), (1.0, POSITIVE)
    yield Call("bang_bang", fa.bang_bang, {"amplitude": number, "switch": ([1.0, 2.0], TIMES)})
    yield Call("step", fa.step, {"y0": number, "y1": number, "t0": (0.1, NUMBER)})
    times = {"t0": (0.1, (*NUMBER, 3.0)), "t1": (2.0, (*optional(NUMBER), 0.0))}
    change = {"y0": number, "y1": number, **times}
    yield Call("ramp", fa.ramp, change)
    yield Call("sine", fa.sine, {"amplitude": number, "frequency": number, "phase": number, "offset": number})
    yield Call("chirp", fa.chirp, {"amplitude": number, "f0": number, "f1": number, **times})
    yield Call("cycloid", fa.cycloid, change)
    yield Call("minimum_jerk", fa.minimum_jerk, change)
    yield Call("rest_to_rest", fa.rest_to_rest, {**change, "smooth": (2, (*COUNT, 0, 9))})
    limits = {"y0": number, "y1": number, "speed": time, "acceleration": time, "t0": (0.1, NUMBER)}
    yield Call("trapezoid", fa.trapezoid, limits)
    yield Call("s_curve", fa.s_curve, {**limits, "jerk": time})
    shaping = {
        "kind": ("zv", CHOICE),
        "frequency": (1.0, (*NOT_NUMBERS, -1.0, 0.0)),
        "ratio": (0.1, (*NUMBER, -1.0, 1.0)),
    }
    yield Call("shaper", fa.shaper, shaping)
    yield Call("spin_up", fa.spin_up, {"speed": number, **times})
    values = (None, "text", 1.0, NAN, [1.0], ["a", "b"], [NAN, 1.0], [1j, 2.0], {}, THING)
    yield Call("spline", fa.spline, {"times": ([0.0, 1.0], (*TIMES, [], [1.0])), "values": ([0.0, 1.0], values)})
    source = {"t": [0.0, 1.0], "u": [1.0, 2.0]}
    wrong = [{"t": [0.0, 1.0], "u": ["a", "b"]}, {"t": [0.0, 1.0], "u": [1.0]}, {"t": 1.0, "u": 2.0}]
    yield Call(
        "table",
        fa.table,
        {"source": (source, (*PATH[:-2], THING, "nowhere.csv", *wrong)), "column": ("u", optional(NAME))},
    )
    yield Call("table.alone", fa.table, {"source": (source, ({}, {"t": [0.0, 1.0]}))})
    times = (None, "text", NAN, ["a"], [1j], THING, {}, True)
    profile = fa.cycloid(0.0, 1.0, 1.0)
    yield Call(
        "Profile.__call__", profile, {"t": (0.5, times), "order": (1, (None, "text", -1, 3, 1.5, NAN, [], THING))}
    )


def inversions(paths: tuple[Any, ...]) -> Iterator[Call]:
    move = {"a": fa.minimum_jerk(0.0, 0.3, 0.5), "b": fa.minimum_jerk(0.5, 0.7, 0.5)}
    wrong = ({"absent": 1.0}, {"a": "text"}, {"a": NAN}, {3: 1.0}, {"a": 0.1}, fa.minimum_jerk(0.0, 1.0, 1.0))
    quick = {"sample": (0.05, optional(POSITIVE)), "before": (0.1, optional(NONNEGATIVE))}
    yield Call(
        "invert",
        lambda **given: fa.invert(**{"after": 0.1, **given}),
        {
            "robot": (Made(arm), ROBOT),
            "tip": (move, (*paths, *wrong)),
            "times": (0.5, (None, "text", NAN, INF, True, [], [1.0], [0.2, 0.1], {}, THING, -1.0, 0.0)),
            "output": (
                "tip",
                (None, "text", "", 3, NAN, [], ("absent", None), ("b", 3.0), ("b", NAN), {}, THING),
            ),
            "method": ("nonlinear", CHOICE),
            "q0": (None, STATE),
            "components": (None, (["x"], "x", 3, THING)),
            "joints": (None, (["a"], "a", 3, THING)),
            "after": (0.1, optional(NONNEGATIVE)),
            "progress": (None, optional(FLAG)),
            **quick,
        },
    )


def systems() -> Iterator[Call]:
    yield Call("System", fa.System, {"robot": (ROD, ROBOT), "native": (False, CHOICE)})
    for name, inputs in {
        "inverse_dynamics": "qva",
        "mass_matrix": "q",
        "bias": "qv",
        "coriolis": "qv",
        "gravity": "q",
        "spring_forces": "q",
        "stiffness_matrix": "q",
        "damping_matrix": "q",
        "gravity_stiffness": "q",
        "linearization": "qva",
        "energy": "qv",
        "constraint": "q",
        "constraint_jacobian": "q",
    }.items():
        yield of_arm(name, {each: STATES[each] for each in inputs})
    torques = (
        "text",
        1.0,
        NAN,
        [1.0] * 9,
        [NAN] * 2,
        [1j] * 2,
        {"absent": 1.0},
        {"b": "text"},
        {"b": NAN},
        {3: 1.0},
        THING,
    )
    yield of_arm("forward_dynamics", {"q": STATES["q"], "v": STATES["v"], "tau": ([1.0, 0.0], torques)})
    fields = (None, "text", "links.b.length", 3, NAN, [], {}, THING, [3], [None], [""], ["links"], ["links.c.length"],
              ["name"], ["gravity"], ["gravity.9"], ["links.a.flexible.bend_y"], ["links.b.payload.mass"],
              ["links.b.length", "absent"], {"links.b.length": 1.0})  # fmt: skip
    yield of_arm("derivative", {"function": ("bias", NAME), "by": (["links.b.length"], fields)})
    yield of_arm("numbers_of", {"robot": (ARM, ROBOT)})
    yield Call(
        "System.derivative()", lambda **given: arm().derivative("inverse_dynamics", ["links.b.length"])(**given), STATES
    )
    yield of_arm("index", {"name": ("b.q", NAME)})
    yield of_arm("joint", {"link": ("b", NAME)})
    places = (None, "text", 3, NAN, [9], [-1], ["b.q"], [1.5], {"b.q": 0}, THING)
    yield of_arm("singularity", {"q": STATES["q"], "held": ([0], places), "nearly": (False, FLAG)})
    yield of_arm("vector", {"values": (Q, ())})
    yield of_arm("posture", {"q": STATES["q"]})
    yield of_arm("tip", {"q": STATES["q"], "link": ("a", optional(NAME))})
    yield of_arm("frame", PLACE)
    yield of_arm("jacobian", {**PLACE, "axes": ("own", CHOICE)})
    points = (5, (*COUNT, 0))
    yield of_arm("deflection", {"link": PLACE["link"], "q": STATES["q"], "points": points})
    yield of_arm("axis", {"link": PLACE["link"], "q": STATES["q"], "points": points})
    loads = (None, "text", 3, NAN, {}, THING, ["b"], [("b", 0.5)], [("absent", 0.5, [0.0] * 6)],
             [("b", 9.0, [0.0] * 6)], [("b", 0.5, [0.0] * 3)], [("b", 0.5, "text")],
             [("b", 0.5, [1j] * 6)])  # fmt: skip
    given = {
        "loads": ([("b", 0.5, [0.0] * 6)], loads),
        "constraint_forces": (None, ("text", 1.0, [1.0], {}, True, THING)),
    }
    yield of_arm("reaction", {"link": PLACE["link"], **STATES, **given, "axes": ("joint", CHOICE)})
    yield of_arm("section_forces", {"link": PLACE["link"], "x": ALONG, **STATES, **given})
    yield of_arm("strain", {"link": PLACE["link"], "x": ALONG, "q": STATES["q"], "at": IN_SECTION})
    wrench = (None, 1.0, "text", NAN, [1.0], [NAN] * 6, [1j] * 6, ["a"] * 6, {}, True, THING)
    yield of_arm("load_forces", {**PLACE, "wrench": ([0.0] * 6, wrench)})
    loads = (
        [fa.PointLoad("b")],
        ("text", 3, NAN, THING, [3], [None], [fa.PointLoad("b", force=(fa.sine(1, 1), 0, 0))]),
    )
    torques = (
        "text",
        3,
        NAN,
        [],
        THING,
        {"absent": 1.0},
        {"b": "text"},
        {"b": NAN},
        {"b": fa.step(1, 1)},
        {3: 1.0},
    )
    yield Call(
        "equilibrium",
        fa.equilibrium,
        {"robot": (Made(arm), ROBOT), "q": STATES["q"], "loads": loads, "torque": ({"b": 0.0}, torques)},
    )
    at = (
        None,
        3,
        NAN,
        "",
        "absent",
        [],
        {},
        THING,
        ("absent", 0.5),
        ("b", 9.0),
        ("b", NAN),
        ("b", "text"),
        ("b", 0.5, 1),
    )
    parts = ("text", 3, NAN, [], {}, THING, ["absent"], ["y", "y"], [3])
    yield Call(
        "compliance",
        fa.compliance,
        {"robot": (Made(arm), ROBOT), "q": (Q, STATE), "at": (("b", 0.5), at), "loads": loads},
    )
    yield Call(
        "stiffness",
        fa.stiffness,
        {
            "robot": (Made(arm), ROBOT),
            "q": (Q, STATE),
            "at": ("b", at),
            "loads": loads,
            "components": (["y"], parts),
        },
    )
    joints = ("text", "", 3, NAN, [], THING, None, {"absent": "free"}, {"b": "text"}, {"b": 3}, {3: "free"})
    yield Call(
        "modes",
        fa.modes,
        {"robot": (Made(arm), ROBOT), "q": STATES["q"], "v": ({"b.q": 1.0}, STATE), "joints": ("free", joints)},
    )
    many = {
        "modes": (1, (*COUNT, 0)),
        "q": STATES["q"],
        "joints": ("locked", joints),
        "progress": (False, optional(FLAG)),
    }
    rising = (None, 1.0, "text", NAN, [], [1.0, 0.0], ["a"], [NAN], [1j], [[1.0]], {}, THING)
    yield Call(
        "campbell",
        fa.campbell,
        {"robot": (Made(arm), ROBOT), "joint": ("a", NAME), "speeds": ([0.0, 1.0], rising), **many},
    )
    nowhere = (None, "text", 3, NAN, [], {}, THING, {"nobody.q": [1.0]}, {"a.bend_y[1]": [0.1]}, {3: [1.0]})
    values = tuple({"b.q": each} for each in rising)
    yield Call(
        "frequency_map",
        fa.frequency_map,
        {
            "robot": (Made(arm), ROBOT),
            "over": ({"b.q": [0.0, 1.0]}, (*nowhere, *values)),
            "at_equilibrium": (False, FLAG),
            **many,
        },
    )
    yield Call(
        "compliance_map",
        fa.compliance_map,
        {
            "robot": (Made(arm), ROBOT),
            "over": ({"b.q": [0.0, 1.0]}, (*nowhere, *values)),
            "at": ("tip", at),
            "loads": loads,
            "at_equilibrium": (False, FLAG),
            "q": STATES["q"],
            "progress": (False, optional(FLAG)),
        },
    )
    short = {"robot": (Made(arm), ROBOT), "duration": (0.01, POSITIVE), "more": (1, (*COUNT, 0, 101))}
    yield Call("convergence", lambda **given: fa.convergence(**given, method="rk4", dt=5e-3, native=False), short)
    place = {"link": ("b", optional(NAME)), "x": (0.5, (*optional(NUMBER), -1.0, 2.0)), "q0": (Q, STATE)}
    names = ("text", "", 3, NAN, [], {}, THING)
    chosen = {
        **place,
        "components": (("x", "y"), (*names, ["u"], [3])),
        "joints": (["a", "b"], (*names, ["absent"], [3], [None])),
    }
    names = ("text", 3, NAN, ["absent"], [3], THING)
    yield Call(
        "linearize",
        fa.linearize,
        {
            "robot": (ARM, ROBOT),
            "q": (Q, STATE),
            "v": (Q, STATE),
            "inputs": (["a"], names),
            "outputs": (["a.q"], names),
            "lock": (["b"], ("text", 3, NAN, {}, THING, ["absent"], [3], ["b", "b"])),
            "torque": (zero_law, ("text", 3, NAN, [], {}, THING, {"b": 1.0})),
        },
    )
    yield Call(
        "inverse_kinematics",
        fa.inverse_kinematics,
        {"robot": (Made(arm), ROBOT), "pose": ([1.0, 0.5, 0.0], VECTOR), "starts": (3, COUNT), **chosen},
    )
    paths = (None, 1.0, "text", NAN, [], [[1.0, 0.5, 0.0]], [[NAN, 0.5, 0.0]] * 7, [["a"] * 3] * 7, {}, THING, zero)
    times = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    yield Call(
        "rigid_torques",
        fa.rigid_torques,
        {
            "robot": (Made(arm), ROBOT),
            "path": ([[1.0, 0.5, 0.0]] * 7, paths),
            "times": (times, (*TIMES, [0.0, 1.0])),
            **chosen,
        },
    )
    yield from inversions(paths)
    mode = (2, (None, "text", 9, -9, 1.5, NAN, [], {}, THING))
    yield Call("ModeSet.shape", lambda **given: mode_set().shape(**given), {"mode": mode})
    yield Call("ModeSet.participation", lambda **given: mode_set().participation(**given), {"mode": mode})
    yield Call(
        "ModeSet.deflection",
        lambda **given: mode_set().deflection(**given),
        {"link": ("a", NAME), "mode": mode, "points": points},
    )
    yield Call("plot_modes", fa.plot_modes, {"modes": (Made(mode_set), ROBOT), "most": (1, (*COUNT, 0))})
    yield Call(
        "Energy.__getitem__",
        lambda name: arm().energy(Q)[name],
        {"name": ("kinetic", (None, "text", "", 3, NAN, THING))},
    )


def of_arm(name: str, arguments: dict[str, tuple[Any, tuple[Any, ...]]]) -> Call:
    return Call(f"System.{name}", lambda **given: getattr(arm(), name)(**given), arguments)


def motions() -> Iterator[Call]:

    by_link = (
        "text",
        "",
        3,
        NAN,
        [1, 2],
        THING,
        {"absent": 1.0},
        {"b": "text"},
        {"b": NAN},
        {"b": None},
        {"b": [1]},
        {3: 1.0},
    )
    state = tuple(value for value in STATE if value != "text")
    yield Call(
        "simulate",
        simulate,
        {
            "robot": (Made(rod), ROBOT),
            "duration": (0.01, POSITIVE),
            "torque": (None, ("text", "", NAN, [1, 2], [NAN], ["a"], [1j], True, 1j, THING, *by_link[6:])),
            "motion": ({"b": 0.0}, by_link),
            "loads": ([fa.PointLoad("b")], ("text", 3, NAN, THING, [3], [None], fa.PointLoad("b"))),
            "q0": ([0.0], (*state, "nowhere", [NAN], [1j])),
            "v0": ([0.0], STATE),
            "method": ("generalized-alpha", CHOICE),
            "radius": (0.9, (*(each for each in NUMBER if each is not None), -1.0, 2.0)),
            "stabilization": ("projection", CHOICE),
            "rtol": (1e-4, POSITIVE),
            "atol": (0.0, NONNEGATIVE),
            "dt": (5e-3, (*optional(POSITIVE), 1.0)),
            "sample": (5e-3, (*optional(POSITIVE), 1.0)),
            "points": ({"p": ("b", 0.5)}, (*MAPPING, *({"p": place} for place in NOT_PLACES))),
            "events": (lambda t, q, v: 1.0, ("text", 3, NAN, THING, [3], [None])),
            "progress": (False, optional(FLAG)),
            "native": (False, FLAG),
        },
    )  # fmt: skip
    torque = (None, ("text", "", NAN, [1, 2], [NAN], ["a"], [1j], True, 1j, THING, zero, *by_link[6:]))
    yield Call(
        "Simulation",
        lambda **given: fa.Simulation(**{"native": False, **given}),
        {
            "robot": (Made(rod), ROBOT),
            "dt": (1e-3, POSITIVE),
            "q0": ([0.0], (*state, "nowhere", [NAN], [1j])),
            "v0": ([0.0], STATE),
            "loads": ([fa.PointLoad("b")], ("text", 3, NAN, THING, [3], [None], fa.PointLoad("b"))),
            "method": ("rk4", (*CHOICE, "bdf")),
            "substeps": (2, (*COUNT, 0)),
            "stabilization": ("projection", CHOICE),
            "rtol": (1e-4, POSITIVE),
            "native": (False, FLAG),
        },
    )  # fmt: skip
    yield Call("Simulation.step", lambda torque: simulation().step(torque), {"torque": torque})
    yield Call(
        "Simulation.reset",
        lambda q0, v0, t: simulation().reset(q0, v0, t),
        {"q0": ([0.0], (*state, "nowhere")), "v0": ([0.0], STATE), "t": (0.0, NUMBER)},
    )
    yield Call("Simulation.__getitem__", lambda name: simulation()[name], {"name": ("b.q", NAME)})
    yield Call("Simulation.reader", lambda name: simulation().reader(name), {"name": ("b.q", NAME)})
    yield Call(
        "Feedback",
        fa.Feedback,
        {
            "law": (lambda t, q, v: [0.0], (None, "text", 3, NAN, [], {}, THING)),
            "rate": (100.0, optional(POSITIVE)),
            "limit": (1.0, (*optional(POSITIVE)[:-2], -1.0, ["a"], [NAN], [-1.0])),
        },
    )
    yield Call(
        "Feedback.gains",
        fa.Feedback,
        {
            "law": (lambda t, q, v, gains: [0.0], (None, "text", 3, NAN, [], {}, THING, lambda t, q, v: [0.0])),
            "gains": (
                {"kp": 1.0},
                (*MAPPING, [], {}, {3: 1.0}, *({"kp": each} for each in (*NUMBER, [NAN], ["a"], [[1.0]]))),
            ),
        },
    )
    yield Call(
        "PointLoad",
        fa.PointLoad,
        {
            "link": ("b", (None, 3, NAN, [], {}, THING)),
            "x": (0.5, (*optional(NUMBER), -1.0)),
            "force": ([0, 0, 1.0], tuple(value for value in VECTOR if value is not None)),
            "torque": ([0, 0, zero], tuple(value for value in VECTOR if value is not None)),
        },
    )
    iterations = (2, (*COUNT, 0))
    yield Call(
        "GeneralizedAlpha", fa.GeneralizedAlpha, {"radius": (0.9, (*NUMBER, -1.0, 2.0)), "iterations": iterations}
    )
    yield Call("Newmark", fa.Newmark, {"iterations": iterations})
    order, row = (
        (2, (*COUNT, 0)),
        (None, "text", 1.0, NAN, [1.0], [1.0] * 4, ["a", "b"], [NAN, 1.0], [1j, 1.0], {}, THING),
    )
    yield Call(
        "RungeKutta",
        fa.RungeKutta,
        {
            "order": order,
            "estimate": order,
            "A": ([[0, 0], [1, 0]], (*row, [[0, 0]], [[0, 1], [1, 0]])),
            "b": ([0.5, 0.5], row),
            "c": ([0, 1], (*row, [0.0, 2.0])),
            "e": ([-0.5, 0.5], row),
        },
    )
    yield Call("Baumgarte", fa.Baumgarte, {"gamma": (5.0, NONNEGATIVE), "beta": (5.0, NONNEGATIVE)})


def controllers() -> Iterator[Call]:
    nothing = (*MAPPING, [], {})
    rates, law = ({3: zero}, {"a.q": "text"}, {"a.q": None}, {"a.q": NAN}), lambda t, x: ([0.0], {"sum": 0.0})
    yield Call(
        "Feedback.view",
        fa.Feedback,
        {
            "law": (law, (None, "text", 3, lambda t, q, v: [0.0])),
            "rate": (100.0, POSITIVE),
            "references": ({"a.q": 1.0}, (*nothing, *rates[1:])),
            "states": ({"sum": 0.0}, (*nothing, {3: 1.0}, {"sum": None}, {"sum": NAN}, {"sum": "text"})),
            "sensors": ({"a.q": fa.Sensor()}, (*nothing, {"a.q": 3}, {3: fa.Sensor()})),
            "actuators": ({"a": fa.Actuator()}, (*nothing, {"a": 3}, {3: fa.Actuator()})),
        },
    )
    yield Call(
        "Feedback.__add__",
        lambda other: fa.Feedback(lambda t, x: [0.0]) + other,
        {"other": (fa.Feedback(lambda t, x: [0.0]), ())},
    )
    yield Call(
        "Sensor",
        fa.Sensor,
        {
            **dict.fromkeys(("resolution", "noise", "delay"), (0.01, NONNEGATIVE)),
            "bias": (0.1, NUMBER),
            "seed": (1, COUNT),
        },
    )
    yield Call("Sensor.encoder", fa.Sensor.encoder, {"counts": (4096, POSITIVE), "delay": (0.0, NONNEGATIVE)})
    finite = tuple(value for value in POSITIVE if value != INF)
    yield Call(
        "Actuator",
        fa.Actuator,
        {**dict.fromkeys(("limit", "slew"), (5.0, finite)), **dict.fromkeys(("lag", "delay"), (0.01, NONNEGATIVE)),
         "start": (0.0, NUMBER)},
    )  # fmt: skip
    gain = (1.0, (*NONNEGATIVE[:-3], -1.0, THING, {}, {"absent": 1.0}, {"a": NAN}, {"a": -1.0}, {3: 1.0}))
    aims = (
        {"a": 0.5, "b": zero},
        (None, *nothing, {"a": 1.0}, {"a": 1.0, "absent": 2.0}, {"a": 1.0, "b": "text"}),
    )
    joints = {
        "robot": (Made(arm), ROBOT),
        "kp": gain,
        "kd": gain,
        "references": aims,
        "feedforward": ({"a": 1.0}, (*nothing, {"absent": 1.0}, {"a": "text"}, {3: 1.0})),
        "side": ("joint", CHOICE),
        "limit": (1.0, (*optional(POSITIVE)[:-2], -1.0)),
        "rate": (100.0, optional(POSITIVE)),
    }
    yield Call("pd", fa.pd, joints)
    yield Call("pid", fa.pid, {**joints, "ki": gain, "tracking_time": (0.5, (*optional(POSITIVE), 1e-3))})
    places = (*nothing, {"a": 1.0}, {"absent": 1.0, "a": 1.0}, {"a": 1.0, "b": NAN}, {"a": 1.0, "b": "text"})
    yield Call(
        "gravity_torque",
        fa.gravity_torque,
        {"robot": (Made(arm), ROBOT), "posture": ({"a": 0.5, "b": 0.1}, places), "model": ("rigid", CHOICE),
         "rate": (100.0, optional(POSITIVE))},
    )  # fmt: skip
    yield Call(
        "feedforward",
        fa.feedforward,
        {"robot": (Made(arm), ROBOT), "motion": (aims[0], (*aims[1], {"a": 1.0, "b": fa.ramp(0, 1, 0.2, 0.4)})),
         "duration": (1.0, POSITIVE), "model": ("quasi-static", CHOICE)},
    )  # fmt: skip
    yield Call(
        "strain_feedback",
        fa.strain_feedback,
        {"robot": (Made(arm), ROBOT), "link": ("a", (*NAME, "b")), "x": (0.1, (*NONNEGATIVE, 2.0)),
         "gain": (1.0, (*NUMBER, -1.0)), "rate_gain": (0.1, NONNEGATIVE), "rate": (100.0, optional(POSITIVE)),
         "sensors": (None, (*nothing, {"a.q": 3}))},
    )  # fmt: skip
    own = fa.Feedback(lambda t, q, v: [0.0, 0.0], rate=100.0)
    passing = {
        "feedback": (own, (None, "text", 3, zero, [], {}, THING)),
        "frequency": (10.0, (*POSITIVE, 50.0)),
        "links": (["a"], (None, "text", 3, NAN, [], {}, THING, [3], ["a", "a"], [""])),
    }
    yield Call("notch", fa.notch, {**passing, "ratio": (0.5, POSITIVE), "depth": (0.1, (*NONNEGATIVE, 2.0))})
    yield Call("low_pass", fa.low_pass, {**passing, "order": (1, (*NUMBER, 0, 3, 1.5))})


LIN = (None, "text", 3, NAN, [], {}, THING)
BY_NAME = (None, "text", "", 3, NAN, [], [1, 2], {}, THING, {"absent": 1.0}, {"b.q": -1.0}, {"b.q": "text"},
           {"b.q": NAN}, {3: 1.0})  # fmt: skip


@cache
def lin() -> fa.StateSpace:
    return fa.linearize(ROD, inputs=["b", "tip.fy"], outputs=["b.q"])


@cache
def design() -> fa.LinearController:
    return fa.lqg(lin(), {"b.q": 1.0}, 1.0, {"b": 1.0}, {"b.q": 1.0})


def designs() -> Iterator[Call]:
    goals = (
        {"b.q": 0.5},
        (*("text", 3, NAN, [], {}, THING), {"absent": 1.0}, {"b.q": "text"}, {"b.q": NAN}, {3: 1.0}),
    )
    rate = (100.0, optional(POSITIVE))
    limit = (1.0, optional(POSITIVE))
    weights = {
        "lin": (Made(lin), LIN),
        "Q": ({"b.q": 1.0}, BY_NAME),
        "R": (1.0, (*POSITIVE, {"absent": 1.0}, {"b": -1.0}, {"b": "text"}, [[NAN]], [[-1.0]])),
        "integral": (["b.q"], (*("text", 3, NAN, [], {}, THING), ["absent"], ["b.q", "b.q"], {"b.q": -1.0})),
        "references": goals,
        "rate": rate,
    }
    yield Call("lqr", fa.lqr, weights)
    noises = {"process": ({"b": 1.0}, (*BY_NAME, {"b": NAN})), "noise": ({"b.q": 1.0}, BY_NAME)}
    yield Call("lqg", fa.lqg, {**weights, **noises})
    impulses = (None, "text", 3, NAN, [], {}, THING, {"absent": 1.0}, {"b": "text"}, {"b": NAN}, {3: 1.0})
    yield Call(
        "robust_lqg",
        fa.robust_lqg,
        {
            "start": (Made(design), LIN),
            "models": (Made(lambda: [lin()]), (None, "text", 3, NAN, [], {}, THING, [3], [None])),
            "impulse": ({"tip.fy": 1.0}, impulses),
            "settled": ({"b.q": 0.1}, BY_NAME),
            "within": (20.0, POSITIVE),
            "limit": limit,
        },
    )
    yield Call("LinearController.feedback", lambda limit: design().feedback(limit=limit), {"limit": limit})
    models = ("text", 3, NAN, [], {}, THING)
    for name in ("closed_loop", "margins"):
        yield Call(
            f"LinearController.{name}",
            lambda model, name=name: getattr(design(), name)(model),
            {"model": (Made(lin), models)},
        )
    numbers = (*POSITIVE, [1.0, 2.0], {"absent": 1.0}, {"b": "text"}, {"b": -1.0})
    goals = (goals[0], (None, *goals[1]))
    yield Call(
        "computed_torque",
        fa.computed_torque,
        {
            "robot": (ROD, ROBOT),
            "references": goals,
            "kp": (4.0, numbers),
            "kd": (4.0, numbers),
            "fast": (1.0, tuple(each for each in numbers if each != 0.0)),
            "rate": rate,
            "limit": limit,
        },
    )
    soft = fa.Robot(links=[bar("b", joint=fa.Revolute(drive=fa.Drive(50.0, 0.0, 0.02)))])
    poles = (None, "text", "", 3, NAN, [], {}, THING, [-1.0], [1.0] * 4, [NAN] * 4, ["a"] * 4, [True] * 4, {"b": 3})
    yield Call(
        "elastic_joint_linearization",
        fa.elastic_joint_linearization,
        {
            "robot": (soft, ROBOT),
            "references": goals,
            "poles": ([-1.0, -2.0, -3.0, -4.0], poles),
            "rate": rate,
            "limit": limit,
        },
    )


def results() -> Iterator[Call]:
    other = (Made(run), tuple(value for value in RUN if value is not None))
    yield Call("Run", fa.Run, {"data": (Made(lambda: run().data), RUN)})
    yield of_run("__getitem__", {"name": ("a.q", NAME)})
    yield of_run("array", {"name": ("tip", NAME)})
    yield of_run("deflection", {"link": ("a", NAME)})
    yield of_run("reaction", {"name": ("a", NAME), "axes": ("joint", CHOICE)})
    yield of_run("force", {"link": ("a", NAME), "x": ALONG})
    yield of_run("moment", {"link": ("a", NAME), "x": ALONG})
    yield of_run("strain", {"link": ("a", NAME), "x": ALONG, "at": IN_SECTION})
    yield of_run("compare", {"other": (Made(run), RUN)})
    yield of_run("spectrum", {"name": ("tip.y", NAME), **STRETCH, **WEIGHTS})
    swings = {"modes": (1, (*COUNT, 0)), "method": ("matrix-pencil", CHOICE)}
    stretch = {**STRETCH, "before": (0.1, (*optional(POSITIVE), 9.0)), "sample": (1e-3, (*optional(POSITIVE), 1.0))}
    yield Call("Run.decay", lambda **given: shaken().decay(**given), {"name": ("tip.y", NAME), **stretch, **swings})
    frequencies = ("text", NAN, -1.0, 0.0, 1e6, [], ["a"], [NAN], [1j], [[1.0]], {}, THING, True)
    signals = {"input": ("a.q''", NAME), "output": ("tip.y", NAME), "f": ([40.0], frequencies)}
    yield Call("Run.frf", lambda **given: pushed().frf(**given), {**signals, **stretch})
    yield Call("decay", fa.decay, {**SIGNAL, **swings})
    yield Call("spectrum", fa.spectrum, {**SIGNAL, **WEIGHTS})
    yield Call("Run.plot", lambda what, other: run().plot(what, other=other), {"what": ("a.q", NAME), "other": other})
    times = ("text", "", NAN, -1, 0, 1.5, True, 1j, ["a"], [NAN], [1j], [9.0], {}, THING)
    magnify = (1.0, NONNEGATIVE)
    yield of_run("plot_trajectory", {"times": (2, (None, *times, [])), "other": other, "magnify": magnify})
    yield of_run("plot_section_forces", {"link": ("a", NAME), "times": (2, (None, *times, []))})
    films = {
        "fps": (25.0, POSITIVE),
        "speed": (1.0, POSITIVE),
        "magnify": magnify,
        "trace": (True, FLAG),
        "other": other,
        "dpi": (100.0, POSITIVE),
        "progress": (False, optional(FLAG)),
    }
    yield of_run("animate", films)
    yield Call("Animation", fa.Animation, {"run": (Made(run), RUN), **films})
    yield Call("Animation.times", lambda fps: fa.Animation(run()).times(fps), {"fps": (25.0, optional(POSITIVE))})
    film = (*PATH, "film", "film.avi", "nowhere/film.gif")
    yield Call("Animation.save", lambda path: fa.Animation(run(), fps=100.0).save(path), {"path": ("a.gif", film)})
    yield Call("Animation.figure", lambda time: fa.Animation(run()).figure(time), {"time": (0.0, (*NUMBER, -1.0, 9.0))})
    served = {"host": ("127.0.0.1", (None, "", 3, NAN, [], {}, THING)), "port": (8461, (*NUMBER, -1, 1.5, 70000))}
    served |= {"browser": (False, FLAG)}
    many = {"sweep": (None, (3, "", "nowhere.nc", [], {}, THING))}
    yield Call("studio", studio, {"robot": (ROD, (*optional(ROBOT), "", "nowhere.nc")), **served, **many})
    yield Call("Run.show", lambda **given: run().show(**given).stop(), served)
    yield of_run("save", {"path": ("run.nc", (*PATH, "nowhere/run.nc"))})
    yield of_run("to_csv", {"path": ("run.csv", (*PATH, "nowhere/run.csv"))})
    yield Call("Run.load", load_run, {"path": ("run.nc", (*PATH, "nowhere.nc", "broken.nc"))})
    runs = (None, "text", 3, [], {}, THING, {"a": 3}, {"a": None}, {3: 3})
    yield Call("plot_compare", lambda runs: fa.plot_compare(runs), {"runs": (Made(lambda: {"a": run()}), runs)})
    yield Call("plot_compare.what", lambda what: fa.plot_compare({"a": run()}, what), {"what": ("tip.y", NAME)})


def of_run(name: str, arguments: dict[str, tuple[Any, tuple[Any, ...]]]) -> Call:
    return Call(f"Run.{name}", lambda **given: getattr(run(), name)(**given), arguments)


def studio(**given: Any) -> None:
    fa.studio(**given).stop()


def load_run(path: Any) -> fa.Run:
    run().save("run.nc")
    with open("broken.nc", "w") as file:
        file.write("no run")
    return fa.Run.load(path)


def closed_forms() -> Iterator[Call]:
    mapping = ("text", 3, NAN, [1, 2], THING)
    yield Call(
        "equations",
        fa.equations,
        {
            "robot": (ROD, ROBOT),
            "parameters": ("symbolic", (None, "text", "", 3, NAN, ["absent"], [3], THING)),
            "route": ("extended", CHOICE),
            "k": ({}, (*mapping, {"absent": 1}, {"b": 1}, {"b": "text"}, {3: 1})),
            "boundary": ("eliminated", CHOICE),
            "stiffening": ("none", CHOICE[1:]),
            "rename": ({}, (*mapping, {"absent": "x"}, {"l_1": 3}, {"l_1": ""}, {3: "x"})),
            "limit": (1e4, tuple(value for value in POSITIVE if value != INF)),
        },
    )
    yield of_form("link_mass", {"link": ("b", NAME)})
    for name in ("python", "c", "matlab"):
        yield of_form(name, {"name": ("motion", (None, "", 3, NAN, [], {}, THING, "2x", "a b"))})
    state = (*STATE, [1.0, 2.0])
    yield Call(
        "ClosedForm.lambdify()",
        lambda **given: evaluate()(**given),
        {"q": ([0.1], state), "v": ([0.1], state), "l_1": (1.0, NUMBER)},
    )


def of_form(name: str, arguments: dict[str, tuple[Any, tuple[Any, ...]]]) -> Call:
    return Call(f"ClosedForm.{name}", lambda **given: getattr(form(), name)(**given), arguments)


QUICKLY = {"method": "rk4", "dt": 5e-3, "native": False, "progress": False}


@cache
def swept() -> Any:
    return fa.sweep(ROD, {"links.b.length": [1.0, 2.0]}, 0.01, measure=["tip"], **QUICKLY)


def sweeps() -> Iterator[Call]:
    from scipy.stats import norm

    length = "links.b.length"
    names = (None, "text", 3, NAN, [], {}, THING, {3: [1.0]}, {"absent": [1.0]}, {"links.c.length": [1.0]},
             {"links.b.lenght": [1.0]}, {"torque.b.amplitude": [1.0]}, {"gains.kp": [1.0]},
             {"q0.c.q": [1.0]})  # fmt: skip
    columns = tuple(
        {length: each} for each in (None, 3, NAN, "text", [], {}, THING, [NAN], [-1.0], [1j], ["a"], [True])
    )
    by_link = ("text", 3, NAN, [1, 2], THING, {"absent": 1.0}, {"b": "text"}, {"b": NAN}, {3: 1.0})
    functions = ("text", 3, NAN, [], {}, THING, [3], {"a": 3}, {3: zero}, {"status": zero}, ["nothing"])
    given = {
        "robot": (ROD, ROBOT),
        "duration": (0.01, POSITIVE),
        "torque": ({"b": 0.0}, by_link[4:]),
        "motion": (None, by_link),
        "loads": ([fa.PointLoad("b")], ("text", 3, NAN, THING, [3], [None])),
        "q0": ({"b.q": 0.1}, ("nowhere", 1.0, NAN, {"absent": 1.0}, {"b.q": NAN}, THING)),
        "v0": ({"b.q": 0.1}, ("nowhere", 1.0, NAN, {"absent": 1.0}, {"b.q": NAN}, THING)),
        "measure": (["tip"], functions),
        "executor": (None, ("text", 3, NAN, [], {}, THING)),
        "store": (None, (3, NAN, [], {}, THING, "", "store.txt", "nowhere/store.nc")),
        "progress": (False, optional(FLAG)),
        "threads": (1, (*optional(COUNT), 0)),
    }

    def call(name: str, **more: Any) -> Call:
        function = getattr(fa, name)
        return Call(name, lambda **own: function(**{**QUICKLY, **own}), {**given, **more})

    yield call(
        "sweep", over=({length: [1.0]}, (*names, *columns)), keep=("runs", optional(CHOICE)), elementwise=(False, FLAG)
    )
    distributions = tuple({length: each} for each in (None, 3, NAN, "norm", [1.0], {}, THING, norm(-5.0, 0.1)))
    yield call(
        "monte_carlo",
        over=({length: norm(1.0, 0.01)}, (None, "text", 3, NAN, [], {}, THING, {3: norm()}, *distributions)),
        keep=("runs", optional(CHOICE)),
        members=(3, (*COUNT, 0, 1)),
        seed=(1, COUNT),
        sobol=(False, FLAG),
        quantiles=([0.5], (None, "text", 1.0, NAN, [], [2.0], [-0.1], [NAN], ["a"], {}, THING)),
    )
    fields = (None, 3, NAN, [], {}, THING, [3], ["absent"], ["links.b.name"], [length, length], "absent")
    yield call("sensitivity", by=([length], fields), step=(1e-3, (*POSITIVE, 1.0)))
    quantities = ("absent", "", 3, NAN, [], {}, THING, [3], ["absent"])
    yield Call("plot_sweep", fa.plot_sweep, {"data": (Made(swept), ROBOT), "quantity": ("tip.y", quantities)})
    yield Call(
        "plot_sweep.at", lambda at: fa.plot_sweep(swept(), **at), {"at": ({}, ({"absent": 1.0}, {"length": "a"}))}
    )


CALLS = list(calls())


# A number too large to be used, or to be a float: it may be taken, but what is refused is refused in a sentence.
HUGE = (1e308, -1e308, 10**400)
# results, which are not made by hand, what is abstract, and what is raised or warned
NOT_CALLED = {"Campbell", "ClosedForm", "Convergence", "Decay", "Derivative", "DescriptionError", "Energy",
              "FrequencyMap", "FrequencyResponse", "Inversion", "LinearController", "Linearization", "Margins",
              "Method", "ModeSet", "Profile", "RigidTorques", "Shaper", "Signal", "SimulationState", "Spectrum",
              "StateSpace", "StepError", "Studio", "UnitsWarning", "ValidityWarning", "__version__"}  # fmt: skip

ALLOWED = (ValueError, TypeError, KeyError, FileNotFoundError, fa.DescriptionError)
# words of Python, numpy and pydantic about their own doings
RAW = re.compile(
    "ufunc|truth value|could not convert|setting an array|unsupported operand|not iterable|must be real number"
    "|has no len|object cannot be interpreted|unhashable|not subscriptable|validation error|NotImplementedType"
    "|expected str, bytes|not supported between|float\\(\\) argument|int\\(\\) argument|can't convert|invalid literal"
    "|unexpected keyword|missing \\d+ required|cannot convert|object has no|indices must be|out of range"
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def problem(call: Call, argument: str, value: Any) -> str:
    """What is wrong with how a bad value is answered; nothing when it is refused as it should be."""
    try:
        call(**{argument: value})
    except Exception as error:
        said = str(error)
        if type(error) not in ALLOWED:
            return f"{type(error).__name__}: {said}"
        if RAW.search(said):
            return f"in the words of another: {said}"
        named = re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", said, re.I)
        return "" if named or _told(argument, value, said) else f"does not name it: {said}"
    return "is accepted"


def _told(argument: str, value: Any, said: str) -> bool:
    """A sentence about a file begins with its path, one about a name that is looked up quotes it, one about an entry
    of a mapping names the entry."""
    if argument in ("changes", "source") and isinstance(value, dict):
        return any(re.search(rf"(?<!\w){key}(?!\w)", said) for key in value)
    return said.startswith((f"{value}: ", f"{value!r}: ")) or (argument in ("name", "what") and f"{value}" in said)


def problems(call: Call, accepts_huge: bool = False) -> list[str]:
    """Problems with all bad values of a call, or with huge numbers, which may be accepted."""
    found = []
    for argument, (_, refused) in call.arguments.items():
        for value in (HUGE if INF in refused else ()) if accepts_huge else refused:
            what = problem(call, argument, value)
            if what and not (accepts_huge and what == "is accepted"):
                found.append(f"{argument} = {value!r}: {what}"[:300])
    return found


of_all_calls = pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)


@of_all_calls
def test_the_call_is_valid_as_it_stands(call):
    call()


@of_all_calls
def test_bad_values_are_refused_in_sentences_that_name_the_argument(call):
    assert not problems(call)


@of_all_calls
def test_huge_numbers_are_accepted_or_refused_in_a_sentence(call):
    assert not problems(call, accepts_huge=True)


def test_every_public_name_is_in_the_table():
    called = {call.name.partition(".")[0] for call in CALLS}
    assert set(fa.__all__) == called | NOT_CALLED
