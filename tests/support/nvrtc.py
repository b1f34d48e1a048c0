"""NVRTC, which compiles CUDA without a GPU: the wheel `nvidia-cuda-nvrtc-cu12` alone."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

ARCHITECTURES = ("compute_75", "compute_90")
OPTIONS = (b"--fmad=false", b"--device-debug")
"""What CuPy passes, and that nothing is optimized: three quarters of the time would go there."""


def check_cuda(text: str, architectures: Sequence[str] = ARCHITECTURES) -> None:
    """Check that `text` compiles for `architectures`; skip without NVRTC."""
    found = _library()
    if found is None:
        pytest.skip("needs NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    library = ctypes.CDLL(str(found))
    for architecture in architectures:
        program = ctypes.c_void_p()
        library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"it.cu", 0, None, None)
        words = (f"-arch={architecture}".encode(), *OPTIONS)
        options = (ctypes.c_char_p * len(words))(*words)
        failed = library.nvrtcCompileProgram(program, len(options), options)
        assert not failed, f"{architecture}: {_log(library, program)}"
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _library() -> Path | None:
    try:
        found = find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:
        return None
    folders = found.submodule_search_locations if found else None
    libraries = [file for folder in folders or () for file in Path(folder).glob("lib/libnvrtc.so*")]
    return libraries[0] if libraries else None


def _log(library: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    room = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, room)
    lines = room.value.decode().splitlines()
    return "\n".join(line for line in lines if "error" in line)
