"""Contents of each PSyclone module: node classes, transformations and constants.

The names are those of PSyclone 1.8 and of the current version. Importing another name is an error
with a message.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.lfric import (
    ANY_DISCONTINUOUS_SPACE,
    ANY_SPACE,
    DEFAULT_LIMITS,
    READ_ONLY_SPACES,
    SPACES,
    is_continuous,
    space_names,
)
from psyclone_storage.scripting import f2pygen, views
from psyclone_storage.scripting.algorithm import AlgorithmCall, AlgorithmInvoke
from psyclone_storage.scripting.arguments import Argument, Arguments, DataAccess
from psyclone_storage.scripting.containers import Invokes, Module, Psy
from psyclone_storage.scripting.context import ScriptContext
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.kernel_views import IntrinsicCall, KernelRoutine
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.psyir.reader import FortranReader
from psyclone_storage.scripting.psyir.vocabulary import CORE, ERRORS, SYMBOLS, TOOLS
from psyclone_storage.scripting.psyir.vocabulary import NODES as NODES_OF_FILES
from psyclone_storage.scripting.settings import config_class
from psyclone_storage.scripting.transformations.base import RegionTrans, Transformation
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS, TransInfo
from psyclone_storage.scripting.writer import FileWriter, writer_maker

_NAMES = space_names(DEFAULT_LIMITS)
DISCONTINUOUS_SPACES = tuple(name for name in SPACES if not is_continuous(name))
CONTINUOUS_SPACES = tuple(
    name for name in SPACES if is_continuous(name) and name not in READ_ONLY_SPACES
)

Words = Mapping[str, object]


class LFRicConstants:
    """Names of LFRic's function spaces in PSyclone's constants class."""

    DISCONTINUOUS_FUNCTION_SPACES = DISCONTINUOUS_SPACES
    CONTINUOUS_FUNCTION_SPACES = CONTINUOUS_SPACES
    VALID_ANY_SPACE_NAMES = tuple(name for name in _NAMES if name.startswith(ANY_SPACE))
    VALID_ANY_DISCONTINUOUS_SPACE_NAMES = tuple(
        name for name in _NAMES if name.startswith(ANY_DISCONTINUOUS_SPACE)
    )
    VALID_DISCONTINUOUS_NAMES = (
        *DISCONTINUOUS_FUNCTION_SPACES,
        *VALID_ANY_DISCONTINUOUS_SPACE_NAMES,
    )


class FunctionSpace:
    """Names of LFRic's function spaces in PSyclone's class of 2019."""

    VALID_DISCONTINUOUS_NAMES = LFRicConstants.VALID_DISCONTINUOUS_NAMES
    DISCONTINUOUS_FUNCTION_SPACES = DISCONTINUOUS_SPACES
    CONTINUOUS_FUNCTION_SPACES = CONTINUOUS_SPACES


_NODES: Words = {
    "BuiltIn": views.BuiltInCall,
    "CodedKern": views.CodedCall,
    "Container": Module,
    "Directive": views.DirectiveRegion,
    "FileContainer": Psy,
    "GOInvokeSchedule": views.Schedule,
    "GOKern": views.CodedCall,
    "GOLoop": views.Loop,
    "GlobalReduction": views.GlobalReduction,
    "HaloExchange": views.HaloExchange,
    "InvokeSchedule": views.Schedule,
    "Call": IntrinsicCall,
    "IntrinsicCall": IntrinsicCall,
    "Kern": views.KernelCall,
    "KernelSchedule": KernelRoutine,
    "LFRicBuiltIn": views.BuiltInCall,
    "LFRicGlobalReduction": views.GlobalReduction,
    "LFRicGlobalSum": views.GlobalReduction,
    "LFRicHaloExchange": views.HaloExchange,
    "LFRicHaloExchangeEnd": views.EndOfExchange,
    "LFRicHaloExchangeStart": views.StartOfExchange,
    "LFRicInvokeSchedule": views.Schedule,
    "LFRicKern": views.CodedCall,
    "LFRicLoop": views.Loop,
    "Loop": views.Loop,
    "Node": Node,
    "ProfileNode": views.ProfileRegion,
    "PSyDataNode": views.ProfileRegion,
    "Routine": views.Schedule,
    "Schedule": views.Schedule,
    **{
        name: NODES_OF_FILES[name]
        for name in "ArrayReference Assignment CodeBlock IfBlock Literal"
        " Reference Return UnknownDirective WhileLoop".split()
    },
}
"""The nodes of schedules, and those of files that a script asks schedules for in vain."""

_OLD_NODES: Words = {
    "DynBuiltIn": views.BuiltInCall,
    "DynGlobalSum": views.GlobalReduction,
    "DynHaloExchange": views.HaloExchange,
    "DynHaloExchangeEnd": views.EndOfExchange,
    "DynHaloExchangeStart": views.StartOfExchange,
    "DynInvokeSchedule": views.Schedule,
    "DynKern": views.CodedCall,
    "DynLoop": views.Loop,
}

_TRANSFORMATIONS: Words = {
    **TRANSFORMATIONS,
    "RegionTrans": RegionTrans,
    "Transformation": Transformation,
    "TransformationError": TransformationError,
}

MODULES: Mapping[str, Words] = {
    "psyclone": {},
    "psyclone.domain": {},
    "psyclone.domain.common": {},
    "psyclone.domain.common.algorithm": {},
    "psyclone.domain.common.algorithm.psyir": {
        "AlgorithmInvokeCall": AlgorithmInvoke,
        "KernelFunctor": AlgorithmCall,
    },
    "psyclone.domain.common.transformations": _TRANSFORMATIONS,
    "psyclone.domain.gocean": _NODES,
    "psyclone.domain.gocean.transformations": _TRANSFORMATIONS,
    "psyclone.domain.lfric": {"LFRicConstants": LFRicConstants, **_NODES},
    "psyclone.domain.lfric.function_space": {"FunctionSpace": FunctionSpace},
    "psyclone.domain.lfric.lfric_builtins": _NODES,
    "psyclone.domain.lfric.transformations": _TRANSFORMATIONS,
    "psyclone.dynamo0p3": {**_NODES, **_OLD_NODES},
    "psyclone.errors": {"TransformationError": TransformationError},
    "psyclone.f2pygen": {
        name: kind
        for name, kind in vars(f2pygen).items()
        if name.endswith("Gen") and not name.startswith("_")
    },
    "psyclone.gocean1p0": _NODES,
    "psyclone.lfric": _NODES,
    "psyclone.psyGen": {
        **_NODES,
        "Argument": Argument,
        "Arguments": Arguments,
        "DataAccess": DataAccess,
        "Invoke": views.Invoke,
        "Invokes": Invokes,
        "PSy": Psy,
        "TransInfo": TransInfo,
        "Transformation": Transformation,
        "TransformationError": TransformationError,
    },
    "psyclone.psyir": {},
    "psyclone.psyir.backend": {},
    "psyclone.psyir.nodes": _NODES,
    "psyclone.psyir.transformations": _TRANSFORMATIONS,
    "psyclone.transformations": _TRANSFORMATIONS,
}
"""What each module of PSyclone holds here, whatever is compiled."""


MODULES_FOR_FILES: Mapping[str, Words] = {
    "psyclone": {},
    "psyclone.domain": {},
    "psyclone.domain.common": {},
    "psyclone.psyir": {},
    "psyclone.psyir.backend": {},
    **dict.fromkeys(
        (
            "psyclone.domain.common.transformations",
            "psyclone.psyir.transformations",
            "psyclone.psyir.transformations.reference2arrayrange_trans",
            "psyclone.transformations",
        ),
        _TRANSFORMATIONS,
    ),
    "psyclone.core": CORE,
    "psyclone.errors": {"TransformationError": TransformationError, **ERRORS},
    "psyclone.psyGen": {
        "TransInfo": TransInfo,
        "Transformation": Transformation,
        "TransformationError": TransformationError,
    },
    "psyclone.psyir.backend.fortran": {"FortranWriter": FileWriter},
    "psyclone.psyir.frontend": {},
    "psyclone.psyir.frontend.fortran": {"FortranReader": FortranReader},
    "psyclone.psyir.nodes": NODES_OF_FILES,
    "psyclone.psyir.symbols": SYMBOLS,
    "psyclone.psyir.tools": TOOLS,
    "psyclone.psyir.tools.dependency_tools": TOOLS,
    "psyclone.version": {"__MAJOR__": 3, "__MINOR__": 3, "__MICRO__": 1, "__VERSION__": "3.3.1"},
}
"""What each module of PSyclone holds for a script on a file without an API."""


def modules_for(context: ScriptContext) -> Mapping[str, Words]:
    """Return the contents of each PSyclone module for the compilation of one program."""
    extended = {name: {**MODULES.get(name, {}), **words} for name, words in context.words.items()}
    return {
        **MODULES,
        **extended,
        "psyclone.configuration": {"Config": config_class(context.compilation)},
        "psyclone.psyir.backend.fortran": {"FortranWriter": writer_maker(context.emit)},
    }
