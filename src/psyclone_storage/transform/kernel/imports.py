"""Module variables used by a kernel, converted to arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from psyclone_storage.analysis.bodies.accesses import unknown_procedures, written_names
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import NameTable, listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.expr import Expr, Name, Range, Symbol, spell, whole_number
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access, ArgKind, KernelArg
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import declaration_of
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Call, Declare, Imported, Use
from psyclone_storage.ir.walk import find, path_to, replaced
from psyclone_storage.transform.device import check_device_support
from psyclone_storage.transform.kernel.code import (
    OnCall,
    as_on_device,
    check_called,
    check_callers,
    codes_of,
)

_HARMLESS = frozenset({"save", "public", "target"})
"""What a variable may be declared as besides its type and shape."""


@dataclass(frozen=True, slots=True)
class ImportsToArguments(OnCall):
    """Pass module variables used by a kernel as arguments, which the PSy layer imports.

    The kernel can then be called where modules are not available, such as on a device. Variables
    that it only reads are passed as input. Variables that it may change are passed back, and the
    loop over points must then run in order, as for any scalar that a kernel changes. Constants stay
    imported. The type and shape of a variable are read from its module, below the folders of `-d`.

    Rejected if the kernel imports a name of unknown kind; for variables of derived type,
    allocatables, pointers, and variables with extents that are not integer constants; if the kernel
    calls procedures, which might access the variable themselves, or another procedure of its module
    calls the kernel; and, for modified variables, in loops with directives and in kernels that are
    not on a grid.

    before: use model_mod, only: rdt in the kernel; call k_code(i, j, a)
    after:  use model_mod, only: rdt in the PSy layer; call k_code(i, j, a, rdt)
    """

    name: ClassVar[str] = "imports-to-arguments"

    def check(self, schedule: sch.Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the variables cannot be passed."""
        if problems := check_called(schedule, self.call):
            return problems
        code, *others = codes_of(schedule, self.call)
        if others:
            message = f"'{code.name}' is one of several subroutines, which use other variables."
            return (Diagnostic("T069", message, code.module.routine),)
        call = find(schedule, self.call)
        assert isinstance(call, sch.KernelCall)
        if problems := tuple(_about_names(code)):
            return problems
        if not _variables(code):
            message = f"'{code.name}' uses no variable of another module."
            return (Diagnostic("T067", message, code.module.routine),)
        if problems := (*_about_variables(code), *_about_call(code, call)):
            return problems
        if problems := check_callers(schedule, self.call):
            return problems
        return (*_about_changes(schedule, call, code), *self._about_devices(schedule))

    def transform(self, schedule: sch.Schedule, rules: Rules) -> sch.Schedule:
        """Return `schedule` with the variables as arguments of the call."""
        return self._changed(schedule)

    def _about_devices(self, schedule: sch.Schedule) -> Reasons:
        """Return diagnostics if the call could not remain on a device (T087)."""
        changed = self._changed(schedule)
        around = path_to(changed, self.call)
        block = [item for item in around if isinstance(item, sch.DirectiveRegion)]
        on_device = any(item.runs_on_device for item in block)
        return check_device_support(block[:1]) if on_device else ()

    def _changed(self, schedule: sch.Schedule) -> sch.Schedule:
        call = find(schedule, self.call)
        assert isinstance(call, sch.KernelCall)
        (code,) = call.known_codes
        changed = _with_arguments(code)
        known = as_on_device(changed)
        written = written_names(known.body, RoutineNames(known))
        imported = schedule.imported
        for variable in _variables(code):
            access = Access.READWRITE if variable.key in written else Access.READ
            datum, imported = _met(schedule, imported, variable, access)
            call = _passing(call, variable, datum, access)
        schedule = replace(schedule, imported=imported)
        return replaced(schedule, self.call, replace(call, codes=(linked(changed),)))


