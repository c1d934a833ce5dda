/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "top.h"
#include "view-private.h"

#define ESC                  0x1b
#define SEQUENCE_WAIT_MS     50
#define PASTE_WAIT_MS        2000
#define PASTE_BEGIN          "200"
#define PASTE_END            "201"
#define MOUSE_BYTES          3 /* after CSI M: button, column, row */
#define LINUX_FUNCTION_BYTES 1 /* after CSI [ */

/* "ESC [ number ~" */
static const struct {
	const char *number;
	uint32_t key;
} numbered[] = {
	{ "1", TOP_KEY_HOME },
	{ "4", TOP_KEY_END },
	{ "5", TOP_KEY_PAGE_UP },
	{ "6", TOP_KEY_PAGE_DOWN },
	{ "7", TOP_KEY_HOME },
	{ "8", TOP_KEY_END },
	{ "11", TOP_KEY_F1 },
	{ "21", TOP_KEY_F10 },
};

/* "ESC [ letter", "ESC [ 1 ; modifiers letter" and "ESC O letter" */
static uint32_t
key_of_letter(char letter)
{
	switch (letter) {
	case 'A':
		return TOP_KEY_UP;
	case 'B':
		return TOP_KEY_DOWN;
	case 'C':
		return TOP_KEY_RIGHT;
	case 'D':
		return TOP_KEY_LEFT;
	case 'F':
		return TOP_KEY_END;
	case 'H':
		return TOP_KEY_HOME;
	case 'P':
		return TOP_KEY_F1;
	default:
		return 0;
	}
}

static uint32_t
key_of_csi(const char *params, char final)
{
	size_t len = strcspn(params, ";");

	if (final == 'Z')
		return TOP_KEY_BACKTAB;
	if (final != '~')
		return params[0] == '\0' || (len == 1 && params[0] == '1') ?
		    key_of_letter(final) :
		    0;
	for (size_t i = 0; i < nitems(numbered); i++)
		if (strlen(numbered[i].number) == len &&
		    memcmp(numbered[i].number, params, len) == 0)
			return numbered[i].key;
	return 0;
}

static void
begin(struct key_input *in, enum key_input_state state)
{
	in->state = state;
	in->len = 0;
}

static void
skip(struct key_input *in, int bytes)
{
	begin(in, KEY_INPUT_SKIP);
	in->skip = bytes;
}

/* Only text is taken from a paste; its lines become one. */
static void
give(const struct key_input *in, uint32_t key, key_input_fn *fn, void *arg)
{
	if (in->pasting && (key == TOP_KEY_ENTER || key == TOP_KEY_TAB))
		key = ' ';
	if (key == 0 ||
	    (in->pasting &&
		(key < ' ' || key == TOP_KEY_BACKSPACE || key >= TOP_KEY_UP)))
		return;
	fn(key, in->pasting, arg);
}

static uint32_t
key_of_byte(unsigned char byte)
{
	switch (byte) {
	case '\r':
	case '\n':
		return TOP_KEY_ENTER;
	case '\t':
		return TOP_KEY_TAB;
	case '\b':
	case 0x7f:
		return TOP_KEY_BACKSPACE;
	case 'C' & 0x1f:
		return TOP_KEY_INTERRUPT;
	case 'L' & 0x1f:
		return TOP_KEY_REDRAW;
	default:
		return byte;
	}
}

static void
on_csi(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	if (byte >= 0x40 && byte <= 0x7e) {
		char final = (char)byte;
		char params[KEY_INPUT_PARAMS + 1] = "";
		bool whole = in->len <= KEY_INPUT_PARAMS;

		if (whole)
			memcpy(params, in->bytes, in->len);
		begin(in, KEY_INPUT_GROUND);
		if (!whole)
			return;
		if (final == 'M' && params[0] == '\0' && !in->pasting)
			skip(in, MOUSE_BYTES);
		else if (final == '[' && params[0] == '\0' && !in->pasting)
			skip(in, LINUX_FUNCTION_BYTES);
		else if (final == '~' && strcmp(params, PASTE_BEGIN) == 0)
			in->pasting = true;
		else if (final == '~' && strcmp(params, PASTE_END) == 0)
			in->pasting = false;
		else
			give(in, key_of_csi(params, final), fn, arg);
	} else if (byte >= 0x20 && byte <= 0x3f) {
		if (in->len < KEY_INPUT_PARAMS)
			in->bytes[in->len] = (char)byte;
		if (in->len <= KEY_INPUT_PARAMS)
			in->len++;
	} else if (byte == ESC) {
		begin(in, KEY_INPUT_ESC);
	} else {
		begin(in, KEY_INPUT_GROUND);
	}
}

