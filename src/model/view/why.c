/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "event.h"
#include "json-short.h"
#include "ladder.h"
#include "moment.h"
#include "plan-goal.h"
#include "plan-node.h"
#include "plan.h"
#include "schema.h"
#include "why.h"

#define WORDS_MAX     300 /* bytes of a reason */
#define SHA_LEN       7
#define WAITS_MAX     5 /* nodes that are named */
#define WHY_LANDED    "accept_success"
#define TASK_FINISHED "task_finished"
#define STALL         "stall"
#define WORKER_MOVED  "worker_state_transition"

/* What an event says; its reason follows after a colon. */
static const struct {
	const char *type, *words;
} sentences[] = {
	{ "assignment.queued", "waits to be sent" },
	{ "assignment.active", "makes progress" },
	{ "assignment.stalled", "stalled" },
	{ "assignment.blocked", "blocked" },
	{ "assignment.escalated", "a person is needed" },
	{ "assignment.replan", "the planner was asked for smaller nodes" },
	{ "assignment.done", "done" },
	{ "assignment.cancelled", "ended without a result" },
	{ "goal.created", "the goal was created" },
	{ "goal.active", "the goal is active" },
	{ "goal.paused", "the goal is paused" },
	{ "goal.completed", "the goal is completed" },
	{ "goal.cancelled", "the goal is cancelled" },
	{ "goal.archived", "the goal is archived" },
	{ "plan.generated", "the plan was made" },
	{ "plan.drafted", "a draft of another plan was made" },
	{ "plan.created", "the plan was created" },
	{ "plan.updated", "the plan was changed" },
	{ "plan.review_needed", "an agent asked for a review of the plan" },
	{ "task_assigned", "a worker began the task" },
	{ "task_completed", "its worker has ended its work" },
	{ "task_retry", "it will be tried again" },
	{ TASK_FINISHED, "the task has ended" },
	{ "landing_queued", "it waits to land" },
	{ WHY_LANDED, "it landed" },
	{ "accept_failure", "it did not land" },
	{ "sent_back", "its worker was sent back to it" },
	{ STALL, "its worker shows no sign of life" },
	{ WORKER_MOVED, "its worker changed" },
};

/* What was sent. */
static const struct {
	const char *action, *words;
} actions[] = {
	{ "assign", "the work was sent" },
	{ "nudge", "its status was asked for" },
	{ "follow_up", "the missing update was asked for" },
	{ "resend", "the last message was sent again" },
	{ "reassign", "a fresh worker got the work" },
	{ "escalate", "a person is needed" },
};

/* The steps of the ladder (ladder.h), for what was found in the work, and for
 * silence. */
static const struct {
	const char *found, *silent;
} steps[STEP_COUNT] = {
	[STEP_NONE] = { "its work was looked at", "nothing was done" },
	[STEP_LOG] = { "it was noted about its work", "it was noted" },
	[STEP_WARN] = { "its worker was warned", "it was warned" },
	[STEP_CHECK] = { "its work is to be checked as it is",
	    "its work is to be checked as it is" },
	[STEP_REDIRECT] = { "its worker was told to change its approach",
	    "it was interrupted and told to continue" },
	[STEP_RESTART] = { "a fresh session goes on with it",
	    "its session was restarted" },
	[STEP_RETRY] = { "a new attempt begins", "a new attempt begins" },
	[STEP_PAUSE] = { "it waits for a person", "it waits for a person" },
};

/* Where the reason of an event may be. */
static const char *const reason_keys[] = { "reason", "summary", "what", "text",
	"error", "message" };

static void
add_words(struct buf *out, const char *words)
{
	size_t len = strlen(words), part = text_cut(words, len, WORDS_MAX);

	text_add_words(out, words, part);
	if (part < len)
		buf_adds(out, "...");
}

static const char *
action_words(const char *action)
{
	for (size_t i = 0; action != NULL && i < nitems(actions); i++)
		if (strcmp(actions[i].action, action) == 0)
			return actions[i].words;
	return "a message was sent";
}

static const char *
result_words(enum dispatch_result result)
{
	switch (result) {
	case DISPATCH_ACCEPTED:
		return "it was received";
	case DISPATCH_OK:
		return "it was received, and its turn ended";
	case DISPATCH_TIMEOUT:
		return "nothing shows that it was received";
	case DISPATCH_ERROR:
		return "it could not be sent";
	default:
		return "it is being sent";
	}
}

