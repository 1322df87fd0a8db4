"""Property-based tests draw the same examples every time, so that a change is judged by what it changes.

`HYPOTHESIS_PROFILE=search python -m pytest tests/identities` draws new ones.
"""

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
