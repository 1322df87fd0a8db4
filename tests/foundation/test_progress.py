import threading

import pytest

from flexarm.foundation import progress
from flexarm.foundation.progress import Progress, format_time_left, report_progress


@pytest.fixture
def watch(monkeypatch):
    """A clock that is set by hand, and a terminal of 80 columns."""
    now = [100.0]
    monkeypatch.setattr(progress.clock, "perf_counter", lambda: now[0])
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    return now


def test_the_time_left_stands_on_the_bar(watch, capsys):
    with Progress(10.0, enabled=True) as bar:
        watch[0] += 20.0  # compiling
        bar.update(1.0)
        watch[0] += 3.0
        bar.update(2.0)
        bar._bar.refresh()
    output = capsys.readouterr().err
    assert "24 s left; 2 of 10 s, 0.333 x real time" in output  # 8 s at the pace of the last 1 s in 3 s


def test_a_long_first_step_is_shown(watch, capsys):
    with Progress(10.0, enabled=True) as bar:
        watch[0] += 20.0
        bar.update(1.0)
        bar._bar.refresh()
    assert "3 min 00 s left" in capsys.readouterr().err


def test_nothing_is_shown_at_once_or_without_a_terminal(watch, capsys):
    with Progress(10.0, enabled=True) as bar:
        watch[0] += 0.1
        bar.update(5.0)
    with Progress(10.0, enabled=None) as bar:  # stderr is captured here, no terminal
        watch[0] += 20.0
        bar.update(5.0)
    assert capsys.readouterr().err == ""


def test_lines_where_there_can_be_no_bar(watch, capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR")
    with Progress(100.0, enabled=True) as bar:
        for t in range(1, 31):
            watch[0] += 1.0
            bar.update(float(t))
    output = capsys.readouterr().err.splitlines()
    assert output[1] == "simulating: 1 min 29 s left; 11 of 100 s, 1 x real time"
    assert len(output) == 3


@pytest.mark.parametrize(
    ("rest", "pace", "words"),
    [(3, 1, "3 s left"), (90, 1, "1 min 30 s left"), (9000, 1, "2 h 30 min left"), (1, 0, "time left unknown")],
)
def test_times_left_are_words(rest, pace, words):
    assert format_time_left(rest, pace) == words


def test_watcher_hears_what_its_thread_does() -> None:
    reports: list[tuple[str, float, float]] = []
    with report_progress(lambda *output: reports.append(output)):
        with Progress(2.0, False) as bar:
            bar.update(0.5)
        thread = threading.Thread(target=lambda: Progress(9.0, False).update(1.0))
        thread.start()
        thread.join()
        with report_progress(lambda *output: None):
            Progress(3.0, False).update(1.0)
        Progress(4.0, False).update(2.0)
    Progress(5.0, False).update(1.0)
    assert reports == [("simulating", 0.5, 2.0), ("simulating", 2.0, 4.0)]
