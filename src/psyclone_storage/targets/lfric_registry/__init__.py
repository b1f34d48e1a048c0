"""Lowering of LFRic schedules to LFRic's original fields with a storage registry.

The types are those of LFRic and cannot be changed. `ir.storage_access` plans the accesses, as for
fields with storages.
"""
