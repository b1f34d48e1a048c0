"""The meshes and fields of our runtime in Python, as what generated code is written against."""
