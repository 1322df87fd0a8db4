"""Functions of a plant as loops over its links, which share code with all others of their kind.

Of a long chain only the kinds of links are traced and compiled; the rest are calls. Each loop is that of the equations
written out (dynamics/equations.py, articulated.py), outward from the ground or inward to it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.dynamics.accuracy.validity import link_size_estimate
from flexarm.dynamics.links.shared_functions import Fold, LinkFunctions, link_signature, nodes_path, pattern_key

if TYPE_CHECKING:
    from flexarm.dynamics.model_structure import Structure
    from flexarm.integrators.plant import Plant

# Instructions of the inverse dynamics, estimated, from which on loops are taken: 21 planar links with three modes.
# A step of such chains took as long either way at 12 and 20 links, and half as long in loops at 30; that of rigid
# links was faster written out up to 100 (benchmarks/sharing.py). Set-up is shorter in loops from a few links on; but
# up to here a step keeps the instructions that it had.
MIN_INSTRUCTIONS = 6000

NO_VALUES = ca.MX(0, 1)


def has_shared_links(structure: Structure) -> bool:
    """Return True if a robot has many links of few kinds, each of which depends on its parent and its own coordinates
    only.
    """
    bodies = structure.equations.chain.bodies
    if structure.constrained or sum(link_size_estimate(body.link) for body in bodies) < MIN_INSTRUCTIONS:
        return False
    if not all(not (body.link.joint.rides or body.link.joint.grips) for body in bodies):
        return False
    kinds = {link_signature(structure.equations, i, structure.parameters) for i in range(len(bodies))}
    return len(bodies) >= 2 * len(kinds)


class SharedLinks:
    """Loops of one plant. The last argument of every function is the vector of the plant's numbers."""

    def __init__(self, plant: Plant) -> None:
        self.plant, e = plant, plant.equations
        self.bodies, self.order = e.chain.bodies, e.chain.order
        self._spans = _spans(plant.structure)
        made: dict[tuple[object, ...], LinkFunctions] = {}
        self.links: list[LinkFunctions] = []
        self._kinds = [link_signature(e, i, plant.structure.parameters) for i in range(len(self.bodies))]
        for i, kind in enumerate(self._kinds):
            if kind not in made:
                made[kind] = LinkFunctions(e, i, self._own_numbers(i, e.p))
            self.links.append(made[kind])
        free = set(plant.free)
        self._free = [tuple(k for k in range(body.local.count) if body.local.start + k in free) for body in self.bodies]
        self._folded: dict[tuple[object, ...], Fold] = {}

    # --- parts of vectors ---

    def _own_numbers(self, i: int, p: Any) -> Any:
        """Return the numbers of a link, of the nodes of its parent that places on it depend on, or of the base."""
        own, parent = p[self._spans[f"links.{self.bodies[i].link.name}"]], self.bodies[i].parent
        if parent is None:
            return ca.vertcat(own, p[self._spans["base"]])
        nodes = self._spans.get(f"{nodes_path(self.bodies[parent])}.")
        return own if nodes is None else ca.vertcat(own, p[nodes])

    def _of(self, i: int | None, *vectors: Any) -> list[Any]:
        """A link's own parts; of the ground nothing."""
        if i is None:
            return [NO_VALUES] * len(vectors)
        return [vector[self.bodies[i].local.all] for vector in vectors]

    def _free_parts(self, vector: Any) -> list[Any]:
        """A vector of the free coordinates, link by link."""
        counts = [len(each) for each in self._free]
        starts = [sum(counts[:i]) for i in range(len(counts))]
        return [vector[start : start + count] for start, count in zip(starts, counts, strict=True)]

    def _symbols(self, **sizes: int) -> list[Any]:
        return [ca.MX.sym(name, size) for name, size in sizes.items()]

    def _function(self, name: str, inputs: list[Any], outputs: list[Any]) -> ca.Function:
        return self.plant.step_function(name, inputs, outputs)

    # --- equations of motion ---

    @cached_property
    def residual(self) -> ca.Function:
        """(q, v, a, u) -> what is missing to equilibrium."""
        plant, p, n = self.plant, self.plant.numbers, self.plant.n
        q, v, a, u = self._symbols(q=n, v=n, a=n, u=plant.input_count)
        motions: dict[int | None, Any] = {None: ca.vertcat(ca.MX(6, 1), -self._gravity(p))}
        forces, own, geometry = {}, {}, {}
        for i in self.order:
            parent, mine = self.bodies[i].parent, self._own_numbers(i, p)
            given = [motions[parent], *self._of(parent, q, v, a), *self._of(i, q, v, a)]
            motions[i], forces[i], own[i], geometry[i] = self.links[i].move(motions[parent].sparsity())(*given, mine)
        for i in reversed(self.order):
            parent = self.bodies[i].parent
            back = self.links[i].back(forces[i].sparsity())
            above, above_x, mine = back(forces[i], geometry[i], self._own_numbers(i, p))
            own[i] = own[i] + mine
            if parent is not None:
                forces[parent], own[parent] = forces[parent] + above, own[parent] + above_x
        tau = ca.vertcat(*(own[i] for i in range(len(self.bodies))))
        return self._function("residual", [q, v, a, u], [tau - plant.applied(q, v, u)])

    def _gravity(self, p: Any) -> Any:
        e = self.plant.equations
        gravity = ca.Function("ground", [e.p], [e.chain.parameters["gravity"]])
        return gravity(p[: e.p.numel()])

    # --- the linear system of a step ---

    @cached_property
    def _factored(self) -> tuple[ca.Function, list[Fold]]:
        plant, p, n = self.plant, self.plant.numbers, self.plant.n
        q, v, u = self._symbols(q=n, v=n, u=plant.input_count)
        stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
        slopes = plant.law_slopes(q, v, u) if plant.law is not None else ca.MX(n, 2)
        columns: dict[int, Any] = {}
        folds: dict[int, Fold] = {}
        handed: dict[int, list[Any]] = {}
        for i in reversed(self.order):
            parent, count = self.bodies[i].parent, len(self._free[i])
            children = handed.get(i, [ca.MX(6, 6), ca.MX(6, count), ca.MX(count, count)])
            fold = folds[i] = self._fold(i, _patterns(*children))
            x, dx = self._of(i, q, v)
            given = [*self._of(parent, q), x, dx, slopes[self.bodies[i].local.all, :], stiff, damp, *children]
            columns[i], *up = fold.function(*given, self._own_numbers(i, p))
            if parent is not None:
                before = handed.get(parent)
                handed[parent] = up if before is None else [one + other for one, other in zip(before, up, strict=True)]
        ordered = [columns[i] for i in range(len(self.bodies))]
        function = self._function("factor", [q, v, u, stiff, damp], [ca.vertcat(*ordered)])
        return function, [folds[i] for i in range(len(self.bodies))]

    def _fold(self, i: int, children: list[Any]) -> Fold:
        parent = self.bodies[i].parent
        free_above = () if parent is None else self._free[parent]
        steered = self.plant.law is not None
        key = (self._kinds[i], self._free[i], free_above, *map(pattern_key, children))
        if key not in self._folded:
            self._folded[key] = self.links[i].fold(self._free[i], free_above, children, steered)
        return self._folded[key]

    @property
    def factor(self) -> ca.Function:
        """(q, v, u, stiff, damp) -> factors of S = M + damp D + stiff K at the free coordinates."""
        return self._factored[0]

    @cached_property
    def substitute(self) -> ca.Function:
        """(factors, r) -> S^-1 r at the free coordinates."""
        factors, r = self._symbols(factors=self.factor.numel_out(0), r=len(self.plant.free))
        folds, columns, start = self._factored[1], [], 0
        for fold in folds:
            columns.append(factors[start : start + fold.size])
            start += fold.size
        own, at_V = self._free_parts(r), [ca.MX(6, 1) for _ in folds]
        for i in reversed(self.order):
            parent = self.bodies[i].parent
            own[i], up, up_x = folds[i].inward(at_V[i].sparsity())(columns[i], own[i], at_V[i])
            if parent is not None:
                at_V[parent], own[parent] = at_V[parent] + up, own[parent] + up_x
        twists: dict[int | None, Any] = {None: ca.MX(6, 1)}
        found: dict[int | None, Any] = {None: NO_VALUES}
        for i in self.order:
            parent = self.bodies[i].parent
            outward = folds[i].outward(twists[parent].sparsity())
            found[i], twists[i] = outward(columns[i], own[i], twists[parent], found[parent])
        solution = ca.vertcat(*(found[i] for i in range(len(folds))))
        return self._function("substitute", [factors, r], [solution])

    @cached_property
    def resolved(self) -> ca.Function:
        """(factors, q, e, stiff, damp) -> S^-1 M e at the free coordinates."""
        plant, p = self.plant, self.plant.numbers
        factors, q, e = self._symbols(factors=self.factor.numel_out(0), q=plant.n, e=len(plant.free))
        stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
        change = plant.whole(e, ca.MX.zeros(len(plant.driven)))
        added = [
            self.links[i].softened(*self._of(i, q, change), stiff, damp, self._own_numbers(i, p))
            for i in range(len(self.bodies))
        ]
        left = e - self.substitute(factors, plant.of_free(ca.vertcat(*added)), p)
        return self._function("resolved", [factors, q, e, stiff, damp], [left])

    @cached_property
    def displacements(self) -> ca.Function:
        """(q, e, f) -> how far two small changes of the free coordinates move each link."""
        plant, none = self.plant, ca.MX.zeros(len(self.plant.driven))
        q, e, f = self._symbols(q=plant.n, e=len(plant.free), f=len(plant.free))
        vectors = [q, plant.whole(e, none), plant.whole(f, none)]
        twists: dict[int | None, list[Any]] = {None: [ca.MX(6, 1)] * 2}
        squares: dict[int, list[Any]] = {}
        for i in self.order:
            parent, mine = self.bodies[i].parent, self._own_numbers(i, plant.numbers)
            shift = self.links[i].shift(*_patterns(*twists[parent]))
            *found, one, other = shift(*twists[parent], *self._of(parent, *vectors), *self._of(i, *vectors), mine)
            twists[i], squares[i] = found, [one, other]
        moved = [ca.sqrt(ca.vertcat(*(squares[i][k] for i in range(len(self.bodies))))) for k in (0, 1)]
        return self._function("displacements", [q, e, f], moved)

    # --- samples ---

    @cached_property
    def report(self) -> ca.Function:
        """(q, v, a, u) -> energies, rotation and position of the robot's tip, what is missing at the driven
        coordinates, deflections."""
        plant, p, n = self.plant, self.plant.numbers, self.plant.n
        q, v, a, u = self._symbols(q=n, v=n, a=n, u=plant.input_count)
        gravity, tip = self._gravity(p), plant.equations.tip_link
        frames: dict[int | None, list[Any]] = {None: [ca.MX.eye(3), ca.MX(3, 1), ca.MX(6, 1)]}
        energies, bends = {}, {}
        for i in self.order:
            parent, mine = self.bodies[i].parent, self._own_numbers(i, p)
            report = self.links[i].report(*_patterns(*frames[parent], gravity))
            given = [*frames[parent], gravity, *self._of(parent, q, v), *self._of(i, q, v)]
            *frames[i], energies[i], bends[i] = report(*given, mine)
        pose = self.links[tip].tip(*_patterns(*frames[tip][:2]))
        R, position = pose(*frames[tip][:2], *self._of(tip, q), self._own_numbers(tip, p))
        missing = self.residual(q, v, a, u, p)[plant.driven] if plant.driven else NO_VALUES
        total = sum(energies.values(), ca.MX.zeros(4))
        sides = ca.horzcat(*(bends[i] for i in range(len(self.bodies))))
        return self._function("report", [q, v, a, u], [total, R, position, missing, sides])


def _patterns(*matrices: Any) -> list[Any]:
    return [each.sparsity() for each in matrices]


def _spans(structure: Structure) -> dict[str, slice]:
    """Return the places of the numbers of each link, of its nodes and of the base among those of the robot."""
    found: dict[str, slice] = {}
    start = 0
    for each in structure.parameters.entries:
        first, _, rest = each.name.partition(".")
        owner = f"links.{rest.partition('.')[0]}" if first == "links" else first
        stop = start + len(each.names)
        found[owner] = slice(found[owner].start if owner in found else start, stop)
        nodes = f"{owner}.nodes."
        if each.name.startswith(nodes):
            found[nodes] = slice(found[nodes].start if nodes in found else start, stop)
        start = stop
    return found
