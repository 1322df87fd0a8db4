"""Tests of uploaded and exported files."""

from pathlib import Path

import h5py
import pytest

import flexarm as fa
from flexarm.studio.case import StudioCase
from flexarm.studio.export_python import Program
from flexarm.studio.files import encode_run, encode_yaml, read_upload
from flexarm.studio.server import MAX_FILE_BYTES

BAR = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


def test_files_are_read_as_bounded_data() -> None:
    with pytest.raises(ValueError, match="at most 50"):
        read_upload("arm.nc", bytes(MAX_FILE_BYTES + 1))
    with pytest.raises(ValueError, match=r"^arm\.nc: "):
        read_upload("arm.nc", b"no run")
    with pytest.raises(ValueError, match=r"must be a robot \(\.yaml\), or a run"):
        read_upload("../../etc/passwd", b"")
    with pytest.raises(ValueError, match="arm"):
        read_upload("arm.yaml", b"!!python/object/apply:os.system ['true']")
    robot, table = b"links: [{name: a, length: 1, mass: 1}]\n", b"{profile: table, source: /etc/hosts}"
    for name in (table, table.replace(b"/etc/hosts", b"README.md")):
        with pytest.raises(ValueError, match=r"^arm\.yaml: simulation\.torque\.a\.source = .* cannot refer to tables"):
            read_upload("arm.yaml", robot + b"simulation: {duration: 1, torque: {a: " + name + b"}}")


@pytest.mark.parametrize("way", ["link", "virtual", "external"])
def test_links_to_other_files_are_refused(tmp_path: Path, way: str) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as secret:
        secret["q"] = [1.0, 2.0]
    with h5py.File(tmp_path / "run.nc", "w") as file:
        if way == "link":
            file.create_group("deep")["q"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "q")
        elif way == "virtual":
            layout = h5py.VirtualLayout(shape=(2,), dtype="f8")
            layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "q", shape=(2,))
            file.create_virtual_dataset("q", layout)
        else:
            file.create_dataset("q", (2,), "f8", external=[(str(tmp_path / "secret.bin"), 0, 16)])
    with pytest.raises(ValueError, match=r"^run\.nc: q .* another file; only the file itself"):
        read_upload("run.nc", (tmp_path / "run.nc").read_bytes())


def test_large_compressed_files_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "packed.nc", "w") as file:
        file.create_dataset("q", shape=(1_000_000, 1000), dtype="f8", chunks=(1000, 1000), compression="gzip")
    content = (tmp_path / "packed.nc").read_bytes()
    assert len(content) < 1e6
    with pytest.raises(ValueError, match=r"packed\.nc: holds 8 GB of numbers; at most 1 GB can be opened"):
        read_upload("packed.nc", content)


def test_cases_are_exported() -> None:
    plain = StudioCase(
        BAR, {"duration": 0.1, "torque": {"a": {"profile": "bang-bang", "amplitude": 1.0, "switch": [0.05, 0.1]}}}
    )
    assert read_upload("a.yaml", encode_yaml(plain).encode()).plan == plain.plan
    assert "fa.bang_bang(amplitude=1.0, switch=(0.05, 0.1))" in Program(plain).text
    objects = StudioCase.from_robot(BAR, {"torque": {"a": lambda t: 1.0}})
    with pytest.raises(ValueError, match="save as Python"):
        encode_yaml(objects)
    assert encode_run(fa.simulate(BAR, 0.1, native=False), "csv").startswith(b"time")