def check_variables_as_arguments(code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics if module variables cannot be arguments of `code` on a device."""
    if problems := tuple(_about_names(code)):
        yield from problems
        return
    yield from _about_variables(code)
    for variable in _variables(code):
        if variable.shape:
            text = f"'{variable.key}' is an array of a module, which nothing gives to a device."
            yield Diagnostic("T087", text, code.place_of(variable.key))


def check_variables_as_inputs(code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics if `code` may change the variables."""
    if problems := tuple(_about_procedures(code)):
        yield from problems
        return
    known = as_on_device(code)
    written = written_names(known.body, RoutineNames(known))
    for name in [item.key for item in _variables(code) if item.key in written]:
        text = f"'{code.name}' may change '{name}', of which each iteration has its own."
        yield Diagnostic("T087", text, code.place_of(name))


def with_imports_passed(code: Routine) -> Routine:
    """Return `code` with the module variables that it uses as additional last arguments."""
    return linked(_with_arguments(code))


def _variables(code: Routine) -> tuple[Symbol, ...]:
    """Return the module variables that are not arguments yet."""
    passed = {*code.dummy_keys}
    return tuple(item for item in code.module.variables if item.key not in passed)


# ---------------------------------------------------------------------------- reasons


def _reason(code: Routine, name: str, text: str, hint: str = "") -> Diagnostic:
    return Diagnostic("T069", text, code.place_of(name), hint=hint)


_NO_SOURCE = "Give the folder of the module's source with '-d'."


def _about_names(code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics for imported names that may or may not be variables."""
    called = {
        key_of(spell(line.procedure)) for line in walk_lines(code.body) if isinstance(line, Call)
    }
    for name in sorted(code.module.unresolved - called):
        text = f"It is not known what '{name}' is, which '{code.name}' takes from another module."
        yield _reason(code, name, text, _NO_SOURCE)


def _about_variables(code: Routine) -> Iterator[Diagnostic]:
    for variable in _variables(code):
        name, declared = variable.key, declaration_of(variable)
        words = sorted(set(declared.attributes) - _HARMLESS - {"protected"})
        if not isinstance(declared.type, ScalarType):
            yield _reason(code, name, f"'{name}' has a derived type, '{declared.type.name}'.")
        elif words := [word for word in words if not word.startswith("dimension")]:
            text = f"'{name}' is declared as {listed(words, 'and')}, which no argument here is."
            yield _reason(code, name, text)
        elif not all(map(_is_plain_extent, declared.shape)):
            yield _reason(
                code, name, f"The extents of '{name}' are no numbers, and its shape is not known."
            )
        elif declared.type.kind and not _is_plain_kind(variable):
            text = f"It is not known where the kind '{declared.type.kind}' of '{name}' comes from."
            yield _reason(code, name, text, _NO_SOURCE)


def _is_plain_extent(extent: Expr) -> bool:
    if isinstance(extent, Range):
        return extent.upper is not None and all(
            whole_number(part) is not None for part in (extent.lower, extent.upper) if part
        )
    return whole_number(extent) is not None


def _is_plain_kind(variable: Symbol) -> bool:
    """Return whether the kind of a variable is a number, double precision or a known name."""
    assert isinstance(variable.type, ScalarType)
    kind = variable.kind or ""
    return variable.home_of_kind is not None or not kind.isidentifier()


def _about_call(code: Routine, call: sch.KernelCall) -> Iterator[Diagnostic]:
    """Yield diagnostics for mismatches between kernel and call."""
    if len(code.dummies) != len(call.dummies):
        text = f"'{code.name}' takes another number of arguments than it is passed."
        yield _reason(code, code.name, text)
    yield from _about_procedures(code)


def _about_procedures(code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics for calls of procedures that might access the variables too."""
    names = {item.key for item in _variables(code)}
    if not names:
        return
    known = as_on_device(code)
    if names & written_names(known.body, RoutineNames(known)):
        known = code  # what it calls may look at a variable that it changes
    procedures = unknown_procedures(known.body, RoutineNames(known)) - names
    procedures |= {helper.key for helper in code.kernel_use.helpers if helper.used_names & names}
    if procedures or code.internal is not None:
        what = listed(sorted(procedures), "and") or "its internal procedures"
        text = f"'{code.name}' calls {what}, where {listed(sorted(names), 'and')} may be used, too."
        yield _reason(code, min(procedures, default=code.name), text)


def _about_changes(
    schedule: sch.Schedule, call: sch.KernelCall, code: Routine
) -> Iterator[Diagnostic]:
    changed = as_on_device(_with_arguments(code))
    written = written_names(changed.body, RoutineNames(changed))
    directives = [
        item for item in path_to(schedule, call.uid) if isinstance(item, sch.DirectiveRegion)
    ]
    for variable in _variables(code):
        name = variable.key
        if name not in written:
            continue
        if "protected" in declaration_of(variable).attributes:
            yield _reason(code, name, f"'{name}' is protected, but '{code.name}' may change it.")
        if call.kernel.points is None:
            text = f"'{code.name}' may change '{name}', but no LFRic kernel changes a scalar."
            yield _reason(code, name, text)
        for item in directives:
            text = (
                f"'{code.name}' may change '{name}' with each point, but '{item.uid}' runs points"
                " in any order."
            )
            yield _reason(code, name, text)


# ---------------------------------------------------------------------------- the call


def _met(
    schedule: sch.Schedule, imported: tuple[sch.Datum, ...], variable: Symbol, access: Access
) -> tuple[str, tuple[sch.Datum, ...]]:
    """Return the name of the datum for a variable, and the updated imported data."""
    declared = declaration_of(variable)
    for place, datum in enumerate(imported):
        known = (datum.module, spell(datum.actual))
        if known == (variable.module_key, declaration_of(variable).key):
            writes = datum.access.writes or access.writes
            joined = replace(datum, access=Access.READWRITE if writes else Access.READ)
            return datum.name, (*imported[:place], joined, *imported[place + 1 :])
    taken = (schedule.name, *(item.name for item in (*schedule.data, *imported)))
    name = NameTable(taken).fresh(declared.key)
    datum = sch.Datum(
        name,
        Name(declared.key),
        declared.type,
        sch.DatumRole.IMPORTED,
        ArgKind.SCALAR_ARRAY if declared.shape else ArgKind.SCALAR,
        rank=len(declared.shape),
        access=access,
        module=variable.module_key,
    )
    return name, (*imported, datum)


def _passing(call: sch.KernelCall, variable: Symbol, datum: str, access: Access) -> sch.KernelCall:
    """Return `call` with an additional argument, in the metadata and in the call."""
    declared = declaration_of(variable)
    assert isinstance(declared.type, ScalarType)
    rank = len(declared.shape)
    kind = ArgKind.SCALAR_ARRAY if rank else ArgKind.SCALAR
    described = KernelArg(kind, declared.type.intrinsic, access, rank=rank)
    dummy = Dummy(
        Role.IMPORTED,
        variable.key,
        declared.type,
        declared.shape,
        arg=len(call.args),
        access=access,
    )
    return replace(
        call,
        kernel=replace(call.kernel, args=(*call.kernel.args, described)),
        args=(*call.args, sch.Actual(datum, Name(declared.key))),
        dummies=(*call.dummies, dummy),
    )


# ---------------------------------------------------------------------------- the subroutine


def _with_arguments(code: Routine) -> Routine:
    """Return `code` with its module variables as arguments instead of imports."""
    variables = _variables(code)
    names = NameTable(code.used_names | local_names(code))
    uses = [use for old in code.uses if (use := _without(old, variables, names))]
    kinds: dict[str, str] = {}
    for variable in variables:
        home = variable.home_of_kind
        if home is not None and str(home) not in kinds:
            kinds[str(home)], new = _kind_here(code, home, names)
            uses += new
    added = tuple(_argument(item, kinds.get(str(item.home_of_kind))) for item in variables)
    first = next(
        (at for at, item in enumerate(code.declarations) if isinstance(item, Declare)),
        len(code.declarations),
    )
    declarations = (*code.declarations[:first], *added, *code.declarations[first:])
    changed = replace(
        code.with_specification(uses=uses, declarations=declarations),
        dummies=(*code.dummies, *(item.key for item in variables)),
    )
    known = as_on_device(changed)
    written = written_names(known.body, RoutineNames(known))
    intents = {item.name: _intended(item, item.name in written) for item in added}
    declarations = tuple(
        intents.get(item.name, item) if isinstance(item, Declare) else item
        for item in changed.declarations
    )
    return changed.with_specification(declarations=declarations)


def _argument(variable: Symbol, kind: str | None) -> Declare:
    declared = declaration_of(variable)
    own = declared.type
    if isinstance(own, ScalarType) and kind is not None:
        own = replace(own, kind=kind)
    return Declare(variable.key, own, (), declared.shape)


def _intended(item: Declare, written: bool) -> Declare:
    return replace(item, attributes=("intent(inout)" if written else "intent(in)",))


def _without(use: Use, variables: Iterable[Symbol], names: NameTable) -> Use | None:
    """Return an import without `variables`, or None if it becomes empty.

    If the whole module is imported, its variables are renamed.
    """
    gone = {item.key: declaration_of(item).name for item in variables}
    kept = tuple(name for name in use.names if name.key not in gone)
    if not use.whole:
        return replace(use, names=kept) if kept else None
    hidden = tuple(
        Imported(names.fresh(item.key), declaration_of(item).name)
        for item in variables
        if item.module_key == use.module_key
    )
    return replace(use, names=(*kept, *hidden))


def _kind_here(
    code: Routine, home: tuple[str, str], names: NameTable
) -> tuple[str, tuple[Use, ...]]:
    """Return the local name of a kind parameter, and the import that it requires."""
    module, original = home
    around = () if code.kernel_use.inlined else code.module.uses
    for use in (*code.uses, *around):
        for name in use.names if use.module_key == key_of(module) else ():
            if name.original_key == key_of(original):
                return name.local, ()
    if key_of(original) in code.used_names and any(
        use.whole and use.module_key == key_of(module) for use in (*code.uses, *around)
    ):
        return original, ()
    local = names.fresh(original)
    return local, (Use(module, (Imported(local, original),)),)
