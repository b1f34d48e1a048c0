"""Intrinsic procedures of Fortran, with the properties that kernels depend on.

Source: Fortran 2018, clause 16; Fortran 2023 for functions of angles in degrees.
"""

from __future__ import annotations

_GENERIC = """
abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated atan
atan2 atanh bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size ble blt
btest ceiling char cmplx command_argument_count conjg cos cosh coshape count cshift dble
digits dim dot_product dprod dshiftl dshiftr eoshift epsilon erf erfc erfc_scaled exp exponent
extends_type_of findloc floor fraction gamma get_team
huge hypot iachar iall iand iany ibclr ibits ibset ichar ieor image_index image_status
index int ior iparity ishft ishftc is_contiguous is_iostat_end is_iostat_eor kind lbound lcobound
leadz len len_trim lge lgt lle llt log log10 log_gamma logical maskl maskr matmul max maxexponent
maxloc maxval merge merge_bits min minexponent minloc minval mod modulo nearest new_line nint norm2
not null num_images out_of_range pack parity popcnt poppar precision present product radix range
rank real reduce repeat reshape rrspacing same_type_as scale scan selected_char_kind
selected_int_kind selected_real_kind set_exponent shape shifta shiftl shiftr sign sin sinh size
spacing spread sqrt storage_size sum tan tanh team_number this_image tiny trailz transfer transpose
trim ubound ucobound unpack verify
"""
_OF_DEGREES = """
acosd asind atand atan2d cosd sind tand
"""
_SPECIFIC = """
alog alog10 amax0 amax1 amin0 amin1 amod cabs ccos cexp clog csin csqrt dabs dacos dasin datan
datan2 dcos dcosh ddim dexp dint dlog dlog10 dmax1 dmin1 dmod dnint dsign dsin dsinh dsqrt dtan
dtanh float iabs idim idint idnint ifix isign max0 max1 min0 min1 sngl
"""
_SUBROUTINES = """
atomic_define *atom value *stat
atomic_ref *value atom *stat
cpu_time *time
date_and_time *date *time *zone *values
execute_command_line command wait *exitstat *cmdstat *cmdmsg
get_command *command *length *status *errmsg
get_command_argument number *value *length *status *errmsg
get_environment_variable name *value *length *status trim_name *errmsg
move_alloc *from *to *stat *errmsg
mvbits from frompos len *to topos
random_init repeatable image_distinct
random_number *harvest
random_seed *size put *get
system_clock *count *count_rate *count_max
"""
# A line has a name and its dummy arguments; a star marks those that the subroutine may define.
_LINES = tuple(line.split() for line in _SUBROUTINES.strip().splitlines())

FUNCTIONS = frozenset(_GENERIC.split() + _OF_DEGREES.split() + _SPECIFIC.split())
"""Intrinsic functions, generic and specific."""

SUBROUTINES = {name: tuple(word.strip("*") for word in words) for name, *words in _LINES}
"""The dummy arguments of intrinsic subroutines."""

DEFINED = {name: frozenset(word[1:] for word in words if word[0] == "*") for name, *words in _LINES}
"""The dummy arguments that intrinsic subroutines may define."""

PROCEDURES = FUNCTIONS.union(SUBROUTINES)
"""All intrinsic procedures."""

ELEMENTAL = frozenset(
    """abs acos acosh aimag aint anint asin asinh atan atan2 atanh bessel_j0 bessel_j1 btest
    ceiling cmplx conjg cos cosh dble dim dprod erf erfc exp exponent floor fraction gamma hypot
    iand ibclr ibset ieor int ior ishft log log10 log_gamma logical max merge min mod modulo
    nearest nint not real scale sign sin sinh spacing sqrt tan tanh""".split()
)
"""Functions that are applied to arrays element by element."""

REDUCING = frozenset({"all", "any", "count", "dot_product", "maxval", "minval", "product", "sum"})
"""Functions that make a scalar of whole arrays, unless `dim` is given."""

INQUIRING = frozenset(
    """allocated associated digits epsilon huge kind lbound maxexponent minexponent precision
    present radix range shape size tiny ubound""".split()
)
"""Functions that do not read the values of their arguments."""

TRANSFORMING = frozenset(
    """cshift eoshift matmul maxloc minloc pack reshape spread transfer transpose unpack""".split()
)
"""Functions of whole arrays that give arrays."""

PURE = ELEMENTAL | REDUCING | INQUIRING | TRANSFORMING
"""Functions of the language that change nothing, and that steps know how to handle."""

HARMLESS = PURE | frozenset(
    """achar adjustl adjustr asind acosd atand bessel_jn bessel_yn bge bgt bit_size ble blt char
    cosd dshiftl dshiftr erfc_scaled findloc iachar iall iany ibits ichar index iparity
    is_contiguous ishftc leadz len len_trim lge lgt lle llt maskl maskr merge_bits norm2 not null
    parity popcnt poppar repeat rrspacing scan set_exponent shifta shiftl shiftr sind
    storage_size tand trailz trim verify dble float sngl amax1 amin1 max0 min0 dmax1 dmin1 alog
    alog10 dabs dexp dlog dsqrt iabs isign idint ifix""".split()
)
"""Functions of the language that change nothing."""

EXACT = INQUIRING | frozenset(
    """abs aint anint ceiling dim floor int max merge min mod modulo nint real sign sqrt""".split()
)
"""Functions whose value is the same whoever computes it: a compiler, a library, or vectors."""

WHOLE_NUMBERS = frozenset(
    """ceiling count digits exponent floor iand ieor int ior kind maxexponent minexponent mod
    nint precision radix range size""".split()
)
"""Functions whose value is a default integer for the arguments that kernels give them."""

LIKE_FIRST = frozenset(
    """abs acos acosh aint anint asin asinh atan atan2 atanh conjg cos cosh dim epsilon erf erfc
    exp gamma hypot huge iand ibclr ibset ieor ior ishft log log10 max maxval merge min minval mod
    modulo nearest not product scale shifta shiftl shiftr sign sin sinh spacing sqrt sum tan tanh
    tiny""".split()
)
"""Functions whose value has the type of their first argument."""
