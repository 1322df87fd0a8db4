import casadi as ca
import numpy as np
import pytest

from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.simd_library import PAIRS, LaneLibrary, LaneLoop, vectors, widest
from flexarm.codegen.simd_loops import reading
from flexarm.motion.sampling import CUBIC, LOW, WITH_RATES, between
from flexarm.motion.state import Layout

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

LAYOUT, GROUPS, NODES = Layout(2), 3, 5
READINGS = 3 * LAYOUT.n + 2 + 2  # the state and the energies as they are, what is put in, and a number


def same() -> ca.Function:
    """Tells all that it is given."""
    sizes = {"q": 2, "v": 2, "a": 2, "u": 1, "energies": 2, "numbers": 1}
    q, v, a, u, energies, numbers = (ca.SX.sym(name, size) for name, size in sizes.items())
    return ca.Function("same", [q, v, a, u, energies, numbers], [ca.vertcat(q, v, a, energies, u, numbers)])


@pytest.fixture(scope="module", params=sorted({PAIRS, widest()}), ids=lambda width: f"{width.lanes} lanes")
def library(request):
    made = LaneLibrary(["same"], lambda: [same()], None, request.param, reading("same"))
    assert made.loaded is not None
    return made


class Nodes:
    """Random ones, of which the last is not used."""

    def __init__(self, library, order, layout=LAYOUT):
        random, self.lanes, self.layout = np.random.default_rng(order), library.width.lanes, layout
        self.times = np.array([0.0, 0.1, 0.25, 0.3])
        self.path = random.normal(size=(GROUPS, NODES, layout.size, self.lanes))
        self.path[:, :, layout.a] *= 1e4  # some of which steps do not resolve
        self.numbers = random.normal(size=(GROUPS, 1, 1, self.lanes))
        self.range, self.at_nodes = (np.full((GROUPS, 2, READINGS, self.lanes), np.inf) for _ in range(2))
        for each in (self.range, self.at_nodes):
            each[:, 1] = -np.inf
        self.first = np.full((GROUPS, READINGS, self.lanes), np.nan)
        sizes = (GROUPS, layout.every, 1, layout.size, READINGS, vectors(self.numbers, 0), vectors(self.path, 0))
        how = (int(order <= LOW), self.path, self.numbers, np.ascontiguousarray(WITH_RATES), CUBIC.astype(float))
        given = (int, np.ndarray, int, np.ndarray, np.ndarray, int, np.ndarray, np.ndarray)
        self._loop = LaneLoop(library.loaded, "same_nodes", given, *sizes, *how, self.range)

    def read(self, wanted, inputs, first=True, at_node=True):
        """With inputs (groups or 1, rows, 1, lanes), one more than is wanted."""
        across = vectors(inputs, 0) if len(inputs) > 1 else 0
        places = (self.first.ctypes.data if first else None, self.at_nodes.ctypes.data if at_node else None)
        rows = (len(wanted), wanted.ctypes.data, len(self.times), self.times.ctypes.data)
        assert self._loop(*rows, inputs.ctypes.data, across, *places) == 0

    @property
    def told(self):
        """Which entries of a state are told."""
        places = np.arange(self.layout.size)
        moving = np.r_[places[self.layout.q], places[self.layout.v], places[self.layout.a]]
        return [*moving, self.layout.work, self.layout.lost]

    def expected(self, wanted, inputs, order):
        """(groups, lanes, rows, readings) by one robot after the other."""
        out = np.empty((GROUPS, self.lanes, len(wanted), READINGS))
        for group, lane in np.ndindex(out.shape[:2]):
            own = self.path[group, : len(self.times), :, lane]
            out[group, lane, :, :8] = between(self.times, own, wanted, self.layout, order)[:, self.told]
            out[group, lane, :, 8] = inputs[group % len(inputs), : len(wanted), 0, lane]
            out[group, lane, :, 9] = self.numbers[group, 0, 0, lane]
        return out


