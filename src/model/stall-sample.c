/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "limit.h"
#include "mem.h"
#include "said.h"
#include "stall-sample.h"
#include "text.h"

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
