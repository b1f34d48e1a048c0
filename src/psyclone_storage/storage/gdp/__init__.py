"""The storages of GDP-3: an n-dimensional field with labels over a buffer."""
