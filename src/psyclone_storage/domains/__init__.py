"""Semantics of parsed programs by API, for any language: metadata, rules and checks."""
