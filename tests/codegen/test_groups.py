"""Groups of lanes that are driven one after the other: the steps of single robots, and what is found on their nodes."""

import math
import re
from importlib.resources import files

import casadi as ca
import numpy as np
import pytest

from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.driver import CONTROL_TYPE, SEGMENT_TYPE, Driver, next_sizes
from flexarm.codegen.groups import (
    BATCH_TYPE,
    NODE_STRIDE,
    GroupDriver,
    group_source,
)
from flexarm.codegen.loops import Runner
from flexarm.codegen.simd_library import SSE2, LaneLibrary, widest
from flexarm.integrators.state import Layout
from flexarm.results.step_history import CUBIC, LOW_ORDER, WITH_RATES, between

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

LAYOUT, GROUPS, NODES, CAPACITY = Layout(2), 3, (0.0, 0.5, 1.0), 500
READINGS = 3 * LAYOUT.n + 2 + 2
START = np.array([1.0, 0.5, 0.0, 0.0])  # q and v of two oscillators


def oscillators() -> ca.Function:
    """q'' = u - k q of two oscillators by a Taylor series, of which the last term is the error."""
    sizes = {"state": LAYOUT.size, "inputs": len(NODES), "dt": 1, "horizon": 1, "solved": 1, "numbers": 1}
    state, inputs, dt, horizon, solved, numbers = (ca.SX.sym(name, size) for name, size in sizes.items())
    q, v = state[LAYOUT.q], state[LAYOUT.v]
    terms = [q, v, inputs[0] - numbers * q]
    terms += [-numbers * v, -numbers * terms[2]]
    position = sum((term * dt**k / math.factorial(k) for k, term in enumerate(terms)), ca.SX.zeros(2))
    speed = sum((term * dt**k / math.factorial(k) for k, term in enumerate(terms[1:])), ca.SX.zeros(2))
    a = inputs[len(NODES) - 1] - numbers * position
    after = ca.vertcat(position, speed, a, a, state[LAYOUT.energies] + dt)
    error = ca.fabs(terms[-1]) * dt**4 / 24
    return ca.Function("toy_step", [state, inputs, dt, horizon, solved, numbers], [after, error, 0 * error])


def everything() -> ca.Function:
    """Return all inputs of a reading."""
    sizes = {"q": 2, "v": 2, "a": 2, "u": 1, "energies": 2, "numbers": 1}
    q, v, a, u, energies, numbers = (ca.SX.sym(name, size) for name, size in sizes.items())
    return ca.Function("toy_read", [q, v, a, u, energies, numbers], [ca.vertcat(q, v, a, energies, u, numbers)])


@pytest.fixture(scope="module", params=sorted({SSE2, widest()}), ids=lambda width: f"{width.lanes} lanes")
def library(request):
    names = ["toy_step", "toy_read"]
    source = group_source(*names)
    made = LaneLibrary(names, lambda: [oscillators(), everything()], None, request.param, source)
    assert made.loaded is not None
    return made


