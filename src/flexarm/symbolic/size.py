LIMIT = 1e6
def check(robot, limit): pass
