"""C source of CasADi functions, with long functions split so that compilers take less time for them.

CasADi writes a robot's equations as one function of thousands of assignments to local variables. A compiler's time
grows faster than the length of a function, so that fifty links would take minutes. Each piece here is a function of a
few hundred assignments; variables that a later piece still needs go through an array.
CasADi also asks at every number that is read or written whether its array is there. Here that is asked once for each
array: half of the code, where numbers are inputs, would be questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import casadi as ca

LONGEST = 400  # assignments

_NAME = re.compile(r"^static int (casadi_f\d+)\(const casadi_real\*\* arg, .*\{$")
_DECLARATION = "  casadi_real a"
_LOAD = re.compile(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0")
_STORE = re.compile(r"^  if \(res\[(\d+)\]!=0\) res\[\1\]\[(\d+)\]=([^;]*);$")
_ASSIGNMENT = re.compile(r"^  (a\d+)=([^;{}]*);$")
_VARIABLE = re.compile(r"\ba\d+\b")
_READ = re.compile(r"\bx(\d+)\[(\d+)\]")
_WRITTEN = re.compile(r"^  y(\d+)\[(\d+)\]=")


def generate_source(name: str, functions: Sequence[ca.Function]) -> str:
    """Return the C source of functions in one file, split into pieces for the compiler."""
    generator = ca.CodeGenerator(name, {"with_header": False})
    generator.add_include("stdlib.h")
    for function in functions:
        generator.add(function)
    return split(generator.dump())


def split(source: str) -> str:
    """The same program with its functions of assignments in pieces; anything else is left alone."""
    lines = source.split("\n")
    out: list[str] = []
    at = 0
    none = max((int(index) + 1 for _, index in _LOAD.findall(source)), default=0)
    first: int | None = None  # where the zeros that stand for arrays which are not there can be declared
    while at < len(lines):
        head = _NAME.match(lines[at])
        end = lines.index("}", at) if head else at
        pieces = _pieces(head[1], lines[at + 1 : end]) if head else None
        if pieces is None:
            out.append(lines[at])
            at += 1
        else:
            definitions, calls = pieces
            first = len(out) if first is None else first
            out += [*definitions, lines[at], *calls, "}"]
            at = end + 1
    if first is not None and none:
        out.insert(first, f"static const casadi_real none[{none}] = {{0}};")
    return "\n".join(out)


def _pieces(name: str, body: list[str]) -> tuple[list[str], list[str]] | None:
    """Functions for the pieces of a body, and the body that calls them; None if it is not understood."""
    statements = [line for line in body if not line.startswith(_DECLARATION)]
    if len(statements) < 2 or statements.pop() != "  return 0;":
        return None
    if not all(_ASSIGNMENT.match(line) or _STORE.match(line) for line in statements):
        return None
    statements = [_STORE.sub(r"  y\1[\2]=\3;", _LOAD.sub(r"x\1[\2]", line)) for line in statements]
    if len(statements) <= LONGEST:
        return [], [*_arrays(statements), _declared(*_reads_and_writes(statements)), *statements, "  return 0;"]
    parts = [statements[k : k + LONGEST] for k in range(0, len(statements), LONGEST)]
    needed, written = zip(*map(_reads_and_writes, parts), strict=True)
    later: set[str] = set()
    handed: list[set[str]] = []  # what each part must leave for those after it
    for reads, writes in zip(reversed(needed), reversed(written), strict=True):
        handed.insert(0, later)
        later = (later - writes) | reads
    place = {variable: k for k, variable in enumerate(sorted(set().union(*handed)))}
    definitions: list[str] = []
    for k, part in enumerate(parts):
        definitions += [
            f"static void {name}_{k}(const casadi_real** arg, casadi_real** res, casadi_real* kept) {{",
            *_arrays(part),
            _declared(needed[k], written[k]),
            *(f"  {variable}=kept[{place[variable]}];" for variable in sorted(needed[k])),
            *part,
            *(f"  kept[{place[variable]}]={variable};" for variable in sorted(written[k] & handed[k])),
            "}",
            "",
        ]
    calls = [f"  {name}_{k}(arg, res, kept);" for k in range(len(parts))]
    return definitions, [f"  casadi_real kept[{max(1, len(place))}];", *calls, "  return 0;"]


def _arrays(part: list[str]) -> list[str]:
    """Pointers to the arrays that a part reads and writes: to zeros, or to somewhere, where there is none."""
    sizes: dict[str, dict[int, int]] = {"x": {}, "y": {}}
    for line in part:
        written = [_WRITTEN.match(line)] if _WRITTEN.match(line) else []
        for kind, found in (("x", _READ.finditer(line)), ("y", written)):
            for each in found:
                assert each is not None
                array, index = int(each[1]), int(each[2])
                sizes[kind][array] = max(sizes[kind].get(array, 0), index + 1)
    out: list[str] = []
    out += [f"  const casadi_real* x{k} = arg[{k}] ? arg[{k}] : none;" for k in sorted(sizes["x"])]
    if sizes["y"]:
        out.append(f"  casadi_real nowhere[{max(sizes['y'].values())}];")
        out += [f"  casadi_real* y{k} = res[{k}] ? res[{k}] : nowhere;" for k in sorted(sizes["y"])]
    return out


def _declared(*variables: set[str]) -> str:
    names = sorted(set().union(*variables))
    return f"  casadi_real {', '.join(names)};" if names else ""


def _reads_and_writes(part: list[str]) -> tuple[set[str], set[str]]:
    """Variables that a part reads before it writes them, and those that it writes."""
    reads: set[str] = set()
    writes: set[str] = set()
    for line in part:
        assigned = _ASSIGNMENT.match(line)
        reads |= set(_VARIABLE.findall(assigned[2] if assigned else line)) - writes
        if assigned:
            writes.add(assigned[1])
    return reads, writes
