/* SPDX-License-Identifier: ISC */

#include "fake-session.h"
#include "session-hook.h"
#include "transcript.h"

#define WAITERS_MAX 8

struct session {
	const struct session_host *host;
	struct session_events events;
	void *arg; /* of the events */
	struct session_record *record;
	char *name;
	enum session_phase phase;
	int64_t quiet_ms, tool_ms;
	bool typing; /* the record is being saved before a prompt is typed */
	struct loop_timer *end;
	struct {
		void (*fn)(void *arg);
		void *arg;
	} waiters[WAITERS_MAX];
	size_t waiter_count;
	struct transcript_parser *parser;
	char *prompt;
	bool cleared;
	int prompts, interrupts, launches;
};

static int64_t clear_ms;

/* --- for the test ---------------------------------------------------- */

void
fake_session_leave_remains(int64_t ms)
{
	clear_ms = ms;
}

void
fake_session_turn_ends(struct session *s, const char *last_words)
{
	s->record->busy = false;
	s->events.progressed(s->arg);
	s->events.turn_ended(s->arg, NULL, last_words);
	session_poke(s); /* with a prompt that came in the turn */
}

void
fake_session_turn_fails(struct session *s, const char *text)
{
	s->events.turn_failed(s->arg, "unknown", text);
}

void
fake_session_works(struct session *s)
{
	s->record->busy = true;
	s->events.works(s->arg, true);
}

void
fake_session_exits(struct session *s)
{
	if (s->phase != SESSION_UP)
		return;
	s->phase = SESSION_NONE;
	s->typing = false;
	s->host->forget(s->host->arg, s);
	s->record->ready = false;
	s->events.changed(s->arg);
	s->events.exited(s->arg, false);
}

void
fake_session_typed(struct session *s, const char *text)
{
	s->record->busy = true;
	s->events.typed(s->arg, text);
}

void
fake_session_progresses(struct session *s)
{
	s->tool_ms = clock_mono_ms();
	s->events.progressed(s->arg);
}

void
fake_session_is_quiet(struct session *s, int64_t ms)
{
	s->quiet_ms = ms;
}

void
fake_session_uses(struct session *s, int64_t tokens)
{
	cleanup_free char *line =
	    xasprintf("{\"type\":\"assistant\",\"message\":{\"id\":\"m%lld\","
		      "\"role\":\"assistant\",\"content\":[],\"usage\":"
		      "{\"input_tokens\":%lld,\"output_tokens\":0}}}",
		(long long)tokens, (long long)tokens);

	xstrset(&s->record->transcript, "/transcript");
	transcript_parser_free(s->parser);
	s->parser = transcript_parser_new();
	transcript_parser_line(s->parser, line, strlen(line));
	s->events.grew(s->arg, s->parser);
}

void
fake_session_reads(struct session *s, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *at, *newline;

	ck_assert_int_eq(file_read(path, 1 << 20, &text, NULL), 0);
	xstrset(&s->record->transcript, path);
	transcript_parser_free(s->parser);
	s->parser = transcript_parser_new();
	transcript_parser_since(s->parser, s->record->history_ms);
	for (at = text.data; (newline = strchr(at, '\n')) != NULL;
	     at = newline + 1)
		transcript_parser_line(s->parser, at, (size_t)(newline - at));
	s->events.grew(s->arg, s->parser);
}

void
fake_session_leaves(struct session *s)
{
	struct transcript *transcript = transcript_new(s->host->loop,
	    s->record->transcript, s->record->history_ms, NULL, NULL);

	xstrset(&s->record->transcript, NULL);
	s->events.left(s->arg, transcript);
}

const char *
fake_session_prompt(const struct session *s)
{
	return s->prompt != NULL ? s->prompt : "";
}

bool
fake_session_cleared(const struct session *s)
{
	return s->cleared;
}

int
fake_session_prompts(const struct session *s)
{
	return s->prompts;
}

int
fake_session_interrupts(const struct session *s)
{
	return s->interrupts;
}

int
fake_session_launches(const struct session *s)
{
	return s->launches;
}

/* --- session.h ------------------------------------------------------- */

struct session *
session_new(const struct session_host *host, const char *name, const char *role,
    struct session_record *record, const struct session_events *events,
    void *arg)
{
	struct session *s = xcalloc(1, sizeof *s);

	(void)role;
	s->host = host;
	s->events = *events;
	s->arg = arg;
	s->record = record;
	s->name = xasprintf("llmc-%s", name);
	return s;
}

void
session_free(struct session *s)
{
	s->host->forget(s->host->arg, s);
	loop_timer_free(s->end);
	transcript_parser_free(s->parser);
	free(s->prompt);
	free(s->name);
	free(s);
}

enum session_phase
session_phase(const struct session *s)
{
	return s->phase;
}

const char *
session_name(const struct session *s)
{
	return s->name;
}

static void
then(struct session *s, void (*fn)(void *arg))
{
	s->events.changed(s->arg);
	s->host->then(s->host->arg, s, fn, s);
}

