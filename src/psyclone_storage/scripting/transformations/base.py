"""Base classes of all transformations with PSyclone's names.

A transformation is an object with the methods `apply` and `validate`, which take nodes and options.
Options are given in a dictionary `options` or as keyword arguments. As in PSyclone 1.8, `apply`
returns the schedule and a memento. The schedule is the one that the script already has. The memento
is the applied step. A rejected transformation raises `TransformationError`, which a script may
catch.

Unsupported PSyclone transformations can be imported and created, because many scripts use them only
on some machines. They are rejected when applied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.kernel_views import IntrinsicCall, KernelRoutine
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.transformations.on_files import live_nodes, transform_file
from psyclone_storage.scripting.views import Body, FillHalo, MarkHalo, Schedule, ScheduleNode
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench

Nodes = Node | Sequence[Node]
_IN_KERNELS = (KernelRoutine, IntrinsicCall)
"""What stands for the call of the kernel that it is in."""
TransformationOptions = Mapping[str, object]

UNNEEDED = frozenset(
    """allow_codeblocks allow_string allow_strings disable_loop_check enable_reductions force
    force_private ignore_dependencies_for independent node-type-check node_type_check
    permit_codeblocks permit_unsupported_type_args privatise_arrays reduction_ops
    use_first_callee_and_no_arg_check verbose""".split()
)
"""Options that tell PSyclone what to print, which checks to leave out, or what it cannot see.

Any transformation takes them, and nothing depends on them. A step refuses what would be wrong,
which no option makes right; it finds reductions and private data itself. What metadata do not show
is another matter: transformations for threads have an option `force` of their own for it.
"""

FIXED: Mapping[str, tuple[object, ...]] = {
    "collapse": (None, False, 1),
    "device_string": (None, ""),
    "nowait": (None, False),
    "prefix": (None, "profile"),
    "routine": (None,),
    "sequential": (None, False),
}
"""Options for more than a step can do, with the values that do not ask for that.

