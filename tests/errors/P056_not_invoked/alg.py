"""A kernel that is called outside of an invoke."""

from psyclone_storage.gocean import *
from smooth_mod import smooth


def step(new, old):
    invoke(smooth(new, old))
    smooth(old, new)
    [smooth(new, one) for one in (old, old)]
    calls = [smooth(new, old)]
    return calls
