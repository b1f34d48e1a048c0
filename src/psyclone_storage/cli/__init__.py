"""Commands: options, output files and reports."""
