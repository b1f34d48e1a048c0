"""Every diagnostic has a hint: its own, or the default hint of its code."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.hints import CURES, cure_of, in_python
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.render import render_text
from psyclone_storage.base.render_tools import render_github, render_json
from psyclone_storage.base.source import SourceText
from psyclone_storage.cli import kern_options
from psyclone_storage.cli import options as cli_options
from psyclone_storage.transform.catalogue import RECIPES, STEPS

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
STEP = re.compile(r"'([a-z]+(?:-[a-z]+)+)'")
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
    """So no message can end without a hint, however it is made."""
    assert set(CODES) - set(CURES) == set()


def options() -> set[str]:
    """Return the options of the commands that compile and that work on kernels."""
    with_dashes = set()
    for module in (kern_options, cli_options):
        parser = module._build_parser()
        with_dashes |= set(parser._option_string_actions)
    return with_dashes


def test_options_that_cures_name_are_known() -> None:
    known = options()
    named = {(code, word) for code, text in CURES.items() for word in OPTION.findall(text)}
    assert len(named) > 15
    assert {(code, word) for code, word in named if word not in known} == set()


def test_steps_that_cures_name_are_known() -> None:
    """A name with a hyphen in quotes is a step, or a key of the settings."""
    text = shared_file("config/psyclone.cfg").read_text(encoding="utf-8")
    named = {
        word for text in CURES.values() for word in re.findall(r"'([a-z]+(?:-[a-z]+)+)'", text)
    }
    assert len(named) > 8
    assert {word for word in named if word not in {*STEPS, *RECIPES} and word not in text} == set()


def test_cures_are_of_codes_and_sentences() -> None:
    assert set(CURES) <= set(CODES)
    odd = {
        code: text
        for code, text in CURES.items()
        if not re.fullmatch(r"[A-Z].*[.\]']", text) or text == CODES[code]
    }
    assert odd == {}


@pytest.mark.parametrize("code", ["T030", "C004", "P047", "G006"])
def test_a_cure_is_said_in_every_form(code: str) -> None:
    problem = Diagnostic(code, "Something is wrong.")
    assert f"hint: {CURES[code]}" in render_text([problem])
    assert json.loads(render_json([problem]))[0]["hint"] == CURES[code]
    assert CURES[code] in render_github([problem]).replace("%25", "%")


def test_a_hint_goes_before_a_cure() -> None:
    assert cure_of(Diagnostic("T030", "Wrong.", hint="Do this.")) == "Do this."
    assert cure_of(Diagnostic("T030", "Wrong.")) == CURES["T030"]


@pytest.mark.parametrize("code", [code for code in CURES if code.startswith("M")])
def test_what_is_said_of_metadata_in_python_is_python(code: str) -> None:
    said = in_python(CURES[code])
    assert not re.search(r"\b(gh|go)_(?!shape|evaluator_targets)[a-z]|arg_type|\*n|::", said)
    assert said


def test_words_of_metadata_are_those_of_the_file() -> None:
    """Those of Python for files in Python and cells of notebooks, else those of Fortran."""
    for name, word in (("a.py", "GH_INC"), ("<ipython-input-1>", "GH_INC"), ("a.f90", "gh_inc")):
        place = SourceText(name, "GH_WRITE").whole()
        hint = "Use 'gh_inc', or mesh_arg=gh_fine."
        problem = Diagnostic("M010", "It is shared.", place, hint=hint)
        assert f"'{word}'" in cure_of(problem)
        assert ("mesh_arg" in cure_of(problem)) is (word == "gh_inc")
    both = "Write 'a' to the type; in Python, 'b=c' to '@kernel(...)'."
    assert in_python(both) == "Write 'b=c' to '@kernel(...)'."
    assert in_python("Add 'gh_shape', with 'w3'.") == "Add 'gh_shape', with 'W3'."
