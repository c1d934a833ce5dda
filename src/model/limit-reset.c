/* SPDX-License-Identifier: ISC */

/* "resets Oct 9 at 5:30pm (America/Los_Angeles)": find the time in a notice. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "limit-reset.h"
#include "mem.h"

#define DIGITS "0123456789"

/* Seconds since 1970 have ten digits from 2001 to 2286, milliseconds
 * thirteen. */
#define SECONDS_DIGITS 10
#define MILLIS_DIGITS  13

static bool
take_word(const char **s, const char *word)
{
	size_t len = strlen(word);

	if (strncasecmp(*s, word, len) != 0)
		return false;
	*s += len;
	return true;
}

static void
skip_blanks(const char **s)
{
	*s += strspn(*s, " \t");
}

/* One or two digits. */
static bool
take_number(const char **s, int least, int most, int *ret)
{
	size_t len = strspn(*s, DIGITS);
	int number;

	if (len == 0 || len > 2)
		return false;
	number = (int)strtol(*s, NULL, 10);
	if (number < least || number > most)
		return false;
	*s += len;
	*ret = number;
	return true;
}

/* "at", "on", ":" and similar words. */
static void
skip_fillers(const char **s)
{
	static const char *const fillers[] = { "at ", "on ", ":", "," };
	bool found = true;

	while (found) {
		found = false;
		skip_blanks(s);
		for (size_t i = 0; i < nitems(fillers) && !found; i++)
			found = take_word(s, fillers[i]);
	}
}

/* "Oct 9", "October 9". Advances only if there is a date. */
static void
take_date(const char **s, struct limit_reset *reset)
{
	static const char *const months[] = { "jan", "feb", "mar", "apr", "may",
		"jun", "jul", "aug", "sep", "oct", "nov", "dec" };
	const char *p;

	for (size_t i = 0; i < nitems(months); i++) {
		p = *s;
		if (!take_word(&p, months[i]))
			continue;
		while (isalpha((unsigned char)*p) || *p == '.')
			p++;
		skip_blanks(&p);
		if (!take_number(&p, 1, 31, &reset->day))
			return;
		reset->month = (int)i + 1;
		*s = p;
		skip_fillers(s);
		return;
	}
}

/* "7pm", "7 PM", "11:30pm", "19:00"; not a bare "7". */
static bool
take_clock(const char **s, struct limit_reset *reset)
{
	const char *p = *s;
	bool minutes, am, pm;
	int hour, minute = 0;

	if (!take_number(&p, 0, 23, &hour))
		return false;
	minutes = *p == ':';
	if (minutes) {
		p++;
		if (!take_number(&p, 0, 59, &minute))
			return false;
	}
	*s = p;
	skip_blanks(&p);
	am = take_word(&p, "am");
	pm = !am && take_word(&p, "pm");
	if (am || pm) {
		if (hour < 1 || hour > 12 || isalnum((unsigned char)*p))
			return false;
		hour = hour % 12 + (pm ? 12 : 0);
		*s = p;
	} else if (!minutes)
		return false;
	reset->hour = hour;
	reset->minute = minute;
	return true;
}

/* "(America/Los_Angeles)". The name is looked up as a file in the time zone
 * directory, so only characters of zone names are accepted. */
static void
take_zone(const char **s, struct limit_reset *reset)
{
	const char *p = *s;
	size_t len = 0;

	skip_blanks(&p);
	if (*p++ != '(')
		return;
	while (isalnum((unsigned char)p[len]) ||
	    (p[len] != '\0' && strchr("_+-/", p[len]) != NULL))
		len++;
	if (len == 0 || len >= LIMIT_ZONE_SIZE || p[len] != ')' || *p == '/')
		return;
	memcpy(reset->zone, p, len);
	*s = p + len + 1;
}

static bool
take_stamp(const char **s, struct limit_reset *reset)
{
	size_t len = strspn(*s, DIGITS);

	if (len != SECONDS_DIGITS && len != MILLIS_DIGITS)
		return false;
	reset->at_ms = strtoll(*s, NULL, 10);
	if (len == SECONDS_DIGITS)
		reset->at_ms *= 1000;
	*s += len;
	return true;
}

static bool
parse_at(const char *s, struct limit_reset *ret_reset)
{
	struct limit_reset reset = { .hour = -1, .minute = -1 };
	const char *start;
	size_t len;

	skip_fillers(&s);
	start = s;
	if (!take_stamp(&s, &reset)) {
		take_date(&s, &reset);
		if (!take_clock(&s, &reset))
			return false;
		take_zone(&s, &reset);
	}
	len = (size_t)(s - start);
	if (len >= sizeof reset.words)
		len = sizeof reset.words - 1;
	memcpy(reset.words, start, len);
	*ret_reset = reset;
	return true;
}

bool
limit_reset_parse(const char *text, struct limit_reset *ret_reset)
{
	static const char *const marks[] = { "reset", "limit reached|" };
	const char *s;

	for (size_t i = 0; i < nitems(marks); i++) {
		for (s = text; (s = strcasestr(s, marks[i])) != NULL;) {
			s += strlen(marks[i]);
			if (i == 0)
				take_word(&s, "s");
			if (parse_at(s, ret_reset))
				return true;
		}
	}
	return false;
}
