"""A script whose function takes no argument."""


def trans():
    pass
