"""What Fortran's own functions are, as far as a kernel's expressions must be understood.

Source of the facts: the Fortran 2018 standard, clause 16. A name that is in none of these sets
and is not declared as an array is a function of which nothing is known.
"""

from __future__ import annotations

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

WHOLE_NUMBERS = frozenset(
    """ceiling count digits exponent floor iand ieor int ior kind maxexponent minexponent mod
    nint precision radix range size""".split()
)
"""Functions whose value is a default integer for the arguments that kernels give them."""

LIKE_FIRST = frozenset(
    """abs acos acosh aint anint asin asinh atan atan2 atanh conjg cos cosh dim epsilon erf erfc
    exp gamma hypot huge iand ieor ior log log10 max maxval merge min minval mod modulo nearest
    product scale sign sin sinh spacing sqrt sum tan tanh tiny""".split()
)
"""Functions whose value has the type of their first argument."""
