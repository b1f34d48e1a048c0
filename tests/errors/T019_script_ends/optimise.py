import sys


def trans(psy):
    if not psy.invokes.names:
        return
    sys.exit()
