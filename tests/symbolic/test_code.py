"""Tests of generated functions, which are run, compiled if necessary, and compared with each other."""

import ctypes
import re
import shutil
import subprocess
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from tests.symbolic.cases import BAR, GRAVITY, KINDS, LUMP, STEEL, arm, bending, link


def forms():
    slide = fa.Robot(
        "slide", links=[link("a", "R", bending(1, "modes")), link("b", "Pa", payload=LUMP)], gravity=GRAVITY
    )
    return [fa.equations(arm(1)), fa.equations(slide), fa.equations(arm(1).rigid(), parameters="numeric")]


FORMS = forms()


def state(form):
    return np.random.default_rng(0).uniform(0.1, 0.4, (2, len(form.names)))


def same(one, two):
    for name in ("M", "C", "K", "D", "G"):
        assert np.allclose(one[name], two[name], rtol=1e-13, atol=1e-13 * np.abs(two[name]).max(initial=0.0)), name


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_python_runs_by_itself(form, tmp_path):
    (tmp_path / "generated.py").write_text(form.python("motion"))
    scope = {}
    exec((tmp_path / "generated.py").read_text(), scope)
    q, v = state(form)
    assert scope["NAMES"] == list(form.names)
    assert scope["PARAMETERS"] == form.values
    same(scope["motion"](q, v), form.lambdify()(q, v))
    if form.values:
        doubled = {name: 2 * value for name, value in form.values.items()}
        same(scope["motion"](q, v, list(doubled.values())), form.lambdify()(q, v, **doubled))


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_c_compiles_without_warnings_and_gives_the_same(form, tmp_path):
    source, library = tmp_path / "motion.c", tmp_path / "motion.so"
    source.write_text(form.c("motion"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    q, v = state(form)
    n = len(q)
    out = {name: np.full((n, n), np.nan) for name in "MCKD"} | {"G": np.full(n, np.nan)}

    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    own = np.array(list(form.values.values()))
    for parameters in (None, pointer(own)):
        ctypes.CDLL(str(library)).motion(pointer(q), pointer(v), parameters, *map(pointer, out.values()))
        same(out, form.lambdify()(q, v))


def unused(form, tmp_path) -> str:
    """Return the error output of a compiler for the generated C."""
    source = tmp_path / "motion.c"
    source.write_text(form.c())
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wunused", "-Werror", "-fsyntax-only"]
    return subprocess.run(["cc", *flags, str(source)], capture_output=True, text=True).stderr


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("space", [False, True], ids=["planar", "spatial"])
@pytest.mark.parametrize(("first", "second"), [*product(KINDS, KINDS)])
def test_c_has_no_unused_variables(first, second, space, tmp_path):
    """Check all pairs of joints, with one link of second order and one of zero order."""
    hinges = (fa.Revolute("z"), fa.Revolute("y")) if space else (None, None)
    shapes = fa.Flexible(**{"bend_z" if space else "stretch": 1}, stiffening="shortening")
    links = [
        link("a", first, shapes, joint=hinges[0] if first == "R" else None),
        link("b", second, bending(1, "modes"), 0.7, payload=LUMP, joint=hinges[1] if second == "R" else None),
    ]
    assert not unused(fa.equations(fa.Robot(links=links, gravity=GRAVITY)), tmp_path)


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_statements_that_cancel_are_dropped(tmp_path):
    """Check a robot in which terms cancel, so that a common subexpression is not used."""
    along, across = (fa.Flexible(**{family: 1}, basis="elements", stiffening="none") for family in ("twist", "bend_z"))
    lump = fa.PointMass(0.3, offset=(0.05, 0.02, 0.03), inertia=(0.01, 0.02, 0.025))
    links = [
        fa.Link("a", 0.8, fa.Revolute("z"), BAR, STEEL, across, payload=lump, rotary_inertia=True),
        fa.Link("b", 0.8, fa.FixedPrismatic(rear="flexible"), BAR, STEEL, along, payload=lump),
    ]
    form = fa.equations(fa.Robot(links=links, gravity=(1, 2, 3)), parameters="numeric")
    assert not unused(form, tmp_path)


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="no Octave")
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_matlab_runs_in_octave(form, tmp_path):
    (tmp_path / "motion.m").write_text(form.matlab("motion"))
    q, v = state(form)
    vectors = ", ".join("[" + "; ".join(map(repr, each.tolist())) + "]" for each in (q, v))
    names = "', '".join("MCKDG")
    script = f"[M, C, K, D, G] = motion({vectors}); for n = {{'{names}'}} disp(sprintf('%.17g ', eval(n{{1}})')); end"
    done = subprocess.run(["octave-cli", "--eval", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    reference = form.lambdify()(q, v)
    rows = [np.array(line.split(), dtype=float) for line in done.stdout.splitlines()]
    same(dict(zip("MCKDG", [row.reshape(reference[n].shape) for n, row in zip("MCKDG", rows)], strict=True)), reference)


def test_matlab_has_the_statements_of_python():
    """Evaluate the MATLAB statements in Python, without Octave."""
    form = FORMS[0]
    written = form.matlab("motion")
    assert written.startswith("function [M, C, K, D, G] = motion(q, v, p)\n% Equations of motion of 'arm'")
    assert "theta_2 = q(4);" in written
    assert "%   4  theta_2 = b.q: angle of joint 2 (b) (rad)" in written
    assert "M(6, 6) =" in written
    assert "**" not in written
    assert ".*" not in written
    scope = {"cos": np.cos, "sin": np.sin, "sqrt": np.sqrt}
    q, v = state(form)
    for name, values in (("q", q), ("v", v), ("p", list(form.values.values()))):
        scope[name] = lambda place, values=values: values[place - 1]
    for name in "MCKDG":
        scope[name + "_"] = np.zeros((len(q), len(q)))
    for line in written.splitlines():
        line = line.strip().rstrip(";").replace("^", "**")
        if " = " not in line or line.startswith(("%", "function", "p = ")) or "zeros(" in line:
            continue
        left, right = line.split(" = ")
        if "(" in left:
            name, place = left[0], eval(left[1:])
            scope[name + "_"][place[0] - 1, place[1] - 1] = eval(right, scope)
        else:
            scope[left] = eval(right, scope)
    reference = form.lambdify()(q, v)
    assert np.allclose(scope["M_"], reference["M"], rtol=1e-13)
    assert np.allclose(scope["C_"], reference["C"], rtol=1e-12, atol=1e-15)
    assert np.allclose(scope["G_"][:, 0], reference["G"], rtol=1e-13)


def test_every_function_names_its_coordinates_and_parameters():
    for form in FORMS[:2]:
        for written in (form.python(), form.c(), form.matlab()):
            assert all(name in written for name in form.names)
            assert all(named.meaning in written for named in form.parameters)
            assert "M(q) a + C(q, v) v + K q + D v + G(q) = F" in written


def test_elastic_coordinates_have_units():
    """Check that the units of coordinates make terms of the kinetic energy joules."""
    joints = {"modes": fa.Revolute("z"), "elements": fa.Revolute("y"), "reduced": fa.Revolute("y")}
    bases = {"modes": "modes", "elements": "elements", "reduced": fa.Reduced(elements=4, interface="fixed")}
    links = []
    for name, basis in bases.items():
        flexible = fa.Flexible(bend_y=1 if basis == "elements" else 3, twist=1, basis=basis, stiffening="none")
        links.append(link(name, "R", flexible, joint=joints[name]))
    form = fa.equations(fa.Robot(links=links), limit=1e6, parameters="numeric")
    units = {each.name: each.named.unit for each in form._model.coordinates.all}
    modal = "m kg^1/2"
    assert units["modes.bend_y[1]"] == units["modes.twist[1]"] == units["reduced.bend_y[3]"] == modal
    assert [units[f"elements.bend_y[{k}]"] for k in (1, 2)] == ["m", "rad"]
    assert [units[f"reduced.bend_y[{k}]"] for k in (1, 2)] == ["m", "rad"]
    assert units["elements.twist[1]"] == units["reduced.twist[1]"] == "rad"
    small = fa.equations(fa.Robot(links=[link("a", "R", bending(1, "modes"))]))
    assert "m kg$^{1/2}$" in small.latex()
    assert "(m kg^1/2)" in small.c()
    assert "(-)" not in small.c()
    assert [each.unit for each in small.variables] == ["rad", modal, "rad/s", f"{modal}/s", "N m"]


def size_of(unit: str, length: float, mass: float) -> float:
    """Return the factor of values of a unit if lengths and masses have factors."""
    over, _, under = unit.replace("^1/2", "^0.5").partition("/")
    sizes = {"m": length, "kg": mass, "N": length * mass, "rad": 1.0, "s": 1.0, "-": 1.0, "1": 1.0}
    found = 1.0
    for side, sign in ((over, 1), (under, -1)):
        for each in side.split():
            name, power = re.fullmatch(r"([A-Za-z]+|1|-)\^?([0-9.]*)", each).groups()
            found *= sizes[name] ** (sign * float(power or 1))
    return found


@pytest.mark.parametrize("joint", [fa.Revolute("y"), fa.FixedPrismatic(rear="flexible")], ids=["hinge", "slide"])
@pytest.mark.parametrize(
    "shapes",
    [
        {"bend_y": 2, "stiffening": "none", "basis": "elements"},
        {"bend_y": 1, "bend_z": 1, "twist": 1, "stretch": 1, "basis": "elements"},
        {"bend_y": 1, "bend_z": 1, "twist": 1, "stretch": 1},
        {"bend_y": 1, "twist": 1, "stretch": 1, "basis": fa.Reduced(elements=4, interface="fixed")},
    ],
    ids=["mesh", "elements", "modes", "reduced"],
)
def test_units_agree_with_the_scaling_of_values(shapes, joint):
    """Scale the lengths and masses of a robot, and check the factors of parameters and matrices by their units."""
    flexible = fa.Flexible(**{"stiffening": "shortening"} | shapes)

    def form(length, mass):
        steel = fa.Material(E=2e10 * mass / length, rho=7850.0 * mass / length**3, damping=1e-3)
        bar = fa.Section.rectangle(0.01 * length, 0.02 * length)
        lump = fa.PointMass(0.3 * mass, offset=(0.05 * length, 0, 0.01 * length), inertia=0.01 * mass * length**2)
        links = [fa.Link("a", 0.8 * length, joint, bar, steel, flexible, payload=lump)]
        return fa.equations(fa.Robot(links=links, gravity=(length, 2 * length, -9 * length)))

    factors = 1.7, 2.3
    small, large = form(1.0, 1.0), form(*factors)
    for each in small.parameters:
        expected = size_of(each.unit, *factors) * small.values[each.symbol]
        assert large.values[each.symbol] == pytest.approx(expected, rel=1e-9), each
    growth = np.array([size_of(each.named.unit, *factors) for each in small._model.coordinates.all])
    q, v = np.random.default_rng(0).uniform(0.01, 0.03, (2, len(growth)))
    q[0] = 0.5
    found, grown = small.lambdify()(q, v), large.lambdify()(growth * q, growth * v)
    energy = factors[0] ** 2 * factors[1]
    for name in "MCKD":
        expected = energy * found[name] / np.outer(growth, growth)
        assert_allclose(grown[name], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_allclose(grown["G"], energy * found["G"] / growth, rtol=1e-9, atol=1e-9 * np.abs(grown["G"]).max())


def test_text_lists_entries():
    assert "K[2,2] = 12*EI_1/l_1**3" in fa.equations(arm(1)).text()


def test_coordinates_by_name():
    form = FORMS[0]
    q = np.zeros(len(form.names))
    q[3] = 0.5
    same(form.lambdify()({form.names[3]: 0.5}, {form.names[3]: 0.5}), form.lambdify()(q, q))


def test_neglected_effects_are_stated_in_all_formats():
    hinge = fa.Revolute("z", coulomb=0.1, drive=fa.Drive(50.0, 0.1, 0.02))
    robot = fa.Robot(links=[fa.Link("a", 1.0, hinge, mass=1.0)], constraints=[fa.OnPlane("a", normal="y")])
    form = fa.equations(robot)
    written = (form.text(), form.python(), form.c(), form.matlab(), form.latex())
    for each in written:
        assert "Constraints are left out: these are the equations of the open tree." in each
        assert "Coulomb friction stands in F only" in each
    assert "F[1] = -f_1*tanh(" in written[0]
    assert "F[2] = tau_1" in written[0]
    assert " 1  theta_1 = a.q" in written[0]
    assert "#   1  tau_1" in written[1]


def test_wrong_arguments_raise_errors():
    form = FORMS[0]
    evaluate = form.lambdify()
    with pytest.raises(ValueError, match=r"q has shape \(3,\): must be \(6,\), one for each of eq\.names"):
        evaluate(np.zeros(3))
    with pytest.raises(ValueError, match="there is no parameter 'l_9'"):
        evaluate(np.zeros(6), l_9=1.0)
    with pytest.raises(ValueError, match="parameter 'l_1' = 'x': must be a number, not text"):
        evaluate(np.zeros(6), l_1="x")
    with pytest.raises(ValueError, match=r"q: there is no coordinate 'a\.p'"):
        evaluate({"a.p": 1.0})
    with pytest.raises(ValueError, match="name = 3: a function's name"):
        form.c(3)
    for write, word in ((form.c, "double"), (form.python, "list"), (form.matlab, "end"), (form.c, "cos")):
        with pytest.raises(ValueError, match=f"name = '{word}': is a word of C, Python or MATLAB"):
            write(word)
    with pytest.raises(ValueError, match="name = '2x': a function's name must be letters, digits and _"):
        form.python("2x")
