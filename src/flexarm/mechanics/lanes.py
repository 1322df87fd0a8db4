"""Generated C that computes several robots at once: each number becomes a vector of the processor, a lane a robot.

CasADi's C does arithmetic on `casadi_real`. Where that is a vector type of the compiler, sums and products need no
other words; what C says of numbers only (a constant, a comparison, a function of the library) is rewritten here, so
that each lane has the digits that it would have alone. Where a step asks whether to go on (an iteration, new factors),
it goes on if any lane wants to: that costs the others time, not accuracy.
"""

from __future__ import annotations

import re

from flexarm.mechanics.lane_arithmetic import FUNCTIONS, OF_TWO, arithmetic

_NUMBER = r"-?(?:casadi_inf|casadi_nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_X = r"(\w+(?:\[i\])?|\(\*\w+\+\+\))"  # a variable, or an entry in a loop
_COMPARED = {"<=": "le", "<": "lt", "==": "eq", "!=": "ne", "&&": "and", r"\|\|": "or"}
_REWRITTEN = [
    (re.compile(rf"^(\s*(?:a|w)\d+\s*=\s*)\(?({_NUMBER})\)?;$", re.M), r"\1lane_all(\2);"),
    *((re.compile(rf"(=\s*)\({_X}{sign}{_X}\);"), rf"\1lane_{name}(\2,\3);") for sign, name in _COMPARED.items()),
    (re.compile(rf"(=\s*)\(! ?{_X} ?\);"), r"\1lane_not(\2);"),
    (re.compile(rf"(=\s*)\({_X}\?{_X}:0\);"), r"\1lane_if(\2,\3);"),
    (re.compile(r"(\? arg\[\d+\]\[\d+\] : )0;"), r"\1lane_all(0.);"),
    (re.compile(r"if \((arg\[\d+\] \? )casadi_to_int\((\*arg\[\d+\])\)"), r"if (\1lane_any(\2)"),
    (re.compile(r"(\*[xy]\+\+ = )0\.?;"), r"\1lane_all(0.);"),
    (
        re.compile(r"(casadi_int n, )casadi_real alpha(\) \{.*?\*x\+\+ = )alpha;", re.S),
        r"\1double alpha\2lane_all(alpha);",
    ),
    (re.compile(r"(casadi_real \w+ ?= ?)0;"), r"\1lane_all(0.);"),
    (re.compile(r"casadi_real (\w+_default_in)"), r"double \1"),
]
_UNKNOWN = re.compile(r"casadi_to_int\(\*")  # a choice between more than two, which lanes cannot share
_CALL = re.compile(rf"(?<=[=(,*+/ -])({'|'.join(('sin', 'cos', *FUNCTIONS, *OF_TWO))})\(")
_CONSTANT = re.compile(r"^static const casadi_real (casadi_c\d+)\[(\d+)\] = \{([^}]*)\};", re.M)
_ASSIGNED = re.compile(r"^  (a\d+)=([^;]*);$")
_TURN = re.compile(r"^lane_(sin|cos)\((a\d+)\)$")
_HELPERS = {"fabs": "lane_fabs", "fmax": "lane_larger", "fmin": "lane_smaller", "sign": "lane_sign"}
_HELPER = re.compile(r"^casadi_real casadi_(\w+)\([^)]*\) \{(?:[^\n]*\}\n|\n.*?^\}\n)", re.M | re.S)


def in_lanes(source: str, lanes: int) -> str:
    """A program of CasADi's with a vector of so many numbers for each number; a ValueError where that cannot be."""
    source = _HELPER.sub(_helper, source)
    source = _CONSTANT.sub(_constant, source)
    for pattern, words in _REWRITTEN:
        source = pattern.sub(words, source)
    source = _paired(_CALL.sub(r"lane_\1(", source))
    plain = "#ifndef casadi_real\n#define casadi_real double\n#endif\n"
    if _UNKNOWN.search(source):
        raise ValueError("lanes cannot share a choice between several functions")
    if plain not in source:
        raise ValueError("this C was not written by a CasADi that is known")
    return source.replace(plain, arithmetic(lanes))


def _paired(source: str) -> str:
    """The same with sine and cosine of one angle computed together."""
    lines = source.split("\n")
    seen: dict[str, tuple[int, str, str]] = {}  # by angle: the line, function and result
    declared, made = 0, 0
    for number, line in enumerate(lines):
        if line.startswith("  casadi_real a"):
            declared = number
        found = _ASSIGNED.match(line)
        if found is None:
            if not line.startswith(" "):
                seen.clear()
            continue
        call = _TURN.match(found[2])
        pair = seen.get(call[2]) if call else None
        if call and pair and pair[1] != call[1]:
            later, made = f"b{made}", made + 1
            first, kind, result = pair
            lines[declared] += f" casadi_real {later};"
            if kind == "sin":
                lines[first] = f"  {result}=lane_both({call[2]},&{later});"
            else:
                lines[first] = f"  {later}=lane_both({call[2]},&{result});"
            lines[number] = f"  {found[1]}={later};"
            del seen[call[2]]
        for angle in [angle for angle in seen if angle == found[1]]:
            del seen[angle]
        if call and not pair and call[2] != found[1]:
            seen[call[2]] = (number, call[1], found[1])
    return "\n".join(lines)


def _helper(found: re.Match[str]) -> str:
    """CasADi's own helpers that compare numbers."""
    name = found[1]
    if name not in _HELPERS:
        return found[0]
    places = "x, y" if name in ("fmax", "fmin") else "x"
    typed = ", ".join(f"casadi_real {each}" for each in places.split(", "))
    return f"static inline casadi_real casadi_{name}({typed}) {{ return {_HELPERS[name]}({places}); }}\n"


def _constant(found: re.Match[str]) -> str:
    """An array of constants, each of which is the same in all lanes."""
    vectors = ", ".join(f"LANE_ALL({each.strip()})" for each in found[3].split(","))
    return f"static const casadi_real {found[1]}[{found[2]}] = {{{vectors}}};"
