/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "natural.h"
#include "schema.h"
#include "view-doc.h"
#include "view-needs.h"
#include "view-row.h"

/* Keys order the needs: by rank, then by who. */
struct making {
	struct json_object *view, *needs;
};

/* Ranks from here on are no work that is not done: something to look at. */
#define RANK_FYI 'i'

/* command may be NULL. */
static void
add_need(const struct making *m, char rank, const char *what, const char *who,
    const char *words, const char *command)
{
	struct json_object *row = json_object_new_object();
	cleanup_free char *key = xasprintf("%c-%s", rank, who);

	json_set_string(row, "what", what);
	json_set_string(row, "who", who);
	view_row_line(
	    row, "words", words != NULL ? words : what, VIEW_REASON_MAX);
	json_set_string(row, "command", command);
	json_set_bool(row, "unfinished", rank < RANK_FYI);
	json_set(m->needs, key, row);
}

static bool
is(struct json_object *row, const char *member, const char *word)
{
	return strcmp(json_string_or(row, member, ""), word) == 0;
}

static bool
holds(struct json_object *row, const char *why)
{
	struct json_object *list = json_object_object_get(row, "paused_for");

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(list, i)),
			why) == 0)
			return true;
	return false;
}

/* --- everything ------------------------------------------------------ */

static void
add_failure(const struct making *m, struct json_object *head)
{
	struct json_object *failure = json_object_object_get(head, "failure");

	if (failure != NULL)
		add_need(m, 'a', "failure",
		    json_string_or(failure, "class", "autod"),
		    json_string_or(failure, "words", NULL), "llmc failures");
}

/* What ended the overseer; it is stopped with 0, and forced to with 130. */
static const struct {
	int64_t status;
	const char *words, *command;
} overseer_ends[] = {
	{ 0, NULL, NULL },
	{ 130, NULL, NULL },
	{ 3, "it ended: failures went on and on", "llmc failures" },
	{ 4, "it ended: a repair needs a person", "llmc overseer --check" },
	{ 5, "it ended: a failure could not be repaired", "llmc failures" },
	{ 1, "it ended with an error of its own", "llmc overseer" },
};

/* An overseer that has ended by itself leaves the daemon alone. A run that was
 * begun later, without one, is not its business. */
static void
add_overseer(const struct making *m, struct json_object *head)
{
	struct json_object *o = json_object_object_get(head, "overseer");
	int64_t status = json_int_or(o, "exit_status", 1);
	size_t i = 0;

	if (o == NULL || json_bool_or(head, "overseer_alive", true) ||
	    json_int_or(head, "run_unix", 0) >
		json_int_or(head, "overseer_unix", INT64_MAX))
		return;
	if (!is(o, "state", "Terminated")) {
		add_need(m, 'a', "overseer", "overseer",
		    "it crashed or was killed", "llmc overseer");
		return;
	}
	while (
	    i + 1 < nitems(overseer_ends) && overseer_ends[i].status != status)
		i++;
	if (overseer_ends[i].words != NULL)
		add_need(m, 'a', "overseer", "overseer", overseer_ends[i].words,
		    overseer_ends[i].command);
}

static void
add_push(const struct making *m, struct json_object *push)
{
	cleanup_free char *words = NULL;

	if (push == NULL || !is(push, "state", "failed"))
		return;
	words = xasprintf("landed work could not be pushed: %s",
	    json_string_or(push, "reason", "unknown reason"));
	add_need(m, 'c', "push", "push", words, "llmc resume");
}

static void
add_head(const struct making *m)
{
	struct json_object *head = view_of(m->view, "head");

	add_failure(m, head);
	if (json_bool_or(head, "daemon_gone", false))
		add_need(m, 'a', "daemon", "autod",
		    "it was killed, and nobody has started it again",
		    json_bool_or(head, "auto", false) ? "llmc up --auto" :
							"llmc up");
	add_overseer(m, head);
	if (json_string_or(head, "paused", NULL) != NULL)
		add_need(m, 'b', "paused", "everything",
		    json_string_or(head, "paused", NULL), "llmc resume");
	if (json_bool_or(head, "red", false))
		add_need(m, 'c', "branch",
		    json_string_or(head, "branch", "branch"),
		    "fails its own check", "llmc landing");
	if (json_int_or(head, "dirty_retry_unix", 0) > 0)
		add_need(m, 'c', "checkout", "checkout",
		    "uncommitted changes hold up the landings", "git status");
	add_push(m, json_object_object_get(head, "push"));
	if (json_string_or(head, "goals_off", NULL) != NULL)
		add_need(m, 'c', "goals", "goals",
		    json_string_or(head, "goals_off", NULL), "llmc doctor");
}

/* --- goals ----------------------------------------------------------- */

