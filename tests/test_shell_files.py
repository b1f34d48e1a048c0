"""Shell completions and manual pages, executed by a shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psyclone_storage.cli.compiler_wrapper import NAME, VARIABLES
from psyclone_storage.cli.kern_options import _build_parser as build_kernel_parser
from psyclone_storage.cli.options import _build_parser as build_parser

SHELL = Path(__file__).parents[1] / "config" / "shell"
PARSERS = {"psyclone-storage": build_parser, "psyclone-storage-kern": build_kernel_parser}

COMPLETE = """
source {file}
COMP_WORDS=({command} {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_shtab_{name} {command} "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(command: str, words: str, folder: Path) -> list[str]:
    """Return what bash offers for the last of `words`."""
    program = COMPLETE.format(
        file=SHELL / f"{command}.bash", command=command, words=words,
        name=command.replace("-", "_"),
    )  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_compiler_wrapper_has_a_manual_page() -> None:
    text = (SHELL / f"{NAME}.1").read_text(encoding="utf-8")
    for name in VARIABLES:
        assert f"\\fB{name}\\fR" in text


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("--diag", ["--diagnostics"]),
        ("--diagnostics ''", ["text", "json", "sarif", "github"]),
        ("-op", ["-opsy"]),
        ("-oalg al", ["alg.x90"]),
        ("-d ker", ["kernels"]),
        ("alg.x90 --schedule-j", ["--schedule-json"]),
    ],
)
def test_bash_offers_options_values_and_files(
    words: str, offered: list[str], tmp_path: Path
) -> None:
    (tmp_path / "alg.x90").touch()
    (tmp_path / "kernels").mkdir()
    assert completed("psyclone-storage", words, tmp_path) == offered


@pytest.mark.parametrize("command", PARSERS)
def test_every_option_is_in_each_file(command: str) -> None:
    flags = {flag for action in PARSERS[command]()._actions for flag in action.option_strings}
    for name in (f"{command}.bash", f"_{command}", f"{command}.1"):
        text = (SHELL / name).read_text(encoding="utf-8").replace("\\-", "-")
        assert not [flag for flag in flags if flag not in text], name


@pytest.mark.parametrize("command", PARSERS)
def test_a_manual_page_has_no_mistake(command: str) -> None:
    if shutil.which("groff") is None:
        pytest.skip("there is no groff")
    page = SHELL / f"{command}.1"
    words = ["groff", "-man", "-Tutf8", "-ww", "-z", str(page)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
