"""Uses of arrays by the procedures of a program: effects of calls, and trees for transfer plans.

Effects are computed bottom-up: for each argument and each variable of a module, whether a procedure
reads it before it writes it, writes it, or writes all of it. Recursive procedures, and procedures
with statements that are not understood, may read and write everything that they name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import is_

from psyclone_storage.analysis.bodies.accesses import unknown_lines, written_names
from psyclone_storage.analysis.bodies.array_uses import ArrayUse, array_uses
from psyclone_storage.analysis.bodies.effects import ProcedureCall, call_sites
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import ProcedureName, ProgramArray
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.rewrite import names_in, names_of_line, walk_lines, with_changed_blocks
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intent, Intrinsic
from psyclone_storage.languages.fortran.parse.state import read_state
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.call_resolution import CallResolver, ProcedurePlace, symbol_of_call
from psyclone_storage.pipeline.generic_calls import MAYBE, Maybe, SpecificProcedures
from psyclone_storage.pipeline.overloads import is_overload

_WORST = ArrayUse(exposed=True, written=True)
_NONE = ex.Literal("0", Intrinsic.INTEGER)


@dataclass(frozen=True, slots=True)
class ProcedureUses:
    """Effects of a procedure on its arguments and on variables of modules.

    `unknown` are the procedures that it calls and that are not in the program.
    """

    arguments: Mapping[str, ArrayUse]
    shared: Mapping[ProgramArray, ArrayUse]
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GivenUses:
    """Effects of a procedure of which the statements are not known.

    `changed` are the variables of other scopes that it may write, and `allocates` the arguments
    that it may allocate or deallocate.
    """

    uses: ProcedureUses
    changed: frozenset[ProgramArray] = frozenset()
    allocates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OutsideProcedures:
    """Procedures that are not in the program, by their lower-case names.

    - `readers`: they only read their arguments.
    - `on_device`: they use their arguments on the device.
    """

    readers: frozenset[str] = frozenset()
    on_device: frozenset[str] = frozenset()


@dataclass(slots=True)
class ProgramUses:
    """The procedures of a program, by name, with their effects.

    Procedures that are not in `procedures` change only their arguments, unless they are readers in
    `outside`. The effects of those in `given` are known.
    """

    procedures: Mapping[ProcedureName, Routine]
    finder: ModuleFinder
    assumed: frozenset[FactKind] = frozenset()
    outside: OutsideProcedures = OutsideProcedures()
    given: Mapping[ProcedureName, GivenUses] = field(default_factory=dict)
    _found: dict[ProcedureName, ProcedureUses | None] = field(default_factory=dict)
    _codes: dict[ProcedureName, Routine] = field(default_factory=dict)
    _written: dict[int, tuple[Routine, frozenset[str]]] = field(default_factory=dict)
    _changes: dict[ProcedureName, frozenset[ProgramArray]] = field(default_factory=dict)
    _changed: dict[ProcedureName, frozenset[ProgramArray]] = field(default_factory=dict)
    _called: dict[ProcedureName, tuple[ProcedureName, ...]] = field(default_factory=dict)
    _allocates: dict[tuple[ProcedureName, str], bool] = field(default_factory=dict)
    _resolver: CallResolver | None = None

    # ------------------------------------------------------------------------ names

    def code(self, name: ProcedureName) -> Routine:
        """Return a procedure whose calls have the effects that are computed here."""
        if name not in self._codes:
            code = self.procedures[name]
            context = ModuleContext(
                lambda *_: None,
                lambda *_: (),
                imported=self.finder.imported,
                effects=self._record,
            )
            self._codes[name] = replace(code, module=replace(code.module, context=context))
        return self._codes[name]

    def called(self, call: ProcedureCall, code: Routine) -> tuple[ProcedureName, ...]:
        """Return the procedures of the program that a call may execute, () if it is unknown."""
        symbol = symbol_of_call(call, code)
        if symbol is not None and not is_overload(symbol.key):
            names, is_generic = self._named(symbol, code)
            is_one = len(names) == 1 and not is_generic
            return names if is_one else tuple(self._specific(names, symbol, call, code))
        return self._in_program(self._calls.called(call, symbol, code))

    def is_certain(self, call: ProcedureCall, code: Routine) -> bool:
        """Return whether one procedure of the program is certainly the one that a call executes.

        Modules that are not known may extend a generic name. If all arguments certainly fit one
        procedure, others cannot fit, because their arguments must differ.
        """
        symbol = symbol_of_call(call, code)
        if symbol is None or is_overload(symbol.key):
            return len(self.called(call, code)) == 1
        names, is_generic = self._named(symbol, code)
        if not is_generic and len(names) == 1:
            return True
        found = self._specific(names, symbol, call, code)
        return list(found.values()) == [True] or len({*names} & {*found}) == 1

    def _named(self, symbol: ex.Symbol, code: Routine) -> tuple[tuple[ProcedureName, ...], bool]:
        """Return the procedures that a name may denote, () if they are unknown; is it generic?"""
        home = home_module(code)
        places = self._calls.generics_of(home, code.uses, symbol.key)
        if len(places) < 2:
            return self._of_symbol(symbol, home), bool(places)
        each = [self._in_module(symbol, *place, known_only=False) for place in places]
        return tuple(dict.fromkeys(chain.from_iterable(each))) if all(each) else (), True

    def _in_module(
        self, symbol: ex.Symbol, module: str, key: str, *, known_only: bool
    ) -> tuple[ProcedureName, ...]:
        """Return the procedures of the program that a generic name of a module denotes."""
        there = replace(symbol, key=key, name=key, module=module, origin=ex.Origin.IMPORTED)
        return self._in_program(self._calls.in_module(there, None, known_only=known_only))

    def _specific(
        self,
        names: tuple[ProcedureName, ...],
        symbol: ex.Symbol,
        call: ProcedureCall,
        code: Routine,
    ) -> dict[ProcedureName, bool | Maybe]:
        """Return the procedures that a call with a generic name may execute, and if it does.

        A name without arguments may be passed as an argument.
        """
        if not names and symbol.origin in (ex.Origin.HOST, ex.Origin.IMPORTED):
            home = home_module(code)
            places = self._calls.generics_of(home, code.uses, symbol.key)
            places = places or ((symbol.module_key or home, key_of(symbol.name)),)
            each = [self._in_module(symbol, *place, known_only=True) for place in places]
            names = tuple(dict.fromkeys(chain.from_iterable(each))) if all(each) else ()
        if not call.args:
            return dict.fromkeys(names, MAYBE)
        specific = SpecificProcedures(code, self.finder)
        fits = {one: specific.fits(self.procedures[one], call) for one in names}
        return {one: value for one, value in fits.items() if value}

    def is_on_device(self, line: un.Line, code: Routine) -> bool:
        """Return whether a statement calls a procedure outside the program that uses the device."""
        if not isinstance(line, un.Call) or not isinstance(line.procedure, ex.Name):
            return False
        key = line.procedure.key
        return key in self.outside.on_device and not self.called(
            ProcedureCall(line.procedure, line.args), code
        )

    def names(self, call: ProcedureCall, code: Routine) -> frozenset[str]:
        """Return the names of the procedures that a call by name may execute."""
        symbol = symbol_of_call(call, code)
        if symbol is None or is_overload(symbol.key):
            return frozenset()
        if symbol.origin not in (ex.Origin.HOST, ex.Origin.IMPORTED):
            return frozenset({key_of(symbol.name)})
        module = symbol.module_key or home_module(code)
        return self._calls.names(replace(symbol, module=module))

    def is_open(self, call: ProcedureCall, code: Routine) -> bool:
        """Return whether extensions of a type may bind another procedure to a called name."""
        return self._calls.is_open(call, code)

    @property
    def _calls(self) -> CallResolver:
        if self._resolver is None:
            self._resolver = CallResolver(self.finder, read_state)
        return self._resolver

    def _in_program(self, places: Iterable[ProcedurePlace]) -> tuple[ProcedureName, ...]:
        """Return the names of procedures, () if one is not in the program."""
        names = tuple(dict.fromkeys(ProcedureName(one.module, one.name) for one in places))
        return names if all(name in self.procedures for name in names) else ()

    def _of_symbol(self, symbol: ex.Symbol, module: str) -> tuple[ProcedureName, ...]:
        home = symbol.module_key or (module if symbol.origin is ex.Origin.HOST else "")
        own = ProcedureName(home, key_of(symbol.name))
        if own in self.procedures:
            return (own,)
        if symbol.origin not in (ex.Origin.HOST, ex.Origin.IMPORTED):
            return ()
        return self._in_program(self._calls.in_module(replace(symbol, module=home), None))

    def datum(self, key: str, code: Routine) -> ProgramArray:
        """Return the variable that a name denotes in a procedure."""
        symbol = code.symbol(key)
        match symbol.origin:
            case ex.Origin.IMPORTED:
                return ProgramArray(symbol.module_key, "", key_of(symbol.name))
            case ex.Origin.HOST:
                return ProgramArray(home_module(code), "", key)
        return ProgramArray(home_module(code), code.key, key)

    # ------------------------------------------------------------------------ effects

    def _record(self, symbol: ex.Symbol, uses_here: Iterable[un.Use]) -> Procedure | None:
        """Return the effects of a procedure on its arguments for the data flow of a caller."""
        names = self._of_symbol(symbol, symbol.module_key)
        if self._calls.generics_of(symbol.module_key, uses_here, symbol.key):
            return None  # the arguments decide which procedure a generic name means
        known = [self.of(name) for name in names]
        if len(names) != 1 or known[0] is None:
            return None
        code, uses = self.procedures[names[0]], known[0].arguments
        dummies = tuple((key, _intent(uses.get(key, ArrayUse()))) for key in code.dummy_keys)
        place = code.extent or code.place
        if place is None or (code.result and any(use.written for use in uses.values())):
            return None
        scalars = frozenset(
            item.key for item in code.declarations
            if isinstance(item, un.Declare) and not item.shape and item.key in code.dummy_keys
        )  # fmt: skip
        return Procedure(
            symbol.key, frozenset(), place, bool(code.result), True, dummies, scalars, True
        )

    def of(self, name: ProcedureName) -> ProcedureUses | None:
        """Return the effects of a procedure of the program, None if it is recursive."""
        if name in self.given:
            return self.given[name].uses
        if name not in self._found:
            self._found[name] = None
            self._found[name] = self._computed(name)
        return self._found[name]

    def _computed(self, name: ProcedureName) -> ProcedureUses:
        code = self.code(name)
        uses = self.uses_of_lines(code, code.body)
        clear = not any(unknown_lines(code.body))
        arguments: dict[str, ArrayUse] = {}
        shared: dict[ProgramArray, ArrayUse] = {}
        for variable, use in uses.items():
            key = variable[0]
            fixed = clear and len(variable) == 1 and self.has_fixed_shape(key, code)
            own = use if fixed else replace(use, covered=False)
            if key in code.dummy_keys:
                arguments[key] = _joined(arguments.get(key), self._declared(key, own, code))
            elif self._is_shared(key, code):
                datum = self.datum(key, code)
                shared[datum] = _joined(shared.get(datum), own)
        more, unknown = self.shared_by_calls(code, walk_lines(code.body))
        for datum, use in (*more.items(), *self._by_internal(code)):
            shared[datum] = _joined(shared.get(datum), use)
        if code.internal is not None:
            named = code.internal.names.intersection(code.dummy_keys)
            arguments |= dict.fromkeys(named, _WORST)
        return ProcedureUses(arguments, shared, unknown)

    def _by_internal(self, code: Routine) -> Iterator[tuple[ProgramArray, ArrayUse]]:
        """Yield the uses of variables of modules by internal procedures."""
        for key in frozenset[str]() if code.internal is None else code.internal.names:
            if self._is_shared(key, code):
                yield self.datum(key, code), _WORST

    # ------------------------------------------------------------------------ changes

    def reachable(self, root: ProcedureName) -> tuple[ProcedureName, ...]:
        """Return all procedures of the program that a call of `root` may execute."""
        found = {root: None}
        queue = [root]
        for name in queue:
            new = [one for one in self.called_by(name) if one not in found]
            found |= dict.fromkeys(new)
            queue += new
        return tuple(found)

    def called_by(self, name: ProcedureName) -> tuple[ProcedureName, ...]:
        """Return the procedures of the program that the statements of a procedure may call."""
        if name not in self._called:
            code = self.code(name)
            calls = call_sites(walk_lines(code.body), code)
            every = chain.from_iterable(self.called(call, code) for call in calls)
            self._called[name] = tuple(dict.fromkeys(every))
        return self._called[name]

    def has_fixed_shape(self, key: str, code: Routine) -> bool:
        """Return whether nothing changes a name in the bounds of an array during a procedure."""
        item = code.declared(key)
        names = frozenset[str]() if item is None else frozenset().union(*map(names_in, item.shape))
        return all(self.is_fixed(name, code) for name in names)

    def is_fixed(self, key: str, code: Routine) -> bool:
        """Return whether neither a procedure nor those that it calls change a variable."""
        own = code.declared(key)
        if own is not None and own.words & {"parameter", "intent(in)"}:
            return True
        if own is not None:
            return key not in self.written(code)
        if code.symbol(key).sort is ex.Sort.CONSTANT:
            return True
        return self._outside(key, code) not in self.changed(name_of(code))

    def written(self, code: Routine) -> frozenset[str]:
        """Return the names that a procedure writes."""
        if id(code) not in self._written:
            self._written[id(code)] = code, written_names(code.body, RoutineNames(code))
        return self._written[id(code)][1]

    def changed(self, name: ProcedureName) -> frozenset[ProgramArray]:
        """Return the variables of other scopes that a call of a procedure may write."""
        if name not in self._changes:
            self._changes[name] = frozenset[ProgramArray]().union(
                *map(self._changed_itself, self.reachable(name))
            )
        return self._changes[name]

    def _changed_itself(self, name: ProcedureName) -> frozenset[ProgramArray]:
        """Return the variables of other scopes that statements of a procedure may write."""
        if name in self.given:
            return self.given[name].changed
        if name not in self._changed:
            code = self.code(name)
            self._changed[name] = frozenset(
                self._outside(key, code) for key in self.written(code) if code.declared(key) is None
            )
        return self._changed[name]

    def _outside(self, key: str, code: Routine) -> ProgramArray:
        """Return a variable of another scope; only its name is known if that is not found."""
        if code.symbol(key).origin in (ex.Origin.IMPORTED, ex.Origin.HOST):
            return self.datum(key, code)
        return ProgramArray("", "", key)

    def may_allocate(self, name: ProcedureName, key: str) -> bool:
        """Return whether a procedure may allocate or deallocate one of its arguments."""
        if name in self.given:
            return key in self.given[name].allocates
        if (name, key) not in self._allocates:
            self._allocates[name, key] = True
            self._allocates[name, key] = self._allocates_itself(self.code(name), key)
        return self._allocates[name, key]

    def _allocates_itself(self, code: Routine, key: str) -> bool:
        item = code.declared(key)
        if item is None or "allocatable" not in item.words or "intent(in)" in item.words:
            return False
        inner = code.internal is not None and key in code.internal.names
        return inner or "intent(out)" in item.words or key in self.allocated_names(code)

    def allocated_names(self, code: Routine) -> frozenset[str]:
        """Return the names of arrays that statements of a procedure may allocate or deallocate.

        The target of an assignment counts, unless the value is a scalar.
        """
        found: set[str] = set()
        for line in walk_lines(code.body):
            targets: list[ex.Expr] = []
            if isinstance(line, un.Allocate | un.Deallocate):
                targets += line.arrays
            elif isinstance(line, un.Assign) and may_allocate_target(line, code):
                targets.append(line.target)
            targets += self.passed_to_allocate((line,), code)
            paths = (path_of(one.value if isinstance(one, ex.Keyword) else one) for one in targets)
            found.update(path.root for path in paths if path is not None)
        return frozenset(found)

    def passed_to_allocate(self, lines: Iterable[un.Line], code: Routine) -> Iterator[ex.Expr]:
        """Yield the arguments that called procedures may allocate or deallocate."""
        for call in call_sites(lines, code):
            if isinstance(call.procedure, ex.Name) and call.procedure.key == "move_alloc":
                yield from call.args
            for name in self.called(call, code):
                own = self.procedures[name]
                others = (one.names for one in own.declarations if isinstance(one, un.Opaque))
                marked = frozenset[str]().union(*(one for one in others if "allocatable" in one))
                for at, arg in enumerate(call.args):
                    keys = call.dummies(at, own.dummy_keys)
                    if any(key in marked or self.may_allocate(name, key) for key in keys):
                        yield arg

    def uses_of_lines(
        self, code: Routine, lines: Iterable[un.Line]
    ) -> Mapping[tuple[str, ...], ArrayUse]:
        """Return the uses of variables by statements of a procedure, without those in calls."""
        seen = chain.from_iterable(self._seen(line, code) for line in lines)
        return array_uses(code, seen, self.assumed)

    def _seen(self, line: un.Line, code: Routine) -> Iterator[un.Line]:
        """Yield a statement without arguments that procedures do not use.

        Calls that only read their arguments are output statements.
        """
        if isinstance(line, un.Allocate | un.Deallocate):
            yield from _without_old_values(line, code)
            return
        if isinstance(line, un.Call) and isinstance(line.procedure, ex.Name):
            key = line.procedure.key
            names = self.called(ProcedureCall(line.procedure, line.args), code)
            if not names and key in self.outside.readers:
                values = (one.value if isinstance(one, ex.Keyword) else one for one in line.args)
                yield un.InputOutput("write", (ex.Star(),), tuple(values), place=line.place)
                return
            known = self.of(names[0]) if len(names) == 1 else None
            args = line.args if known is None else tuple(self._used(line, names[0], known))
            yield replace(line, args=args) if args != line.args else line
            return

        def change(block: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
            new = tuple(one for inner in block for one in self._seen(inner, code))
            return block if len(new) == len(block) and all(map(is_, new, block)) else new

        yield with_changed_blocks(line, change)

    def _used(self, line: un.Call, name: ProcedureName, known: ProcedureUses) -> Iterator[ex.Expr]:
        """Yield the arguments of a call, with a constant for each that the procedure ignores."""
        keys = self.procedures[name].dummy_keys
        for at, arg in enumerate(line.args):
            key = arg.key if isinstance(arg, ex.Keyword) else keys[at] if at < len(keys) else ""
            if not key or key in known.arguments:
                yield arg
            else:
                yield replace(arg, value=_NONE) if isinstance(arg, ex.Keyword) else _NONE

    def _declared(self, key: str, use: ArrayUse, code: Routine) -> ArrayUse:
        """Return a use that respects the intent of an argument without pointers."""
        item = code.declared(key)
        if item is None or {"pointer", "allocatable"} & item.words:
            return use
        if "intent(in)" in item.words:
            return ArrayUse(exposed=use.exposed)
        return replace(use, exposed=use.exposed and "intent(out)" not in item.words)

    def shared_by_calls(
        self, code: Routine, lines: Iterable[un.Line]
    ) -> tuple[Mapping[ProgramArray, ArrayUse], frozenset[str]]:
        """Return the uses of variables of modules by the calls in `lines`, and unknown calls."""
        shared: dict[ProgramArray, ArrayUse] = {}
        unknown: set[str] = set()
        for call in call_sites(lines, code):
            names = self.called(call, code)
            if not names:
                unknown |= self._unknown(call, code)
            for name in names:
                known = self.of(name)
                if known is None:
                    own = self.procedures[name]
                    keys = frozenset[str]().union(*map(names_of_line, walk_lines(own.body)))
                    found = (key for key in keys if self._is_shared(key, own))
                    more = {self.datum(key, own): _WORST for key in found}
                else:
                    more = dict(known.shared)
                    unknown |= known.unknown
                for datum, use in more.items():
                    shared[datum] = _joined(shared.get(datum), use)
        return shared, frozenset(unknown)

    def _is_shared(self, key: str, code: Routine) -> bool:
        """Return whether a name denotes an array of a module."""
        symbol = code.symbol(key)
        outside = symbol.origin in (ex.Origin.IMPORTED, ex.Origin.HOST)
        return outside and symbol.sort is ex.Sort.VARIABLE and bool(symbol.shape)

    def _unknown(self, call: ProcedureCall, code: Routine) -> set[str]:
        if isinstance(call.procedure, ex.Name):
            key = call.procedure.key
            if key in HARMLESS or code.symbol(key).origin is ex.Origin.INTRINSIC:
                return set()
        return {ex.spell(call.procedure)}


def name_of(code: Routine) -> ProcedureName:
    """Return the name of a procedure in the program."""
    return ProcedureName(home_module(code), code.key)


def _without_old_values(line: un.Allocate | un.Deallocate, code: Routine) -> Iterator[un.Line]:
    """Yield assignments for arrays of which a statement does not use the values from before.

    With `stat=`, an array that is allocated already keeps its values.
    """
    names, rest, keeps = RoutineNames(code), list[ex.Expr](), keeps_values(line)
    for one in line.arrays:
        path = path_of(one)
        plain = path is not None and len(path.variable) == 1 and not keeps
        item = names.declaration(path.variable) if plain and path is not None else None
        if path is not None and item is not None and "allocatable" in item.words:
            yield un.InputOutput("write", (ex.Star(),), path.subscripts, place=line.place)
            yield un.Assign(ex.Name(path.root), _NONE, place=line.place)
        else:
            rest.append(one)
    if rest:
        yield replace(line, arrays=tuple(rest))


def keeps_values(line: un.Allocate | un.Deallocate) -> bool:
    """Return whether an array may have values after a statement that allocates it."""
    return isinstance(line, un.Allocate) and any(isinstance(one, ex.Keyword) for one in line.arrays)


def may_allocate_target(line: un.Assign, code: Routine) -> bool:
    """Return whether an assignment may allocate its target; scalar values never do."""
    typing = Typing(code.symbol, code.structure)
    return isinstance(line.target, ex.Name) and typing.rank_of(line.value) != 0


def home_module(code: Routine) -> str:
    """Return the module of a procedure, "" for an external procedure or a main program."""
    return "" if code.module.key == code.key else code.module.key


def _joined(first: ArrayUse | None, second: ArrayUse) -> ArrayUse:
    """Return the uses of statements of which the order is not known."""
    if first is None:
        return second
    return ArrayUse(first.exposed or second.exposed, first.written or second.written)


def _intent(use: ArrayUse) -> Intent:
    if not use.written:
        return Intent.IN
    return Intent.INOUT if use.exposed else Intent.OUT
