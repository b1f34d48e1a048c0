"""The procedures that Fortran itself provides, by their names.

Source: the Fortran 2018 standard, tables 16.1 to 16.5, and the specific names of clause 16.8. What
a function computes, and of which type, is known to those who ask for it.
"""

from __future__ import annotations

_GENERIC = """
abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated atan
atan2 atanh bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size ble blt
btest ceiling char cmplx command_argument_count conjg cos cosh count cshift dble
digits dim dot_product dprod dshiftl dshiftr eoshift epsilon erf erfc erfc_scaled exp exponent
extends_type_of findloc floor fraction gamma
huge hypot iachar iall iand iany ibclr ibits ibset ichar ieor image_index
index int ior iparity ishft ishftc is_contiguous is_iostat_end is_iostat_eor kind lbound lcobound
leadz len len_trim lge lgt lle llt log log10 log_gamma logical maskl maskr matmul max maxexponent
maxloc maxval merge merge_bits min minexponent minloc minval mod modulo nearest new_line nint norm2
not null num_images out_of_range pack parity popcnt poppar precision present product radix range
rank real reduce repeat reshape rrspacing same_type_as scale scan selected_char_kind
selected_int_kind selected_real_kind set_exponent shape shifta shiftl shiftr sign sin sinh size
spacing spread sqrt storage_size sum tan tanh this_image tiny trailz transfer transpose trim ubound
ucobound unpack verify
"""
_SPECIFIC = """
alog alog10 amax0 amax1 amin0 amin1 amod cabs ccos cexp clog csin csqrt dabs dacos dasin datan
datan2 dcos dcosh ddim dexp dint dlog dlog10 dmax1 dmin1 dmod dnint dsign dsin dsinh dsqrt dtan
dtanh float iabs idim idint idnint ifix isign max0 max1 min0 min1 sngl
"""
_SUBROUTINES = """
atomic_define atomic_ref cpu_time date_and_time execute_command_line get_command
get_command_argument get_environment_variable move_alloc mvbits random_init random_number
random_seed system_clock
"""

FUNCTIONS = frozenset(_GENERIC.split()) | frozenset(_SPECIFIC.split())
"""Intrinsic functions, generic and specific."""

SUBROUTINES = frozenset(_SUBROUTINES.split())
"""Intrinsic subroutines."""

PROCEDURES = FUNCTIONS | SUBROUTINES
"""All intrinsic procedures."""
