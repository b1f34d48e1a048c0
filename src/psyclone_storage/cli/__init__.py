"""The commands: their options, their output files and their reports."""
