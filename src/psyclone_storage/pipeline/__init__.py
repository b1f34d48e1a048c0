"""The compilation of a file: its stages in order, from source text to generated text."""
