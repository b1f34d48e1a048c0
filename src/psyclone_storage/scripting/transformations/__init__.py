"""Transformations with PSyclone's names, implemented by steps of this compiler."""
