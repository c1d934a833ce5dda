/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <termios.h>

#include "agent-kind.h"
#include "child.h"
#include "hook-event.h"
#include "loop.h"
#include "stream.h"

#define LINE_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define BOX_MAX        ((size_t)16 * 1024 * 1024)
#define SEQUENCE_MAX   32
#define SHOWN_MAX      200 /* bytes of the input or the result of a tool */
#define ESCAPE_MS      50 /* the rest of a sequence comes at once */
#define FOREVER_MS     (INT64_C(10) * 365 * 24 * 3600 * 1000)
#define REPORT_MS      30000 /* for llmc hook */
#define CLEAR          "/clear"

#define KEY_ESCAPE    0x1b
#define KEY_CTRL_C    0x03
#define KEY_CTRL_U    0x15
#define KEY_BACKSPACE 0x7f
#define PASTE_BEGIN   "200~"
#define PASTE_END     "\033[201~"

struct stream {
	struct loop *loop;
	const struct stream_spec *spec;
	struct child *child; /* NULL: it does not run now */
	struct loop_watch *terminal, *writable;
	struct loop_signal *signals[2];
	struct loop_timer *escape;
	struct termios saved;
	bool raw;
	int input; /* of the agent */
	struct buf unsent; /* lines for it */
	struct buf line; /* of it */
	bool skipping; /* inside a line that is too long */
	bool open; /* what was shown last is not a whole line */
	struct stream_keys keys;
	int64_t interrupts;
	int start_error;

	/* Of an agent that runs once for each prompt. */
	char **prompts; /* that wait for the end of its turn */
	char *prompt; /* of the turn that begins; NULL = none */
	char *session; /* its conversation; NULL = a new one */
	char *failure; /* why its turn failed, or the last words that were no
			* JSON; NULL = none */
	struct child *report; /* llmc hook is running */
	bool checked; /* its program runs */
	bool interrupted, ending;
};

static void start_turn(struct stream *s);
static void next_turn(struct stream *s);

/* --- what it says ------------------------------------------------- */

static void
add_cut(struct buf *out, const char *text)
{
	size_t len = strlen(text), cut = text_cut(text, len, SHOWN_MAX);

	text_add_words(out, text, cut);
	buf_adds(out, cut < len ? " ...\n" : "\n");
}

static void
add_text(struct buf *out, const char *text)
{
	text_add_visible(out, text, strlen(text), true);
	buf_addc(out, '\n');
}

/* What a tool does, from the one member of its input that says most. */
static void
add_tool(struct buf *out, struct json_object *block)
{
	static const char *const keys[] = { "command", "file_path", "path",
		"pattern", "url", "query", "description" };
	struct json_object *input = json_object_object_get(block, "input");
	cleanup_buf struct buf whole = BUF_INIT;
	const char *words = NULL, *name;

	if (input == NULL)
		input = json_object_object_get(block, "parameters");
	name = json_string_or(
	    block, "name", json_string_or(block, "tool_name", "a tool"));

	for (size_t i = 0; i < nitems(keys) && words == NULL; i++)
		words = json_string_or(input, keys[i], NULL);
	if (words == NULL && input != NULL) {
		json_print(input, false, &whole);
		words = whole.data;
	}
	buf_adds(out, "* ");
	text_add_words(out, name, strlen(name));
	buf_addc(out, ' ');
	add_cut(out, words != NULL ? words : "");
}

/* The same from a kind that has a line for each. */
static void
add_result(struct buf *out, struct json_object *line)
{
	struct json_object *error = json_object_object_get(line, "error");

	buf_adds(out, "  = ");
	add_cut(out,
	    json_string_or(
		error, "message", json_string_or(line, "output", "")));
}

static void
add_blocks(struct buf *out, struct json_object *content)
{
	if (json_object_is_type(content, json_type_string))
		add_text(out, json_object_get_string(content));
	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);
		const char *type = json_string_or(block, "type", "");

		if (strcmp(type, "text") == 0) {
			add_text(out, json_string_or(block, "text", ""));
		} else if (strcmp(type, "tool_use") == 0) {
			add_tool(out, block);
		} else if (strcmp(type, "tool_result") == 0) {
			buf_adds(out, "  = ");
			add_cut(out, json_string_or(block, "content", ""));
		}
	}
}

