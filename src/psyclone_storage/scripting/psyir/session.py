"""Transfer of script edits to a file's bench: edits become steps, promises become facts."""

from __future__ import annotations

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective
from psyclone_storage.transform.workbench import NamedStep


def routine_around(node: LiveNode) -> tuple[Routine, FileBench]:
    """Return the routine that contains `node` and its file's bench, with all edits committed.

    Raises:
        TransformationError: `T015`, the node is not in a routine of a file, or an edit is rejected.
    """
    routine = node.ancestor(Routine, include_self=True)
    root = (routine or node).root
    bench = root.bench if isinstance(root, FileContainer) else None
    if routine is None or bench is None or not routine.key:
        if isinstance(node, FileContainer):
            raise refusal(f"'{node.name}' is a file; the transformation takes nodes of a routine.")
        raise refusal(f"'{node.node_str()}' is not in a routine of the file.")
    commit(routine, bench)
    return routine, bench


def commit(routine: Routine, bench: FileBench) -> None:
    """Apply the script's edits of a routine as a step, and record its promises as facts.

    Raises:
        TransformationError: an edit is rejected.
    """
    if not routine.is_seen:
        return
    code, table = bench.code(routine.key), routine.symbol_table
    promised = [
        Fact(FactKind.PURE, symbol.name, routine.key, place=symbol.promised_at)
        for symbol in table.promises()
    ]
    if promised and not set(promised) <= set(bench.facts.general):
        bench.assume(*promised)
    if routine.block() is code.body and not table.added:
        return
    known = {item.key for item in code.declarations if isinstance(item, un.Declare)}
    imported = {name.key for use in code.uses for name in use.names}
    declares = tuple(item for item in table.new_declarations() if item.key not in known)
    uses = tuple(
        use for use in table.new_uses() if not imported.issuperset(name.key for name in use.names)
    )
    body = routine.block()
    if body is code.body and not declares and not uses:
        return
    try:
        code = bench.edit(routine.key, code.body, body, declares, uses)
    except CompileError as error:
        raise TransformationError(*error.problems) from error
    routine.show(code.body)


def apply_step(routine: Routine, bench: FileBench, step: NamedStep) -> None:
    """Apply a step to a routine, and update the nodes.

    Raises:
        TransformationError: the step is rejected.
    """
    try:
        bench.apply(step)
    except CompileError as error:
        raise TransformationError(*error.problems) from error
    routine.show(bench.code(routine.key).body, rewritten=not isinstance(step, AddDirective))


def finish(tree: FileContainer) -> None:
    """Commit the remaining edits, and remove incomplete parallel regions.

    The bench lists the reasons in `left_out`. A worksharing loop in such a region becomes a
    parallel loop of its own.

    Raises:
        TransformationError: an edit is rejected.
    """
    bench = tree.bench
    if bench is None:
        return
    routines = [routine for routine in tree.routines if routine.key]
    for routine in routines:
        commit(routine, bench)
    for routine in routines:
        bench.leave_out_unfinished(routine.key)
