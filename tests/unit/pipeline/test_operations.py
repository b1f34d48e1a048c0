"""What lowering may ask is answered by every infrastructure, or refused on purpose."""

from __future__ import annotations

from typing import get_args

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import Api
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.cached_values import CachedArray
from psyclone_storage.targets.apis import targets_of

ASKED = frozenset((*get_args(ops.RuntimeValue), *get_args(ops.RuntimeAction)))

REFUSED: dict[Api, frozenset[type]] = {
    # No grids, whose points lie in rows and have layers of their own.
    Api.LFRIC: frozenset({
        ops.GridPropertyOf, ops.LayersOf, ops.PointsEnd, ops.ReducePoints,
    }),
    # No function spaces, layers, cells with colours or operators; no loop that adds to a scalar,
    # as the runtime reduces fields; halos whose marks tell stale from clean, and no depth.
    Api.GOCEAN: frozenset({
        ops.ExtentsOf, ops.OperatorCells, ops.BandNumber, ops.ColumnMap, ops.ColourMap,
        ops.HaloDepth, ops.Layers, ops.DofsPerCell, ops.DofsOnRank, ops.DataPerDof, ops.Dofmap,
        ops.BoundaryDofs, ops.Orientation, ops.BasisAtPoints, ops.BasisAtNodes, ops.QuadraturePart,
        ops.CellCount, ops.MeshPair, ops.FaceCount, ops.Normals, ops.AdjacentFaces, ops.StencilMap,
        ops.StencilSizes, ops.StencilDirection, ops.StencilCells, ops.LongestBranch, ops.ExactSum,
        ops.MarkClean, ops.FillDofs, ops.BeginExactSum, ops.AddExactly,
    }),
}  # fmt: skip


GRIDS_IN_FORTRAN = frozenset({"dl_esm_inf", "storage", "registry"})
"""The targets in Fortran for grids, whose fields are two-dimensional, and have no built-ins."""


@pytest.mark.parametrize(("api", "name"), [(api, name) for api in Api for name in targets_of(api)])
def test_each_operation_is_answered_or_refused_on_purpose(api: Api, name: str) -> None:
    known = targets_of(api)[name].infrastructure(default_settings())
    answered = frozenset((*known.values, *known.actions))
    refused = REFUSED[api]
    if api is Api.GOCEAN and name in GRIDS_IN_FORTRAN:
        refused |= {ops.LayersOf, ops.ReducePoints, ops.Reduce, ops.EndExactSum}
    if name != "dl_esm_inf":
        refused |= {CachedArray}
    assert answered.isdisjoint(refused)
    assert answered | refused == ASKED


def test_no_operation_is_refused_by_all() -> None:
    assert not frozenset.intersection(*REFUSED.values())
