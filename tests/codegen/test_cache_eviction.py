"""The cache of compiled code stays within a size: what was not used for longest goes first, and nothing else goes."""

import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import pytest

from flexarm.codegen import cache
from flexarm.codegen import library as library_module
from flexarm.codegen.compiler import find_compiler
from flexarm.foundation import files

SIZE = 100_000  # bytes of a library, about

posix = pytest.mark.skipif(os.name != "posix", reason="files as POSIX has them")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FLEXARM_CACHE_SIZE", raising=False)
    cache._said.clear()
    files._swept.clear()
    return tmp_path / "cache"


def key(name):
    return hashlib.sha256(str(name).encode()).hexdigest()[:32]


def kept(name, age=None):
    """A library that was last used so many seconds ago."""

    def build(folder):
        (folder / "f.so").write_bytes(b"x" * SIZE)
        return folder / "f.so"

    library = cache.kept_library("f", key(name), build)
    if age is not None:
        aged(library, age)
    return library


def aged(path, seconds):
    os.utime(path, (time.time() - seconds,) * 2)


def stay(directory, names):
    found = {path.name for path in directory.iterdir()}
    return [name for name in names if f"f-{key(name)}.so" in found]


def test_what_was_not_used_for_longest_goes_first(own_cache, monkeypatch):
    for name, age in (("a", 500), ("b", 300), ("c", 400), ("d", 200)):
        kept(name, age)
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", "0.35 MB")
    kept("e")
    assert stay(own_cache, "abcde") == ["b", "d", "e"]


def test_to_load_a_library_is_to_use_it(own_cache, monkeypatch):
    for name, age in (("a", 500), ("b", 300), ("c", 400)):
        kept(name, age)
    kept("a")  # loaded, now
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", "350kB")
    kept("d")
    assert stay(own_cache, "abcd") == ["a", "b", "d"]


def test_nothing_goes_as_long_as_there_is_room(own_cache):
    for name in range(20):
        kept(name, age=1e6)
    assert stay(own_cache, range(20)) == list(range(20))


def test_nothing_is_looked_at_where_nothing_is_built(own_cache, monkeypatch):
    """A warm first call lists no folder, and a smaller size waits for the next library."""
    kept("a", age=500)
    monkeypatch.setattr(cache.os, "scandir", lambda _: pytest.fail("listed"))
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", "0")
    kept("a")


@pytest.mark.parametrize("size", ["0", "0 MB", "1 B", "0.0"])
def test_nothing_stays_but_what_is_in_use(own_cache, monkeypatch, size):
    kept("old", age=500)
    kept("just loaded by another program", age=5)
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", size)
    new = kept("new")
    assert new.stat().st_size > SIZE
    assert stay(own_cache, ["old", "just loaded by another program", "new"]) == [
        "just loaded by another program",
        "new",
    ]


def test_what_was_just_built_stays_whatever_its_date_and_size(own_cache, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", "0")
    library = kept("new", age=1e6)
    cache.evict(own_cache, 0.0, spared=library)
    assert library.exists()
    cache.evict(own_cache, 0.0, spared=own_cache / "another")
    assert not library.exists()


def test_a_date_in_the_future_protects_nothing_for_ever(own_cache):
    library, old = kept("future", age=-1e6), kept("old", age=1e6)
    size = library.stat().st_size
    cache.evict(own_cache, size, spared=own_cache / "none")
    assert (library.exists(), old.exists()) == (True, False)
    cache.evict(own_cache, 0.0, spared=own_cache / "none")
    assert not library.exists()


@posix
def test_only_files_of_our_own_naming_are_deleted(own_cache, monkeypatch, tmp_path):
    kept("old", age=500)
    (tmp_path / "victim").write_bytes(b"precious")
    others = ["notes.txt", "f-key.so", "libm.so", f"f-{key(1)}.so.bak", f"f-{key(1)[:-1]}.so", f"a b-{key(1)}.so", ".x"]
    others += [f"f-{key(1).upper()}.so", f"-{key(1)}.so"]
    for name in others:
        (own_cache / name).write_bytes(b"x" * SIZE)
        aged(own_cache / name, 1e6)
    (own_cache / f"f-{key('folder')}.so").mkdir()
    (own_cache / f"f-{key('link')}.so").symlink_to(tmp_path / "victim")
    before = {path.name for path in own_cache.iterdir()}
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", "0")
    new = kept("new")
    assert {path.name for path in own_cache.iterdir()} == before - {f"f-{key('old')}.so"} | {new.name}
    assert (tmp_path / "victim").read_bytes() == b"precious"


@posix
def test_files_of_another_user_stay(own_cache, monkeypatch):
    theirs = kept("theirs", age=500)
    inode = theirs.stat().st_ino
    monkeypatch.setattr(cache, "is_owned", lambda found: found.st_ino != inode)
    cache.evict(own_cache, 0.0, spared=own_cache / "none")
    assert theirs.exists()


def test_a_file_that_cannot_be_deleted_is_left_for_the_next_oldest(own_cache, monkeypatch):
    stuck, other, young = kept("stuck", age=500), kept("other", age=400), kept("young", age=300)
    unlink = os.unlink

    def refuse(path, **options):
        if str(path) == str(stuck):
            raise PermissionError(13, "in use")
        unlink(path, **options)

    monkeypatch.setattr(cache.os, "unlink", refuse)
    cache.evict(own_cache, 2.5 * SIZE, spared=young)
    assert (stuck.exists(), other.exists(), young.exists()) == (True, False, True)


def test_files_that_another_program_deleted_meanwhile_count_as_gone(own_cache, monkeypatch):
    """Two that evict at once delete the same libraries, not twice as many."""
    first, second, third = kept("1", age=500), kept("2", age=400), kept("3", age=300)
    seen = cache._libraries(own_cache)
    first.unlink()
    monkeypatch.setattr(cache, "_libraries", lambda _: seen)
    cache.evict(own_cache, 2.5 * SIZE, spared=own_cache / "none")
    assert (second.exists(), third.exists()) == (True, True)


def test_many_that_evict_at_once(own_cache, monkeypatch):
    for name in range(30):
        kept(name, age=1000 + name)
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", "1 MB")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda k: kept(f"new {k}"), range(8)))
    assert all(path.exists() for path in made)
    left = stay(own_cache, range(30))
    assert left == list(range(len(left)))  # the youngest of the old ones
    assert len(left) == 1  # beside eight new ones, within ten


def test_a_folder_that_is_gone_or_a_cache_that_can_only_be_read_is_no_error(own_cache):
    cache.evict(own_cache / "nowhere", 0.0, spared=own_cache / "none")
    cache.touch(own_cache / "nowhere")


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("500", 5e8), (" 2 GB ", 2e9), ("1.5gb", 1.5e9), ("10 kB", 1e4), ("7 b", 7), ("1TB", 1e12), ("0", 0), (".5", 5e5)],
)
def test_sizes_are_megabytes_or_have_a_unit(given, bytes_):
    assert cache.size_to_keep(given) == pytest.approx(bytes_)