static const char *
data_string(const struct why_event *event, const char *key)
{
	const char *s =
	    event->data != NULL ? json_string_or(event->data, key, NULL) : NULL;

	return s != NULL && s[0] != '\0' ? s : NULL;
}

static void
add_reason(const struct why_event *event, struct buf *out)
{
	const char *reason;

	for (size_t i = 0; i < nitems(reason_keys); i++) {
		reason = data_string(event, reason_keys[i]);
		if (reason == NULL)
			continue;
		buf_adds(out, ": ");
		add_words(out, reason);
		return;
	}
}

/* "the task has ended, landed", "it landed as 1234567" */
static void
add_detail(const struct why_event *event, struct buf *out)
{
	const char *outcome = data_string(event, "outcome");
	const char *commit = data_string(event, "commit_sha");
	const char *action = data_string(event, "action");
	const char *from = data_string(event, "from_state");
	const char *to = data_string(event, "to_state");
	unsigned step = STEP_NONE;

	if (strcmp(event->type, TASK_FINISHED) == 0 && outcome != NULL) {
		buf_adds(out, ", ");
		add_words(out, outcome);
	} else if (strcmp(event->type, WHY_LANDED) == 0 && commit != NULL) {
		buf_adds(out, " as ");
		text_add_visible(out, commit, strnlen(commit, SHA_LEN), false);
	} else if (strcmp(event->type, STALL) == 0 && action != NULL &&
	    word_find(progress_step_words, action, &step)) {
		buf_addf(out, ", and %s", steps[step].silent);
	} else if (strcmp(event->type, WORKER_MOVED) == 0 && from != NULL &&
	    to != NULL) {
		buf_adds(out, " from ");
		add_words(out, from);
		buf_adds(out, " to ");
		add_words(out, to);
	}
}

static void
add_dispatch_end(const struct why_event *event, struct buf *out)
{
	const char *name = data_string(event, "result");
	const char *action = data_string(event, "action");
	unsigned result = DISPATCH_PENDING;

	/* Whether a person has got it stands with the ask. */
	if (text_is(action, "escalate")) {
		buf_adds(out, "it is in llmc asks");
		return;
	}
	if (name != NULL)
		word_find(dispatch_result_words, name, &result);
	buf_adds(out, result_words((enum dispatch_result)result));
}

static const char *
known_words(const char *type)
{
	for (size_t i = 0; i < nitems(sentences); i++)
		if (strcmp(sentences[i].type, type) == 0)
			return sentences[i].words;
	return NULL;
}

void
why_sentence(const struct why_event *event, struct buf *out)
{
	const char *words = known_words(event->type);
	const char *status, *id, *action;
	unsigned step = STEP_NONE;

	if (strcmp(event->type, "assignment.dispatched") == 0) {
		buf_adds(out, action_words(data_string(event, "action")));
		if (event->worker != NULL) {
			buf_adds(out, ", ");
			add_words(out, event->worker);
		}
		id = data_string(event, "dispatchId");
		if (id != NULL) {
			buf_adds(out, " (");
			add_words(out, id);
			buf_addc(out, ')');
		}
	} else if (strcmp(event->type, "work.update") == 0) {
		status = data_string(event, "status");
		buf_adds(out, "it reported");
		if (status != NULL) {
			buf_addc(out, ' ');
			add_words(out, status);
		}
	} else if (text_begins(event->type, "work.")) {
		/* "work.in_progress" -> "S1.1 is in progress" */
		add_words(
		    out, event->node_id != NULL ? event->node_id : "a node");
		buf_adds(out, " is ");
		for (const char *c = strchr(event->type, '.') + 1; *c != '\0';
		     c++)
			buf_addc(out, *c == '_' ? ' ' : *c);
	} else if (strcmp(event->type, "dispatch.ended") == 0) {
		add_dispatch_end(event, out);
	} else if (strcmp(event->type, "oversight") == 0) {
		action = data_string(event, "action");
		if (action != NULL)
			word_find(progress_step_words, action, &step);
		buf_adds(out, steps[step].found);
	} else if (words != NULL) {
		buf_adds(out, words);
		add_detail(event, out);
	} else {
		const char *type = event->type;
		size_t start = out->len;

		/* The name of an event that is not known here. */
		add_words(out, type);
		for (size_t i = start; i < out->len; i++)
			if (out->data[i] == '.' || out->data[i] == '_')
				out->data[i] = ' ';
	}
	add_reason(event, out);
}