/* The first node that is blocked by itself; NULL = not known. */
static struct json_object *
blocked_node(struct json_object *goal)
{
	struct json_object *nodes = json_object_object_get(goal, "nodes");
	struct json_object *found = NULL;

	for (size_t i = 0; nodes != NULL && i < json_object_array_length(nodes);
	     i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);

		if (is(node, "status", "blocked"))
			found = node; /* leaves come behind their parents */
		else if (found != NULL)
			break;
	}
	return found;
}

static void
add_goals(const struct making *m)
{
	json_object_object_foreach(view_of(m->view, "goals"), id, goal)
	{
		int64_t blocked = json_int_or(goal, "blocked", 0);
		struct json_object *node = blocked_node(goal);
		const char *why = json_string_or(node, "reason", NULL);
		cleanup_free char *command = xasprintf("llmc goal show %s", id);
		cleanup_free char *words = NULL;

		if (blocked <= 0)
			continue;
		words = why != NULL ?
		    xasprintf("%s is blocked: %s",
			json_string_or(node, "id", "a node"), why) :
		    xasprintf("%" PRId64 " node%s blocked", blocked,
			blocked == 1 ? " is" : "s are");
		add_need(m, 'e', "blocked", id, words, command);
	}
}

/* --- workers --------------------------------------------------------- */

/* It waits for an answer of a person. */
static void
add_question(const struct making *m, struct json_object *row)
{
	struct json_object *asks = json_object_object_get(row, "asks");
	const char *id = json_string_or(asks, "id", NULL);
	cleanup_free char *command = NULL, *words = NULL;

	if (id == NULL || !json_bool_or(asks, "person", false))
		return;
	command = xasprintf("llmc escalations answer %s TEXT", id);
	words = xasprintf("%s asks: %s", json_string_or(row, "name", "?"),
	    json_string_or(asks, "text", ""));
	add_need(m, 'd', "question", id, words, command);
}

/* The first row that fits counts. */
static const struct {
	const char *status;
	const char *hold; /* NULL = any */
	const char *mode; /* NULL = any */
	char rank;
	/* Ends with a blank: the name follows. NULL: the reason says it. */
	const char *command;
} statuses[] = {
	{ "error", NULL, NULL, 'd', "llmc logs --worker " },
	{ "paused", "trust", NULL, 'e', NULL },
	{ "paused", "person", NULL, 'l', "llmc resume " },
	{ "paused", "budget", NULL, 'f', "llmc resume " },
	{ "paused", NULL, NULL, 'e', "llmc resume " },
	{ "needs_review", NULL, "hand", 'i', "llmc review " },
	{ "no_changes", NULL, "hand", 'i', "llmc message " },
};

static char *
worker_command(const char *command, const char *name, const char *reason)
{
	const char *typed = reason != NULL ? strstr(reason, "type: ") : NULL;
	bool named;

	if (command == NULL)
		return xstrdup(
		    typed != NULL ? typed + strlen("type: ") : "llmc doctor");
	named = command[strlen(command) - 1] == ' ';
	return xasprintf("%s%s", command, named ? name : "");
}

static void
add_worker(const struct making *m, const char *name, struct json_object *row)
{
	const char *words = json_string_or(row, "reason", NULL);
	cleanup_free char *command = NULL;

	if (words == NULL)
		words = json_string_or(row, "title", NULL);
	for (size_t i = 0; i < nitems(statuses); i++) {
		if (!is(row, "status", statuses[i].status) ||
		    (statuses[i].hold != NULL &&
			!holds(row, statuses[i].hold)) ||
		    (statuses[i].mode != NULL &&
			!is(row, "mode", statuses[i].mode)))
			continue;
		command = worker_command(statuses[i].command, name, words);
		add_need(m, statuses[i].rank, statuses[i].status, name, words,
		    command);
		return;
	}
}

static void
add_workers(const struct making *m)
{
	json_object_object_foreach(view_of(m->view, "workers"), name, row)
	{
		add_worker(m, name, row);
		add_question(m, row);
	}
}

/* --- tasks ----------------------------------------------------------- */

static void
add_parked(const struct making *m)
{
	json_object_object_foreach(view_of(m->view, "tasks"), id, row)
	{
		cleanup_free char *command = xasprintf("llmc resume %s", id);

		if (is(row, "step", "parked"))
			add_need(m, 'f', "parked", id,
			    json_string_or(row, "reason", NULL), command);
	}
}

/* A task that was dropped because somebody wanted it is nobody's business. */
static bool
has_failed(struct json_object *row)
{
	return is(row, "outcome", "dead-letter") ||
	    is(row, "outcome", "failed") ||
	    (is(row, "outcome", "aborted") &&
		!json_bool_or(row, "dropped", false));
}

/* Of this run, or of the runs just before it: older ones were seen, or are in
 * the report. */
static bool
is_recent(struct json_object *head, struct json_object *row)
{
	const char *run = json_string_or(head, "run_id", NULL);
	int64_t since = json_int_or(head, "night_unix", INT64_MAX);

	return run != NULL &&
	    (is(row, "run_id", run) ||
		json_int_or(row, "finished_unix", 0) >= since);
}

