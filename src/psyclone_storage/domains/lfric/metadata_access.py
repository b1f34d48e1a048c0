"""Tables of the allowed accesses to kernel arguments, with reasons for errors.

Cells of a continuous space share dofs. If a cell overwrites a shared dof, the result depends on the
order of the cells, unless all cells compute the same value. Therefore a continuous field may only
be incremented or written. A discontinuous field may be read and written.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures.lfric import READ_ONLY_SPACES, is_continuous
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, KernelArg

_FREE = (Access.READ, Access.WRITE, Access.READWRITE)
_SHARED = (Access.READ, Access.WRITE, Access.INC, Access.READINC)
_READ_ONLY = (Access.READ,)

FIELD_ACCESSES: Mapping[tuple[Iteration, bool], tuple[Access, ...]] = {
    (Iteration.CELL_COLUMN, True): _SHARED,
    (Iteration.CELL_COLUMN, False): _FREE,
    (Iteration.OWNED_CELL_COLUMN, True): _SHARED,
    (Iteration.OWNED_CELL_COLUMN, False): _FREE,
    (Iteration.HALO_CELL_COLUMN, True): _SHARED,
    (Iteration.HALO_CELL_COLUMN, False): _FREE,
    (Iteration.OWNED_AND_HALO_CELL_COLUMN, True): _SHARED,
    (Iteration.OWNED_AND_HALO_CELL_COLUMN, False): _FREE,
    (Iteration.DOF, True): _FREE,
    (Iteration.DOF, False): _FREE,
    (Iteration.OWNED_DOF, True): _FREE,
    (Iteration.OWNED_DOF, False): _FREE,
    (Iteration.OWNED_AND_HALO_DOF, True): _FREE,
    (Iteration.OWNED_AND_HALO_DOF, False): _FREE,
    (Iteration.DOMAIN, True): (),
    (Iteration.DOMAIN, False): _FREE,
}
"""Accesses to a field, by the kernel's iteration and whether cells share dofs of the space."""

OTHER_ACCESSES: Mapping[ArgKind, tuple[Access, ...]] = {
    ArgKind.OPERATOR: _FREE,
    ArgKind.COLUMNWISE_OPERATOR: _FREE,
    ArgKind.SCALAR: _READ_ONLY,
    ArgKind.SCALAR_ARRAY: _READ_ONLY,
}
"""Accesses to what is not a field, whatever the kernel iterates over."""


def allowed_accesses(iteration: Iteration, kind: ArgKind, space: str) -> tuple[Access, ...]:
    """Return the allowed accesses of a user's kernel to an argument."""
    if kind is not ArgKind.FIELD:
        return OTHER_ACCESSES[kind]
    allowed = FIELD_ACCESSES[iteration, is_continuous(space)]
    if space in READ_ONLY_SPACES:
        return tuple(access for access in allowed if not access.writes)
    return allowed


def check_access(arg: KernelArg, iteration: Iteration, place: Span) -> Diagnostic | None:
    """Return a diagnostic if the access of `arg` is not allowed; its word is at `place`.

    The caller must reject an argument that is not allowed with any access.
    """
    if arg.access in allowed_accesses(iteration, arg.kind, arg.space):
        return None
    code, message, hint = _refusal(arg, iteration, place.text)
    return Diagnostic(code, message, place, hint=hint)


def _refusal(arg: KernelArg, iteration: Iteration, word: str) -> tuple[str, str, str]:
    """Return the code, message and hint for an access that is not allowed."""
    if arg.access is Access.REDUCTION:
        return (
            "M015",
            f"A kernel cannot reduce into an argument: '{word}' belongs to built-ins.",
            "Use a built-in such as 'sum_X' or 'X_innerproduct_Y' for the reduction.",
        )
    if arg.kind.is_scalar:
        return (
            "M018",
            f"A kernel cannot write a {arg.kind.value}, but '{word}' does.",
            "Every cell would write the same variable. Return the value in a field.",
        )
    if arg.space in READ_ONLY_SPACES:
        return (
            "M016",
            f"The function space '{arg.space}' is read-only, but '{word}' writes.",
            "It holds the coordinates of the mesh, which do not change.",
        )
    return _refusal_of_sharing(arg, iteration, word)


def _refusal_of_sharing(arg: KernelArg, iteration: Iteration, word: str) -> tuple[str, str, str]:
    """Return the error for an access that does not match the sharing of dofs."""
    if arg.kind.is_operator:
        return (
            "M010",
            f"An operator cannot be accessed with '{word}'.",
            "Each cell has entries of its own, so nothing is shared: use 'gh_readwrite'.",
        )
    if iteration.over_dofs:
        return (
            "M009",
            f"A kernel that operates on dofs cannot access a field with '{word}'.",
            "Each dof is visited once, so nothing is shared: use 'gh_readwrite'.",
        )
    if arg.access is Access.READWRITE:
        return (
            "M010",
            f"A field on '{arg.space}' cannot be accessed with '{word}'.",
            "Cells share dofs of this space: use 'gh_inc', or 'gh_readinc' to read them as well.",
        )
    return (
        "M010",
        f"A field on '{arg.space}' cannot be accessed with '{word}'.",
        "Cells share no dofs of this space: use 'gh_readwrite' to update them.",
    )
