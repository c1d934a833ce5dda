/* SPDX-License-Identifier: ISC */

#include <sys/ioctl.h>

#include "fake.h"

#define KEY_CTRL_C    0x03
#define KEY_CTRL_D    0x04
#define KEY_CTRL_U    0x15
#define KEY_ESCAPE    0x1b
#define KEY_BACKSPACE 0x7f

#define ESCAPE_MS 50 /* a sequence arrives in one piece */
#define TWICE_MS  800

#define PASTE_BEGIN "200~"
#define PASTE_END   "\033[201~"

/* ---- the screen */

static void
fake_term_put(const struct buf *text)
{
	/* A closed terminal is noticed when reading. */
	file_write_all(STDOUT_FILENO, text->data, text->len);
}

static int
fake_term_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_col < 20)
		return 80;
	return size.ws_col;
}

static void
fake_term_rule(struct buf *out, int width)
{
	for (int i = 0; i < width - 1; i++)
		buf_adds(out, "─");
	buf_adds(out, "\r\n");
}

static void
fake_term_erase(struct fake *fake, struct buf *out)
{
	if (fake->term.drawn > 0)
		buf_addf(out, "\r\033[%dA\033[J", fake->term.drawn);
	fake->term.drawn = 0;
}

static const char *const fake_dialogs[] = {
	[FAKE_DIALOG_FIRST_RUN] = "Accessing workspace: do you trust this "
				  "folder?   ❯ 1. No, exit   2. Yes",
	[FAKE_DIALOG_PERMISSION] = "Do you want to proceed?   ❯ 1. Yes   2. No",
	[FAKE_DIALOG_REWIND] = "Rewind: nothing to rewind to yet.",
};

/* The first line in the box. As in the real one, a non-breaking blank
 * distinguishes it from the prompts above. */
static void
fake_term_box(struct fake *fake, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;
	const struct buf *box = &fake->term.box;
	size_t first = strcspn(box->data, "\n");
	int width = fake_term_width();

	fake_term_rule(out, width);
	text_add_visible(&line, box->data, first, false);
	buf_adds(out, "❯\u00a0");
	buf_add(out, line.data, text_width_cut(line.data, line.len, width - 9));
	if (first < box->len)
		buf_adds(out, " [...]");
	buf_adds(out, "\r\n");
	fake_term_rule(out, width);
	buf_clear(&line);
	if (fake->term.dialog != FAKE_DIALOG_NONE)
		buf_adds(&line, fake_dialogs[fake->term.dialog]);
	else
		buf_addf(&line, "  %s · %s", fake->options.mode,
		    fake->turn.active ? "esc to interrupt" : "ready");
	buf_add(out, line.data, text_width_cut(line.data, line.len, width - 1));
	fake->term.drawn = 3;
}

void
fake_term_draw(struct fake *fake)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (!fake->term.raw)
		return;
	fake_term_erase(fake, &out);
	fake_term_box(fake, &out);
	fake_term_put(&out);
}

void
fake_term_say(struct fake *fake, const char *mark, const char *text)
{
	cleanup_buf struct buf out = BUF_INIT, shown = BUF_INIT;

	if (fake->options.gemini) {
		fake_gemini_say("message", "content", text);
		return;
	}
	if (fake->options.headless) {
		buf_adds(&out,
		    "{\"type\":\"assistant\",\"message\":{\"content\":[{"
		    "\"type\":\"text\",\"text\":");
		text_add_json(&out, text, strlen(text));
		buf_adds(&out, "}]}}\n");
		fake_term_put(&out);
		return;
	}
	text_add_visible(&shown, text, strlen(text), true);
	fake_term_erase(fake, &out);
	buf_adds(&out, mark);
	for (const char *c = shown.data; *c != '\0'; c++)
		if (*c == '\n')
			buf_adds(&out, "\r\n  ");
		else
			buf_addc(&out, *c);
	buf_adds(&out, "\r\n");
	if (fake->term.raw)
		fake_term_box(fake, &out);
	fake_term_put(&out);
}

void
fake_term_dialog(struct fake *fake, enum fake_dialog dialog)
{
	fake->term.dialog = dialog;
	fake_term_draw(fake);
}

/* ---- the box */

/* What the real box does to text: tabs become blanks, line endings newlines;
 * control characters and zero-width blanks are removed. */
static void
fake_box_add(struct fake *fake, const char *text, size_t len)
{
	struct buf *box = &fake->term.box;
	unsigned char c;

	for (size_t i = 0; i < len; i++) {
		c = (unsigned char)text[i];
		if (c == '\t')
			buf_adds(box, "    ");
		else if (c == '\r' && i + 1 < len && text[i + 1] == '\n')
			continue;
		else if (c == '\r' || c == '\n')
			buf_addc(box, '\n');
		else if (len - i >= 3 && memcmp(text + i, "\u200b", 3) == 0)
			i += 2;
		else if (c >= 0x20 && c != KEY_BACKSPACE)
			buf_addc(box, (char)c);
	}
}

