"""Columnwise operators: a banded matrix for each column of cells, in solver precision.

The Fortran library determines the numbering of dofs in a column, and the band.
"""

from __future__ import annotations

from typing import Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.lfric.kinds import dtype_of
from psyclone_storage.runtime.lfric.known import Known
from psyclone_storage.runtime.lfric.library import Array, HeldObject, numbers_of
from psyclone_storage.runtime.lfric.matrices import Matrices
from psyclone_storage.runtime.lfric.names import SOLVER_KIND
from psyclone_storage.runtime.lfric.space import FunctionSpace

_FOR_ASSEMBLY, _AS_GIVEN, _FOR_PRODUCT, _FOR_SUM = range(4)


@dataclass(frozen=True, slots=True)
class Band:
    """Band of a matrix: the entries that may be nonzero.

    Entry (i, j), counted from 1, is in the band if -gamma_m <= alpha * i - beta * j <= gamma_p.
    """

    alpha: int
    beta: int
    gamma_m: int
    gamma_p: int


@dataclass(frozen=True, slots=True)
class _Made:
    """Origin of a band: given numbers, or two other bands given by handles."""

    how: int
    numbers: tuple[int, int, int, int] = (1, 1, 0, 0)
    left: int = 0
    right: int = 0


class ColumnwiseOperator(Matrices):
    """A banded matrix for each column, from dofs of one space to those of another, initially zero.

    `storage` has the indices (place in the band, row, column of cells), with the first index
    contiguous. Rows and columns of a matrix are dofs ordered by height. Entry (i, j), counted from
    1, is at place j - j_minus, counted from 0, where j_minus is the smallest j in the band. There
    are matrices for all cells of the halo; kernels write those up to its first depth.

    By default, `band` is the one that assembly requires, which couples the dofs of a layer.

    Collective: all ranks must call it.

    Raises:
        ValueError: the spaces are on different meshes, share dofs between columns, or have several
            values at a dof; or the band does not exist.
        TypeError: an argument is not a function space, or `band` is not four integers.
    """

    alpha = Known[int]("The factor of the row number in the inequality of the band.")
    beta = Known[int]("The factor of the column number in the inequality of the band.")
    gamma_m = Known[int]("The lower bound in the inequality of the band, with opposite sign.")
    gamma_p = Known[int]("The upper bound in the inequality of the band.")
    bandwidth = Known[int]("The maximum number of entries of a row in the band.")
    nrow = Known[int]("The number of dofs of `to_space` in a column.")
    ncol = Known[int]("The number of dofs of `from_space` in a column.")
    banded_dofmap_to = Known[Array]("The row of each dof of `to_space`, (dof of cell, layer).")
    banded_dofmap_from = Known[Array](
        "The column of each dof of `from_space`, (dof of cell, layer)."
    )
    indirection_dofmap_to = Known[Array](
        "The index of the dof of each row in a column of dofs, from 1."
    )
    indirection_dofmap_from = Known[Array](
        "The index of the dof of each matrix column in a column of dofs, from 1."
    )

    # pylint: disable-next=super-init-not-called  # what it makes is made with the band
    def __init__(
        self,
        to_space: FunctionSpace,
        from_space: FunctionSpace,
        label: str = "",
        *,
        band: Band | tuple[int, int, int, int] | None = None,
    ) -> None:
        made_of = _Made(_FOR_ASSEMBLY) if band is None else _Made(_AS_GIVEN, _four(band))
        self._begin(to_space, from_space, label, made_of)

    @classmethod
    def for_product(
        cls, left: ColumnwiseOperator, right: ColumnwiseOperator, label: str = ""
    ) -> ColumnwiseOperator:
        """Return a zero operator with the band of the product of two operators.

        Collective: all ranks must call it.

        Raises:
            TypeError: an argument is not a columnwise operator.
            ValueError: the first operator does not map from the space to which the second maps.
        """
        for one in (left, right):
            _checked(one)
        if left.from_space is not right.to_space:
            raise ValueError(
                f"There is no product of {left.describe()} and {right.describe()}: the first maps "
                f"from {left.from_space.describe()}, the second to {right.to_space.describe()}."
            )
        return cls._combined(_FOR_PRODUCT, left, right, label)

    @classmethod
    def for_sum(
        cls, left: ColumnwiseOperator, right: ColumnwiseOperator, label: str = ""
    ) -> ColumnwiseOperator:
        """Return a zero operator with the band of the sum of two operators.

        Collective: all ranks must call it.

        Raises:
            TypeError: an argument is not a columnwise operator.
            ValueError: they map between different spaces, or their bands have no sum.
        """
        for one in (left, right):
            _checked(one)
        if left.to_space is not right.to_space or left.from_space is not right.from_space:
            raise ValueError(
                f"There is no sum of {left.describe()} and {right.describe()}: they map between "
                f"different spaces."
            )
        return cls._combined(_FOR_SUM, left, right, label)

    @classmethod
    def _combined(
        cls, how: int, left: ColumnwiseOperator, right: ColumnwiseOperator, label: str
    ) -> ColumnwiseOperator:
        made = cls.__new__(cls)
        made_of = _Made(how, left=left.held.number, right=right.held.number)
        made._begin(left.to_space, right.from_space, label, made_of)  # noqa: SLF001
        return made

    def _begin(
        self, to_space: FunctionSpace, from_space: FunctionSpace, label: str, made_of: _Made
    ) -> None:
        """Let the library determine the numbering of matrices, and allocate them."""
        super().__init__(to_space, from_space, label)
        mesh = self.mesh
        self.held: HeldObject = mesh.library.new(
            "new_columns",
            mesh.ranks,
            self.to_space.held.number,
            self.from_space.held.number,
            made_of.how,
            numbers_of(made_of.numbers),
            made_of.left,
            made_of.right,
        )
        self.described: dict[str, Any] = mesh.library.listed("describe_columns", self.held)
        self._make((self.bandwidth, self.nrow, mesh.ncells_2d), dtype_of(SOLVER_KIND))

    @property
    def band(self) -> Band:
        """Band of the matrices: the entries that may be nonzero."""
        return Band(self.alpha, self.beta, self.gamma_m, self.gamma_p)

    @property
    def _kind(self) -> str:
        return "columnwise operator"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: this rank's matrices, their band, and the spaces."""
        return {**super().__getstate__(), "band": self.band}

    def _make_again(
        self, to_space: FunctionSpace, from_space: FunctionSpace, state: dict[str, Any]
    ) -> None:
        ColumnwiseOperator.__init__(self, to_space, from_space, state["label"], band=state["band"])


def _checked(one: Any) -> None:
    if not isinstance(one, ColumnwiseOperator):
        raise TypeError(f"A band is that of two columnwise operators, not of {one!r}.")


def _four(band: Any) -> tuple[int, int, int, int]:
    """Return the numbers of a band; raise `TypeError` unless they are four integers."""
    if isinstance(band, Band):
        return band.alpha, band.beta, band.gamma_m, band.gamma_p
    try:
        alpha, beta, gamma_m, gamma_p = band
    except (TypeError, ValueError):
        words = f"A band is four numbers, alpha, beta, gamma_m and gamma_p, not {band!r}."
        raise TypeError(words) from None
    return alpha, beta, gamma_m, gamma_p
