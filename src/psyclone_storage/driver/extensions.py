"""Whether the infrastructure at hand has what generated code is going to ask it for.

Our own infrastructures have more than those that models come with. Settings ask for it, and code
that is generated so compiles against no other. Where the sources of an infrastructure are among the
directories that are searched, that is found out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.driver.rows import AskedExtension
from psyclone_storage.frontend.search import SourceIndex


def check_extensions(asked: Iterable[AskedExtension], index: SourceIndex) -> Iterator[Diagnostic]:
    """Yield what is asked for and missing in the sources of the module that should have it (S117).

    Modules whose sources are not there are taken to have it.
    """
    for extension in asked:
        found = index.module_candidates(extension.module)
        if len(found) == 1 and not _has(index.read(found[0]).text, extension.name):
            message = (
                f"{extension.by} asks for '{extension.name}', which the module"
                f" '{extension.module}' in '{found[0]}' does not have."
            )
            hint = f"{extension.instead}, or generate for the infrastructure of this project."
            yield Diagnostic("S117", message, file=str(found[0]), hint=hint)


def _has(text: str, name: str) -> bool:
    code = re.sub(r"!.*", "", text)
    return re.search(rf"\b{re.escape(name)}\b", code, re.IGNORECASE) is not None
