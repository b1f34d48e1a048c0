"""Exact summation of reals in C: adding a value, and the size of an accumulator.

A sum is an integer multiple of 2**-1074. Each of its base-2**32 digits is stored in 64 bits. The
digits are followed by the numbers of values that are plus infinity, minus infinity, and NaN.

A value adds less than 2**32 to each of three digits. A loop over dofs has less than 2**31
iterations. Therefore no digit overflows, and no carry is propagated. Sums over threads and ranks
are sums of their digits. On a device each thread has its own digits and adds them to the result at
the end, in any order.
"""

from __future__ import annotations

ADD_EXACTLY = "%add_exactly"
"""A subroutine that no program can name: it adds a value to a sum."""
HELPER = "psy_add_exactly"
GIVING = "psy_give_digits"
"""What adds the digits of a thread of a device to those that all share."""
SPECIALS = 67
"""The digits, and so the place of the numbers of values that are not finite."""
LENGTH = SPECIALS + 3
TEXT = f"""\
static inline void {HELPER}(int64_t *sum, double value)
{{
    const union {{ double value; uint64_t bits; }} real = {{value}};
    const uint64_t fraction = real.bits & 0xFFFFFFFFFFFFFu;
    const int exponent = (int) (real.bits >> 52 & 2047);
    const int64_t sign = real.bits >> 63 ? -1 : 1;
    if (exponent == 2047) {{
        sum[{SPECIALS} + (fraction ? 2 : sign < 0)] += 1;
        return;
    }}
    const uint64_t whole = fraction | (uint64_t) (exponent > 0) << 52;
    const int places = exponent > 0 ? exponent - 1 : 0;
    const int digit = places / 32, shift = places % 32;
    sum[digit] += sign * (int64_t) (whole << shift & 0xFFFFFFFFu);
    sum[digit + 1] += sign * (int64_t) (whole >> (32 - shift) & 0xFFFFFFFFu);
    sum[digit + 2] += sign * (int64_t) (whole >> (32 - shift) >> 32);
}}
"""
GIVING_TEXT = f"""\
static inline void {GIVING}(int64_t *sum, const int64_t *own)
{{
    for (int at = 0; at < {LENGTH}; ++at) {{
        if (own[at] == 0)
            continue;
#ifdef PSY_ON_HOST
        sum[at] += own[at];
#else
        atomicAdd((unsigned long long *) (sum + at), (unsigned long long) own[at]);
#endif
    }}
}}
"""
