"""From a robot to a controller that works: shaped commands, feedback, inversion."""
