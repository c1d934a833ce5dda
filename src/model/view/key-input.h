/* SPDX-License-Identifier: ISC */

/*
 * What a terminal sends, as keys: characters, arrows, pages, function keys.
 * Sequences that mean nothing here (mouse, focus, answers, Alt with a key) are
 * swallowed whole, however they are cut. Pure: the caller has the clock.
 */
#ifndef KEY_INPUT_H
#define KEY_INPUT_H

/* The keys of llmc top: a character is its code point, and the others follow
 * after the last code point. */
enum top_key {
	TOP_KEY_NONE = 0,
	TOP_KEY_TAB = '\t',
	TOP_KEY_ENTER = '\r',
	TOP_KEY_ESC = 0x1b,
	TOP_KEY_SPACE = ' ',
	TOP_KEY_BACKSPACE = 0x7f,
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKTAB, /* Shift-Tab */
	TOP_KEY_F1,
	TOP_KEY_F10,
	TOP_KEY_RESIZE, /* the terminal has another size */
	TOP_KEY_INTERRUPT, /* Ctrl-C */
	TOP_KEY_REDRAW, /* Ctrl-L */
	TOP_KEY_LAST = TOP_KEY_REDRAW
};

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

/* A key. pasted: it was not typed, so it is text and no command. */
typedef void key_input_fn(uint32_t key, bool pasted, void *arg);

void key_input_feed(struct key_input *input, const char *bytes, size_t len,
    key_input_fn *fn, void *arg);

/* How long to wait for the rest of what has begun; 0 = nothing has. */
int64_t key_input_wait_ms(const struct key_input *input);

/* The rest did not come: an Esc was the key, anything else is dropped. */
void key_input_timeout(struct key_input *input, key_input_fn *fn, void *arg);

#endif
