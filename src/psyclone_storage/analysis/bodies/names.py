"""Names in a routine (variables, components, functions), and possible aliasing.

A component is known if the definition of its type is available. For an unknown name, the worst case
is assumed: a function with arbitrary effects, or a pointer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import is_
from typing import Any, Self, TypeVar

from psyclone_storage.analysis.bodies.effects import (
    ASSIGNMENT,
    OVERLOADS,
    ProcedureCall,
    module_of,
    threadprivate_in,
)
from psyclone_storage.analysis.bodies.overlapping_names import (
    includes,
    names_with_more_attributes,
    opaque_items,
    overlapping_names,
    renamed_variables,
    separate_members,
    with_members,
)
from psyclone_storage.analysis.bodies.reshaping import Reallocations
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import Variable, path_of, prefixes, share_data
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import STATEMENT_FUNCTION, Routine, Structure
from psyclone_storage.ir.scopes import host_names
from psyclone_storage.ir.symbols import Procedure, declaration_of
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

Answer = TypeVar("Answer")
_SHARED = frozenset({"pointer", "target"})
_SAVE_ALL = regex(r"(?:^|;)[ \t]*save[ \t]*(?:$|[!;])", re.IGNORECASE | re.MULTILINE)
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)
_ANY_COMPONENT = "*"
"""The key that represents any component of a variable of unknown type."""
_NAME_AND_BRACKET = regex(r"\b(?P<name>[a-z]\w*)\s*(?P<bracket>\()?", re.IGNORECASE)


@dataclass(frozen=True)
class RoutineNames:
    """The names in a routine, created once for all queries about its statements.

    `assumed` are promises about all names. `dofmaps` are arrays whose columns have no common dof.
    """

    code: Routine
    assumed: frozenset[FactKind] = frozenset()
    dofmaps: frozenset[str] = frozenset()

    @property
    def distinct_pointers(self) -> bool:
        """True if pointer components with different names never alias."""
        return FactKind.DISTINCT_POINTERS in self.assumed

    @cached_property
    def known(self) -> tuple[dict[tuple[str, int], tuple[un.Line, Any]], dict[str, Any]]:
        """Cached results by query and identity of the statement, and records of procedures.

        Names with the same meanings share them.
        """
        former: Self = vars(self).pop("former", self)
        return former.known if former is not self and self._is_like(former) else ({}, {})

    def of_statement(self, line: un.Line, answer: Callable[[un.Line, Self], Answer]) -> Answer:
        """Return the cached result of `answer`, which depends on a statement and the names."""
        key, known = (answer.__name__, id(line)), self.known[0]
        found = known.get(key)
        if found is None:
            found = known[key] = (line, answer(line, self))
        value: Answer = found[1]
        return value

    def inherit(self, former: Self) -> None:
        """Share the cached results of another version of the routine, or of a part of it.

        This has no effect unless the names have the same meanings in both.
        """
        vars(self)["former"] = former

    def _is_like(self, other: Self) -> bool:
        same = self.meaning() == other.meaning()
        same = same and all(map(is_, self.code.contained, other.code.contained))
        return same and self.code.module.symbols is other.code.module.symbols

    def meaning(self) -> tuple[object, ...]:
        """Return an object that determines the meanings of names, except internal procedures."""
        code = self.code
        procedure = (code.dummies, code.result, code.prefix, len(code.contained))
        counters = frozenset(key for key in self.counters if self._root(key) is None)
        reshaped = self.reallocations.in_loops
        shared = self.aliases, self._renamed, self.unclear
        marked = shared, self.assigned, self._sectioned, counters, reshaped
        return code.module, code.specification, procedure, marked, self.assumed, self.dofmaps

    @cached_property
    def imported(self) -> dict[str, un.Declare]:
        """The known variables imported from other modules, by their local keys."""
        return {item.key: declaration_of(item) for item in self.code.module.variables}

    @cached_property
    def structures(self) -> dict[tuple[str, str], Structure]:
        """The known derived types, by module and name."""
        return {(item.module, item.name): item for item in self.code.module.structures}

    @cached_property
    def procedures(self) -> dict[str, Procedure]:
        """The procedures of the routine's module."""
        return {item.name: item for item in self.code.module.procedures}

    def procedure(self, key: str, *, promised: bool = False) -> Procedure | None:
        """Return the record of a called procedure, None if its effects are unknown.

        It is a procedure of the module, or one of another module with known effects, or any one
        that is `promised` to be pure.
        """
        if promised:
            return self._looked_up(key, "declared")
        known: dict[str, Procedure | None] = self.known[1]
        if key not in known:
            known[key] = self._proved(key) or self.procedures.get(key)
        return known[key]

    def _looked_up(self, key: str, answer: str) -> Procedure | None:
        """Return the record of a procedure outside of the routine from its module's context."""
        symbol = self.code.symbol(key)
        lookup = getattr(self.code.module.context, answer, None)
        is_outer = symbol.origin in (ex.Origin.HOST, ex.Origin.IMPORTED)
        if lookup is None or not is_outer or not symbol.is_called:
            return None
        home = symbol.module or self.code.module.name
        uses = (*self.code.uses, *self.code.module.uses)
        found: Procedure | None = lookup(replace(symbol, module=home), uses)
        return found

    def _proved(self, key: str) -> Procedure | None:
        """Return the record of a procedure that certainly changes only its arguments, or None."""
        found = self._looked_up(key, "effects")
        own = self.procedures.get(key)
        if found is not None and own is not None and own.place != found.place:
            return None
        return found

    @cached_property
    def aliases(self) -> frozenset[str]:
        """Names that may denote different data in different places of the routine."""
        return overlapping_names(self.code)

    @cached_property
    def _renamed(self) -> frozenset[str]:
        return renamed_variables(self.code)

    @cached_property
    def _common(self) -> frozenset[str]:
        return separate_members(self.code)

    @cached_property
    def reallocations(self) -> Reallocations:
        """The variables that the statements of the routine may reallocate."""
        return Reallocations(self.code, self.declaration, self._components, self.unclear)

    @cached_property
    def unclear(self) -> frozenset[str]:
        """The names that may have attributes from separate statements, such as `target :: a`."""
        return names_with_more_attributes(self.code)

    @cached_property
    def counters(self) -> frozenset[str]:
        """The names of loop counters."""
        lines = walk_lines(self.code.body)
        return frozenset(line.variable.key for line in lines if isinstance(line, un.Do))

    @cached_property
    def _keeps(self) -> bool:
        """True if a `save` statement without names applies to all variables of the routine.

        The names in other statements that imply `save` are in `unclear`.
        """
        return any(_SAVE_ALL.search(item.text) for item in opaque_items(self.code.declarations))

    @cached_property
    def assigned(self) -> frozenset[Variable]:
        """Components on the left-hand side of an assignment, which cannot be functions."""
        lines = walk_lines(self.code.body)
        targets = (one.target for one in lines if isinstance(one, un.Assign | un.PointerAssign))
        found = (one for path in map(path_of, targets) if path for one in prefixes(path.variable))
        return frozenset(one for one in found if len(one) > 1)

    @cached_property
    def statement_functions(self) -> dict[str, frozenset[str]]:
        """The statement functions without unknown calls, with the variables that they read."""
        found: dict[str, frozenset[str]] = {}
        for item in opaque_items(self.code.declarations):
            head = STATEMENT_FUNCTION.match(item.text)
            if head is None:
                continue
            dummies = frozenset(map(key_of, _WORD.findall(head["dummies"])))
            parts = _NAME_AND_BRACKET.finditer(item.text, head.end())
            called = {key_of(part["name"]) for part in parts if part["bracket"]} - dummies
            own = called & found.keys()
            if all(self._is_data(key) or self._is_harmless_there(key) for key in called - own):
                read = item.names - dummies - called | called - own
                key = key_of(head["name"])
                found[key] = (read - {key}).union(*(found[one] for one in own))
        return found

    def _is_data(self, key: str) -> bool:
        declared = self.declaration((key,))
        return declared is not None and bool(declared.shape) and "external" not in declared.words

    def _is_harmless_there(self, function: str) -> bool:
        known = self.code.symbol(function).origin is ex.Origin.INTRINSIC
        return function in HARMLESS and known and function not in self.procedures

    def declaration(self, variable: Variable) -> un.Declare | None:
        """Return the declaration of a variable or component, None if it is not available."""
        root, *components = variable
        found = self._root(root)
        for key in components:
            if found is None or not isinstance(found.type, DerivedType):
                return None
            parts = self._components(found.type)
            found = next((part for part in parts if part.key == key), None)
        return found

    def _components(self, kind: DerivedType) -> tuple[un.Declare, ...]:
        """Return the components of a derived type and of its parents, () if some are unknown."""
        if kind not in self._known_components:
            self._known_components[kind] = self._components_of(kind)
        return self._known_components[kind]

    @cached_property
    def _known_components(self) -> dict[DerivedType, tuple[un.Declare, ...]]:
        return {}

    def _components_of(self, kind: DerivedType) -> tuple[un.Declare, ...]:
        found = self.code.structure(kind) or self.code.symbol(kind.name)
        own = self.structures.get((key_of(kind.module or ""), kind.name))
        if own is not None and not found.extends:
            return own.components
        parts = [*found.components]
        while found.extends:
            parent = self.code.structure(DerivedType(found.extends, found.module_key))
            if parent is None:
                return ()
            found = parent
            parts += found.components
        return tuple(map(declaration_of, parts))

    def _root(self, key: str) -> un.Declare | None:
        code = self.code
        found = code.declared(key) or code.module.declared.get(key) or self.imported.get(key)
        if found is None and key == key_of(code.result):
            symbol = code.symbol(key)
            found = None if symbol.type is None else declaration_of(symbol)
        return found

    def is_local(self, key: str) -> bool:
        """Return whether only the routine accesses a variable, by one name.

        Its lifetime ends with each call of the routine.
        """
        declared = self.code.declared(key)
        if declared is None or key in self._visible or key in self.unclear or self._keeps:
            return False
        if any(isinstance(item, un.Include) for item in self.code.contained):
            return False
        if key in host_names(self.code.contained):
            return False
        words = declared.words
        return not words & {"save", "parameter", "volatile"} and declared.value is None

    @cached_property
    def _visible(self) -> frozenset[str]:
        """Dummy arguments, a function's result, and variables with other names in a construct."""
        return self._renamed.union((*self.code.dummy_keys, key_of(self.code.result)))

    # ------------------------------------------------------------------------ functions

    def function_called(self, brackets: ex.Index) -> str | None:
        """Return the name of the function that `brackets` call, None if they are subscripts.

        An undeclared name counts as a function unless the routine assigns to it.
        """
        base = path_of(brackets.base)
        if base is None or isinstance(
            brackets, ex.Element | ex.Section | ex.Substring | ex.Extents
        ):
            return None
        if isinstance(brackets, ex.CallFunction | ex.StructureConstructor):
            return "%".join(base.variable)
        are_subscripts = bool(brackets.items) and not any(
            isinstance(item, ex.Keyword) for item in brackets.items
        )
        return self._function_perhaps(base.variable, are_subscripts)

    def _function_perhaps(self, brackets: Variable, are_subscripts: bool) -> str | None:
        declared = self.declaration(brackets)
        if declared is not None:
            is_data = declared.shape or _is_text(declared)
            return None if is_data and "external" not in declared.attributes else "%".join(brackets)
        if len(brackets) == 1:
            return brackets[0]
        if brackets in self.assigned or brackets in self._sectioned:
            return None
        promised = FactKind.DATA_COMPONENTS in self.assumed and are_subscripts
        is_data = promised and self._is_of_unknown_type(brackets)
        return None if is_data else "%".join(brackets)

    @cached_property
    def _sectioned(self) -> frozenset[Variable]:
        """The components with a range in parentheses, which cannot be functions."""
        parts = (
            part
            for line in walk_lines(self.code.body)
            for expr in expressions_of(line)
            for part in ex.walk(expr)
            if isinstance(part, ex.Index) and any(isinstance(one, ex.Range) for one in part.items)
        )
        paths = (path_of(part.base) for part in parts)
        variables = (path.variable for path in paths if path is not None)
        return frozenset(one for one in variables if len(one) > 1)

    def _is_of_unknown_type(self, variable: Variable) -> bool:
        """Return whether a component belongs to a type without an available definition."""
        holder = self.declaration(variable[:-1])
        if holder is None:
            return len(variable) == 2 or self._is_of_unknown_type(variable[:-1])
        return isinstance(holder.type, DerivedType) and not self._components(holder.type)

    def is_harmless(self, function: str) -> bool:
        """Return whether a function is known to have no side effects."""
        if function in self.statement_functions:
            return True
        own = self.procedure(function)
        if own is not None:
            return own.pure and own.is_function
        return function in HARMLESS and self.code.symbol(function).origin is ex.Origin.INTRINSIC

    def read_by(self, procedure: str) -> frozenset[str]:
        """Return the non-local names that a pure procedure may read.

        The procedure may use another name for a variable of another module. If its variables are
        unknown, it may read all variables that the routine imports.
        """
        own = self.procedure(procedure)
        if own is not None and own.closed:
            return frozenset()
        found: set[str] = set()
        done: set[str] = set()
        new = {procedure} & self.procedures.keys()
        while new:
            found.update(*(self.procedures[item].names for item in new))
            done |= new
            new = (found & self.procedures.keys()) - done
        uses = (*self.code.uses, *self.code.module.uses)
        renamed = any(name.key != key_of(name.original) for use in uses for name in use.names)
        if renamed or "use" in found or self._may_call_imported(frozenset(found) - done):
            found.update(filter(self._entity, self.code.used_values), self.imported)
        if found.isdisjoint(("common", "include")):
            found = set(filter(self._may_be_of_module, found))
        return frozenset(name for name in found if self.code.declared(name) is None) | self._common

    def _may_be_of_module(self, word: str) -> bool:
        """Return whether a word in a procedure of the module may denote a variable outside of it.

        Most words are local variables and keywords.
        """
        module = self.code.module
        context, uses = module.context, (*self.code.uses, *module.uses)
        if word in module.declared or context is None or context.imported is None:
            return True
        stated = opaque_items(module.declarations)
        if any(word in item.names or includes(item) for item in stated):
            return True
        return word in self.imported or context.imported(uses, word) is not None

    def _may_call_imported(self, words: frozenset[str]) -> bool:
        """Return whether one of `words` may be a procedure that the module imports."""
        context, uses = self.code.module.context, self.code.module.uses
        if context is None or context.imported is None:
            return False
        found = (context.imported(uses, word) for word in sorted(words))
        return any(one is not None and (one.is_called or not one.is_resolved) for one in found)

    def _entity(self, key: str) -> tuple[str, str] | None:
        """Return the module and the original name of an entity that the routine imports."""
        if key not in self._known_entities:
            own = self.code.declared(key) or self.code.module.declared.get(key)
            symbol = None if own else self.code.symbol(key)
            self._known_entities[key] = (
                (symbol.module_key, key_of(symbol.name)) if symbol and symbol.module else None
            )
        return self._known_entities[key]

    @cached_property
    def _known_entities(self) -> dict[str, tuple[str, str] | None]:
        return {}

    @cached_property
    def threadprivate(self) -> frozenset[str]:
        """The `threadprivate` variables of OpenMP, of which each thread has its own copy."""
        texts = [f"!${line.text}" for line in self.code.directives]
        module = self.code.module
        here = with_members(threadprivate_in(" ".join(texts)), self.code.declarations)
        outer = with_members(threadprivate_in(module.place.text), module.declarations)
        hidden = {key for key in outer if self.code.declared(key) is not None}
        return here | (outer & module.declared.keys()) - hidden

    def may_be_absent(self, key: str) -> bool:
        """Return whether a variable is an optional dummy argument, not allowed in data clauses."""
        declared = self.code.declared(key)
        return declared is not None and "optional" in declared.words

    def may_be_changed(self, variable: Variable) -> bool:
        """Return whether a procedure may change a variable that is passed to it.

        Arguments with `intent(in)` and constants do not change during a call of the routine.
        """
        declared = None if variable[0] in self.unclear else self.code.declared(variable[0])
        if declared is None or not self._has_no_pointers(variable):
            return True
        words = {"".join(word.split()) for word in declared.words}
        return not words & {"intent(in)", "parameter"}

    def _has_no_pointers(self, variable: Variable) -> bool:
        found = self.declaration(variable)
        return (
            found is not None
            and isinstance(found.type, ScalarType)
            and not self.is_shared(variable)
        )

    # ------------------------------------------------------------------------ derived types

    @cached_property
    def typing(self) -> Typing:
        """The types of expressions in the routine."""
        return Typing(self.code.symbol, self.code.structure)

    def is_intrinsic(self, call: ProcedureCall) -> bool:
        """Return whether an operation that could be user-defined is certainly intrinsic.

        This is an assignment of a derived type of the routine's module, which defines no
        assignment.
        """
        if not isinstance(call.procedure, ex.Name) or call.procedure.key != ASSIGNMENT:
            return False
        target, value = map(self.typing.type_of, call.args)
        module = self.code.module
        return (
            isinstance(target, DerivedType)
            and target == value
            and module_of(target, self.code) == module.key
            and OVERLOADS.search(module.source.text) is None
        )

    def pointer_components(self, variable: Variable) -> Iterator[Variable]:
        """Yield the pointer components of a variable, by their keys.

        An object of an unknown type may have arbitrary pointer components.
        """
        declared = self.declaration(variable)
        if declared is None:
            yield (_ANY_COMPONENT,)
        else:
            yield from self._pointers_in(declared, ())

    def _pointers_in(self, item: un.Declare, around: tuple[DerivedType, ...]) -> Iterator[Variable]:
        if not isinstance(item.type, DerivedType):
            return
        parts = self._components(item.type)
        if not parts or item.polymorphic or item.type in around:
            yield (_ANY_COMPONENT,)
            return
        for part in parts:
            if "pointer" in part.words:
                yield (part.key,)
            else:
                inner = self._pointers_in(part, (*around, item.type))
                yield from ((part.key, *keys) for keys in inner)

    # ------------------------------------------------------------------------ shared data

    def may_share(self, first: Variable, second: Variable) -> bool:
        """Return whether two variables or components may overlap in memory."""
        is_one = first[0] == second[0]
        if self._may_be_joined(first[0], second[0]) or (is_one and share_data(first, second)):
            return True
        if not is_one and self.is_same(first[0], second[0]):
            return share_data(first[1:], second[1:])
        if self._promised_distinct(first, second):
            return False
        ways = self._ways(first), self._ways(second)
        if not all(ways):
            return False
        if "pointer" not in ways[0] | ways[1] and not self._may_be_one_target(first, second):
            return False
        return not self._differ_in_type(first, second)

    def _may_be_joined(self, first: str, second: str) -> bool:
        """Return whether statements of the routine or of another one may join two variables."""
        if not self.aliases.isdisjoint((first, second)):
            return True
        mixed = (first in self._common) != (second in self._common)
        return mixed and any(self.code.declared(key) is None for key in (first, second))

    def is_same(self, first: str, second: str) -> bool:
        """Return whether two names denote the same variable, possibly in another module."""
        entity = None if first == second else self._entity(first)
        return first == second or (entity is not None and entity == self._entity(second))

    def _may_be_one_target(self, first: Variable, second: Variable) -> bool:
        """Return whether two variables may be the same target, because of argument passing."""
        roots = first[0], second[0]
        own = [key for key in roots if self.code.declared(key) is not None]
        return bool(own) and roots[0] != roots[1] and all(map(self._may_be_another_target, own))

    def _may_be_another_target(self, key: str) -> bool:
        """Return whether a variable of the routine may legally alias a target."""
        declared = self.code.declared(key)
        if declared is None or key not in self.code.dummy_keys:
            return False
        words = {"".join(word.split()) for word in declared.words}
        if words & {"intent(in)", "value", "contiguous", "allocatable"}:
            return False
        return all(isinstance(one, ex.Range) and one.upper is None for one in declared.shape)

    def _ways(self, variable: Variable) -> frozenset[str]:
        """Return how a variable may be aliased: `pointer`, `target`, both or neither."""
        if variable not in self._known_ways:
            self._known_ways[variable] = self._found_ways(variable)
        return self._known_ways[variable]

    @cached_property
    def _known_ways(self) -> dict[Variable, frozenset[str]]:
        return {}

    def _found_ways(self, variable: Variable) -> frozenset[str]:
        words: set[str] = set()
        if variable[0] in self.code.module.constants:
            return frozenset()
        if variable[0] in self.unclear - self._common:
            return _SHARED
        for part in prefixes(variable):
            declared = self.declaration(part)
            if declared is None or "volatile" in declared.words:
                return _SHARED
            words |= declared.words
        return frozenset(words & _SHARED)

    def _promised_distinct(self, first: Variable, second: Variable) -> bool:
        """Return whether two variables are distinct by promise: components with other names."""
        is_promised = self.distinct_pointers and len(first) + len(second) > 2
        one, other = first[1:] or first, second[1:] or second
        return is_promised and one[-1] not in other and other[-1] not in one

    def is_pointer(self, variable: Variable) -> bool:
        """Return whether a variable or component may be a pointer."""
        declared = self.declaration(variable)
        if declared is None or (len(variable) == 1 and variable[0] in self.unclear):
            return True
        return "pointer" in declared.words

    def is_shared(self, variable: Variable) -> bool:
        """Return whether a variable may have another name, or is a pointer."""
        renamed = variable[0] in self._renamed or variable[0] in self.aliases | self._common
        return renamed or bool(self._ways(variable))

    def _differ_in_type(self, first: Variable, second: Variable) -> bool:
        types = [item.type for item in map(self.declaration, (first, second)) if item]
        kinds = {item.intrinsic for item in types if isinstance(item, ScalarType)}
        if kinds == {Intrinsic.REAL, Intrinsic.COMPLEX}:
            return False  # a pointer may alias the real or imaginary part of complex numbers
        return len(types) == 2 and len(kinds) == 2


def _is_text(declared: un.Declare) -> bool:
    kind = declared.type
    return isinstance(kind, ScalarType) and kind.intrinsic is Intrinsic.CHARACTER
