"""The workloads in Exudyn: its fast build, implicit generalised-alpha, one thread.

Its usual Newton tolerances (1e-8 and 1e-10) lie below the round-off of a cable as stiff along its axis as these: the
steps are then halved again and again, and 10 s of W1 take half a minute. 1e-3 ... 1e-5 give the same motion.
Torques that jump are given in stretches of constant torque, which is faster than a user function and lands on the jump.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

sys.exudynFast = True
import exudyn as exu  # noqa: E402
import exudyn.utilities as eu  # noqa: E402
from exudyn.beams import GenerateBeamElementsAlongLine  # noqa: E402

from peers.result import Failed, Result  # noqa: E402


def two_link_arm(elements: int, dt: float, radius: float, tolerance: float, integration: int) -> Result:
    start = time.perf_counter()
    E, rho, width, damping = 2e10, 7850.0, 0.005, 1e-3
    A, EI = width**2, E * width**4 / 12
    mbs = exu.SystemContainer().AddSystem()
    cable = eu.ObjectANCFCable2D(
        massPerLength=rho * A,
        bendingStiffness=EI,
        axialStiffness=E * A,
        bendingDamping=damping * EI,
        useReducedOrderIntegration=integration,
    )
    pinned = [True, True, False, False]
    upper = GenerateBeamElementsAlongLine(mbs, [0, 0, 0], [1, 0, 0], elements, cable, groundConstraintsStart=pinned)
    fore = GenerateBeamElementsAlongLine(mbs, [1, 0, 0], [1.5, 0, 0], elements, cable)
    root, before, after, tip = upper["nodes"][0], upper["nodes"][-1], fore["nodes"][0], fore["nodes"][-1]
    for axis in (0, 1):
        ends = [mbs.AddMarker(eu.MarkerNodeCoordinate(nodeNumber=n, coordinate=axis)) for n in (before, after)]
        mbs.AddObject(eu.CoordinateConstraint(markerNumbers=ends))
    mbs.AddObject(eu.ObjectMassPoint2D(mass=0.15, nodeNumber=tip))
    torques = {}
    for node, torque in ((root, 0.02), (before, -0.005), (after, 0.005)):
        marker = mbs.AddMarker(eu.MarkerNodeRigid(nodeNumber=node))
        torques[mbs.AddLoad(eu.Torque(markerNumber=marker, loadVector=[0, 0, torque]))] = torque
    position = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(eu.SensorNode(nodeNumber=tip, storeInternal=True, outputVariableType=position))
    mbs.Assemble()
    settings = implicit(radius, tolerance, sample=0.01)
    loop, found = 0.0, []
    for begin, end, sign in ((0, 1, 1), (1, 2, -1), (2, 10, 0)):
        for load, torque in torques.items():
            mbs.SetLoadParameter(load, "loadVector", [0, 0, sign * torque])
        loop += advance(mbs, settings, begin, end, dt)
        found.append(mbs.GetSensorStoredData(sensor))
    rows = np.vstack(found)
    return Result(rows[:, 0], rows[:, 1:4], loop, time.perf_counter() - start, round(10 / dt))


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
