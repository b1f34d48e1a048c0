"""Placement of halo exchanges, transfers and storage accesses, and its checks."""
