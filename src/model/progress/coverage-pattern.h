/* SPDX-License-Identifier: ISC */

/* The coverage in what a test command printed: the first group of an extended
 * regular expression, at its last match. Pure. */
#ifndef COVERAGE_PATTERN_H
#define COVERAGE_PATTERN_H

/* Is it a regular expression with a group? "" is fine: coverage is not known.
 */
bool coverage_pattern_valid(const char *pattern);

/* In percent; NAN = not known: no pattern, no match, or no number from 0 to
 * 100. */
double coverage_pattern_find(const char *pattern, const char *output);

#endif
