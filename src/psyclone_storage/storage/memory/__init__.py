"""Memories that implement the memory spaces, and the copy routes between them."""
