"""C from the typed language: a function for each procedure, or the reasons why there is none."""
