"""Parts of links that slide through their joint, against links that do not and against differences in time."""

import casadi as ca
import numpy as np
import pytest

import flexarm as fa
from flexarm.beam.foreshortening import SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.dynamics.bodies import Body, ShapeSymbols, make_symbolic
from flexarm.dynamics.links.second_order_part import _second_order_moment
from flexarm.dynamics.links.sliding_segments import PartKind, SlidingPart, part_kind
from flexarm.dynamics.model import Chain
from flexarm.dynamics.parameters import Parameters, ParameterSymbols
from tests.helpers import unit_link


def part_of(integrals: SlidingIntegrals) -> tuple[ShapeSymbols, PartKind, ParameterSymbols, Parameters]:
    parameters, kind = Parameters(), part_kind(integrals.stiffening)
    kind.add_parameters(parameters, "a", integrals)
    symbols = ParameterSymbols(parameters)
    return ShapeSymbols(integrals.columns, integrals.stiffening, symbols.under("a")), kind, symbols, parameters


def value(expression, symbols: ParameterSymbols, parameters: Parameters) -> np.ndarray:
    return ca.Function("f", [symbols.column], [ca.densify(expression)])(parameters.vector).full()


IN_A_PLANE = ({"bend_y": 2}, {"bend_y": 2, "stretch": 1})  # where parts may be exact, too
CASES = [(families, stiffening) for families in IN_A_PLANE for stiffening in ("none", "shortening", "exact")]
CASES += [({"bend_y": 2, "bend_z": 1, "twist": 1}, stiffening) for stiffening in ("none", "shortening")]


@pytest.mark.parametrize(("families", "stiffening"), CASES)
def test_a_part_that_does_not_slide_has_the_energy_of_a_link(families, stiffening):
    rng = np.random.default_rng(3)
    given = fa.Flexible(**families, stiffening=stiffening)
    count = given.coordinates
    eta, deta = (ca.SX(0.3 * rng.normal(size=count)) for _ in range(2))
    omega, v = (ca.SX(rng.normal(size=3)) for _ in range(2))
    link = unit_link(joint=fa.FixedPrismatic(), flexible=given)
    shapes, kind, symbols, parameters = part_of(SlidingIntegrals(link))
    found = value(kind.kinetic(SlidingPart(shapes, 1.0, 1.0, 0.0, eta, deta, False), omega, v), symbols, parameters)
    body: Body = Chain(fa.Robot(links=[unit_link(joint=fa.Weld(), flexible=given)])).bodies[0]
    alone = Parameters()
    body.model.add_parameters(alone, "a", body)
    names = ParameterSymbols(alone)
    whole = body.model.kinetic(make_symbolic(body, names.under("a")), omega, v, eta, deta)
    assert found == pytest.approx(value(whole, names, alone), rel=1e-12)


def test_rates_of_second_order_are_those_of_material_that_flows_through_the_shapes():
    """int mu X^p of displacements of second order, and of their rates, against differences at material points."""
    rng = np.random.default_rng(4)
    flexible = fa.Flexible(bend_y=2, bend_z=1, twist=1, stretch=1, stiffening="shortening")
    integrals = SlidingIntegrals(unit_link(joint=fa.FixedPrismatic(), flexible=flexible))
    eta, deta = 0.3 * rng.normal(size=(2, 5))
    scale, rate, dt = 0.6, 0.7, 1e-5
    nodes, weights = np.polynomial.legendre.leggauss(20)
    start, weights = (nodes + 1) / 2, weights / 2
    forms = SecondOrderBlocks(integrals)
    shapes, _, symbols, parameters = part_of(integrals)

    def moved(t):
        """(points, 3) at the material points that are at `start` for t = 0: dX/dt = (rate / scale) (l - X)."""
        here, bent = scale + rate * t, eta + deta * t
        X = 1 - (1 - start) * scale / here
        out = np.zeros((len(X), 3))
        for k, x in enumerate(X):
            out[k] = np.einsum("m,imn,n->i", bent, scaled(forms.displacement_forms(x), integrals, here), bent) / 2
        return out

    measured = moved(0.0), (moved(dt) - moved(-dt)) / (2 * dt)
    part = SlidingPart(shapes, 1.0, scale, rate, ca.SX(eta), ca.SX(deta), False)
    for power in (0, 1):
        found = _second_order_moment(part, power)
        for got, expected in zip((found.x, found.dx), measured, strict=True):
            moments = (weights * start**power) @ expected
            np.testing.assert_allclose(value(got, symbols, parameters)[:, 0], moments, rtol=1e-5, atol=1e-8)


def scaled(F: np.ndarray, of: LinkIntegrals, scale: float) -> np.ndarray:
    """Slopes of the shorter link are steeper, and it is shorter: 1/scale, but for twist with curvature."""
    out = F / scale
    if "twist" in of.columns:
        for bend in ("bend_y", "bend_z"):
            one, other = of.columns["twist"], of.columns[bend]
            out[:, one, other], out[:, other, one] = F[:, one, other], F[:, other, one]
    return out


@pytest.mark.parametrize("stiffening", ["shortening", "exact"])
def test_momentum_is_the_rate_of_the_first_moment(stiffening):
    """The momentum of flowing material equals the rate of the first moment to rounding, whatever the nodes are."""
    rng = np.random.default_rng(5)
    flexible = fa.Flexible(bend_y=2, stretch=1, stiffening=stiffening)
    shapes, kind, symbols, parameters = part_of(
        SlidingIntegrals(unit_link(joint=fa.FixedPrismatic(), flexible=flexible))
    )
    eta, deta, scale, rate, v = (ca.SX.sym(name, n) for name, n in (("e", 3), ("de", 3), ("s", 1), ("r", 1), ("v", 3)))
    part = SlidingPart(shapes, 1.0, scale, rate, eta, deta, False)
    momentum = ca.gradient(kind.kinetic(part, ca.SX.zeros(3), v), v)
    first = ca.jtimes(kind.first(part), ca.vertcat(eta, scale), ca.vertcat(deta, rate))
    point = [0.2 * rng.normal(size=3), rng.normal(size=3), 0.6, 0.4, np.zeros(3)]
    f = ca.Function("f", [eta, deta, scale, rate, v, symbols.column], [ca.densify(momentum), ca.densify(first)])
    found, expected = (each.full() for each in f(*point, parameters.vector))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
