"""Lowering of LFRic run-time values that precede a kernel call.

Each module handles one group of quantities and their set-up. All names come from `abi`.
"""
