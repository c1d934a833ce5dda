/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "health.h"

#define LINE_MAX_BYTES      ((size_t)1024 * 1024)
#define SIGNATURE_WORDS_MAX 200
#define SHORT_HASH_MIN      7 /* as git shortens them */
#define IDENTIFIER_MIN      16 /* random strings: ULIDs, keys */
#define PATH_MIN            4 /* shorter is something like "I/O" */

#define BY_SIGNAL 128 /* exit statuses from here on are those of a crash */

#define NUMBER_MARK "#"
#define PATH_MARK   "@"

static const char *const verdict_words[] = {
	[HEALTH_FINE] = "fine",
	[HEALTH_STARTING] = "starting",
	[HEALTH_STOPPED_BY_US] = "stopped",
	[HEALTH_COMPLETE] = "complete",
	[HEALTH_START_FAILED] = "start_failed",
	[HEALTH_DIED] = "died",
	[HEALTH_FAILED] = "failed",
	[HEALTH_IDENTITY] = "identity",
	[HEALTH_HUNG] = "hung",
	[HEALTH_FROZEN] = "frozen",
	[HEALTH_COMPLAINED] = "complained",
	[HEALTH_STALLED] = "stalled",
};

_Static_assert(
    nitems(verdict_words) == HEALTH_VERDICT_COUNT, "a word for every verdict");

/* Where a log line may have its message, best place first. */
static const struct {
	const char *object, *key;
} message_places[] = {
	{ NULL, "message" },
	{ "event", "error" },
	{ "event", "message" },
	{ NULL, "error" },
};

const char *
health_verdict_name(enum health_verdict verdict)
{
	return verdict_words[verdict];
}

static bool
is_over(int64_t age_ms, int64_t limit_ms)
{
	return limit_ms > 0 && age_ms > limit_ms;
}

/* Progress before the start of this run does not count. */
static int64_t
still_ms(const struct health_facts *facts)
{
	return facts->moved_ms < facts->up_ms ? facts->moved_ms : facts->up_ms;
}

enum health_verdict
health_judge(
    const struct health_facts *facts, const struct health_limits *limits)
{
	bool excused = facts->starved || facts->woken, overdue;

	if (facts->ended) {
		/* A status of 0 is what a SIGTERM from outside leaves, too. */
		if (facts->told_to_end)
			return HEALTH_STOPPED_BY_US;
		if (facts->failure)
			return HEALTH_FAILED;
		if (facts->declared && facts->status < BY_SIGNAL)
			return HEALTH_COMPLETE;
		return facts->ready ? HEALTH_DIED : HEALTH_START_FAILED;
	}
	if (facts->told_to_end)
		return HEALTH_FINE;
	if (facts->failure)
		return HEALTH_FAILED;
	if (facts->ready && !facts->identity)
		return HEALTH_IDENTITY;
	if (facts->complaint != NULL)
		return HEALTH_COMPLAINED;
	if (facts->frozen && !facts->woken)
		return HEALTH_FROZEN;
	if (!facts->ready) {
		overdue = is_over(facts->up_ms, limits->start_ms);
		return overdue && !excused ? HEALTH_START_FAILED :
					     HEALTH_STARTING;
	}
	if (excused)
		return HEALTH_FINE;
	if (is_over(facts->beat_ms, limits->heartbeat_ms))
		return HEALTH_HUNG;
	if (facts->assigned && is_over(still_ms(facts), limits->stall_ms))
		return HEALTH_STALLED;
	return HEALTH_FINE;
}

/* How it ended is not known of one that was taken over. */
static bool
is_crash(int status)
{
	return status >= BY_SIGNAL || status < 0 || status == FATAL_EXIT_MEMORY;
}

bool
health_is_abrupt(enum health_verdict verdict, bool ended, int status)
{
	switch (verdict) {
	case HEALTH_HUNG:
	case HEALTH_FROZEN:
		return true;
	case HEALTH_START_FAILED:
		return !ended || is_crash(status); /* it hung, or crashed */
	case HEALTH_DIED:
		return ended && is_crash(status);
	case HEALTH_COMPLAINED: /* that was its last word */
		return ended && status == FATAL_EXIT_MEMORY;
	default:
		return false;
	}
}

static const char *
line_message(struct json_object *json)
{
	struct json_object *object;
	const char *message;

	for (size_t i = 0; i < nitems(message_places); i++) {
		object = json;
		if (message_places[i].object != NULL &&
		    json_get_object(
			json, "", message_places[i].object, &object, NULL) < 0)
			continue;
		message = json_string_or(object, message_places[i].key, "");
		if (*message != '\0')
			return message;
	}
	return "(a line without a message)";
}

