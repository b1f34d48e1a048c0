"""Make the number of layers a constant in every kernel."""

import psyclone_tools


def trans(psy):
    for invoke in psy.invokes.invoke_list:
        for kernel in invoke.schedule.coded_kernels():
            psyclone_tools.fix_layers(kernel)
