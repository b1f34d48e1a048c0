"""Two steps of a tracer, and a copy of it."""

from psyclone_storage.gocean import *
from tracer_mod import advect, clear


def step(new, old, courant):
    invoke(clear(new), advect(new, old, courant), name="step")


def back(old, new):
    invoke(advect(old, new, -0.25), name="back")
