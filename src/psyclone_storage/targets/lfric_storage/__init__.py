"""From a schedule for LFRic to fields and operators that are acquired and released: our own.

Proxies know where values are current. What holds them, for what, and until when is planned before
(`ir.storage_access`); here it is spelt, and kernels get the windows that an acquire opens.
"""
