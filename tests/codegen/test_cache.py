import os
import stat
import sys
import time
from pathlib import Path

import pytest

from flexarm.codegen import cache
from flexarm.foundation import files

posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions as POSIX has them")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    cache._said.clear()
    files._swept.clear()
    return tmp_path / "cache"


def kept(content=b"library", key="key"):
    """The library of a key, and whether it had to be built."""
    built = []

    def build(folder):
        built.append(folder)
        (folder / "f.so").write_bytes(content)
        return folder / "f.so"

    library = cache.kept_library("f", key, build)
    assert library.read_bytes().startswith(content)
    assert not any(folder.exists() for folder in built)
    return library, bool(built)


def test_what_is_kept_is_not_built_again(own_cache):
    assert kept() == (own_cache / "f-key.so", True)
    assert kept() == (own_cache / "f-key.so", False)
    assert kept(key="other") == (own_cache / "f-other.so", True)


def test_a_library_under_the_name_of_another_is_built_again(own_cache):
    first, _ = kept(b"one", "1")
    os.replace(first, own_cache / "f-2.so")
    assert kept(b"two", "2") == (own_cache / "f-2.so", True)


def test_a_build_that_fails_leaves_nothing(own_cache):
    def build(folder):
        (folder / "f.c").write_text("int")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        cache.kept_library("f", "key", build)
    assert list(own_cache.iterdir()) == []


@posix
def test_folder_and_libraries_are_for_the_user_alone(own_cache):
    before = os.umask(0)
    try:
        library, _ = kept()
    finally:
        os.umask(before)
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(library.stat().st_mode) == 0o600
    assert kept() == (library, False)


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(own_cache, caplog, mode):
    planted, _ = kept()
    own_cache.chmod(mode)
    for _ in range(2):
        library, _ = kept(b"mine", f"key{mode}")
        assert library.parent not in (own_cache, own_cache.parent)
        assert stat.S_IMODE(library.parent.stat().st_mode) == 0o700
    (record,) = caplog.records
    assert f"is not used, since it can be written by others (its mode is {mode:o};" in record.getMessage()
    assert list(own_cache.iterdir()) == [planted]


@posix
def test_a_folder_of_another_user_is_not_used(own_cache, caplog, monkeypatch):
    own_cache.mkdir(0o755)
    monkeypatch.setattr(cache, "is_owned", lambda found: found.st_ino != own_cache.stat().st_ino)
    assert kept(key="another's")[0].parent != own_cache
    assert "is not used, since it belongs to another user; compiled code will not be kept" in caplog.text


@posix
@pytest.mark.parametrize("spoil", ["owner", "mode", "link"])
def test_a_library_that_others_can_have_written_is_built_again(own_cache, monkeypatch, spoil):
    library, _ = kept()
    inode = library.stat().st_ino
    if spoil == "owner":
        monkeypatch.setattr(cache, "is_owned", lambda found: found.st_ino != inode)
    elif spoil == "mode":
        library.chmod(0o620)
    else:
        os.replace(library, own_cache.parent / "elsewhere")
        library.symlink_to(own_cache.parent / "elsewhere")
    assert kept() == (library, True)
    assert library.stat().st_ino != inode
    assert not library.is_symlink()


def test_drafts_that_a_kill_left_are_swept(own_cache):
    kept()
    old, young = own_cache / ".build-old", own_cache / ".build-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "f.c").write_text("")
    os.utime(old, (time.time() - 7200,) * 2)
    files._swept.clear()
    kept()
    assert sorted(path.name for path in own_cache.iterdir()) == [".build-young", "f-key.so"]


def test_sources_count_by_content_not_by_size_or_time(tmp_path):
    def package(text, room="beam", name="a.py"):
        for each in ("foundation", "robot", "beam", "mechanics", "motion"):
            (tmp_path / each / "deep").mkdir(parents=True, exist_ok=True)
            (tmp_path / each / "deep" / "a.py").write_text("x = 1\n")
        file = tmp_path / room / "deep" / name
        file.write_text(text)
        os.utime(file, (1e9, 1e9))
        return cache.fingerprint(tmp_path)

    same = package("x = 1\n")
    assert package("x = 1\n") == same
    edited = {room: package("x = 2\n", room) for room in ("foundation", "robot", "beam", "mechanics", "motion")}
    assert len({same, *edited.values()}) == 6
    assert package("x = 1\n", name="b.py") not in (same, *edited.values())


@pytest.mark.skipif(sys.platform != "linux", reason="ELF files are those of Linux")
def test_a_truncated_library_is_not_kept(own_cache, tmp_path):
    """To load one may end the program."""
    content = Path(sys.executable).resolve().read_bytes()
    assert not cache.is_incomplete(content)
    lengths = [0, 40, 64, 200, len(content) // 4, len(content) // 2, len(content) - 1]
    assert [cache.is_incomplete(content[:length]) for length in lengths] == [True] * len(lengths)

    def build(folder):
        (folder / "library.so").write_bytes(content[: len(content) // 2])
        return folder / "library.so"

    with pytest.raises(OSError, match="incomplete library"):
        cache.kept_library("name", "0" * 32, build)
    assert not [*own_cache.iterdir()]
