"""Every diagnostic says what to do: by a hint of its own, or by what holds for its code."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.cures import CURES, cure_of
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.render import render_json, render_text
from psyclone_storage.base.render_tools import render_github

ERRORS = Path(__file__).parents[2] / "errors"
MESSAGE = re.compile(r"^(?:error|warning)\[(?P<code>\w+)\]: .*?(?=^(?:error|warning)\[|\Z)",
                     re.MULTILINE | re.DOTALL)  # fmt: skip


def shown() -> dict[str, list[str]]:
    """Return, by code, what the corpus of mistakes has in print."""
    found = defaultdict(list)
    for file in sorted(ERRORS.glob("*/expected.txt")):
        for match in MESSAGE.finditer(file.read_text(encoding="utf-8")):
            found[match["code"]].append(match[0])
    return found


def test_every_message_of_the_corpus_says_what_to_do() -> None:
    messages = [text for texts in shown().values() for text in texts]
    assert len(messages) > 300
    assert [text for text in messages if "\n  hint: " not in text] == []


def test_every_code_has_a_cure() -> None:
    assert set(CODES) - set(CURES) - set(shown()) == set()


def test_cures_are_of_codes_and_sentences() -> None:
    assert set(CURES) <= set(CODES)
    odd = {
        code: text
        for code, text in CURES.items()
        if not re.fullmatch(r"[A-Z].*[.\]']", text) or text == CODES[code]
    }
    assert odd == {}


@pytest.mark.parametrize("code", ["T030", "C004"])
def test_a_cure_is_said_in_every_form(code: str) -> None:
    problem = Diagnostic(code, "Something is wrong.")
    assert f"hint: {CURES[code]}" in render_text([problem])
    assert json.loads(render_json([problem]))[0]["hint"] == CURES[code]
    assert CURES[code] in render_github([problem]).replace("%25", "%")


def test_a_hint_goes_before_a_cure() -> None:
    assert cure_of(Diagnostic("T030", "Wrong.", hint="Do this.")) == "Do this."
    assert cure_of(Diagnostic("M010", "Wrong.")) == ""
