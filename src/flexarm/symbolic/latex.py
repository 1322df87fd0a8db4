"""LaTeX document with the equations of a closed form and a table of their symbols."""

from __future__ import annotations

import re
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import sympy

from flexarm._version import __version__
from flexarm.symbolic.algebra import sympy_matrix

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
    derived = form.rows  # first, since it defines the abbreviations
    writer = _LatexWriter(form)
    parents = ("0" if parent is None else str(parent + 1) for parent in form.robot.parents)
    theta = [
        writer.matrix(f"\\Theta_{{{parent}{i}}}", T) for i, (parent, T) in enumerate(zip(parents, form.theta), start=1)
    ]
    matrices = [writer.matrix("\\mathbf{q}^{T}", form.q.T)]
    for name, rows in derived.items():
        symmetric = name in "MKD" and bool((rows == rows.T).all())
        matrices.append(writer.matrix(f"\\mathbf{{{name}}}", sympy_matrix(rows), symmetric))
    matrices.append(writer.matrix("\\mathbf{F}", form.F))
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
        *theta,
        "\\subsection*{Matrices}",
        writer.definitions(form),
        "Entries that are not listed are zero.",
        *matrices,
    ]
    return HEAD + "\n\n".join(part for part in body if part) + "\n\\end{document}\n"


class _LatexWriter:
    """Printer of expressions; letters replace sums within cosines and sines, and within long products."""

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
        if matrix.rows <= 30 and not any(map(_is_large, matrix)):
            plain = [[self.latex(_round_numbers(entry)) for entry in row] for row in matrix.tolist()]
            widths = [max(map(_estimate_width, column)) + 2 for column in zip(*plain, strict=True)]
            if sum(widths) <= MAX_LINE_WIDTH:
                rows = " \\\\\n".join(" & ".join(row) for row in plain)
                return f"\\[ {name} = \\begin{{bmatrix}}\n{rows}\n\\end{{bmatrix}} \\]"
        lines = []
        letter = re.sub(r"\\mathbf\{(\w)\}", r"\1", name)
        letter = f"({letter})" if letter.startswith("\\") else letter
        for i in range(matrix.rows):
            for j in range(i if symmetric else 0, matrix.cols):
                if matrix[i, j] != 0:
                    index = f"{max(i, j) + 1}" if 1 in matrix.shape else f"{i + 1},{j + 1}"
                    lines.append(self.equation(f"{letter}_{{{index}}}", matrix[i, j]))
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
        found = form.short.used(entry for rows in form.rows.values() for entry in rows.flat)
        pairs = [(self._names[sympy.sympify(name)], sympy.sympify(value)) for name, value in found]
        lines = [self.equation(*pair) for pair in pairs]
        sums: list[str] = []
        while len(sums) < len(self._sums):  # a sum may need others
            value, letter = list(self._sums.items())[len(sums)]
            sums.append(self.equation(self._names[letter], value))
        lines += [self.equation(self._names[letter], angle) for angle, letter in self._angles.items()]
        lines += reversed(sums)
        slopes = " (an index after a comma: derivative by that entry of $\\mathbf{q}$)"
        comma = slopes if any("," in name for name, _ in pairs) else ""
        return f"With{comma}\n{_align(lines)}" if lines else ""

    def latex(self, expression: Any) -> str:
        return str(sympy.latex(expression, symbol_names=self._names))

    def _terms(self, expression: Any) -> list[tuple[str, str]]:
        """Return the terms of a sum as (sign, text); long products are expanded or their factors get letters."""
        expression = self._replace_angles(_round_numbers(expression))
        out = []
        for term in sympy.Add.make_args(expression):
            parts = [term]
            if _is_large(term) or _estimate_width(self.latex(term)) > MAX_LINE_WIDTH:
                expand = _count_expanded_terms(term) <= MAX_EXPANDED_TERM_COUNT
                parts = list(sympy.Add.make_args(sympy.expand(term))) if expand else [self._replace_sums(term)]
            for part in parts:
                negative = part.could_extract_minus_sign()
                text = self.latex(-part if negative else part)
                out.append(("-" if negative else "+", f"\\left({text}\\right)" if part.is_Add else text))
        return out

    def _letter(self, letters: dict[Any, Any], expression: Any, name: str, latex: str) -> Any:
        """Return the letter that replaces an expression, a new one at first."""
        if expression not in letters:
            letters[expression] = sympy.Symbol(f"{name}_{len(letters) + 1}")
            self._names[letters[expression]] = f"{latex}_{{{len(letters)}}}"
        return letters[expression]

    def _replace_sums(self, expression: Any) -> Any:
        """Replace the outermost sums within a product by letters."""
        if expression.is_Add:
            return self._letter(self._sums, expression, "sum", "\\Sigma")
        return expression.func(*map(self._replace_sums, expression.args)) if expression.args else expression

    def _replace_angles(self, expression: Any) -> Any:
        """Replace the sums within cosines and sines by letters, in the order in which they occur."""
        swaps = {}
        for found in sympy.preorder_traversal(expression):
            if isinstance(found, (sympy.cos, sympy.sin)) and found.args[0].is_Add:
                swaps[found] = found.func(self._letter(self._angles, found.args[0], "angle", "\\psi"))
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


def _symbol_table(form: ClosedForm) -> str:
    coordinates = form._model.coordinates.all
    rows = [(each.named, f"\\texttt{{{_escape(each.name)}}}") for each in coordinates]
    rows += [(each, "") for each in form.actuators]
    rows += [(each, f"{form.values[each.symbol]:.6g}") for each in form.parameters]
    lines = (f"${each.latex}$ & {_escape(each.meaning)} & {_format_unit(each.unit)} & {end} \\\\" for each, end in rows)
    return "\\begin{longtable}{lp{0.5\\textwidth}ll}\n" + "\n".join(lines) + "\n\\end{longtable}"


def _format_unit(text: str) -> str:
    """Return a unit with its exponents as superscripts."""
    return re.sub(r"\^([\d/]+)|(?<=[a-z])(\d)", lambda found: f"$^{{{found[1] or found[2]}}}$", text)


def _escape(text: str) -> str:
    words = {"\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}"}
    return re.sub(r"[_%&#${}\\^~]", lambda found: words.get(found[0], f"\\{found[0]}"), " ".join(text.split()))
