"""Two fields on two types of points, set in one loop where their bounds agree."""

from psyclone_storage.gocean import *
from two_mod import on_v
from near_mod import north
from alg_psy import invoke_step


def step(u, v, old):
    invoke_step(u, old, v)
