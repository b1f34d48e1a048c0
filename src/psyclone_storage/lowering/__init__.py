"""Lowering of schedules to statements, for all infrastructures and languages.

The schedule already determines order, exchanges and bounds. Infrastructure-dependent code comes
from the tables of `infrastructure.Infrastructure`.
"""
