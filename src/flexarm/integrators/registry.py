"""Integration methods and stabilizations as arguments of `simulate`: by name or as objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from flexarm.codegen.evaluator import Native
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real_number
from flexarm.integrators.constraint_solver import Baumgarte, Stabilization
from flexarm.integrators.constraint_solver import checked as checked_stabilization
from flexarm.integrators.methods import dop853, runge_kutta
from flexarm.integrators.methods.esdirk import Esdirk
from flexarm.integrators.methods.generalized_alpha import GeneralizedAlpha, Newmark
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant, PlantParameters
from flexarm.integrators.step_runner import CompiledStepper
from flexarm.integrators.step_size import StepSize, Tolerance
from flexarm.integrators.stepper import ScalarStepper
from flexarm.integrators.sundials import SundialsStepper

METHODS: dict[str, Callable[[], Method]] = {
    "auto": Esdirk,  # unless simulation/options.py chooses another
    "esdirk": Esdirk,
    "generalized-alpha": GeneralizedAlpha,
    "newmark": Newmark,
    "newmark-baumgarte": Newmark,
    "rk4": runge_kutta.rk4,
    "rk45": runge_kutta.rk45,
    "dop853": dop853.Dop853,
}
SUNDIALS = ("adams", "bdf")
FOR_SUNDIALS = Baumgarte(20.0, 20.0)  # it has no steps of ours after which to project


class Solver(Protocol):
    """Selects the steps of a plant and their sizes."""

    def stepper(self, plant: Plant, count: int, native: Native, given: PlantParameters) -> ScalarStepper: ...

    def step_size(self, duration: float, dt: float | None, sample: float) -> StepSize: ...


@dataclass(frozen=True)
class Compiled:
    """A method as machine code."""

    method: Method
    tolerance: Tolerance

    def stepper(self, plant: Plant, count: int, native: Native, given: PlantParameters) -> ScalarStepper:
        return CompiledStepper(plant, self.method, count, native, given)

    def step_size(self, duration: float, dt: float | None, sample: float) -> StepSize:
        return StepSize(self.tolerance, duration, dt, follows_inputs=dt is None)


@dataclass(frozen=True)
class Sundials:
    """CVODES, which chooses its own steps."""

    kind: str
    tolerance: Tolerance

    def stepper(self, plant: Plant, count: int, native: Native, given: PlantParameters) -> ScalarStepper:
        rtol, atol = self.tolerance.rtol, self.tolerance.atol
        return SundialsStepper(plant, self.kind, count, rtol, rtol / 10 + atol, given)

    def step_size(self, duration: float, dt: float | None, sample: float) -> StepSize:
        """Return steps from sample to sample; CVODES chooses its own steps between them."""
        return StepSize(self.tolerance, duration, sample)


def chosen_method(method: object, radius: float | None, tolerance: Tolerance, dt: float | None) -> Solver:
    """Return the solver for the argument `method`; only one of them has a `radius`."""
    if radius is not None:
        real_number("radius", radius, least=0, most=1)
        if method not in ("auto", "generalized-alpha"):
            raise ValueError(
                f"radius = {shown(radius)}: belongs to method 'generalized-alpha', not to {shown(method)}; leave it out"
            )
        return Compiled(GeneralizedAlpha(radius), tolerance)
    if isinstance(method, Method):
        return Compiled(method, tolerance)
    if method == "auto" and dt is not None:  # which may be far too long: it bears that
        return Compiled(GeneralizedAlpha(), tolerance)
    if isinstance(method, str) and method in METHODS:
        return Compiled(METHODS[method](), tolerance)
    if isinstance(method, str) and method in SUNDIALS:
        if dt is not None:
            raise ValueError(f"dt = {dt}: {method} chooses its own steps; leave dt out")
        return Sundials(method, tolerance)
    raise ValueError(f"method = {shown(method)}: must be one of {', '.join([*METHODS, *SUNDIALS])}, or a fa.Method")


def chosen_stabilization(given: object, method: object) -> Stabilization:
    """Return the stabilization: the given one, or the default of the method."""
    chosen = checked_stabilization(given)
    if isinstance(chosen, Baumgarte):
        return chosen
    return FOR_SUNDIALS if method in SUNDIALS else Baumgarte() if method == "newmark-baumgarte" else chosen


def name_of(method: object, stepper: ScalarStepper) -> str:
    """Return the name of the method in use for the argument `method`."""
    if isinstance(method, str) and method != "auto":
        return method
    at_work = type(getattr(stepper, "method", method))
    return next((name for name, kind in METHODS.items() if kind is at_work and name != "auto"), at_work.__name__)
