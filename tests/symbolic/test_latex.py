"""Tests of the LaTeX document: completeness, balanced brackets, formulas that can be parsed."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from matplotlib.mathtext import MathTextParser

import flexarm as fa
from tests.symbolic.cases import GRAVITY, arm, bending, link


@pytest.fixture(scope="module")
def form():
    return fa.equations(arm(1, payload=fa.PointMass(0.1)))


@pytest.fixture(scope="module")
def document(form):
    return form.latex()


def test_document_is_complete_and_balanced(document):
    assert document.startswith("\\documentclass")
    assert document.endswith("\\end{document}\n")
    assert document.count("{") == document.count("}")
    assert document.count("\\left") == document.count("\\right")
    begun, ended = (re.findall(rf"\\{word}\{{(\w+\*?)\}}", document) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert document.count("\\[") == document.count("\\]")
    assert not re.search(r"\\\\\s*\[", document)  # a bracket after a line break would be read as its length


def test_every_symbol_is_defined(document, form):
    table = document[document.index("longtable}") : document.index("\\end{longtable}")]
    for each in [*form.parameters, *form.actuators, *(c.named for c in form._model.coordinates.all)]:
        assert f"${each.latex}$ & " in table
    assert "u_{1(3)}" in table
    assert "\\texttt{a.bend\\_y[1]}" in table


def test_formulas_can_be_parsed_and_lines_are_short(document):
    parser = MathTextParser("path")
    lines = []
    for block in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", document, re.S):
        lines += re.split(r"\\\\\n", block)
    assert len(lines) > 50
    for line in lines[::5]:  # parsing is slow
        formula = line.replace("&", "").replace("{}", "").replace("\\quad", "").strip()
        width = parser.parse(f"${formula}$", dpi=72).width / 10  # of letters of 10 points
        assert width < 75  # a line of the page has 17 cm, about 48 letters m


def test_small_matrices_stay_whole(document):
    assert "\\Theta_{12} = \\begin{bmatrix}" in document
    assert "\\cos{\\left(\\theta_{2} + u_{1(4)} \\right)}" in document
    assert "$\\mathbf{M}$ is symmetric." in document
    assert "\\psi_{1} ={}&" in document


def test_slides_and_modes_are_written_too():
    robot = fa.Robot("a_b", links=[link("a", "R", bending(1, "modes")), link("b", "Pa")], gravity=GRAVITY)
    written = fa.equations(robot).latex()
    assert "a\\_b" in written
    assert "\\eta_{1(1)}" in written
    assert "d_{2}" in written
    assert written.count("{") == written.count("}")


def test_names_are_escaped():
    written = fa.equations(fa.Robot("a^b{c}~\\d_e", links=[link("a", "R")])).latex()
    assert "a\\textasciicircum{}b\\{c\\}\\textasciitilde{}\\textbackslash{}d\\_e" in written


def test_long_products_are_written_with_letters_for_their_factors():
    shapes = fa.Flexible(bend_y=1, bend_z=1)
    links = [link("a", "R"), link("b", "R", joint=fa.Revolute("y")), link("c", "R", shapes, joint=fa.Revolute("y"))]
    written = fa.equations(fa.Robot(links=links)).latex()
    used, defined = (set(re.findall(pattern, written)) for pattern in (r"\\Sigma_\{\d+\}", r"(\\Sigma_\{\d+\}) =\{\}&"))
    assert used
    assert used == defined
    assert written.count("{") == written.count("}")


def test_letters_do_not_depend_on_the_order_of_sets():
    code = """import flexarm as fa
strip = {"section": fa.Section.rectangle(0.01, 0.02), "material": fa.Material(2e10, 7850.0)}
arm = fa.Robot(links=[fa.Link("a", 1.0, **strip, flexible=fa.Flexible(bend_y=1, stiffening="exact"))])
print(fa.equations(arm).latex())"""
    written = [
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True)
        for seed in ("1", "2")
    ]
    assert b"\\psi_{2}" in written[0].stdout
    assert written[0].stdout == written[1].stdout


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_it_compiles(document, tmp_path):
    (tmp_path / "arm.tex").write_text(document)
    subprocess.run(["pdflatex", "-halt-on-error", "arm.tex"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
