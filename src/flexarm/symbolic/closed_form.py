"""Equations of motion M(q) a + C(q, v) v + K q + D v + G(q) = F of a robot in closed form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from flexarm.beam.polynomials import merge_breaks
from flexarm.dynamics.bodies import elastic_drive
from flexarm.foundation.messages import shown
from flexarm.foundation.progress import show_progress
from flexarm.robot import MovingJoint, Robot, SlidingPrismatic
from flexarm.symbolic import algebra, checks, code, latex
from flexarm.symbolic.algebra import ZERO, Expr, ExprArray, X, column, symbol, sympy_matrix, total, vector
from flexarm.symbolic.beams import Beam, moving_section_pose
from flexarm.symbolic.checks import STIFFENINGS, describe_stiffening, select_default_stiffening, with_stiffening
from flexarm.symbolic.frames import SymbolicFrame
from flexarm.symbolic.mass_matrix import ROUTES, Carrier, PieceInertia, assemble, coriolis, link_mass, mass_matrix
from flexarm.symbolic.model import ClosedFormBody, Model
from flexarm.symbolic.symbols import Abbreviations, ClosedFormSymbols, SymbolInfo


def transformation_matrices(model: Model) -> list[ExprArray]:
    """Return the matrices Theta_(i-1)i of My et al., eq. (2), from the frame of the parent of each link to its own.

    In that paper the frame of a link that slides through its joint is at its rear end, a = d - l before the joint.
    """
    out = []
    for _, body in sorted(model.bodies.items()):
        above = None if body.parent is None else model.bodies[body.parent]
        R, p = _pose(model.ground if above is None else above.frame, body.frame)
        T = np.eye(4, dtype=object)
        T[:3, :3], T[:3, 3] = R, p + R @ _rear_offset(body) - (ZERO if above is None else _rear_offset(above))
        out.append(T)
    return out


def position_vectors(model: Model) -> list[list[ExprArray]]:
    """Return the position vectors r_0ij(x) of My et al., eq. (5), by link and element; x begins at its left end."""
    out = []
    for _, body in sorted(model.bodies.items()):
        R, p = _pose(model.ground, body.frame)
        places = _local_positions(body.beam, symbol("x"))
        out.append([column([*(p + R @ rho), 1]) for rho in places])
    return out


def _local_positions(beam: Beam, x: Expr) -> list[ExprArray]:
    """Return r_ij(x) of My et al., eq. (3)."""
    if beam.mesh:
        size = beam.l / beam.elements
        shapes = algebra.shapes(x, size)
        return [vector(j * size + x, shapes @ beam.nodes(j, j + 1), 0) for j in range(beam.elements)]
    breaks = merge_breaks([0.0, beam.integrals.length], *(space.breaks for space in beam.integrals.shapes.values()))
    return [moving_section_pose(beam, x, float(middle))[0] for middle in (breaks[:-1] + breaks[1:]) / 2]


def _pose(start: SymbolicFrame, end: SymbolicFrame) -> tuple[ExprArray, ExprArray]:
    """Return the rotation and position of a frame relative to one of its ancestors."""
    path = end.path[end.path.index(start) :]
    steps = (start.rotation(before) @ frame.origin for before, frame in pairwise(path))
    return start.rotation(end), sum(steps, ZERO)


def _rear_offset(body: ClosedFormBody) -> ExprArray:
    """Return the vector from the frame of a link to the frame of the papers, in its own axes."""
    if not body.beam.slides_through_joint or body.beam.d is None:
        return ZERO
    return (body.beam.d[1] - body.beam.l) * X  # type: ignore[no-any-return]


def equations(
    robot: Robot,
    *,
    parameters: Literal["symbolic", "numeric"] | Collection[str] = "symbolic",
    route: Literal["extended", "global"] = "extended",
    k: Mapping[str, int] | None = None,
    boundary: Literal["eliminated", "kept"] = "eliminated",
    rename: Mapping[str, str] | None = None,
    stiffening: Literal["none", "shortening", "exact", "robot"] | None = None,
    limit: float = checks.MAX_STATEMENT_COUNT,
) -> ClosedForm:
    """Derive the equations of motion of a robot in closed form.

    Constraints of the robot are neglected: the equations are those of the open tree of links.

    Parameters
    ----------
    robot : Robot
        The robot. Sliding links with `rear="none"`, shear deformation, sleeves and splines have no closed form.
    parameters : {"symbolic", "numeric"} or collection of str, optional
        Parameters as symbols (l_1, m_1, EI_1, ...), as numbers, or the names of those to keep as symbols.
    route : {"extended", "global"}, optional
        Method to assemble the mass matrix, of Bien & My or My et al.; the result is the same.
    k : mapping of str to int, optional
        By link, the node at a joint with contact nodal (0 is the root), or the element in a joint with contact element
        (1 is at the root).
    boundary : {"eliminated", "kept"}, optional
        "kept" keeps the displacements u_i(1), u_i(2) of the clamped nodes of finite elements as coordinates; for the
        zero-order model only.
    rename : mapping of str to str, optional
        New names of symbols by their default names.
    stiffening : {"none", "shortening", "exact", "robot"}, optional
        Model of flexible links. With "robot" each link has its own model, so that the equations are those of `System`
        and `simulate`. The default is "robot" if it has a closed form, else "none" with a warning. "none" is the
        zero-order model of the papers; "shortening" and "exact" are those of `Flexible`.
    limit : float, optional
        Largest estimated number of statements.

    Returns
    -------
    ClosedForm
        M, C, K, D, G and F as SymPy matrices, and functions that write Python, C, MATLAB and LaTeX.

    Raises
    ------
    ValueError
        If the robot with the given model of links has no closed form, or one that exceeds the limit.

    Warns
    -----
    ValidityWarning
        If the simulated model has no closed form and the zero-order model is used: "exact" for links that bend in two
        planes, bend and twist, or slide through their joint; any stiffening with `rotary_inertia` in space (except for
        links that slide through their joint), or with contact nodal or element.

    See Also
    --------
    System : Numerical evaluation of the equations of motion.

    References
    ----------
    The methods are those of My et al. (route "global") and Bien & My (route "extended"); see docs/theory.md.

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
    allowed = {"route": ROUTES, "boundary": ("eliminated", "kept"), "stiffening": STIFFENINGS}
    for (name, words), value in zip(allowed.items(), (route, boundary, model), strict=True):
        if value not in words:
            raise ValueError(f"{name} = {shown(value)}: must be one of {', '.join(map(repr, words))}")
    if k is not None and not isinstance(k, Mapping):
        raise ValueError(f"k = {shown(k)}: must be a mapping from links to nodes, such as k={{'fore': 2}}")
    kept = boundary == "kept"
    robot = with_stiffening(robot, select_default_stiffening(robot, kept) if stiffening is None else model)
    symbols = ClosedFormSymbols(parameters, {} if rename is None else rename)
    checks.require_supported(robot, k or {}, kept)
    checks.require_size(robot, limit, numeric=parameters == "numeric")
    return ClosedForm(Model(robot, symbols, k or {}, kept), route)


