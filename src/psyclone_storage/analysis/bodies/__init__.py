"""Analyses of statements and expressions: data flow, shapes, and dependences of loops."""
