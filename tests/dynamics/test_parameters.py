"""Parameters of a robot: which entries are symbols, their names and values, and robots of one structure."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flexarm as fa
from flexarm.dynamics.parameters import Parameters, ParameterSymbols

FULL = np.array([[1.0, 2.0, 0.0], [2.0, 3.0, 4.0], [0.0, 4.0, 5.0]])
BAND = np.abs(np.subtract.outer(range(3), range(3))) < 2


def evaluated(parameters: Parameters, name: str) -> np.ndarray:
    """An entry's matrix of symbols with the values of the vector."""
    symbols = ParameterSymbols(parameters)
    function = ca.Function("f", [symbols.column], [ca.densify(symbols[name])])
    return function(parameters.vector).full()


def made(**entries) -> Parameters:
    parameters = Parameters()
    for name, (value, options) in entries.items():
        parameters.add(name, "kg", value, **options)
    return parameters


# --- entries ---


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], FULL, np.zeros((3, 0)), np.arange(6.0).reshape(2, 3)])
def test_an_entry_without_a_pattern_is_all_numbers(value):
    parameters = made(x=(value, {}))
    shape = np.asarray(value).shape
    matrix = np.reshape(value, (*shape, 1)[:2] if shape else (1, 1))
    assert len(parameters.vector) == matrix.size
    assert_array_equal(evaluated(parameters, "x"), matrix)


def test_zeros_of_a_pattern_are_no_numbers():
    parameters = made(K=(FULL, {"pattern": BAND}))
    assert len(parameters.vector) == BAND.sum()
    assert_array_equal(evaluated(parameters, "K"), FULL)
    symbol = ParameterSymbols(parameters)["K"]
    assert symbol.nnz() == BAND.sum()  # a true zero costs the equations nothing
    assert not symbol.has_nz(0, 2)


def test_a_number_that_happens_to_be_zero_is_one_all_the_same():
    parameters = made(x=(np.zeros(3), {}))
    assert_array_equal(parameters.vector, np.zeros(3))
    assert ParameterSymbols(parameters)["x"].nnz() == 3


def test_the_halves_of_a_symmetric_matrix_share_their_numbers():
    parameters = made(K=(FULL, {"pattern": BAND, "symmetric": True}))
    assert_array_equal(parameters.vector, [1, 2, 3, 4, 5])
    assert parameters.names == ["K[1,1]", "K[2,1]", "K[2,2]", "K[3,2]", "K[3,3]"]
    assert_array_equal(evaluated(parameters, "K"), FULL)
    symbol = ParameterSymbols(parameters)["K"]
    assert ca.is_equal(symbol[0, 1], symbol[1, 0], 1)


def test_ones_by_construction_are_no_numbers():
    turn = np.array([[1.0, 0.0], [0.5, -1.0]])
    parameters = made(W=(turn, {"pattern": turn != 0, "ones": np.eye(2, dtype=bool)}))
    assert_array_equal(parameters.vector, [0.5])
    assert_array_equal(evaluated(parameters, "W"), turn)
    assert ParameterSymbols(parameters)["W"][1, 1].is_constant()


def test_ones_beside_a_single_number():
    """CasADi takes none of the entries of a scalar for a row, not a column."""
    parameters = Parameters()
    parameters.add("x", "m", 0.8)
    parameters.add("U", "m", [[0.0, 1.0]], [[False, True]], ones=np.array([[False, True]]))
    assert_array_equal(ca.evalf(ca.densify(ParameterSymbols(parameters)["U"])).full(), [[0.0, 1.0]])


def test_directions_keep_what_is_whole():
    parameters = Parameters()
    parameters.add_directions("axis", [0.0, 0.6, 0.8])
    parameters.add_directions("R", np.array([[0.0, -1.0], [1.0, 1e-17]]))
    assert_array_equal(parameters.vector, [0.6, 0.8])
    assert parameters.names == ["axis.1", "axis.2"]
    assert_array_equal(evaluated(parameters, "R"), [[0, -1], [1, 0]])
    other = Parameters()
    other.add_directions("axis", [-0.0, 0.6, 0.8])
    other.add_directions("R", np.array([[-1e-17, -1.0], [1.0, -0.0]]))
    assert other.structure == parameters.structure  # minus zero is zero


def test_of_what_users_give_zeros_are_none():
    parameters = Parameters()
    parameters.add_given("offset", "m", (0.0, 0.2, 0.0))
    parameters.add_given("damping", "N s", 0.0)
    assert_array_equal(parameters.vector, [0.2])
    assert parameters.names == ["offset.1"]
    assert ParameterSymbols(parameters)["damping"].nnz() == 0


