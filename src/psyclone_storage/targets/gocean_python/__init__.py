"""Lowering for the grids and fields of our Python runtime."""
