"""Old import paths work for one release, with a warning that names the new path."""

from __future__ import annotations

import importlib
import sys

import pytest

from psyclone_storage.tools import factories


def test_the_old_path_of_factories_warns_and_has_the_same_objects() -> None:
    sys.modules.pop("psyclone_storage.driver.factories", None)
    with pytest.warns(DeprecationWarning, match=r"psyclone_storage\.tools\.factories"):
        old = importlib.import_module("psyclone_storage.driver.factories")
    assert {name: getattr(old, name) for name in old.__all__} == {
        name: getattr(factories, name) for name in old.__all__
    }
    public = {name for name in vars(factories) if not name.startswith("_")}
    defined = {
        name
        for name in public
        if getattr(vars(factories)[name], "__module__", "") == factories.__name__
    }
    assert defined == set(old.__all__)
