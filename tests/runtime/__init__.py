"""Generated code that is compiled, linked, run on several ranks and compared."""
