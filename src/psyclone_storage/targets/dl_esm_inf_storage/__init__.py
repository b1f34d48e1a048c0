"""From a schedule for GOcean to fields that are acquired and released: our own infrastructure's.

A field knows where its values are current. What holds it, for what, and until when is planned
before (`ir.storage_access`); here it is spelt, and kernels get the windows that an acquire opens.
"""
