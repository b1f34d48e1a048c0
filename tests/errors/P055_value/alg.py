"""An invoke that is used as a value."""

from psyclone_storage.gocean import *
from smooth_mod import smooth


def step(new, old):
    done = invoke(smooth(new, old))
    return done
