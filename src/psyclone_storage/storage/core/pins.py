"""Pins that keep memory in place, independent of the exported objects that use it."""

from __future__ import annotations

from psyclone_storage.storage.core.native import Hold, register


class ExportPin(Hold):
    """A hold on the memory of a buffer, until `release` or until the pin is not referenced."""

    __slots__ = ("__weakref__",)

    def __enter__(self) -> ExportPin:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


register(pin=ExportPin)
