"""What Python models stand on: ranks, grids, and fields that keep their halos coherent.

`gocean` holds grids of rectangles in the words of the GOcean API. The room is built on the storage
runtime and knows nothing of compilers.
"""
