"""The studio: a robot seen, changed and understood in the browser. `fa.studio(robot, ...)` opens it (see
`flexarm.studio.server.studio`)."""

import sys

from flexarm.studio.room import Room

# The call and the room in which it lives have one name, so the room is what is called.
studio = sys.modules[__name__]
studio.__class__ = Room
