"""Classes that a transformation script uses.

A script is a Python file with a function `trans(psy)`. The argument `psy` is a view of the
schedules of all invokes in the algorithm:

    def trans(psy):
        for invoke in psy.invokes.invoke_list:
            print(invoke.schedule.view())

A schedule is changed by steps. `apply` takes a step as an object, or steps in command-line syntax:

    def trans(psy):
        for schedule in psy.children:
            schedule.apply("colour; openmp-parallel-do")
            for loop in schedule.loops():
                if not schedule.check(ComputeRedundantly(loop.uid, depth=1)):
                    schedule.apply(ComputeRedundantly(loop.uid, depth=1))

This module exports all steps, and the classes for `walk` and `ancestor`. A script may also use
PSyclone's names: `psyclone_modules` lists them.
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
