"""PSyclone modules that only a running script can import.

While a recipe runs, `psyclone_alias` maps the name `psyclone` to the modules of this package. An
installed PSyclone is not required. It is hidden during that time and available again afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from psyclone_storage.base.names import did_you_mean
from psyclone_storage.scripting.psyclone_names import Words

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    # The import of `importlib.abc` takes 2 % of a small translation.
    Loader, MetaPathFinder = (type(name, (), {}) for name in ("Loader", "MetaPathFinder"))


class OwnLoader(Loader):
    """Base of loaders whose modules the import system creates."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system create the module."""


class PSycloneFinder(MetaPathFinder, OwnLoader):
    """Finder of the modules in `modules`; `used` becomes true at the first request."""

    def __init__(self, modules: Mapping[str, Words]) -> None:
        self.used = False
        self._modules = modules

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a PSyclone module, or None for another module.

        Raises:
            ImportError: a module below `psyclone` is not supported.
        """
        if fullname.partition(".")[0] != "psyclone":
            return None
        self.used = True
        if fullname not in self._modules:
            hint = did_you_mean(fullname, self._modules)
            raise ImportError(f"The module '{fullname}' is not supported. {hint}".strip())
        return ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Set the names of a module, and an error message for other names."""
        names = self._modules[module.__name__]
        vars(module).update(names)

        def missing(name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            hint = did_you_mean(name, names)
            raise ImportError(f"'{name}' of '{module.__name__}' is not supported. {hint}".strip())

        vars(module)["__getattr__"] = missing


@contextmanager
def psyclone_alias(modules: Mapping[str, Words]) -> Iterator[PSycloneFinder]:
    """Import the replacement `modules` as `psyclone` within this context.

    Modules that are imported in this context and use these names are removed afterwards. The next
    script then imports them again.
    """
    finder = PSycloneFinder(modules)
    hidden = {name: sys.modules.pop(name) for name in _loaded()}
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        helpers = [name for name in set(sys.modules) - before if _holds_words(sys.modules[name])]
        for name in {*_loaded(), *helpers}:
            del sys.modules[name]
        sys.modules.update(hidden)


def _holds_words(module: ModuleType) -> bool:
    """Return whether a user module has imported a name from this package."""
    ours = module.__name__.startswith(__package__)
    return not ours and any(
        str(getattr(value, "__module__", "")).startswith(__package__)
        for value in list(vars(module).values())
    )


def _loaded() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "psyclone"]