/* Can the line be of that level? Rules out most lines without parsing them, so
 * that a flood is handled quickly. A letter may be written as \uXXXX. */
static bool
may_be(const char *line, enum log_level wanted)
{
	if (line[strspn(line, " \t\r\n")] != '{')
		return false;
	if (strstr(line, "\\u") != NULL)
		return true;
	for (unsigned i = wanted; i < LOG_LEVEL_COUNT; i++)
		if (strcasestr(line, log_level_name(i)) != NULL)
			return true;
	return false;
}

/* Stamps sort like the times they stand for. */
static bool
is_from(struct json_object *line, int64_t pid, const char *since)
{
	const char *stamp = json_string_or(line, "timestamp", "");

	return (pid <= 0 || json_int_or(line, "pid", pid) == pid) &&
	    (since == NULL || *stamp == '\0' || strcmp(stamp, since) >= 0);
}

bool
health_read_line(const char *line, const char *level, int64_t pid,
    const char *since, struct buf *message)
{
	cleanup_json struct json_object *json = NULL;
	enum log_level wanted = LOG_LEVEL_COUNT, found = LOG_LEVEL_DEBUG;
	const char *words;

	if (!log_level_parse(level, &wanted) || !may_be(line, wanted))
		return false;
	if (json_parse(line, strlen(line), LINE_MAX_BYTES, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return false;
	if (!log_level_parse(json_string_or(json, "level", ""), &found) ||
	    found < wanted)
		return false;
	if (!is_from(json, pid, since))
		return false;
	words = line_message(json);
	buf_add(
	    message, words, text_cut(words, strlen(words), HEALTH_MESSAGE_MAX));
	return true;
}

static bool
has_digit(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text_is_digit(s[i]))
			return true;
	return false;
}

/* A number with a unit, a date, an address or a generated identifier: anything
 * that differs each time. */
static bool
is_number(const char *s, size_t len)
{
	bool hex = true;

	if (text_is_digit(s[0]))
		return true;
	if (len < SHORT_HASH_MIN || !has_digit(s, len))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)s[i]) && s[i] != '-')
			return false;
		if (s[i] != '-' && !isxdigit((unsigned char)s[i]))
			hex = false;
	}
	return hex || (len >= IDENTIFIER_MIN && memchr(s, '-', len) == NULL);
}

static void
add_token(const char *s, size_t len, struct buf *out)
{
	static const char wrapping[] = "\"'`()[]{}<>,;:.!?";
	cleanup_buf struct buf word = BUF_INIT;

	while (len > 0 && strchr(wrapping, s[0]) != NULL)
		s++, len--;
	while (len > 0 && strchr(wrapping, s[len - 1]) != NULL)
		len--;
	if (len == 0)
		return;
	if (len >= PATH_MIN && memchr(s, '/', len) != NULL)
		buf_adds(&word, PATH_MARK);
	else if (is_number(s, len))
		buf_adds(&word, NUMBER_MARK);
	else {
		/* "auto-17" becomes "auto-#". */
		for (size_t i = 0; i < len; i++) {
			if (!text_is_digit(s[i]))
				buf_addc(
				    &word, (char)tolower((unsigned char)s[i]));
			else if (i == 0 || !text_is_digit(s[i - 1]))
				buf_adds(&word, NUMBER_MARK);
		}
	}
	/* "1h 3m" and "45s" both count as one number. */
	if (strcmp(word.data, NUMBER_MARK) == 0 && out->len > 0 &&
	    strcmp(out->data + out->len - 1, NUMBER_MARK) == 0)
		return;
	if (out->len > 0)
		buf_addc(out, ' ');
	buf_add(out, word.data, word.len);
}

static void
add_tokens(const char *words, struct buf *out)
{
	static const char blanks[] = " \t\r\n\f\v";
	size_t len;

	for (;; words += len) {
		words += strspn(words, blanks);
		len = strcspn(words, blanks);
		if (len == 0)
			return;
		add_token(words, len, out);
	}
}

void
health_signature(enum health_verdict verdict, const char *class,
    const char *words, struct buf *out)
{
	cleanup_buf struct buf rest = BUF_INIT, clean = BUF_INIT;

	buf_adds(out, health_verdict_name(verdict));
	if (class != NULL && *class != '\0')
		buf_addf(out, "/%s", class);
	if (words == NULL)
		return;
	text_add_utf8(
	    &clean, words, text_cut(words, strlen(words), HEALTH_MESSAGE_MAX));
	add_tokens(clean.data, &rest);
	if (rest.len == 0)
		return;
	buf_adds(out, ": ");
	buf_add(
	    out, rest.data, text_cut(rest.data, rest.len, SIGNATURE_WORDS_MAX));
}
