"""Meshes, function spaces, fields and operators of the LFRic API."""

from psyclone_storage.runtime.computing import (
    added,
    checked_index,
    greater,
    greatest,
    kept_whole,
    least,
    lesser,
    module_value,
    of_library,
    power,
    quotient,
    scalar,
    whole_number,
    whole_power,
)
from psyclone_storage.runtime.lfric.cell_operator import CellOperator as Operator
from psyclone_storage.runtime.lfric.cells import CellMap, Columns, CubedSphere, Plane
from psyclone_storage.runtime.lfric.columnwise_operator import Band, ColumnwiseOperator
from psyclone_storage.runtime.lfric.compiled import MeshRoutine as CompiledRoutine
from psyclone_storage.runtime.lfric.device import ColumnLibrary as DeviceLibrary
from psyclone_storage.runtime.lfric.field import (
    DofField as Field,
)
from psyclone_storage.runtime.lfric.field import (
    FieldVector,
    StartedExchange,
    exchange,
    start_exchange,
)
from psyclone_storage.runtime.lfric.halo_levels import halo_checks
from psyclone_storage.runtime.lfric.held import held
from psyclone_storage.runtime.lfric.kinds import dtype_of
from psyclone_storage.runtime.lfric.meant import check_vector
from psyclone_storage.runtime.lfric.mesh import ColumnMesh as Mesh
from psyclone_storage.runtime.lfric.quadrature import (
    QuadratureEdge,
    QuadratureFace,
    QuadratureXYoZ,
)
from psyclone_storage.runtime.lfric.reductions import exact_sum
from psyclone_storage.runtime.lfric.scalar_array import scalar_array
from psyclone_storage.runtime.lfric.space import FunctionSpace, StencilDofs
from psyclone_storage.runtime.lfric.summing import DigitSum as ExactSum
from psyclone_storage.runtime.native import CompiledLibrary

__all__ = [
    "Band",
    "CellMap",
    "Columns",
    "ColumnwiseOperator",
    "CompiledLibrary",
    "CompiledRoutine",
    "CubedSphere",
    "DeviceLibrary",
    "ExactSum",
    "Field",
    "FieldVector",
    "FunctionSpace",
    "Mesh",
    "Operator",
    "Plane",
    "QuadratureEdge",
    "QuadratureFace",
    "QuadratureXYoZ",
    "StartedExchange",
    "StencilDofs",
    "added",
    "check_vector",
    "checked_index",
    "dtype_of",
    "exact_sum",
    "exchange",
    "greater",
    "greatest",
    "halo_checks",
    "held",
    "kept_whole",
    "least",
    "lesser",
    "module_value",
    "of_library",
    "power",
    "quotient",
    "scalar",
    "scalar_array",
    "start_exchange",
    "whole_number",
    "whole_power",
]
