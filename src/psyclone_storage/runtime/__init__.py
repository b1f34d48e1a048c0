"""Run-time library for Python models: ranks, grids, meshes, and fields with coherent halos.

`gocean` contains rectangular grids of the GOcean API. `lfric` contains the meshes of this project's
Fortran infrastructure for LFRic, and their data. The library uses the storage run-time library and
does not depend on the compiler.
"""
