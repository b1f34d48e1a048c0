"""Digests of contents, the keys of everything that is cached or numbered by content."""

from __future__ import annotations

SEAL_LENGTH = 64


def digest_of(content: str | bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal; a text counts as its bytes in UTF-8.

    What of a text was no UTF-8 when it was read counts as those bytes. The library loads OpenSSL,
    which takes a fiftieth of a small translation, so that a call which keeps nothing does without.
    """
    from hashlib import sha256  # noqa: PLC0415

    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return sha256(data).hexdigest()


def seal_of(name: str, content: bytes) -> bytes:
    """Return the end of a complete cached file: the digest of its name and its other content."""
    return digest_of(name.encode() + b"\0" + content).encode()
