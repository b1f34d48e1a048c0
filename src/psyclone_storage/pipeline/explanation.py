"""The reasons for what a compilation has decided, as text for `--explain` and for programs."""

from __future__ import annotations

from psyclone_storage.coherence import explain
from psyclone_storage.coherence.explain import explain_storage_access, explain_transfers
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.schedule import Invoke
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.pipeline.compile import Build
from psyclone_storage.transform.catalogue import explain_refusals
from psyclone_storage.transform.halos import without_halos


def explanation(build: Build) -> str:
    """Return the reasons for all exchanges, tests and transfers, and the rejected steps.

    It also includes the mesh requirements of tiled colouring, specialised stencil sizes and
    single-level loops, the inlined procedures of kernels, and the kernels that compute several
    columns or layers together.
    """
    halos = [
        explain.explain_halos(without_halos(item.schedule), build.rules)
        for item in build.program.invokes
    ]
    steps = [
        f"{name}, steps that were refused\n"
        + "".join(f"  {line}\n" for line in explain_refusals(refusals))
        for name, refusals in build.refused
    ]
    messages = filter(
        None, (explain.explain_messages(item.schedule) for item in build.program.invokes)
    )
    tiles = filter(None, (explain.explain_tiles(item.schedule) for item in build.program.invokes))
    columns = filter(
        None, (explain.explain_columns(item.schedule) for item in build.program.invokes)
    )
    levels = filter(None, (explain.explain_levels(item.schedule) for item in build.program.invokes))
    calls = filter(None, (explain.explain_calls(item.schedule) for item in build.program.invokes))
    layers = filter(None, map(_layers, build.program.invokes if build.faster_layers else ()))
    transfers = filter(None, (explain_transfers(item.schedule) for item in build.program.invokes))
    held = filter(
        None, (explain_storage_access(item.name, item.held) for item in build.program.invokes)
    )
    return "\n".join(
        (*halos, *messages, *tiles, *columns, *levels, *calls, *layers, *transfers, *held, *steps)
    )


def _layers(invoke: Invoke) -> str:
    """Return the reasons about loops over layers; the module is large."""
    if not any(loops_of(code) for call in kernel_calls(invoke.schedule) for code in call.codes):
        return ""
    from psyclone_storage.transform.kernel.layers import explain_layers  # noqa: PLC0415

    return explain_layers(invoke.schedule)