static void
fake_box_backspace(struct buf *box)
{
	size_t len = box->len;

	while (len > 0 && ((unsigned char)box->data[len - 1] & 0xc0) == 0x80)
		len--;
	buf_truncate(box, len > 0 ? len - 1 : 0);
}

static void
fake_box_cut_line(struct buf *box)
{
	const char *newline = memrchr(box->data, '\n', box->len);

	buf_truncate(box, newline == NULL ? 0 : (size_t)(newline - box->data));
}

static void
fake_box_paste(struct fake *fake, const struct buf *text)
{
	/* A dialog ignores it. */
	if (fake->term.dialog != FAKE_DIALOG_NONE || text->len == 0)
		return;
	fake_idle_stop(fake);
	fake_box_add(fake, text->data, text->len);
	fake->term.pasted = true;
}

static void
fake_key_enter_dialog(struct fake *fake)
{
	switch (fake->term.dialog) {
	case FAKE_DIALOG_FIRST_RUN: /* the refusing answer is the first */
		fake_quit(fake, 1);
		break;
	case FAKE_DIALOG_PERMISSION:
		fake_term_dialog(fake, FAKE_DIALOG_NONE);
		fake_tool_allow(fake);
		break;
	default:
		fake_term_dialog(fake, FAKE_DIALOG_NONE);
		break;
	}
}

static void
fake_key_enter(struct fake *fake)
{
	struct fake_term *term = &fake->term;
	cleanup_free char *text = NULL;

	if (term->dialog != FAKE_DIALOG_NONE) {
		fake_key_enter_dialog(fake);
		return;
	}
	if (!fake->started || term->box.len == 0)
		return;
	if (term->pasted && term->ignore_enter > 0) {
		term->ignore_enter--;
		return;
	}
	if (term->box.data[term->box.len - 1] == '\\') {
		term->box.data[term->box.len - 1] = '\n';
		return;
	}
	term->pasted = false;
	text = buf_take(&term->box);
	if (text[strspn(text, " \n")] != '\0')
		fake_submit(fake, text);
}

/* ---- keys with another meaning when pressed twice */

static void
fake_twice_over(void *arg)
{
	struct fake *fake = arg;

	fake->term.pressed = 0;
}

/* True if pressed a second time in time. */
static bool
fake_twice(struct fake *fake, int key)
{
	bool again = fake->term.pressed == key;

	loop_timer_free(fake->term.twice);
	fake->term.twice =
	    loop_after(fake->loop, TWICE_MS, fake_twice_over, fake);
	fake->term.pressed = again ? 0 : key;
	return again;
}

static void
fake_key_escape(struct fake *fake)
{
	struct fake_term *term = &fake->term;
	bool empty = term->box.len == 0;

	if (term->dialog == FAKE_DIALOG_REWIND) {
		fake_term_dialog(fake, FAKE_DIALOG_NONE);
	} else if (fake->turn.active) {
		fake_interrupt(fake);
	} else if (fake_twice(fake, KEY_ESCAPE)) {
		buf_clear(&term->box);
		if (empty && fake->started)
			fake_term_dialog(fake, FAKE_DIALOG_REWIND);
	}
}

static void
fake_key_leave(struct fake *fake, int key)
{
	struct fake_term *term = &fake->term;

	if (key == KEY_CTRL_C && fake->turn.active) {
		fake_interrupt(fake);
		return;
	}
	if (key == KEY_CTRL_D && term->box.len > 0)
		return;
	buf_clear(&term->box);
	if (fake_twice(fake, key))
		fake_end(fake, "prompt_input_exit", 0);
}

static void
fake_key(struct fake *fake, char c)
{
	struct fake_term *term = &fake->term;

	switch (c) {
	case '\r':
		fake_key_enter(fake);
		break;
	case KEY_CTRL_C:
	case KEY_CTRL_D:
		fake_key_leave(fake, c);
		break;
	case KEY_CTRL_U:
		fake_box_cut_line(&term->box);
		break;
	case KEY_BACKSPACE:
		fake_box_backspace(&term->box);
		break;
	default:
		if (term->dialog == FAKE_DIALOG_NONE)
			fake_box_add(fake, &c, 1);
		break;
	}
}

/* ---- bytes */

static void
fake_escape_alone(void *arg)
{
	struct fake *fake = arg;

	if (fake->term.state != FAKE_KEY_ESCAPE)
		return;
	fake->term.state = FAKE_KEY_PLAIN;
	fake_key_escape(fake);
}

static void
fake_byte_escape(struct fake *fake, char c)
{
	struct fake_term *term = &fake->term;

	term->state = FAKE_KEY_PLAIN;
	if (c == '[') {
		term->state = FAKE_KEY_CSI;
		buf_clear(&term->sequence);
	} else if (c == '\r') {
		fake_box_add(fake, "\n", 1);
	} else if (c == KEY_ESCAPE) {
		term->state = FAKE_KEY_ESCAPE;
		fake_key_escape(fake);
	} else {
		fake_key_escape(fake);
		fake_key(fake, c);
	}
}

