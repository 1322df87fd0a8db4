"""Long functions of generated C cut into pieces.

CasADi writes a robot's equations as one function of thousands of assignments to local variables. A compiler's time
grows faster than the length of a function, so that fifty links would take minutes. Each piece here is a function of a
few hundred assignments; variables that a later piece still needs go through an array.
"""

from __future__ import annotations

import re

LONGEST = 400  # assignments

_NAME = re.compile(r"^static int (casadi_f\d+)\(const casadi_real\*\* arg, .*\{$")
_DECLARATION = "  casadi_real a"
_STORE = re.compile(r"^  if \(res\[\d+\]!=0\) res\[\d+\]\[\d+\]=[^;]*;$")
_ASSIGNMENT = re.compile(r"^  (a\d+)=([^;{}]*);$")
_VARIABLE = re.compile(r"\ba\d+\b")


def split(source: str) -> str:
    """The same program with its long functions in pieces; anything that is not what CasADi writes is left alone."""
    lines = source.split("\n")
    out: list[str] = []
    at = 0
    while at < len(lines):
        head = _NAME.match(lines[at])
        end = lines.index("}", at) if head else at
        pieces = _pieces(head[1], lines[at + 1 : end]) if head else None
        if pieces is None:
            out.append(lines[at])
            at += 1
        else:
            definitions, calls = pieces
            out += [*definitions, lines[at], *calls, "}"]
            at = end + 1
    return "\n".join(out)


def _pieces(name: str, body: list[str]) -> tuple[list[str], list[str]] | None:
    """Functions for the pieces of a body, and the body that calls them; None if it is short, or not understood."""
    statements = [line for line in body if not line.startswith(_DECLARATION)]
    if len(statements) <= LONGEST or statements.pop() != "  return 0;":
        return None
    if not all(_ASSIGNMENT.match(line) or _STORE.match(line) for line in statements):
        return None
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
            f"  casadi_real {', '.join(sorted(needed[k] | written[k]))};",
            *(f"  {variable}=kept[{place[variable]}];" for variable in sorted(needed[k])),
            *part,
            *(f"  kept[{place[variable]}]={variable};" for variable in sorted(written[k] & handed[k])),
            "}",
            "",
        ]
    calls = [f"  {name}_{k}(arg, res, kept);" for k in range(len(parts))]
    return definitions, [f"  casadi_real kept[{max(1, len(place))}];", *calls, "  return 0;"]


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
