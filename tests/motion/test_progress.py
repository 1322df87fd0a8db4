"""Who watches long work hears of it, in his own thread alone."""

import threading

from flexarm.motion.progress import Progress, watched


def test_watcher_hears_what_its_thread_does() -> None:
    heard: list[tuple[str, float, float]] = []
    with watched(lambda *said: heard.append(said)):
        with Progress(2.0, False) as bar:
            bar.update(0.5)
        thread = threading.Thread(target=lambda: Progress(9.0, False).update(1.0))
        thread.start()
        thread.join()
        with watched(lambda *said: None):
            Progress(3.0, False).update(1.0)
        Progress(4.0, False).update(2.0)
    Progress(5.0, False).update(1.0)
    assert heard == [("simulating", 0.5, 2.0), ("simulating", 2.0, 4.0)]
