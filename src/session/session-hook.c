/* SPDX-License-Identifier: ISC */

/* Events that Claude Code reports for a session. Events of an older launch are
 * ignored, and so are duplicates. */
#include "base.h"
#include "id.h"
#include "prompt.h"
#include "session-hook.h"
#include "session-private.h"
#include "worker.h"

#define NOTIFICATION "<task-notification>"

/* Returns true if the owner answers the call. */
typedef bool
hook_fn(struct session *s, struct server_call *call, struct json_object *data);

/* The conversation that it has now. */
static void
take_conversation(
    struct session *s, const char *source, struct json_object *data)
{
	struct session_record *record = s->record;
	const char *id = json_string_or(data, "session_id", NULL);
	const char *transcript = json_string_or(data, "transcript_path", NULL);

	if (session_start_path_valid(record->projects, id, transcript)) {
		bool same;

		xstrset(&record->id, id);
		/* A resumed conversation in another file begins with a copy
		 * of its history, or is one that others have had before. */
		same = record->transcript != NULL &&
		    strcmp(record->transcript, transcript) == 0;
		if (!same)
			record->history_ms =
			    strcmp(source, "resume") == 0 ? clock_wall_ms() : 0;
		xstrset(&record->transcript, transcript);
	} else {
		log_debug(
		    "%s: %s of %s is not the file of a conversation below "
		    "%s: it is not read",
		    s->worker, transcript != NULL ? transcript : "nothing",
		    id != NULL ? id : "nothing",
		    record->projects != NULL ? record->projects : "/");
	}
	session_life_follow(s);
}

static bool
on_session_start(
    struct session *s, struct server_call *call, struct json_object *data)
{
	struct session_record *record = s->record;
	const char *source = json_string_or(data, "source", "startup");
	bool first = !s->reported;

	s->compacting = false;
	if (strcmp(source, "compact") == 0)
		return s->events.compacted(s->arg, call);
	s->reported = true;
	record->open_tools = 0;
	take_conversation(s, source, data);
	delivery_session_started(
	    record, strcmp(source, "clear") == 0, clock_wall_ms());
	if (strcmp(source, "startup") == 0)
		record->pending_clear = false; /* it is a new conversation
						* already */
	if (first) {
		session_deliver_afresh(s);
		session_deliver_hold(s);
	}
	s->events.changed(s->arg);
	session_tick_later(s, 1);
	s->events.ready(s->arg, source);
	return false;
}

/* The process will exit soon, or start another conversation. */
static bool
on_session_end(
    struct session *s, struct server_call *call, struct json_object *data)
{
	(void)call;
	/* /clear ends a conversation, not the session. */
	if (strcmp(json_string_or(data, "reason", ""), "clear") == 0)
		return false;
	s->record->ready = false;
	s->since_ms = clock_mono_ms();
	s->events.changed(s->arg);
	session_tick_later(s, 1);
	return false;
}

static bool
on_prompt(struct session *s, struct server_call *call, struct json_object *data)
{
	const char *prompt = json_string_or(data, "prompt", "");
	char receipt[PROMPT_RECEIPT_SIZE];

	(void)call;
	s->compacting = s->blank = false;
	/* Ignore its own notifications, and prompts with an old receipt. */
	if (strncmp(prompt, NOTIFICATION, strlen(NOTIFICATION)) == 0 ||
	    session_deliver_submitted(s, prompt) ||
	    prompt_receipt(prompt, receipt))
		return false;
	s->record->busy = true;
	s->events.changed(s->arg);
	s->events.typed(s->arg, prompt);
	return false;
}

static bool
on_tool_begins(
    struct session *s, struct server_call *call, struct json_object *data)
{
	(void)call;
	/* One that was denied does not end either. */
	s->record->open_tools += json_object_object_get(data, "denied") == NULL;
	return false;
}

