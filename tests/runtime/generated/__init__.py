"""A suite of run tests that is generated from the metadata of the corpus' kernels."""
