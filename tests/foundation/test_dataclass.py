"""Frozen classes behave like those of the standard library and are faster to create."""

import copy
import dataclasses
import inspect
import pickle
from functools import cached_property

import pytest

from flexarm.foundation.dataclass import dataclass


def classes(decorator):
    """Return the classes made by one of the two decorators."""

    @decorator(frozen=True)
    class Point:
        """A point."""

        x: float
        y: "float" = 2.0
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)
        hidden: int = dataclasses.field(default=3, repr=False)

        @cached_property
        def twice(self):
            return 2 * self.x

    @decorator(frozen=True)
    class Checked:
        """With methods of its own."""

        size: float

        def __post_init__(self):
            if self.size < 0:
                raise ValueError("size")

        def __repr__(self):
            return "checked"

        def __eq__(self, other):
            return isinstance(other, Checked)

    @decorator(frozen=True)
    class Deeper(Point):
        """A class that inherits."""

        z: float = 5.0

    return Point, Checked, Deeper


@dataclass(frozen=True)
class Pair:
    """In the module, so that it can be pickled."""

    first: int
    second: tuple[int, ...] = ()


OWN, STANDARD = classes(dataclass), classes(dataclasses.dataclass)


@pytest.mark.parametrize(("own", "standard"), [*zip(OWN, STANDARD, strict=True)])
def test_signature_fields_and_arguments_are_those_of_the_standard_library(own, standard):
    assert str(inspect.signature(own)) == str(inspect.signature(standard))
    assert [each.name for each in dataclasses.fields(own)] == [each.name for each in dataclasses.fields(standard)]
    assert own.__match_args__ == standard.__match_args__
    assert own.__doc__ == standard.__doc__
    assert own.__dataclass_params__.frozen


@pytest.mark.parametrize("kinds", [OWN, STANDARD])
def test_instances_are_frozen_comparable_and_hashable(kinds):
    Point, Checked, Deeper = kinds
    one = Point(1.0, tags=["a"])
    assert one == Point(1.0, 2.0, ["b"])
    assert one != Point(1.0, 2.5)
    assert one != Deeper(1.0)
    assert one.__eq__(3) is NotImplemented
    assert hash(one) == hash((1.0, 2.0, 3)) == hash(Point(1.0))
    assert repr(one).endswith("Point(x=1.0, y=2.0, tags=['a'])")
    assert Point(1.0).tags is not Point(1.0).tags
    assert one.twice == 2.0
    for change in (lambda: setattr(one, "x", 2.0), lambda: setattr(one, "other", 2.0), lambda: delattr(one, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert dataclasses.replace(one, x=4.0) == Point(4.0)
    assert dataclasses.asdict(one) == {"x": 1.0, "y": 2.0, "tags": ["a"], "hidden": 3}
    assert copy.deepcopy(one) == copy.copy(one) == one
    assert repr(Checked(1.0)) == "checked"
    assert Checked(1.0) == Checked(2.0)
    assert hash(Checked(1.0)) == hash((1.0,))
    assert repr(Deeper(1.0)).endswith("Deeper(x=1.0, y=2.0, tags=[], z=5.0)")
    for wrong in (lambda: Point(), lambda: Point(1.0, w=2.0), lambda: Point(*range(5))):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            wrong()
    with pytest.raises(ValueError, match="size"):
        Checked(-1.0)


def test_instances_are_pickled():
    assert pickle.loads(pickle.dumps(Pair(1, (2, 3)))) == Pair(1, (2, 3))


def test_other_options_are_those_of_the_standard_library():
    @dataclass
    class Open:
        """One that can be changed."""

        x: float = 1.0

    one = Open()
    one.x = 2.0
    assert one == Open(2.0)
    assert Open.__hash__ is None

    @dataclass(frozen=True, eq=False)
    class Single:
        """One that equals itself only."""

        x: float = 1.0

    assert Single() != Single()


def test_what_is_not_supported_is_refused():
    with pytest.raises(TypeError, match="kw_only"):

        @dataclass(frozen=True)
        class Named:
            """With an argument by name."""

            x: float = dataclasses.field(kw_only=True)

    with pytest.raises(TypeError, match="follows default"):

        @dataclass(frozen=True)
        class Wrong:
            """In the wrong order."""

            x: float = 1.0
            y: float


def test_one_function_is_compiled_for_a_class(monkeypatch):
    made = []
    monkeypatch.setattr(dataclasses, "_create_fn", lambda *given, **more: made.append(given), raising=False)
    dataclass(frozen=True)(type("Bare", (), {"__doc__": "Empty.", "__annotations__": {"x": "float"}}))
    assert not made
