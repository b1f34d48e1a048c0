"""A small ocean in three dimensions: layers, wind, rotation and implicit vertical mixing.

A zonal channel with an island, periodic in x, with walls in the south and the north. Fields with
layers and fields without meet in one invoke. Prints the volume of water above rest, which is
constant up to rounding, and the energy of the currents. `ocean.py --check` computes each step with
plain NumPy as well, on one array for the whole domain, and compares all bits. Another word selects
the target: `c`, `numpy`, or `cuda`, which runs on a device.
"""

import sys

import numpy as np
from ocean_mod import accelerate_u, accelerate_v, carry, diffuse

from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid, Points

POINTS, LAYERS, STEPS = (24, 16), 8, 20
DISTANCE, THICKNESS, STEP, CORIOLIS = 10.0e3, 50.0, 30.0, 1.0e-4


def sea():
    """Return the mask of a channel with an island; the first and the last row are land."""
    mask = np.ones(POINTS, int)
    mask[:, 0] = mask[:, -1] = 0
    mask[10:13, 6:10] = 0
    return mask


def start():
    """Return the temperature, the mixing between layers and the stress of the wind."""
    x, y = np.ix_(*map(np.arange, POINTS))
    k = np.arange(LAYERS)
    warmth = 10.0 - k + 0.5 * np.cos(0.4 * y)[..., None] + 0.1 * np.sin(0.3 * x)[..., None]
    mixing = np.zeros((*POINTS, LAYERS + 1))
    mixing[..., 1:-1] = 0.02 / np.arange(1, LAYERS)
    return warmth, mixing, 1.0e-4 * np.sin(np.pi * y / POINTS[1]) + 0.0 * x


class Model:
    """The model on the ranks of the program."""

    def __init__(self, device):
        """Create the fields."""
        warmth, mixing, stress = start()
        spacing = DISTANCE, DISTANCE
        grid = Grid(POINTS, spacing, periodic=(True, True), mask=sea(), device=device)
        deep = {"layers": LAYERS}
        self.u, self.v = (Field(grid, one, one.name, **deep) for one in (Points.U, Points.V))
        self.warmth = Field(grid, Points.T, "warmth", values=warmth, **deep)
        self.new, self.factor = (Field(grid, Points.T, name, **deep) for name in ("new", "factor"))
        self.mixing = Field(grid, Points.T, "mixing", values=mixing, layers=LAYERS + 1)
        self.surface = Field(grid, Points.T, "surface")
        self.stress = Field(grid, Points.U, "stress", values=stress)

    def advance(self):
        """Compute one step."""
        invoke(
            accelerate_u(self.u, self.v, self.warmth, self.surface, self.stress, STEP, THICKNESS,
                         CORIOLIS),
            accelerate_v(self.v, self.u, self.warmth, self.surface, STEP, THICKNESS, CORIOLIS),
            diffuse(self.u, self.factor, self.mixing),
            diffuse(self.v, self.factor, self.mixing),
            carry(self.new, self.warmth, self.u, self.v, self.surface, STEP, THICKNESS),
            diffuse(self.new, self.factor, self.mixing),
            name="advance",
        )  # fmt: skip
        self.warmth, self.new = self.new, self.warmth

    def results(self):
        """Return all results on the first rank, None on others."""
        found = [one.gather() for one in (self.u, self.v, self.warmth, self.surface)]
        return None if found[0] is None else found