class Toy:
    """Groups of oscillators with stiffnesses (groups, lanes), pushed by sin(3 t)."""

    def __init__(self, library, stiffness, wanted, calls=False, **numbers):
        lanes, n = library.width.lanes, LAYOUT.n
        self.lanes, self.k, self.wanted = lanes, np.ascontiguousarray(stiffness, dtype=float), wanted
        self.states = np.zeros((GROUPS, LAYOUT.size, lanes))
        self.states[:, :4] = START[:, None]
        self.states[:, LAYOUT.a] = self.states[:, LAYOUT.aux] = -self.k[:, None] * START[:2, None]
        self.times, self.path = np.zeros(CAPACITY + 1), np.zeros((CAPACITY + 1, LAYOUT.size, lanes))
        self.shared = {
            "nodes": np.array(NODES),
            "horizon": np.ones(lanes),
            "solved": np.ones(lanes),
            "error_limit": np.full(lanes, 1e-5),
            "unsolved_limit": np.ones(lanes),
            "stage_times": np.zeros(len(NODES)),
            "inputs": np.zeros((len(NODES), 1, lanes)),
            "times": self.times,
            "path": self.path,
            "errors": np.zeros((2, lanes)),
            "left": np.zeros((2, lanes)),
            "start": np.zeros((LAYOUT.size, lanes)),
            "segments": np.zeros((1, 1), SEGMENT_TYPE),
        }
        self.shared["segments"]["amplitude"], self.shared["segments"]["frequency"] = 1.0, 3.0
        self.shared["segments"]["scale"] = 1.0
        self.controls = np.zeros(GROUPS, CONTROL_TYPE)
        values = {"states": LAYOUT.size, "measures": 2, "columns": 1, "stages": len(NODES), "input_lanes": 1}
        values |= {"first_acceleration": LAYOUT.a.start, "first_auxiliary": LAYOUT.aux.start, "accelerations": n}
        values |= {"block": 1, "exponent": -1 / 4, "smallest": 1e-9, "patience": math.inf, "longest": math.inf}
        values |= {"stop": 1.0, "dt": 0.01, "most_steps": CAPACITY, "most_attempts": 10**6, "shortest_taken": math.inf}
        for name, value in values.items():
            self.controls[name] = value
        for name, each in self.shared.items():
            self.controls[name] = each.ctypes.data
        if calls:
            self.controls["segments"] = 0
        self.controls["numbers"] = self.k.ctypes.data + self.k.strides[0] * np.arange(GROUPS)
        by_signal = (GROUPS, 1, lanes)
        by_coordinate, by_lane, both = (GROUPS, n, lanes), (GROUPS, lanes), (GROUPS, 2, READINGS, lanes)
        extremes = np.stack([np.full(both[:1] + both[2:], np.inf), np.full(both[:1] + both[2:], -np.inf)], axis=1)
        self.arrays = {
            "states": self.states,
            "buffer": np.zeros(100),
            "is_active": np.ones(GROUPS, dtype=np.int64),
            "places": np.array([0]),
            "kinds": np.array([0, 1]),
            "wanted": wanted,
            "quintic": np.ascontiguousarray(WITH_RATES, dtype=float),
            "cubic": np.ascontiguousarray(CUBIC, dtype=float),
            "reaching": np.ones(1),
            "sizes": np.ones(by_coordinate),
            "far": np.full(by_coordinate, 10.0),
            "turns": np.zeros(by_coordinate),
            "lower": np.full((GROUPS, 1, lanes), -10.0),
            "upper": np.full((GROUPS, 1, lanes), 10.0),
            "unusual": np.full(by_lane, 1e6),
            "living": np.full(by_lane, -1, dtype=np.int64),
            "furthest": np.zeros(by_coordinate),
            "fastest": np.zeros(by_lane),
            "beyond": np.zeros(by_lane, dtype=np.int64),
            "turned_at": np.ascontiguousarray(self.states[:, LAYOUT.q]),
            "turning_times": np.full(by_coordinate, -np.inf),
            **{name: np.zeros(by_signal) for name in ("phases", "phase_errors", "link_bends", "swing_bends")},
            **{name: np.zeros(by_signal) for name in ("far_bends", "swing_far_times")},
            **{name: np.ascontiguousarray(self.states[:, :1]) for name in ("swing_begin", "swing_far")},
            "swing_begin_times": np.full(by_signal, -np.inf),
            "is_falling": np.zeros(by_signal, dtype=np.int64),
            "fast_limits": np.full(by_lane, 0.1),
            "signal_links": np.array([0]),
            "signal_stations": np.array([0]),
            "signal_shapes": np.array([[1.0, 0.0]]),
            "fast_errors": np.array([4.0]),
            "deflections": np.zeros((3, CAPACITY + 1, lanes)),
            "range": extremes.copy(),
            "node_range": extremes.copy(),
            "first": np.full((GROUPS, READINGS, lanes), np.nan),
            **{name: np.zeros(GROUPS, dtype=np.int64) for name in ("taken", "samples", "steps")},
            **{name: np.zeros(by_coordinate, dtype=np.int64) for name in ("swings", "fast_swings")},
        }
        usual = {"every": n, "coordinates": n, "bounded": 1, "readings": READINGS, "wanted_count": len(wanted)}
        usual |= {"reads_nodes": 0, "is_low_order": 0, "checks_all": 0, "close": 1e-12, "sample": 0.05}
        usual |= {"smallest_share": 0.01, "error_level": 0.0, "largest_turn": 10.0}
        usual |= {"patience": math.inf, "slow_error": 0.5, "signals": 1}
        self.driver = GroupDriver(
            library.loaded, self.controls, self.fill, self.fill, self.arrays, **{**usual, **numbers}
        )

    def fill(self):
        self.shared["inputs"][:] = np.sin(3 * self.shared["stage_times"])[:, None, None]
        return 0

    def run(self):
        """Advance all groups to the stop, and return the nodes of each: times, states."""
        self.controls["is_fixed"] = 0
        found = []
        for group in range(GROUPS):
            self.driver.group = group
            self.driver.batch["groups"] = group + 1
            assert not self.driver.advance()
            count = int(self.controls["steps"][group]) + 1
            found.append((self.times[:count].copy(), self.path[:count].copy()))
        return found


