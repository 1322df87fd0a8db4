"""Code generation for closed forms: Python, C, MATLAB and plain text, with common subexpressions eliminated.

Generated functions take q and v in the order of `names` and the parameters p in the order of `parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from sympy.printing.c import C99CodePrinter
from sympy.printing.octave import OctaveCodePrinter
from sympy.printing.pycode import PythonCodePrinter

from flexarm._version import __version__
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import real_array, real_number
from flexarm.symbolic.algebra import share_subexpressions
from flexarm.symbolic.symbols import is_reserved_word

if TYPE_CHECKING:
    from flexarm.symbolic.closed_form import ClosedForm

MATRICES = ("M", "C", "K", "D", "G")


@dataclass(frozen=True)
class Listing:
    """Statements of a function: names of used symbols, assignments of intermediate values, and nonzero entries."""

    used: set[str]
    steps: list[tuple[Any, Any]]
    entries: dict[str, list[tuple[int, int, Any]]]


def build_listing(form: ClosedForm) -> Listing:
    places = [(name, i, j) for name in MATRICES for i, j in np.argwhere(form.rows[name] != 0).tolist()]
    expressions = [form.rows[name][i, j] for name, i, j in places]
    short = form.short.used(expressions)
    steps, found = share_subexpressions([*(value for _, value in short), *expressions])
    abbreviations = [sympy.sympify(name) for name, _ in short]
    steps = _sort_by_dependency([*steps, *zip(abbreviations, found, strict=False)])
    entries: dict[str, list[tuple[int, int, Any]]] = {name: [] for name in MATRICES}
    for (name, i, j), expression in zip(places, found[len(short) :], strict=True):
        entries[name].append((i, j, expression))
    steps, used = _drop_unused(steps, found[len(short) :])
    return Listing(used, steps, entries)


def _drop_unused(steps: list[tuple[Any, Any]], results: list[Any]) -> tuple[list[tuple[Any, Any]], set[str]]:
    """Return the assignments on which results depend, and the names of all symbols that are used."""
    used = {each.name for value in results for each in value.free_symbols}
    kept = []
    for name, value in reversed(steps):
        if name.name in used:
            kept.append((name, value))
            used |= {each.name for each in value.free_symbols}
    return kept[::-1], used


def _sort_by_dependency(steps: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Sort assignments so that each follows those that it depends on."""
    values, order = {name.name: (name, value) for name, value in steps}, TopologicalSorter[str]()
    for name, value in steps:
        order.add(name.name, *sorted(each.name for each in value.free_symbols if each.name in values))
    return [values[name] for name in order.static_order()]


def _header(form: ClosedForm, mark: str, first: int = 0) -> list[str]:
    """Return comment lines with the equation and the order of coordinates and parameters."""
    lines = [
        f"Equations of motion of {form.robot.name!r}, written by flexarm {__version__}:",
        "M(q) a + C(q, v) v + K q + D v + G(q) = F",
        *form.notes,
        "q and v, in this order:",
    ]
    for index, each in enumerate(form._model.coordinates.all, first):
        lines.append(f"  {index}  {each.named.symbol} = {each.name}: {each.named.meaning} ({each.named.unit})")
    lines += ["p, in this order:"] if form.parameters else []
    for index, named in enumerate(form.parameters, first):
        value = form.values[named.symbol]
        lines.append(f"  {index}  {named.symbol}: {named.meaning} ({named.unit}), {value!r}")
    if mark and (rows := _forces(form)):
        lines.append("F, to be computed by the caller; zero in other rows:")
        lines += [f"  {index + first}  {entry}" for index, entry in rows]
    return [f"{mark} {line}".rstrip() for line in lines]


def _forces(form: ClosedForm) -> list[tuple[int, str]]:
    """Return the nonzero rows of F."""
    return [(index, sympy.sstr(entry)) for index, entry in enumerate(form.F) if entry != 0]


def _assign_symbols(form: ClosedForm, used: set[str], pattern: str, first: int = 0) -> list[str]:
    """Return assignments such as `theta_1 = q[0]` for all symbols that are used."""
    coordinates = form._model.coordinates.all
    vectors = {
        "q": [each.named for each in coordinates],
        "v": [each.rate for each in coordinates],
        "p": form.parameters,
    }
    return [
        pattern.format(name=each.symbol, vector=vector, index=index)
        for vector, symbols in vectors.items()
        for index, each in enumerate(symbols, first)
        if each.symbol in used
    ]


def write_python(form: ClosedForm, name: str) -> str:
    _check_name(name)
    found, printer = form.listing, PythonCodePrinter({"fully_qualified_modules": True})
    n = len(form.names)
    lines = [*_header(form, "#"), "", "import math", "", "import numpy", ""]
    lines += [f"NAMES = {list(form.names)!r}"]
    lines += [f"PARAMETERS = {form.values!r}", "", ""]
    lines += [f"def {name}(q, v, p=None):"]
    lines += ['    """Return arrays M, C, K, D (n x n) and G (n) in a dict; p are the parameters in order, by default']
    lines += ['    those of the robot."""']
    if form.parameters:
        lines += ["    p = list(PARAMETERS.values()) if p is None else p"]
    lines += _assign_symbols(form, found.used, "    {name} = {vector}[{index}]")
    lines += [f"    {left} = {printer.doprint(right)}" for left, right in found.steps]
    for matrix in MATRICES:
        shape = f"({n},)" if matrix == "G" else f"({n}, {n})"
        lines.append(f"    {matrix} = numpy.zeros({shape})")
        for i, j, entry in found.entries[matrix]:
            index = f"{i}" if matrix == "G" else f"{i}, {j}"
            lines.append(f"    {matrix}[{index}] = {printer.doprint(entry)}")
    lines += [f"    return {{{', '.join(f'{each!r}: {each}' for each in MATRICES)}}}", ""]
    return "\n".join(lines)


