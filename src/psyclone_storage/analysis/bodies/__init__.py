"""Analyses of statements and expressions: flow, shapes, dependences of loops in a body."""
