"""Classification of kernels with columnwise (CMA) operators (spec 1.12).

A columnwise operator contains one banded matrix per column. A kernel assembles it from local
operators, applies it to a field, or combines several ones. This kind determines the calling
sequence. A kernel of another kind is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.text import counted
from psyclone_storage.ir.kernel import ArgKind, CmaKind, Kernel, KernelArg
from psyclone_storage.ir.types import Intrinsic


def cma_kind(kernel: Kernel) -> CmaKind | None:
    """Return the kind of a kernel with columnwise operators, or None.

    Only the columnwise operators are considered. `check_cma` checks the other arguments.
    """
    operators = _columnwise(kernel)
    written = [arg for arg in operators if arg.access.writes]
    if len(operators) == 1:
        return CmaKind.ASSEMBLY if written else CmaKind.APPLY
    return CmaKind.MATRIX_MATRIX if len(written) == 1 else None


def check_cma(kernel: Kernel) -> Iterator[Diagnostic]:
    """Yield diagnostics for a kernel with columnwise operators."""
    operators = _columnwise(kernel)
    if not operators:
        return
    yield from _check_fields(kernel)
    match cma_kind(kernel):
        case CmaKind.APPLY:
            yield from _check_apply(kernel, operators[0])
        case CmaKind.ASSEMBLY:
            yield from _check_only_written(kernel)
            yield from _check_assembly(kernel, operators[0])
        case CmaKind.MATRIX_MATRIX:
            yield from _check_only_written(kernel)
            yield from _check_matrix_matrix(kernel)
        case None:
            yield _unrecognised(kernel, operators)


def _columnwise(kernel: Kernel) -> list[KernelArg]:
    return [arg for arg in kernel.args if arg.kind is ArgKind.COLUMNWISE_OPERATOR]


def _check_fields(kernel: Kernel) -> Iterator[Diagnostic]:
    """Yield diagnostics for field vectors, fields with a stencil, and fields that are not real."""
    for arg in kernel.args:
        if arg.vector > 1:
            yield _refused("M028", "a field vector", arg)
        if arg.stencil:
            yield _refused("M028", "a field with a stencil", arg)
        if arg.kind is ArgKind.FIELD and arg.intrinsic is not Intrinsic.REAL:
            yield _refused("M027", f"an {arg.intrinsic.value} field", arg)


def _refused(code: str, what: str, arg: KernelArg) -> Diagnostic:
    message = f"A kernel with a columnwise operator cannot have {what}."
    return Diagnostic(code, message, arg.span)


def _unrecognised(kernel: Kernel, operators: list[KernelArg]) -> Diagnostic:
    written = [arg for arg in operators if arg.access.writes]
    if written:
        message = f"'{kernel.name}' writes {len(written)} columnwise operators, but can write one."
        hint = "Write a kernel for each of them."
        return Diagnostic("M031", message, written[1].span, hint=hint)
    message = (
        f"'{kernel.name}' reads {counted(len(operators), 'columnwise operator')} and writes none:"
        " it neither assembles, applies nor combines them."
    )
    hint = "To apply an operator, read one; to combine several, write one."
    return Diagnostic("M029", message, operators[0].span, hint=hint)


def _check_only_written(kernel: Kernel) -> Iterator[Diagnostic]:
    for arg in kernel.args:
        if arg.access.writes and arg.kind is not ArgKind.COLUMNWISE_OPERATOR:
            message = (
                "A kernel that writes a columnwise operator cannot write anything else, but this"
                f" {arg.kind.value} is written too."
            )
            yield Diagnostic("M031", message, arg.span)


def _check_assembly(kernel: Kernel, operator: KernelArg) -> Iterator[Diagnostic]:
    if any(arg.kind is ArgKind.OPERATOR and not arg.access.writes for arg in kernel.args):
        return
    message = "A columnwise operator is assembled from a local operator, but none is read."
    hint = "Add an 'arg_type(gh_operator, gh_real, gh_read, ...)'."
    yield Diagnostic("M032", message, operator.span, hint=hint)


def _check_matrix_matrix(kernel: Kernel) -> Iterator[Diagnostic]:
    for arg in kernel.args:
        if arg.kind is not ArgKind.COLUMNWISE_OPERATOR and not arg.kind.is_scalar:
            message = (
                "A kernel that combines columnwise operators cannot have a"
                f"{'n' if arg.kind.is_operator else ''} {arg.kind.value}."
            )
            yield Diagnostic("M033", message, arg.span, hint="Only scalars may stand beside them.")


def _check_apply(kernel: Kernel, operator: KernelArg) -> Iterator[Diagnostic]:
    others = [arg for arg in kernel.args if arg is not operator]
    fields = [arg for arg in others if arg.kind is ArgKind.FIELD]
    written = [arg for arg in fields if arg.access.writes]
    read = [arg for arg in fields if not arg.access.writes]
    if len(others) != 2 or len(written) != 1 or len(read) != 1:
        message = (
            f"'{kernel.name}' applies a columnwise operator, so it must have exactly two arguments"
            " besides: a field that it reads and a field that it writes."
        )
        yield Diagnostic("M030", message, operator.span)
        return
    yield from _check_space(written[0], operator.space, "to", operator)
    yield from _check_space(read[0], operator.space_from, "from", operator)


def _check_space(
    field: KernelArg, space: str, direction: str, operator: KernelArg
) -> Iterator[Diagnostic]:
    """Yield a diagnostic if a field is not on the space to which or from which an operator maps."""
    if field.space == space:
        return
    done = "written" if direction == "to" else "read"
    yield Diagnostic(
        "M030",
        f"The field that is {done} is on '{field.space}', but the operator maps {direction}"
        f" '{space}'.",
        field.span,
        related=(Related(operator.span, "the operator"),) if operator.span else (),
    )
