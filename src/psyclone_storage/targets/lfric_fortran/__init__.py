"""What LFRic's infrastructure must be asked for before a kernel can be called.

Each module owns one group of quantities and how they are set up; all spellings come from
`backend.lfric.abi`.
"""
