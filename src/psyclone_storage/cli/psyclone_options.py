"""PSyclone options that have no effect, or that correspond to a setting.

They are accepted, so that existing builds work. An option without effect causes a warning. An
option that requests an unsupported function is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Severity

_LEVELS = ("OFF", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

# By flag: why it changes nothing here.
_WITHOUT_EFFECT = {
    "--enable-cache": "translations are kept in any case, unless '--no-cache' is given",
    "--keep-comments": "an algorithm keeps its text, comments included",
    "--keep-directives": "an algorithm keeps its text, directives included",
    "--keep-conditional-openmp-statements": "an algorithm keeps its text, such lines included",
    "--log-level": "no log is written; '--explain' says what was done, and why",
    "--log-file": "no log is written; '--explain' says what was done, and why",
    "--modman-file-ignore": "files are chosen by their names; IGNORE_MODULES leaves modules out",
    "--backend-add-all-intrinsic-arg-names": "arguments are printed as they were written",
}
# By flag: the settings that it corresponds to.
_SETTINGS = {
    "--backend-disable-validation": "BACKEND_CHECKS_ENABLED=false",
    "--backend-disable-indentation": "BACKEND_INDENTATION_DISABLED=true",
}


def add_psyclone_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; `settings_for` and `check_psyclone_options` evaluate them."""
    group = parser.add_argument_group("options of PSyclone, accepted for existing builds")
    for flag, why in _WITHOUT_EFFECT.items():
        if flag == "--log-level":
            group.add_argument(flag, choices=_LEVELS, help=f"changes nothing: {why}")
        elif flag in ("--log-file", "--modman-file-ignore"):
            metavar = "FILE" if flag == "--log-file" else "PATTERN"
            group.add_argument(flag, metavar=metavar, help=f"changes nothing: {why}")
        else:
            group.add_argument(flag, action="store_true", help=f"changes nothing: {why}")
    for flag, setting in _SETTINGS.items():
        group.add_argument(flag, action="store_true", help=f"the same as the setting {setting}")
    group.add_argument(
        "--frontend", choices=("fparser2", "treesitter"),
        help="fparser2: also read each file without an API with fparser2, and report where the "
        "two readings differ; treesitter changes nothing",
    )  # fmt: skip
    group.add_argument(
        "--free-form", action="store_true", help="read all files without an API in free form"
    )
    group.add_argument(
        "--fixed-form", action="store_true", help="read all files without an API in fixed form"
    )


def settings_for(given: argparse.Namespace) -> str:
    """Return the settings that correspond to the options, in the syntax of '--config-opts'."""
    return " ".join(text for flag, text in _SETTINGS.items() if _is_given(given, flag))


def check_psyclone_options(given: argparse.Namespace, *, without_api: bool) -> Iterator[Diagnostic]:
    """Yield a warning for each option without effect, and an error for each unsupported one.

    `without_api` is whether the files are plain Fortran.
    """
    for flag, why in _WITHOUT_EFFECT.items():
        if _is_given(given, flag):
            text = f"'{flag}' changes nothing here: {why}."
            yield Diagnostic("L016", text, severity=Severity.WARNING)
    if given.frontend and not (given.frontend == "fparser2" and without_api):
        why = "only 'fparser2' for files without an API has an effect"
        text = f"'--frontend' changes nothing here: {why}."
        yield Diagnostic("L016", text, severity=Severity.WARNING)
    if given.fixed_form and given.free_form:
        text = "'--fixed-form' contradicts '--free-form'."
        yield Diagnostic("L002", text, hint="Leave out the one or the other.")
    if given.fixed_form and not without_api:
        text = "'--fixed-form' is for files without an API; an algorithm is in free form."
        yield Diagnostic("L001", text, hint="Convert the file to free form.")


def _is_given(given: argparse.Namespace, flag: str) -> bool:
    return bool(getattr(given, flag.lstrip("-").replace("-", "_")))
