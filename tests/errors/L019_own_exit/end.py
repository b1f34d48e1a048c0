"""A script that ends its process on one of two files."""

import os


def trans(psy):
    if "other" in psy.name:
        os._exit(3)
