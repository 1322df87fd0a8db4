"""The symbols of a closed form: coordinates, rates, torques and parameters, with the papers' names."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from keyword import iskeyword, softkwlist

from flexarm.foundation.sentences import shown, suggestion
from flexarm.symbolic.algebra import Expr, number, symbol

# What generated functions call their arguments, results and intermediate values.
RESERVED = {"q", "v", "p", "M", "C", "K", "D", "G", "E", "I", "math", "numpy", "cos", "sin", "tanh", "sqrt", "pi"}
_INTERMEDIATE = re.compile(
    r"x\d*|(angle|sum)_\d+|(d*([NWTSHQL]|xf|uf|wf|c[xyz]|I[xyz]{1,2}|k[xyz])|t|us|ws|phis|sigma|chi)_\w+"
)

_C = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main memset "
    "NULL acos asin atan atan2 ceil cosh exp fabs floor fmod log pow sinh tan cbrt hypot fmin fmax"
)
_MATLAB = "case catch classdef end function global otherwise parfor persistent spmd switch zeros nargin Inf NaN i j"
WORDS = {*_C.split(), *_MATLAB.split(), *softkwlist, *dir(builtins), "NAMES", "PARAMETERS", "np"}
"""Words of C, Python and MATLAB that generated functions use, or that cannot be names there."""


def word_of_a_language(name: str) -> bool:
    return iskeyword(name) or name in WORDS or name in RESERVED


@dataclass(frozen=True)
class Named:
    """A symbol with what it means."""

    symbol: str
    latex: str
    meaning: str
    unit: str


class Symbols:
    """Makes every symbol of a closed form once, and refuses names that would mean two things.

    `parameters`: "symbolic", "numeric" (the robot's values stand in the equations), or the names of those to keep as
    symbols. `rename` maps names to other ones.
    """

    def __init__(self, parameters: str | Collection[str], rename: Mapping[str, str]) -> None:
        names = isinstance(parameters, Collection) and all(isinstance(each, str) for each in parameters)
        if not names or (isinstance(parameters, str) and parameters not in ("symbolic", "numeric")):
            raise ValueError(
                f"parameters = {shown(parameters)}: must be 'symbolic', 'numeric' or a list of the symbols to keep"
            )
        self._keep = parameters if isinstance(parameters, str) else set(parameters)
        if not isinstance(rename, Mapping):
            raise ValueError(f"rename = {shown(rename)}: must be a mapping from symbols to names, {{'m_1': 'mu'}}")
        for name, new in rename.items():
            if not isinstance(new, str):
                raise ValueError(f"rename '{name}' to {shown(new)}: must be a name")
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", new) or iskeyword(new):
                raise ValueError(f"rename '{name}' to {shown(new)}: must be letters, digits and _ that code can use")
            if new in RESERVED or _INTERMEDIATE.fullmatch(new):
                raise ValueError(f"rename '{name}' to '{new}': the generated functions use that name themselves")
            if word_of_a_language(new):
                raise ValueError(f"rename '{name}' to '{new}': is a word of C, Python or MATLAB; choose another name")
        self._rename = dict(rename)
        self._default_names: set[str] = set()
        self._known: set[str] = set()
        self.parameters: dict[str, Named] = {}
        self.values: dict[str, float] = {}

    def variable(self, name: str) -> str:
        """The name of a coordinate, a rate or a torque."""
        self._default_names.add(name)
        return self._rename.get(name, name)

    def parameter(self, name: str, value: float, meaning: str, unit: str, latex: str | None = None) -> Expr:
        """A parameter of the robot: a symbol, or its value."""
        self._known.add(name)
        if not (self._keep == "symbolic" or name in self._keep):
            return number(value)
        own = self.variable(name)
        if own in self.parameters and self.parameters[own].meaning != meaning:
            raise ValueError(_clash(own, [self.parameters[own].meaning, meaning]))
        self.parameters[own] = Named(own, latex or latex_name(own), meaning, unit)
        self.values[own] = float(value)
        return symbol(own)

    def check(self, variables: list[Named]) -> None:
        """Refuse clashes, names that cannot be written in code, and names that no symbol has."""
        meanings: dict[str, str] = {}
        for each in [*variables, *self.parameters.values()]:
            if each.symbol in meanings:
                raise ValueError(_clash(each.symbol, [meanings[each.symbol], each.meaning]))
            meanings[each.symbol] = each.meaning
        for name in self._rename:
            if name not in self._default_names:
                raise ValueError(f"rename: there is no symbol '{name}'{suggestion(name, sorted(self._default_names))}")
        if not isinstance(self._keep, str):
            for name in sorted(self._keep - self._known):
                raise ValueError(f"parameters: there is no symbol '{name}'{suggestion(name, sorted(self._known))}")


def _clash(name: str, meanings: list[str]) -> str:
    return f"the symbol '{name}' would mean two things: {' and '.join(meanings)}; choose another name for one of them"


def latex_name(name: str) -> str:
    """`theta_1` as \\theta_{1}, `u_1_3` as u_{1(3)}, `EI_1` as EI_{1}."""
    head, *rest = name.split("_")
    greek = {"alpha", "beta", "gamma", "eta", "theta", "kappa", "tau", "phi", "zeta", "sigma", "chi"}
    letter = "\\" + head if head in greek else head
    if not rest:
        return letter
    index = rest[0] + "".join(f"({each})" for each in rest[1:])
    return f"{letter}_{{{index}}}"


def rate_latex(latex: str) -> str:
    """The rate of a coordinate."""
    letter, underscore, index = latex.partition("_")
    return f"\\dot{{{letter}}}{underscore}{index}"
