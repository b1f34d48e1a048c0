"""What is specific to a language: tables of operators and intrinsics, and the writers of expressions."""
