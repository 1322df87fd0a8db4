"""What all studies share: the command, pages, figures, data, progress."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import flexarm as fa
from flexarm.cli.paper import paper
from flexarm_papers.figures import curves
from flexarm_papers.page import Page
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
    page.statements([("it turns", f"by {run['rod.q'].values[-1]:.3f} rad", True), ("it bends", "not at all", False)])
    page.figure("turn", curves({"angle (rad)": {"rod": (run.time, run["rod.q"])}}), "How it turns.")
    page.data("turn", run)


SMALL = Study(name="small", paper="Nobody: a rod", covers="figure 1", sections=(swing,))


def test_a_study_writes_its_page_figures_and_data(tmp_path):
    with Steps(1, wanted=True) as steps:
        target = SMALL.run(tmp_path / "new", steps)
    text = target.read_text()
    assert text.startswith("# Nobody: a rod, computed anew\n\n## A rod\n\nIt turns\nby itself.\n")
    assert r"| mass | 1 kg | light \| handy |" in text
    assert "| it turns | by 0.015 rad | yes |" in text
    assert "| it bends | not at all | **no** |" in text
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
