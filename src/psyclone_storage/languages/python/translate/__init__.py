"""Translation of Fortran kernels, and of algorithms that invoke them, to Python."""
