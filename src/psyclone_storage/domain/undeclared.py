"""Names that an algorithm uses in an invoke and declares nowhere.

Owns the question whether a file tells of every name in it: it does under `implicit none`, where
each import is named and nothing is included. A name that is missing there is a mistake, of which a
compiler would speak in generated code. Anywhere else a name may come from where nobody looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.ir.expr import Expr, Index, Keyword, Member, Name, children
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedInvoke, Scope, ScopeKind

_INCLUDES = re.compile(r"^[ \t]*#[ \t]*(?:include|define|undef)\b", re.MULTILINE)
_UNSEEN_PARENT = (ScopeKind.SUBMODULE, ScopeKind.SEPARATE)
# Source of the names: the Fortran 2018 standard, clause 16.
_FUNCTIONS = frozenset(
    """abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated
    atan atan2 atanh bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size
    ble blt btest ceiling char cmplx command_argument_count conjg cos cosh coshape count cshift
    dble digits dim dot_product dprod dshiftl dshiftr eoshift epsilon erf erfc erfc_scaled exp
    exponent extends_type_of findloc float floor fraction gamma get_team huge hypot iachar iall iand
    iany ibclr ibits ibset ichar ieor image_index image_status index int ior iparity is_contiguous
    is_iostat_end is_iostat_eor ishft ishftc kind lbound lcobound leadz len len_trim lge lgt lle llt
    log log10 log_gamma logical maskl maskr matmul max maxexponent maxloc maxval merge merge_bits
    min minexponent minloc minval mod modulo nearest new_line nint norm2 not null num_images
    out_of_range pack parity popcnt poppar precision present product radix rank range real reduce
    repeat reshape rrspacing same_type_as scale scan selected_char_kind selected_int_kind
    selected_real_kind set_exponent shape shifta shiftl shiftr sign sin sinh size sngl spacing
    spread sqrt storage_size sum tan tanh team_number this_image tiny trailz transfer transpose trim
    ubound ucobound unpack verify
    alog alog10 amax0 amax1 amin0 amin1 amod cabs ccos cexp clog csin csqrt dabs dacos dasin datan
    datan2 dcos dcosh ddim dexp dim dint dlog dlog10 dmax1 dmin1 dmod dnint dsign dsin dsinh dsqrt
    dtan dtanh iabs idim idint idnint ifix isign max0 max1 min0 min1""".split()
)
"""Generic names, and the specific ones of the standard's table 16.2."""


def undeclared(invoke: ParsedInvoke, algorithm: ParsedAlgorithm) -> Iterator[Diagnostic]:
    """Yield each argument with a name that nothing declares (S115), where all names must be."""
    if not _tells_all(invoke.scopes) or _INCLUDES.search(algorithm.source.text):
        return
    known = _known(invoke.scopes, algorithm)
    for call in invoke.calls:
        for given in call.args:
            for name in dict.fromkeys(_names(given.expr)):
                if key_of(name) not in known:
                    yield Diagnostic(
                        "S115",
                        f"'{name}' is declared nowhere.",
                        given.span,
                        hint=did_you_mean(name, known)
                        or "Declare it, or import it: 'implicit none' asks for it.",
                    )


def _tells_all(scopes: tuple[Scope, ...]) -> bool:
    """Return whether all names that can be seen in `scopes` are declared or imported by name."""
    if any(scope.kind in _UNSEEN_PARENT or scope.includes for scope in scopes):
        return False
    if any(use.only is None for scope in scopes for use in scope.uses):
        return False
    said = next((scope.implicit for scope in scopes if scope.implicit), "")
    return said.startswith("none") and ("(" not in said or "type" in said)


def _known(scopes: tuple[Scope, ...], algorithm: ParsedAlgorithm) -> frozenset[str]:
    """Return, in lower case, the names that mean something in the innermost of `scopes`."""
    names = {scope.name for scope in algorithm.scopes} | {item.name for item in algorithm.types}
    for scope in scopes:
        names |= scope.others
        names.update(item.name for item in scope.declarations)
        names.update(item.name for item in scope.associations)
        names.update(used.local for use in scope.uses for used in use.only or ())
    return keys_of(names)


def _names(expr: Expr) -> Iterator[str]:
    """Yield the names in `expr`, but for functions of the language, components and keywords."""
    match expr:
        case Name(name):
            yield name
        case Member(base, _):
            yield from _names(base)
        case Keyword(_, value):
            yield from _names(value)
        case Index(Name(name), items):
            if key_of(name) not in _FUNCTIONS:
                yield name
            for item in items:
                yield from _names(item)
        case _:
            for part in children(expr):
                yield from _names(part)
