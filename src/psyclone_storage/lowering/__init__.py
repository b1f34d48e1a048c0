"""Lowering of schedules to units of statements, for all infrastructures and host languages.

Order, exchanges and bounds are in the schedule; lowering decides nothing about them. For everything
that depends on an infrastructure it asks the tables of `infrastructure.Infrastructure`.
"""
