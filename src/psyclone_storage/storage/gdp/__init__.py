"""Storages of GDP-3 (the GT4Py storage proposal): labelled n-dimensional fields over a buffer."""
