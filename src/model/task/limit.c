/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "backoff.h"
#include "limit.h"
#include "quota.h"
#include "turn.h"

#define QUOTE_MAX 160

static const char *const names[] = {
	[STALL_UNKNOWN] = "unknown",
	[STALL_SLOW] = "slow",
	[STALL_WAITING] = "waiting",
	[STALL_FAILED] = "failed",
};

/* Tools that only a person can answer. */
static const char *const asking[] = { "AskUserQuestion", "ExitPlanMode" };

const char *stall_class_name(enum stall_class class)
{
	return names[class];
}

static enum stall_class
say(enum stall_class class, struct buf *why, const char *words,
    const char *quote)
{
	size_t len = quote != NULL ? strlen(quote) : 0;

	if (why == NULL)
		return class;
	buf_adds(why, words);
	if (len == 0)
		return class;
	buf_adds(why, ": ");
	text_add_visible(why, quote, text_cut(quote, len, QUOTE_MAX), false);
	if (len > QUOTE_MAX)
		buf_adds(why, "...");
	return class;
}

/* How many of the last tool results failed, one after another. */
static size_t
errors_in_a_row(const struct stall_message *messages, size_t count)
{
	size_t errors = 0;

	for (size_t i = count; i-- > 0;) {
		if (messages[i].role != STALL_TOOL_RESULT)
			continue;
		if (!messages[i].is_error)
			break;
		errors++;
	}
	return errors;
}

/* A notice of the service: an error, or short and worded like one. */
static enum stall_class
classify_notice(const struct stall_message *last, struct buf *why)
{
	switch (limit_classify(NULL, last->text)) {
	case LIMIT_AUTH:
		return say(STALL_WAITING, why,
		    "a person must log in, pay or choose another model",
		    last->text);
	case LIMIT_USAGE:
		return say(
		    STALL_SLOW, why, "the usage limit is reached", last->text);
	case LIMIT_OUTAGE:
		return say(STALL_SLOW, why, "the service is not available",
		    last->text);
	default:
		return last->is_error ?
		    say(STALL_FAILED, why, "the API refused", last->text) :
		    STALL_UNKNOWN;
	}
}

/* The session's last word was the agent's. */
static enum stall_class
classify_words(const struct stall_message *last, struct buf *why)
{
	cleanup_said struct said said = { 0 };
	enum stall_class class = classify_notice(last, why);

	if (class != STALL_UNKNOWN)
		return class;
	said_read(&(struct said_sources){ .text = last->text }, &said);
	switch (said.what) {
	case SAID_BLOCKED:
		return say(STALL_WAITING, why, "it reports that it is blocked",
		    said.words);
	case SAID_QUESTION:
		return say(STALL_WAITING, why,
		    "its last message asks a question", NULL);
	case SAID_FAILED:
		return say(STALL_FAILED, why,
		    "its last message says that it cannot go on", NULL);
	default:
		return say(STALL_SLOW, why,
		    "its last message is neither a question nor an error",
		    NULL);
	}
}

enum stall_class
stall_sample_classify(
    const struct stall_message *messages, size_t count, struct buf *why)
{
	const struct stall_message *last;

	if (count > STALL_SAMPLE_MESSAGES) {
		messages += count - STALL_SAMPLE_MESSAGES;
		count = STALL_SAMPLE_MESSAGES;
	}
	if (count == 0)
		return say(STALL_UNKNOWN, why, "there are no messages", NULL);
	last = &messages[count - 1];
	if (last->role == STALL_TOOL_CALL && last->tool != NULL)
		for (size_t i = 0; i < nitems(asking); i++)
			if (strcmp(last->tool, asking[i]) == 0)
				return say(STALL_WAITING, why,
				    "it waits for a person's answer to a tool",
				    last->tool);
	if (last->role == STALL_ASSISTANT)
		return classify_words(last, why);
	if (errors_in_a_row(messages, count) >= STALL_SAMPLE_ERRORS)
		return say(
		    STALL_FAILED, why, "its last tool calls all failed", NULL);
	if (last->role == STALL_TOOL_CALL)
		return say(STALL_SLOW, why, "a tool is running", last->tool);
	return say(STALL_SLOW, why, "its turn has not ended", NULL);
}

/* "resets Oct 9 at 5:30pm (America/Los_Angeles)": find the time in a notice. */

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
		while (isalpha((unsigned char)*p)) /* "9th, 2026" */
			p++;
		skip_fillers(&p);
		if (strspn(p, DIGITS) == 4)
			p += 4;
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
	static const char *const marks[] = { "reset", "limit reached|",
		"try again at " };
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

