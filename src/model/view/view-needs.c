/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "notice.h"
#include "schema.h"
#include "view-private.h"
#include "view.h"

/* Keys order the needs: by rank, then by who. */
struct making {
	struct json_object *view, *needs;
};

/* Ranks from here on are no work that is not done: something to look at. */
#define RANK_FYI 'i'

/* command may be NULL. ask: its id, NULL = of none. host: of an ask of a fleet,
 * else NULL. */
static void
add_row(const struct making *m, char rank, const char *ask, const char *level,
    const char *what, const char *who, const char *words, const char *command,
    const char *host)
{
	struct json_object *row = json_object_new_object();
	cleanup_free char *key = xasprintf("%c-%s%s%s", rank, who,
	    ask != NULL ? "-" : "", ask != NULL ? ask : "");

	json_set_string(row, "what", what);
	json_set_string(row, "who", who);
	view_row_line(
	    row, "words", words != NULL ? words : what, VIEW_REASON_MAX);
	json_set_string(row, "command", command);
	json_set_bool(row, "unfinished", rank < RANK_FYI);
	json_set_string(row, "level", level);
	if (ask != NULL)
		json_set_string(row, "ask", ask);
	if (host != NULL)
		json_set_string(row, "host", host);
	json_set(m->needs, key, row);
}

static void
add_need(const struct making *m, char rank, const char *what, const char *who,
    const char *words, const char *command)
{
	add_row(m, rank, NULL, rank < RANK_FYI ? "critical" : "info", what, who,
	    words, command, NULL);
}

/* What ended the overseer; it is stopped with 0, and forced to with 130. */
static const struct {
	int64_t status;
	const char *words, *command;
} overseer_ends[] = {
	{ 0, NULL, NULL },
	{ 130, NULL, NULL },
	{ 3, "it ended: failures went on and on", "llmc log failures" },
	{ 4, "it ended: a repair needs a person", "llmc overseer --check" },
	{ 5, "it ended: a failure could not be repaired", "llmc log failures" },
	{ 1, "it ended with an error of its own", "llmc overseer" },
};

/* What is visible only without a daemon. */
static void
add_head(const struct making *m)
{
	struct json_object *head = view_of(m->view, "head");
	struct json_object *failure = json_member(head, "failure");
	struct json_object *o;
	int64_t status;
	size_t i = 0;

	if (failure != NULL)
		add_need(m, 'a', "failure",
		    json_string_or(failure, "class", "autod"),
		    json_string_or(failure, "words", NULL),
		    "llmc log failures");
	if (json_bool_or(head, "daemon_gone", false))
		add_need(m, 'a', "daemon", "autod",
		    "it was killed, and was not started again",
		    json_bool_or(head, "auto", false) ? "llmc up --auto" :
							"llmc up");
	/* An overseer that has ended by itself leaves the daemon alone. A
	 * run that was begun later, without one, is not its business. */
	o = json_member(head, "overseer");
	status = json_int_or(o, "exit_status", 1);
	if (o == NULL || json_bool_or(head, "overseer_alive", true) ||
	    json_int_or(head, "run_unix", 0) >
		json_int_or(head, "overseer_unix", INT64_MAX))
		return;
	if (!view_is(o, "state", "Terminated")) {
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

/* --- asks ------------------------------------------------------------ */

/* What holds up everything comes first, then who waits for an answer, then what
 * is over. */
static char
rank_of(struct json_object *row)
{
	static const struct {
		const char *kind;
		const char *about; /* NULL = whatever it is about */
		char rank;
	} ranks[] = {
		{ "question", NULL, 'd' },
		{ "review", "task", 'f' },
		{ "review", NULL, 'i' },
		{ "told", NULL, 'j' },
		{ "failure", "task", 'h' },
		{ NULL, "task", 'f' },
		{ "failure", "worker", 'd' },
		{ NULL, "worker", 'e' },
		{ NULL, "goal", 'e' },
	};

	for (size_t i = 0; i < nitems(ranks); i++)
		if ((ranks[i].kind == NULL ||
			view_is(row, "kind", ranks[i].kind)) &&
		    (ranks[i].about == NULL ||
			json_string_or(row, ranks[i].about, NULL) != NULL))
			return ranks[i].rank;
	return view_is(row, "key", "paused") || view_is(row, "key", "alike") ||
		view_is(row, "key", "trial") ?
	    'b' :
	    'c';
}

void
view_needs(struct json_object *view)
{
	struct making m = { .view = view, .needs = json_object_new_object() };
	struct json_object *head = view_of(view, "head");
	int64_t mail = json_int_or(view_of(view, "team"), "mail_person", 0);
	cleanup_free char *count = xasprintf("%" PRId64 " to you", mail);
	cleanup_json struct json_object *hosts = view_hosts_list(view);

	add_head(&m);
	JSON_MEMBERS (it, view_of(view, "asks")) {
		struct json_object *row = it.val;

		add_row(&m, rank_of(row), it.key,
		    json_string_or(row, "level", "warning"),
		    json_string_or(row, "kind", "told"),
		    json_string_or(row, "who", "?"),
		    json_string_or(row, "words", NULL),
		    json_string_or(row, "command", NULL),
		    json_string_or(row, "host", NULL));
	}
	JSON_EACH (row, hosts)
		if (view_is(row, "state", "lost"))
			add_row(&m, RANK_FYI, NULL, "warning", "host",
			    json_string_or(row, "host", "?"),
			    "it is lost: other hosts take its tasks",
			    "llmc fleet hosts",
			    json_string_or(row, "host", "?"));
	if (mail > 0)
		add_need(&m, 'k', "unread", "mail", count, "llmc mail inbox");
	/* It matters only while a person is needed and away. */
	if (json_object_object_length(m.needs) > 0 &&
	    json_bool_or(head, "auto", false) &&
	    !json_bool_or(head, "channel", true))
		add_need(&m, 'm', "channel", "channel",
		    "no channel is set: you find this in llmc status only",
		    "llmc config doc people.channels");
	json_set(view, "needs", m.needs);
}

bool
view_needs_work(struct json_object *view)
{
	JSON_MEMBERS (it, view_of(view, "needs"))
		if (json_bool_or(it.val, "unfinished", false))
			return true;
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

	JSON_MEMBERS (it, needs)
		keys[count++] = it.key;
	qsort(keys, count, sizeof(char *), by_key);
	for (size_t i = 0; i < count; i++)
		json_object_array_add(
		    list, json_object_get(json_member(needs, keys[i])));
	free(keys);
	return list;
}

const struct schema view_need_schema =
    SCHEMA_SHAPE(SCHEMA_IS("what", STRING, NULL),
	SCHEMA_IS("who", STRING, NULL), SCHEMA_IS("words", STRING, NULL),
	SCHEMA_OR_NULL("command", STRING, "what to type"),
	SCHEMA_IS("unfinished", BOOL, "work was not done, or waits for you"),
	SCHEMA_IS("level", STRING, "how urgent it is",
	    .choices = escalation_level_words),
	SCHEMA_MAY("ask", STRING, "its id, for llmc answer"),
	SCHEMA_MAY("host", STRING, "of a fleet"));
