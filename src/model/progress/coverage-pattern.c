/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "coverage-pattern.h"

#include <math.h>
#include <regex.h>

/* Strict decimal, whatever the locale: "81", "81.25". */
static double
percent(const char *text, size_t len)
{
	double value = 0, unit = 1;
	size_t i = 0, digits = 0;
	bool point = false;

	for (; i < len; i++) {
		if (text[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || ++digits > 9)
			return NAN;
		value = value * 10 + (text[i] - '0');
		unit *= point ? 10 : 1;
	}
	value /= unit;
	return digits > 0 && value <= 100 ? value : NAN;
}

bool
coverage_pattern_valid(const char *pattern)
{
	regex_t regex;
	bool has_group;

	if (pattern[0] == '\0')
		return true;
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
		return false;
	has_group = regex.re_nsub > 0;
	regfree(&regex);
	return has_group;
}

double
coverage_pattern_find(const char *pattern, const char *output)
{
	regmatch_t match[2];
	regex_t regex;
	double found = NAN;
	int flags = 0;

	if (pattern[0] == '\0' ||
	    regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
		return NAN;
	while (regex.re_nsub > 0 &&
	    regexec(&regex, output, 2, match, flags) == 0) {
		double value = match[1].rm_so < 0 ?
		    NAN :
		    percent(output + match[1].rm_so,
			(size_t)(match[1].rm_eo - match[1].rm_so));

		if (!isnan(value))
			found = value;
		if (output[match[0].rm_eo] == '\0')
			break;
		/* A match of nothing must move on too. */
		output += match[0].rm_eo > match[0].rm_so ? match[0].rm_eo :
							    match[0].rm_eo + 1;
		flags = output[-1] == '\n' ? 0 : REG_NOTBOL;
	}
	regfree(&regex);
	return found;
}