static void
on_launched(void *arg)
{
	struct session *s = arg;

	s->phase = SESSION_UP;
	s->record->ready = true;
	s->events.changed(s->arg);
	s->events.ready(s->arg, "startup");
}

void
session_launch(struct session *s, const struct session_launch *launch)
{
	(void)launch;
	s->launches++;
	s->phase = SESSION_LAUNCHING;
	s->record->generation++;
	xstrset(&s->record->id, "session");
	xstrset(&s->record->transcript, NULL);
	then(s, on_launched);
}

int
session_adopt(struct session *s, pid_t pane_pid, int64_t start_timeout_ms)
{
	(void)s;
	(void)pane_pid;
	(void)start_timeout_ms;
	return -1;
}

static void
on_typed(void *arg)
{
	struct session *s = arg;
	cleanup_free char *receipt = take_ptr(&s->record->receipt);

	s->typing = false;
	if (s->phase != SESSION_UP || s->record->step == PROMPT_NONE)
		return;
	xstrset(&s->prompt, s->record->pending);
	s->prompts++;
	s->cleared = s->record->pending_clear;
	session_record_forget_pending(s->record);
	s->record->busy = true;
	s->events.submitted(s->arg, receipt);
}

void
session_poke(struct session *s)
{
	if (s->typing || s->phase != SESSION_UP ||
	    s->record->step == PROMPT_NONE || s->record->busy ||
	    !s->events.may_type(s->arg))
		return;
	s->typing = true;
	then(s, on_typed);
}

void
session_prompt(
    struct session *s, const char *text, const char *receipt, bool clear)
{
	s->record->step = PROMPT_PARKED;
	s->record->pending_clear = clear;
	xstrset(&s->record->pending, text);
	xstrset(&s->record->receipt, receipt);
	s->events.changed(s->arg);
}

bool
session_confirm(struct session *s)
{
	(void)s;
	return false;
}

void
session_interrupt(struct session *s)
{
	s->interrupts++;
	s->record->busy = false;
}

void
session_dismiss(struct session *s)
{
	(void)s; /* it opens no dialogs */
}

static void
on_end(void *arg)
{
	struct session *s = arg;
	size_t count = s->waiter_count;

	loop_timer_free(take_ptr(&s->end));
	s->phase = SESSION_NONE;
	s->waiter_count = 0;
	s->events.changed(s->arg);
	/* The first may free the session. */
	for (size_t i = 0; i < count; i++)
		if (s->waiters[i].fn != NULL)
			s->waiters[i].fn(s->waiters[i].arg);
}

void
session_end(struct session *s, void (*fn)(void *arg), void *arg)
{
	if (s->phase == SESSION_NONE) {
		if (fn != NULL)
			fn(arg);
		return;
	}
	s->waiters[s->waiter_count].fn = fn;
	s->waiters[s->waiter_count++].arg = arg;
	s->phase = SESSION_ENDING;
	s->typing = false;
	s->host->forget(s->host->arg, s);
	s->record->ready = false;
	if (s->end == NULL)
		s->end = loop_after(s->host->loop, 1, on_end, s);
}

void
session_clear(struct session *s, void (*fn)(void *arg), void *arg)
{
	if (clear_ms == 0) {
		fn(arg);
		return;
	}
	s->waiters[s->waiter_count].fn = fn;
	s->waiters[s->waiter_count++].arg = arg;
	s->phase = SESSION_ENDING;
	s->end = loop_after(s->host->loop, clear_ms, on_end, s);
}

const struct err *
session_left(const struct session *s)
{
	(void)s;
	return NULL;
}

void
session_kill(struct session *s)
{
	loop_timer_free(take_ptr(&s->end));
	s->phase = SESSION_NONE;
	s->record->ready = false;
}

void
session_screen(
    struct session *s, void (*fn)(const char *text, void *arg), void *arg)
{
	(void)s;
	fn("a screen", arg);
}

bool
session_hook(
    struct session *s, struct server_call *call, const struct hook_event *event)
{
	(void)s;
	(void)call;
	(void)event;
	return false;
}

struct json_object *
session_hook_stop_answer(const char *reason)
{
	return reason != NULL ? json_object_new_string(reason) : NULL;
}

struct json_object *
session_hook_tool_answer(const char *event, const char *text)
{
	(void)event;
	return json_object_new_string(text);
}

void
session_life(struct session *s, const struct proctree *tree,
    struct session_life *ret_life)
{
	(void)tree;
	*ret_life = (struct session_life){ .quiet_ms = s->quiet_ms,
		.tool_ms =
		    s->tool_ms == 0 ? INT64_MAX : clock_mono_ms() - s->tool_ms,
		.process = s->phase != SESSION_NONE,
		.tool_open = s->record->open_tools > 0 };
}

void
session_check(struct session *s)
{
	(void)s;
}

bool
session_is_watched(const struct session *s)
{
	(void)s;
	return true;
}

const struct transcript_parser *
session_transcript(const struct session *s)
{
	return s->parser;
}