static void
add_failed(const struct making *m)
{
	struct json_object *head = view_of(m->view, "head");

	json_object_object_foreach(view_of(m->view, "ended"), id, row)
	{
		cleanup_free char *command = NULL;

		/* It may have been taken up again. */
		if (!has_failed(row) || !is_recent(head, row) ||
		    view_row(m->view, "tasks", id) != NULL)
			continue;
		command = xasprintf("llmc task show %s", id);
		add_need(m, 'h', json_string_or(row, "outcome", NULL), id,
		    json_string_or(row, "reason", NULL), command);
	}
}

/* --- people ---------------------------------------------------------- */

/* What a worker, a task or the head says is not said twice. */
static bool
is_said(const struct making *m, struct json_object *row)
{
	const char *who[] = { json_string_or(row, "worker", NULL),
		json_string_or(row, "task", NULL) };

	json_object_object_foreach(m->needs, key, need)
	{
		(void)key;
		for (size_t i = 0; i < nitems(who); i++)
			if (who[i] != NULL && is(need, "who", who[i]))
				return true;
	}
	return false;
}

/* What tells of a question that a worker waits with. */
static bool
is_question(const struct making *m, struct json_object *row)
{
	const char *question = json_string_or(row, "question", NULL);

	json_object_object_foreach(m->needs, key, need)
	{
		(void)key;
		if (question != NULL && is(need, "who", question))
			return true;
	}
	return false;
}

static void
add_people(const struct making *m)
{
	json_object_object_foreach(view_of(m->view, "people"), id, row)
	{
		struct json_object *options =
		    json_object_object_get(row, "options");
		bool asks =
		    options != NULL && json_object_array_length(options) > 0;
		cleanup_free char *command =
		    xasprintf("llmc escalations %s %s%s",
			asks ? "answer" : "ack", id, asks ? " TEXT" : "");

		if (json_bool_or(row, "acked", false) ||
		    (!is(row, "level", "critical") &&
			!is(row, "level", "emergency")) ||
		    is_question(m, row) || (!asks && is_said(m, row)))
			continue;
		add_need(m, asks ? 'd' : 'j', asks ? "question" : "escalation",
		    id, json_string_or(row, "title", NULL), command);
	}
}

static void
add_mail(const struct making *m)
{
	int64_t count = json_int_or(view_of(m->view, "team"), "mail_person", 0);
	cleanup_free char *words = xasprintf("%" PRId64 " to you", count);

	if (count > 0)
		add_need(m, 'k', "unread", "mail", words, "llmc mail inbox");
}

/* It matters only while there is something to tell of, and nobody is there. */
static void
add_channel(const struct making *m)
{
	struct json_object *head = view_of(m->view, "head");

	if (json_object_object_length(m->needs) > 0 &&
	    json_bool_or(head, "auto", false) &&
	    !json_bool_or(head, "channel", true))
		add_need(m, 'm', "channel", "channel",
		    "no channel is set, so nobody was told of this",
		    "llmc config doc people.notify_command");
}

void
view_needs(struct json_object *view)
{
	struct making m = { .view = view, .needs = json_object_new_object() };

	add_head(&m);
	add_goals(&m);
	add_workers(&m);
	add_parked(&m);
	add_failed(&m);
	add_people(&m);
	add_mail(&m);
	add_channel(&m);
	json_set(view, "needs", m.needs);
}

bool
view_needs_work(struct json_object *view)
{
	json_object_object_foreach(view_of(view, "needs"), key, need)
	{
		(void)key;
		if (json_bool_or(need, "unfinished", false))
			return true;
	}
	return false;
}

static int
by_key(const void *a, const void *b)
{
	return natural_compare(
	    *(const char *const *)a, *(const char *const *)b);
}

struct json_object *
view_needs_list(struct json_object *view)
{
	struct json_object *needs = view_of(view, "needs");
	struct json_object *list = json_object_new_array();
	size_t room = (size_t)json_object_object_length(needs), count = 0;
	const char **keys = xcalloc(room + 1, sizeof(char *));

	json_object_object_foreach(needs, key, row)
	{
		(void)row;
		keys[count++] = key;
	}
	qsort(keys, count, sizeof(char *), by_key);
	for (size_t i = 0; i < count; i++)
		json_object_array_add(list,
		    json_object_get(json_object_object_get(needs, keys[i])));
	free(keys);
	return list;
}

const struct schema view_need_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("what", STRING, NULL),
	    SCHEMA_IS("who", STRING, NULL),
	    SCHEMA_IS("words", STRING, NULL),
	    SCHEMA_OR_NULL("command", STRING, "what to type"),
	    SCHEMA_IS(
		"unfinished", BOOL, "work was not done, or waits for you"),
	    SCHEMA_END,
	},
};