#define NEAR_PERCENT  75 /* of a limit: the level at which to warn */
#define NEAR_MESSAGES 100 /* left */

static const char *const class_words[] = {
	[LIMIT_NONE] = "none",
	[LIMIT_NEAR] = "near",
	[LIMIT_USAGE] = "limited",
	[LIMIT_OUTAGE] = "outage",
	[LIMIT_AUTH] = "auth",
};

_Static_assert(
    nitems(class_words) == LIMIT_CLASS_COUNT, "a word for every class");

/* Error words of StopFailure that are sufficient alone. For others
 * ("invalid_request", "unknown", ...) the text decides. */
static const struct {
	const char *word;
	enum limit_class class;
} error_words[] = {
	{ "rate_limit", LIMIT_USAGE },
	{ "server_error", LIMIT_OUTAGE },
	{ "overloaded", LIMIT_OUTAGE },
	{ "authentication_failed", LIMIT_AUTH },
	{ "oauth_org_not_allowed", LIMIT_AUTH },
	{ "billing_error", LIMIT_AUTH },
	{ "model_not_found", LIMIT_AUTH },
};

/* Notices, tried from the top: words that occur in the text in this order (the
 * second may be NULL), ignoring case. */
static const struct {
	const char *first, *then;
	enum limit_class class;
} notices[] = {
	/* The limit of the conversation, not of the account. */
	{ "context limit reached", NULL, LIMIT_NONE },

	{ "run /login", NULL, LIMIT_AUTH },
	{ "oauth token", "expired", LIMIT_AUTH },
	{ "oauth token", "revoked", LIMIT_AUTH },
	{ "invalid api key", NULL, LIMIT_AUTH },
	{ "invalid x-api-key", NULL, LIMIT_AUTH },
	{ "invalid bearer token", NULL, LIMIT_AUTH },
	{ "authentication_error", NULL, LIMIT_AUTH },
	{ "failed to authenticate", NULL, LIMIT_AUTH },
	{ "not logged in", NULL, LIMIT_AUTH },
	{ "credit balance is too low", NULL, LIMIT_AUTH },

	{ "approaching", "usage limit", LIMIT_NEAR },
	{ "close to", "usage limit", LIMIT_NEAR },

	{ "hit your", "limit", LIMIT_USAGE },
	{ "reached your", "limit", LIMIT_USAGE },
	{ "usage limit reached", NULL, LIMIT_USAGE },
	{ "limit reached", "reset", LIMIT_USAGE },
	{ "rate limit reached", NULL, LIMIT_USAGE },
	{ "rate limit exceeded", NULL, LIMIT_USAGE },
	{ "rate_limit_error", NULL, LIMIT_USAGE },
	{ "exceed your", "rate limit", LIMIT_USAGE },
	{ "limit will reset", NULL, LIMIT_USAGE },
	{ "out of extra usage", NULL, LIMIT_USAGE },
	{ "out of usage", NULL, LIMIT_USAGE },
	{ "too many requests", NULL, LIMIT_USAGE },

	{ "overloaded", NULL, LIMIT_OUTAGE },
	{ "internal server error", NULL, LIMIT_OUTAGE },
	{ "bad gateway", NULL, LIMIT_OUTAGE },
	{ "service unavailable", NULL, LIMIT_OUTAGE },
	{ "gateway timeout", NULL, LIMIT_OUTAGE },
	{ "econnrefused", NULL, LIMIT_OUTAGE },
	{ "econnreset", NULL, LIMIT_OUTAGE },
	{ "etimedout", NULL, LIMIT_OUTAGE },
	{ "enotfound", NULL, LIMIT_OUTAGE },
	{ "eai_again", NULL, LIMIT_OUTAGE },
	{ "connection error", NULL, LIMIT_OUTAGE },
	{ "connection closed", NULL, LIMIT_OUTAGE },
	{ "connection refused", NULL, LIMIT_OUTAGE },
	{ "unable to connect", NULL, LIMIT_OUTAGE },
	{ "socket hang up", NULL, LIMIT_OUTAGE },
	{ "fetch failed", NULL, LIMIT_OUTAGE },
	{ "request timed out", NULL, LIMIT_OUTAGE },
};

static bool
starts_with(const char *s, const char *word)
{
	return strncasecmp(s, word, strlen(word)) == 0;
}

