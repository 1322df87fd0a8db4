"""Help of descriptions: docstrings and signatures generated from their fields."""

import ast
import inspect
from textwrap import dedent

import pytest

import flexarm as fa
from flexarm.robot.description import Description


def kinds(parent=Description):
    for kind in parent.__subclasses__():
        if kind.__module__.startswith("flexarm."):
            yield kind
            yield from kinds(kind)


def stub(kind):
    """Return the arguments of the `__init__` that type checkers see; None if there is none."""
    tree = ast.parse(dedent(inspect.getsource(kind)))
    found = [node.args for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    return found[0] if found else None


@pytest.mark.parametrize("kind", [kind for kind in kinds() if stub(kind) is not None], ids=lambda kind: kind.__name__)
def test_the_signature_is_that_of_type_checkers(kind):
    parameters = inspect.signature(kind).parameters.values()
    arguments = stub(kind)
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    assert [each.name for each in parameters if each.name not in by_name] == [each.arg for each in arguments.args[1:]]
    assert by_name == [each.arg for each in arguments.kwonlyargs]
    for each in parameters:
        assert f"\n{each.name} : " in kind.__doc__


def test_a_docstring_describes_the_fields():
    assert "\nstiffness : float, optional\n    Stiffness between motor and link" in fa.Drive.__doc__
    assert "\nlimits : (2,) array_like, optional\n    Lowest and highest angle (rad).\n" in fa.Revolute.__doc__
    assert "\nsection : Section, optional\n" in fa.Link.__doc__
    assert fa.Drive.__doc__.index("\nParameters\n") < fa.Drive.__doc__.index("\nExamples\n")


def test_the_schema_has_the_summary_only():
    described = [each["description"] for each in fa.schema()["$defs"].values()] + [fa.schema()["description"]]
    assert not [each for each in described if "---" in each or not each]
