"""The Fortran front end: algorithms, kernel metadata and the interfaces of kernel subroutines."""
