"""Put loops into regions for a device. Their kernels stay as they are: the device is emulated."""


def trans(psy):
    """Apply the steps to all invokes; what they refuse stays on the host."""
    for schedule in psy.children:
        schedule.apply("colour; acc-loop; acc-parallel")
