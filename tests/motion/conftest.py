"""What is compiled during a test."""

import pytest

from flexarm.codegen import cache
from flexarm.codegen import library as library_module
from flexarm.motion import code


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Sources that have been compiled, with an own empty cache and nothing in memory."""
    sources, compile_library = [], library_module.compile_library

    def counted(compiler, source, path):
        sources.append(source)
        return compile_library(compiler, source, path)

    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library_module, "compile_library", counted)
    monkeypatch.setattr(code, "_codes", type(code._codes)())
    monkeypatch.setattr(cache, "_said", set())
    yield sources
    for thread in list(code._threads):  # before the cache goes
        thread.join()


@pytest.fixture
def changed_over(monkeypatch):
    """Runs change over after their first call of the virtual machine: it says that it took long, and waits then.

    The list has one entry for each call of the virtual machine."""
    calls, spend = [], code.Code.spend

    def spend_and_wait(self, seconds):
        calls.append(seconds)
        spend(self, 1e9)
        if self._thread is not None:
            self._thread.join()

    monkeypatch.setattr(code.Code, "spend", spend_and_wait)
    return calls
