"""Semantics of parsed programs by API: metadata, rules and checks, for any language."""