void
stream_words(struct json_object *line, struct buf *out)
{
	const char *type = json_string_or(line, "type", "");
	const char *sub = json_string_or(line, "subtype", "");
	struct json_object *error = json_object_object_get(line, "error");

	if (strcmp(type, "message") == 0 &&
	    strcmp(json_string_or(line, "role", ""), "assistant") == 0) {
		const char *text = json_string_or(line, "content", "");

		/* A piece of it. */
		text_add_visible(out, text, strlen(text), true);
	} else if (strcmp(type, "tool_use") == 0) {
		add_tool(out, line);
	} else if (strcmp(type, "tool_result") == 0) {
		add_result(out, line);
	} else if (strcmp(type, "error") == 0) {
		buf_adds(out, "--- ");
		add_cut(out, json_string_or(line, "message", ""));
	} else if (strcmp(type, "assistant") == 0 ||
	    strcmp(type, "user") == 0) {
		struct json_object *message =
		    json_object_object_get(line, "message");

		if (json_object_is_type(message, json_type_object))
			add_blocks(
			    out, json_object_object_get(message, "content"));
	} else if (strcmp(type, "conversation_reset") == 0) {
		buf_adds(out, "--- a new conversation\n");
	} else if (strcmp(type, "result") == 0) {
		if (json_bool_or(line, "is_error", false) || error != NULL) {
			buf_adds(out, "--- the turn failed: ");
			add_cut(out,
			    json_string_or(error, "message",
				json_string_or(line, "result", sub)));
		} else if (json_int_or(line, "num_turns", 1) > 0) {
			buf_adds(out, "--- the turn ended\n");
		}
	} else if (strcmp(sub, "api_retry") == 0) {
		buf_adds(out, "--- the API failed, trying again: ");
		add_cut(out, json_string_or(line, "error", ""));
	} else if (strcmp(sub, "compact_boundary") == 0) {
		buf_adds(out, "--- the conversation was compacted\n");
	}
}

/* A closed terminal is noticed when reading. */
static void
show(struct stream *s, const struct buf *words, bool piece)
{
	if (words->len == 0)
		return;
	if (s->open && !piece)
		file_write_all(STDOUT_FILENO, "\n", 1);
	file_write_all(STDOUT_FILENO, words->data, words->len);
	s->open = words->data[words->len - 1] != '\n';
}

/* What is no JSON is an error message, for a person as it is. */
static void
take_line(struct stream *s)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf out = BUF_INIT;
	struct json_object *error = NULL;
	const char *type;

	if (json_parse(s->line.data, s->line.len, LINE_MAX_BYTES, &json, NULL) <
		0 ||
	    !json_object_is_type(json, json_type_object)) {
		add_text(&out, s->line.data);
		xstrset(&s->failure, s->line.data);
	} else {
		stream_words(json, &out);
		type = json_string_or(json, "type", "");
		if (strcmp(type, "init") == 0)
			xstrset(&s->session,
			    json_string_or(json, "session_id", NULL));
		if (strcmp(type, "result") == 0 &&
		    json_object_object_get_ex(json, "error", &error))
			xstrset(&s->failure,
			    json_string_or(error, "message", "unknown"));
	}
	show(s, &out, json_bool_or(json, "delta", false));
}

static void
on_said(const char *bytes, size_t len, void *arg)
{
	struct stream *s = arg;

	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t part = end != NULL ? (size_t)(end - bytes) : len;

		if (s->line.len + part > LINE_MAX_BYTES)
			s->skipping = true;
		if (!s->skipping)
			buf_add(&s->line, bytes, part);
		if (end == NULL)
			return;
		if (!s->skipping && s->line.len > 0)
			take_line(s);
		buf_clear(&s->line);
		s->skipping = false;
		bytes += part + 1;
		len -= part + 1;
	}
}

/* --- what it is told ---------------------------------------------- */

static void
send_now(struct stream *s)
{
	while (s->unsent.len > 0) {
		ssize_t n = write(s->input, s->unsent.data, s->unsent.len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n <= 0) { /* it ends: nobody reads the rest */
			buf_clear(&s->unsent);
			break;
		}
		memmove(s->unsent.data, s->unsent.data + n,
		    s->unsent.len - (size_t)n);
		buf_truncate(&s->unsent, s->unsent.len - (size_t)n);
	}
}

