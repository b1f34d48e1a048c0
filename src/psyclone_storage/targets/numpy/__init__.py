"""NumPy target: whole-array code that is readable and needs no compiler."""