class Reference:
    """The same model with arrays of NumPy for the whole domain."""

    def __init__(self):
        """Create the arrays."""
        self.warmth, self.mixing, self.stress = start()
        self.u, self.v = np.zeros((2, *POINTS, LAYERS))
        self.surface = np.zeros(POINTS)
        is_sea = sea() == 1
        self.sea_u, self.sea_v = is_sea & east(is_sea), is_sea & north(is_sea)

    def advance(self):
        """Compute one step."""
        u, v, warmth, surface = self.u, self.v, self.warmth, self.surface
        self.accelerate(u, east, self.sea_u, CORIOLIS * self.around_u(v))
        u[..., 0] = np.where(self.sea_u, u[..., 0] + STEP * self.stress / THICKNESS, u[..., 0])
        self.accelerate(v, north, self.sea_v, -(CORIOLIS * self.around_v(u)))
        for one in (u, v):
            self.diffuse(one)
        new, gathered = self.carried(warmth), np.zeros(POINTS)
        for k in reversed(range(LAYERS)):
            gathered += (west(u[..., k]) - u[..., k]) / DISTANCE + (
                south(v[..., k]) - v[..., k]
            ) / DISTANCE
        surface += STEP * THICKNESS * gathered
        self.diffuse(new)
        self.warmth = new

    def accelerate(self, speed, beyond, is_sea, turned):
        """Add the pressure gradient in one direction, and the rotation."""
        slope = 9.81 * (beyond(self.surface) - self.surface)
        buoyancy = np.zeros(POINTS)
        for k in range(LAYERS):
            warmth = self.warmth[..., k]
            half = 0.00981 * THICKNESS * (beyond(warmth) - warmth)
            buoyancy -= half
            gained = STEP * (turned[..., k] - (slope + buoyancy) / DISTANCE)
            speed[..., k] = np.where(is_sea, speed[..., k] + gained, speed[..., k])
            buoyancy -= half

    def around_u(self, v):
        """Return the speed to the north where that to the east is."""
        return 0.25 * (v + east(v) + south(v) + south(east(v)))

    def around_v(self, u):
        """Return the speed to the east where that to the north is."""
        return 0.25 * (u + west(u) + north(u) + north(west(u)))

    def diffuse(self, values):
        """Mix columns implicitly."""
        factor, mixing = np.zeros_like(values), self.mixing
        pivot = 1.0 + mixing[..., 1]
        factor[..., 0] = mixing[..., 1] / pivot
        values[..., 0] /= pivot
        for k in range(1, LAYERS):
            above, below = mixing[..., k], mixing[..., k + 1]
            pivot = 1.0 + above * (1.0 - factor[..., k - 1]) + below
            factor[..., k] = below / pivot
            values[..., k] = (values[..., k] + above * values[..., k - 1]) / pivot
        for k in reversed(range(LAYERS - 1)):
            values[..., k] += factor[..., k] * values[..., k + 1]

    def carried(self, warmth):
        """Return the temperature after the water has moved."""
        new, gathered = np.empty_like(warmth), np.zeros(POINTS)
        for k in reversed(range(LAYERS)):
            here, u, v = warmth[..., k], self.u[..., k], self.v[..., k]
            into = (west(u) - u) / DISTANCE + (south(v) - v) / DISTANCE
            flow = (np.maximum(west(u), 0.0) * (west(here) - here)
                    - np.minimum(u, 0.0) * (east(here) - here)) / DISTANCE  # fmt: skip
            flow = flow + (np.maximum(south(v), 0.0) * (south(here) - here)
                           - np.minimum(v, 0.0) * (north(here) - here)) / DISTANCE  # fmt: skip
            if k < LAYERS - 1:
                flow = flow + np.maximum(gathered, 0.0) * (warmth[..., k + 1] - here)
            gathered = gathered + into
            if k > 0:
                flow = flow - np.minimum(gathered, 0.0) * (warmth[..., k - 1] - here)
            new[..., k] = here + STEP * flow
        return new

    def results(self):
        """Return all results."""
        return [self.u, self.v, self.warmth, self.surface]


def east(values):
    """Return the values one point to the east."""
    return np.roll(values, -1, 0)


def west(values):
    """Return the values one point to the west."""
    return np.roll(values, 1, 0)


def north(values):
    """Return the values one point to the north."""
    return np.roll(values, -1, 1)


def south(values):
    """Return the values one point to the south."""
    return np.roll(values, 1, 1)


def report(when, model):
    """Print the volume of water above rest and the energy of the currents."""
    volume = model.surface.sum(reproducible=True)
    energy = model.u.dot(model.u, reproducible=True) + model.v.dot(model.v, reproducible=True)
    if model.u.grid.ranks.rank == 0:
        print(f"{when:6}{volume:24.15E}{energy:24.15E}")


def main():
    """Run the model; with '--check', compare each step with NumPy."""
    target = next((word for word in sys.argv[1:] if word != "--check"), "c")
    configure(target=target)
    model = Model("gpu" if target == "cuda" else None)
    reference = Reference() if "--check" in sys.argv[1:] else None
    report("start", model)
    for step in range(1, STEPS + 1):
        model.advance()
        if reference is not None:
            reference.advance()
            found = model.results()
            for one, other in zip(found or (), reference.results(), strict=False):
                assert np.array_equal(one, other), f"step {step}: {np.abs(one - other).max()}"
    report("end", model)
    if reference is not None and model.u.grid.ranks.rank == 0:
        print("equal to NumPy, bit for bit")


if __name__ == "__main__":
    main()
