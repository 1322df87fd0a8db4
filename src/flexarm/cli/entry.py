"""Where the program begins and ends. A user of it never sees a traceback."""

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

UsageError: Any = typer.BadParameter.__bases__[0]  # click's, or that of the copy of click inside newer typers


def main() -> None:
    """Entry point: errors become one sentence on stderr and a non-zero exit code."""
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that lacks a letter shows a question mark
    termination = Termination()
    termination.listen()
    try:
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
        where = "run again with FLEXARM_DEBUG=1 to see where, and report it"
        sys.exit(f"error: flexarm failed where it should not ({type(error).__name__}: {error}); {where}")
    if code == INTERRUPTED:
        print("terminated" if termination.asked else "interrupted", file=sys.stderr)
        code = TERMINATED if termination.asked else INTERRUPTED
    sys.exit(code)
