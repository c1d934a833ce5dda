/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "view-doc.h"
#include "view-needs.h"
#include "view-row.h"

/* Keys order the needs: by rank, then by who. */
struct making {
	struct json_object *view, *needs;
};

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

static void
add_head(const struct making *m)
{
	struct json_object *head = view_of(m->view, "head");
	struct json_object *push = json_object_object_get(head, "push");

	add_failure(m, head);
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
	if (json_string_or(push, "error", NULL) != NULL)
		add_need(m, 'c', "push", "push",
		    json_string_or(push, "error", NULL), "llmc landing");
	if (json_string_or(head, "goals_off", NULL) != NULL)
		add_need(m, 'c', "goals", "goals",
		    json_string_or(head, "goals_off", NULL), NULL);
}

/* --- workers --------------------------------------------------------- */

/* The first row that fits counts. */
static const struct {
	const char *status;
	const char *hold; /* NULL = any */
	const char *mode; /* NULL = any */
	char rank;
	const char *command; /* ends with a blank: the name follows */
} statuses[] = {
	{ "error", NULL, NULL, 'd', "llmc logs --worker " },
	{ "paused", "oversight", NULL, 'e', "llmc resume " },
	{ "paused", "trust", NULL, 'e', "llmc trust" },
	{ "paused", "person", NULL, 'i', "llmc resume " },
	{ "paused", "budget", NULL, 'f', "llmc resume " },
	{ "paused", NULL, NULL, 'e', "llmc resume " },
	{ "needs_review", NULL, "hand", 'g', "llmc review " },
	{ "no_changes", NULL, "hand", 'g', "llmc message " },
};

static char *
worker_command(const char *command, const char *name)
{
	bool named = command[strlen(command) - 1] == ' ';

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
		command = worker_command(statuses[i].command, name);
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

/* Those of this run: older ones were seen, or are in the report. */
static void
add_failed(const struct making *m)
{
	const char *run =
	    json_string_or(view_of(m->view, "head"), "run_id", NULL);

	json_object_object_foreach(view_of(m->view, "ended"), id, row)
	{
		cleanup_free char *command = xasprintf("llmc task show %s", id);

		if ((is(row, "outcome", "dead-letter") ||
			is(row, "outcome", "failed")) &&
		    run != NULL && is(row, "run_id", run))
			add_need(m, 'h', json_string_or(row, "outcome", NULL),
			    id, json_string_or(row, "reason", NULL), command);
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
		    (!asks && is_said(m, row)))
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

void
view_needs(struct json_object *view)
{
	struct making m = { .view = view, .needs = json_object_new_object() };

	add_head(&m);
	add_workers(&m);
	add_parked(&m);
	add_failed(&m);
	add_people(&m);
	add_mail(&m);
	json_set(view, "needs", m.needs);
}
