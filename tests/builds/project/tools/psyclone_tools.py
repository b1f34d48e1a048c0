"""What the scripts of this project share."""

from psyclone.transformations import LFRicKernelConstTrans

LAYERS = 20


def fix_layers(kernel):
    LFRicKernelConstTrans().apply(kernel, {"number_of_layers": LAYERS})
