/* SPDX-License-Identifier: ISC */

/*
 * What a terminal sends, as keys: characters, arrows, pages, function keys.
 * Sequences that mean nothing here (mouse, focus, answers, Alt with a key) are
 * swallowed whole, however they are cut. Pure: the caller has the clock.
 */
#ifndef KEY_INPUT_H
#define KEY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_INPUT_PARAMS 16 /* bytes; longer sequences are swallowed */

enum key_input_state {
	KEY_INPUT_GROUND,
	KEY_INPUT_UTF8,
	KEY_INPUT_ESC,
	KEY_INPUT_CSI,
	KEY_INPUT_SS3,
	KEY_INPUT_SKIP, /* so many bytes */
	KEY_INPUT_STRING, /* until BEL or ESC \ */
	KEY_INPUT_STRING_ESC,
};

struct key_input {
	enum key_input_state state;
	char bytes[KEY_INPUT_PARAMS]; /* of the character, or parameters */
	size_t len; /* may be more than fit */
	int skip;
	bool pasting;
};

#define KEY_INPUT_INIT \
	{              \
		0      \
	}

/* A key (top-key.h). pasted: it was not typed, so it is text and no command. */
typedef void key_input_fn(uint32_t key, bool pasted, void *arg);

void key_input_feed(struct key_input *input, const char *bytes, size_t len,
    key_input_fn *fn, void *arg);

/* How long to wait for the rest of what has begun; 0 = nothing has. */
int64_t key_input_wait_ms(const struct key_input *input);

/* The rest did not come: an Esc was the key, anything else is dropped. */
void key_input_timeout(struct key_input *input, key_input_fn *fn, void *arg);

#endif
