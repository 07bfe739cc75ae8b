/*
 * text.c: decimal numbers from text, whatever the locale of the host.
 */
#include <math.h>

#include "base/core.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* value x 10^exponent; powers up to 10^22 are exact doubles, larger ones are built from them. */
static double scale_decimal(double value, int exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    for (; exponent > 22 && value != 0 && isfinite(value); exponent -= 22) value *= 1e22;
    for (; exponent < -22 && value != 0; exponent += 22) value /= 1e22;

    if (value == 0 || !isfinite(value)) return value;
    return exponent >= 0 ? value * powers[exponent] : value / powers[-exponent];
}

bool text_number(const char **cursor, const char *end, double *value)
{
    const char *p = *cursor;
    bool negative = false;

    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';

    /* digits: 18 of them fit, more only scale */
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0;
    bool any = false;
    for (; p < end && is_digit(*p); p++) {
        any = true;
        if (digits < 18) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            if (mantissa) digits++;
        } else if (exponent < 100000) {
            exponent++;
        }
    }

    if (p < end && *p == '.') {
        p++;
        for (; p < end && is_digit(*p); p++) {
            any = true;
            if (digits >= 18) continue;
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            if (mantissa) digits++;
            if (exponent > -100000) exponent--;
        }
    }

    if (!any) return false;

    /* exponent */
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        bool minus = false;
        if (q < end && (*q == '-' || *q == '+')) minus = *q++ == '-';
        if (q < end && is_digit(*q)) {
            int power = 0;
            for (; q < end && is_digit(*q); q++)
                if (power < 100000) power = power * 10 + (*q - '0');
            exponent += minus ? -power : power;
            p = q;
        }
    }

    double result = scale_decimal((double)mantissa, exponent);
    *value = negative ? -result : result;
    *cursor = p;
    return true;
}
