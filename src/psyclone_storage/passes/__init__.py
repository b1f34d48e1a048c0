"""Rewrites of routines; each returns the new routine or the reasons why it does not apply."""
