/* SPDX-License-Identifier: ISC */

/*
 * `llmc stream`: the terminal of an agent that has none. The agent writes lines
 * of JSON; what is pasted or typed here, up to Enter, is a prompt for it,
 * Escape interrupts its turn, and what it says is printed in words. So a worker
 * without a terminal of its own is prompted, watched and ended like every other
 * one.
 *
 * An agent that runs all the time reads its prompts as lines of JSON (claude -p
 * with stream-json). One that runs once for each prompt (gemini) gets it as its
 * standard input, and this program reports in its place that it can be prompted
 * and that a turn failed.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct err;
struct json_object;

struct stream_spec {
	const char *const *argv;
	/* It runs once for each prompt: the words of `llmc hook EVENT`; NULL =
	 * it runs all the time. */
	const char *const *hook;
	const char
	    *resume; /* then: the conversation it goes on with, or NULL */
};

/* Run it until it ends: its exit status, or negative errno. */
int stream_run(const struct stream_spec *spec, struct err *err);

/* --- its parts, which read what others wrote ------------------------------ */

/* A line of the agent in words, whole lines; often nothing. */
void stream_words(struct json_object *line, struct buf *out);

enum stream_act {
	STREAM_NOTHING,
	STREAM_TYPED, /* the byte is in the box */
	STREAM_SUBMIT, /* the box is a prompt; the caller clears it */
	STREAM_INTERRUPT
};

struct stream_keys {
	enum {
		STREAM_PLAIN,
		STREAM_ESCAPE, /* alone, if nothing follows at once */
		STREAM_CSI,
		STREAM_PASTE
	} state;
	struct buf box, sequence;
};

/* The next byte from the terminal. */
enum stream_act stream_key(struct stream_keys *keys, char c);

#endif