static void
add_ago(struct buf *out, int64_t ts_ms, int64_t now_ms)
{
	if (ts_ms >= now_ms) {
		buf_adds(out, "now");
		return;
	}
	moment_add_age(out, now_ms - ts_ms);
	buf_adds(out, " ago");
}

void
why_chain(const struct why_event *events, size_t count, int64_t now_ms,
    struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT, next = BUF_INIT;
	size_t same;

	for (size_t i = 0; i < count; i += same) {
		buf_clear(&line);
		why_sentence(&events[i], &line);
		for (same = 1; i + same < count; same++) {
			buf_clear(&next);
			why_sentence(&events[i + same], &next);
			if (strcmp(line.data, next.data) != 0)
				break;
		}
		add_ago(out, events[i].ts_ms, now_ms);
		buf_addf(out, ": %s", line.data);
		if (same > 1) {
			buf_addf(out, " (%zu times, last ", same);
			add_ago(out, events[i + same - 1].ts_ms, now_ms);
			buf_addc(out, ')');
		}
		buf_addc(out, '\n');
	}
}

/* --- the four questions ----------------------------------------------- */

/* The newest event of a type about the assignment; NULL = none. */
static const struct why_event *
newest(const struct plan_work *work, const struct why_event *events,
    size_t count, const char *type)
{
	for (size_t i = count; i > 0; i--) {
		const struct why_event *e = &events[i - 1];

		if (strcmp(e->type, type) == 0 &&
		    (e->assignment_id == NULL ||
			strcmp(e->assignment_id, work->id) == 0))
			return e;
	}
	return NULL;
}

static char *
answer_stalled(const struct plan_work *work, const struct why_event *events,
    size_t count, int64_t now_ms)
{
	const struct why_event *event =
	    newest(work, events, count, "assignment.stalled");
	cleanup_buf struct buf out = BUF_INIT;

	if (work->status == ASSIGNMENT_CANCELLED)
		return xstrdup("no, nobody works on it");
	if (work->status != ASSIGNMENT_STALLED &&
	    work->status != ASSIGNMENT_BLOCKED) {
		buf_addf(
		    &out, "no, it is %s", assignment_status_name(work->status));
		return buf_take(&out);
	}
	buf_addf(&out, "yes, it is %s", assignment_status_name(work->status));
	if (work->status == ASSIGNMENT_BLOCKED &&
	    work->blocked_reason != NULL) {
		buf_adds(&out, ": ");
		add_words(&out, work->blocked_reason);
		if (work->escalated)
			buf_adds(&out, "; a person is needed");
	} else if (event != NULL) {
		buf_adds(&out, " since ");
		add_ago(&out, event->ts_ms, now_ms);
		add_reason(event, &out);
	}
	return buf_take(&out);
}

static char *
answer_dispatch(const struct plan_node *node, int64_t now_ms)
{
	const struct plan_dispatch *last = plan_node_last_dispatch(node);
	cleanup_buf struct buf out = BUF_INIT;

	if (last == NULL)
		return xstrdup("nothing was sent yet");
	add_ago(&out, last->ts_ms, now_ms);
	buf_addf(&out, ": %s (%s); %s", action_words(last->action), last->id,
	    last->mode == DISPATCH_ESCALATE ? "see: llmc status" :
					      result_words(last->result));
	if (last->notes != NULL) {
		buf_adds(&out, "; ");
		add_words(&out, last->notes);
	}
	return buf_take(&out);
}

static void
add_evidence(const struct plan_crystal *crystal, struct buf *out)
{
	static const char *const names[] = { "commit", "file", "test run" };
	const size_t counts[] = { strv_count(crystal->evidence.commits),
		strv_count(crystal->evidence.files_touched),
		strv_count(crystal->evidence.tests_run) };

	for (size_t i = 0; i < nitems(counts); i++)
		if (counts[i] > 0)
			buf_addf(out, ", %zu %s%s", counts[i], names[i],
			    counts[i] == 1 ? "" : "s");
}

