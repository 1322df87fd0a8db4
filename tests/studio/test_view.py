import pytest

from flexarm.studio.panels.view import TimeLine


def test_time_line_stops_at_its_end_unless_it_loops() -> None:
    line = TimeLine(end=1.0, playing=True, loop=False, speed=2.0)
    line.advance(0.2)
    assert line.time == pytest.approx(0.4)
    line.advance(1.0)
    assert (line.time, line.playing) == (1.0, False)
    line.toggle()
    assert (line.time, line.playing) == (0.0, True)
    line.seek(9.0)
    assert line.time == 1.0
    line.end = 0.5
    line.seek(line.time)
    assert line.time == 0.5
    line.toggle()
    line.advance(1.0)
    assert line.time == 0.5
