"""Rules for the combination of a kernel's metadata entries (spec 1.11).

Each rule is a function from a kernel, whose entries are individually correct, to diagnostics. Three
rules of PSyclone are omitted, because the calling sequence does not require them:

- PSyclone rejects a local operator together with an integer field, although each array has its own
  type. Users ask for this in stfc/PSyclone#2934.

- PSyclone rejects scalars in a kernel between two meshes. LFRic therefore has hand-written calls of
  such kernels (stfc/PSyclone#2504).

- Until September 2026 PSyclone rejected a stencil in a kernel that operates on the domain
  (stfc/PSyclone#1948). Here the whole stencil map is passed, like the whole dofmap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.source import Span
from psyclone_storage.domains.lfric.metadata_cma import check_cma
from psyclone_storage.domains.lfric.metadata_needs import items_of
from psyclone_storage.infrastructures.lfric import is_continuous
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir.expr import canonical
from psyclone_storage.ir.parsed import ParsedKernel

MetadataRule = Callable[[kern.Kernel, ParsedKernel], Iterable[Diagnostic]]


def check_metadata(kernel: kern.Kernel, parsed: ParsedKernel) -> list[Diagnostic]:
    """Return all diagnostics for a kernel whose entries are individually correct."""
    restricted = kernel.iteration.over_dofs or kernel.iteration is kern.Iteration.DOMAIN
    rules = _RULES + (_RESTRICTED if restricted else _UNRESTRICTED)
    return [problem for rule in rules for problem in rule(kernel, parsed)]


# ---------------------------------------------------------------------------- arguments


def _check_something_written(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    if not any(arg.access.writes for arg in kernel.args):
        message = f"'{kernel.name}' writes none of its arguments."
        hint = "A kernel without a result has no effect: is an access wrong?"
        yield Diagnostic("M017", message, kernel.span, hint=hint)


def _check_intergrid(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    on_mesh = [arg for arg in kernel.args if arg.mesh]
    if not on_mesh:
        return
    for arg in kernel.args:
        if arg.kind.is_operator:
            message = (
                f"A kernel between two meshes has fields and scalars, not this {arg.kind.value}."
            )
            hint = "An operator acts on the cells of one mesh."
            yield Diagnostic("M035", message, arg.span, hint=hint)
        elif arg.mesh is None and not arg.kind.is_scalar:
            message = "This field does not say which of the two meshes it is on."
            hint = "Add 'mesh_arg=gh_coarse' or 'mesh_arg=gh_fine'."
            yield Diagnostic("M036", message, arg.span, hint=hint)
    yield from _check_two_meshes(on_mesh)


def _check_two_meshes(on_mesh: list[kern.KernelArg]) -> Iterator[Diagnostic]:
    meshes = {arg.mesh for arg in on_mesh}
    if len(meshes) == 1:
        given = on_mesh[0].mesh
        missing = kern.MeshRole.FINE if given is kern.MeshRole.COARSE else kern.MeshRole.COARSE
        message = f"No field is on the {missing.value} mesh, so there is nothing to map."
        hint = f"Give a field 'mesh_arg=gh_{missing.value}'."
        yield Diagnostic("M034", message, on_mesh[0].span, hint=hint)
    users: dict[str, kern.KernelArg] = {}
    for arg in on_mesh:
        first = users.setdefault(arg.space, arg)
        if first.mesh is not arg.mesh:
            yield Diagnostic(
                "M037",
                f"'{arg.space}' is used on both meshes.",
                arg.span,
                hint="A space has one dofmap in a call: use another wildcard for each mesh.",
                related=(Related(first.span, "first used here"),) if first.span else (),
            )


def _check_numberings(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    """Yield arguments that cannot have their own layers or values per dof (M061)."""
    data = [arg for arg in kernel.args if not arg.kind.is_scalar]
    for arg in data:
        if arg.layers and arg is data[0]:
            yield Diagnostic(
                "M061",
                "The first field or operator, this one, gives the kernel its number of layers.",
                arg.span,
                hint="Remove 'nlayers' here, and say it of those that differ from this one.",
            )
        elif arg.has_own_dofmap and (why := _why_numbered_alike(kernel)):
            message = f"This {arg.kind.value} cannot have another number of layers or of data."
            yield Diagnostic("M061", message, arg.span, hint=why)


def _why_numbered_alike(kernel: kern.Kernel) -> str:
    if kernel.iteration.over_dofs:
        return "A kernel over dofs is called once for each value, and all fields have as many."
    if kernel.is_intergrid:
        return "In a kernel between two meshes the fields on one mesh share a dofmap."
    if any(arg.kind is kern.ArgKind.COLUMNWISE_OPERATOR for arg in kernel.args):
        return "A columnwise operator numbers the dofs of a column in its own way."
    return ""


def _check_mask(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    """Yield arguments and properties that a kernel with a cell mask cannot have (M064)."""
    masks = [arg for arg in kernel.args if arg.is_mask]
    if not masks:
        return
    for arg in masks:
        if why := _why_no_mask(kernel, arg, masks[0]):
            yield Diagnostic("M064", "This field cannot be a mask of cells.", arg.span, hint=why)
    first = masks[0].span
    related = (Related(first, "the mask"),) if first else ()
    for arg in kernel.args:
        if arg.access is kern.Access.WRITE:
            shared = arg.kind is kern.ArgKind.FIELD and is_continuous(arg.space)
            yield Diagnostic(
                "M064",
                f"With a mask of cells this {arg.kind.value} is not written everywhere.",
                arg.span,
                hint="What it holds elsewhere is kept, so it has to be right before: use "
                + ("'gh_inc' or 'gh_readinc'." if shared else "'gh_readwrite'."),
                related=related,
            )


def _why_no_mask(kernel: kern.Kernel, arg: kern.KernelArg, first: kern.KernelArg) -> str:
    if kernel.iteration.over_dofs or kernel.iteration is kern.Iteration.DOMAIN:
        return f"It leaves out cells, and the kernel operates on {_iterated(kernel)}."
    if kernel.is_intergrid:
        return "A kernel between two meshes is called for all cells."
    if any(one.kind is kern.ArgKind.COLUMNWISE_OPERATOR for one in kernel.args):
        return "A kernel with a columnwise operator is called for all cells."
    if arg is not first:
        return "A kernel has one mask. Combine the two in a field before."
    if arg.access is not kern.Access.READ or arg.vector > 1:
        return "A mask is a single field that is read."
    if is_continuous(arg.space):
        return "Cells share dofs of its space. A mask has a value of its own for each cell."
    return ""


def _check_columnwise(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    return check_cma(kernel)


# ---------------------------------------------------------------------------- basis functions


def _check_spaces_of_functions(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    spaces = _spaces(kernel)
    seen: dict[str, Span | None] = {}
    for functions in kernel.functions:
        if functions.space not in spaces:
            message = f"No argument is on '{functions.space}', for which functions are wanted."
            yield Diagnostic(
                "M020", message, functions.span, hint=_nearest(functions.space, spaces)
            )
        if functions.space in seen:
            first = seen[functions.space]
            yield Diagnostic(
                "M021",
                f"'{functions.space}' has two entries in 'meta_funcs'.",
                functions.span,
                hint="Ask for all its functions in one entry.",
                related=(Related(first, "the first"),) if first else (),
            )
        seen.setdefault(functions.space, functions.span)


def _check_shapes(kernel: kern.Kernel, parsed: ParsedKernel) -> Iterator[Diagnostic]:
    if _wants_basis(kernel) and parsed.component("gh_shape") is None:
        message = "Basis functions are wanted, but not where they are to be evaluated."
        hint = "Add 'gh_shape', with 'gh_quadrature_xyoz' or 'gh_evaluator' for instance."
        yield Diagnostic("M022", message, _place(parsed, "meta_funcs"), hint=hint)
    if kernel.shapes and not _wants_basis(kernel):
        message = "'gh_shape' says where to evaluate basis functions, but none are wanted."
        hint = "Ask for them in 'meta_funcs', or remove 'gh_shape'."
        yield Diagnostic("M023", message, _place(parsed, "gh_shape"), hint=hint)


def _check_targets(kernel: kern.Kernel, parsed: ParsedKernel) -> Iterator[Diagnostic]:
    component = parsed.component("gh_evaluator_targets")
    if component is None:
        return
    if not _wants_basis(kernel) or kern.BasisShape.EVALUATOR not in kernel.shapes:
        message = "'gh_evaluator_targets' has no effect without an evaluator."
        hint = "Ask for basis functions and add 'gh_evaluator' to 'gh_shape', or remove it."
        yield Diagnostic("M025", message, component.span, hint=hint)
    spaces = _spaces(kernel)
    for item in items_of(component):
        if canonical(item.expr) not in spaces:
            message = f"No argument is on '{item.span.text}', where functions are to be evaluated."
            yield Diagnostic(
                "M026", message, item.span, hint=_nearest(canonical(item.expr), spaces)
            )


def _spaces(kernel: kern.Kernel) -> tuple[str, ...]:
    return tuple(dict.fromkeys(space for arg in kernel.args for space in arg.spaces))


def _nearest(space: str, spaces: tuple[str, ...]) -> str:
    known = f"The arguments are on {listed(spaces, 'and')}." if spaces else ""
    return did_you_mean(space, spaces) or known


def _wants_basis(kernel: kern.Kernel) -> bool:
    wanted = {operation for functions in kernel.functions for operation in functions.operations}
    return bool(wanted - {kern.BasisOperation.ORIENTATION})


def _place(parsed: ParsedKernel, component: str) -> Span:
    found = parsed.component(component)
    return found.span if found else parsed.span


# ---------------------------------------------------------------------------- domain and dofs


def _check_restricted_args(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    what = f"A kernel that operates on {_iterated(kernel)}"
    for arg in kernel.args:
        if arg.kind.is_operator:
            message = f"{what} has fields and scalars only, not this {arg.kind.value}."
            yield Diagnostic("M043", message, arg.span, hint="Operators belong to cells.")
        if arg.mesh:
            message = f"{what} cannot map between two meshes."
            hint = "Use 'operates_on = CELL_COLUMN', or remove 'mesh_arg'."
            yield Diagnostic("M047", message, arg.span, hint=hint)


_WITHOUT = {
    "meta_funcs": ("M044", "basis functions"),
    "gh_shape": ("M044", "basis functions"),
    "gh_evaluator_targets": ("M044", "basis functions"),
    "meta_reference_element": ("M045", "properties of the reference element"),
    "meta_mesh": ("M046", "properties of the mesh"),
}
"""What a kernel without a loop over cells cannot ask for, by component."""


def _check_restricted_needs(kernel: kern.Kernel, parsed: ParsedKernel) -> Iterator[Diagnostic]:
    for component in parsed.components:
        if component.name in _WITHOUT:
            code, what = _WITHOUT[component.name]
            message = f"A kernel that operates on {_iterated(kernel)} cannot have {what}."
            hint = f"Use 'operates_on = CELL_COLUMN', or remove '{component.name}'."
            yield Diagnostic(code, message, component.span, hint=hint)


def _check_one_space(kernel: kern.Kernel, _parsed: ParsedKernel) -> Iterator[Diagnostic]:
    if not kernel.iteration.over_dofs:
        return
    fields = [arg for arg in kernel.args if arg.kind is kern.ArgKind.FIELD]
    for arg in fields:
        first = fields[0]
        if arg.space != first.space:
            yield Diagnostic(
                "M049",
                f"A kernel that operates on dofs has fields on '{first.space}' and '{arg.space}'.",
                arg.span,
                hint="A dof is of one function space, so all fields must be on it.",
                related=(Related(first.span, f"on '{first.space}'"),) if first.span else (),
            )


def _iterated(kernel: kern.Kernel) -> str:
    return "dofs" if kernel.iteration.over_dofs else "the domain"


_RULES: tuple[MetadataRule, ...] = (_check_something_written, _check_numberings, _check_mask)
_RESTRICTED: tuple[MetadataRule, ...] = (
    _check_restricted_args,
    _check_restricted_needs,
    _check_one_space,
)
_UNRESTRICTED: tuple[MetadataRule, ...] = (
    _check_intergrid,
    _check_columnwise,
    _check_spaces_of_functions,
    _check_shapes,
    _check_targets,
)
