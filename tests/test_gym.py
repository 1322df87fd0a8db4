"""Tests of the gymnasium environment: gymnasium's own checker, seeds, ends of episodes and wrong arguments."""

import builtins
import copy
import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import flexarm as fa
from flexarm.gym import FlexarmEnv

METAL = fa.Material(E=7e10, rho=2700, damping=1e-3)
BAR = fa.Section.rectangle(0.004, 0.02)
HUB = fa.Drive(rotor_inertia=0.02)
ARM = fa.System(
    fa.Robot(
        "arm",
        links=[
            fa.Link("upper", 0.5, fa.Revolute("z", drive=HUB), BAR, METAL, fa.Flexible(bend_y=1)),
            fa.Link("fore", 0.4, fa.Revolute("z", drive=HUB), BAR, METAL),
        ],
    ),
    native=False,
)


def environment(**changes):
    given = {"limit": {"upper": 2.0, "fore": 1.0}, "target": (0.3, 0.4, 0.0), "duration": 0.1, "native": False}
    return FlexarmEnv(ARM, **{**given, **changes})


def drawn(rng):
    return [*rng.uniform(0.2, 0.5, 2), 0.0]


def episode(env, action, seed=None):
    """Run an episode; return its observations, rewards and how it ended."""
    seen, rewards = [env.reset(seed=seed)[0]], []
    while True:
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            return np.array(seen), rewards, terminated, truncated, info


@pytest.mark.parametrize(
    "changes", [{}, {"target": drawn, "noise": 0.1}, {"render_mode": "rgb_array", "observe": ["upper.q"]}]
)
def test_gymnasiums_own_checker_passes(changes):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(environment(**changes))
    words = [str(each.message) for each in caught]
    known = ("minimum value is -infinity", "maximum value is infinity", "not having a spec")  # there is none to give
    assert [each for each in words if not any(word in each for word in known)] == []


def test_an_episode_is_a_simulation_and_is_truncated_at_its_end():
    env = environment()
    seen, rewards, terminated, truncated, info = episode(env, np.array([0.5, -0.5], dtype=np.float32))
    assert (terminated, truncated, len(rewards)) == (False, True, 10)
    assert "reason" not in info
    sim = fa.Simulation(ARM, 0.01, native=False)
    for _ in range(10):
        sim.step([1.0, -0.5])
    assert env.names[:4] == ("upper.q", "fore.q", "upper.q'", "fore.q'")
    assert seen[-1] == pytest.approx([*(sim[name] for name in env.names[:-3]), 0.3, 0.4, 0.0], rel=1e-6)
    assert rewards[-1] == pytest.approx(-np.linalg.norm(sim.tip - [0.3, 0.4, 0.0]))
    assert info["distance"] == -rewards[-1]
    assert info["t"] == pytest.approx(0.1)


def test_seeds_are_respected():
    env, other = environment(target=drawn, noise=0.1), environment(target=drawn, noise=0.1)
    action = np.array([0.3, 0.1], dtype=np.float32)
    first, again = episode(env, action, seed=5), episode(other, action, seed=5)
    assert np.array_equal(first[0], again[0])
    assert first[1] == again[1]
    assert np.array_equal(episode(env, action, seed=5)[0], first[0])
    assert not np.array_equal(episode(env, action, seed=6)[0], first[0])
    assert not np.array_equal(episode(env, action)[0][0], episode(env, action)[0][0])  # the next draws


def test_copies_and_pickles_are_independent():
    env = environment(target=(0.1, 0.2, 0.0))
    env.reset(seed=1)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        other.reset(options={"target": (0.5, 0.5, 0.0)})
        assert other.step([0.1, 0.1])[0][-3] == pytest.approx(0.5)
        assert env.step([0.1, 0.1])[0][-3] == pytest.approx(0.1)


def test_an_episode_starts_at_the_given_state():
    env = environment(q0={"upper.q": 0.2})
    observation, _ = env.reset()
    assert observation[0] == pytest.approx(0.2)
    observation, _ = env.reset(options={"q0": {"upper.q": 1.0}, "v0": {"fore.q": 2.0}, "target": [0.0, 1.0, 0.0]})
    assert dict(zip(env.names, observation.tolist(), strict=True)) == pytest.approx(
        {"upper.q": 1.0, "fore.q": 0.0, "upper.q'": 0.0, "fore.q'": 2.0}
        | {f"tip.{axis}": value for axis, value in zip("xyz", ARM.tip({"upper.q": 1.0}), strict=True)}
        | {"target.x": 0.0, "target.y": 1.0, "target.z": 0.0},
        rel=1e-6,
    )
    assert env.reset()[0][0] == pytest.approx(0.2)
    with pytest.raises(KeyError, match="options: there is no 'q'"):
        env.reset(options={"q": [0.0]})


