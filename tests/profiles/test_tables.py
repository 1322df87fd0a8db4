import os
import subprocess
import sys

import pytest

import flexarm as fa
from flexarm.profiles import standard


@pytest.fixture
def file(tmp_path):
    return tmp_path / "torque.csv"


def said(source, column=None):
    with pytest.raises((ValueError, OSError)) as caught:
        fa.table(source, column)
    return str(caught.value)


def test_columns_by_name_with_marks_blanks_and_empty_lines(file):
    file.write_bytes(b"\xef\xbb\xbft, upper ,fore\r\n0,0,1\r\n\r\n1,1,1\r\n2,4,1\r\n3,9,1\r\n")
    assert fa.table(file, "upper")(1.5) == pytest.approx(2.25)  # a parabola is its own spline
    assert fa.table(str(file), "fore")(0.3) == pytest.approx(1.0)


def test_a_file_without_a_header_is_refused_rather_than_robbed_of_its_first_row(file):
    file.write_text("0,5\n1,1\n2,4\n3,9\n")
    assert said(file) == f"{file}:1: holds numbers, but a table begins with a header, such as t,torque"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ": is empty; a table has a header and rows of numbers below it"),
        ("t\n0\n1\n", ":1: the header has 1 column; a table has the time and at least one more"),
        ("t,x\n0,0\n", ": a table needs a header and at least two rows"),
        ("t,x,x\n0,0,1\n1,1,1\n", ":1: column 3 of the header must have a name of its own"),
        ("t,x,\n0,0,1\n1,1,1\n", ":1: column 3 of the header must have a name of its own"),
        ("t,x\n0,0\n\n1,secret\n", ":4: column 2: must be a finite number"),
        ("t,x\n0,0\n1,nan\n", ":3: column 2: must be a finite number"),
        ("t,x\n0,0\ninf,1\n", ":3: column 1: must be a finite number"),
        ("t,x\n0,0\n1,1,1\n", ":3: 3 values in a row, but the header has 2"),
        ("t,x\n0,0\n2,1\n1,1\n", ":4: column 1: times must ascend"),
        ("t,x\n0,0\n1,\0\n", ":3: column 2: must be a finite number"),
    ],
)
def test_what_is_wrong_is_told_by_row_and_column_without_quoting_the_file(file, text, sentence):
    file.write_text(text)
    assert said(file) == f"{file}{sentence}"


def test_other_files_are_not_printed(file):
    file.write_text("root:x:0:0:root:/root:/bin/bash\nsecret:x:1:1:a,b:/home:/bin/sh\n")
    assert "bash" not in said(file)
    assert "secret" not in said(file)
    file.write_bytes(b"\xff\xfe secret")
    assert said(file) == f"{file}: is not UTF-8 text"


def test_unknown_columns_are_told_with_the_nearest(file):
    file.write_text("t,upper,fore\n0,0,1\n1,1,1\n")
    assert said(file) == f"table {file}: has 2 columns after the time; choose one with column: upper, fore"
    assert said(file, "uper").endswith("column = 'uper': there is no such column; did you mean 'upper'?")


def test_tables_come_from_regular_files_of_bounded_size(file, tmp_path, monkeypatch):
    assert said(tmp_path) == f"{tmp_path}: is a directory, not a file"
    assert said(tmp_path / "none.csv") == f"{tmp_path}/none.csv: there is no such file"
    monkeypatch.setattr(standard, "MOST_BYTES", 10)
    file.write_text("t,x\n0,0\n1,1\n")
    assert said(file) == f"{file}: is larger than 10 bytes, which is the most that is read"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_pipes_and_endless_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    code = "import sys, flexarm as fa; fa.table(sys.argv[1])"
    for path in (tmp_path / "pipe", "/dev/zero"):
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
        assert done.stderr.splitlines()[-1] == f"OSError: {path}: is a pipe, a device or the like, not a file"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({"t": [0, 1], "x": [0, float("nan")]}, "source: x = [0, nan]: must be a list of finite numbers"),
        ({"t": [0, 1], "x": ["a", "b"]}, "source: x = ['a', 'b']: must be an array of real numbers, not of text"),
        ({"t": [0, 1], "x": 3}, "source: x = 3: must be a list of finite numbers"),
        ({"t": [0, 1]}, "source: has 0 columns after the time; choose one with column"),
        ({}, "source: has 0 columns after the time; choose one with column"),
        (3, "source = 3: must be the name of a CSV file, or a mapping of columns"),
        ("", "source = '': must be the name of a CSV file, or a mapping of columns"),
    ],
)
def test_wrong_sources_are_named(source, sentence):
    assert said(source) == sentence
