"""The words that a transformation script uses.

A script is a Python file with a function `trans(psy)`. It is handed a view of everything that the
algorithm's invokes do:

    def trans(psy):
        for invoke in psy.invokes.invoke_list:
            print(invoke.schedule.view())

A schedule is changed by steps, which `apply` takes as records or written as on the command line:

    def trans(psy):
        for schedule in psy.children:
            schedule.apply("colour; openmp-parallel-do")
            for loop in schedule.loops():
                if not schedule.check(ComputeRedundantly(loop.uid, depth=1)):
                    schedule.apply(ComputeRedundantly(loop.uid, depth=1))

The classes to ask `walk` and `ancestor` for are exported here, and all steps. A script may also
use the words of PSyclone: `psyclone_modules` says which.
"""

from psyclone_storage.scripting.arguments import Argument, DataAccess
from psyclone_storage.scripting.containers import Invokes, Psy
from psyclone_storage.scripting.kernel_views import IntrinsicCall, KernelLoop, KernelRoutine
from psyclone_storage.scripting.node import Node
from psyclone_storage.scripting.views import (
    BuiltInCall,
    CodedCall,
    DirectiveRegion,
    EndOfExchange,
    FillHalo,
    GlobalReduction,
    HaloExchange,
    Invoke,
    KernelCall,
    Loop,
    MarkHalo,
    Schedule,
    StartOfExchange,
)
from psyclone_storage.scripting.views import ProfileRegion as Region
from psyclone_storage.transform.asynchronous import OverlapExchange, SplitExchange, UnpinExchange
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.profile import AddProfileRegion as ProfileRegion
from psyclone_storage.transform.redundant import ComputeRedundantly

Construct = DirectiveRegion
"""The old word for it, which scripts use."""

__all__ = [
    "Argument",
    "BuiltInCall",
    "CodedCall",
    "ColourLoop",
    "ComputeRedundantly",
    "Construct",
    "DataAccess",
    "DirectiveRegion",
    "EndOfExchange",
    "FillHalo",
    "FuseLoops",
    "GlobalReduction",
    "HaloExchange",
    "IntrinsicCall",
    "Invoke",
    "Invokes",
    "KernelCall",
    "KernelLoop",
    "KernelRoutine",
    "Loop",
    "MarkHalo",
    "MoveStatement",
    "Node",
    "OpenParallelRegion",
    "OverlapExchange",
    "ParallelDo",
    "ProfileRegion",
    "Psy",
    "Region",
    "Schedule",
    "ShareLoop",
    "SplitExchange",
    "StartOfExchange",
    "UnpinExchange",
]
