"""From a schedule for GOcean to dl_esm_inf's own fields, whose storages a registry has.

The types are dl_esm_inf's, and cannot be changed. The holds, with their purposes and ends, are
planned before (`ir.storage_access`), as for fields with storages.
"""
