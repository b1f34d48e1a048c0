"""Stub of a kernel's module, created from metadata, with an empty subroutine.

It supports every kind of kernel that metadata can describe.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import GridStencil, Kernel
from psyclone_storage.ir.unit import Comment, Declare, GeneratedRoutine, Imported, Unit, Use


def lower_stub(kernel: Kernel, dummies: Iterable[Dummy], kinds_module: str) -> Unit:
    """Return the module of `kernel` with an empty subroutine that has `dummies`.

    The module and the subroutine have the names given in the metadata. Kinds are imported from
    `kinds_module`. Scalars are declared before arrays that use them as extents.
    """
    given = tuple(dummies)
    declared = tuple(map(_declare, given))
    kinds = sorted({dummy.type.kind for dummy in given if dummy.type.kind})
    uses = (Use(kinds_module, tuple(Imported(kind, kind) for kind in kinds)),) if kinds else ()
    todo = Comment("TODO: compute what the metadata says is written.")
    routine = GeneratedRoutine(kernel.procedure, declared, (), (todo,), _describe(kernel))
    return Unit(kernel.module, uses, (routine,))


def _declare(dummy: Dummy) -> Declare:
    return Declare(dummy.name, dummy.type, (f"intent({dummy.intent})",), dummy.shape)


def _describe(kernel: Kernel) -> str:
    """Return a line for each metadata argument, for the comment before the subroutine."""
    lines = [f"Arguments of '{kernel.name}', called for: {kernel.iteration.value}"]
    for number, arg in enumerate(kernel.args, start=1):
        parts = [f"{number}. {arg.intrinsic.value} {arg.kind.value}"]
        if arg.vector > 1:
            parts.append(f"vector of {arg.vector}")
        if arg.spaces:
            parts.append(f"on {' from '.join(arg.spaces)}")
        if arg.grid_property:
            parts.append(arg.grid_property)
        if isinstance(arg.stencil, GridStencil):
            parts.append(f"at {' '.join(map(_point, arg.stencil.offsets))}")
        elif arg.stencil is not None:
            parts.append(f"stencil {arg.stencil.value}")
        if arg.mesh is not None:
            parts.append(f"{arg.mesh.value} mesh")
        if arg.is_mask:
            parts.append("mask of cells")
        lines.append(f"  {', '.join(parts)}: {arg.access.value}")
    return "\n".join(lines)


def _point(offset: tuple[int, int]) -> str:
    """Return the indices of a grid point as text, such as `(i-1,j)`."""
    i, j = (f"{name}{step:+d}" if step else name for name, step in zip("ij", offset, strict=True))
    return f"({i},{j})"
