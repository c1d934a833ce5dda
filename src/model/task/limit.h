/* SPDX-License-Identifier: ISC */

/*
 * Usage limits, outages and login problems: what a message means, and how long
 * to wait. None of these count as failures.
 */
#ifndef LIMIT_H
#define LIMIT_H

struct buf;
struct window;

/* "resets 7pm (America/Los_Angeles)", "resets Oct 9 at 5:30pm", "resets at
 * 1766502000": the time in the text, not yet resolved with a calendar; false if
 * there is none. */
#define LIMIT_RESET_SIZE 96
#define LIMIT_ZONE_SIZE  64

struct limit_reset {
	int month, day; /* from 1; 0 = not given: the next such time */
	int hour, minute; /* -1 = not a time of day */
	char zone[LIMIT_ZONE_SIZE]; /* "" = local time; letters, digits and
				     * "_+-/", never an absolute path */
	int64_t at_ms; /* an absolute time, 0 = not given */
	char words[LIMIT_RESET_SIZE]; /* as written, for people */
};

bool limit_reset_parse(const char *text, struct limit_reset *ret_reset);

enum limit_class {
	LIMIT_NONE, /* "none" */
	LIMIT_NEAR, /* "near": a warning before the limit */
	LIMIT_USAGE, /* "limited": the account's limit is reached */
	LIMIT_OUTAGE, /* "outage": overload, 5xx, connection, timeout */
	LIMIT_AUTH, /* "auth": a person must log in, pay, or choose another
		     * model */
	LIMIT_CLASS_COUNT
};

const char *limit_class_name(enum limit_class class);

/* Classify a StopFailure by its error word ("rate_limit", "server_error",
 * "authentication_failed", ...) and its text; both may be NULL. A known word
 * takes precedence over the text. Without a word the text must be a short
 * notice: more than LIMIT_NOTICE_MAX bytes are LIMIT_NONE, and so is a bare
 * number such as 500, unless the text contains "API Error". */
#define LIMIT_NOTICE_MAX 400

enum limit_class limit_classify(const char *error, const char *text);

/* How long to wait before the next try if the reset time is unknown, tries
 * counted from 0: doubles from 30 s to 15 min for outages, from 5 min to 1 h
 * for usage limits; 0 for the others. */
int64_t limit_backoff_ms(enum limit_class class, int tries);

/* When to check again. named_ms is the time given in the message, 0 = none;
 * dated: it included a date, not only a time of day. A time of day more than 12
 * hours ahead has most likely just passed, and so has a date more than 8 days
 * ahead: then use the backoff. */
int64_t limit_look_again_ms(enum limit_class class, int64_t named_ms,
    bool dated, int tries, int64_t now_ms);

/* A message names a reset by its minute, and it comes at some second of that:
 * what counts is the end of the minute, until one of the account's windows
 * (WINDOW_COUNT of them) names the second. by_ms unless one does. */
#define LIMIT_MINUTE_MS 60000

int64_t limit_sharpen_ms(int64_t by_ms, const struct window *windows);

/* How long after the reset this worker goes on: all of them at once would be
 * too many requests, and the first finds out for the others whether it is over.
 * place: its number from 1 (worker.h). */
int64_t limit_delay_ms(int place);

/*
 * Why an assignment has stalled, from the last messages of its transcript: does
 * it wait for a person, is it slow, or has it failed? Looked at before anything
 * is done about it.
 */

#define STALL_SAMPLE_MESSAGES 20 /* older ones do not count */
#define STALL_SAMPLE_ERRORS   3 /* failed tool calls in a row */

enum stall_class {
	STALL_UNKNOWN, /* no messages */
	STALL_SLOW, /* nothing says that it cannot go on */
	STALL_WAITING, /* for a person */
	STALL_FAILED,
	STALL_CLASS_COUNT
};

enum stall_role {
	STALL_USER,
	STALL_ASSISTANT,
	STALL_TOOL_CALL,
	STALL_TOOL_RESULT,
};

/* Strings may be NULL. */
struct stall_message {
	enum stall_role role;
	const char *text; /* of USER, ASSISTANT; of a TOOL_RESULT if known */
	const char *tool; /* TOOL_CALL: its name */
	bool is_error; /* TOOL_RESULT: it failed; ASSISTANT: an API error */
};

const char *stall_class_name(enum stall_class class); /* "waiting" */

/* Oldest message first. Appends the reason, a sentence, to why (may be NULL) */
enum stall_class stall_sample_classify(
    const struct stall_message *messages, size_t count, struct buf *why);

#endif
