"""The order of threads that is asked for on an emulated device."""

from __future__ import annotations

import pytest

from psyclone_storage.runtime.device import ORDER_VARIABLE, KernelLibrary


@pytest.mark.parametrize("word", ["mixed", "3", ""])
def test_a_word_that_is_no_order_is_told_by_its_variable(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ORDER_VARIABLE, word)
    with pytest.raises(ValueError, match=f"{ORDER_VARIABLE} is 0, 1 or 2, not '{word}'"):
        KernelLibrary.text(KernelLibrary.__new__(KernelLibrary))
