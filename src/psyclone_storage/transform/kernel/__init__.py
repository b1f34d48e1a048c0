"""Changes of kernels: steps that transform the code of the subroutine that a call names."""
