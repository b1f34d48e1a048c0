alg.f90 psy.f90: \
  alg.x90 \
  kernels/wind_tendency_kernel_mod.f90 \
  kernels/wind_to_cell_kernel_mod.f90

alg.x90:

kernels/wind_tendency_kernel_mod.f90:

kernels/wind_to_cell_kernel_mod.f90:
