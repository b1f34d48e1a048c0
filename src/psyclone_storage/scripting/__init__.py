"""The words that a transformation script uses.

A script is a Python file with a function `trans(psy)`. It is handed a view of everything that the
algorithm's invokes do:

    def trans(psy):
        for invoke in psy.invokes.invoke_list:
            print(invoke.schedule.view())

The classes to ask `walk` and `ancestor` for are exported here.
"""

from psyclone_storage.scripting.views import (
    GlobalReduction,
    HaloExchange,
    Invoke,
    Invokes,
    KernelCall,
    Loop,
    MarkHalo,
    Node,
    Psy,
    Schedule,
)

__all__ = [
    "GlobalReduction",
    "HaloExchange",
    "Invoke",
    "Invokes",
    "KernelCall",
    "Loop",
    "MarkHalo",
    "Node",
    "Psy",
    "Schedule",
]
