"""Source files: reading, includes, and the search for kernels and modules."""
