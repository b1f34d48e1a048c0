"""Own the pins that keep memory in place; refuse to know what looks at it."""

from __future__ import annotations


class ExportPin:
    """A hold on the memory of a buffer, until `release` or until nobody has the pin."""

    __slots__ = ("_pins", "_held", "__weakref__")

    def __init__(self, pins: list[None]) -> None:
        """Count as one more in `pins`.

        Appending to a list and popping from it are atomic. A lock is out of the question, as
        `__del__` may run in the middle of anything.
        """
        self._pins = pins
        self._held = True
        pins.append(None)

    def release(self) -> None:
        """Let the memory move again; does nothing the second time."""
        if self._held:
            self._held = False
            self._pins.pop()

    def __enter__(self) -> ExportPin:
        """Return the pin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release the pin."""
        self.release()

    def __del__(self) -> None:
        """Release the pin."""
        self.release()
