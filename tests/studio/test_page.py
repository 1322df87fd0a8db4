"""A page without a browser: what hands do to its handles, and what then is true."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import flexarm as fa
from flexarm.control.per_joint import usual_gains
from flexarm.studio.case import StudioCase
from flexarm.studio.page import Page
from flexarm.studio.panels.files import KEPT, OPEN
from flexarm.studio.startup import standing
from tests.studio.browserless import Client

PAYLOAD = "links.fore.payload.mass"
ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
OPTIONS = {"duration": 0.4, "torque": {"upper": fa.bang_bang(1.0, (0.1, 0.2))}, "q0": {"fore.q": 0.3}, "native": False}
SECTION = {"duration": 0.2, "torque": {"upper": {"profile": "step", "amplitude": 0.5}}}


def opened(start: StudioCase | fa.Run | None = None) -> Page:
    page = Page(Client(), start or StudioCase.of_robot(ARM, OPTIONS))
    page.wait()
    assert not page.error
    return page


@pytest.fixture(scope="module")
def page() -> Page:
    return opened()


def hand(page: Page, name: str, value: object = True) -> None:
    page.client.gui.made[name].hand(value)
    page.wait()


def corners(page: Page) -> np.ndarray:
    return np.array(page.scene._meshes["arm"].vertices)[: len(page.film.triangles.kinds)]


def colours(page: Page) -> np.ndarray:
    """Of links, as the browser gets them: after the corners, in the same mesh."""
    return np.array(page.scene._meshes["arm"].vertices)[len(page.film.triangles.kinds) :][
        page.film.triangles.kinds == 0
    ]


def test_turned_knob_computes_and_draws(page: Page) -> None:
    page.line.seek(0.3)
    hand(page, "time (s)", 0.3)
    before, runs = corners(page), page.runs
    hand(page, PAYLOAD, 0.5)
    assert page.case.value(PAYLOAD) == 0.5
    assert page.runs == runs + 1
    assert np.abs(corners(page) - before).max() > 1e-4
    hand(page, "go back", "Undo")
    assert page.case.value(PAYLOAD) == 0.15
    assert page.client.gui.made[PAYLOAD].value == "0.15"
    np.testing.assert_allclose(corners(page), before, atol=1e-6)


def test_refused_knob_is_said_and_taken_when_it_can_be(page: Page) -> None:
    hand(page, "links.fore.length", -1.0)
    assert "must be positive (m)" in page.error
    assert page.case.value("links.fore.length") == 0.5
    hand(page, PAYLOAD, 0.2)  # another knob still turns, and what is refused is said again
    assert page.case.value(PAYLOAD) == 0.2
    assert "must be positive (m)" in page.error
    hand(page, "links.fore.length", 0.6)
    assert not page.error
    hand(page, "go back", "Reset")
    assert (page.case.value("links.fore.length"), page.case.value(PAYLOAD)) == (0.5, 0.15)


def test_numbers_are_typed_as_people_write_them(page: Page) -> None:
    for text in ("1", "1e", "1e-", "1e-2"):
        hand(page, PAYLOAD, text)
        assert bool(page.error) == text.endswith(("e", "-"))
    assert page.case.value(PAYLOAD) == 0.01
    hand(page, PAYLOAD, "heavy")
    hand(page, "ghost", "none")
    assert page.error == f"{PAYLOAD} = 'heavy': must be a number"
    hand(page, PAYLOAD, "0.15")
    assert not page.error


def test_good_numbers_beside_a_bad_one_are_taken(page: Page) -> None:
    held = threading.Event()
    page.do(lambda: held.wait(10) and None)
    for path, value in ((PAYLOAD, 0.3), ("links.fore.length", -1.0), ("simulation.duration", 0.3)):
        page.turn(path, value)
    held.set()
    page.wait()
    assert (page.case.value(PAYLOAD), page.case.value("simulation.duration"), page.line.end) == (0.3, 0.3, 0.3)
    assert "must be positive (m)" in page.error
    hand(page, "go back", "Reset")
    assert not page.error


def test_refused_control_is_taken_back(page: Page) -> None:
    hand(page, "feedback", "computed torque")
    assert not page.error
    hand(page, "+ gravity", True)
    assert "holds the robot's weight already" in page.error
    assert not page.client.gui.made["+ gravity"].value
    kp, before = page.control_panel._gains["kp"], len(page._history)
    for text in ("2", "20", "200"):
        kp.hand(text)
        page.wait()
    assert page.case.control.kp == 200.0
    assert len(page._history) == before + 1  # one change, not one for each key
    kp.hand("2e")
    page.wait()
    hand(page, PAYLOAD, 0.16)
    assert page.error == "kp = '2e': must be a number"  # as long as it stands there
    kp.hand("2e1")
    page.wait()
    assert not page.error
    assert page.case.control.kp == 20.0
    hand(page, "go back", "Reset")
    assert kp.value == "10"  # as it was before any feedback was on


def test_feedback_comes_with_gains_of_the_robot_and_goes_to_set_points(page: Page) -> None:
    panel, made = page.control_panel, page.client.gui.made
    panel._goals["upper"].hand("0.2")
    page.wait()
    assert page.error == "set point: joints go there by feedback; choose pd, pid, computed torque or lqr"
    hand(page, "feedback", "pd")
    assert not page.error
    assert page.case.control.goals == {"upper": 0.2}
    usual = usual_gains(page.result.system, {"fore.q": 0.3})
    assert page.case.control.kp == usual.kp
    assert panel._gains["kp"].value == f"upper: {usual.kp['upper']:g}, fore: {usual.kp['fore']:g}"
    assert panel._bandwidth.value == f"{usual.bandwidth:g}"
    panel._bandwidth.hand("3")
    page.wait()
    assert page.case.control.kp == usual_gains(page.result.system, {"fore.q": 0.3}, 3.0).kp
    hand(page, "feedback", "computed torque")
    assert page.case.control.kp == pytest.approx((6 * np.pi) ** 2, rel=1e-3)
    panel._beside.hand()
    page.wait()
    assert list(page.view.ghost_runs) == ["without control"]
    labels = [series["label"] for series in page.plots._plots[0]._drawn.series]
    assert {"upper.q", "upper.q (without control)"} <= set(labels)
    most = [abs(run.array("deflection")).max() for run in (page.result.run, *page.view.ghost_runs.values())]
    assert f"| with | {1e3 * most[0]:.3g} mm |" in panel._worth.content
    assert f"| without | {1e3 * most[1]:.3g} mm |" in panel._worth.content
    panel._beside.hand()
    page.wait()
    assert not page.view.ghost_runs
    assert not panel._worth.visible
    hand(page, "feedback", "none")  # set points stay there, and wait for one
    assert not page.error
    assert page.case.control.off
    assert panel._goals["upper"].value == "0.2"
    panel._goals["upper"].hand("")
    hand(page, "go back", "Reset")
    assert not page.error
    assert made["shaper"].value == "none"


def test_text_of_a_file_is_gone_when_it_is_old(page: Page) -> None:
    hand(page, "save", "Python")
    hand(page, "Save")
    assert page.files._code.visible
    hand(page, PAYLOAD, "0.17")
    assert not page.files._code.visible
    hand(page, "go back", "Reset")


def test_units_that_look_wrong_are_said_as_long_as_they_do(page: Page) -> None:
    hand(page, "links.fore.material.E", "70")
    hand(page, "links.fore.payload.mass", "0.2")
    assert "GPa" in page.status._words.content
    hand(page, "go back", "Reset")
    assert "GPa" not in page.status._words.content


def test_run_that_cannot_be_shown_leaves_the_page_as_it_was(page: Page) -> None:
    runs, case, before = page.runs, page.case, corners(page)
    bad = fa.Run(page.result.run.data.copy(deep=True))
    bad.data["q"].values[1:] = np.nan
    page.do(lambda: page.open(bad))
    page.wait()
    assert "no numbers" in page.error
    assert (page.runs, page.case) == (runs, case)
    np.testing.assert_array_equal(corners(page), before)
    hand(page, PAYLOAD, 0.15)
    assert not page.error


def test_what_is_typed_is_undone_at_once(page: Page) -> None:
    hand(page, "go back", "Reset")
    before = len(page._history)
    for text in ("3", "3.", "3.2", "3.25"):
        hand(page, PAYLOAD, text)
    hand(page, "links.fore.length", "0.6")
    assert len(page._history) == before + 2
    hand(page, "go back", "Undo")
    assert (page.case.value("links.fore.length"), page.case.value(PAYLOAD)) == (0.5, 3.25)
    hand(page, "go back", "Undo")
    assert page.case.value(PAYLOAD) == 0.15


def test_first_run_that_fails_shows_the_arm_at_rest() -> None:
    """In a page that says why, and has knobs to set it right."""
    page = Page(Client(), StudioCase.of_robot(ARM, OPTIONS | {"sample": 7.0}))
    page.wait()
    assert page.error == "sample = 7: must be at most the duration, 0.4 s"
    assert "at rest" in page.status._words.content
    assert page.scene._meshes["arm"].visible
    hand(page, PAYLOAD, 0.2)  # wrong as before
    assert page.error.startswith("sample = 7")
    hand(page, "simulation.sample", "0.01")
    assert not page.error
    assert page.line.end == 0.4
    assert "at rest" not in page.status._words.content
    page.close()


def test_robot_stands_in_its_page_before_its_run_is_computed() -> None:
    case, ready = StudioCase.of_robot(ARM, OPTIONS), threading.Event()
    stands = standing(case)
    page = Page(Client(), case, None, stands, lambda: ready.wait(20) and None)
    assert page.result is None
    before = np.array(page.scene._meshes["arm"].vertices)
    ready.set()
    page.wait()
    np.testing.assert_allclose(page.scene._meshes["arm"].vertices, before, atol=1e-6)  # where its run begins
    assert not page.error
    page.close()


def test_how_a_robot_stands_is_not_guessed() -> None:
    assert standing(StudioCase.of_robot(ARM, OPTIONS | {"q0": "equilibrium"})) is None
    assert standing(StudioCase.of_robot(ARM, OPTIONS | {"q0": {"nobody.q": 1.0}})) is None
    assert standing(StudioCase.of_robot(ARM, OPTIONS | {"q0": [0.0, 0.0, 0.3, 0.0]})) is None
    assert standing(StudioCase.of_robot(ARM, OPTIONS)) is not None


def test_page_of_which_nothing_can_be_shown_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise ValueError("it cannot be")

    monkeypatch.setattr("flexarm.studio.page.computed", never)
    monkeypatch.setattr("flexarm.studio.page.at_rest", never)
    page = Page(Client(), StudioCase.of_robot(ARM, OPTIONS))
    page.wait()
    assert page.error == "it cannot be"
    assert "computing" not in page.status._words.content
    page.close()


def test_same_error_again_is_another_one(page: Page) -> None:
    """One that was put away is seen again."""
    seen = []
    for _ in range(2):
        hand(page, OPEN, type("File", (), {"name": "arm.exe", "content": b""}))
        seen.append(page.status._error.content)
    assert seen[0] != seen[1]
    hand(page, "go back", "Reset")
    page.do(page.forget)
    page.wait()
    assert not page.error


def test_hundred_turns_in_a_row_end_at_the_last(page: Page) -> None:
    runs = page.runs
    for k in range(100):
        page.client.gui.made[PAYLOAD].hand(0.15 + 0.001 * k)
    page.wait()
    assert page.case.value(PAYLOAD) == pytest.approx(0.249)
    assert page.runs - runs <= 100
    assert not page.error


def test_run_that_diverges_leaves_the_page_answering() -> None:
    wild = StudioCase.of_robot(
        ARM, {"duration": 1.0, "method": "rk4", "dt": 0.05, "native": False, "torque": {"upper": 1.0}}
    )
    page = Page(Client(), wild)
    page.wait()
    assert page.error
    page.do(lambda: page.open(StudioCase.of_robot(ARM, OPTIONS)))
    page.wait()
    assert not page.error
    page.close()


def test_long_run_is_stopped_and_gives_way() -> None:
    def slow(t, q, v):
        time.sleep(0.01)
        return {"upper": 0.01}

    long = {"duration": 50.0, "torque": fa.Feedback(slow, rate=100.0), "native": False}
    page = Page(Client(), StudioCase.of_robot(ARM, long))
    time.sleep(0.5)
    page.client.gui.made["go back"].hand("Stop")
    page.wait()
    assert "interrupted" in page.error
    assert 0 < page.line.end < 50
    hand_back = page.client.gui.made["go back"].hand
    page.turn(PAYLOAD, 0.25)
    time.sleep(0.7)
    page.turn("links.fore.length", -1.0)  # refused: the picture is that of the number before, as far as it comes
    time.sleep(0.7)
    hand_back("Undo")  # nobody waits for it any more
    time.sleep(0.7)
    hand_back("Stop")
    page.wait(10)
    assert page.case.value(PAYLOAD) == 0.15
    page.turn(PAYLOAD, 0.2)
    time.sleep(0.7)
    page.turn("simulation.duration", 0.05)  # nobody waits for the longer one
    page.wait(10)
    assert page.line.end == 0.05
    assert page.case.value(PAYLOAD) == 0.2
    assert not page.error
    page.close()


def test_ghost_that_cannot_be_leaves_the_run_shown() -> None:
    page = opened(StudioCase.of_robot(ARM, OPTIONS | {"q0": [0.0, 0.0, 0.3, 0.0]}))
    hand(page, "ghost", "rigid twin")
    assert "give q0 by name" in page.error
    assert page.scene._meshes["arm"].visible
    page.turn(PAYLOAD, 0.3)
    page.wait()
    assert page.case.value(PAYLOAD) == 0.3
    assert "give q0 by name" in page.error
    page.close()


def test_view_magnifies_colours_and_compares(page: Page) -> None:
    hand(page, "go back", "Reset")
    hand(page, "time (s)", 0.35)
    before = corners(page)
    hand(page, "deflection x", 5.0)
    assert np.abs(corners(page) - before).max() > 1e-3
    hand(page, "deflection x", 1.0)
    for colouring in ("deflection", "strain", "moment"):
        hand(page, "colour links by", colouring)
        assert not page.error
        assert len(np.unique(colours(page), axis=0)) > 5
        assert set(page.scene._meshes) <= {"arm", "ghost", "trace", "arrows"}  # the arm is one object
        assert colouring in page.view._legend.content
    hand(page, "colour links by", "none")
    assert len(np.unique(colours(page), axis=0)) == 1
    hand(page, "ghost", "rigid twin")
    assert page.scene._meshes["ghost"].visible
    assert page.view.ghost_runs["rigid twin"].data.sizes["coordinate"] == 2
    hand(page, "time (s)", 0.15)
    hand(page, "torques and loads", True)
    assert page.scene._meshes["arrows"].points.shape == (1, 2, 3)
    hand(page, "Keep this run to compare")
    hand(page, "ghost", "run 1")
    assert page.view.ghost_runs == {"run 1": page.result.run}
    first = len(page.scene._meshes["ghost"].vertices)
    hand(page, "Keep this run to compare")
    hand(page, "ghost", "all that are kept")
    assert list(page.view.ghost_runs) == ["run 1", "run 2"]
    assert len(page.scene._meshes["ghost"].vertices) == 2 * first
    assert "upper.q (run 2)" in [series["label"] for series in page.plots._plots[0]._drawn.series]
    hand(page, "ghost", "none")
    assert not page.scene._meshes["ghost"].visible


def test_ghosts_are_those_that_are_kept() -> None:
    page = opened()
    other = opened(StudioCase.of_robot(ARM, OPTIONS | {"duration": 0.2}))
    kept = page.files.kept
    kept.hold("a.nc", other.result)
    hand(page, "ghost", "a.nc")
    assert page.view.ghost_runs["a.nc"] is other.result.run
    kept.hold("a.nc", page.result)  # another file of that name
    assert page.view.ghost_runs["a.nc"] is page.result.run
    for k in range(KEPT):
        kept.hold(f"{k}.nc", other.result)
    assert page.view._beside.value == "none"
    assert not page.view.ghost_runs
    page.close()
    other.close()


def test_kept_runs_are_listed_renamed_and_forgotten() -> None:
    page = opened()
    made = page.client.gui.made
    assert not made["kept"].visible
    hand(page, "Keep this run to compare")
    assert "1 of at most 8 runs kept: run 1." in page.files.kept._said.content
    hand(page, PAYLOAD, "0.3")
    hand(page, "Keep this run to compare")
    assert made["kept"].options == ("run 1", "run 2")
    hand(page, "ghost", "run 2")
    page.files.kept._name.hand("heavy")
    page.wait()
    assert list(page.view.ghost_runs) == ["heavy"]
    assert "upper.q (heavy)" in [series["label"] for series in page.plots._plots[0]._drawn.series]
    for taken in ("run 1", "rigid twin"):
        page.files.kept._name.hand(taken)
        page.wait()
        assert "must be one that no other run or ghost has" in page.error
    hand(page, "Forget this run")
    assert not page.error
    assert list(page.kept) == ["run 1"]
    assert not page.view.ghost_runs
    assert "upper.q (heavy)" not in [series["label"] for series in page.plots._plots[0]._drawn.series]
    hand(page, "Forget this run")
    assert not made["kept"].visible
    page.close()


def test_output_is_that_in_which_the_tip_moves() -> None:
    lift = fa.Robot("lift", links=[fa.Link("a", 1.0, fa.Revolute("y"), mass=1.0)])
    page = opened(StudioCase.of_robot(lift, {"duration": 0.3, "torque": {"a": 0.3}, "native": False}))
    assert page.client.gui.made["output"].value == "tip.z"
    assert [page.client.gui.made[f"plot {k}"].value for k in (1, 2, 3)] == ["joints", "tip", "energies"]
    assert "`a.q`" in page.response._said.content
    hand(page, "Response at the posture shown")
    assert not page.error
    hand(page, "output", "tip.y")
    hand(page, "Response at the posture shown")
    assert page.error == "response: 'a' does not move 'tip.y' in this posture; choose another of both"
    hand(page, "output", "a.q")
    hand(page, "links.a.mass", "2")
    assert page.client.gui.made["output"].value == "a.q"  # what was typed stays
    page.close()


def test_output_is_that_which_the_input_pushes() -> None:
    """Over the run the tip moves most along x, at its beginning along y."""
    bar = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=1.0)])
    page = opened(StudioCase.of_robot(bar, {"duration": 1.0, "torque": {"a": 2.0}, "native": False}))
    page.line.seek(0.0)
    hand(page, "Response at the posture shown")
    assert page.client.gui.made["output"].value == "tip.y"
    assert not page.error
    hand(page, "time (s)", 0.9)
    joint = float(page.film.q(page.film.index(0.9))[0])
    hand(page, "Response at the posture shown")
    assert page.client.gui.made["output"].value == ("tip.x" if abs(np.sin(joint)) > abs(np.cos(joint)) else "tip.y")
    page.close()


def test_modes_of_a_loop_lock_what_it_leaves() -> None:
    rod = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(E=7e10, rho=2700.0)}
    links = [
        fa.Link("crank", length=0.2, **rod),
        fa.Link("coupler", length=0.7, **rod, flexible=fa.Flexible(bend_y=1)),
        fa.Link("rocker", length=0.5, **rod, parent="ground", offset=(0.7, 0, 0)),
    ]
    linkage = fa.Robot("four-bar", links=links, constraints=[fa.Loop("coupler", "rocker")])
    start = {"coupler.q": 0.7954, "rocker.q": 1.5908}
    page = opened(StudioCase.of_robot(linkage, {"duration": 0.02, "q0": start, "native": False}))
    hand(page, "Modes at the posture shown")
    assert not page.error
    assert "`crank` locked, and `coupler`, `rocker` as the loops leave them" in page.modes._table.content
    held = fa.modes(linkage, q=start, joints={"crank": "locked"}).frequencies[0]
    assert f"{held:.4g}" in page.modes._table.content
    page.close()


def test_modes_stay_as_large_when_deflections_are_magnified(page: Page) -> None:
    hand(page, "Modes at the posture shown")
    step = np.abs(page.shape.step).max()
    hand(page, "deflection x", 10.0)
    assert np.abs(page.shape.step).max() == pytest.approx(step / 10, rel=0.2)
    hand(page, "deflection x", 1.0)
    hand(page, "animate", "none: show the run")


def test_play_advances_and_pause_holds(page: Page) -> None:
    hand(page, "time (s)", 0.0)
    hand(page, "Play")
    assert page.line.playing
    for _ in range(100):
        time.sleep(0.02)
        if page.line.time > 0:
            break
    assert page.line.time > 0
    hand(page, "Play")
    assert not page.line.playing


def test_modes_and_response_at_the_posture_shown(page: Page) -> None:
    hand(page, "time (s)", 0.3)
    hand(page, "Modes at the posture shown")
    assert page.shape is not None
    joint = float(page.film.q(page.film.index(0.3))[page.result.system.index("fore.q")])
    expected = fa.modes(page.result.system.robot, q={"fore.q": joint}, joints="locked").frequencies
    assert f"{expected[0]:.4g}" in page.modes._table.content
    hand(page, "animate", "none: show the run")
    assert page.shape is None
    hand(page, "output", "tip.y")
    hand(page, "Response at the posture shown")
    assert not page.error
    assert len(page.response._drawn) == 3
    assert "posture of 0.3 s" in page.response._drawn[0].content
    assert "posture of 0.3 s" in page.modes._table.content
    hand(page, "output", "tip.w")
    hand(page, "Response at the posture shown")
    assert "tip.w" in page.error
    hand(page, "output", "tip.x")
    hand(page, "Response at the posture shown")
    assert not page.error  # what was wrong before is forgotten
    hand(page, PAYLOAD, 0.2)
    assert not page.response._drawn  # it was that of another robot
    assert not page.modes._table.content
    hand(page, PAYLOAD, 0.15)


def test_files_go_out_and_come_back(page: Page, tmp_path: Path) -> None:
    page = opened(StudioCase(ARM, SECTION))
    client = page.client
    for kind in ("YAML", "Python", "NetCDF", "CSV"):
        hand(page, "save", kind)
        hand(page, "Save")
        assert not page.error
    stem = "two-link_flexible_arm"
    run = page.result.run
    spoken: dict[str, object] = {}
    exec(
        client.files[f"{stem}.py"].decode().replace("fa.simulate(robot, ", "fa.simulate(robot, native=False, "), spoken
    )
    np.testing.assert_allclose(spoken["run"].array("tip"), run.array("tip"), atol=1e-4)
    for name in ("yaml", "nc"):
        file = type("File", (), {"name": f"arm.{name}", "content": client.files[f"{stem}.{name}"]})
        hand(page, OPEN, file)
        assert not page.error
        np.testing.assert_allclose(page.result.run.array("tip"), run.array("tip"), atol=1e-6)
    assert page.case is None  # a recorded run is looked at
    hand(page, "save", "YAML")
    hand(page, "Save")
    assert "recorded run" in page.error
    bad = type("File", (), {"name": "arm.exe", "content": b""})
    hand(page, OPEN, bad)
    assert "must be a robot (.yaml), or a run or a sweep (.nc)" in page.error
    page.close()


def test_program_that_lacks_something_says_what() -> None:
    page = opened(StudioCase.of_robot(ARM, {"duration": 0.1, "torque": {"upper": lambda t: 0.1 * t}, "native": False}))
    hand(page, "save", "Python")
    hand(page, "Save")
    assert page.error == (
        "copy as Python: torque.upper came from Python and cannot be written; put it where from_python stands"
    )
    assert "from_python(&quot;torque.upper" in page.files._code.content.replace("&#x27;", "&quot;")
    page.close()


def test_words_of_files_are_words() -> None:
    """A file from somebody else does nothing in the page but to be shown."""
    evil = "<img src=x onerror=alert(1)>```"
    page = opened(StudioCase(fa.Robot(evil, links=ARM.links), SECTION | {"points": {evil: {"link": "fore", "x": 0.1}}}))
    hand(page, "plot 1", f"{evil}.x")
    for kind in ("YAML", "Python"):
        hand(page, "save", kind)
        hand(page, "Save")
    shown = [each.content for each in (page.status._words, page.status._error, page.files._code)]
    plots = [plot._drawn for plot in page.plots._plots]
    shown += [str(plot.title) for plot in plots] + [str(series["label"]) for plot in plots for series in plot.series]
    assert any("&lt;img" in each for each in shown)
    assert not any("<img" in each for each in shown)
    page.close()


def test_pages_share_nothing() -> None:
    one, other = opened(), opened()
    one.turn(PAYLOAD, 0.4)
    one.wait()
    assert other.case.value(PAYLOAD) == 0.15
    one.close()
    one._thread.join(10)
    assert not one._thread.is_alive()
    other.turn(PAYLOAD, 0.3)
    other.wait()
    assert other.case.value(PAYLOAD) == 0.3
    other.close()


@pytest.mark.parametrize("file", ["examples/08_telescope.yaml"])
def test_robots_of_other_kinds_are_drawn(file: str) -> None:
    page = opened(StudioCase.of_file(file).with_({"simulation.duration": 0.05}))
    assert {0, 1, 3} <= set(page.film.triangles.kinds)  # links, joints, masses
    assert page.scene._meshes["arm"].faces.max() < len(page.film.triangles.kinds)
    page.close()


def test_more_samples_than_a_page_holds_are_refused() -> None:
    page = Page(Client(), StudioCase.of_robot(ARM, {**OPTIONS, "sample": 1e-8}))
    page.wait()
    assert "samples in" in page.error
    assert "at most 200000 are shown here" in page.error
    page.close()


def test_modes_that_grow_are_told() -> None:
    """An inverted rod on a soft drive: not rigid, and nothing of it vibrates."""
    rod = fa.Link("rod", 1.0, fa.Revolute("y", drive=fa.Drive(stiffness=1.0, rotor_inertia=0.01)), mass=3.0)
    robot = fa.Robot("rod", links=[rod], gravity=(-9.81, 0.0, 0.0))
    page = Page(Client(), StudioCase.of_robot(robot, {"duration": 0.05, "native": False}))
    page.wait()
    page.modes.compute()
    assert "they grow" in page.modes._table.content
    assert "rigid" not in page.modes._table.content
    page.close()


@pytest.mark.slow
def test_memory_is_flat_after_a_thousand_runs() -> None:
    import gc
    import resource

    page = opened()
    sizes = []
    for k in range(1000):
        page.turn(PAYLOAD, 0.1 + 1e-4 * k)
        page.wait()
        if k in (299, 999):
            gc.collect()
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    assert page.runs == 1001
    assert sizes[1] - sizes[0] < 40, sizes  # MB
    page.close()
