"""The modules of PSyclone that a script can import while it runs, and nothing else can.

`psyclone_alias` makes the name `psyclone` mean our words for as long as a recipe runs. A PSyclone
that is installed is neither needed nor touched: it is out of sight meanwhile, and back after.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from psyclone_storage.base.names import did_you_mean
from psyclone_storage.scripting import views
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.psyclone_words import TRANSFORMATIONS
from psyclone_storage.scripting.transformation import TransformationError

_WILDCARDS = range(1, 11)
DISCONTINUOUS_SPACES = ("w3", "wtheta", "w2v", "w2vtrace", "w2broken")
CONTINUOUS_SPACES = ("w0", "w1", "w2", "w2trace", "w2h", "w2htrace", "any_w2")


class LFRicConstants:
    """Names of LFRic's function spaces, as scripts ask for them."""

    DISCONTINUOUS_FUNCTION_SPACES = DISCONTINUOUS_SPACES
    CONTINUOUS_FUNCTION_SPACES = CONTINUOUS_SPACES
    VALID_ANY_SPACE_NAMES = tuple(f"any_space_{number}" for number in _WILDCARDS)
    VALID_ANY_DISCONTINUOUS_SPACE_NAMES = tuple(
        f"any_discontinuous_space_{number}" for number in _WILDCARDS
    )
    VALID_DISCONTINUOUS_NAMES = (
        *DISCONTINUOUS_FUNCTION_SPACES,
        *VALID_ANY_DISCONTINUOUS_SPACE_NAMES,
    )


_NODES: Mapping[str, object] = {
    "Directive": views.Construct,
    "HaloExchange": views.HaloExchange,
    "InvokeSchedule": views.Schedule,
    "Kern": views.KernelCall,
    "KernelSchedule": views.Schedule,
    "LFRicHaloExchange": views.HaloExchange,
    "LFRicInvokeSchedule": views.Schedule,
    "LFRicKern": views.KernelCall,
    "LFRicLoop": views.Loop,
    "Loop": views.Loop,
    "Node": Node,
    "Routine": views.Schedule,
    "Schedule": views.Schedule,
}

_ALL_TRANSFORMATIONS: Mapping[str, object] = {
    **TRANSFORMATIONS,
    "TransformationError": TransformationError,
}

MODULES: Mapping[str, Mapping[str, object]] = {
    "psyclone": {},
    "psyclone.domain": {},
    "psyclone.domain.common": {},
    "psyclone.domain.common.transformations": _ALL_TRANSFORMATIONS,
    "psyclone.domain.lfric": {"LFRicConstants": LFRicConstants, **_NODES},
    "psyclone.domain.lfric.transformations": _ALL_TRANSFORMATIONS,
    "psyclone.dynamo0p3": _NODES,
    "psyclone.psyGen": {**_NODES, "TransformationError": TransformationError},
    "psyclone.psyir": {},
    "psyclone.psyir.nodes": _NODES,
    "psyclone.psyir.transformations": _ALL_TRANSFORMATIONS,
    "psyclone.transformations": _ALL_TRANSFORMATIONS,
}
"""What each module of PSyclone holds here."""


class PSycloneFinder(MetaPathFinder, Loader):
    """Finds the modules of `MODULES`; `used` tells whether one was asked for."""

    def __init__(self) -> None:
        self.used = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of PSyclone, None for any other.

        Raises:
            ImportError: PSyclone may have such a module; here there is none.
        """
        if fullname.partition(".")[0] != "psyclone":
            return None
        self.used = True
        if fullname not in MODULES:
            hint = did_you_mean(fullname, MODULES)
            raise ImportError(f"The module '{fullname}' is not supported. {hint}".strip())
        return ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module, and let it say what it lacks."""
        names = MODULES[module.__name__]
        vars(module).update(names)

        def missing(name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            hint = did_you_mean(name, names)
            raise ImportError(f"'{name}' of '{module.__name__}' is not supported. {hint}".strip())

        vars(module)["__getattr__"] = missing


@contextmanager
def psyclone_alias() -> Iterator[PSycloneFinder]:
    """Make `psyclone` mean our words while the context lasts.

    Modules that were imported meanwhile and hold such words are forgotten, so that the next script
    imports them again.
    """
    finder = PSycloneFinder()
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
    """Return whether a module that is not ours has taken a name from one of `MODULES`."""
    ours = module.__name__.startswith(__package__)
    return not ours and any(
        str(getattr(value, "__module__", "")).startswith(__package__)
        for value in list(vars(module).values())
    )


def _loaded() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "psyclone"]
