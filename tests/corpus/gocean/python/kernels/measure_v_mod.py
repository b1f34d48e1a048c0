"""Multiply by the areas around V points."""

from math import cos

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def measure_v(
    v: field[GO_READWRITE, GO_CV],
    area: grid_property[GO_GRID_AREA_V],
    other: grid_property[GO_GRID_AREA_U],
    latitude: grid_property[GO_GRID_LAT_V],
):
    v[0, 0] = v[0, 0] * area[0, 0] / other[0, 0] * cos(0.01745 * latitude[0, 0])