static void
on_esc(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	switch (byte) {
	case ESC: /* typed twice */
		give(in, TOP_KEY_ESC, fn, arg);
		break;
	case '[':
		begin(in, KEY_INPUT_CSI);
		break;
	case 'O':
		begin(in, KEY_INPUT_SS3);
		break;
	case 'P':
	case 'X':
	case ']':
	case '^':
	case '_':
		begin(in, KEY_INPUT_STRING);
		break;
	default: /* Alt with a key */
		begin(in, KEY_INPUT_GROUND);
	}
}

static void
on_ground(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	if (byte == ESC) {
		begin(in, KEY_INPUT_ESC);
	} else if (byte >= 0xc2 && byte <= 0xf4) {
		begin(in, KEY_INPUT_UTF8);
		in->bytes[in->len++] = (char)byte;
	} else if (byte < 0x80) {
		give(in, key_of_byte(byte), fn, arg);
	}
}

static void
on_utf8(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	unsigned char lead = (unsigned char)in->bytes[0];
	uint32_t codepoint;

	if ((byte & 0xc0) != 0x80) {
		begin(in, KEY_INPUT_GROUND);
		on_ground(in, byte, fn, arg);
		return;
	}
	in->bytes[in->len++] = (char)byte;
	if (in->len < (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2))
		return;
	in->state = KEY_INPUT_GROUND;
	if (text_utf8_decode(in->bytes, in->len, &codepoint) == in->len &&
	    codepoint >= 0xa0)
		give(in, codepoint, fn, arg);
}

static void
take(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	switch (in->state) {
	case KEY_INPUT_GROUND:
		on_ground(in, byte, fn, arg);
		break;
	case KEY_INPUT_UTF8:
		on_utf8(in, byte, fn, arg);
		break;
	case KEY_INPUT_ESC:
		on_esc(in, byte, fn, arg);
		break;
	case KEY_INPUT_CSI:
		on_csi(in, byte, fn, arg);
		break;
	case KEY_INPUT_SS3:
		if (byte >= '0' && byte <= ';')
			return; /* modifiers */
		begin(in, byte == ESC ? KEY_INPUT_ESC : KEY_INPUT_GROUND);
		if (byte == 'M')
			give(in, TOP_KEY_ENTER, fn, arg); /* of the keypad */
		else if (byte != ESC)
			give(in, key_of_letter((char)byte), fn, arg);
		break;
	case KEY_INPUT_SKIP:
		if (--in->skip <= 0)
			begin(in, KEY_INPUT_GROUND);
		break;
	case KEY_INPUT_STRING:
		if (byte == ESC)
			begin(in, KEY_INPUT_STRING_ESC);
		else if (byte == '\a')
			begin(in, KEY_INPUT_GROUND);
		break;
	case KEY_INPUT_STRING_ESC:
		begin(in, KEY_INPUT_GROUND);
		if (byte != '\\') {
			begin(in, KEY_INPUT_ESC);
			on_esc(in, byte, fn, arg);
		}
		break;
	}
}

void
key_input_feed(struct key_input *in, const char *bytes, size_t len,
    key_input_fn *fn, void *arg)
{
	for (size_t i = 0; i < len; i++)
		take(in, (unsigned char)bytes[i], fn, arg);
}

int64_t
key_input_wait_ms(const struct key_input *in)
{
	if (in->pasting)
		return PASTE_WAIT_MS;
	return in->state == KEY_INPUT_GROUND ? 0 : SEQUENCE_WAIT_MS;
}

void
key_input_timeout(struct key_input *in, key_input_fn *fn, void *arg)
{
	bool esc = in->state == KEY_INPUT_ESC && !in->pasting;

	in->pasting = false;
	begin(in, KEY_INPUT_GROUND);
	if (esc)
		give(in, TOP_KEY_ESC, fn, arg);
}