def test_a_value_where_there_is_none_by_construction_is_a_mistake_in_the_pattern():
    wrong = FULL + 1e-3
    with pytest.raises(ValueError, match="K cannot be computed: rounding errors appear"):
        _ = made(x=(1.0, {}), K=(wrong, {"pattern": BAND})).vector
    with pytest.raises(ValueError, match="M cannot be computed"):
        _ = made(M=(2 * np.eye(2), {"ones": np.eye(2, dtype=bool)}), x=(1.0, {})).vector
    rounded = FULL + 1e-12 * ~BAND
    assert_array_equal(evaluated(made(K=(rounded, {"pattern": BAND})), "K"), FULL)


# --- names ---


def test_every_number_has_a_name_and_a_unit():
    parameters = made(m=(2.0, {}), c=([1.0, 2.0], {}), K=(FULL, {"pattern": BAND, "symmetric": True}))
    assert parameters.names == ["m", "c.0", "c.1", "K[1,1]", "K[2,1]", "K[2,2]", "K[3,2]", "K[3,3]"]
    assert len(parameters.units) == len(parameters.names) == len(parameters.vector)
    arm = fa.System(fa.library.rrr_arm(elastic_joints=True), native=False)
    names = arm.structure.parameters.names
    assert len(set(names)) == len(names) == len(arm.numbers)
    assert len(arm.structure.parameters.units) == len(names)


def test_symbols_under_a_path():
    parameters = Parameters()
    parameters.add("links.a.length", "m", 1.0)
    parameters.add("links.a.tip.x", "m", 2.0)
    symbols = ParameterSymbols(parameters)
    a = symbols.under("links.a")
    assert "length" in a
    assert "mass" not in a
    assert a.get("mass", 7.0) == 7.0
    assert ca.is_equal(a.under("tip")["x"], symbols["links.a.tip.x"])
    assert symbols.find("links.b.length") is None
    with pytest.raises(KeyError):
        a["mass"]


# --- robots of one structure ---


def given(offset, mass=1.0, payload=True) -> Parameters:
    parameters = Parameters()
    parameters.fact("link 'fore'", "a payload", payload)
    parameters.fact("link 'fore'", "has stiffening =", "none")
    parameters.add("mass", "kg", mass)
    parameters.add_given("offset", "m", offset)
    return parameters


def test_a_zero_there_may_stand_for_a_number_here_but_not_the_other_way():
    wide, narrow = given((0.1, 0.2, 0.0)), given((0.0, 0.3, 0.0), mass=2.0)
    assert_array_equal(wide.vector_of(narrow), [2.0, 0.0, 0.3])
    with pytest.raises(ValueError, match=r"another structure: offset\.0 is 0 here by construction and 0\.1 there"):
        narrow.vector_of(wide)


def test_the_first_difference_is_told():
    here = given((0.1, 0, 0))
    with pytest.raises(ValueError, match="another structure: link 'fore' has a payload here and none there"):
        here.vector_of(given((0.1, 0, 0), payload=False))
    with pytest.raises(ValueError, match="another structure: link 'fore' has no payload here and one there"):
        given((0.1, 0, 0), payload=False).vector_of(here)
    other = given((0.1, 0, 0))
    other.facts[1] = type(other.facts[1])("link 'fore'", "has stiffening =", "exact")
    with pytest.raises(ValueError, match="link 'fore' has stiffening = none here and exact there"):
        here.vector_of(other)
    more = given((0.1, 0, 0))
    more.add("length", "m", 1.0)
    for one, two, message in ((here, more, "there and not here"), (more, here, "here and not there")):
        with pytest.raises(ValueError, match=f"there is length {message}"):
            one.vector_of(two)
    with pytest.raises(ValueError, match="x is 1 x 1 here and 2 x 1 there"):
        made(x=([1.0], {})).vector_of(made(x=([1.0, 2.0], {})))


def test_joined_numbers_are_numbers_wherever_one_has_any():
    """A payload that is 0 in the first robot may be something in the others."""
    one, other = given((0.1, 0.0, 0.0)), given((0.0, 0.3, 0.0), mass=2.0)
    both = one.joined([other])
    assert_array_equal(both.vector, [1.0, 0.1, 0.0])
    assert_array_equal(both.vector_of(other), [2.0, 0.0, 0.3])
    assert_array_equal(one.vector, [1.0, 0.1])
    with pytest.raises(ValueError, match="a payload here and none there"):
        one.joined([given((0.1, 0.0, 0.0), payload=False)])