static void
on_writable(int fd, unsigned what, void *arg)
{
	struct stream *s = arg;

	(void)fd;
	(void)what;
	send_now(s);
	if (s->unsent.len == 0)
		loop_watch_free(take_ptr(&s->writable));
}

static void
tell(struct stream *s, struct json_object *line)
{
	json_print(line, false, &s->unsent);
	if (s->unsent.data[s->unsent.len - 1] != '\n')
		buf_addc(&s->unsent, '\n');
	send_now(s);
	if (s->unsent.len > 0 && s->writable == NULL)
		s->writable = loop_watch_new(
		    s->loop, s->input, LOOP_WRITE, on_writable, s);
}

static void
submit(struct stream *s)
{
	cleanup_json struct json_object *line = json_object_new_object();
	struct json_object *message = json_object_new_object();
	cleanup_buf struct buf shown = BUF_INIT;

	json_set_string(message, "role", "user");
	json_set_string(message, "content", s->keys.box.data);
	json_set_string(line, "type", "user");
	json_set(line, "message", message);
	buf_adds(&shown, "\r> ");
	add_text(&shown, s->keys.box.data);
	show(s, &shown, false);
	if (s->spec->hook != NULL) {
		strv_add(&s->prompts, s->keys.box.data);
		next_turn(s);
	} else {
		tell(s, line);
	}
	buf_clear(&s->keys.box);
}

static void
interrupt(struct stream *s)
{
	cleanup_json struct json_object *line = json_object_new_object();
	struct json_object *request = json_object_new_object();
	cleanup_free char *id = xasprintf("llmc-%" PRId64, ++s->interrupts);

	if (s->spec->hook != NULL) {
		s->interrupted = s->checked && s->child != NULL;
		if (s->interrupted)
			child_cancel(s->child);
		return;
	}
	json_set_string(request, "subtype", "interrupt");
	json_set_string(line, "type", "control_request");
	json_set_string(line, "request_id", id);
	json_set(line, "request", request);
	tell(s, line);
}

static enum stream_act
plain_key(struct stream_keys *keys, char c)
{
	if (c == KEY_CTRL_C)
		return STREAM_INTERRUPT;
	if (c == KEY_CTRL_U)
		buf_clear(&keys->box);
	if (c == '\r')
		return keys->box.len > 0 ? STREAM_SUBMIT : STREAM_NOTHING;
	if (c == KEY_BACKSPACE && keys->box.len > 0) {
		size_t len = keys->box.len - 1;

		while (len > 0 &&
		    ((unsigned char)keys->box.data[len] & 0xc0) == 0x80)
			len--;
		buf_truncate(&keys->box, len);
	}
	if (((unsigned char)c < 0x20 && c != '\n' && c != '\t') ||
	    c == KEY_BACKSPACE || keys->box.len >= BOX_MAX)
		return STREAM_NOTHING;
	buf_addc(&keys->box, c);
	return STREAM_TYPED;
}

enum stream_act
stream_key(struct stream_keys *keys, char c)
{
	const size_t end = strlen(PASTE_END);
	struct buf *box = &keys->box;

	switch (keys->state) {
	case STREAM_PLAIN:
		if (c != KEY_ESCAPE)
			return plain_key(keys, c);
		keys->state = STREAM_ESCAPE;
		return STREAM_NOTHING;
	case STREAM_ESCAPE:
		if (c == KEY_ESCAPE)
			return STREAM_INTERRUPT; /* the first one */
		keys->state = c == '[' ? STREAM_CSI : STREAM_PLAIN;
		buf_clear(&keys->sequence);
		return STREAM_NOTHING; /* a key with Alt has no meaning */
	case STREAM_CSI:
		if (keys->sequence.len < SEQUENCE_MAX)
			buf_addc(&keys->sequence, c);
		if (c >= 0x40 && c <= 0x7e)
			keys->state =
			    strcmp(keys->sequence.data, PASTE_BEGIN) == 0 ?
			    STREAM_PASTE :
			    STREAM_PLAIN;
		return STREAM_NOTHING;
	case STREAM_PASTE:
		if (box->len >= BOX_MAX) /* no prompt is that long */
			buf_clear(box);
		buf_addc(box, c);
		if (c != '~' || box->len < end ||
		    memcmp(box->data + box->len - end, PASTE_END, end) != 0)
			return STREAM_NOTHING;
		buf_truncate(box, box->len - end);
		keys->state = STREAM_PLAIN;
		return STREAM_NOTHING;
	}
	return STREAM_NOTHING;
}