@pytest.mark.parametrize("order", [2, 5])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("layout", [LAYOUT, Layout(2, multipliers=1, states=3)], ids=["robot", "law"])
def test_what_is_read_between_nodes_is_what_one_robot_tells(library, order, own, layout):
    nodes, wanted = Nodes(library, order, layout), np.array([0.0, 0.03, 0.1, 0.2, 0.3])
    inputs = np.random.default_rng(7).normal(size=(GROUPS if own else 1, len(wanted) + 1, 1, nodes.lanes))
    nodes.read(wanted, inputs)
    expected = nodes.expected(wanted, inputs, order)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(nodes.range[:, 0].swapaxes(1, 2), expected.min(axis=2), **close)
    np.testing.assert_allclose(nodes.range[:, 1].swapaxes(1, 2), expected.max(axis=2), **close)
    np.testing.assert_allclose(nodes.first.swapaxes(1, 2), expected[:, :, 0], **close)
    last = nodes.path[:, len(nodes.times) - 1]
    for side in range(2):  # as it is, and with the last of the inputs
        np.testing.assert_array_equal(nodes.at_nodes[:, side, :8], last[:, nodes.told])
        np.testing.assert_array_equal(
            nodes.at_nodes[:, side, 8], np.broadcast_to(inputs[:, -1, 0], (GROUPS, nodes.lanes))
        )


def test_ranges_are_widened_and_nothing_is_told_of_nodes_that_are_not_asked_for(library):
    nodes, both = Nodes(library, 5), np.array([0.02, 0.2])
    inputs = np.zeros((1, 3, 1, nodes.lanes))
    nodes.read(both[:1], inputs, first=False, at_node=False)
    assert np.isnan(nodes.first).all()
    assert np.isinf(nodes.at_nodes).all()
    np.testing.assert_array_equal(nodes.range[:, 0], nodes.range[:, 1])
    nodes.read(both[1:], inputs, first=False, at_node=False)
    step_by_step = nodes.range.copy()
    nodes = Nodes(library, 5)
    nodes.read(both, inputs)
    np.testing.assert_array_equal(nodes.range, step_by_step)
    before = nodes.range.copy()
    nodes.read(np.zeros(0), inputs, first=False)  # only the node
    np.testing.assert_array_equal(nodes.range, before)


def test_who_went_too_far_is_told(library):
    """Against the same in numpy, with bounds that some keep and some do not."""
    random, lanes, n = np.random.default_rng(3), library.width.lanes, 3
    layout, h, shape = Layout(n, states=1), 0.2, (200, n, library.width.lanes)
    ranges = np.sort(random.normal(size=(shape[0], 2, layout.size, lanes)), axis=1)
    sizes, far, turns = random.uniform(0.5, 1, shape), random.uniform(1, 6, shape), random.uniform(0, 1, shape)
    places, reaching = np.array([2, 0]), np.array([1.0, 0.0])
    lower, upper = -random.uniform(1, 5, (shape[0], 2, lanes)), random.uniform(1, 5, (shape[0], 2, lanes))
    unusual, living = random.uniform(1, 8, (shape[0], lanes)), -random.integers(0, 2, (shape[0], lanes))
    furthest, before = (random.uniform(0, 2, shape) for _ in range(2))
    furthest[:] = before
    left, fastest = np.zeros((shape[0], lanes), dtype=np.int64), np.zeros((shape[0], lanes))
    inside = (places, reaching, 4.0, ranges, sizes, far, turns, lower, upper, unusual, living, furthest, left, fastest)
    sizes_of = (shape[0], layout.size, layout.every, n, 2)
    found = LaneLoop(library.loaded, "flexarm_reach", (float,), *sizes_of, *inside)(h)
    low, high = ranges.swapaxes(0, 1)
    q, v, a = (np.abs(ranges).max(axis=1)[:, part] for part in (layout.q, layout.v, layout.a))
    beyond = (q > far).any(axis=1) | ((q * turns).sum(axis=1) > 4.0)
    beyond |= (low[:, 2] - h * v[:, 2] < lower[:, 0]) | (high[:, 2] + h * v[:, 2] > upper[:, 0])
    beyond |= (low[:, 0] < lower[:, 1]) | (high[:, 0] > upper[:, 1])
    assert 0.1 < beyond.mean() < 0.9
    np.testing.assert_array_equal(left != 0, beyond)
    np.testing.assert_allclose(fastest, (a / sizes).max(axis=1), rtol=1e-15)
    np.testing.assert_array_equal(furthest, np.where(living[:, None], np.maximum(before, q), before))
    assert found == 3
    far[:], turns[:], lower[:], upper[:], unusual[:] = 1e3, 0.0, -1e3, 1e3, 1e3
    loop = LaneLoop(library.loaded, "flexarm_reach", (float,), *sizes_of, *inside)
    assert loop(h) == 0
    ranges[150, 1, 2, lanes - 1] = 2e3
    assert loop(h) == 1
    ranges[150, 1, 2, lanes - 1] = np.nan  # not a number on both sides
    ranges[150, 0, 2, lanes - 1] = np.nan
    assert loop(h) == 1
    ranges[150, :, 2, lanes - 1] = 0.0
    ranges[10, 0, layout.a.start, 0] = -1e6
    assert loop(h) == 2


