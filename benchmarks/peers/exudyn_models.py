"""The workloads in Exudyn: its fast build, implicit generalized-alpha, one thread.

Its usual Newton tolerances (1e-8 and 1e-10) lie below the round-off of a cable as stiff along its axis as these: the
steps are then halved again and again, and 10 s of W1 take half a minute. 1e-3 ... 1e-5 give the same motion.
A driven angle is a symbolic user function, which runs without Python and is several times faster than a Python one.
Torques that jump are given in stretches of constant torque, which is faster than a user function and lands on the jump.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np

sys.exudynFast = True
import exudyn as exu  # noqa: E402
import exudyn.utilities as eu  # noqa: E402
from exudyn.advancedUtilities import CreateSymbolicUserFunction  # noqa: E402
from exudyn.beams import GenerateBeamElementsAlongLine  # noqa: E402

import elastica  # noqa: E402
from peers.result import Failed, Result  # noqa: E402


def two_link_arm(
    elements: int | tuple[int, int],
    dt: float,
    radius: float,
    tolerance: float,
    integration: int,
    payload: float = 0.15,
    upper_E: float = 2e10,
    sample: float = 0.01,
) -> Result:
    """`elements` of each link, or of one and the other; `payload` (kg) at the tip, `upper_E` (Pa) the modulus of the
    upper link."""
    start = time.perf_counter()
    E, rho, width, damping = 2e10, 7850.0, 0.005, 1e-3
    A, second = width**2, width**4 / 12
    mbs = exu.SystemContainer().AddSystem()
    cables = [
        eu.ObjectANCFCable2D(
            massPerLength=rho * A,
            bendingStiffness=modulus * second,
            axialStiffness=modulus * A,
            bendingDamping=damping * modulus * second,
            useReducedOrderIntegration=integration,
        )
        for modulus in (upper_E, E)
    ]
    pinned = [True, True, False, False]
    n = elements if isinstance(elements, tuple) else (elements, elements)
    upper = GenerateBeamElementsAlongLine(mbs, [0, 0, 0], [1, 0, 0], n[0], cables[0], groundConstraintsStart=pinned)
    fore = GenerateBeamElementsAlongLine(mbs, [1, 0, 0], [1.5, 0, 0], n[1], cables[1])
    root, before, after, tip = upper["nodes"][0], upper["nodes"][-1], fore["nodes"][0], fore["nodes"][-1]
    for axis in (0, 1):
        ends = [mbs.AddMarker(eu.MarkerNodeCoordinate(nodeNumber=n, coordinate=axis)) for n in (before, after)]
        mbs.AddObject(eu.CoordinateConstraint(markerNumbers=ends))
    mbs.AddObject(eu.ObjectMassPoint2D(mass=payload, nodeNumber=tip))
    torques = {}
    for node, torque in ((root, 0.02), (before, -0.005), (after, 0.005)):
        marker = mbs.AddMarker(eu.MarkerNodeRigid(nodeNumber=node))
        torques[mbs.AddLoad(eu.Torque(markerNumber=marker, loadVector=[0, 0, torque]))] = torque
    position = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(eu.SensorNode(nodeNumber=tip, storeInternal=True, outputVariableType=position))
    mbs.Assemble()
    settings = implicit(radius, tolerance, sample)
    loop, found = 0.0, []
    for begin, end, sign in ((0, 1, 1), (1, 2, -1), (2, 10, 0)):
        for load, torque in torques.items():
            mbs.SetLoadParameter(load, "loadVector", [0, 0, sign * torque])
        loop += advance(mbs, settings, begin, end, dt)
        found.append(mbs.GetSensorStoredData(sensor))
    rows = np.vstack(found)
    return Result(rows[:, 0], rows[:, 1:4], loop, time.perf_counter() - start, round(10 / dt))


def spin_up_beam(kind: str, elements: int, dt: float, radius: float, tolerance: float) -> Result:
    """`kind`: ANCF (with the integration that does not lock), or geometrically exact with three nodes an element."""
    start = time.perf_counter()
    L, A, second, rho, E, speed, ramp = 8.0, 7.2968e-5, 8.2189e-9, 2766.7, 6.8952e10, 6.0, 15.0
    mbs = exu.SystemContainer().AddSystem()
    common = {"massPerLength": rho * A, "bendingStiffness": E * second, "axialStiffness": E * A}
    if kind == "ANCF":
        beam = eu.ObjectANCFCable2D(**common, useReducedOrderIntegration=2)
        pinned, driven = [True, True, False, False], {2: "cos", 3: "sin"}
    else:
        slender = {"crossSectionInertia": 1e-3 * rho * second, "shearStiffness": E * A / 2.6}
        beam = eu.ObjectBeamGeometricallyExact2D(nodeNumbers=[0, 0, 0], **common, **slender)
        pinned, driven = [True, True, False], {2: "angle"}
    parts = GenerateBeamElementsAlongLine(mbs, [0, 0, 0], [L, 0, 0], elements, beam, groundConstraintsStart=pinned)
    ground = mbs.AddMarker(eu.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(eu.NodePointGround()), coordinate=0))
    constraints = {}
    for coordinate, wanted in driven.items():
        marker = mbs.AddMarker(eu.MarkerNodeCoordinate(nodeNumber=parts["nodes"][0], coordinate=coordinate))
        constraints[mbs.AddObject(eu.CoordinateConstraint(markerNumbers=[ground, marker]))] = wanted
    position = exu.OutputVariableType.Position
    tip = eu.SensorNode(nodeNumber=parts["nodes"][-1], storeInternal=True, outputVariableType=position)
    sensor = mbs.AddSensor(tip)
    mbs.Assemble()
    settings = implicit(radius, tolerance, sample=0.02)
    loop, found, kept = 0.0, [], []
    for begin, end in ((0, 15), (15, 20)):
        for constraint, wanted in constraints.items():
            offset = driven_offset(wanted, begin < ramp, speed, ramp)
            kept.append(CreateSymbolicUserFunction(mbs, offset, "offsetUserFunction", constraint))
            mbs.SetObjectParameter(constraint, "offsetUserFunction", kept[-1])
        loop += advance(mbs, settings, begin, end, dt)
        found.append(mbs.GetSensorStoredData(sensor))
    rows = np.vstack(found)
    turned = elastica.angle(rows[:, 0], speed, ramp)
    deflection = np.cos(turned) * rows[:, 2] - np.sin(turned) * rows[:, 1]
    return Result(rows[:, 0], deflection[:, None], loop, time.perf_counter() - start, round(20 / dt))


def driven_offset(wanted: str, rising: bool, speed: float, ramp: float) -> Any:
    """Of the root's angle, or of its slope's components, against the start."""

    def offset(mbs: Any, t: Any, item: Any, given: Any) -> Any:
        if rising:
            wave = exu.symbolic.cos(2 * np.pi / ramp * t) - 1
            angle = speed / ramp * (t * t / 2 + (ramp / 2 / np.pi) ** 2 * wave)
        else:
            angle = speed * (t - ramp / 2)
        if wanted == "angle":
            return angle
        return exu.symbolic.cos(angle) - 1 if wanted == "cos" else exu.symbolic.sin(angle)

    return offset


def rrr_arm(elements: int, dt: float, radius: float, tolerance: float) -> Result:
    """Geometrically exact beams, whose shear is too stiff to matter, with Euler parameters; joints are rigid."""
    start = time.perf_counter()
    E, G, rho = 206e9, 79.3e9, 8253.0
    up, level = eu.RotationMatrixY(-np.pi / 2), np.eye(3)
    mbs = exu.SystemContainer().AddSystem()
    before = mbs.AddMarker(eu.MarkerBodyRigid(bodyNumber=mbs.AddObject(eu.ObjectGround())))
    place, frame_before = np.zeros(3), level
    for frame, length, A, second, polar, axis in (
        (up, 1.0, 0.028, 8.33e-7, 1.66e-6, [1, 0, 0]),
        (level, 4.0, 0.0020, 6.24e-7, 1.24e-6, [0, 1, 0]),
        (level, 3.5, 0.0008, 5.37e-7, 1.07e-6, [0, 1, 0]),
    ):
        section = exu.BeamSection()
        section.massPerLength = rho * A
        section.inertia = rho * np.diag([polar, second, second])
        section.stiffnessMatrix = np.diag([E * A, G * A, G * A, G * polar, E * second, E * second])
        nodes = []
        for x in np.linspace(0, length, elements + 1):
            pose = [*(place + frame @ [x, 0, 0]), *eu.RotationMatrix2EulerParameters(frame)]
            nodes.append(mbs.AddNode(eu.NodeRigidBodyEP(referenceCoordinates=pose)))
        for pair in itertools.pairwise(nodes):
            beam = eu.ObjectBeamGeometricallyExact(
                nodeNumbers=list(pair), length=length / elements, sectionData=section
            )
            mbs.AddObject(beam)
        root = mbs.AddMarker(eu.MarkerNodeRigid(nodeNumber=nodes[0]))
        free = np.abs(frame @ axis).astype(int)
        joint = eu.GenericJoint(
            markerNumbers=[before, root],
            constrainedAxes=[1, 1, 1, *(1 - free)],
            rotationMarker0=frame_before.T,
            rotationMarker1=frame.T,
        )
        mbs.AddObject(joint)
        turning = 400 * np.array(axis)
        mbs.AddLoad(eu.Torque(markerNumber=root, loadVector=turning, bodyFixed=True))
        if place.any():
            mbs.AddLoad(eu.Torque(markerNumber=before, loadVector=-turning, bodyFixed=True))
        before, frame_before = mbs.AddMarker(eu.MarkerNodeRigid(nodeNumber=nodes[-1])), frame
        place = place + frame @ [length, 0, 0]
    position = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(eu.SensorNode(nodeNumber=nodes[-1], storeInternal=True, outputVariableType=position))
    mbs.Assemble()
    settings = implicit(radius, tolerance, sample=0.005)
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    loop = advance(mbs, settings, 0, 1, dt)
    rows = mbs.GetSensorStoredData(sensor)
    return Result(rows[:, 0], rows[:, 1:4], loop, time.perf_counter() - start, round(1 / dt))


def implicit(radius: float, tolerance: float, sample: float) -> Any:
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = sample
    settings.parallel.numberOfThreads = 1
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = radius
    newton = settings.timeIntegration.newton
    newton.useModifiedNewton = True
    newton.relativeTolerance, newton.absoluteTolerance = tolerance, tolerance / 100
    return settings


def advance(mbs: Any, settings: Any, begin: float, end: float, dt: float) -> float:
    """Seconds that the solver took."""
    steps = settings.timeIntegration
    steps.startTime, steps.endTime, steps.numberOfSteps = begin, end, round((end - begin) / dt)
    start = time.perf_counter()
    try:
        if not mbs.SolveDynamic(settings, showHints=False, updateInitialValues=True):
            raise Failed("SolveDynamic returned False")
    except Failed:
        raise
    except Exception as error:
        raise Failed(str(error).splitlines()[0]) from None
    return time.perf_counter() - start
