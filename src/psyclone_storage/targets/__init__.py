"""Targets: the combination of infrastructure, memory model and host language.

The modules of this folder define the readers, printers and settings of each API and target. Each
subfolder contains the lowering tables of one infrastructure, or printers that several Python
targets share.
"""