static char *
answer_progress(const struct plan_work *work,
    const struct plan_crystal *crystal, const struct why_event *events,
    size_t count, int64_t now_ms)
{
	const struct why_event *event =
	    newest(work, events, count, "assignment.active");
	cleanup_buf struct buf out = BUF_INIT;

	if (work->last_activity_ms > 0) {
		buf_adds(&out, "activity ");
		add_ago(&out, work->last_activity_ms, now_ms);
		if (event != NULL)
			add_reason(event, &out);
	}
	if (crystal != NULL) {
		buf_addf(&out, "%sreport ", out.len > 0 ? "; " : "");
		add_ago(&out, crystal->created_ms, now_ms);
		if (crystal->summary != NULL) {
			buf_adds(&out, ": ");
			add_words(&out, crystal->summary);
		}
		add_evidence(crystal, &out);
	}
	if (out.len == 0)
		buf_adds(&out, "nothing yet");
	return buf_take(&out);
}

char *
why_now(const char *task, const char *status, const struct why_event *events,
    size_t count)
{
	bool done = status == NULL || strcmp(status, "done") == 0;
	const char *outcome = NULL;

	for (size_t i = count; task != NULL && i-- > 0;) {
		const struct why_event *e = &events[i];
		cleanup_buf struct buf out = BUF_INIT;

		if (!text_is(e->task, task))
			continue;
		if (done && strcmp(e->type, WHY_LANDED) == 0 &&
		    data_string(e, "commit_sha") != NULL) {
			buf_adds(&out, "done: landed");
			add_detail(e, &out);
			return buf_take(&out);
		}
		if (outcome == NULL && strcmp(e->type, TASK_FINISHED) == 0)
			outcome = data_string(e, "outcome");
		if (strcmp(e->type, "task_assigned") == 0)
			break;
	}
	if (outcome != NULL &&
	    (status == NULL || strcmp(status, "cancelled") == 0))
		return xstrdup(outcome);
	return status != NULL ? xstrdup(status) : NULL;
}

/* What it waits for, of all that was counted so far. */
static void
add_waited(struct buf *out, size_t count, const struct plan_node *node)
{
	if (count >= WAITS_MAX)
		return;
	buf_adds(out, count > 0 ? ", " : "");
	add_words(out, node->id);
	buf_adds(out, " (");
	for (const char *c = node_status_name(node->status); *c != '\0'; c++)
		buf_addc(out, *c == '_' ? ' ' : *c);
	buf_addc(out, ')');
}

/* Dependencies of the node and of those above it that are not fulfilled. */
static size_t
add_dependencies(
    const struct plan *plan, const struct plan_node *node, struct buf *out)
{
	size_t count = 0;

	for (; node != NULL; node = node->parent)
		for (char **d = node->depends_on; d != NULL && *d != NULL;
		     d++) {
			const struct plan_node *on = plan_find(plan, *d);

			if (on == NULL && count < WAITS_MAX)
				buf_addf(out, "%s%s (which does not exist)",
				    count > 0 ? ", " : "", *d);
			else if (on != NULL && !node_status_open(on->status))
				continue;
			else if (on != NULL)
				add_waited(out, count, on);
			count++;
		}
	return count;
}

static size_t
add_children(const struct plan_node *node, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < node->child_count; i++)
		if (node_status_open(node->children[i]->status))
			add_waited(out, count++, node->children[i]);
	return count;
}

/* The node above it, or itself, that a person has blocked; NULL = none. */
static const struct plan_node *
find_blocked(const struct plan_node *node)
{
	while (node != NULL && node->status != NODE_BLOCKED)
		node = node->parent;
	return node;
}

/* An open node without a worker: what must happen first. */
static void
add_waiting(const struct plan *plan, const struct plan_node *node, bool is_auto,
    struct buf *out)
{
	const struct plan_node *blocked = find_blocked(node);
	cleanup_buf struct buf names = BUF_INIT;
	size_t count = add_dependencies(plan, node, &names);

	if (count == 0)
		count = add_children(node, &names);
	if (plan->goal->status == GOAL_PAUSED)
		buf_addf(out,
		    ": its goal is paused; continue it with: llmc goal resume "
		    "%s",
		    plan->goal->id);
	else if (blocked != NULL)
		buf_addf(out,
		    ": %s is blocked; unblock it with: llmc goal node unblock %s",
		    blocked->id, blocked->id);
	else if (count > WAITS_MAX)
		buf_addf(out, ": waits for %s and %zu more", names.data,
		    count - WAITS_MAX);
	else if (count > 0)
		buf_addf(out, ": waits for %s", names.data);
	else if (!plan_node_is_assigned(node))
		buf_adds(out,
		    is_auto ?
			": ready; waits for a free auto worker" :
			": ready; no auto worker is there: llmc up --auto");
}

