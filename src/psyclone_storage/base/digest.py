"""Content hashes, used as cache keys."""

from __future__ import annotations

SEAL_LENGTH = 64


def digest_of(*contents: str | bytes) -> str:
    """Return the SHA-256 digest of `contents` in hexadecimal; text is encoded as UTF-8.

    The ends of several contents do not count.

    Bytes that were not valid UTF-8 when the text was read are hashed unchanged. `hashlib` is
    imported here because loading OpenSSL takes 2 % of a small translation.
    """
    from hashlib import sha256  # noqa: PLC0415

    made = sha256()
    for one in contents:
        made.update(one.encode("utf-8", "surrogateescape") if isinstance(one, str) else one)
    return made.hexdigest()


def seal_of(name: str, content: bytes) -> bytes:
    """Return the end of a complete cached file: the digest of its name and its other content."""
    return digest_of(name.encode() + b"\0" + content).encode()
