import numpy as np
import pytest

from .runs import cart, spatial, telescope, two_link


def test_the_arm_stands_where_it_was_at_the_chosen_times():
    run = two_link()
    figure = run.plot_trajectory(times=[0.0, 0.3335, 1.0])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["t = 0 s", "t = 0.3335 s", "t = 1 s", "tip"]
    way = np.delete(figure.axes[0].lines[-1].get_xydata(), 334, axis=0)  # 0.3335 s lies between two samples
    assert way == pytest.approx(run.tip.values[:, :2], abs=1e-9)
    drawn = {line.get_label(): line.get_xydata() for line in figure.axes[0].lines}
    between = np.interp(0.3335, run.time.values, run.data["points"].values[:, 0, 1])
    assert drawn["t = 0.3335 s"][-1, 1] == pytest.approx(between, abs=1e-6)


@pytest.mark.parametrize(("made", "kind"), [(telescope, "rectilinear"), (cart, "rectilinear"), (spatial, "3d")])
def test_every_kind_of_robot_can_be_drawn(made, kind, tmp_path):
    figure = made().plot_trajectory(times=3, magnify=5.0)
    assert figure.axes[0].name == kind
    assert "deflections x 5" in figure.axes[0].get_title()
    figure.savefig(tmp_path / "a.png")


def test_another_run_is_grey():
    figure = two_link().plot_trajectory(times=2, other=two_link(rigid=True))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "tip, rigid twin" in labels


def test_times_outside_the_run_are_refused():
    with pytest.raises(ValueError, match="2 s is outside the run, which goes from 0 to 1 s"):
        two_link().plot_trajectory(times=[2.0])
    with pytest.raises(ValueError, match="times = 0: must be a whole number, at least 1"):
        two_link().plot_trajectory(times=0)
    with pytest.raises(ValueError, match="times = 10000000: at most 1000 postures are drawn in one picture"):
        two_link().plot_trajectory(10_000_000)
    with pytest.raises(ValueError, match="times: are 1001 times; at most 1000 postures"):
        two_link().plot_trajectory([0.5] * 1001)
    with pytest.raises(ValueError, match="magnify = -1"):
        two_link().plot_trajectory(magnify=-1)


def test_a_way_that_is_small_beside_the_arm_is_shown_by_itself():
    run = two_link()
    short = type(run)(run.data.isel(time=slice(0, 300)))  # the tip moves by a centimetre or so
    arm, near = short.plot_trajectory(times=2).axes
    moved = np.ptp(short.tip.values, axis=0)[1]
    assert np.ptp(arm.get_ylim()) > 20 * moved
    assert np.ptp(near.get_ylim()) < 2 * moved
    assert near.lines[0].get_xydata() == pytest.approx(short.tip.values[:, :2], abs=1e-9)
    assert len(telescope().plot_trajectory().axes) == 1  # its boom goes far


def test_a_tip_that_stands_still_is_no_way():
    run = two_link()
    assert len(type(run)(run.data.isel(time=[0])).plot_trajectory(times=1).axes) == 1