static void
end(struct stream *s)
{
	s->ending = true;
	if (s->child != NULL)
		child_cancel(s->child);
	else
		loop_stop(s->loop, 128 + SIGTERM);
}

static void
on_alone(void *arg)
{
	struct stream *s = arg;

	if (s->keys.state != STREAM_ESCAPE)
		return;
	s->keys.state = STREAM_PLAIN;
	interrupt(s);
}

static void
on_terminal(int fd, unsigned what, void *arg)
{
	struct stream *s = arg;
	char bytes[16384];
	ssize_t n = read(fd, bytes, sizeof bytes);

	(void)what;
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) { /* the terminal is gone */
		loop_watch_free(take_ptr(&s->terminal));
		end(s);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		enum stream_act act = stream_key(&s->keys, bytes[i]);

		if (act == STREAM_SUBMIT)
			submit(s);
		else if (act == STREAM_INTERRUPT)
			interrupt(s);
		else if (act == STREAM_TYPED)
			file_write_all(STDOUT_FILENO, bytes + i, 1);
	}
	loop_timer_free(take_ptr(&s->escape));
	if (s->keys.state == STREAM_ESCAPE)
		s->escape = loop_after(s->loop, ESCAPE_MS, on_alone, s);
}

/* --- start and end ------------------------------------------------ */

static void
on_signal(int signo, void *arg)
{
	(void)signo;
	end(arg);
}

static void
on_reported(const struct child_result *result, void *arg)
{
	struct stream *s = arg;

	(void)result; /* it keeps in the spool what it cannot deliver */
	s->report = NULL;
	if (s->prompt != NULL)
		start_turn(s);
	else
		next_turn(s);
}

/* No turn begins before this is delivered. */
static void
report(struct stream *s, const char *event, const char *member,
    const char *word, const char *text)
{
	cleanup_json struct json_object *data = json_object_new_object();
	cleanup_buf struct buf input = BUF_INIT;
	cleanup_strv char **argv = strv_copy(s->spec->hook);
	struct child_spec spec = { .deadline_ms = REPORT_MS };

	if (member != NULL)
		json_set_string(data, member, word);
	if (text != NULL)
		json_set_string(data, "last_assistant_message", text);
	json_print(data, false, &input);
	xstrset(&argv[2], event); /* llmc hook EVENT */
	spec.argv = strv_const(argv);
	spec.input = input.data;
	spec.input_len = input.len;
	if (child_spawn(s->loop, &spec, on_reported, s, &s->report, NULL) < 0)
		loop_stop(s->loop, 1);
}

/* It runs all the time, is killed or cannot be started: then we end, too. */
static void
on_ended(const struct child_result *result, void *arg)
{
	struct stream *s = arg;
	cleanup_buf struct buf how = BUF_INIT;
	bool interrupted = s->interrupted;

	s->child = NULL;
	s->interrupted = false;
	s->start_error = result->start_error;
	if (s->line.len > 0)
		take_line(s);
	buf_clear(&s->line);
	if (s->spec->hook == NULL || s->ending || s->start_error != 0 ||
	    (!result->exited && !interrupted) ||
	    (!s->checked && result->status != 0)) {
		loop_stop(s->loop,
		    result->exited ? result->status : 128 + result->signal);
		return;
	}
	if (!s->checked) {
		s->checked = true;
		report(s, HOOK_EVENT_READY, NULL, NULL, NULL);
		return;
	}
	child_result_describe(result, &how);
	if (interrupted)
		report(s, "StopFailure", "error", HOOK_ERROR_INTERRUPTED, NULL);
	else if (result->status != 0)
		report(s, "StopFailure", "error", "",
		    s->failure != NULL ? s->failure : how.data);
	else /* it has reported the end of its turn, unless that was lost */
		report(s, "Notification", "notification_type", "idle_prompt",
		    NULL);
}

