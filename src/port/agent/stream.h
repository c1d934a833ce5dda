/* SPDX-License-Identifier: ISC */

/*
 * `llmc stream`: the terminal of an agent that has none. The agent reads and
 * writes lines of JSON (claude -p with stream-json); what is pasted or typed
 * here, up to Enter, is a prompt for it, Escape interrupts its turn, and what
 * it says is printed in words. So a worker without a terminal of its own is
 * prompted, watched and ended like every other one.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct err;
struct json_object;

/* Run it until it ends: its exit status, or negative errno. */
int stream_run(const char *const *argv, struct err *err);

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
