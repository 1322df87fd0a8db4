import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from flexarm.foundation import files

posix = pytest.mark.skipif(os.name == "nt", reason="permissions and links as POSIX has them")


@pytest.fixture(autouse=True)
def not_swept_yet():
    files._swept.clear()


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def refusal(attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError as error:
        return str(error)
    return "nothing was refused"


def test_a_file_is_replaced_whole(tmp_path):
    files.write_text(tmp_path / "a.txt", "eins\n")
    files.write_text(tmp_path / "a.txt", "zwölf\n")
    assert (tmp_path / "a.txt").read_bytes() == "zwölf\n".encode()
    assert entries(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), ZeroDivisionError()])
def test_whatever_goes_wrong_the_earlier_file_stays_and_no_draft(tmp_path, failure):
    (tmp_path / "a.txt").write_text("earlier")

    def write():
        with files.atomic_file(tmp_path / "a.txt") as stream:
            stream.write(b"half")
            raise failure

    with pytest.raises(type(failure)):
        write()
    assert (tmp_path / "a.txt").read_text() == "earlier"
    assert entries(tmp_path) == ["a.txt"]


def test_failures_of_the_system_are_sentences_about_the_users_file(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    (tmp_path / "file").write_text("")
    for path, sentence in (
        (tmp_path, f"{tmp_path}: is a directory, not a file"),
        (tmp_path / "no" / "a", f"{tmp_path}/no/a: there is no folder '{tmp_path}/no'"),
        (tmp_path / "file" / "a", f"{tmp_path}/file/a: there is no folder '{tmp_path}/file'"),
        (tmp_path / ("a" * 300), f"{tmp_path / ('a' * 300)}: cannot be written: File name too long"),
    ):
        for write in (
            lambda path: files.write_bytes(path, b""),
            lambda path: files.write_atomically(path, pytest.fail),
        ):
            assert refusal(write, path) == sentence

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=f"^{target}: cannot be written: No space left on device$") as caught:
        files.write_bytes(target, b"x")
    assert caught.value.errno == 28
    assert entries(tmp_path) == ["file"]


def test_writers_of_named_files_get_a_name_with_the_same_suffix(tmp_path):
    given = []

    def write(part):
        given.append(part)
        with open(part, "wb") as stream:
            stream.write(b"film")

    files.write_atomically(tmp_path / "a.mp4", write)
    assert (tmp_path / "a.mp4").read_bytes() == b"film"
    assert given[0].endswith(".mp4")
    assert not os.path.exists(os.path.dirname(given[0]))
    with pytest.raises(ZeroDivisionError):
        files.write_atomically(tmp_path / "a.mp4", lambda part: 1 / 0)
    assert (tmp_path / "a.mp4").read_bytes() == b"film"
    assert entries(tmp_path) == ["a.mp4"]


@posix
def test_permissions_are_the_umasks_or_those_of_the_earlier_file(tmp_path):
    def mode():
        return stat.S_IMODE((tmp_path / "a").stat().st_mode)

    before = os.umask(0o027)
    try:
        files.write_bytes(tmp_path / "a", b"")
        assert mode() == 0o640
        files.write_atomically(tmp_path / "b", lambda part: open(part, "w").close())
        assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o640
        (tmp_path / "a").chmod(0o604)
        files.write_bytes(tmp_path / "a", b"")
        assert mode() == 0o604
    finally:
        os.umask(before)


@posix
def test_a_link_at_the_place_is_replaced_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "victim").chmod(0o600)
    (tmp_path / "a").symlink_to("victim")
    files.write_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / "a").read_bytes() == b"new"
    assert not (tmp_path / "a").is_symlink()


@posix
def test_a_planted_draft_is_not_written_through(tmp_path, monkeypatch):
    (tmp_path / "victim").write_text("precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "guessed")
    (tmp_path / f"{files.DRAFT_PREFIX}guessed").symlink_to("victim")
    with pytest.raises(FileExistsError, match="a: cannot be written: File exists"):
        files.write_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "victim").read_text() == "precious"


@posix
def test_pipes_and_devices_are_neither_replaced_nor_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for path in (tmp_path / "pipe", tmp_path / "link"):
        sentence = f"{path}: is a pipe, a device or the like, not a file"
        for attempt in (lambda path: files.write_bytes(path, b""), lambda path: files.read_bytes(path, 10)):
            assert refusal(attempt, path) == sentence
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_reading_is_bounded(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert files.read_bytes(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match=r"a: is larger than 4 bytes, which is the most that is read"):
        files.read_bytes(tmp_path / "a", 4)
    with pytest.raises(FileNotFoundError, match="b: there is no such file"):
        files.read_bytes(tmp_path / "b", 4)


def abandon(path, age):
    os.utime(path, (time.time() - age, time.time() - age))


def test_drafts_that_a_kill_left_are_swept_at_a_later_write(tmp_path):
    old, young, folder, other = (
        tmp_path / f"{prefix}1" for prefix in (files.DRAFT_PREFIX, f"{files.DRAFT_PREFIX}2", ".build-", ".x")
    )
    for path in (old, young, other):
        path.write_text("")
    folder.mkdir()
    for path, age in ((old, 7200), (young, 60), (folder, 7200), (other, 7200)):
        abandon(path, age)
    files.write_bytes(tmp_path / "a", b"")
    assert entries(tmp_path) == sorted([young.name, folder.name, other.name, "a"])
    files.remove_abandoned(tmp_path, ".build-")
    assert entries(tmp_path) == sorted([young.name, other.name, "a"])


@posix
def test_drafts_of_others_are_left_alone(tmp_path, monkeypatch):
    draft = tmp_path / f"{files.DRAFT_PREFIX}1"
    draft.write_text("")
    abandon(draft, 7200)
    monkeypatch.setattr(files.os, "geteuid", lambda: os.getuid() + 1)
    files.remove_abandoned(tmp_path, files.DRAFT_PREFIX)
    assert draft.exists()


@pytest.mark.parametrize("path", [3, None, b"a", "", "a\0b"])
def test_what_names_no_file_is_refused(path):
    for attempt in (files.write_bytes, files.write_atomically, files.read_bytes):
        with pytest.raises((TypeError, ValueError), match=r"^path = .*: must be the name of a file$"):
            attempt(path, None)


def test_many_threads_may_write_one_file(tmp_path):
    contents = [bytes([k]) * 100_000 for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: files.write_bytes(tmp_path / "a", content), contents * 5))
    assert (tmp_path / "a").read_bytes() in contents
    assert entries(tmp_path) == ["a"]


@posix
def test_a_full_disk_leaves_the_earlier_file_and_the_program_alive(tmp_path):
    (tmp_path / "a").write_text("earlier")
    code = """if True:
        import resource, signal, sys
        from flexarm.foundation.files import write_bytes
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_bytes(sys.argv[1], b"x" * 100_000)
        except OSError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path}/a: cannot be written: File too large\n"
    assert (tmp_path / "a").read_text() == "earlier"
    assert entries(tmp_path) == ["a"]


def test_a_full_disk_is_named_once_with_its_reason(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    write = lambda part: files.Path(part).write_text("film")  # noqa: E731
    expected = f"{tmp_path / 'film.gif'}: cannot be written: No space left on device"
    assert refusal(files.write_atomically, tmp_path / "film.gif", write) == expected
