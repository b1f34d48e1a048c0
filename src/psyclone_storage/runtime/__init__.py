"""What Python models stand on: ranks, grids, meshes, and fields that keep their halos coherent.

`gocean` holds grids of rectangles in the words of the GOcean API, `lfric` the meshes of our Fortran
infrastructure for LFRic, and what is on them. The room is built on the storage
runtime and knows nothing of compilers.
"""
