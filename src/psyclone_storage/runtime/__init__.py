"""Runtime of Python models: ranks, grids, meshes, and fields with coherent halos.

`gocean` holds grids of rectangles in the words of the GOcean API, `lfric` the meshes of our Fortran
infrastructure for LFRic, and what is on them. It is built on the storage
runtime and does not depend on the compiler.
"""