def write_c(form: ClosedForm, name: str) -> str:
    _check_name(name)
    found, printer = form.listing, C99CodePrinter()
    n, count = len(form.names), len(form.parameters)
    lines = [*_header(form, "//"), "", "#include <math.h>", "#include <string.h>", ""]
    if count:
        values = ", ".join(repr(value) for value in form.values.values())
        lines += [f"const double {name}_parameters[{count}] = {{{values}}};", ""]
    lines += [f"// Matrices are {n} x {n}, row by row; p may be NULL for the robot's own parameters."]
    lines += [f"void {name}(const double *q, const double *v, const double *p,"]
    lines += [f"{' ' * (len(name) + 6)}double *M, double *C, double *K, double *D, double *G)", "{"]
    lines += [f"    if (!p) p = {name}_parameters;"] if count else ["    (void)p;"]
    lines += ["    (void)q;", "    (void)v;"]
    lines += _assign_symbols(form, found.used, "    const double {name} = {vector}[{index}];")
    lines += [f"    const double {left} = {printer.doprint(right)};" for left, right in found.steps]
    for matrix in MATRICES:
        width = 1 if matrix == "G" else n
        lines.append(f"    memset({matrix}, 0, {n * width} * sizeof(double));")
        for i, j, entry in found.entries[matrix]:
            lines.append(f"    {matrix}[{i * width + j}] = {printer.doprint(entry)};")
    return "\n".join([*lines, "}", ""])


def write_matlab(form: ClosedForm, name: str) -> str:
    _check_name(name)
    found, n, printer = form.listing, len(form.names), OctaveCodePrinter()

    def write(expression: Any) -> str:
        return re.sub(r"\.([*/^])", r"\1", printer.doprint(expression))  # operands are scalars

    lines = [f"function [M, C, K, D, G] = {name}(q, v, p)", *_header(form, "%", 1)]
    if form.parameters:
        values = "; ".join(repr(value) for value in form.values.values())
        lines += ["    if nargin < 3", f"        p = [{values}];", "    end"]
    lines += _assign_symbols(form, found.used, "    {name} = {vector}({index});", 1)
    lines += [f"    {left} = {write(right)};" for left, right in found.steps]
    for matrix in MATRICES:
        lines.append(f"    {matrix} = zeros({n}, {1 if matrix == 'G' else n});")
        for i, j, entry in found.entries[matrix]:
            lines.append(f"    {matrix}({i + 1}, {j + 1}) = {write(entry)};")
    return "\n".join([*lines, "end", ""])


def compile_function(form: ClosedForm) -> Callable[..., dict[str, Any]]:
    """Return the function of the generated Python module, with checks of its arguments."""
    scope: dict[str, Any] = {}
    exec(compile(write_python(form, "equations"), "<closed form>", "exec"), scope)
    generated, values = scope["equations"], form.values

    def evaluate(q: Any, v: Any = None, **parameters: float) -> dict[str, Any]:
        """Return arrays M, C, K, D and G at q and v; parameters by name replace those of the robot."""
        for name in parameters:
            if name not in values:
                raise ValueError(f"there is no parameter '{name}'{suggestion(name, list(values))}")
        given = {name: real_number(f"parameter '{name}'", value) for name, value in parameters.items()}
        state = [_vector(form.names, name, each).tolist() for name, each in (("q", q), ("v", v))]
        try:
            return generated(*state, list({**values, **given}.values()))  # type: ignore[no-any-return]
        except OverflowError:
            among = ", ".join(["q", "v", *given])
            raise ValueError(f"the equations overflow: one of {among} is too large") from None

    return evaluate


def _vector(names: tuple[str, ...], what: str, given: Any) -> Any:
    """Return coordinates or rates from an array, a mapping by name (zero for others), or None (all zero)."""
    out = np.zeros(len(names))
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                raise ValueError(f"{what}: there is no coordinate {name!r}{suggestion(str(name), list(names))}")
            out[names.index(name)] = real_number(f"{what}['{name}']", value)
    elif given is not None:
        out = real_array(what, given)
    if out.shape != (len(names),):
        raise ValueError(f"{what} has shape {out.shape}: must be ({len(names)},), one for each of eq.names")
    return out


def write_text(form: ClosedForm) -> str:
    """Return the nonzero entries as plain text."""
    lines = [line.rstrip() for line in _header(form, "", 1)]
    if short := form.short.used(entry for rows in form.rows.values() for entry in rows.flat):
        lines += ["", *(f"{name} = {sympy.sstr(sympy.sympify(value))}" for name, value in short)]
    for matrix in MATRICES:
        lines.append("")
        for i, j in np.argwhere(form.rows[matrix] != 0).tolist():
            index = f"{i + 1}" if matrix == "G" else f"{i + 1},{j + 1}"
            lines.append(f"{matrix}[{index}] = {sympy.sstr(sympy.sympify(form.rows[matrix][i, j]))}")
    lines += ["", *(f"F[{index + 1}] = {entry}" for index, entry in _forces(form))]
    return "\n".join(lines)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"name = {shown(name)}: a function's name must be letters, digits and _")
    if is_reserved_word(name):
        raise ValueError(f"name = '{name}': is a word of C, Python or MATLAB; choose another name")
