from psyclone.transformations import ACCKernelsTrans


def trans(psyir):
    for routine in psyir.children:
        ACCKernelsTrans().apply(routine.loops())
