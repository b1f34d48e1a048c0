from psyclone_storage.gocean import *
from smooth_mod import smooth


def step(new, old):
    invoke(smooth(new, old))
