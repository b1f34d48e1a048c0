"""Requests to LFRic's infrastructure that precede the call of a kernel.

Each module owns one group of quantities and how they are set up; all spellings come from
`backend.lfric.abi`.
"""
