"""C helper functions for operations that have no equivalent in the C language.

Each helper gives the results of gfortran: powers are computed by the same products, and signs and
zeros are handled in the same way. Operations that are undefined in C, such as a division by 0 or an
integer overflow, return a number. Therefore no process is aborted, and a compiler cannot exploit
undefined behaviour.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.languages.c import bounds, exact_sums

_POWER_OF_WHOLE = """\
static inline {type} psy_ipow{size}({type} base, int64_t exponent)
{{
    {type} result = 1;
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent > 0; exponent /= 2) {{
        if (exponent % 2)
            result *= base;
        if (exponent > 1)
            base *= base;
    }}
    return result;
}}
"""
_POWER_OF_REAL = """\
static inline {type} psy_lpow{size}({type} base, int64_t exponent)
{{
    {type} result = 1;
    uint64_t rest = exponent < 0 ? 0 - (uint64_t) exponent : (uint64_t) exponent;
    if (exponent < 0)
        base = 1 / base;
    for (; rest > 0; rest /= 2) {{
        if (rest % 2)
            result *= base;
        if (rest > 1)
            base *= base;
    }}
    return result;
}}
"""
_RANDOM = """\
#include <stdio.h>
#include <time.h>
static inline double psy_random(void)
{
    static __thread uint64_t state, is_seeded;
    if (!is_seeded) {
        FILE *source = fopen("/dev/urandom", "rb");
        if (!source || fread(&state, sizeof state, 1, source) != 1)
            state = (uint64_t) time(0) ^ (uint64_t) (uintptr_t) &state;
        if (source)
            fclose(source);
        is_seeded = 1;
    }
    state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    mixed ^= mixed >> 31;
    return (double) (mixed >> 11) * (1.0 / 9007199254740992.0);
}
"""
RANDOM = "%random"
"""A function that no program can name: the next pseudo-random number from 0 up to 1."""
_INTEGER = """\
static inline {type} psy_modulo{size}({type} a, {type} p)
{{
    const {type} rest = p == 0 || p == -1 ? 0 : a % p;
    return rest != 0 && (rest < 0) != (p < 0) ? rest + p : rest;
}}
"""
_INTEGER_REST = """\
static inline {type} psy_rest{size}({type} a, {type} p)
{{
    return p == 0 || p == -1 ? 0 : a % p;
}}
"""
_SHIFT_LEFT = """\
static inline {type} psy_shiftl{size}({type} a, {type} by)
{{
    return by < 0 || by >= {bits} ? 0 : ({type}) ((uint64_t) a << by);
}}
"""
_SHIFT_RIGHT = """\
static inline {type} psy_shifta{size}({type} a, {type} by)
{{
    return a >> (by < 0 || by >= {bits} ? {bits} - 1 : by);
}}
"""
_INTEGER_QUOTIENT = """\
static inline {type} psy_quotient{size}({type} a, {type} b)
{{
    if (b == -1)
        return a < -INT{bits}_MAX ? a : ({type}) -a;
    return b == 0 ? 0 : a / b;
}}
"""
_TO_WHOLE = """\
static inline {type} psy_whole{size}(double x)
{{
    const double least = -{half}.0;
    return ({type}) (x >= least && x < {half}.0 ? x : least);
}}
"""
_INTEGER_SIGN = """\
static inline {type} psy_isign{size}({type} a, {type} b)
{{
    const {type} magnitude = a < 0 ? -a : a;
    return b < 0 ? -magnitude : magnitude;
}}
"""
_INTEGER_ABS = """\
static inline {type} psy_iabs{size}({type} a)
{{
    return a < 0 ? -a : a;
}}
"""
_MAXIMUM = """\
static inline {type} psy_{word}_{letter}{size}({type} a, {type} b)
{{
    return b {sign} a ? b : a;
}}
"""
_REAL_EXTREME = """\
static inline {type} psy_{word}_r{size}({type} a, {type} b)
{{
    return b {sign} a ? b : a;
}}
"""
_REAL_MODULO = """\
static inline {type} psy_modulo_r{size}({type} a, {type} p)
{{
    const {type} rest = fmod{suffix}(a, p);
    if (rest == 0)
        return copysign{suffix}(({type}) 0, p);
    return (rest < 0) != (p < 0) ? rest + p : rest;
}}
"""
_REAL_DIM = """\
static inline {type} psy_dim_{letter}{size}({type} a, {type} b)
{{
    return a - b > 0 ? a - b : 0;
}}
"""


def _made() -> dict[str, str]:
    """Return a mapping from the name of each helper function to its text."""
    found: dict[str, str] = {}
    for size in (1, 2, 4, 8):
        type_ = f"int{8 * size}_t"
        for stem, text in (("ipow", _POWER_OF_WHOLE), ("modulo", _INTEGER),
                           ("isign", _INTEGER_SIGN), ("iabs", _INTEGER_ABS),
                           ("rest", _INTEGER_REST), ("quotient", _INTEGER_QUOTIENT),
                           ("shiftl", _SHIFT_LEFT), ("shifta", _SHIFT_RIGHT),
                           ("whole", _TO_WHOLE)):  # fmt: skip
            bits = 8 * size
            found[f"psy_{stem}{size}"] = text.format(
                type=type_, size=size, bits=bits, half=2 ** (bits - 1)
            )
        _add_both(found, type_, "i", size, "")
    for size, type_, suffix in ((4, "float", "f"), (8, "double", "")):
        found[f"psy_lpow{size}"] = _POWER_OF_REAL.format(type=type_, size=size)
        found[f"psy_modulo_r{size}"] = _REAL_MODULO.format(type=type_, size=size, suffix=suffix)
        _add_both(found, type_, "r", size, suffix)
    return found


def _add_both(found: dict[str, str], type_: str, letter: str, size: int, suffix: str) -> None:
    """Add the helpers `max`, `min` and `dim` for one integer or real type."""
    del suffix
    for word, sign in (("max", ">"), ("min", "<")):
        text = _REAL_EXTREME if letter == "r" else _MAXIMUM
        found[f"psy_{word}_{letter}{size}"] = text.format(
            type=type_, word=word, sign=sign, letter=letter, size=size
        )
    found[f"psy_dim_{letter}{size}"] = _REAL_DIM.format(type=type_, letter=letter, size=size)


HELPERS = _made() | {"psy_random": _RANDOM, exact_sums.HELPER: exact_sums.TEXT,
                      exact_sums.GIVING: exact_sums.GIVING_TEXT,
                      bounds.HELPER: bounds.TEXT, bounds.INDEX: bounds.INDEX_TEXT,
                      bounds.ROOM: bounds.ROOM_TEXT}  # fmt: skip
"""The text of each function by its name."""

POWI = """\
#if defined(__GNUC__) && !defined(__CUDACC__)
#define psy_powi __builtin_powi
#define psy_powif __builtin_powif
#else
static inline double psy_powi(double base, int exponent)
{
    double result = 1;
    unsigned int rest = exponent < 0 ? 0u - (unsigned int) exponent : (unsigned int) exponent;
    for (; rest > 0; rest /= 2) {
        if (rest % 2)
            result *= base;
        base *= base;
    }
    return exponent < 0 ? 1 / result : result;
}
static inline float psy_powif(float base, int exponent)
{
    float result = 1;
    unsigned int rest = exponent < 0 ? 0u - (unsigned int) exponent : (unsigned int) exponent;
    for (; rest > 0; rest /= 2) {
        if (rest % 2)
            result *= base;
        base *= base;
    }
    return exponent < 0 ? 1 / result : result;
}
#endif
"""
"""Powers of reals with whole exponents, which compilers make of products."""

HEADERS = "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n"
_WITHOUT_HEADERS = """\
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT64_C(number) number##LL
#define INT8_MIN (-127 - 1)
#define INT8_MAX 127
#define INT16_MIN (-32767 - 1)
#define INT16_MAX 32767
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-7f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
"""
CUDA_HEADERS = (
    f"#ifdef __CUDACC_RTC__\n{_WITHOUT_HEADERS}#else\n{HEADERS}#endif\n"
    "#define restrict __restrict__\n"
)
"""What CUDA needs: a compiler at run time has no headers."""


def preamble(used: Iterable[str], headers: str = HEADERS) -> str:
    """Return the headers and helper functions that precede functions using the helpers `used`."""
    names = sorted(set(used))
    parts = [headers]
    if any(name.startswith("psy_powi") for name in names):
        parts.append(POWI)
    parts += [HELPERS[name] for name in names if name in HELPERS]
    return "\n".join(parts)


def cuda_preamble(used: Iterable[str]) -> str:
    """Return the headers and helper functions for device functions in CUDA."""
    return preamble(used, CUDA_HEADERS).replace("static inline", "static inline __device__")
