"""Which row is generated for: the target that is named, else what a file ends in, else settings."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.settings import Api, DataMovement
from psyclone_storage.driver.apis import TARGETS, target_of

STORAGE = DataMovement.STORAGE
WITH_STORAGES = [api for api, name in TARGETS if name == "storage"]


@pytest.mark.parametrize("api", WITH_STORAGES)
def test_settings_choose_storages_unless_a_target_is_named(api: Api) -> None:
    plain = next(name for known, name in TARGETS if known is api)
    assert target_of(api) is TARGETS[api, plain]
    assert target_of(api, movement=STORAGE) is TARGETS[api, "storage"]
    assert target_of(api, "", ".x90", STORAGE) is TARGETS[api, "storage"]
    assert target_of(api, plain, movement=STORAGE) is TARGETS[api, plain]


def test_programs_in_python_have_storages_anyway() -> None:
    assert target_of(Api.GOCEAN, "", ".py", STORAGE) is TARGETS[Api.GOCEAN, "c"]


def test_a_target_that_is_none_is_refused() -> None:
    with pytest.raises(CompileError) as refused:
        target_of(Api.LFRIC, "numpy")
    assert refused.value.problems[0].code == "L002"