char *
why_node_now(
    const struct plan *plan, const struct plan_node *node, bool is_auto)
{
	cleanup_buf struct buf out = BUF_INIT;
	char *const *commits = node->evidence.commits;
	size_t count = strv_count(commits);

	for (const char *c = node_status_name(node->status); *c != '\0'; c++)
		buf_addc(&out, *c == '_' ? ' ' : *c);
	if (node->status == NODE_BLOCKED && node->blocked_reason != NULL) {
		buf_adds(&out, ": ");
		add_words(&out, node->blocked_reason);
	} else if (node->status == NODE_DONE && count > 0) {
		buf_adds(&out, ": landed as ");
		text_add_visible(&out, commits[count - 1],
		    strnlen(commits[count - 1], SHA_LEN), false);
	} else if (node_status_open(node->status) &&
	    (node->status != NODE_IN_PROGRESS || node->child_count > 0)) {
		add_waiting(plan, node, is_auto, &out);
	}
	return buf_take(&out);
}

void
why_answer(const struct plan_node *node, const struct plan_crystal *crystal,
    const struct why_event *events, size_t count, int64_t now_ms,
    struct why_answers *ret_answers)
{
	cleanup_buf struct buf out = BUF_INIT;

	ret_answers->stalled =
	    answer_stalled(&node->work, events, count, now_ms);
	ret_answers->dispatch = answer_dispatch(node, now_ms);
	if (node->work.backoff_until_ms > now_ms) {
		buf_adds(&out, "no more messages for ");
		text_add_duration(&out, node->work.backoff_until_ms - now_ms);
	} else {
		buf_adds(&out, "none");
	}
	buf_addf(&out, "; %d message%s without progress",
	    node->work.retry_count, node->work.retry_count == 1 ? "" : "s");
	ret_answers->backoff = buf_take(&out);
	ret_answers->progress =
	    answer_progress(&node->work, crystal, events, count, now_ms);
}

void
why_answers_release(struct why_answers *answers)
{
	free(answers->stalled);
	free(answers->dispatch);
	free(answers->backoff);
	free(answers->progress);
	*answers = (struct why_answers){ 0 };
}

#define TEXT_BYTES 2000
#define LINE_BYTES 300

const char *const replay_kinds[] = { "asked", "said", "did", "failed", "event",
	NULL };

const struct schema replay_entry_schema =
    SCHEMA_SHAPE(SCHEMA_OR_NULL("at", NUMBER, "seconds since 1970"),
	SCHEMA_IS("kind", STRING, "event: of llmc, else of its agent",
	    .choices = replay_kinds),
	SCHEMA_IS("text", STRING, NULL));

/* at_ms 0 = not known. Long texts are cut, one_line makes them shorter. */
static void
add(struct json_object *list, int64_t at_ms, const char *kind,
    const char *prefix, const char *text, bool one_line)
{
	struct json_object *entry;
	cleanup_buf struct buf words = BUF_INIT, shown = BUF_INIT;
	size_t len, cut;

	if (json_object_array_length(list) >= REPLAY_ENTRIES_MAX)
		return;
	buf_adds(&words, prefix);
	if (one_line)
		text_add_line(&words, text, strlen(text));
	else
		buf_adds(&words, text + strspn(text, " \t\r\n"));
	len = words.len;
	/* Commands of the program, such as /clear, are not what was asked. */
	if (len == 0 || text_begins(words.data, "<command-") ||
	    text_begins(words.data, "<local-command-"))
		return;
	while (len > 0 && strchr(" \t\r\n", words.data[len - 1]) != NULL)
		len--;
	if (len == 0)
		return;
	cut = text_cut(words.data, len, one_line ? LINE_BYTES : TEXT_BYTES);
	text_add_visible(&shown, words.data, cut, true);
	if (cut < len)
		buf_adds(&shown, " ...");
	entry = json_object_new_object();
	json_set(entry, "at",
	    at_ms > 0 ? json_object_new_double((double)at_ms / 1000) : NULL);
	json_set_string(entry, "kind", kind);
	json_set_string(entry, "text", shown.data);
	json_object_array_add(list, entry);
}

