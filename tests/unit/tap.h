/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_TAP_H
#define SIGHT_TESTS_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The Test Anything Protocol for unit tests: one line per test on standard output, the plan at the end, what a failed
   test got on standard output as a comment. A program is one file: the counts are its own.

   Usage: tap_ok(…); tap_equal_int(…); …; return tap_done(); */

static int tap_count, tap_failed;

/* Not every test uses every function. */
#define TAP_UNUSED __attribute__((unused))
#define TAP_FORMAT(text, first) __attribute__((unused, format(printf, text, first)))

/* Where in the test's source a check stands. */
struct tap_place {
    const char *file;
    int line;
};
#define TAP_HERE ((struct tap_place){__FILE__, __LINE__})

__attribute__((unused, format(printf, 3, 0))) static bool tap_report(struct tap_place place, bool passed,
                                                                     const char *format, va_list arguments)
{
    tap_count++;
    tap_failed += !passed;
    printf("%s %d - ", passed ? "ok" : "not ok", tap_count);
    vprintf(format, arguments);
    putchar('\n');
    if (!passed)
        printf("# at %s:%d\n", place.file, place.line);
    /* A test that crashes later has still said how far it came. */
    fflush(stdout);
    return passed;
}

/* One test that passes if the condition holds; the rest is its name, as for printf(). Returns the condition. */
#define tap_ok(...) tap_ok_at(TAP_HERE, __VA_ARGS__)
TAP_FORMAT(3, 4) static bool tap_ok_at(struct tap_place place, bool passed, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tap_report(place, passed, format, arguments);
    va_end(arguments);
    return passed;
}

/* One test that passes if both integers are equal; prints both if not. */
#define tap_equal_int(...) tap_equal_int_at(TAP_HERE, __VA_ARGS__)
TAP_FORMAT(4, 5)
static bool tap_equal_int_at(struct tap_place place, long long got, long long want, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool passed = tap_report(place, got == want, format, arguments);
    va_end(arguments);
    if (!passed)
        printf("#  got %lld\n# want %lld\n", got, want);
    return passed;
}

/* One test that passes if both texts are equal or both are NULL; prints both if not. */
#define tap_equal_string(...) tap_equal_string_at(TAP_HERE, __VA_ARGS__)
TAP_FORMAT(4, 5)
static bool tap_equal_string_at(struct tap_place place, const char *got, const char *want, const char *format, ...)
{
    bool equal = got && want ? strcmp(got, want) == 0 : got == want;
    va_list arguments;
    va_start(arguments, format);
    bool passed = tap_report(place, equal, format, arguments);
    va_end(arguments);
    if (!passed)
        printf("#  got %s\n# want %s\n", got ? got : "(null)", want ? want : "(null)");
    return passed;
}

/* One test that cannot be made here, and why: counts as passed. */
TAP_UNUSED static void tap_skip(const char *why)
{
    printf("ok %d # SKIP %s\n", ++tap_count, why);
}

/* Ends the program's tests: prints the plan. Returns the exit status of main(). */
TAP_UNUSED static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    if (tap_failed)
        printf("# %d of %d failed\n", tap_failed, tap_count);
    return tap_failed != 0;
}

#endif
