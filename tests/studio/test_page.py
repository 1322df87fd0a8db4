"""Tests of a page without a browser: user input and its effects."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import flexarm as fa
from flexarm.control.per_joint import usual_gains
from flexarm.studio import page as page_module
from flexarm.studio.case import StudioCase
from flexarm.studio.page import Page
from flexarm.studio.panels.files import MAX_KEPT_RUNS, OPEN_LABEL
from flexarm.studio.scene import initial_view
from tests.studio.browserless import Client, value_of

PAYLOAD = "links.fore.payload.mass"
ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
OPTIONS = {"duration": 0.4, "torque": {"upper": fa.bang_bang(1.0, (0.1, 0.2))}, "q0": {"fore.q": 0.3}, "native": False}
SECTION = {"duration": 0.2, "torque": {"upper": {"profile": "step", "y0": 0.0, "y1": 0.5}}}


def opened(start: StudioCase | fa.Run | None = None) -> Page:
    page = Page(Client(), start or StudioCase.from_robot(ARM, OPTIONS))
    page.wait()
    assert not page.status.error
    return page


@pytest.fixture(scope="module")
def page() -> Page:
    return opened()


def act(page: Page, name: str, value: object = True) -> None:
    page.client.gui.made[name].set_by_user(value)
    page.wait()


def corners(page: Page) -> np.ndarray:
    return np.array(page.scene._meshes["arm"].vertices)[: len(page.frames.mesh.kinds)]


def colours(page: Page) -> np.ndarray:
    """Return the vertex colours of links as the browser receives them, after the corners in the same mesh."""
    return np.array(page.scene._meshes["arm"].vertices)[len(page.frames.mesh.kinds) :][page.frames.mesh.kinds == "link"]


def test_changed_parameter_computes_and_draws(page: Page) -> None:
    page.timeline.seek(0.3)
    act(page, "time (s)", 0.3)
    before, runs = corners(page), page.run_count
    act(page, PAYLOAD, 0.5)
    assert value_of(page.case, PAYLOAD) == 0.5
    assert page.run_count == runs + 1
    assert np.abs(corners(page) - before).max() > 1e-4
    act(page, "go back", "Undo")
    assert value_of(page.case, PAYLOAD) == 0.15
    assert page.client.gui.made[PAYLOAD].value == "0.15"
    np.testing.assert_allclose(corners(page), before, atol=1e-6)


def test_invalid_parameter_is_reported_until_corrected(page: Page) -> None:
    act(page, "links.fore.length", -1.0)
    assert "must be positive (m)" in page.status.error
    assert value_of(page.case, "links.fore.length") == 0.5
    act(page, PAYLOAD, 0.2)  # other changes are applied, and the error remains
    assert value_of(page.case, PAYLOAD) == 0.2
    assert "must be positive (m)" in page.status.error
    act(page, "links.fore.length", 0.6)
    assert not page.status.error
    act(page, "go back", "Reset")
    assert (value_of(page.case, "links.fore.length"), value_of(page.case, PAYLOAD)) == (0.5, 0.15)


def test_partly_typed_numbers_are_tolerated(page: Page) -> None:
    for text in ("1", "1e", "1e-", "1e-2"):
        act(page, PAYLOAD, text)
        assert bool(page.status.error) == text.endswith(("e", "-"))
    assert value_of(page.case, PAYLOAD) == 0.01
    act(page, PAYLOAD, "heavy")
    act(page, "ghost", "none")
    assert page.status.error == f"{PAYLOAD} = 'heavy': must be a number"
    act(page, PAYLOAD, "0.15")
    assert not page.status.error


def test_valid_changes_are_applied_despite_an_invalid_one(page: Page) -> None:
    held = threading.Event()
    page.submit(lambda: held.wait(10) and None)
    for path, value in ((PAYLOAD, 0.3), ("links.fore.length", -1.0), ("duration", 0.3)):
        page.set_parameter(path, value)
    held.set()
    page.wait()
    assert (value_of(page.case, PAYLOAD), value_of(page.case, "duration"), page.timeline.end) == (0.3, 0.3, 0.3)
    assert "must be positive (m)" in page.status.error
    act(page, "go back", "Reset")
    assert not page.status.error


def test_invalid_control_is_reverted(page: Page) -> None:
    act(page, "feedback", "computed torque")
    assert not page.status.error
    act(page, "+ gravity", True)
    assert "already compensates the weight" in page.status.error
    assert not page.client.gui.made["+ gravity"].value
    kp, before = page.control_panel._gains["kp"], len(page._history)
    for text in ("2", "20", "200"):
        kp.set_by_user(text)
        page.wait()
    assert page.case.control.kp == 200.0
    assert len(page._history) == before + 1  # one change, not one for each key
    kp.set_by_user("2e")
    page.wait()
    act(page, PAYLOAD, 0.16)
    assert page.status.error == "kp = '2e': must be a number"  # until it is corrected
    kp.set_by_user("2e1")
    page.wait()
    assert not page.status.error
    assert page.case.control.kp == 20.0
    act(page, "go back", "Reset")
    assert kp.value == "10"  # the value before feedback was switched on


def test_feedback_has_default_gains_and_set_points(page: Page) -> None:
    panel, made = page.control_panel, page.client.gui.made
    panel._goals["upper"].set_by_user("0.2")
    page.wait()
    assert page.status.error == "set point: needs feedback; choose pd, pid, computed torque or lqr"
    act(page, "feedback", "pd")
    assert not page.status.error
    assert page.case.control.goals == {"upper": 0.2}
    usual = usual_gains(page.result.system, {"fore.q": 0.3})
    assert page.case.control.kp == usual.kp
    assert panel._gains["kp"].value == f"upper: {usual.kp['upper']:g}, fore: {usual.kp['fore']:g}"
    assert panel._bandwidth.value == f"{usual.bandwidth:g}"
    panel._bandwidth.set_by_user("3")
    page.wait()
    assert page.case.control.kp == usual_gains(page.result.system, {"fore.q": 0.3}, 3.0).kp
    act(page, "feedback", "computed torque")
    assert page.case.control.kp == pytest.approx((6 * np.pi) ** 2, rel=1e-3)
    panel._compare_button.set_by_user()
    page.wait()
    assert list(page.view.ghost_runs) == ["without control"]
    labels = [series["label"] for series in page.plots._plots[0]._drawn.series]
    assert {"upper.q", "upper.q (without control)"} <= set(labels)
    most = [abs(run.array("deflection")).max() for run in (page.result.run, *page.view.ghost_runs.values())]
    assert f"| with | {1e3 * most[0]:.3g} mm |" in panel._comparison.content
    assert f"| without | {1e3 * most[1]:.3g} mm |" in panel._comparison.content
    panel._compare_button.set_by_user()
    page.wait()
    assert not page.view.ghost_runs
    assert not panel._comparison.visible
    act(page, "feedback", "none")  # set points are kept
    assert not page.status.error
    assert page.case.control.is_off
    assert panel._goals["upper"].value == "0.2"
    panel._goals["upper"].set_by_user("")
    act(page, "go back", "Reset")
    assert not page.status.error
    assert made["shaper"].value == "none"


def test_outdated_text_of_a_file_is_removed(page: Page) -> None:
    act(page, "save", "Python")
    act(page, "Save")
    assert page.files._code.visible
    act(page, PAYLOAD, "0.17")
    assert not page.files._code.visible
    act(page, "go back", "Reset")


def test_unit_warnings_remain_until_corrected(page: Page) -> None:
    act(page, "links.fore.material.E", "70")
    act(page, "links.fore.payload.mass", "0.2")
    assert "GPa" in page.status._text.content
    act(page, "go back", "Reset")
    assert "GPa" not in page.status._text.content


def test_invalid_run_leaves_the_page_unchanged(page: Page) -> None:
    runs, case, before = page.run_count, page.case, corners(page)
    bad = fa.Run(page.result.run.data.copy(deep=True))
    bad.data["q"].values[1:] = np.nan
    page.submit(lambda: page.open(bad))
    page.wait()
    assert "not finite" in page.status.error
    assert (page.run_count, page.case) == (runs, case)
    np.testing.assert_array_equal(corners(page), before)
    act(page, PAYLOAD, 0.15)
    assert not page.status.error


def test_typed_digits_are_one_undo_step(page: Page) -> None:
    act(page, "go back", "Reset")
    before = len(page._history)
    for text in ("3", "3.", "3.2", "3.25"):
        act(page, PAYLOAD, text)
    act(page, "links.fore.length", "0.6")
    assert len(page._history) == before + 2
    act(page, "go back", "Undo")
    assert (value_of(page.case, "links.fore.length"), value_of(page.case, PAYLOAD)) == (0.5, 3.25)
    act(page, "go back", "Undo")
    assert value_of(page.case, PAYLOAD) == 0.15


def test_failed_first_run_shows_the_arm_at_rest() -> None:
    """The page shows the error, and fields to correct it."""
    page = Page(Client(), StudioCase.from_robot(ARM, OPTIONS | {"sample": 7.0}))
    page.wait()
    assert page.status.error == "sample = 7: must be at most the duration, 0.4 s"
    assert "at rest" in page.status._text.content
    assert page.scene._meshes["arm"].visible
    act(page, PAYLOAD, 0.2)  # still invalid
    assert page.status.error.startswith("sample = 7")
    act(page, "sample", "0.01")
    assert not page.status.error
    assert page.timeline.end == 0.4
    assert "at rest" not in page.status._text.content
    page.close()


def test_robot_is_shown_before_its_run_is_computed() -> None:
    case, ready = StudioCase.from_robot(ARM, OPTIONS), threading.Event()
    stands = initial_view(case)
    page = Page(Client(), case, None, stands, lambda: ready.wait(20) and None)
    assert page.result is None
    before = np.array(page.scene._meshes["arm"].vertices)
    ready.set()
    page.wait()
    np.testing.assert_allclose(page.scene._meshes["arm"].vertices, before, atol=1e-6)  # the start of the run
    assert not page.status.error
    page.close()


def test_unknown_initial_view_is_none() -> None:
    assert initial_view(StudioCase.from_robot(ARM, OPTIONS | {"q0": "equilibrium"})) is None
    assert initial_view(StudioCase.from_robot(ARM, OPTIONS | {"q0": {"missing.q": 1.0}})) is None
    assert initial_view(StudioCase.from_robot(ARM, OPTIONS | {"q0": [0.0, 0.0, 0.3, 0.0]})) is None
    assert initial_view(StudioCase.from_robot(ARM, OPTIONS)) is not None


def test_page_without_anything_to_show_reports_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise ValueError("it cannot be")

    monkeypatch.setattr(page_module, "compute_run", never)
    monkeypatch.setattr(page_module, "compute_rest", never)
    page = Page(Client(), StudioCase.from_robot(ARM, OPTIONS))
    page.wait()
    assert page.status.error == "it cannot be"
    assert "computing" not in page.status._text.content
    page.close()


def test_repeated_error_is_shown_again(page: Page) -> None:
    """Even after it was dismissed."""
    seen = []
    for _ in range(2):
        act(page, OPEN_LABEL, type("File", (), {"name": "arm.exe", "content": b""}))
        seen.append(page.status._error.content)
    assert seen[0] != seen[1]
    act(page, "go back", "Reset")
    page.submit(page.reset_status)
    page.wait()
    assert not page.status.error


def test_last_of_hundred_changes_is_shown(page: Page) -> None:
    runs = page.run_count
    for k in range(100):
        page.client.gui.made[PAYLOAD].set_by_user(0.15 + 0.001 * k)
    page.wait()
    assert value_of(page.case, PAYLOAD) == pytest.approx(0.249)
    assert page.run_count - runs <= 100
    assert not page.status.error


def test_page_survives_a_diverging_run() -> None:
    wild = StudioCase.from_robot(
        ARM, {"duration": 1.0, "method": "rk4", "dt": 0.05, "native": False, "torque": {"upper": 1.0}}
    )
    page = Page(Client(), wild)
    page.wait()
    assert page.status.error
    page.submit(lambda: page.open(StudioCase.from_robot(ARM, OPTIONS)))
    page.wait()
    assert not page.status.error
    page.close()


def test_long_run_is_stopped_or_superseded() -> None:
    def slow(t, q, v):
        time.sleep(0.01)
        return {"upper": 0.01}

    long = {"duration": 50.0, "torque": fa.Feedback(slow, rate=100.0), "native": False}
    page = Page(Client(), StudioCase.from_robot(ARM, long))
    time.sleep(0.5)
    page.client.gui.made["go back"].set_by_user("Stop")
    page.wait()
    assert "interrupted" in page.status.error
    assert 0 < page.timeline.end < 50
    press = page.client.gui.made["go back"].set_by_user
    page.set_parameter(PAYLOAD, 0.25)
    time.sleep(0.7)
    page.set_parameter("links.fore.length", -1.0)  # invalid: the previous value is computed again
    time.sleep(0.7)
    press("Undo")  # supersedes it
    time.sleep(0.7)
    press("Stop")
    page.wait(10)
    assert value_of(page.case, PAYLOAD) == 0.15
    page.set_parameter(PAYLOAD, 0.2)
    time.sleep(0.7)
    page.set_parameter("duration", 0.05)  # supersedes the longer run
    page.wait(10)
    assert page.timeline.end == 0.05
    assert value_of(page.case, PAYLOAD) == 0.2
    assert not page.status.error
    page.close()


def test_invalid_ghost_does_not_hide_the_run() -> None:
    page = opened(StudioCase.from_robot(ARM, OPTIONS | {"q0": [0.0, 0.0, 0.3, 0.0]}))
    act(page, "ghost", "rigid twin")
    assert "give q0 by name" in page.status.error
    assert page.scene._meshes["arm"].visible
    page.set_parameter(PAYLOAD, 0.3)
    page.wait()
    assert value_of(page.case, PAYLOAD) == 0.3
    assert "give q0 by name" in page.status.error
    page.close()


def test_view_magnifies_colours_and_compares(page: Page) -> None:
    act(page, "go back", "Reset")
    act(page, "time (s)", 0.35)
    before = corners(page)
    act(page, "deflection x", 5.0)
    assert np.abs(corners(page) - before).max() > 1e-3
    act(page, "deflection x", 1.0)
    for colouring in ("deflection", "strain", "moment"):
        act(page, "colour links by", colouring)
        assert not page.status.error
        assert len(np.unique(colours(page), axis=0)) > 5
        assert set(page.scene._meshes) <= {"arm", "ghost", "trace", "arrows"}  # the arm is one mesh
        assert colouring in page.view._legend.content
    act(page, "colour links by", "none")
    assert len(np.unique(colours(page), axis=0)) == 1
    act(page, "ghost", "rigid twin")
    assert page.scene._meshes["ghost"].visible
    assert page.view.ghost_runs["rigid twin"].data.sizes["coordinate"] == 2
    act(page, "time (s)", 0.15)
    act(page, "torques and loads", True)
    assert page.scene._meshes["arrows"].points.shape == (1, 2, 3)
    act(page, "Keep this run to compare")
    act(page, "ghost", "run 1")
    assert page.view.ghost_runs == {"run 1": page.result.run}
    first = len(page.scene._meshes["ghost"].vertices)
    act(page, "Keep this run to compare")
    act(page, "ghost", "all kept runs")
    assert list(page.view.ghost_runs) == ["run 1", "run 2"]
    assert len(page.scene._meshes["ghost"].vertices) == 2 * first
    assert "upper.q (run 2)" in [series["label"] for series in page.plots._plots[0]._drawn.series]
    act(page, "ghost", "none")
    assert not page.scene._meshes["ghost"].visible


def test_kept_runs_are_ghosts() -> None:
    page = opened()
    other = opened(StudioCase.from_robot(ARM, OPTIONS | {"duration": 0.2}))
    kept = page.files.kept
    kept.add_run("a.nc", other.result)
    act(page, "ghost", "a.nc")
    assert page.view.ghost_runs["a.nc"] is other.result.run
    kept.add_run("a.nc", page.result)  # another file with the same name
    assert page.view.ghost_runs["a.nc"] is page.result.run
    for k in range(MAX_KEPT_RUNS):
        kept.add_run(f"{k}.nc", other.result)
    assert page.view._ghost_choice.value == "none"
    assert not page.view.ghost_runs
    page.close()
    other.close()


def test_kept_runs_are_listed_renamed_and_removed() -> None:
    page = opened()
    made = page.client.gui.made
    assert not made["kept"].visible
    act(page, "Keep this run to compare")
    assert "1 of at most 8 runs kept: run 1." in page.files.kept._text.content
    act(page, PAYLOAD, "0.3")
    act(page, "Keep this run to compare")
    assert made["kept"].options == ("run 1", "run 2")
    act(page, "ghost", "run 2")
    page.files.kept._name.set_by_user("heavy")
    page.wait()
    assert list(page.view.ghost_runs) == ["heavy"]
    assert "upper.q (heavy)" in [series["label"] for series in page.plots._plots[0]._drawn.series]
    for taken in ("run 1", "rigid twin"):
        page.files.kept._name.set_by_user(taken)
        page.wait()
        assert "must differ from the names of other runs and ghosts" in page.status.error
    act(page, "Forget this run")
    assert not page.status.error
    assert list(page.kept) == ["run 1"]
    assert not page.view.ghost_runs
    assert "upper.q (heavy)" not in [series["label"] for series in page.plots._plots[0]._drawn.series]
    act(page, "Forget this run")
    assert not made["kept"].visible
    page.close()


def test_default_output_is_the_axis_of_largest_tip_motion() -> None:
    lift = fa.Robot("lift", links=[fa.Link("a", 1.0, fa.Revolute("y"), mass=1.0)])
    page = opened(StudioCase.from_robot(lift, {"duration": 0.3, "torque": {"a": 0.3}, "native": False}))
    assert page.client.gui.made["output"].value == "tip.z"
    assert [page.client.gui.made[f"plot {k}"].value for k in (1, 2, 3)] == ["joints", "tip", "energies"]
    assert "`a.q`" in page.response._text.content
    act(page, "Response at the posture shown")
    assert not page.status.error
    act(page, "output", "tip.y")
    act(page, "Response at the posture shown")
    assert page.status.error == "response: 'a' does not move 'tip.y' in this posture; choose another input or output"
    act(page, "output", "a.q")
    act(page, "links.a.mass", "2")
    assert page.client.gui.made["output"].value == "a.q"  # a typed output is kept
    page.close()


def test_output_is_the_axis_that_the_input_accelerates() -> None:
    """The tip moves most along x during the run, but along y at the start."""
    bar = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=1.0)])
    page = opened(StudioCase.from_robot(bar, {"duration": 1.0, "torque": {"a": 2.0}, "native": False}))
    page.timeline.seek(0.0)
    act(page, "Response at the posture shown")
    assert page.client.gui.made["output"].value == "tip.y"
    assert not page.status.error
    act(page, "time (s)", 0.9)
    joint = float(page.frames.q(page.frames.index(0.9))[0])
    act(page, "Response at the posture shown")
    assert page.client.gui.made["output"].value == ("tip.x" if abs(np.sin(joint)) > abs(np.cos(joint)) else "tip.y")
    page.close()


def test_modes_of_a_loop_lock_independent_joints_only() -> None:
    rod = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(E=7e10, rho=2700.0)}
    links = [
        fa.Link("crank", length=0.2, **rod),
        fa.Link("coupler", length=0.7, **rod, flexible=fa.Flexible(bend_y=1)),
        fa.Link("rocker", length=0.5, **rod, parent="ground", offset=(0.7, 0, 0)),
    ]
    linkage = fa.Robot("four-bar", links=links, constraints=[fa.Loop("coupler", "rocker")])
    start = {"coupler.q": 0.7954, "rocker.q": 1.5908}
    page = opened(StudioCase.from_robot(linkage, {"duration": 0.02, "q0": start, "native": False}))
    act(page, "Modes at the posture shown")
    assert not page.status.error
    assert "`crank` locked, and `coupler`, `rocker` free because of the loops" in page.modes._table.content
    held = fa.modes(linkage, q=start, joints={"crank": "locked"}).frequencies[0]
    assert f"{held:.4g}" in page.modes._table.content
    page.close()


def test_mode_amplitude_does_not_depend_on_magnification(page: Page) -> None:
    act(page, "Modes at the posture shown")
    step = np.abs(page.shape.step).max()
    act(page, "deflection x", 10.0)
    assert np.abs(page.shape.step).max() == pytest.approx(step / 10, rel=0.2)
    act(page, "deflection x", 1.0)
    act(page, "animate", "none: show the run")


def test_play_advances_and_pause_holds(page: Page) -> None:
    act(page, "time (s)", 0.0)
    act(page, "Play")
    assert page.timeline.playing
    for _ in range(100):
        time.sleep(0.02)
        if page.timeline.time > 0:
            break
    assert page.timeline.time > 0
    act(page, "Play")
    assert not page.timeline.playing


def test_modes_and_response_at_the_posture_shown(page: Page) -> None:
    act(page, "time (s)", 0.3)
    act(page, "Modes at the posture shown")
    assert page.shape is not None
    joint = float(page.frames.q(page.frames.index(0.3))[page.result.system.index("fore.q")])
    expected = fa.modes(page.result.system.robot, q={"fore.q": joint}, joints="locked").frequencies
    assert f"{expected[0]:.4g}" in page.modes._table.content
    act(page, "animate", "none: show the run")
    assert page.shape is None
    act(page, "output", "tip.y")
    act(page, "Response at the posture shown")
    assert not page.status.error
    assert len(page.response._drawn) == 3
    assert "posture of 0.3 s" in page.response._drawn[0].content
    assert "posture of 0.3 s" in page.modes._table.content
    act(page, "output", "tip.w")
    act(page, "Response at the posture shown")
    assert "tip.w" in page.status.error
    act(page, "output", "tip.x")
    act(page, "Response at the posture shown")
    assert not page.status.error  # earlier errors are removed
    act(page, PAYLOAD, 0.2)
    assert not page.response._drawn  # outdated
    assert not page.modes._table.content
    act(page, PAYLOAD, 0.15)


def test_saved_files_can_be_opened(page: Page, tmp_path: Path) -> None:
    page = opened(StudioCase(ARM, SECTION))
    client = page.client
    for kind in ("YAML", "Python", "NetCDF", "CSV"):
        act(page, "save", kind)
        act(page, "Save")
        assert not page.status.error
    stem = "two-link_flexible_arm"
    run = page.result.run
    namespace: dict[str, object] = {}
    exec(
        client.files[f"{stem}.py"].decode().replace("    robot,\n", "    robot,\n    native=False,\n"),
        namespace,
    )
    np.testing.assert_allclose(namespace["run"].array("tip"), run.array("tip"), atol=1e-4)
    for name in ("yaml", "nc"):
        file = type("File", (), {"name": f"arm.{name}", "content": client.files[f"{stem}.{name}"]})
        act(page, OPEN_LABEL, file)
        assert not page.status.error
        np.testing.assert_allclose(page.result.run.array("tip"), run.array("tip"), atol=1e-6)
    assert page.case is None  # a recorded run
    act(page, "save", "YAML")
    act(page, "Save")
    assert "recorded run" in page.status.error
    bad = type("File", (), {"name": "arm.exe", "content": b""})
    act(page, OPEN_LABEL, bad)
    assert "must be a robot (.yaml), or a run or a sweep (.nc)" in page.status.error
    page.close()


def test_incomplete_program_is_reported() -> None:
    page = opened(
        StudioCase.from_robot(ARM, {"duration": 0.1, "torque": {"upper": lambda t: 0.1 * t}, "native": False})
    )
    act(page, "save", "Python")
    act(page, "Save")
    assert page.status.error == (
        "save as Python: torque.upper: Python objects cannot be exported; insert them in place of from_python"
    )
    assert "from_python(&quot;torque.upper" in page.files._code.content.replace("&#x27;", "&quot;")
    page.close()


def test_markup_in_names_is_escaped() -> None:
    """A file from another source cannot run scripts in the page."""
    evil = "<img src=x onerror=alert(1)>```"
    page = opened(StudioCase(fa.Robot(evil, links=ARM.links), SECTION | {"points": {evil: {"link": "fore", "x": 0.1}}}))
    act(page, "plot 1", f"{evil}.x")
    for kind in ("YAML", "Python"):
        act(page, "save", kind)
        act(page, "Save")
    shown = [each.content for each in (page.status._text, page.status._error, page.files._code)]
    plots = [plot._drawn for plot in page.plots._plots]
    shown += [str(plot.title) for plot in plots] + [str(series["label"]) for plot in plots for series in plot.series]
    assert any("&lt;img" in each for each in shown)
    assert not any("<img" in each for each in shown)
    page.close()


def test_pages_share_no_state() -> None:
    one, other = opened(), opened()
    one.set_parameter(PAYLOAD, 0.4)
    one.wait()
    assert value_of(other.case, PAYLOAD) == 0.15
    one.close()
    one._thread.join(10)
    assert not one._thread.is_alive()
    other.set_parameter(PAYLOAD, 0.3)
    other.wait()
    assert value_of(other.case, PAYLOAD) == 0.3
    other.close()


@pytest.mark.parametrize("file", ["examples/08_telescope.yaml"])
def test_robots_with_prismatic_joints_are_drawn(file: str) -> None:
    page = opened(StudioCase.from_file(file).with_({"duration": 0.05}))
    assert {"link", "joint", "mass"} <= set(page.frames.mesh.kinds)  # links, joints, masses
    assert page.scene._meshes["arm"].faces.max() < len(page.frames.mesh.kinds)
    page.close()


def test_too_many_samples_are_refused() -> None:
    page = Page(Client(), StudioCase.from_robot(ARM, {**OPTIONS, "sample": 1e-8}))
    page.wait()
    assert "samples in" in page.status.error
    assert "at most 200000 are shown here" in page.status.error
    page.close()


def test_unstable_modes_are_reported() -> None:
    """An inverted rod on a soft drive has no rigid and no vibrating modes."""
    rod = fa.Link("rod", 1.0, fa.Revolute("y", drive=fa.Drive(stiffness=1.0, rotor_inertia=0.01)), mass=3.0)
    robot = fa.Robot("rod", links=[rod], gravity=(-9.81, 0.0, 0.0))
    page = Page(Client(), StudioCase.from_robot(robot, {"duration": 0.05, "native": False}))
    page.wait()
    page.modes.compute()
    assert "but grow" in page.modes._table.content
    assert "rigid" not in page.modes._table.content
    page.close()


@pytest.mark.slow
def test_memory_does_not_grow_over_a_thousand_runs() -> None:
    import gc
    import resource

    page = opened()
    sizes = []
    for k in range(1000):
        page.set_parameter(PAYLOAD, 0.1 + 1e-4 * k)
        page.wait()
        if k in (299, 999):
            gc.collect()
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    assert page.run_count == 1001
    assert sizes[1] - sizes[0] < 40, sizes  # MB
    page.close()