static bool
says(const char *text, const char *first, const char *then)
{
	const char *found = strcasestr(text, first);

	return found != NULL &&
	    (then == NULL || strcasestr(found + strlen(first), then) != NULL);
}

/* The number at s, at most four digits; -1 if there is none or it is longer. */
static int
small_number(const char *s, size_t *ret_len)
{
	size_t len = strspn(s, "0123456789");

	*ret_len = len;
	return len == 0 || len > 4 ? -1 : (int)strtol(s, NULL, 10);
}

/* Does the number of percent or messages at s mean that a limit is near? */
static bool
is_near(const char *text, const char *s, int number, size_t len)
{
	static const char before[] = "usage is at ";
	size_t at = (size_t)(s - text);

	if (starts_with(s + len, " message"))
		return number < NEAR_MESSAGES &&
		    (says(s + len, "remaining", NULL) ||
			says(s + len, "left", NULL));
	if (s[len] != '%' || number < NEAR_PERCENT || number > 100)
		return false;
	if (starts_with(s + len, "% of your") &&
	    strcasestr(s + len, "limit") != NULL)
		return true;
	return at >= strlen(before) && starts_with(s - strlen(before), before);
}

static enum limit_class
class_of_code(int code)
{
	if (code == 429)
		return LIMIT_USAGE;
	if (code == 401 || code == 403)
		return LIMIT_AUTH;
	return code >= 500 && code <= 599 ? LIMIT_OUTAGE : LIMIT_NONE;
}

/* Classify by the numbers in the text: near a limit, or an HTTP status if the
 * text is known to be an API error. */
static enum limit_class
class_of_numbers(const char *text, bool codes)
{
	enum limit_class class;
	size_t len;
	int number;

	for (const char *s = text; *s != '\0'; s += len == 0 ? 1 : len) {
		number = small_number(s, &len);
		if (number < 0)
			continue;
		if (is_near(text, s, number, len))
			return LIMIT_NEAR;
		class = codes && len == 3 ? class_of_code(number) : LIMIT_NONE;
		if (class != LIMIT_NONE)
			return class;
	}
	return LIMIT_NONE;
}

enum limit_class
limit_classify(const char *error, const char *text)
{
	enum limit_class class;
	bool codes;

	for (size_t i = 0; error != NULL && i < nitems(error_words); i++)
		if (strcmp(error, error_words[i].word) == 0)
			return error_words[i].class;
	if (text == NULL ||
	    (error == NULL &&
		strnlen(text, LIMIT_NOTICE_MAX + 1) > LIMIT_NOTICE_MAX))
		return LIMIT_NONE;
	codes = error != NULL || strcasestr(text, "api error") != NULL;
	class = class_of_numbers(text, false);
	if (class != LIMIT_NONE)
		return class;
	for (size_t i = 0; i < nitems(notices); i++)
		if (says(text, notices[i].first, notices[i].then))
			return notices[i].class;
	return class_of_numbers(text, codes);
}

int64_t
limit_backoff_ms(enum limit_class class, int tries)
{
	static const struct backoff *const waits[LIMIT_CLASS_COUNT] = {
		[LIMIT_USAGE] = &backoff_usage,
		[LIMIT_OUTAGE] = &backoff_outage,
	};
	int64_t wait = 0;

	if (waits[class] != NULL)
		backoff_next(waits[class], tries, &wait);
	return wait;
}

const char *limit_class_name(enum limit_class class)
{
	return class_words[class];
}

int64_t
limit_look_again_ms(enum limit_class class, int64_t named_ms, bool dated,
    int tries, int64_t now_ms)
{
	const int64_t hour = 3600 * (int64_t)1000;
	int64_t most = dated ? 8 * 24 * hour : 12 * hour;

	if (named_ms > now_ms && named_ms - now_ms <= most)
		return named_ms;
	return now_ms + limit_backoff_ms(class, tries);
}

int64_t
limit_sharpen_ms(int64_t by_ms, const struct window *windows)
{
	for (int i = 0; i < WINDOW_COUNT; i++) {
		int64_t resets = windows[i].resets_ms;

		if (resets >= by_ms - LIMIT_MINUTE_MS && resets < by_ms)
			return resets;
	}
	return by_ms;
}

#define DELAY_MS  3000 /* clocks differ, and the service needs its time */
#define SPREAD_MS 1500
#define PLACES    20

int64_t
limit_delay_ms(int place)
{
	int64_t number = place > 0 ? (place - 1) % PLACES : 0;

	return DELAY_MS + number * SPREAD_MS;
}
