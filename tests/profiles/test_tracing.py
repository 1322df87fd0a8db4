"""Functions are traced without side effects on CasADi or on warnings, in one thread or in many."""

import math
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

import flexarm as fa
from flexarm.foundation.messages import collect_warnings, warn
from flexarm.profiles.tracing import ConversionError, silent_numpy_support, traced, tracing

ROD = fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)])
METHODS = ("__float__", "__getitem__")


def untouched():
    filters = [each for each in warnings.filters if each[2] in (UserWarning, FutureWarning, RuntimeWarning)]
    return [getattr(ca.SX, name) for name in METHODS], warnings.showwarning, filters


def run(law, **options):
    return fa.simulate(ROD, 0.05, torque=fa.Feedback(law, **options), native=False)


PROGRAM = """
import warnings
import casadi as ca

def filters():
    return [each for each in warnings.filters if each[2] in (UserWarning, FutureWarning, RuntimeWarning)]

before = ca.SX.__float__, ca.SX.__getitem__, warnings.showwarning, filters(), ca.GlobalOptions.{mode}
import flexarm as fa
for name in fa.__all__:
    getattr(fa, name)
import websockets.asyncio.server as sockets
serve = sockets.serve
fa.simulate(fa.library.two_link_arm(), 0.01, torque=lambda t, q, v: [-np.sin(q[0]), 0.0], native=False)
try:
    fa.simulate(fa.library.two_link_arm(), 0.01, torque=lambda t, q, v: [float(q[0]), 0.0], native=False)
except TypeError as error:
    assert "needs the value of a symbol" in str(error)
robot = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])
fa.sweep(robot, {{"links.a.mass": [1.0, 2.0]}}, 0.1, torque={{"a": 1.0}}, native=False, progress=False)
fa.studio(robot, browser=False, port=0, duration=0.1, native=False).stop()
after = ca.SX.__float__, ca.SX.__getitem__, warnings.showwarning, filters(), ca.GlobalOptions.{mode}
assert [one is other or one == other for one, other in zip(before, after)] == [True] * 5, (before, after)
assert sockets.serve is serve
assert type(fa.studio).__name__ == "function"
assert str(float(ca.SX.sym("x"))) == "nan"
"""


def test_importing_and_using_flexarm_leaves_other_libraries_as_they_are():
    mode = "getNumpyMode()" if hasattr(ca.GlobalOptions, "getNumpyMode") else "getMaxNumDir()"
    program = "import numpy as np\n" + PROGRAM.format(mode=mode)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_conversion_raises_while_a_function_is_traced_and_only_then():
    before, x = untouched(), ca.SX.sym("x")
    with pytest.raises(ConversionError, match="needs the value of a symbol"):
        traced(math.sin, x)
    with pytest.raises(ConversionError), tracing(x):
        ca.SX.sym("y").__float__()
    assert untouched() == before
    assert math.isnan(float(x))
    assert float(traced(lambda t: float(ca.SX(2.0)) * t, x) / x) == 2.0  # constants have values


def test_a_conversion_that_a_law_catches_is_noticed():
    def careless(t, q, v):
        try:
            return [math.sin(q[0])]
        except TypeError:
            return [0.0]

    with pytest.raises(TypeError, match="needs the value of a symbol"):
        run(careless)


def test_results_of_casadi_functions_are_guarded_too():
    with pytest.raises(TypeError, match="needs the value of a symbol"):
        run(lambda t, q, v: [1.0 if float(ca.sin(q[0])) > 0 else 0.0])


def test_masks_select_as_in_numpy():
    q = ca.SX.sym("q", 3)
    found = traced(lambda q: ca.vertcat(q, 2 * q)[np.array([False, True, False, False, False, True])], q)
    assert ca.is_equal(found, ca.vertcat(q[1], 2 * q[2]), 2)
    assert ca.vertcat(q)[[True, False]].shape == (2, 1)  # elsewhere CasADi reads indices 1 and 0


def test_profiles_inside_laws_are_traced_inside_traces():
    wave = fa.simulate(ROD, 0.05, torque={"a": lambda t: fa.sine(1.0, 2.0)(t) * np.cos(t)}, native=False)
    assert wave.status == "completed"
    before, x = untouched(), ca.SX.sym("x")

    def convert_and_catch():
        with tracing(x):
            for convert in (float, lambda x: traced(lambda y: math.sin(np.sin(y)), x), float):
                with pytest.raises(ConversionError):
                    convert(x)

    with pytest.raises(ConversionError):
        convert_and_catch()
    assert untouched() == before


def test_other_threads_convert_symbols_as_always():
    x, found = ca.SX.sym("x"), []
    with tracing(x):
        thread = threading.Thread(target=lambda: found.append((float(x), ca.vertcat(x, 2 * x)[[True, False]].shape)))
        thread.start()
        thread.join()
    assert math.isnan(found[0][0])
    assert found[0][1] == (2, 1)


def test_threads_trace_laws_at_the_same_time():
    before = untouched()

    def work(k):
        if k % 3 == 0:
            with pytest.raises(TypeError, match="needs the value of a symbol"):
                run(lambda t, q, v: [math.sin(q[0])])
            return k
        return float(run(lambda t, q, v: [-k * np.sin(q[0]) + k])["torque.a"][0])

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(24))) == list(range(24))
    assert untouched() == before


@pytest.mark.skipif(not hasattr(ca.GlobalOptions, "getNumpyMode"), reason="CasADi before 3.8 announces nothing")
def test_numpy_functions_of_symbols_warn_outside_of_traces_only():
    mode, x = ca.GlobalOptions.getNumpyMode(), ca.SX.sym("x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced(np.sin, x)
        with silent_numpy_support():
            np.cos(x)
    assert ca.GlobalOptions.getNumpyMode() == mode
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.sin(x)
    assert [each.category for each in told] == [FutureWarning]


def test_warnings_are_collected_by_thread():
    before, others = untouched(), []

    def elsewhere():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            warn("from elsewhere")
            others.extend(str(each.message) for each in told)

    with collect_warnings() as outer:
        warn("first")
        assert warnings.showwarning is before[1]
        with collect_warnings() as inner:
            warn("second")
            warn("second")
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        warn("third", fa.ValidityWarning)
    assert (outer, inner, others) == (["first", "third"], ["second"], ["from elsewhere"])
    with pytest.warns(fa.ValidityWarning, match="at last") as told:
        warn("at last", fa.ValidityWarning)
    assert told[0].filename == __file__
    assert untouched() == before
