"""Lowering of GOcean schedules to dl_esm_inf's original fields with a storage registry.

The types are those of dl_esm_inf and cannot be changed. `ir.storage_access` plans the accesses, as
for fields with storages.
"""
