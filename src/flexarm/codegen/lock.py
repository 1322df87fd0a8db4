"""The lock under which CasADi expressions are built: what a system has built is shared by all threads."""

from __future__ import annotations

import threading

building = threading.RLock()
