"""LaTeX document with the equations of a closed form and a table of their symbols."""

from __future__ import annotations

import re
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import sympy

from flexarm._version import __version__
from flexarm.symbolic.algebra import matrix, to_sympy
from flexarm.symbolic.symbols import SymbolInfo

if TYPE_CHECKING:
    from flexarm.symbolic.closed_form import ClosedForm

MAX_LINE_WIDTH = 95  # characters
MAX_EXPANDED_TERM_COUNT = 24  # longer products are not expanded
MAX_BLOCK_LENGTH = 20_000  # characters of source in one align environment
MAX_INLINE_NODE_COUNT = 300  # larger expressions do not fit on a line
DIGITS = 6  # of floating-point numbers

HEAD = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath,longtable}
\setcounter{MaxMatrixCols}{40}
\allowdisplaybreaks
\begin{document}
"""
EQUATION = r"""\[ \mathbf{M}(\mathbf{q})\ddot{\mathbf{q}} + \mathbf{C}(\mathbf{q},\dot{\mathbf{q}})\dot{\mathbf{q}}
+ \mathbf{K}\mathbf{q} + \mathbf{D}\dot{\mathbf{q}} + \mathbf{G}(\mathbf{q}) = \mathbf{F} \]"""


def write_document(form: ClosedForm) -> str:
    """Return the LaTeX document."""
    parts = {name: matrix(rows) for name, rows in form.rows.items()}
    writer = _LatexWriter(form)
    body = [
        f"\\section*{{Equations of motion: {_escape(form.robot.name)}}}",
        f"Written by flexarm {__version__}.",
        *(_escape(note) for note in form.notes),
        f"Numbers are rounded to {DIGITS} digits.",
        EQUATION,
        "\\subsection*{Symbols}",
        _symbol_table(form),
        "\\subsection*{Transformation matrices}",
        "From the frame of the parent of each link, the ground for the first, to the link's own.",
        *(writer.matrix(f"\\Theta_{{{_parent_number(form, i)}{i + 1}}}", T) for i, T in enumerate(form.theta)),
        "\\subsection*{Matrices}",
        "Entries that are not listed are zero.",
        writer.matrix("\\mathbf{q}^{T}", form.q.T),
        writer.matrix("\\mathbf{M}", parts["M"], symmetric=True),
        writer.matrix("\\mathbf{C}", parts["C"]),
        writer.matrix("\\mathbf{K}", parts["K"], symmetric=parts["K"].is_symmetric()),
        writer.matrix("\\mathbf{D}", parts["D"], symmetric=parts["D"].is_symmetric()),
        writer.matrix("\\mathbf{G}", parts["G"]),
        writer.matrix("\\mathbf{F}", form.F),
    ]
    body.insert(body.index("\\subsection*{Matrices}") + 1, writer.definitions(form))
    return HEAD + "\n\n".join(part for part in body if part) + "\n\\end{document}\n"


class _LatexWriter:
    """Printer of expressions with the symbols of the papers.

    Sums within cosines and sines, and within long products, are replaced by letters.
    """

    def __init__(self, form: ClosedForm) -> None:
        symbols = [*form.variables, *form.parameters]
        self._names: dict[Any, str] = {sympy.Symbol(each.symbol): each.latex for each in symbols}
        self._names |= {sympy.Symbol(name): latex for name, latex in form.short.latex.items()}
        self._angles: dict[Any, Any] = {}
        self._sums: dict[Any, Any] = {}

    def matrix(self, name: str, matrix: Any, symmetric: bool = False) -> str:
        """Return a matrix in brackets if it fits on a line, else its nonzero entries."""
        if not any(matrix):
            return f"\\[ {name} = \\mathbf{{0}} \\]"
        if matrix.rows <= 30 and not any(_is_large(to_sympy(entry)) for entry in matrix):
            plain = [[self.latex(to_sympy(entry)) for entry in row] for row in matrix.tolist()]
            if (
                sum(max(_estimate_width(row[column]) for row in plain) + 2 for column in range(matrix.cols))
                <= MAX_LINE_WIDTH
            ):
                rows = " \\\\\n".join(" & ".join(row) for row in plain)
                return f"\\[ {name} = \\begin{{bmatrix}}\n{rows}\n\\end{{bmatrix}} \\]"
        lines = []
        for i in range(matrix.rows):
            for j in range(i if symmetric else 0, matrix.cols):
                if matrix[i, j] != 0:
                    vector = 1 in matrix.shape
                    index = f"{max(i, j) + 1}" if vector else f"{i + 1},{j + 1}"
                    lines.append(self.equation(_entry_name(name, index), matrix[i, j]))
        remark = f"${name}$ is symmetric.\n" if symmetric else ""
        return remark + _align(lines)

    def equation(self, left: str, expression: Any) -> str:
        """Return an equation for an align environment, with line breaks between terms."""
        lines, width = [f"{left} ={{}}& "], 0
        for index, (sign, term) in enumerate(self._terms(expression)):
            text = term if not index and sign == "+" else f"{sign} {term}"
            size = _estimate_width(text)
            if width and width + size > MAX_LINE_WIDTH:
                lines.append("& \\quad ")
                width = 0
            lines[-1] += f" {text}"
            width += size
        return " \\\\\n".join(lines)

    def definitions(self, form: ClosedForm) -> str:
        """Return the definitions of abbreviations and of the letters for sums and angles."""
        entries = [entry for rows in form.rows.values() for row in rows for entry in row]
        found = [(to_sympy(name), to_sympy(value)) for name, value in form.short.used(entries)]
        lines = [self.equation(self._names[name], value) for name, value in found]
        sums: list[str] = []
        while len(sums) < len(self._sums):  # a sum may need others
            value, letter = next(islice(self._sums.items(), len(sums), None))
            sums.append(self.equation(self._names[letter], value))
        angles = [self.equation(self._names[letter], angle) for angle, letter in self._angles.items()]
        lines += [*angles, *reversed(sums)]
        slopes = " (an index after a comma: derivative by that entry of $\\mathbf{q}$)"
        comma = slopes if any("," in self._names[name] for name, _ in found) else ""
        return f"With{comma}\n{_align(lines)}" if lines else ""

    def latex(self, expression: Any) -> str:
        """Return an expression on one line, without letters for angles."""
        return str(sympy.latex(_round_numbers(expression), symbol_names=self._names))

    def _terms(self, expression: Any) -> list[tuple[str, str]]:
        """Return the terms of a sum as (sign, text).

        Products that do not fit on a line are expanded or, if that has too many terms, their factors get letters.
        """
        expression = self._replace_angles(_round_numbers(expression))
        out = []
        for term in sympy.Add.make_args(expression):
            parts = [term]
            if _is_large(term) or _estimate_width(sympy.latex(term, symbol_names=self._names)) > MAX_LINE_WIDTH:
                expand = _count_expanded_terms(term) <= MAX_EXPANDED_TERM_COUNT
                parts = list(sympy.Add.make_args(sympy.expand(term))) if expand else [self._replace_sums(term)]
            for part in parts:
                negative = part.could_extract_minus_sign()
                text = str(sympy.latex(-part if negative else part, symbol_names=self._names))
                if isinstance(part, sympy.Add):
                    text = f"\\left({text}\\right)"
                out.append(("-" if negative else "+", text))
        return out

    def _replace_sums(self, expression: Any) -> Any:
        """Replace the outermost sums within a product by letters."""
        if isinstance(expression, sympy.Add):
            if expression not in self._sums:
                letter = sympy.Symbol(f"sum_{len(self._sums) + 1}")
                self._sums[expression] = letter
                self._names[letter] = f"\\Sigma_{{{len(self._sums)}}}"
            return self._sums[expression]
        if not expression.args:
            return expression
        return expression.func(*(self._replace_sums(each) for each in expression.args))

    def _replace_angles(self, expression: Any) -> Any:
        swaps = {}
        for found in expression.atoms(sympy.cos, sympy.sin):
            angle = found.args[0]
            if isinstance(angle, sympy.Add):
                if angle not in self._angles:
                    letter = sympy.Symbol(f"angle_{len(self._angles) + 1}")
                    self._angles[angle] = letter
                    self._names[letter] = f"\\psi_{{{len(self._angles)}}}"
                swaps[found] = found.func(self._angles[angle])
        return expression.xreplace(swaps)


def _is_large(expression: Any) -> bool:
    return next(islice(sympy.preorder_traversal(expression), MAX_INLINE_NODE_COUNT, None), None) is not None


def _count_expanded_terms(expression: Any) -> int:
    """Estimate the number of terms of an expanded product."""
    if isinstance(expression, sympy.Add):
        return sum(map(_count_expanded_terms, expression.args))
    if isinstance(expression, sympy.Mul):
        return prod(map(_count_expanded_terms, expression.args))
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and expression.exp > 0:
        return int(_count_expanded_terms(expression.base) ** int(expression.exp))
    return 1


def _round_numbers(expression: Any) -> Any:
    return expression.xreplace({each: sympy.Float(each, DIGITS) for each in expression.atoms(sympy.Float)})


def _estimate_width(text: str) -> int:
    """Estimate the printed width of a formula in characters."""
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", lambda m: max(m.groups(), key=len), text)
    text = re.sub(r"\\(left|right|quad|dot|mathbf)", "", text)
    return len(re.sub(r"[{}_^\s]", "", re.sub(r"\\[a-zA-Z]+", "a", text)))


def _align(equations: list[str]) -> str:
    """Return equations in align environments of limited length, which TeX keeps in memory."""
    blocks: list[list[str]] = [[]]
    for each in equations:
        if blocks[-1] and sum(len(one) for one in blocks[-1]) + len(each) > MAX_BLOCK_LENGTH:
            blocks.append([])
        blocks[-1].append(each)
    return "\n".join("\\begin{align*}\n" + " \\\\\n".join(block) + "\n\\end{align*}" for block in blocks)


def _entry_name(name: str, index: str) -> str:
    letter = re.sub(r"\\mathbf\{(\w)\}", r"\1", name)
    return f"({letter})_{{{index}}}" if letter.startswith("\\") else f"{letter}_{{{index}}}"


def _parent_number(form: ClosedForm, i: int) -> str:
    parent = form.robot.parents[i]
    return "0" if parent is None else str(parent + 1)


def _symbol_table(form: ClosedForm) -> str:
    names = {each.named.symbol: each.name for each in form._model.coordinates.all}

    def row(each: SymbolInfo, value: str) -> str:
        return f"${each.latex}$ & {_escape(each.meaning)} & {_format_unit(each.unit)} & {value} \\\\"

    coordinates = [each.named for each in form._model.coordinates.all]
    rows = [row(each, f"\\texttt{{{_escape(names[each.symbol])}}}") for each in coordinates]
    rows += [row(each, "") for each in form.actuators]
    rows += [row(each, f"{form.values[each.symbol]:.6g}") for each in form.parameters]
    return "\\begin{longtable}{lp{0.5\\textwidth}ll}\n" + "\n".join(rows) + "\n\\end{longtable}"


def _format_unit(text: str) -> str:
    """Return a unit with its exponents as superscripts."""
    return re.sub(r"\^([\d/]+)|(?<=[a-z])(\d)", lambda found: f"$^{{{found[1] or found[2]}}}$", text)


def _escape(text: str) -> str:
    words = {"\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}"}
    return re.sub(r"[_%&#${}\\^~]", lambda found: words.get(found[0], f"\\{found[0]}"), " ".join(text.split()))