@pytest.mark.parametrize("given", ["much", "-1", "1,5 GB", "1 furlong", "nan", "inf", "1.2.3", ".", "GB", "\u0663"])
def test_a_size_that_says_nothing_is_a_sentence_and_the_default(own_cache, caplog, monkeypatch, given):
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", given)
    kept("old", age=500)
    kept("new")
    (record,) = caplog.records  # once
    assert record.getMessage() == (
        f"flexarm: FLEXARM_CACHE_SIZE = {given!r}: must be a number of MB, or one with B, kB, MB, GB or TB ('2 GB'); "
        "500 MB of compiled code are kept"
    )
    assert stay(own_cache, ["old", "new"]) == ["old", "new"]


@pytest.mark.parametrize("given", ["", "  "])
def test_an_empty_size_is_none(caplog, monkeypatch, given):
    monkeypatch.setenv("FLEXARM_CACHE_SIZE", given)
    kept("new")
    assert not caplog.records


def function(scale):
    x = ca.SX.sym("x")
    return ca.Function("f", [x], [scale * ca.sin(x)])


@needs_compiler
def test_the_names_of_real_libraries_are_known(own_cache):
    library_module.compiled(function(2.0))
    assert len(cache._libraries(own_cache)) == len(list(own_cache.iterdir())) == 1


@posix
@needs_compiler
def test_a_library_that_is_deleted_under_a_program_runs_on_and_is_built_again(own_cache):
    first = library_module.compiled(function(2.0))
    for path in own_cache.iterdir():
        path.unlink()
    assert float(first(1.0)) == float(library_module.compiled(function(2.0))(1.0)) == float(function(2.0)(1.0))
    assert float(first(0.5)) == float(function(2.0)(0.5))


@needs_compiler
def test_a_library_that_goes_between_the_look_and_the_load_is_built_again(own_cache, monkeypatch):
    library_module.compiled(function(2.0))
    take = library_module.kept_library
    taken = []

    def stolen(*arguments):
        library = take(*arguments)
        if not taken:
            taken.append(library)
            library.unlink()
        return library

    monkeypatch.setattr(library_module, "kept_library", stolen)
    assert float(library_module.compiled(function(2.0))(1.0)) == float(function(2.0)(1.0))
    assert taken[0].exists()


@needs_compiler
def test_programs_that_share_a_cache_of_no_size(own_cache):
    """Each builds, loads and evicts; all give the right numbers and none complains."""
    code = """if True:
        import sys
        import casadi as ca
        from flexarm.codegen import library as library_module
        x = ca.SX.sym("x")
        for k in range(1, 6):
            f = library_module.compiled(ca.Function("f", [x], [k * x + int(sys.argv[1]) % 2]))
            assert float(f(3.0)) == 3 * k + int(sys.argv[1]) % 2
    """
    environment = {**os.environ, "FLEXARM_CACHE_SIZE": "0"}
    command = [sys.executable, "-c", code]
    programs = [
        subprocess.Popen([*command, str(k)], env=environment, stderr=subprocess.PIPE, text=True) for k in range(4)
    ]
    assert [(each.communicate()[1], each.returncode) for each in programs] == [("", 0)] * 4
