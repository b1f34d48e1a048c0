"""What an invoke in Python cannot be given."""

from psyclone_storage.gocean import *
from smooth_mod import smooth


def step(fields, label):
    invoke()
    invoke(smooth(fields + [1], old()), name=label)
    invoke(smooth, smooth(new=fields), nam="x")
    invoke(smooth(U, u), name="2nd")
