"""Presets for the keyword `defaults=`; `parameters.resolve` applies them.

A preset contains settings that suit a back end or a language: the order of dimensions, the device
and the alignment. Unset values come from other sources (GDP-79). The names are those of GDP-3,
those of current GT4Py versions, and those added with `register_defaults`.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.layout import LayoutRule, by_meaning, first_fastest, last_fastest


@dataclass(frozen=True, slots=True)
class Preset:
    """The parameters of a back end; None leaves a parameter unset.

    - `layout` chooses the order in memory from the names of the dimensions.
    - `device` is `"gpu"` or `"cpu"`.
    - `alignment_size` is in bytes; it is ignored for element types whose size it does not fit.
    """

    layout: LayoutRule
    device: str | None = None
    alignment_size: int | None = None


_CPU_LINE = 64
_GPU_LINE = 128

_PRESETS: dict[str, Preset] = {
    "C": Preset(last_fastest),
    "F": Preset(first_fastest),
    "debug": Preset(last_fastest, "cpu"),
    "numpy": Preset(by_meaning("IJK"), "cpu"),
    "gtx86": Preset(by_meaning("IJK"), "cpu"),
    "gtmc": Preset(by_meaning("KJI"), "cpu", _CPU_LINE),
    "gtcuda": Preset(by_meaning("KJI"), "gpu", _GPU_LINE),
    "gt:cpu_kfirst": Preset(by_meaning("IJK"), "cpu"),
    "gt:cpu_ifirst": Preset(by_meaning("KJI"), "cpu", _CPU_LINE),
    "gt:gpu": Preset(by_meaning("KJI"), "gpu", _GPU_LINE),
    "dace:cpu": Preset(by_meaning("KIJ"), "cpu"),
    "dace:cpu_kfirst": Preset(by_meaning("IJK"), "cpu"),
    "dace:gpu": Preset(by_meaning("KJI"), "gpu", _GPU_LINE),
}
_LISTENERS: list[Callable[[], None]] = []


def register_defaults(name: str, preset: Preset) -> None:
    """Register `preset` as `defaults=name`; replace an existing preset of that name."""
    _PRESETS[name] = preset
    for listener in _LISTENERS:
        listener()


def on_new_defaults(listener: Callable[[], None]) -> None:
    """Call `listener` after each registration of a preset."""
    _LISTENERS.append(listener)


def preset_of(name: str) -> Preset:
    """Return the preset called `name`. Raises `ValueError` for an unknown name (GDP-67)."""
    found = _PRESETS.get(name)
    if found is None:
        raise ValueError(
            f'There are no defaults called "{name}": choose among {", ".join(sorted(_PRESETS))}, '
            f"or make them known with register_defaults()."
        )
    return found
