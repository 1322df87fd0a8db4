"""Expressions are built by one thread at a time: what a system has built so far is shared by all that use it."""

from __future__ import annotations

import threading

building = threading.RLock()