static void
fake_byte_csi(struct fake *fake, char c)
{
	struct fake_term *term = &fake->term;

	buf_addc(&term->sequence, c);
	if (c < 0x40 || c > 0x7e)
		return;
	/* Other sequences have no meaning here. */
	term->state = strcmp(term->sequence.data, PASTE_BEGIN) == 0 ?
	    FAKE_KEY_PASTE :
	    FAKE_KEY_PLAIN;
	buf_clear(&term->sequence);
}

static void
fake_byte_paste(struct fake *fake, char c)
{
	struct fake_term *term = &fake->term;
	const size_t end = strlen(PASTE_END);
	struct buf *text = &term->sequence;

	buf_addc(text, c);
	if (c != '~' || text->len < end ||
	    memcmp(text->data + text->len - end, PASTE_END, end) != 0)
		return;
	buf_truncate(text, text->len - end);
	term->state = FAKE_KEY_PLAIN;
	fake_box_paste(fake, text);
	buf_clear(text);
}

static void
fake_byte(struct fake *fake, char c)
{
	switch (fake->term.state) {
	case FAKE_KEY_PLAIN:
		if (c == KEY_ESCAPE)
			fake->term.state = FAKE_KEY_ESCAPE;
		else
			fake_key(fake, c);
		break;
	case FAKE_KEY_ESCAPE:
		fake_byte_escape(fake, c);
		break;
	case FAKE_KEY_CSI:
		fake_byte_csi(fake, c);
		break;
	case FAKE_KEY_PASTE:
		fake_byte_paste(fake, c);
		break;
	}
}

/* A line of -p --input-format stream-json. */
static void
fake_line(struct fake *fake, const struct buf *line)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *message = NULL;

	if (json_parse(line->data, line->len, line->len, &json, NULL) < 0) {
		fake_quit(fake, 1);
		return;
	}
	if (json_object_object_get_ex(json, "message", &message))
		fake_submit(fake, json_string_or(message, "content", ""));
	else if (fake->turn.active)
		fake_interrupt(fake);
}

static void
fake_term_read(int fd, unsigned what, void *arg)
{
	struct fake *fake = arg;
	char bytes[16384];
	ssize_t n;

	(void)what;
	n = read(fd, bytes, sizeof(bytes));
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) { /* the terminal is gone */
		loop_watch_free(fake->term.watch);
		fake->term.watch = NULL;
		if (fake->options.gemini && n == 0)
			fake_submit(fake, fake->term.box.data);
		else
			fake_end(fake, "other", 129);
		return;
	}
	for (ssize_t i = 0; i < n && !fake->hung && !fake->ending; i++)
		if (!fake->options.headless) {
			fake_byte(fake, bytes[i]);
		} else if (bytes[i] != '\n' || fake->options.gemini) {
			buf_addc(&fake->term.box, bytes[i]);
		} else {
			fake_line(fake, &fake->term.box);
			buf_clear(&fake->term.box);
		}
	if (fake->ending || fake->hung)
		return;
	loop_timer_free(fake->term.escape);
	fake->term.escape = NULL;
	if (fake->term.state == FAKE_KEY_ESCAPE)
		fake->term.escape =
		    loop_after(fake->loop, ESCAPE_MS, fake_escape_alone, fake);
	fake_term_draw(fake);
}

void
fake_term_open(struct fake *fake)
{
	static const char hello[] = "\033[?2004h";
	struct fake_term *term = &fake->term;
	struct termios raw;

	buf_init(&term->sequence);
	buf_init(&term->box);
	term->ignore_enter = fake->options.ignore_enter;
	if (tcgetattr(STDIN_FILENO, &term->saved) == 0) {
		raw = term->saved;
		cfmakeraw(&raw);
		term->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	}
	if (term->raw)
		file_write_all(STDOUT_FILENO, hello, sizeof(hello) - 1);
	term->watch = loop_watch_new(
	    fake->loop, STDIN_FILENO, LOOP_READ, fake_term_read, fake);
	fake_term_say(fake, "", "Claude Code v" FAKE_VERSION " (stand-in)");
}

void
fake_term_close(struct fake *fake)
{
	static const char bye[] = "\033[?2004l\r\n";
	struct fake_term *term = &fake->term;

	if (term->raw) {
		file_write_all(STDOUT_FILENO, bye, sizeof(bye) - 1);
		tcsetattr(STDIN_FILENO, TCSANOW, &term->saved);
	}
	loop_watch_free(term->watch);
	loop_timer_free(term->escape);
	loop_timer_free(term->twice);
	buf_release(&term->sequence);
	buf_release(&term->box);
}
