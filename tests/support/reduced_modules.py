"""Fortran modules with one subroutine of a kernel and only the names that it needs.

The procedures are identical to the originals, without their `use` statements; names from other
modules are in modules with the same names, reduced in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from psyclone_storage.ir.expr import Origin, Symbol
from psyclone_storage.ir.routine import Callee, ModuleContext, Routine
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import declaration_of
from psyclone_storage.ir.typing import CScope
from psyclone_storage.ir.used import names_in_declaration
from psyclone_storage.languages.fortran.print.printer import emit_declarations
from psyclone_storage.languages.sources.module_names import INTRINSIC_MODULES

_USE = re.compile(r"\s*use\b(?!\s*=)", re.IGNORECASE)
_LEFT_OUT = ("public", "private", "protected", "save")


@dataclass
class _Module:
    """What is needed of one module."""

    uses: dict[tuple[str, str, str], None] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    interfaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    procedures: dict[str, str] = field(default_factory=dict)


class ReducedModules:
    """The modules around one subroutine; their names get an ending that is theirs alone."""

    def __init__(self, code: Routine, around: ModuleContext, ending: str) -> None:
        self._around = around
        self._ending = ending
        self._modules: dict[str, _Module] = {}
        self._add_procedure(Callee(code))

    def name(self, module: str) -> str:
        """Return what the module is called here."""
        return module if module in INTRINSIC_MODULES else f"{module}_{self._ending}"

    def text(self) -> str:
        """Return all modules, each behind those that it uses."""
        done: dict[str, str] = {}
        for module in self._modules:
            self._print(module, done)
        return "\n".join(done.values())

    def _print(self, key: str, done: dict[str, str]) -> None:
        if key in done or key not in self._modules:
            return
        module = self._modules[key]
        for used, _, _ in module.uses:
            if used != key:
                self._print(used, done)
        lines = [f"module {self.name(key)}"]
        for used, local, original in module.uses:
            renamed = original if local == original else f"{local} => {original}"
            lines.append(f"use {self.name(used)}, only: {renamed}")
        lines += ["implicit none", *module.declared.values()]
        for generic, specifics in module.interfaces.items():
            lines += [f"interface {generic}", f"module procedure {', '.join(specifics)}"]
            lines.append("end interface")
        if module.procedures:
            lines += ["contains", *module.procedures.values()]
        done[key] = "\n".join((*lines, f"end module {self.name(key)}", ""))

    # ------------------------------------------------------------------------ needs

    def _module(self, name: str) -> _Module:
        return self._modules.setdefault(name.lower(), _Module())

    def _add_procedure(self, callee: Callee) -> None:
        code = callee.code
        module = self._module(code.module.name)
        if code.name.lower() in module.procedures:
            return
        module.procedures[code.name.lower()] = without_uses(code.module.routine.text)
        scope = CScope(code, self._around)
        inside = local_names(code) - {name.local.lower() for use in code.uses for name in use.names}
        for key in sorted(code.used_names - inside):
            self._need(scope, key)

    def _need(self, scope: CScope, key: str) -> None:
        """Let a module have the name `key`, which `scope` sees."""
        if not key.isidentifier():
            return
        symbol = scope.symbol(key)
        if symbol.origin is Origin.INTRINSIC:
            return
        here = scope.module or scope.code.module.name.lower()
        home = symbol.module.lower() or here
        original = symbol.name.lower()
        if home != here or original != key:
            self._module(here).uses[home, key, original] = None
        if home in INTRINSIC_MODULES:
            return
        if symbol.is_data:
            self._declare(scope.within(home), home, symbol)
            return
        module, found = self._module(home), self._around.procedures(home, original)
        names = tuple(item.code.name.lower() for item in found)
        if names != (original,) and found:
            module.interfaces[original] = names
        for callee in found:
            self._add_procedure(callee)

    def _declare(self, scope: CScope, home: str, symbol: Symbol) -> None:
        module, key = self._module(home), symbol.name.lower()
        if key in module.declared:
            return
        declared = declaration_of(symbol)
        words = tuple(word for word in declared.attributes if word not in _LEFT_OUT)
        declared = replace(declared, attributes=words)
        module.declared[key] = ""
        for name in sorted(names_in_declaration(declared)):
            self._need(scope, name)
        # What it is made of is declared before it.
        del module.declared[key]
        module.declared[key] = "\n".join(emit_declarations((declared,), 0))


def without_uses(text: str) -> str:
    """Return the text of a procedure without its `use` statements."""
    return "\n".join(_kept(text.split("\n")))


def _kept(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        code = line.partition("!")[0].rstrip()
        if inside:
            inside = not code or code.endswith("&")
            continue
        if _USE.match(line):
            inside = code.endswith("&")
            continue
        yield line
