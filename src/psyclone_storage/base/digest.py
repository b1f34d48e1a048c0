"""Content hashes, used as cache keys."""

from __future__ import annotations

SEAL_LENGTH = 64


def digest_of(content: str | bytes) -> str:
    """Return the SHA-256 digest of `content` in hexadecimal; text is encoded as UTF-8.

    Bytes that were not valid UTF-8 when the text was read are hashed unchanged. `hashlib` is
    imported here because loading OpenSSL takes 2 % of a small translation.
    """
    from hashlib import sha256  # noqa: PLC0415

    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return sha256(data).hexdigest()


def seal_of(name: str, content: bytes) -> bytes:
    """Return the end of a complete cached file: the digest of its name and its other content."""
    return digest_of(name.encode() + b"\0" + content).encode()
