"""Properties of descriptions that are computed once: correct for copies and threads, not part of the value."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import flexarm as fa
from flexarm.robot.description import Description, lazy_property


class Ruler(Description):
    length: float

    @lazy_property
    def double(self):
        """Twice the length."""
        calls.append(self.length)
        if self.length < 0:
            raise ValueError("no length")
        return 2 * self.length


class Marked(Ruler):
    @lazy_property
    def double(self):
        return super().double + 1


calls = []


@pytest.fixture(autouse=True)
def clear_calls():
    calls.clear()


def test_it_is_computed_once():
    ruler = Ruler(length=3.0)
    assert (ruler.double, ruler.double) == (6.0, 6.0)
    assert calls == [3.0]
    assert Ruler.double.__doc__ == "Twice the length."


def test_a_subclass_has_its_own():
    assert [Marked(length=3.0).double for _ in range(2)] == [7.0, 7.0]


def test_what_fails_is_not_remembered():
    ruler = Ruler(length=-1.0)
    for _ in range(2):
        with pytest.raises(ValueError, match="no length"):
            _ = ruler.double
    assert len(calls) == 2


def changed_copies(ruler):
    yield ruler.model_copy(update={"length": 5.0})
    yield ruler.model_copy(update={"length": 5.0}, deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield ruler.copy(update={"length": 5.0})  # deprecated, but there


def test_copies_with_other_fields_have_their_own():
    ruler = Ruler(length=3.0)
    assert ruler.double == 6.0
    assert [each.double for each in changed_copies(ruler)] == [10.0] * 3


def test_it_is_no_part_of_a_description():
    asks, does_not = Ruler(length=3.0), Ruler(length=3.0)
    before = asks.model_dump_json(), repr(asks), pickle.dumps(asks)
    assert asks.double == 6.0
    assert (asks.model_dump_json(), repr(asks), pickle.dumps(asks)) == before
    assert asks == does_not
    assert hash(asks) == hash(does_not)
    for other in (copy.copy(asks), copy.deepcopy(asks), pickle.loads(pickle.dumps(asks))):
        assert other == asks
        assert other.double == 6.0


def test_many_threads_access_it_at_once():
    rulers = [Ruler(length=float(k)) for k in range(50)]
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda k: rulers[k % 50].double, range(800))]
    assert found == [2.0 * (k % 50) for k in range(800)]


def test_robots_that_are_changed_in_between():
    robot = fa.library.two_link_arm()

    def seen(of):
        links = [(each.total_mass, each.beam_mass, each.stiffening) for each in of.links]
        return links, of.parents, of.order, of.every_constraint, of.kinds

    before = seen(robot)
    changes = {
        "links.fore.payload.mass": 2.0,
        "links.upper.section.width": 0.5 * robot.link("upper").section.width,
        "links.upper.flexible.stiffening": "none",
        "links.fore.parent": "ground",
    }
    other = robot.with_(changes)
    assert seen(other) == seen(fa.Robot.model_validate_json(other.model_dump_json()))
    assert all(one != two for one, two in zip(seen(other)[0], before[0], strict=True))
    assert other.parents == (None, None)
    assert seen(robot) == before


def test_conflicts_of_a_copy_are_its_own():
    """Copies are not validated; once they are part of a robot, they are."""
    tube = fa.Section.tube(0.05, 0.04)
    wrong = tube.model_copy(update={"inner": 0.06})
    for _ in range(2):
        with pytest.raises(fa.DescriptionError, match="must be smaller than outer"):
            fa.Link("a", 1.0, section=wrong, mass=1.0)
    assert fa.Link("a", 1.0, section=tube, mass=1.0).section == tube
