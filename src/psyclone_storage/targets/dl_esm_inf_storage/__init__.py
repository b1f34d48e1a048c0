"""Lowering of GOcean schedules to fields with storages, from our infrastructure.

A field tracks where its values are valid. `ir.storage_access` plans the accesses; this package
generates their code. Kernels receive the pointers (windows) that an acquire sets.
"""
