"""A script whose process is killed on one of two files, as the system does when memory runs out."""

import os
import signal


def trans(psy):
    if "other" in psy.name:
        os.kill(os.getpid(), signal.SIGKILL)
