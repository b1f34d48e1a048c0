"""Lowering for the meshes and fields of our Python runtime."""