/* "Bash: make test": the name, and what says most of its input. */
static void
add_tool(struct json_object *list, int64_t at_ms, struct json_object *part)
{
	static const char *const keys[] = { "command", "file_path", "path",
		"notebook_path", "pattern", "query", "url", "description",
		"prompt", "message", "subject", "cmd" };
	struct json_object *input = json_member(part, "input");
	cleanup_buf struct buf name = BUF_INIT;
	const char *said = NULL;

	for (size_t i = 0; i < nitems(keys) && said == NULL; i++)
		said = json_string_or(input, keys[i], NULL);
	buf_addf(&name, "%.80s%s", json_string_or(part, "name", "?"),
	    said != NULL ? ": " : "");
	add(list, at_ms, "did", name.data, said != NULL ? said : "", true);
}

/* A tool's result is a text, or a list of parts with texts; only errors are
 * told. */
static void
add_result(struct json_object *list, int64_t at_ms, struct json_object *part)
{
	struct json_object *content = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	if (!json_bool_or(part, "is_error", false))
		return;
	json_object_object_get_ex(part, "content", &content);
	if (json_object_is_type(content, json_type_string))
		buf_adds(&text, json_object_get_string(content));
	else if (json_object_is_type(content, json_type_array))
		JSON_EACH (row, content)
			buf_addf(
			    &text, "%s\n", json_string_or(row, "text", ""));
	add(list, at_ms, "failed", "", text.data, true);
}

void
replay_add_line(struct json_object *list, struct json_object *line)
{
	const char *who = json_string_or(line, "type", "");
	bool asks = strcmp(who, "user") == 0;
	struct json_object *message = NULL, *content = NULL;
	int64_t at_ms = 0;

	if ((!asks && strcmp(who, "assistant") != 0) ||
	    json_bool_or(line, "isMeta", false) ||
	    json_bool_or(line, "isSidechain", false) ||
	    json_get_object(line, "", "message", &message, NULL) < 0)
		return;
	moment_parse(json_string_or(line, "timestamp", ""), &at_ms);
	json_object_object_get_ex(message, "content", &content);
	if (json_object_is_type(content, json_type_string))
		add(list, at_ms, asks ? "asked" : "said", "",
		    json_object_get_string(content), false);
	if (!json_object_is_type(content, json_type_array))
		return;
	JSON_EACH (part, content) {
		const char *type = json_string_or(part, "type", "");

		if (strcmp(type, "text") == 0)
			add(list, at_ms, asks ? "asked" : "said", "",
			    json_string_or(part, "text", ""), false);
		else if (strcmp(type, "tool_use") == 0)
			add_tool(list, at_ms, part);
		else if (strcmp(type, "tool_result") == 0)
			add_result(list, at_ms, part);
	}
}

void
replay_add_event(struct json_object *list, struct json_object *record)
{
	struct json_object *event = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	int64_t at_ms = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0)
		return;
	moment_parse(json_string_or(record, "timestamp", ""), &at_ms);
	event_words_of(event, &words);
	add(list, at_ms, "event", "", words.data, false);
}

void
replay_add_note(struct json_object *list, struct json_object *note)
{
	const char *detail = json_string_or(note, "detail", NULL);
	cleanup_buf struct buf what = BUF_INIT;

	buf_addf(&what, "%.80s%s", json_string_or(note, "what", ""),
	    detail != NULL ? ": " : "");
	add(list, json_int_or(note, "at_unix", 0) * 1000, "event", what.data,
	    detail != NULL ? detail : "", false);
}

struct placed {
	struct json_object *entry;
	double at;
	size_t place;
};

static int
by_time(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

void
replay_sort(struct json_object *list)
{
	size_t count = json_object_array_length(list);
	cleanup_free struct placed *all = xcalloc(count + 1, sizeof *all);
	double last = 0;

	for (size_t i = 0; i < count; i++) {
		struct json_object *at = NULL;

		all[i].entry =
		    json_object_get(json_object_array_get_idx(list, i));
		json_object_object_get_ex(all[i].entry, "at", &at);
		if (at != NULL)
			last = json_object_get_double(at);
		all[i].at = last;
		all[i].place = i;
	}
	qsort(all, count, sizeof *all, by_time);
	for (size_t i = 0; i < count; i++)
		json_object_array_put_idx(list, i, all[i].entry);
}