A transformation that can do it has the option among its own.
"""


_EACH_LOOP = "Apply it to each loop: 'for loop in invoke.schedule.loops():'."
_A_NODE = "Pass 'invoke.schedule', or a loop or another node below it."


class Transformation:
    """Base class of all transformations."""

    options: Mapping[str, object] = {}
    """The options that it takes, with their defaults, beyond those that any takes."""
    of_loops = False
    """Whether it is applied to loops alone, and not to the schedule around them."""

    @property
    def name(self) -> str:
        """The name of the transformation."""
        return type(self).__name__

    def apply(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> tuple[Schedule | None, Step | None]:
        """Apply the transformation; return the schedule, and the step or None if nothing changed.

        For nodes of a file without an API, both results are None.

        Raises:
            TransformationError: all reasons for which the transformation is rejected.
        """
        given = {**(options or {}), **keywords}
        if live := live_nodes(node, more):
            transform_file(self, live, _with_last(more, given), check=False)
            return None, None
        nodes, chosen = self._read(node, more, given)
        step = self._step(nodes, chosen)
        bench = nodes[0].session.bench
        if self._tried(step, bench):
            return nodes[0].schedule, None
        bench.apply(step)
        return nodes[0].schedule, step

    def validate(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> None:
        """Check the transformation without applying it.

        Raises:
            TransformationError: all reasons for which `apply` would reject it.
        """
        given = {**(options or {}), **keywords}
        if live := live_nodes(node, more):
            transform_file(self, live, _with_last(more, given), check=True)
            return
        nodes, chosen = self._read(node, more, given)
        if type(self)._step is not Transformation._step:  # noqa: SLF001
            self._tried(self._step(nodes, chosen), nodes[0].session.bench)

    def _tried(self, step: Step, bench: Workbench) -> Reasons:
        """Return the diagnostics that mean that nothing has to be changed.

        Raises:
            TransformationError: all reasons for which `step` is rejected.
        """
        reasons = bench.check(step)
        if reasons and not self._is_idle(reasons):
            raise TransformationError(*reasons)
        return reasons

    def _read(
        self, node: Nodes, more: Sequence[object], given: TransformationOptions
    ) -> tuple[tuple[ScheduleNode, ...], dict[str, object]]:
        """Return the nodes and the options; a last positional argument may contain options."""
        nodes: list[Node] = list(node) if isinstance(node, Sequence) else [node]
        nodes = [item.call if isinstance(item, _IN_KERNELS) else item for item in nodes]
        chosen = dict(given)
        for item in more:
            if isinstance(item, ScheduleNode):
                nodes.append(item)
            elif isinstance(item, Mapping):
                chosen |= item
        if not nodes:
            raise TransformationError(self._wrong_node(None))
        for item in nodes:
            if not isinstance(item, ScheduleNode) or (self.of_loops and isinstance(item, Schedule)):
                raise TransformationError(self._wrong_node(item))
        places = tuple(item for item in nodes if isinstance(item, ScheduleNode))
        return places, {**self.options, **self._own(chosen)}

    def _wrong_node(self, item: object) -> Diagnostic:
        """Return the diagnostic for an object to which it cannot be applied."""
        given = "nothing" if item is None else f"an object of type '{type(item).__name__}'"
        wanted = "a loop" if self.of_loops else "a node of a schedule"
        message = f"'{self.name}' is applied to {given}, but it requires {wanted}."
        hint = _EACH_LOOP if self.of_loops else _A_NODE
        return Diagnostic("T015", message, hint=hint)

    def _own(self, chosen: TransformationOptions) -> TransformationOptions:
        """Return the options in `chosen` that this transformation uses.

        An unknown option, or an unsupported value, raises `TransformationError`.
        """
        for name in sorted(set(chosen) - set(self.options) - UNNEEDED):
            value = chosen[name]
            if name not in FIXED:
                message = f"'{self.name}' has no option '{name}' here."
                raise TransformationError(Diagnostic("T015", message))
            if not any(value is one or (value == one and value is not True) for one in FIXED[name]):
                message = f"'{self.name}' cannot do '{name}={value}': it is not supported."
                raise TransformationError(Diagnostic("T015", message))
        return {name: value for name, value in chosen.items() if name in self.options}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        """Return the step that this transformation applies.

        A transformation defined by a script has no step. It must define `apply` itself.
        """
        message = f"'{self.name}' does not say what it applies: it needs a method 'apply'."
        raise TransformationError(Diagnostic("T015", message))

    def _is_idle(self, reasons: Reasons) -> bool:
        """Return whether the diagnostics only mean that nothing has to be changed."""
        return False


def _with_last(more: Sequence[object], given: TransformationOptions) -> TransformationOptions:
    """Return options, including those in a last positional argument."""
    return {**given, **{k: v for one in more if isinstance(one, Mapping) for k, v in one.items()}}


class RegionTrans(Transformation):
    """Transformation of neighbouring nodes, also usable as a base class in scripts.

    `validate` rejects nodes that are not neighbours, and nodes that are or contain a node of
    `excluded_node_types`.
    """

    excluded_node_types: tuple[type[Node], ...] = ()

    def get_node_list(self, nodes: Nodes) -> list[ScheduleNode]:
        """Return the nodes of the region: the given ones, or all in a schedule or loop body.

        Raises:
            TransformationError: `T015`, there are no nodes.
        """
        places, _ = self._read(nodes, (), {})
        first = places[0]
        inside = first.children if isinstance(first, Schedule | Body) else places
        if not inside:
            raise TransformationError(Diagnostic("T015", f"There is nothing in '{first.uid}'."))
        return [node for node in inside if isinstance(node, ScheduleNode)]

    def validate(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> None:
        """Check the transformation without applying it.

        Raises:
            TransformationError: all reasons for which `apply` would reject it.
        """
        if not live_nodes(node):
            places, _ = self._read(node, more, {**(options or {}), **keywords})
            self._ends(places)
        super().validate(node, *more, options=options, **keywords)

    def _ends(self, nodes: tuple[ScheduleNode, ...]) -> tuple[str, str]:
        """Return the uids of the first and the last statement of a region.

        Raises:
            TransformationError: the nodes are not neighbours, or contain an excluded node.
        """
        places = self.get_node_list(nodes)
        if not (isinstance(nodes[0], Schedule | Body) or _are_neighbours(places)):
            names = ", ".join(f"'{one.uid}'" for one in places)
            message = f"'{self.name}' takes neighbours in their order, not {names}."
            raise TransformationError(Diagnostic("T023", message))
        for one in places:
            for inner in one.walk(self.excluded_node_types) if self.excluded_node_types else ():
                message = f"'{self.name}' does not take a '{type(inner).__name__}': '{one.uid}'."
                raise TransformationError(Diagnostic("T015", message))
        return places[0].uid, places[-1].uid


def _are_neighbours(nodes: list[ScheduleNode]) -> bool:
    """Return whether `nodes` are neighbours, ignoring statements that PSyclone does not show."""
    shown = [one for one in nodes[0].siblings if not isinstance(one, MarkHalo | FillHalo)]
    if nodes[0] not in shown:
        return len(nodes) == 1
    at = shown.index(nodes[0])
    return shown[at : at + len(nodes)] == nodes


class Unsupported(Transformation):
    """PSyclone transformation that is not supported and always rejected."""

    def __init__(self, *args: object, **keywords: object) -> None:
        self._made_with = (args, keywords)

    def _read(
        self, node: Nodes, more: Sequence[object], given: TransformationOptions
    ) -> tuple[tuple[ScheduleNode, ...], dict[str, object]]:
        raise self._refusal()

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        raise self._refusal()

    def _refusal(self) -> TransformationError:
        message = f"PSyclone's '{self.name}' is not supported."
        return TransformationError(Diagnostic("T015", message))


class ForFiles(Transformation):
    """Transformation of nodes of files without an API; it is rejected for other nodes."""

    def _read(
        self, node: Nodes, more: Sequence[object], given: TransformationOptions
    ) -> tuple[tuple[ScheduleNode, ...], dict[str, object]]:
        message = f"'{self.name}' is supported for files without an API only."
        raise TransformationError(Diagnostic("T015", message))


def two_nodes(
    transformation: Transformation, nodes: tuple[ScheduleNode, ...]
) -> tuple[ScheduleNode, ScheduleNode]:
    """Return the two nodes to which `transformation` is applied.

    Raises:
        TransformationError: `T015`, the number of nodes is not two.
    """
    if len(nodes) != 2:
        message = f"'{transformation.name}' takes two nodes, not {len(nodes)}."
        raise TransformationError(Diagnostic("T015", message))
    return nodes[0], nodes[1]
