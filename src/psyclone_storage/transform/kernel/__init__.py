"""Changes of kernels: steps over the code of the subroutine that a call stands for."""
