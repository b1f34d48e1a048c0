"""Which function space each argument of an algorithm's kernels lies on, from the kernels' metadata.

Two compilers may ask two fields of one space for the same dofmap or bound. Owns the reading of
`meta_args` and of kernel calls as far as that needs it; wildcards name no space, so their fields
stay apart. It reads the corpus with patterns of its own, and neither compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from differential.features import Corpus, compact, used_kernels
from differential.statements import closing, split_list

_ENTRY = re.compile(r"arg_type\(((?:[^()]|\([^()]*\))*)\)")
_WILDCARD = re.compile(r"any_")


def named_spaces(algorithm: str, corpus: Corpus) -> dict[str, str]:
    """Return what is asked for a space -> the space's name, such as `rho%vspace` -> `space(w3)`.

    Args:
        algorithm: the name of an algorithm of the corpus.
        corpus: the algorithms and the kernels.
    """
    text = compact(corpus.algorithms[algorithm])
    found: dict[str, str] = {}
    for module in used_kernels(corpus.algorithms[algorithm], corpus):
        for kernel, entries in _kernel_types(compact(corpus.kernels[module])):
            for actuals in _calls(kernel, text):
                given = _spaces_of_call(entries, list(actuals))
                found.update((asked, space) for asked, space in given if space)
    return found


def _kernel_types(module: str) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    for kind in re.finditer(r"extends\(kernel_type\)[^\n]*::(\w+)\n((?:.*\n)*?)endtype", module):
        yield kind[1], tuple(split_list(entry) for entry in _ENTRY.findall(kind[2]))


def _calls(kernel: str, text: str) -> Iterator[tuple[str, ...]]:
    for name in re.finditer(rf"(?<!\w){kernel}\(", text):
        yield split_list(text[name.end() : closing(text, name.end() - 1)])


def _spaces_of_call(
    entries: tuple[tuple[str, ...], ...], actuals: list[str]
) -> Iterator[tuple[str, str]]:
    for kind, *rest in entries:
        actual = actuals.pop(0)
        if "operator" in kind:
            yield from zip(
                (f"{actual}%fs_to", f"{actual}%fs_from"), map(_spelled, rest[2:4]), strict=True
            )
        elif kind.startswith("gh_field"):
            count = int(kind.partition("*")[2] or 0)
            names = [f"{actual}({number})" for number in range(1, count + 1)] or [actual]
            yield from ((f"{name}%vspace", _spelled(rest[2])) for name in names)
            stencil = next((item for item in rest if item.startswith("stencil")), "")
            del actuals[: bool(stencil) + ("xory1d" in stencil)]


def _spelled(space: str) -> str:
    return "" if _WILDCARD.match(space) else f"space({space})"