static void
start_turn(struct stream *s)
{
	cleanup_strv char **argv = strv_copy(s->spec->argv);
	cleanup_free char *prompt = take_ptr(&s->prompt);
	struct child_spec spec = { .input = prompt,
		.input_len = strlen(prompt),
		.merge_stderr = true,
		.said = on_said,
		.deadline_ms = FOREVER_MS };

	xstrset(&s->failure, NULL);
	if (s->session != NULL) {
		strv_add(&argv, "--resume");
		strv_add(&argv, s->session);
	}
	spec.argv = strv_const(argv);
	if (child_spawn(s->loop, &spec, on_ended, s, &s->child, NULL) < 0)
		loop_stop(s->loop, 1);
}

/* A prompt is reported before its process is started, which may take long to
 * report anything: how that ends is reported in any case. */
static void
next_turn(struct stream *s)
{
	static const char new[] = "--- a new conversation\n";

	if (s->child != NULL || s->report != NULL ||
	    strv_count(s->prompts) == 0)
		return;
	s->prompt = s->prompts[0];
	memmove(s->prompts, s->prompts + 1,
	    strv_count(s->prompts) * sizeof *s->prompts);
	if (strcmp(s->prompt, CLEAR) != 0) {
		report(s, "UserPromptSubmit", "prompt", s->prompt, NULL);
		return;
	}
	xstrset(&s->prompt, NULL);
	xstrset(&s->session, NULL);
	file_write_all(STDOUT_FILENO, new, sizeof new - 1);
	report(s, HOOK_EVENT_READY, NULL, NULL, NULL);
}

/* Keys come as they are pressed; newlines are printed as they always are. */
static void
open_terminal(struct stream *s)
{
	static const char hello[] = "\033[?2004h";
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &s->saved) == 0) {
		raw = s->saved;
		cfmakeraw(&raw);
		raw.c_oflag |= OPOST | ONLCR;
		s->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	}
	if (s->raw)
		file_write_all(STDOUT_FILENO, hello, sizeof hello - 1);
	s->terminal =
	    loop_watch_new(s->loop, STDIN_FILENO, LOOP_READ, on_terminal, s);
}

int
stream_run(const struct stream_spec *how, struct err *err)
{
	static const char bye[] = "\033[?2004l";
	struct stream s = { .spec = how,
		.input = -1,
		.unsent = BUF_INIT,
		.line = BUF_INIT,
		.keys = { .box = BUF_INIT, .sequence = BUF_INIT } };
	const char *const version[] = { how->argv[0], "--version", NULL };
	cleanup_fd int reads = -1, writes = -1;
	struct child_spec spec = { .argv = how->argv,
		.merge_stderr = true,
		.said = on_said,
		.deadline_ms = FOREVER_MS };
	int fds[2], r;

	if (how->resume != NULL && !gemini_can_resume(how->resume))
		return err_set(
		    err, -ENOENT, "no conversation %s to resume", how->resume);
	if (pipe2(fds, O_CLOEXEC) == -1)
		return err_errno(err, -errno, "cannot make a pipe");
	reads = fds[0];
	writes = s.input = fds[1];
	fcntl(writes, F_SETFL, O_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	spec.stdin_fd = reads;
	s.loop = loop_new();
	if (how->hook != NULL)
		spec.argv = version;
	r = child_spawn(s.loop, &spec, on_ended, &s, &s.child, err);
	if (r == 0) {
		close(take_fd(&reads));
		s.signals[0] = loop_signal_new(s.loop, SIGTERM, on_signal, &s);
		s.signals[1] = loop_signal_new(s.loop, SIGHUP, on_signal, &s);
		open_terminal(&s);
		xstrset(&s.session, how->resume);
		r = loop_run(s.loop);
	}
	if (s.start_error != 0)
		r = err_errno(err, s.start_error, "cannot run the agent %s",
		    how->argv[0]);
	if (s.raw) {
		file_write_all(STDOUT_FILENO, bye, sizeof bye - 1);
		tcsetattr(STDIN_FILENO, TCSANOW, &s.saved);
	}
	if (s.report != NULL)
		child_release(s.report);
	loop_watch_free(s.terminal);
	loop_watch_free(s.writable);
	loop_timer_free(s.escape);
	for (size_t i = 0; i < nitems(s.signals); i++)
		loop_signal_free(s.signals[i]);
	loop_free(s.loop);
	buf_release(&s.unsent);
	buf_release(&s.line);
	buf_release(&s.keys.box);
	buf_release(&s.keys.sequence);
	strv_free(s.prompts);
	free(s.prompt);
	free(s.session);
	free(s.failure);
	return r;
}