static bool
on_tool_ends(
    struct session *s, struct server_call *call, struct json_object *data)
{
	(void)call;
	(void)data;
	if (s->record->open_tools > 0)
		s->record->open_tools--;
	s->tool_ms = clock_mono_ms();
	s->events.progressed(s->arg);
	return false;
}

static void
end_turn(struct session *s, struct server_call *call, const char *last_words)
{
	s->record->busy = false;
	s->events.changed(s->arg);
	s->events.turn_ended(s->arg, call, last_words);
}

static bool
on_notification(
    struct session *s, struct server_call *call, struct json_object *data)
{
	const char *type = json_string_or(data, "notification_type", "");
	struct session_record *record = s->record;

	(void)call;
	if (strcmp(type, "permission_prompt") == 0)
		s->events.asks_permission(s->arg);
	/* It has been idle for a while, but we thought it was working: the end
	 * of its turn was not reported. */
	if (strcmp(type, "idle_prompt") == 0 && record->busy &&
	    !s->background && record->step == PROMPT_NONE) {
		log_debug(
		    "%s: the end of its turn was not reported", s->worker);
		s->compacting = false;
		record->open_tools = 0;
		end_turn(s, NULL, NULL);
	}
	return false;
}

static bool
on_stop(struct session *s, struct server_call *call, struct json_object *data)
{
	struct json_object *tasks = NULL;

	s->record->open_tools = 0;
	s->own_interrupt = false;
	s->background =
	    json_object_object_get_ex(data, "background_tasks", &tasks) &&
	    json_object_is_type(tasks, json_type_array) &&
	    json_object_array_length(tasks) > 0;
	s->events.progressed(s->arg);
	if (s->compacting || s->background)
		return false;
	/* A turn that ends must have begun: that hook may have been lost. */
	if (!s->record->busy)
		session_deliver_confirm(s);
	end_turn(s, call, json_string_or(data, "last_assistant_message", NULL));
	return true;
}

static bool
on_stop_failure(
    struct session *s, struct server_call *call, struct json_object *data)
{
	const char *error = json_string_or(data, "error", "");
	bool interrupted = strcmp(error, HOOK_ERROR_INTERRUPTED) == 0;
	bool ours = interrupted && (s->own_interrupt || !s->record->busy);

	(void)call;
	s->record->open_tools = 0;
	s->record->busy = false;
	s->events.changed(s->arg);
	if (interrupted)
		s->own_interrupt = false;
	if (interrupted && !ours)
		s->events.interrupted(s->arg);
	else if (!interrupted)
		s->events.turn_failed(s->arg, error,
		    json_string_or(data, "last_assistant_message", ""));
	return false;
}

static bool
on_compact(
    struct session *s, struct server_call *call, struct json_object *data)
{
	(void)call;
	(void)data;
	s->compacting = true;
	return false;
}

static bool
on_tools(struct session *s, struct server_call *call, struct json_object *data)
{
	(void)call;
	(void)data;
	session_deliver_release(s);
	return false;
}

/* It asks for our tools when it starts, and again after /clear. Its
 * conversation is named with its first prompt. */
static bool
on_ready(struct session *s, struct server_call *call, struct json_object *data)
{
	struct session_record *record = s->record;
	bool first = !s->reported, cleared = record->step == PROMPT_CLEARING;

	(void)call;
	(void)data;
	if (!first && !cleared)
		return false;
	s->reported = s->listed = true;
	record->open_tools = 0;
	s->blank = cleared || record->transcript == NULL;
	delivery_session_started(record, cleared, clock_wall_ms());
	if (first) {
		if (!s->resumed)
			record->pending_clear = false;
		session_life_follow(s);
		session_deliver_afresh(s);
	}
	s->events.changed(s->arg);
	session_tick_later(s, 1);
	s->events.ready(s->arg,
	    !first         ? "clear" :
		s->resumed ? "resume" :
			     "startup");
	return false;
}

