"""Lowering of LFRic schedules to fields and operators with storages, from our infrastructure.

Proxies track where values are valid. `ir.storage_access` plans the accesses; this package generates
their code. Kernels receive the pointers (windows) that an acquire sets.
"""
