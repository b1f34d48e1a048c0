"""Algorithm that calls one kernel and receives all of the kernel's data as dummy arguments."""

from __future__ import annotations

from collections.abc import Sequence

from psyclone_storage.ir.expr import Name, StructureConstructor
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Call, Declare, GeneratedRoutine, Imported, Unit, Use

_ROOM = 50  # characters of a name of at most 63, which gets a prefix and a suffix


def lower_caller(kernel: Kernel, passed: Sequence[Declare], kinds_module: str) -> Unit:
    """Return a module with one subroutine that invokes `kernel` with the dummies `passed`."""
    by_module: dict[str, set[str]] = {}
    for one in passed:
        if isinstance(one.type, DerivedType):
            by_module.setdefault(one.type.module or "", set()).add(one.type.name)
        elif one.type.kind:
            by_module.setdefault(kinds_module, set()).add(one.type.kind)
    by_module.setdefault(kernel.module, set()).add(kernel.name)
    uses = tuple(
        Use(module, tuple(Imported(name, name) for name in sorted(names)))
        for module, names in by_module.items()
    )
    functor = StructureConstructor(Name(kernel.name), tuple(Name(one.name) for one in passed))
    invoke = Call(Name("invoke"), (functor,))
    base = kernel.name.removesuffix("_type")[:_ROOM]
    routine = GeneratedRoutine(f"call_{base}", tuple(passed), (), (invoke,))
    return Unit(f"{base}_alg_mod", uses, (routine,))
