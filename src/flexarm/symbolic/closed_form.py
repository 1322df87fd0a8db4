"""Where links and their points are: the papers' transformation matrices and position vectors.

`fa.equations(robot)`: the equations of motion M(q) a + C(q, v) v + K q + D v + G(q) = F in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from flexarm.beam.polynomials import merge_breaks
from flexarm.dynamics.bodies import elastic_drive
from flexarm.foundation.messages import shown
from flexarm.foundation.progress import show_progress
from flexarm.robot import MovingJoint, Robot, SlidingPrismatic
from flexarm.symbolic import algebra, checks, code, latex
from flexarm.symbolic.algebra import ZERO, Expr, Rows, Vector, matrix, number, plus, symbol, total
from flexarm.symbolic.assembly import ROUTES, Inertias, assembled, coriolis, link_matrix, mass_parts, scattered
from flexarm.symbolic.beams import Beam, displacement
from flexarm.symbolic.checks import STIFFENINGS, default_model, note, stiffened
from flexarm.symbolic.frames import Frame, Matrix3, apply
from flexarm.symbolic.model import ClosedFormBody, Model
from flexarm.symbolic.symbols import Abbreviations, ClosedFormSymbols, Named


def transforms(model: Model) -> list[Rows]:
    """Theta_(i-1)i of My et al., eq. (2): from the frame of a link's parent (the ground's for the first) to its own.

    Their frame of a link that slides through its joint is at its rear end, a = d - l before the joint.
    """
    out = []
    for i in range(len(model.bodies)):
        body = model.bodies[i]
        above = None if body.parent is None else model.bodies[body.parent]
        R, p = _pose(model.ground if above is None else above.frame, body.frame)
        back = ZERO if above is None else _rear(above)
        x, y, z = plus(p, (-back[0], 0, 0), apply(R, _rear(body)))
        out.append([[*R[0], x], [*R[1], y], [*R[2], z], [0, 0, 0, 1]])
    return out


def points(model: Model) -> list[list[Rows]]:
    """r_0ij(x) of eq. (5), in the ground's frame: for each link, for each element, a column of four.

    x runs from the left node of an element; in a link that is one piece, from its root.
    """
    out = []
    x = symbol("x")
    for i in range(len(model.bodies)):
        body = model.bodies[i]
        R, p = _pose(model.ground, body.frame)
        out.append([[[entry] for entry in (*plus(p, apply(R, rho)), 1)] for rho in _local(body.beam, x)])
    return out


def _local(beam: Beam, x: Expr) -> list[Vector]:
    """r_ij(x) of eq. (3)."""
    if beam.mesh:
        size = beam.l / beam.elements
        found = []
        for j in range(beam.elements):
            nodes = [displacement(node) for node in beam.mesh[2 * j : 2 * j + 4]]
            w = sum(s * u for s, u in zip(algebra.shapes(x, size), nodes, strict=True))
            found.append((j * size + x, w, 0))
        return found
    breaks = merge_breaks([0.0, beam.integrals.length], *(space.breaks for space in beam.integrals.shapes.values()))
    middles = (breaks[:-1] + breaks[1:]) / 2
    return [beam.moving_place(x, float(middle))[0] for middle in middles]


def _pose(start: Frame, end: Frame) -> tuple[Matrix3, Vector]:
    """Rotation and position of a frame on one that it hangs on."""
    path = end.path
    p: Vector = ZERO
    for before, frame in pairwise(path):
        if start in before.path:
            p = plus(p, apply(start.rotation(before), frame.origin))
    return start.rotation(end), p


def _rear(body: ClosedFormBody) -> Vector:
    """From the frame of a link to the papers', in its own axes."""
    if not body.beam.gripped or body.beam.d is None:
        return ZERO
    return body.beam.d[1] - body.beam.l, 0, 0


