"""What all studies share: the command, pages, figures, data, progress."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgb

import flexarm as fa
from flexarm.cli.other import paper
from flexarm.plotting.colours import LINE_STYLES
from flexarm_papers import drawings
from flexarm_papers.figures import curves
from flexarm_papers.page import Page, png
from flexarm_papers.progress import Steps
from flexarm_papers.study import NAMES, Study, studies, study, write_index
from tests.test_cli import flexarm, refused

DOCS = Path(__file__).parents[2] / "docs" / "papers"


def swing(page: Page) -> None:
    run = fa.simulate(fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)]), 0.1, torque={"rod": 1.0}, native=False)
    page.heading("A rod")
    page.text(
        """
        It turns
        by itself.
        """
    )
    page.chosen([("mass", "1 kg", "light | handy")])
    page.changed([("a bent rod", "a straight one", "it is rigid")])
    turned = f"by {run['rod.q'].values[-1]:.3f} rad"
    page.statements([("it turns", turned, True), ("it bends", "not at all", False), ("it is fast", "what is?", None)])
    page.figure("turn", curves({"angle (rad)": {"rod": (run.time, run["rod.q"])}}), "How it turns.")
    page.data("turn", run)


SMALL = Study(name="small", paper="Nobody: a rod", covers="figure 1", sections=(swing,))


def test_a_study_writes_its_page_figures_and_data(tmp_path):
    with Steps(1, wanted=True) as steps:
        target = SMALL.run(tmp_path / "new", steps)
    text = target.read_text()
    assert text.startswith("# Nobody: a rod, recomputed\n\n## A rod\n\nIt turns\nby itself.\n")
    assert r"| mass | 1 kg | light \| handy |" in text
    assert "| it turns | by 0.015 rad | yes |" in text
    assert "| it bends | not at all | **no** |" in text
    assert "| it is fast | what is? | cannot be decided |" in text
    assert "What we change on purpose:\n\n| the paper | here | why |" in text
    assert "| a bent rod | a straight one | it is rigid |" in text
    assert "![How it turns.](turn.png)" in text
    assert (target.parent / "turn.png").read_bytes().startswith(b"\x89PNG")
    assert fa.Run.load(target.parent / "data" / "turn.nc").reason == "completed"
    assert sorted(path.name for path in target.parent.iterdir()) == ["data", "index.md", "turn.png"]


def test_a_study_that_is_interrupted_leaves_no_page_of_half_its_sections(tmp_path):
    def stop(page: Page) -> None:
        raise KeyboardInterrupt

    broken = Study(name="small", paper="Nobody", covers="nothing", sections=(swing, stop))
    with pytest.raises(KeyboardInterrupt), Steps(2) as steps:
        broken.run(tmp_path, steps)
    assert not (tmp_path / "small" / "index.md").exists()
    assert (tmp_path / "small" / "data" / "turn.nc").exists()


def test_a_study_with_a_short_name_has_it_in_its_title_and_cites_the_paper_below(tmp_path):
    named = Study(name="small", short="Nobody (1900)", paper="Nobody, A rod, 1900", covers="nothing", sections=())
    with Steps(0) as steps:
        text = named.run(tmp_path, steps).read_text()
    assert text == "# Nobody (1900), recomputed\n\nThe paper: Nobody, A rod, 1900.\n"


def test_verdicts_of_numpy_are_verdicts(tmp_path):
    page = Page(tmp_path / "p", "title")
    page.statements([("one", "1", np.bool_(True)), ("two", "2", np.bool_(False))])
    assert "| one | 1 | yes |\n| two | 2 | **no** |" in page.write().read_text()


def test_pictures_are_small_and_keep_their_colours(tmp_path):
    from PIL import Image

    lines = {f"line {k}": (np.arange(2.0), np.arange(2.0) + k) for k in range(5)}
    with Image.open(io.BytesIO(png(curves({"height (m)": lines})))) as picture:
        shown = {tuple(colour) for _, colour in picture.convert("RGB").getcolors(picture.width * picture.height)}
    for colour, _ in LINE_STYLES[:5]:
        true = 255 * np.array(to_rgb(colour))
        assert min(np.abs(np.array(each) - true).max() for each in shown) < 12


def test_curves_of_one_label_look_alike_and_legends_lie_outside():
    x = np.arange(2.0)
    figure = curves(
        {"a": {"one": (x, x), "two": (x, -x)}, "b": {"two": (x, x)}, "c": {"two": (x, x), "three": (x, -x)}}
    )
    colours = [{drawn.get_label(): drawn.get_color() for drawn in plot.lines} for plot in figure.axes]
    assert colours[0]["two"] == colours[1]["two"] == colours[2]["two"]
    assert len({colours[0]["one"], colours[0]["two"], colours[2]["three"]}) == 3
    apart = curves({"a": {"one": (x, x), "two": (x, -x)}, "b": {"other": (x, x), "another": (x, -x)}})
    assert apart.axes[0].lines[0].get_color() == apart.axes[1].lines[0].get_color()
    apart.draw_without_rendering()
    for plot in apart.axes:
        frame = plot.get_legend().get_window_extent()
        assert frame.y0 >= plot.get_window_extent().y1 - 1


@pytest.mark.parametrize(
    "picture",
    [
        drawings.rotating_beam(),
        drawings.canadarm2(7.11, 0.475, (0.57, 0.7, 1.36)),
        drawings.rrr_arm((1.0, 4.0, 3.5), 400.0, 5000.0),
        drawings.planar_links(1.0, 0.5),
        drawings.supported_beam(1.0, 0.25),
    ],
)
def test_words_in_drawings_do_not_cover_each_other(picture):
    picture.draw_without_rendering()
    texts = [text for plot in picture.axes for text in plot.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts if text.get_rotation() % 90 == 0]  # others have large boxes
    sheet = picture.get_window_extent()
    assert len(boxes) > 5
    for k, box in enumerate(boxes):
        assert sheet.x0 <= box.x0
        assert box.x1 <= sheet.x1
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_datasets_are_data_too(tmp_path):
    page = Page(tmp_path / "p", "title")
    page.data("table", xr.Dataset({"x": ("t", np.arange(3.0))}))
    assert xr.load_dataset(tmp_path / "p" / "data" / "table.nc", engine="h5netcdf")["x"].sum() == 3


def test_the_list_names_all_studies_and_their_figures():
    done = flexarm("paper")
    assert done.returncode == 0
    for name in NAMES:
        assert re.search(rf"^{name} .*\(.+\)$", done.stdout, re.M)


def test_wrong_names_and_places_are_refused(tmp_path):
    assert "did you mean 'moolam'?" in refused("paper", "moolan")
    (tmp_path / "file").write_text("")
    assert "is a file, not a folder" in refused("paper", "my", "-o", tmp_path / "file")


def test_a_package_without_the_studies_says_where_they_are(monkeypatch):
    """As installed from a wheel, which has none."""
    monkeypatch.setattr(sys, "path", [each for each in sys.path if not each.endswith("studies")])
    for name in [name for name in sys.modules if name.split(".")[0] == "flexarm_papers"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ValueError, match="not part of the installed package: they are run from the repository"):
        paper()


def test_the_index_leads_to_every_study(tmp_path):
    text = write_index(tmp_path, studies()).read_text()
    for name in NAMES:
        assert f"[{name}]({name}/index.md)" in text
        assert study(name).paper in text


@pytest.mark.parametrize("name", NAMES)
def test_the_pages_in_the_documents_have_their_figures(name):
    """`make papers` gathers them; what is asserted is that none was forgotten."""
    page = DOCS / name / "index.md"
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
    assert pictures
    assert sorted(pictures) == sorted(path.name for path in page.parent.glob("*.png"))
