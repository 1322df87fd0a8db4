"""Entry point of the command line: errors, warnings, signals and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from io import TextIOWrapper
from typing import Any

import typer

from flexarm.cli.analyze import animate, bode, equations, modes, plot
from flexarm.cli.app import INTERRUPTED, TERMINATED, Termination, app
from flexarm.cli.other import paper, schema, studio
from flexarm.cli.run import run, sweep
from flexarm.foundation.messages import error_text

for command in (run, sweep, modes, bode, equations, plot, animate, studio, paper, schema):  # in the order of --help
    app.command()(command)

UsageError: Any = typer.BadParameter.__bases__[0]  # click's class, or the one of the copy of click in newer typers


def main() -> None:
    """Run the program; print warnings and errors as single lines on stderr and exit with the code of the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # print a question mark for letters that the console cannot encode
    termination = Termination()
    termination.listen()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning  # restored by catch_warnings
            code = app(standalone_mode=False)
    except UsageError as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (ValueError, KeyError, OSError) as error:
        text = error_text(error)
        sys.exit(f"error: {text}")
    except Exception as error:
        if os.environ.get("FLEXARM_DEBUG"):
            raise
        advice = "set FLEXARM_DEBUG=1 to see the traceback, and please report it"
        sys.exit(f"error: this is a bug in flexarm ({type(error).__name__}: {error}); {advice}")
    if code == INTERRUPTED:
        print("terminated" if termination.requested else "interrupted", file=sys.stderr)
        code = TERMINATED if termination.requested else INTERRUPTED
    sys.exit(code)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)
