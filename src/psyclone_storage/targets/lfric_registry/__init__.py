"""From a schedule for LFRic to LFRic's own fields and operators, whose storages a registry has.

The types are LFRic's, and cannot be changed. What is held, for what, and until when is planned
before (`ir.storage_access`), as for fields with storages.
"""
