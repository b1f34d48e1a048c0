"""GOcean kernels and algorithms as text, and programs built from them, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.build import BuildOptions, build_program
from psyclone_storage.domains.gocean.domain import GoceanDomain
from psyclone_storage.domains.gocean.metadata import interpret_gocean_metadata
from psyclone_storage.domains.gocean.words import Tables
from psyclone_storage.infrastructures.gocean import GridProperty
from psyclone_storage.ir.expr import Binary, Literal
from psyclone_storage.ir.kernel import FIRST_INTERNAL, LAST_INTERNAL, GridBounds, Kernel
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.schedule import Program, Schedule
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.metadata import read_kernel
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm
from psyclone_storage.transform.halos import with_halos

ONE = Literal("1", Intrinsic.INTEGER)
INNER = GridBounds(
    Binary(Operator.PLUS, FIRST_INTERNAL, ONE),
    Binary(Operator.MINUS, LAST_INTERNAL, ONE),
    FIRST_INTERNAL,
    LAST_INTERNAL,
)
TABLES = Tables(
    properties={
        "go_grid_area_t": GridProperty("", 2, Intrinsic.REAL),
        "go_grid_mask_t": GridProperty("", 2, Intrinsic.INTEGER),
        "go_grid_dx_const": GridProperty("", 0, Intrinsic.REAL),
    },
    bounds={("go_offset_ne", "go_ct", "go_inner_pts"): INNER},
)
WRITE, READ = "go_write, go_ct, go_pointwise", "go_read, go_ct, go_pointwise"


def kernel_text(*entries: str, name: str = "k", over: str = "go_internal_pts", **words: str) -> str:
    """Return a module with the kernel `name`; `words` may give `offset` and the type `of` entries.

    An entry is what stands in the brackets of a `go_arg`.
    """
    of, offset = words.get("of", "go_arg"), words.get("offset", "go_offset_ne")
    args = ", &\n ".join(f"{of}({entry})" for entry in entries)
    return f"""module {name}_mod
type, extends(kernel_type) :: {name}
type({of}) :: meta_args({len(entries)}) = (/ {args} /)
integer :: iterates_over = {over}
integer :: index_offset = {offset}
contains
procedure, nopass :: code => {name}_code
end type
contains
subroutine {name}_code()
end subroutine
end module
"""


def kernel(*entries: str, name: str = "k", over: str = "go_internal_pts", **words: str) -> Kernel:
    """Return the kernel `name` with the meaning of its metadata."""
    text = kernel_text(*entries, name=name, over=over, **words)
    return interpret_gocean_metadata(read_kernel(SourceText(f"{name}_mod.f90", text), name), TABLES)


def program(kernels: Mapping[str, Kernel], calls: str, *, distributed: bool = True) -> Program:
    """Return the program of one invoke, with its halo exchanges."""
    uses = "\n".join(f"use {name}_mod, only : {name}" for name in kernels)
    text = f"program p\n{uses}\ncall invoke({calls})\nend program p\n"
    algorithm = link_algorithm(read_algorithm(SourceText("alg.x90", text)), {})
    domain = GoceanDomain()
    built = build_program(algorithm, kernels, domain, BuildOptions(distributed, False))
    invokes = tuple(
        replace(invoke, schedule=with_halos(invoke.schedule, domain.rules))
        for invoke in built.invokes
    )
    return replace(built, invokes=invokes)


def schedule(kernels: Mapping[str, Kernel], calls: str, *, distributed: bool = True) -> Schedule:
    """Return the schedule of one invoke, with its halo exchanges."""
    return program(kernels, calls, distributed=distributed).invokes[0].schedule
