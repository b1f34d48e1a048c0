"""Facts of a language: tables of operators and intrinsics, and the writer of expressions."""