static bool
on_named(struct session *s, struct server_call *call, struct json_object *data)
{
	const char *transcript = json_string_or(data, "transcript_path", "");

	(void)call;
	/* One that was resumed is followed since the start. */
	if (s->transcript != NULL && s->record->transcript != NULL &&
	    strcmp(s->record->transcript, transcript) == 0)
		return false;
	take_conversation(s, json_string_or(data, "source", ""), data);
	s->events.changed(s->arg);
	return false;
}

static bool
on_life(struct session *s, struct server_call *call, struct json_object *data)
{
	(void)s;
	(void)call;
	(void)data;
	return false;
}

static hook_fn *const handlers[HOOK_KIND_COUNT] = {
	[HOOK_SESSION_START] = on_session_start,
	[HOOK_SESSION_END] = on_session_end,
	[HOOK_PROMPT] = on_prompt,
	[HOOK_TOOL_BEGINS] = on_tool_begins,
	[HOOK_TOOL_ENDS] = on_tool_ends,
	[HOOK_NOTIFICATION] = on_notification,
	[HOOK_STOP] = on_stop,
	[HOOK_STOP_FAILURE] = on_stop_failure,
	[HOOK_COMPACT] = on_compact,
	[HOOK_TOOLS] = on_tools,
	[HOOK_READY] = on_ready,
	[HOOK_NAMED] = on_named,
	[HOOK_LIFE] = on_life,
};

/* Check a ring of ids: a hook that spooled an event may also have delivered it
 * directly. */
static bool
seen_before(struct session *s, const char *id)
{
	uint64_t hash = id_hash64(id);

	for (size_t i = 0; i < SESSION_SEEN_MAX; i++)
		if (s->seen[i] == hash)
			return true;
	s->seen[s->seen_next] = hash;
	s->seen_next = (s->seen_next + 1) % SESSION_SEEN_MAX;
	return false;
}

/* Ignore events of a session that is being ended. */
static bool
is_heard(struct session *s, const struct hook_event *event)
{
	enum session_phase phase = session_phase(s);

	return (phase == SESSION_LAUNCHING || phase == SESSION_UP) &&
	    strcmp(event->worker, s->worker) == 0 &&
	    event->generation == s->record->generation &&
	    handlers[event->kind] != NULL && !seen_before(s, event->id);
}

/* A subagent may outlive the turn of its conversation. */
static bool
is_work(const struct hook_event *event)
{
	return (event->kind == HOOK_PROMPT || event->kind == HOOK_TOOL_BEGINS ||
		   event->kind == HOOK_TOOL_ENDS || event->kind == HOOK_STOP) &&
	    json_string_or(event->data, "agent_id", NULL) == NULL;
}

bool
session_hook(
    struct session *s, struct server_call *call, const struct hook_event *event)
{
	if (!is_heard(s, event)) {
		log_debug(
		    "hook %s of %s is not for us", event->event, event->worker);
		return false;
	}
	log_debug("hook %s of %s", event->event, s->worker);
	s->hook_ms = clock_mono_ms();
	if (s->record->step != PROMPT_NONE)
		session_tick_later(s, 1);
	if (is_work(event))
		s->events.works(s->arg, event->kind != HOOK_PROMPT);
	return handlers[event->kind](s, call, event->data);
}

struct json_object *
session_hook_stop_answer(const char *reason)
{
	struct json_object *answer;

	if (reason == NULL)
		return NULL;
	answer = json_object_new_object();
	json_set_string(answer, "decision", "block");
	json_set_string(answer, "reason", reason);
	return answer;
}

struct json_object *
session_hook_tool_answer(const char *event, const char *text)
{
	struct json_object *answer = json_object_new_object();
	struct json_object *output = json_object_new_object();

	json_set_string(output, "hookEventName", event);
	json_set_string(output, "additionalContext", text);
	json_set(answer, "hookSpecificOutput", output);
	return answer;
}
