"""Origin of the names called in an invoke: a built-in, or an imported module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import parsed
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import DerivedType


@dataclass(frozen=True, slots=True)
class Import:
    """Imported kernel type, with the first call that uses it.

    - `local`: the name in the algorithm.

    - `original`: the name in the module.

    - `modules`: the module; without an explicit import, all modules imported as a whole.

    - `doubt`: the diagnostic if none of `modules` defines the kernel.

    - `hiding`: modules imported as a whole in inner scopes, or in Python by later statements, whose
      names would hide the kernel.
    """

    local: str
    original: str
    modules: tuple[str, ...]
    call: parsed.ParsedCall
    doubt: Diagnostic | None = None
    hiding: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InvokeImports:
    """Built-ins and kernels called in the invokes of an algorithm, with diagnostics.

    A name occurs once for each different way of importing it.
    """

    kernels: tuple[Import, ...]
    builtins: tuple[str, ...]
    problems: tuple[Diagnostic, ...]


USE = "use <module>, only: {}"
"""How a name is imported in Fortran."""


def find_imports(
    algorithm: parsed.ParsedAlgorithm, builtins: Collection[str], form: str = USE
) -> InvokeImports:
    """Classify the names called in the invokes of `algorithm` as built-ins or kernels.

    Each name is searched in the `use` statements of the enclosing scopes, innermost first. If none
    of these imports it, other scopes of the file are used, provided that they agree.

    - `builtins`: the names of all built-ins.

    - `form`: the import syntax of the algorithm's language, for hints.
    """
    known = {key_of(name): name for name in builtins}
    kernels: dict[tuple[str, tuple[parsed.ParsedUse, ...]], Import] = {}
    used: dict[str, str] = {}
    problems: list[Diagnostic] = []
    for invoke in algorithm.invokes:
        uses = tuple(_uses(invoke))
        for call in invoke.calls:
            name = call.key
            if (name, uses) in kernels or name in used:
                continue
            if name in known:
                used[name] = known[name]
                problems += _imported_builtin(call, invoke, form)
                continue
            found = _find(call, invoke, algorithm, builtins, form)
            if isinstance(found, Diagnostic):
                problems.append(found)
            else:
                kernels[name, uses] = found
    return InvokeImports(tuple(kernels.values()), tuple(used.values()), tuple(problems))


def _find(
    call: parsed.ParsedCall,
    invoke: parsed.ParsedInvoke,
    algorithm: parsed.ParsedAlgorithm,
    builtins: Collection[str],
    form: str,
) -> Import | Diagnostic:
    name = call.key
    whole: tuple[str, ...] = ()
    for scope in invoke.scopes:
        named = [(use, item) for use, item in _named_in(scope.uses) if item.key == name]
        if form != USE and len({(use.module_key, item.original_key) for use, item in named}) > 1:
            return _imported_again(call, named)
        if named:
            use, item = named[0]
            if form != USE:
                whole += _whole_after(use, scope)
            return Import(name, item.original_key, (use.module_key,), call, hiding=whole)
        whole += tuple(use.module_key for use in scope.uses if use.only is None)
    elsewhere = {
        (item.original_key, use.module_key)
        for scope in algorithm.scopes
        for use, item in _named_in(scope.uses)
        if item.key == name
    }
    if len(elsewhere) == 1:
        original, module = elsewhere.pop()
        return Import(name, original, (module,), call, hiding=whole)
    unknown = _unknown(call, invoke, builtins, form)
    return Import(name, name, whole, call, unknown) if whole else unknown


def _whole_after(named: parsed.ParsedUse, scope: parsed.Scope) -> tuple[str, ...]:
    """Return the modules that Python imports as a whole after a name, the last one first."""
    later = [use for use in scope.uses if use.only is None and use.span.start > named.span.start]
    later.sort(key=lambda use: use.span.start, reverse=True)
    return tuple(use.module_key for use in later)


def _imported_again(
    call: parsed.ParsedCall, named: list[tuple[parsed.ParsedUse, parsed.UsedName]]
) -> Diagnostic:
    """Return the diagnostic for a name that several statements import from different modules.

    Only the program knows which statement is the last one. In Fortran, this is an error, or the
    preprocessor chooses one statement.
    """
    modules = " and ".join(dict.fromkeys(f"'{use.module}'" for use, _ in named))
    return Diagnostic(
        "P032",
        f"The kernel '{call.name}' is imported more than once: from {modules}.",
        named[-1][1].span,
        "imported again here",
        "Import it by one statement, or give each kernel a name of its own.",
        (Related(named[0][1].span, "first imported here"),),
    )


def _uses(invoke: parsed.ParsedInvoke) -> Iterator[parsed.ParsedUse]:
    for scope in invoke.scopes:
        yield from scope.uses


def _named(invoke: parsed.ParsedInvoke) -> Iterator[tuple[parsed.ParsedUse, parsed.UsedName]]:
    return _named_in(_uses(invoke))


def _named_in(
    uses: Iterable[parsed.ParsedUse],
) -> Iterator[tuple[parsed.ParsedUse, parsed.UsedName]]:
    for use in uses:
        for item in (*(use.only or ()), *use.renames):
            yield use, item


def _imported_builtin(
    call: parsed.ParsedCall, invoke: parsed.ParsedInvoke, form: str
) -> Iterator[Diagnostic]:
    for use, item in _named(invoke):
        if item.key == call.key:
            yield Diagnostic(
                "S111",
                f"'{call.name}' is a built-in and cannot be imported from '{use.module}'.",
                item.span,
                "imported here",
                f"Remove it from the {_statement(form)}, or give the imported one another name.",
                (Related(call.name_span, "called here"),),
            )
            return


def _statement(form: str) -> str:
    """Return the name of the import statement for hints."""
    return f"'{form.split(maxsplit=1)[0]}' statement"


def _unknown(
    call: parsed.ParsedCall, invoke: parsed.ParsedInvoke, builtins: Collection[str], form: str
) -> Diagnostic:
    data_types = {
        declaration.type.name
        for scope in invoke.scopes
        for declaration in scope.declarations
        if isinstance(declaration.type, DerivedType)
    }
    imported = [item.local for _, item in _named(invoke) if item.key not in data_types]
    guess = did_you_mean(call.name, [*builtins, *imported])
    missing = f"'{form.format(call.name)}' for the module that defines it"
    return Diagnostic(
        "S110",
        f"'{call.name}' is neither a built-in nor imported by a {_statement(form)}.",
        call.name_span,
        hint=f"{guess} Otherwise add {missing}." if guess else f"Add {missing}.",
    )
