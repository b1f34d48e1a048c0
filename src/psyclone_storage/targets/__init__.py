"""Targets: what an infrastructure, a memory model and a host language make of a schedule."""
