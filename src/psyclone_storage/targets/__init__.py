"""Targets: infrastructure, memory model and host language, with the tables that lowering uses.

The modules of this folder are the rows: readers, printers and settings of each API and target. Each
subfolder has the tables of one infrastructure, or the printers that several Python targets share.
"""
