"""The section `sweep` of robot files."""

from pathlib import Path

import numpy as np
import pytest

import flexarm as fa
from flexarm.robot.io.files import SWEEP, read_source
from flexarm.sweeps.sweep import sweep_options

ROBOT = "links:\n  - {name: bar, length: 1.0, mass: 3.0}\n"


def asked(tmp_path: Path, text: str):
    file = tmp_path / "arm.yaml"
    file.write_text(ROBOT + text)
    return sweep_options(read_source(file)[2].data[SWEEP], str(file))


def test_lists_ranges_and_what_is_kept(tmp_path):
    found = asked(
        tmp_path,
        "sweep:\n"
        "  over:\n"
        "    links.bar.mass: [1.0, 2.0]\n"
        "    links.bar.length: {from: 0.5, to: 1.0, count: 3}\n"
        "    q0.bar.q: {from: 0.1, to: 10, count: 3, spacing: log}\n"
        "  measure: [tip]\n"
        "  elementwise: false\n",
    )
    assert not found.drawn
    assert found.options["over"]["links.bar.mass"] == [1.0, 2.0]
    assert found.options["over"]["links.bar.length"].tolist() == [0.5, 0.75, 1.0]
    assert found.options["over"]["q0.bar.q"] == pytest.approx([0.1, 1.0, 10.0])
    assert found.options["measure"] == ["tip"]


def test_distributions_by_name(tmp_path):
    found = asked(
        tmp_path,
        "sweep:\n"
        "  over:\n"
        "    links.bar.mass: {distribution: norm, loc: 3.0, scale: 0.1}\n"
        "    links.bar.length: {distribution: beta, a: 2, b: 3}\n"
        "  members: 64\n  seed: 3\n  sobol: true\n",
    )
    assert found.drawn
    assert {name: found.options[name] for name in ("members", "seed", "sobol")} == {
        "members": 64,
        "seed": 3,
        "sobol": True,
    }
    assert found.options["over"]["links.bar.mass"].mean() == pytest.approx(3.0)
    assert found.options["over"]["links.bar.length"].mean() == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("  ovr: {}\n", "arm.yaml:4: sweep.ovr: unknown field; did you mean 'over'"),
        ("  over: {}\n", "sweep.over: is required"),
        ("  over: {links.bar.mass: 3}\n", "must be a list, {from"),
        ("  over: {links.bar.mass: {from: 1, to: 2}}\n", "count"),
        ("  over: {links.bar.mass: {from: 1, too: 2, count: 3}}\n", "too is unknown; did you mean 'to'"),
        ("  over: {links.bar.mass: {from: a, to: 2, count: 3}}\n", "needs numbers from and to"),
        ("  over: {links.bar.mass: {from: 0, to: 2, count: 3, spacing: log}}\n", "positive ends"),
        ("  over: {links.bar.mass: {from: 0, to: 2, count: 3, spacing: odd}}\n", "linear or log"),
        ("  over: {links.bar.mass: {distribution: nrm}}\n", "no distribution 'nrm'"),
        ("  over: {links.bar.mass: {distribution: __import__}}\n", "no distribution"),
        ("  over: {links.bar.mass: {distribution: norm, loc: a}}\n", "loc = 'a': must be a number"),
        ("  over: {links.bar.mass: {distribution: norm, local: 3}}\n", "does not take these numbers"),
        ("  over: {links.bar.mass: {distribution: norm, scale: -1}}\n", "cannot have these numbers"),
        ("  over: {links.bar.mass: [1], links.bar.length: {distribution: norm}}\n", "one or the other"),
        ("  over: {links.bar.mass: [1]}\n  members: 3\n", "sweep.members = 3: is of values that are drawn"),
        ("  over: {links.bar.mass: {distribution: norm}}\n  members: 1\n", "whole number, at least 2"),
        ("  over: {links.bar.mass: {distribution: norm}}\n  elementwise: true\n", "these are drawn"),
        ("  over: {links.bar.mass: {distribution: norm}}\n  sobol: 3\n", "true or false"),
        ("  over: {links.bar.mass: [1]}\n  measure: [tipp]\n", "arm.yaml:5: .*did you mean 'tip'"),
        ("  over: {links.bar.mass: [1]}\n  measure: 3\n", "names of measures"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        asked(tmp_path, "sweep:\n" + text)


def test_a_section_must_be_a_mapping(tmp_path):
    with pytest.raises(fa.DescriptionError, match="sweep = 3: must be a mapping"):
        asked(tmp_path, "sweep: 3\n")
    assert "sweep" in fa.schema()["properties"]


def test_a_file_with_a_sweep_is_a_robot_like_any_other(tmp_path):
    asked(tmp_path, "sweep: {over: {links.bar.mass: [1.0]}}\n")
    assert fa.load(tmp_path / "arm.yaml") == fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0)])
    assert np.isfinite(fa.load(tmp_path / "arm.yaml").total_mass)