def test_a_joint_at_the_end_of_its_travel_terminates_with_a_reason():
    car = fa.Link("car", 0.1, fa.SlidingPrismatic(limits=(0.0, 0.5)), mass=0.5)
    rail = fa.Link("rail", 0.5, fa.Weld(), mass=1.0)
    env = FlexarmEnv(
        fa.Robot(links=[rail, car]),
        limit=10.0,
        target=(0.2, 0, 0),
        q0={"car.q": 0.4},
        noise=0.5,
        duration=1.0,
        native=False,
    )
    for seed in range(5):  # noise stays within the travel
        assert 0 <= env.reset(seed=seed)[0][0] <= 0.5
    seen, rewards, terminated, truncated, info = episode(env, [1.0], seed=1)
    assert (terminated, truncated) == (True, False)
    assert "limit" in info["reason"]
    assert info["status"] == "stopped"
    assert np.isfinite(seen).all()
    assert rewards[-1] == pytest.approx(-info["distance"] * (100 - len(rewards) + 1))  # failing does not pay


def test_divergence_terminates_with_a_reason():
    env = environment(method="rk4", dt=0.05, duration=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, _, terminated, _, info = episode(env, [1.0, 1.0])
    assert terminated
    assert "diverged" in info["reason"]
    env.reset()
    assert not env.step([0.0, 0.0])[2]


def test_a_custom_reward():
    seen = []

    def reward(sim, action):
        seen.append(action)
        return -abs(sim["deflection.upper.y"]) - float(action @ action)

    env = environment(reward=reward, target=None, observe=["upper.q", "deflection.upper.y"])
    observation, info = env.reset()
    assert observation.shape == (2,)
    assert "distance" not in info
    observation, got, *_ = env.step([3.0, 0.0])  # cut to its limit
    assert seen[-1] == pytest.approx([1.0, 0.0])
    assert got == pytest.approx(-abs(observation[1]) - 1.0)
    assert env.sim.torque == pytest.approx([2.0, 0.0])


def test_images():
    env = environment(render_mode="rgb_array")
    env.reset()
    first = env.render()
    assert first.dtype == np.uint8
    assert first.ndim == 3
    for _ in range(5):
        env.step([1.0, 1.0])
    second = env.render()
    assert second.shape == first.shape
    assert (first != second).any()
    assert environment().render() is None
    assert env.metadata["render_fps"] == 100


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": None}, "limit = None: give the largest torque"),
        ({"limit": {"upper": 1.0}}, "limit = .*: gives none for 'fore'"),
        ({"limit": {"uper": 1.0}}, "limit: there is no actuator at 'uper'; did you mean 'upper'"),
        ({"limit": -1.0}, "limit = -1.0: must be positive"),
        ({"target": None}, "reward: give a function"),
        ({"target": (1.0, 2.0)}, "target = .*: must be three finite numbers"),
        ({"target": "there"}, "target = 'there'"),
        ({"reward": 3}, "reward = 3: must be a function"),
        ({"observe": "upper.q"}, "observe = 'upper.q': must be a list of names"),
        ({"observe": ["uper.q"]}, "observe: there is no 'uper.q' in this simulation; did you mean 'upper.q'"),
        ({"duration": 0.0}, "duration = 0.0: must be positive"),
        ({"noise": -1.0}, "noise = -1.0: must be zero or positive"),
        ({"render_mode": "human"}, "render_mode = 'human': must be 'rgb_array' or None"),
        ({"dt": 0.0}, "dt = 0.0: must be positive"),
    ],
)
def test_wrong_arguments_are_refused(changes, words):
    with pytest.raises((ValueError, TypeError, KeyError), match=words):
        environment(**changes)


@pytest.mark.parametrize("action", [[1.0], [np.nan, 0.0], ["a", "b"], None, [[0.0, 0.0]]])
def test_actions_are_checked(action):
    env = environment()
    env.reset()
    with pytest.raises(ValueError, match="action"):
        env.step(action)


def test_robots_without_actuators_or_with_constraints_are_refused():
    with pytest.raises(ValueError, match="has no actuators"):
        FlexarmEnv(fa.Robot(links=[fa.Link("mast", 1.0, fa.Weld(), BAR, METAL)]), limit=1.0, target=(0, 0, 0))
    rods = [fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0), fa.Link("c", 1.0, mass=1.0)]
    loop = fa.Robot(links=rods, constraints=[fa.OnLine("c", point=(1.0, 0, 0), direction=(1, 0, 0))])
    with pytest.raises(ValueError, match="noise"):
        FlexarmEnv(loop, limit=1.0, target=(0, 0, 0), noise=0.1, native=False)


def test_without_gymnasium_the_error_names_the_package_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.partition(".")[0] == "gymnasium":
            raise ImportError("no")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    kept = sys.modules.pop("flexarm.gym")
    try:
        with pytest.raises(ImportError, match=r"pip install 'gymnasium>=1\.0'"):
            importlib.import_module("flexarm.gym")
    finally:
        sys.modules["flexarm.gym"] = kept