class Push:
    """The input sin(3 t) of a single robot."""

    segments = None

    def __call__(self, times):
        return np.sin(3 * np.asarray(times))[:, None]


def alone(k):
    """Return the nodes of one robot by the loop in Python."""
    driver = Driver(LAYOUT.size, 2, 1, NODES, np.array([k]), LAYOUT.every_a, LAYOUT.every_aux, 4, 2, CAPACITY)
    driver.set_bounds(horizon=1.0, solved=1.0, error_limit=1e-5, unsolved_limit=1.0)
    driver.connect(Runner(oscillators()))
    usual = {"stop": 1.0, "dt": 0.01, "longest": math.inf, "smallest": 1e-9}
    for name, value in {**usual, "most_steps": CAPACITY, "most_attempts": 10**6, "patience": math.inf}.items():
        setattr(driver.control, name, value)
    driver.path[0, :4], driver.path[0, 4:8] = START, -k * np.tile(START[:2], 2)
    driver.advance(Push())
    count = driver.control.steps + 1
    return driver.times[:count], driver.path[:count]


STIFF = np.array([50.0, 400.0, 3000.0])
WANTED = np.linspace(0.0, 1.0, 41)


@pytest.mark.parametrize("calls", [False, True], ids=["tables", "functions"])
def test_each_group_takes_the_steps_of_its_robot(library, calls):
    toy = Toy(library, np.repeat(STIFF[:, None], library.width.lanes, axis=1), WANTED, calls)
    counts = []
    for (times, path), k in zip(toy.run(), STIFF, strict=True):
        expected, states = alone(k)
        np.testing.assert_allclose(times, expected, rtol=1e-12)
        np.testing.assert_allclose(path, np.repeat(states[:, :, None], toy.lanes, axis=2), rtol=1e-9, atol=1e-9)
        counts.append(len(times) - 1)
    assert counts[0] < counts[1] < counts[2]
    assert toy.arrays["steps"].tolist() == counts
    assert (toy.controls["t"] == 1.0).all()
    np.testing.assert_array_equal(toy.states[2], path[-1])


def test_lanes_of_a_group_share_the_steps_of_the_stiffest(library):
    stiffness = np.full((GROUPS, library.width.lanes), 50.0)
    stiffness[1, -1] = 3000.0
    nodes = Toy(library, stiffness, WANTED).run()
    assert len(nodes[0][0]) == len(nodes[2][0]) < len(nodes[1][0])
    np.testing.assert_allclose(nodes[1][0], alone(3000.0)[0], rtol=1e-12)


