"""Tables of values over time: CSV files and mappings, checked before anything is made of them.

The content of a file is never quoted: a table that a robot file names may be any file of the computer, and what is
printed may be seen by others. File, row and column say enough.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from flexarm.foundation.files import read_bytes
from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown, suggestion

MOST_BYTES = 100_000_000

TableSource = str | os.PathLike[str] | Mapping[str, Sequence[float]]


def points(source: TableSource, column: str | None = None) -> tuple[list[float], list[float]]:
    """Times and values of one column of a table: a CSV file with a header, the time first, or {"t": ..., name: ...}."""
    if isinstance(source, Mapping):
        columns, where = {str(name): _column(f"source: {name}", values) for name, values in source.items()}, "source"
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError(f"source = {shown(source)}: its columns must be equally long")
    elif isinstance(source, (str, os.PathLike)) and os.fspath(source):
        columns, where = _read(os.fspath(source)), f"table {os.fspath(source)}"
    else:
        raise ValueError(f"source = {shown(source)}: must be the name of a CSV file, or a mapping of columns")
    time, *others = columns or [""]
    if column is None and len(others) != 1:
        raise ValueError(f"{where}: has {len(others)} columns after the time; say which with column{_of(others)}")
    chosen = others[0] if column is None else column
    if chosen not in others:
        raise ValueError(f"{where}: column = {shown(column)}: there is no such column{suggestion(column, others)}")
    return columns[time].tolist(), columns[chosen].tolist()


def _column(where: str, values: object) -> Array:
    column = real_array(where, values)
    if column.ndim != 1 or not np.isfinite(column).all():
        raise ValueError(f"{where} = {shown(values)}: must be a list of finite numbers")
    return column


def _of(names: list[str]) -> str:
    return f": {suggestion('', names).removeprefix('; there are ')}" if names else ""


def _read(path: str) -> dict[str, Array]:
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"{path}: is empty; a table has a header and rows of numbers below it")
    (first, header), *body = rows
    if all(_number(cell) is not None for cell in header):
        raise ValueError(f"{path}:{first}: holds numbers, but a table begins with a header, such as t,torque")
    names = [name.strip() for name in header]
    if len(names) < 2:
        raise ValueError(f"{path}:{first}: the header has 1 column; a table has the time and at least one more")
    for k, name in enumerate(names):
        if not name or names.index(name) != k:
            raise ValueError(f"{path}:{first}: column {k + 1} of the header must have a name of its own")
    if len(body) < 2:
        raise ValueError(f"{path}: a table needs a header and at least two rows")
    values: list[list[float]] = [[] for _ in names]
    for line, row in body:
        if len(row) != len(names):
            raise ValueError(f"{path}:{line}: {len(row)} values in a row, but the header has {len(names)}")
        for k, cell in enumerate(row):
            number = _number(cell)
            if number is None or not math.isfinite(number):
                raise ValueError(f"{path}:{line}: column {k + 1}: must be a finite number")
            values[k].append(number)
        if len(values[0]) > 1 and values[0][-1] <= values[0][-2]:
            raise ValueError(f"{path}:{line}: column 1: times must ascend")
    return {name: np.array(column) for name, column in zip(names, values, strict=True)}


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, each with its line."""
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is not UTF-8 text") from None
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error:
        raise ValueError(f"{path}:{reader.line_num}: cannot be read as CSV") from None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
