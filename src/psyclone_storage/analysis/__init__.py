"""Analyses of schedules and routines, as pure functions."""
