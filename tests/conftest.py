"""Property-based tests draw the same examples every time, so that a change is judged by what it changes.

`HYPOTHESIS_PROFILE=search python -m pytest tests/identities` draws new ones. With CI=true a test that is skipped fails,
unless what it lacks is listed here: CI runs what it claims.
"""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# A shell starts what runs in its background with SIGINT ignored, and processes inherit that: tests press Ctrl-C here
# and in programs that they start, so the handler of a program in the foreground is restored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# programs of the system: scripts/install-ci-tools installs them where it may; ziglang takes 400 MB
MAY_LACK = ("no Octave", "no LaTeX", "no ffmpeg", "no Chromium", "no ziglang")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason not in MAY_LACK:
            report.outcome, report.longrepr = "failed", f"skipped ({reason}), but CI must run it: tests/conftest.py"
    return report


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Sources that have been compiled, with an own empty cache and nothing in memory."""
    from flexarm.codegen import cache
    from flexarm.codegen import library as library_module
    from flexarm.integrators import compiled_step

    sources, compile_library = [], library_module.compile_library

    def counted(compiler, source, path):
        sources.append(source)
        return compile_library(compiler, source, path)

    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library_module, "compile_library", counted)
    monkeypatch.setattr(compiled_step, "_codes", type(compiled_step._codes)())
    monkeypatch.setattr(cache, "_said", set())
    yield sources
    for thread in list(compiled_step._threads):  # before the cache goes
        thread.join()


@pytest.fixture
def changed_over(monkeypatch):
    """Runs change over after their first call of the virtual machine: it says that it took long, and waits then.

    The list has one entry for each call of the virtual machine."""
    from flexarm.integrators import compiled_step

    calls, spend = [], compiled_step.CompiledMethod.spend

    def spend_and_wait(self, seconds):
        calls.append(seconds)
        spend(self, 1e9)
        if self._thread is not None:
            self._thread.join()

    monkeypatch.setattr(compiled_step.CompiledMethod, "spend", spend_and_wait)
    return calls
