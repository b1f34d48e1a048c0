"""Python as text: kernels and algorithms, read by `ast` and never run."""
