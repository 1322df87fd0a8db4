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