def test_whole_directions_that_differ():
    def turned(axis):
        parameters = Parameters()
        parameters.add_directions("axis", axis)
        return parameters

    with pytest.raises(ValueError, match=r"axis\.2 is 1 here by construction and -1 there"):
        turned([0.0, 0.0, 1.0]).vector_of(turned([0.0, 0.0, -1.0]))
    with pytest.raises(ValueError, match="another structure"):
        turned([0.0, 0.0, 1.0]).vector_of(turned([0.0, 0.6, 0.8]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_by_name(value):
    parameters = made(m=(1.0, {}), K=(np.array([[1.0, 2.0], [2.0, value]]), {"symmetric": True}))
    with pytest.raises(ValueError, match=rf"the number K\[2,2\] is {value}: must be finite"):
        _ = parameters.vector


def test_a_structure_keeps_no_number():
    parameters = made(K=(FULL, {"pattern": BAND, "symmetric": True}))
    erased = parameters.erased()
    assert erased.structure == parameters.structure
    assert erased.names == parameters.names
    assert np.isnan(erased.entries[0].value).all()
    assert_array_equal(erased.vector_of(parameters), parameters.vector)
    assert_array_equal(parameters.entries[0].value, FULL)


def test_values_do_not_decide_the_structure_but_all_else_does():
    base = made(x=([1.0, 2.0], {}))
    assert made(x=([3.0, 0.0], {})).structure == base.structure
    others = [
        made(y=([1.0, 2.0], {})),
        made(x=([1.0, 2.0, 3.0], {})),
        made(x=([1.0, 0.0], {"pattern": np.array([True, False])})),
        made(x=([1.0, 2.0], {"ones": np.array([[True], [False]])})),
        made(x=(np.eye(2), {})),
        made(x=(np.eye(2), {"symmetric": True})),
    ]
    found = [each.structure for each in (base, *others)]
    assert len(set(found)) == len(found)
    base.fact("link 'a'", "has stiffening =", "none")
    assert base.structure not in found


# --- whole robots ---


CHANGES = [
    {"links.upper.length": 1.7, "links.fore.length": 0.3},
    {"links.upper.material.E": 1e9, "links.fore.material.rho": 1000.0},
    {"links.fore.payload.mass": 0.7},
    {"links.fore.payload.mass": 0.0},
    {"links.upper.section": fa.Section.rectangle(0.01, 0.02)},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_robot_with_other_numbers_has_the_same_functions(changes):
    system = fa.System(fa.library.two_link_arm(damping=1e-3), native=False)
    other = fa.System(system.robot.with_(changes), native=False)
    assert other.structure is system.structure
    assert_array_equal(system.numbers_of(other.robot), other.numbers)
    q, v, a = np.random.default_rng(1).uniform(-0.05, 0.05, (3, system.nq))
    found = system.parametric["inverse_dynamics"](q, v, a, other.numbers).full()[:, 0]
    assert_array_equal(found, other.inverse_dynamics(q, v, a))
    assert (found != system.inverse_dynamics(q, v, a)).any()


def test_numbers_under_a_path():
    parameters = Parameters()
    parameters.fact(".nodes", "are so many:", 3)
    parameters.add(".x", "m", 1.5)
    under = parameters.under("links.a")
    assert under.names == ["links.a.x"]
    assert under.facts[0].where == "links.a.nodes"
    assert_array_equal(under.vector, [1.5])
    assert parameters.names == [".x"]


def test_numbers_of_joints_are_those_of_the_joint_that_a_robot_has():
    """Robots share what is made of joints that are the same; a stop lies where the travel of the link ends."""
    stop = fa.Stop(stiffness=1e4)
    slide = fa.Link("slide", 1.0, fa.FixedPrismatic(stop=stop, viscous=2.0), mass=1.0)
    robots = [
        fa.Robot(links=[each])
        for each in (
            slide,
            slide.model_copy(update={"length": 2.0}),
            slide.model_copy(update={"joint": fa.FixedPrismatic(stop=stop, viscous=3.0)}),
            slide.model_copy(update={"name": "other"}),
        )
    ]
    for robot, viscous, end in [*zip(robots, (2, 2, 3, 2), (1, 2, 1, 1), strict=True)] * 2:
        system = fa.System(robot, native=False)
        found = dict(zip(system.number_names, system.numbers, strict=True))
        path = f"links.{robot.links[0].name}.joint"
        assert found[f"{path}.viscous"] == viscous
        assert found[f"{path}.limits.1"] == end