@pytest.mark.parametrize("reads_nodes", [0, 1])
@pytest.mark.parametrize("order", [LOW_ORDER, 5])
def test_readings_are_those_of_single_robots(library, reads_nodes, order):
    stiffness = np.random.default_rng(1).uniform(50, 500, (GROUPS, library.width.lanes))
    toy = Toy(library, stiffness, WANTED, reads_nodes=reads_nodes, is_low_order=order <= LOW_ORDER)
    for group, (times, path) in enumerate(toy.run()):
        wanted = np.union1d(WANTED[:-1], times[:-1]) if reads_nodes else WANTED[:-1]
        assert toy.arrays["samples"][group] == len(wanted)
        places = np.arange(LAYOUT.size)
        told = [*places[LAYOUT.motion], LAYOUT.work, LAYOUT.lost]
        for lane in range(toy.lanes):
            rows = between(times, path[:, :, lane], wanted, LAYOUT, order)[:, told]
            rows = np.column_stack([rows, np.sin(3 * wanted), np.full(len(wanted), stiffness[group, lane])])
            close = {"rtol": 1e-9, "atol": 1e-8}
            np.testing.assert_allclose(toy.arrays["range"][group, 0, :, lane], rows.min(axis=0), **close)
            np.testing.assert_allclose(toy.arrays["range"][group, 1, :, lane], rows.max(axis=0), **close)
            np.testing.assert_allclose(toy.arrays["first"][group, :, lane], rows[0], **close)
            some = range(0 if reads_nodes else NODE_STRIDE, len(times) - 1, 1 if reads_nodes else NODE_STRIDE)
            at_nodes = path[[*some, len(times) - 1]][:, told, lane]
            np.testing.assert_allclose(toy.arrays["node_range"][group, 0, :2, lane], at_nodes.min(axis=0)[:2], **close)
            np.testing.assert_allclose(
                toy.arrays["node_range"][group, 1, 6:8, lane], at_nodes.max(axis=0)[6:8], **close
            )


def test_how_far_coordinates_go_and_how_often_they_turn(library):
    stiffness = np.repeat(STIFF[:, None], library.width.lanes, axis=1)
    toy = Toy(library, stiffness, WANTED, sample=0.08)
    toy.arrays["living"][1, 0] = 0
    nodes = toy.run()
    for group, (times, path) in enumerate(nodes):
        went = np.abs(path[:, LAYOUT.q]).max(axis=0)
        went[:, toy.arrays["living"][group] == 0] = 0.0
        np.testing.assert_array_equal(toy.arrays["furthest"][group], went)
        turns = np.flatnonzero(path[:-1, 2, -1] * path[1:, 2, -1] < 0)
        assert toy.arrays["swings"][group, 0, -1] == len(turns)
        v = path[:, 2, -1]
        when = times[turns] + v[turns] / (v[turns] - v[turns + 1]) * np.diff(times)[turns]
        assert toy.arrays["fast_swings"][group, 0, -1] == np.count_nonzero(np.diff(when) < 0.08)
    assert toy.arrays["swings"][1, :, 0].tolist() == [0, 0]
    assert toy.arrays["fast_swings"][2, 0, -1] > 5  # half a period is 0.057 s
    assert not toy.arrays["fast_swings"][0].any()


def test_phase_errors_grow_with_each_swing(library):
    """By the errors of slow or fast swings, which a wiggle does not end; each at its largest deflection."""
    toy = Toy(library, np.repeat(STIFF[:, None], library.width.lanes, axis=1), WANTED, smallest_share=0.1)
    toy.arrays["living"][1, 0] = 0
    for group, (times, path) in enumerate(toy.run()):
        q, largest = path[:, 0, -1], np.abs(path[:, 0, -1]).max()
        turns = [k for k in range(1, len(q) - 1) if (q[k] - q[k - 1]) * (q[k + 1] - q[k]) < 0]
        ended = [k for k in turns if abs(q[k:] - q[k]).max() > 0.1 * largest]  # the next one has begun
        points = [0, *ended]  # it starts at a turning point
        durations = np.diff(np.append(-np.inf, times[points]))
        seen = [next(k for k in range(p, len(q)) if abs(q[k] - q[p]) > 0.1 * largest) for p in points]
        bends = [np.abs(q[begin : end + 1]).max() for begin, end in zip([0, *points[:-1]], seen, strict=True)]
        rates = np.where(durations < 0.1, 4.0, 0.5) * np.square(bends)
        half = np.abs(np.diff(np.append(q[0], q[points]))) / 2
        expected = (half * np.minimum(2.0, np.cumsum(rates))).max()
        assert toy.arrays["phase_errors"][group, 0, -1] == pytest.approx(expected)
    assert toy.arrays["phase_errors"][1, 0, 0] == 0.0
    assert (toy.arrays["phase_errors"][2, 0, 1:] > 0).all()


