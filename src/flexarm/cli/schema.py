"""`flexarm schema`."""

from __future__ import annotations

import json


def schema() -> None:
    """Print the JSON Schema of robot files."""
    import flexarm

    print(json.dumps(flexarm.schema(), indent=2))