def equations(
    robot: Robot,
    *,
    parameters: Literal["symbolic", "numeric"] | Collection[str] = "symbolic",
    route: Literal["extended", "global"] = "extended",
    k: Mapping[str, int] | None = None,
    boundary: Literal["eliminated", "kept"] = "eliminated",
    rename: Mapping[str, str] | None = None,
    stiffening: Literal["none", "shortening", "exact", "robot"] | None = None,
    limit: float = checks.LIMIT,
) -> ClosedForm:
    """Derive the equations of motion of a robot in closed form (SymPy), as in My et al. and Bien & My.

    Constraints of the robot are left out: the equations are those of the open tree of links.

    Parameters
    ----------
    robot : Robot
        The robot. Material that appears in a joint (`rear="none"`), `shear`, sleeves and splines have no closed form.
    parameters : {"symbolic", "numeric"} or collection of str, optional
        Symbols (l_1, m_1, EI_1, ...), numbers, or the names of the symbols to keep.
    route : {"extended", "global"}, optional
        Assembly of the mass matrix; the result is the same.
    k : mapping of str to int, optional
        By link, the node at which a joint with contact nodal is (0 is the root), or the element in a joint with contact
        element (1 is at the root).
    boundary : {"eliminated", "kept"}, optional
        "kept" leaves the clamped nodes u_i(1), u_i(2) of finite elements among the coordinates; zero-order model only.
    rename : mapping of str to str, optional
        Other names for symbols.
    stiffening : {"none", "shortening", "exact", "robot"}, optional
        Model of flexible links. By default, as with "robot", each link has its own, so that the equations are those of
        `System` and `simulate`; if these have no closed form, the default warns and takes "none", while "robot" raises
        an error. "none" is the papers' zero-order model; "shortening" and "exact" are those of `Flexible`.
    limit : float, optional
        The largest number of statements that is attempted.

    Returns
    -------
    ClosedForm
        M, C, K, D, G and F as SymPy matrices, and generated Python, C, MATLAB and LaTeX.

    Raises
    ------
    ValueError
        If the robot, or the model of links that is asked for, has no closed form, or one beyond the limit.

    Warns
    -----
    ValidityWarning
        If the simulated model has no closed form and the equations are of zero order: "exact" of links that bend in two
        planes or bend and twist, or that slide through their joint; stiffening of any kind with `rotary_inertia` in
        space (but for links that slide through their joint), or under joints with contact nodal or element.

    Examples
    --------
    >>> from flexarm.robot import Link, PointMass
    >>> pendulum = Robot(links=[Link("rod", 1.0, mass=0.0, payload=PointMass(2.0))])
    >>> equations(pendulum).M
    Matrix([[M_p1*l_1**2]])
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"equations needs a Robot, but got {type(robot).__name__}; fa.load reads one from a file")
    robot = robot.resolved()
    model = "robot" if stiffening is None else stiffening
    for name, value, allowed in (
        ("route", route, ROUTES),
        ("boundary", boundary, ("eliminated", "kept")),
        ("stiffening", model, STIFFENINGS),
    ):
        if value not in allowed:
            raise ValueError(f"{name} = {shown(value)}: must be one of {', '.join(map(repr, allowed))}")
    if k is not None and not isinstance(k, Mapping):
        raise ValueError(f"k = {shown(k)}: must be a mapping from links to nodes, such as k={{'fore': 2}}")
    kept = boundary == "kept"
    robot = stiffened(robot, default_model(robot, kept) if stiffening is None else model)
    symbols = ClosedFormSymbols(parameters, {} if rename is None else rename)
    checks.require_supported(robot, k or {}, kept)
    checks.require_size(robot, limit, numeric=parameters == "numeric")
    return ClosedForm(Model(robot, symbols, k or {}, kept), route)


class ClosedForm:
    """The equations M(q) a + C(q, v) v + K q + D v + G(q) = F of a robot, each matrix derived when first asked for.

    Coordinates stand in the order of `names`, which is that of `System`. `values` are the robot's numbers for the
    parameters. K q are the forces of springs; K and D depend on q only where a flexible link slides through its joint.
    """

    def __init__(self, model: Model, route: str) -> None:
        self._model, self.route = model, route
        self.robot = model.robot
        self.names = tuple(each.name for each in model.coordinates.all)
        self._symbols = model.symbols
        self._drives = model.drives()
        self._friction = model.dry_friction()
        self._gears = model.gears()
        self._symbols.check(self.variables)

    # --- symbols ---

    @property
    def variables(self) -> list[Named]:
        """Coordinates, rates and actuator forces with their meanings."""
        found = self._model.coordinates.all
        return [*(each.named for each in found), *(each.rate for each in found), *self.actuators]

    @property
    def actuators(self) -> list[Named]:
        return list(self._model.coordinates.torques.values())

    @property
    def parameters(self) -> list[Named]:
        """Parameters that stand as symbols, with meaning and unit."""
        return list(self._symbols.parameters.values())

    @property
    def values(self) -> dict[str, float]:
        """The robot's numbers for the parameters, by symbol."""
        return dict(self._symbols.values)

    @property
    def q(self) -> Any:
        """Coordinates, a column of symbols."""
        return matrix([[each.q] for each in self._model.coordinates.all])

    @property
    def v(self) -> Any:
        """Their rates."""
        return matrix([[each.v] for each in self._model.coordinates.all])

    @cached_property
    def notes(self) -> list[str]:
        """What these equations leave out."""
        found = note(self.robot)
        if self.robot.constraints:
            found.append("Constraints are left out: these are the equations of the open tree.")
        if self._friction:
            found.append("Coulomb friction stands in F only, which generated functions leave to their caller.")
        for link, parent in zip(self.robot.links, self.robot.parents, strict=True):
            if elastic_drive(link):
                found.append(f"The drive of joint '{link.name}' is elastic: its actuator acts on the motor (see F).")
            if isinstance(link.joint, SlidingPrismatic) and parent is not None:
                rail = self._model.bodies[parent].beam
                if rail.gripped and rail.bends:
                    name = self.robot.links[parent].name
                    found.append(f"'{link.name}' is taken to ride on '{name}' in front of the joint that grips it.")
            if isinstance(link.joint, MovingJoint) and link.joint.stop is not None:
                found.append(f"The elastic stop of joint '{link.name}' acts beyond its limits only and is left out.")
            damping = None if link.flexible is None else link.flexible.damping
            if damping is not None and damping.ratio is not None:
                found.append(f"The damping ratios of '{link.name}' stand in D as numbers, for the values given.")
        return found

    # --- geometry ---

    @cached_property
    def theta(self) -> list[Any]:
        """Transformation matrices (4 x 4), each from the frame of the link's parent."""
        return [self._spelt(rows) for rows in transforms(self._model)]

    @cached_property
    def r(self) -> list[list[Any]]:
        """Position vectors r[link][element] (4 x 1) in the ground's frame, functions of x along the element."""
        return [[self._spelt(rows) for rows in link] for link in points(self._model)]

    # --- matrices ---

    def _spelt(self, rows: Rows) -> Any:
        """A SymPy matrix without abbreviations."""
        return matrix([[self.short.spelt(entry) for entry in row] for row in rows])

    @property
    def short(self) -> Abbreviations:
        """Names for longer expressions in `rows`, in generated functions and LaTeX; `eq.M` and the others have none."""
        return self._model.short

    @cached_property
    def rows(self) -> dict[str, Rows]:
        """M, C, K, D, G with abbreviations, in the algebra that derived them."""
        return {name: getattr(self, f"_{name}") for name in ("M", "C", "K", "D", "G")}

    @cached_property
    def M(self) -> Any:
        """Mass matrix."""
        return self._spelt(self._M)

    @cached_property
    def C(self) -> Any:
        """Coriolis matrix of Christoffel symbols: dM/dt - 2 C is skew."""
        return self._spelt(self._C)

    @cached_property
    def K(self) -> Any:
        """Stiffness matrix of links and drives."""
        return self._spelt(self._K)

    @cached_property
    def D(self) -> Any:
        """Damping matrix of links, drives and joints."""
        return self._spelt(self._D)

    @cached_property
    def G(self) -> Any:
        """Gravity, the gradient of its potential."""
        return self._spelt(self._G)

    @cached_property
    def F(self) -> Any:
        """Actuator torques and forces, less Coulomb friction."""
        forces = {a: symbol(each.symbol) * self._gears.get(a, 1) for a, each in self._model.coordinates.torques.items()}
        return matrix([[forces.get(a, number(0)) - self._friction.get(a, 0)] for a in range(self._model.size)])

    def link_mass(self, link: str) -> tuple[list[str], Any]:
        """The coordinates that move a link, and its own mass matrix over them (Bien & My, eq. 5 and 9)."""
        place = [each.name for each in self.robot.links].index(self.robot.link(link).name)
        columns, rows = link_matrix(mass_parts(self._inertias)[place])
        return [self.names[column] for column in columns], self._spelt(rows)

    @cached_property
    def _inertias(self) -> Inertias:
        return Inertias(self._model)

    @cached_property
    def _M(self) -> Rows:
        out = assembled(mass_parts(self._inertias), self._model.size, self.route, show_progress("mass matrix"))
        for place, inertia in self._drives[0].items():
            out[place][place] = out[place][place] + inertia
        return out

    @cached_property
    def _C(self) -> Rows:
        found = self._model.coordinates.all
        return coriolis(self._M, [each.v for each in found], self.short, show_progress("Coriolis matrix"))

    def _own(self, name: str, drives: Mapping[tuple[int, int], Any]) -> Rows:
        pieces = [piece for i in range(len(self._model.bodies)) for _, piece in self._model.bodies[i].carried]
        out = scattered(pieces, name, self._model.size, self.route)
        for (row, column), entry in drives.items():
            out[row][column] = out[row][column] + entry
        return out

    @cached_property
    def _K(self) -> Rows:
        return self._own("K", self._drives[1])

    @cached_property
    def _D(self) -> Rows:
        return self._own("D", self._drives[2])

    @cached_property
    def _G(self) -> Rows:
        gx, gy, gz = self._model.gravity
        upward: Vector = (-gx, -gy, -gz)
        terms: dict[int, list[Any]] = {}
        for link in self._inertias.links:
            for piece in link:
                for column in piece.columns:
                    terms.setdefault(column, []).append(piece.weight(column, upward, self._model.ground))
        return [[total(terms.get(a, []))] for a in range(self._model.size)]

    # --- output ---

    @cached_property
    def listing(self) -> code.Listing:
        """The statements of generated functions."""
        return code.listing(self)

    def latex(self) -> str:
        """A LaTeX document that defines its symbols and states the equations."""
        return latex.document(self)

    def python(self, name: str = "equations") -> str:
        """A Python module with one function, `name`, of q, v and the parameters; it needs NumPy only."""
        return code.python(self, name)

    def c(self, name: str = "equations") -> str:
        """A C99 function, `name`, of q, v and the parameters that fills M, C, K, D (row by row) and G."""
        return code.c(self, name)

    def matlab(self, name: str = "equations") -> str:
        """A MATLAB (or Octave) function [M, C, K, D, G] = name(q, v, p)."""
        return code.matlab(self, name)

    def lambdify(self) -> Callable[..., dict[str, Any]]:
        """A function (q, v, **parameters) -> {"M": ..., "C": ..., "K": ..., "D": ..., "G": ...} of arrays.

        q and v are arrays in the order of `names`, or mappings by name, the others zero.
        """
        return code.function(self)

    def text(self) -> str:
        """The equations as plain text, entry by entry."""
        return code.text(self)

    def __str__(self) -> str:
        kinds = f"{len(self.names)} coordinates, {len(self.values)} parameters"
        return f"closed form of {self.robot.name!r}: {kinds}, route {self.route}"

    def __repr__(self) -> str:
        return f"<{self}>"