def test_python_is_called_for_groups_that_reach_a_limit(library):
    toy = Toy(library, np.full((GROUPS, library.width.lanes), 50.0), WANTED)
    toy.arrays["lower"][1, 0, -1] = 0.2
    assert toy.driver.advance()
    assert toy.driver.group == 1
    assert (toy.arrays["beyond"][1] != 0).tolist() == [False] * (toy.lanes - 1) + [True]
    assert toy.arrays["samples"].tolist() == [len(WANTED) - 1, 0, 0]
    toy.driver.read_until(0.1)
    assert toy.arrays["samples"][1] == np.count_nonzero(WANTED <= 0.1)
    np.testing.assert_array_equal(toy.states[1, :4, 0], START)  # it has not gone on yet
    toy.driver.finish()
    assert toy.arrays["samples"][1] == len(WANTED) - 1
    toy.states[1] = toy.path[toy.controls["steps"][1]]
    toy.driver.group += 1
    assert not toy.driver.advance()
    np.testing.assert_array_equal(toy.states[1], toy.states[2])


def test_python_is_called_for_unusual_accelerations_and_inactive_groups_stay(library):
    toy = Toy(library, np.full((GROUPS, library.width.lanes), 50.0), WANTED)
    toy.arrays["unusual"][2], toy.arrays["is_active"][0] = 1.0, 0
    assert toy.driver.advance()
    assert toy.driver.group == 2
    assert toy.controls["t"].tolist() == [0.0, 1.0, 1.0]
    assert (toy.arrays["fastest"][2] > 1.0).all()


def test_a_pass_ends_when_its_time_is_up(library):
    toy = Toy(library, np.full((GROUPS, library.width.lanes), 50.0), WANTED, patience=0.0)
    for group in range(1, GROUPS + 1):  # at least one group advances
        assert not toy.driver.advance()
        assert toy.driver.group == group
        assert toy.controls["t"].tolist() == [1.0] * group + [0.0] * (GROUPS - group)


def test_arrays_must_be_contiguous(library):
    toy = Toy(library, np.full((GROUPS, library.width.lanes), 50.0), WANTED)
    arrays = {**toy.arrays, "far": toy.arrays["far"][::2]}
    with pytest.raises(ValueError, match="far: must be contiguous"):
        GroupDriver(library.loaded, toy.controls, toy.fill, toy.fill, arrays)


def test_next_sizes_are_those_of_the_driver():
    controls = np.zeros(5, CONTROL_TYPE)
    controls["dt"], controls["longest"] = [0.1, 0.1, 0.6, 0.3, 0.3], np.inf
    controls["stop"], controls["is_fixed"] = [1.0, 0.05, 1.0, 1.0, 1.0], [0, 0, 0, 1, 0]
    controls["longest"][4] = 0.2
    assert next_sizes(controls).tolist() == [0.1, 0.05, 0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("file", "record", "names"),
    [("driver.c", "flexarm_control", CONTROL_TYPE.names), ("groups.c", "flexarm_batch", BATCH_TYPE.names)],
)
def test_records_have_the_fields_of_the_structures(file, record, names):
    text = files("flexarm.codegen").joinpath(file).read_text()
    body = re.search(rf"typedef struct {{((?:(?!typedef).)*)}} {record};", text, re.S)[1]
    body = re.sub(r"/\*.*?\*/|\(void\)", "", body, flags=re.S)
    body = re.sub(r"\(\*(\w+)\)", r"\1", body)
    lines = [line.strip().rpartition(" ")[2] if "," not in line else line for line in body.split(";") if line.strip()]
    fields = [re.search(r"(\w+)$", each.strip())[1] for line in lines for each in line.split(",")]
    assert fields == list(names)
    assert CONTROL_TYPE.itemsize == 8 * len(CONTROL_TYPE.names)
    assert BATCH_TYPE.itemsize == 8 * len(BATCH_TYPE.names)
