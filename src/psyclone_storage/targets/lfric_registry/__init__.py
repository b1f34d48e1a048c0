"""From a schedule for LFRic to LFRic's own fields and operators, whose storages a registry has.

The types are LFRic's, and cannot be changed. The holds, with their purposes and ends, are planned
before (`ir.storage_access`), as for fields with storages.
"""