def test_swings_are_counted_where_coordinates_turn(library):
    """Of cos(k t) with an amplitude: as many turning points as half periods, if the amplitude is minded and the lane
    lives; in two calls as in one."""
    lanes, nodes, groups, layout = library.width.lanes, 200, 2, Layout(2)
    t = 0.013 + np.linspace(0, 2 * np.pi, nodes)[None, :, None, None]
    k = np.arange(3, 3 + groups)[:, None, None, None]
    size = np.array([1.0, 0.05])[None, None, :, None] * np.ones((groups, 1, 2, lanes))
    path = np.zeros((groups, nodes, layout.size, lanes))
    path[:, :, layout.q], path[:, :, layout.v] = size * np.cos(k * t), -k * size * np.sin(k * t)
    living = np.full((groups, lanes), -1)
    living[1, 0] = 0
    furthest, sizes = np.ones((groups, 2, lanes)), np.full((groups, 2, lanes), 0.5)

    def counted(kinds, least):
        last, counts = np.zeros((groups, 2, lanes)), np.zeros((groups, 2, lanes), dtype=np.int64)
        for part in (slice(0, 81), slice(80, nodes)):
            rows = np.ascontiguousarray(path[:, part])
            layouts = (groups, layout.size, layout.every, 2, vectors(rows, 0), np.array(kinds))
            inside = (0.15, least, rows, sizes, furthest, living, np.zeros((2, lanes)), last, counts)
            LaneLoop(library.loaded, "flexarm_swings", (int,), *layouts, *inside)(rows.shape[1])
        return counts

    found = counted([0, 0], 0.0)  # what is minded is 15 % of how far the first went
    assert (found[0, 0] == 6).all()
    assert (found[1, 0, 1:] == 8).all()
    assert found[1, 0, 0] == 0
    assert (found[:, 1] == 0).all()
    furthest[:, 1] = 0.05
    assert (counted([0, 0], 0.0)[:, 1] == 0).all()
    assert (counted([0, 1], 0.0)[0, 1] == 6).all()  # beside itself, it is minded
    assert (counted([0, 1], 0.3)[0, 1] == 0).all()  # but for errors


def test_states_begin_the_next_steps(library):
    lanes, layout = library.width.lanes, Layout(2, states=1)
    states = np.random.default_rng(5).normal(size=(GROUPS, layout.size, lanes))
    path = np.zeros((GROUPS, 3, layout.size, lanes))
    begin = (GROUPS, layout.size, layout.every, vectors(path, 0), path)
    loop = LaneLoop(library.loaded, "flexarm_begin", (float, np.ndarray), *begin)
    loop(1.0, states.ctypes.data)
    np.testing.assert_array_equal(path[:, 0], states)
    assert not path[:, 1:].any()
    loop(2.5, states.ctypes.data)
    a, aux = states[:, layout.every_a], states[:, layout.every_aux]
    np.testing.assert_allclose(path[:, 0, layout.every_aux], a + 2.5 * (aux - a), rtol=1e-14)
    others = np.r_[0 : layout.every_aux.start, layout.every_aux.stop : layout.size]
    np.testing.assert_array_equal(path[:, 0, others], states[:, others])
