import numpy as np

from flexarm.foundation.messages import (
    MAX_LISTED_NAMES,
    describe_unknown,
    escape_unprintable,
    format_number,
    shorten,
    shown,
    suggestion,
)


def test_values_stay_on_a_line_and_are_cut():
    assert shown(1e300) == "1e300"
    assert "\n" not in shown(np.zeros((3, 3)))
    assert len(shown("a" * 10_000)) < 100
    assert len(shown(list(range(10_000)))) < 100


def test_numbers_lose_a_needless_zero():
    assert (format_number(2.0), format_number(0.5), format_number(1e20)) == ("2", "0.5", "1e20")


def test_an_unknown_word_is_shown_with_the_nearest_and_all_allowed_ones():
    assert describe_unknown("unknown field", "lenght", ["name", "length"]) == (
        "unknown field; did you mean 'length'? (allowed: name, length)"
    )
    assert describe_unknown("no such link", "a", []) == "no such link"


def test_an_unknown_name_is_shown_with_the_nearest_or_a_list():
    assert suggestion("uper", ["upper", "fore"]) == "; did you mean 'upper'?"
    assert suggestion("x", ["upper", "fore"]) == "; there are upper, fore"
    assert suggestion("x", []) == "; there are none"
    assert suggestion("x", [f"link{k}" for k in range(100)]).count("link") == MAX_LISTED_NAMES


def test_long_texts_lose_their_middle():
    assert shorten("abc", 3) == "abc"
    assert shorten("a" * 60 + "z" * 40, 30) == "a" * 20 + " ... " + "z" * 10


def test_deep_and_long_values_are_shown_short():
    deep = ["x"]
    for _ in range(8):
        deep = [deep] * 9
    assert len(shown(deep)) < 310
    assert shown([1, 2]) == "[1, 2]"


def test_what_a_terminal_would_obey_is_spelled_out():
    assert escape_unprintable("naïve") == "naïve"
    assert escape_unprintable("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\nb\\u202e"
