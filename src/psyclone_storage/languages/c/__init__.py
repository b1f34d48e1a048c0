"""C code from the typed IR: a function for each procedure, or the reasons for a refusal."""
