"""Analyses of schedules: dependences, data races, order and function spaces."""
