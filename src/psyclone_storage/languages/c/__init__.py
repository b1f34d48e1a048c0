"""Printing of typed IR as C: one function per procedure, or diagnostics why that is impossible."""