class ClosedForm:
    """Equations of motion M(q) a + C(q, v) v + K q + D v + G(q) = F of a robot in closed form.

    Create it with `equations`. Matrices are SymPy matrices, derived on first use. K and D depend on q only if a
    flexible link slides through its joint.

    Parameters
    ----------
    model : Model
        Symbolic model of the robot.
    route : {"extended", "global"}
        Method to assemble the mass matrix.

    Attributes
    ----------
    robot : Robot
        The robot with the stiffening models of the equations.
    names : tuple of str
        Names of the coordinates, in the order of `System`.

    See Also
    --------
    equations : Derive the equations of a robot.

    Examples
    --------
    >>> from flexarm.robot import Link, PointMass
    >>> form = equations(Robot(links=[Link("rod", 1.0, mass=0.0, payload=PointMass(2.0))], gravity=(0, -9.81, 0)))
    >>> form.G
    Matrix([[-M_p1*g_y*l_1*cos(theta_1)]])
    >>> evaluate = form.lambdify()
    >>> evaluate({"rod.q": 0.0})["M"].tolist()
    [[2.0]]
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
    def variables(self) -> list[SymbolInfo]:
        """Symbols of coordinates, rates and actuator forces, with meaning and unit."""
        found = self._model.coordinates.all
        return [*(each.named for each in found), *(each.rate for each in found), *self.actuators]

    @property
    def actuators(self) -> list[SymbolInfo]:
        """Symbols of the actuator torques and forces, with meaning and unit."""
        return list(self._model.coordinates.torques.values())

    @property
    def parameters(self) -> list[SymbolInfo]:
        """Parameters that are symbols, with meaning and unit."""
        return list(self._symbols.parameters.values())

    @property
    def values(self) -> dict[str, float]:
        """Values of the parameters in the robot, by symbol."""
        return dict(self._symbols.values)

    @property
    def q(self) -> Any:
        """Column of the symbols of the coordinates."""
        return sympy_matrix(column(each.q for each in self._model.coordinates.all))

    @property
    def v(self) -> Any:
        """Column of the symbols of the rates."""
        return sympy_matrix(column(each.v for each in self._model.coordinates.all))

    @cached_property
    def notes(self) -> list[str]:
        """Sentences about assumptions of the equations and about neglected effects."""
        found = describe_stiffening(self.robot)
        if self.robot.constraints:
            found.append("Constraints are left out: these are the equations of the open tree.")
        if self._friction:
            found.append("Coulomb friction stands in F only, which generated functions do not compute.")
        for link, parent in zip(self.robot.links, self.robot.parents, strict=True):
            if elastic_drive(link):
                found.append(f"The drive of joint '{link.name}' is elastic: its actuator acts on the motor (see F).")
            if isinstance(link.joint, SlidingPrismatic) and parent is not None:
                rail = self._model.bodies[parent].beam
                if rail.slides_through_joint and rail.bends:
                    name = self.robot.links[parent].name
                    found.append(f"'{link.name}' is taken to ride on '{name}' in front of the joint of '{name}'.")
            if isinstance(link.joint, MovingJoint) and link.joint.stop is not None:
                found.append(f"The elastic stop of joint '{link.name}' acts beyond its limits only and is neglected.")
            damping = None if link.flexible is None else link.flexible.damping
            if damping is not None and damping.ratio is not None:
                found.append(f"The damping ratios of '{link.name}' are numbers in D, for the given parameters.")
        return found

    # --- geometry ---

    @cached_property
    def theta(self) -> list[Any]:
        """Transformation matrices (4 x 4) of the links, each from the frame of the parent."""
        return [self._expanded(each) for each in transformation_matrices(self._model)]

    @cached_property
    def r(self) -> list[list[Any]]:
        """Position vectors r[link][element] (4 x 1) in the ground frame, as functions of x along the element."""
        return [[self._expanded(each) for each in link] for link in position_vectors(self._model)]

    # --- matrices ---

    def _expanded(self, matrix: ExprArray) -> Any:
        """Return a SymPy matrix without abbreviations."""
        return sympy_matrix(np.frompyfunc(self.short.expanded, 1, 1)(matrix))

    @property
    def short(self) -> Abbreviations:
        """Abbreviations of subexpressions in `rows`, in generated functions and in LaTeX; `M` and others have none."""
        return self._model.short

    @cached_property
    def rows(self) -> dict[str, ExprArray]:
        """M, C, K, D and G by name, with abbreviations, as arrays of SymEngine expressions."""
        return {name: getattr(self, f"_{name}") for name in ("M", "C", "K", "D", "G")}

    @cached_property
    def M(self) -> Any:
        """Mass matrix."""
        return self._expanded(self._M)

    @cached_property
    def C(self) -> Any:
        """Coriolis matrix from Christoffel symbols, so that dM/dt - 2 C is skew-symmetric."""
        return self._expanded(self._C)

    @cached_property
    def K(self) -> Any:
        """Stiffness matrix of links and drives."""
        return self._expanded(self._K)

    @cached_property
    def D(self) -> Any:
        """Damping matrix of links, drives and joints."""
        return self._expanded(self._D)

    @cached_property
    def G(self) -> Any:
        """Gravity term, the gradient of the potential of gravity."""
        return self._expanded(self._G)

    @cached_property
    def F(self) -> Any:
        """Actuator torques and forces minus Coulomb friction."""
        out = algebra.zeros(self._model.size, 1)
        for a, each in self._model.coordinates.torques.items():
            out[a, 0] = symbol(each.symbol) * self._gears.get(a, 1)
        for a, force in self._friction.items():
            out[a, 0] = out[a, 0] - force
        return self._expanded(out)

    def link_mass(self, link: str) -> tuple[list[str], Any]:
        """Return the mass matrix of a single link (Bien & My, eq. 5 and 9).

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        names : list of str
            Names of the coordinates that move the link.
        matrix : sympy.Matrix
            Mass matrix over these coordinates.
        """
        index = [each.name for each in self.robot.links].index(self.robot.link(link).name)
        columns, matrix = link_mass(self._inertias[index])
        return [self.names[column] for column in columns], self._expanded(matrix)

    @cached_property
    def _inertias(self) -> list[list[PieceInertia]]:
        """Pieces of each link with their Jacobians."""
        out = []
        for _, body in sorted(self._model.bodies.items()):
            carriers = {frame: Carrier(frame) for frame, _ in body.carried}
            out.append([PieceInertia(carriers[frame], piece) for frame, piece in body.carried])
        return out

    @cached_property
    def _M(self) -> ExprArray:
        out = mass_matrix(self._inertias, self._model.size, self.route, show_progress("mass matrix"))
        for index, inertia in self._drives[0].items():
            out[index, index] = out[index, index] + inertia
        return out

    @cached_property
    def _C(self) -> ExprArray:
        found = self._model.coordinates.all
        return coriolis(self._M, [each.v for each in found], self.short, show_progress("Coriolis matrix"))

    def _link_matrix(self, name: str, drives: Mapping[tuple[int, int], Any]) -> ExprArray:
        pieces = [each.piece for link in self._inertias for each in link]
        out = assemble(((piece.columns, getattr(piece, name)) for piece in pieces), self._model.size, self.route)
        for place, entry in drives.items():
            out[place] = out[place] + entry
        return out

    @cached_property
    def _K(self) -> ExprArray:
        return self._link_matrix("K", self._drives[1])

    @cached_property
    def _D(self) -> ExprArray:
        return self._link_matrix("D", self._drives[2])

    @cached_property
    def _G(self) -> ExprArray:
        terms: dict[int, list[Any]] = {}
        for piece in (piece for link in self._inertias for piece in link):
            for a in piece.columns:
                terms.setdefault(a, []).append(piece.weight(a, -self._model.gravity, self._model.ground))
        return column(total(terms.get(a, [])) for a in range(self._model.size))

    # --- output ---

    @cached_property
    def listing(self) -> code.Listing:
        """Statements of the generated functions."""
        return code.build_listing(self)

    def latex(self) -> str:
        """Return a LaTeX document with the equations and a table of their symbols.

        Returns
        -------
        str
            Source of the document.
        """
        return latex.write_document(self)

    def python(self, name: str = "equations") -> str:
        """Return the source of a Python module that evaluates the equations; it needs NumPy only.

        Parameters
        ----------
        name : str, optional
            Name of the function, called as `name(q, v, p)` with p the values of the parameters.

        Returns
        -------
        str
            Source of the module.
        """
        return code.write_python(self, name)

    def c(self, name: str = "equations") -> str:
        """Return the source of a C99 function that fills M, C, K, D (row by row) and G.

        Parameters
        ----------
        name : str, optional
            Name of the function, called as `name(q, v, p, M, C, K, D, G)`.

        Returns
        -------
        str
            Source of the function.
        """
        return code.write_c(self, name)

    def matlab(self, name: str = "equations") -> str:
        """Return the source of a MATLAB or Octave function `[M, C, K, D, G] = name(q, v, p)`.

        Parameters
        ----------
        name : str, optional
            Name of the function.

        Returns
        -------
        str
            Source of the function.
        """
        return code.write_matlab(self, name)

    def lambdify(self) -> Callable[..., dict[str, Any]]:
        """Return a Python function that evaluates the equations.

        Returns
        -------
        callable
            Function `(q, v, **parameters)` that returns a dict of the arrays "M", "C", "K", "D" and "G". q and v are
            arrays in the order of `names`, or mappings by name with zero for the others; parameters that are not given
            have the values of the robot.
        """
        return code.compile_function(self)

    def text(self) -> str:
        """Return the nonzero entries of the equations as plain text.

        Returns
        -------
        str
            Text with one entry per line.
        """
        return code.write_text(self)

    def __str__(self) -> str:
        kinds = f"{len(self.names)} coordinates, {len(self.values)} parameters"
        return f"closed form of {self.robot.name!r}: {kinds}, route {self.route}"

    def __repr__(self) -> str:
        return f"<{self}>"
