"""Stages of the compilation of a file, in order, from source text to generated text."""
