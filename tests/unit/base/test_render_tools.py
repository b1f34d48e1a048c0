"""Diagnostics as other tools take them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

from psyclone_storage.base.diagnostic import Diagnostic, Related, Severity
from psyclone_storage.base.render_tools import render_github, render_sarif
from psyclone_storage.base.source import SourceText

SCHEMA = Path(__file__).parents[2] / "schemas" / "sarif.schema.json"
ALGORITHM = SourceText("a folder/alg.x90", "program alg\n  call invoke( k(u) )\nend program\n")
HERE, THERE = ALGORITHM.span(14, 18), ALGORITHM.span(0, 7)
PLACED = Diagnostic(
    "S110", "100% wrong, here: 'k'.", HERE, "this", "Do\nother.", (Related(THERE, "in"),)
)
NAMED = Diagnostic("P013", "No invoke.", file="/tmp/b.f90", severity=Severity.WARNING)
NOWHERE = Diagnostic("L001", "No.")


def sarif(*problems: Diagnostic) -> dict:
    log = json.loads(render_sarif(problems, "1.2.3"))
    jsonschema.validate(log, json.loads(SCHEMA.read_text(encoding="utf-8")))
    return log["runs"][0]


def test_a_scanner_finds_rules_places_and_what_explains_them() -> None:
    run = sarif(PLACED, NAMED, NOWHERE, PLACED)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["L001", "P013", "S110"]
    placed, named, nowhere, again = run["results"]
    assert (placed["ruleId"], placed["ruleIndex"], placed["level"]) == ("S110", 2, "error")
    assert placed["message"]["text"] == "100% wrong, here: 'k'.\nDo\nother."
    at = placed["locations"][0]["physicalLocation"]
    assert at["artifactLocation"] == {"uri": "a%20folder/alg.x90"}
    assert at["region"] == {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 7}
    assert placed["relatedLocations"][0]["message"] == {"text": "in"}
    at = named["locations"][0]["physicalLocation"]
    assert at == {"artifactLocation": {"uri": "file:///tmp/b.f90"}}
    assert "locations" not in nowhere
    assert again == placed


def test_a_run_without_errors_has_succeeded() -> None:
    assert sarif()["results"] == []
    assert sarif(NAMED)["invocations"] == [{"executionSuccessful": True}]
    assert sarif(NAMED, PLACED)["invocations"] == [{"executionSuccessful": False}]


COMMAND = re.compile(r"::(error|warning) ((?:\w+=[^,:]*,)*\w+=[^,:]*)::([^\r\n]*)")


def test_github_gets_a_command_for_each_problem() -> None:
    lines = render_github([PLACED, NAMED, NOWHERE]).splitlines()
    commands = [COMMAND.fullmatch(line).groups() for line in lines]  # type: ignore[union-attr]
    keys = [dict(pair.split("=") for pair in named.split(",")) for _, named, _ in commands]
    assert [level for level, _, _ in commands] == ["error", "warning", "error"]
    assert commands[0][2] == "100%25 wrong, here: 'k'.%0ADo%0Aother."
    assert keys == [
        {"file": "a folder/alg.x90", "line": "2", "col": "3", "endLine": "2", "endColumn": "7",
         "title": "S110"},
        {"file": "/tmp/b.f90", "title": "P013"},
        {"title": "L001"},
    ]  # fmt: skip


def test_what_ends_a_property_is_written_otherwise() -> None:
    odd = Diagnostic("L001", "No.", file="a,b:c%d", hint="Yes.")
    assert render_github([odd]) == "::error file=a%2Cb%3Ac%25d,title=L001::No.%0AYes."
