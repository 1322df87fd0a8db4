import pytest

import flexarm as fa
from flexarm.motion.simulation_file import simulation_options


def test_a_file_orders_what_python_would():
    section = {
        "duration": 2,
        "torque": {"upper": {"profile": "bang-bang", "amplitude": 0.02, "switch": [1, 2]}, "fore": 0.1},
        "motion": {"base": {"profile": "cycloid", "start": 0, "end": 1, "duration": 1}},
        "loads": [{"link": "fore", "x": 0.2, "force": [0, 0, {"profile": "sine", "amplitude": 1, "frequency": 2}]}],
        "points": {"elbow": {"link": "upper", "x": 1.0}},
        "rtol": 1e-4,
        "q0": {"fore.q": 0.3},
    }
    found = simulation_options(section, "arm.yaml")
    assert found["torque"]["upper"](1.5) == -0.02
    assert found["torque"]["fore"](7.0) == 0.1
    assert found["motion"]["base"](5.0) == 1.0
    assert isinstance(found["loads"][0], fa.PointLoad)
    assert found["points"] == {"elbow": ("upper", 1.0)}
    assert found["rtol"] == 1e-4


def test_a_file_chooses_how_constraints_are_kept():
    assert (
        simulation_options({"duration": 1, "stabilization": "projection"}, "arm.yaml")["stabilization"] == "projection"
    )
    found = simulation_options({"duration": 1, "stabilization": {"gamma": 10, "beta": 20}}, "arm.yaml")
    assert found["stabilization"] == fa.Baumgarte(10.0, 20.0)


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        (
            {"duration": 1, "stabilization": "none"},
            "simulation.stabilization = 'none': must be projection, or a mapping",
        ),
        (
            {"duration": 1, "stabilization": {"gamma": -1}},
            "simulation.stabilization: Baumgarte: gamma = -1.0: must be zero",
        ),
        ({"durration": 1}, r"arm.yaml: simulation.durration: unknown field; did you mean 'duration'\?"),
        ({}, "simulation.duration: is required"),
        ({"duration": "long"}, "simulation.duration = 'long': must be a number"),
        ({"duration": 1, "torque": 3}, "simulation.torque = 3: must be a mapping by name"),
        ({"duration": 1, "torque": {"a": {"profile": "bang"}}}, "simulation.torque.a.profile = 'bang': must be one of"),
        (
            {"duration": 1, "loads": [{"at": 1}]},
            r"simulation.loads\[0\]: give link, x, force and torque; at is not right",
        ),
    ],
)
def test_mistakes_in_a_file_are_sentences(section, sentence):
    with pytest.raises(ValueError, match=sentence):
        simulation_options(section, "arm.yaml")
