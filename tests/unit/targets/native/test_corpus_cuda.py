"""GOcean's corpus in Python as CUDA: NVRTC compiles all of it for two architectures."""

from __future__ import annotations

import re
from functools import cache

from nvrtc import check_cuda
from properties.python_kernels import SETTINGS
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from unit.pipeline.test_python_schedules import CORPUS, PAIRS


@cache
def texts() -> dict[str, str]:
    """Return the CUDA of each algorithm, by its name."""
    asked = CompileRequest(
        "gocean", directories=(CORPUS / "python" / "kernels",), suffix=".py", target="cuda"
    )
    made = make_compiler(SETTINGS, asked)
    builds = {file.stem: made.compile_algorithm(file) for file in PAIRS}
    return {name: text for name, build in builds.items() for _, text in build.beside}


def test_the_corpus_is_cuda() -> None:
    """All in one, each in a namespace, as starting the compiler takes most of the time."""
    parts = []
    for name, text in texts().items():
        own = re.sub(r"\b(invoke_\w+)", rf"{name}_\1", text)
        parts.append(f"namespace {name} {{\n{own}\n}}\n")
    joined = "".join(parts)
    assert len(parts) > 25
    assert joined.count("PSY_KERNEL void") > 40
    check_cuda(joined)
