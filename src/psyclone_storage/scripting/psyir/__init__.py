"""PSyIR of a Fortran file without a PSyKAl API: editable nodes over immutable statements."""
