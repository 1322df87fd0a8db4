"""flexarm: the dynamics of robots whose links and joints bend.

Public names are listed in `__init__.pyi`. Each is imported when it is first used: `import flexarm` takes no time,
and describing a robot loads no solver.
"""

import lazy_loader

from flexarm._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
