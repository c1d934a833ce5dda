/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "moment.h"
#include "notice.h"
#include "schema.h"
#include "view-private.h"
#include "view-table.h"
#include "view.h"

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What a host tells the others about itself, the most important first. A row
 * of a task has one key wherever it is; the others get their host's name. */
static const struct shown {
	const char *section;
	const char *const *members; /* NULL = all */
	bool global;
} shown[] = {
	{ "workers",
	    NAMES("name", "mode", "status", "since_unix", "until_unix", "task",
		"title", "attempt", "turns", "tool", "tool_since_unix",
		"remark", "reason", "branch", "commit", "reviewed",
		"cost_micros", "cost_source", "asks", "has_session", "on_hold",
		"paused_for", "health", "model", "role", "parent", "index"),
	    false },
	{ "asks", NULL, false },
	{ "landing",
	    NAMES("id", "state", "position", "worker", "task", "title", "why",
		"queued_unix", "expected_unix", "head_sha"),
	    false },
	{ "goals",
	    NAMES("id", "title", "status", "done", "total", "ready", "blocked"),
	    false },
	{ "tasks",
	    NAMES("id", "title", "step", "worker", "attempts", "turns",
		"priority", "label", "reason", "created_unix", "assigned_unix",
		"cost_micros", "cost_source", "role", "parent", "goal"),
	    true },
};

static int64_t
count_busy(struct json_object *workers)
{
	int64_t count = 0;

	JSON_MEMBERS (it, workers)
		count += json_string_or(it.val, "task", NULL) != NULL;
	return count;
}

struct json_object *
view_host_part(struct json_object *view, size_t max)
{
	struct json_object *part = json_object_new_object(), *list, *outcomes;
	struct json_object *head = view_of(view, "head");
	struct json_object *steps = json_object_object_get(head, "steps");
	size_t used = 512, len;
	int64_t left_out = 0;

	json_set_string(part, "root", json_string_or(head, "root", NULL));
	json_set_string(part, "paused", json_string_or(head, "paused", NULL));
	outcomes = json_object_object_get(head, "outcomes");
	json_set_int(part, "workers_all",
	    json_object_object_length(view_of(view, "workers")));
	json_set_int(part, "busy", count_busy(view_of(view, "workers")));
	json_set_int(part, "waiting",
	    json_int_or(steps, "waiting", 0) +
		json_int_or(steps, "offered", 0));
	json_set_int(part, "asks_open",
	    json_object_object_length(view_of(view, "asks")));
	json_set_int(part, "landed",
	    json_int_or(outcomes, "landed", 0) -
		json_int_or(head, "landed_elsewhere", 0));
	json_set_int(part, "failed",
	    json_int_or(outcomes, "failed", 0) +
		json_int_or(outcomes, "dead-letter", 0));
	json_set_int(part, "cost_micros",
	    json_int_or(view_of(view, "budget"), "cost_micros", 0));
	for (size_t i = 0; i < nitems(shown); i++) {
		list = json_object_new_object();
		json_set(part, shown[i].section, list);
		JSON_MEMBERS (it, view_of(view, shown[i].section)) {
			struct json_object *row = json_object_new_object();

			if (shown[i].members != NULL)
				view_pick(row, it.val, shown[i].members);
			else
				view_add_rows(row, it.val);
			json_object_to_json_string_length(
			    row, JSON_C_TO_STRING_PLAIN, &len);
			used += len + strlen(it.key) + 4;
			if (used <= max) {
				json_set(list, it.key, row);
				continue;
			}
			json_object_put(row);
			left_out++;
		}
	}
	json_set_int(part, "left_out", left_out);
	return part;
}

static void
mark_rows(struct json_object *view, const char *section, const char *host)
{
	JSON_MEMBERS (it, view_of(view, section))
		if (json_object_is_type(it.val, json_type_object))
			json_set_string(it.val, "host", host);
}

/* What is typed about an ask of another host, here. */
static void
set_command(struct json_object *row, const char *host)
{
	static const char answer[] = "llmc answer ";
	const char *command = json_string_or(row, "command", NULL);
	cleanup_free char *words = NULL;

	if (command == NULL)
		return;
	if (text_begins(command, answer))
		words = xasprintf(
		    "%s%s:%s", answer, host, command + strlen(answer));
	else
		words = xasprintf("on %s: %s", host, command);
	view_row_line(row, "command", words, VIEW_REASON_MAX);
}

/* "llmc resume auto-1", which another host says, is typed here as "llmc resume
 * HOST:auto-1". */
static void
set_words(struct json_object *row, const char *member, const char *host)
{
	static const char *const verbs[] = { "llmc answer ", "llmc resume " };
	const char *words = json_string_or(row, member, NULL);
	cleanup_buf struct buf out = BUF_INIT;

	if (words == NULL)
		return;
	while (*words != '\0') {
		size_t len = 0;

		for (size_t i = 0; i < nitems(verbs); i++)
			if (text_begins(words, verbs[i]))
				len = strlen(verbs[i]);
		if (len > 0)
			buf_addf(&out, "%.*s%s:", (int)len, words, host);
		else
			buf_addc(&out, *words);
		words += len > 0 ? len : 1;
	}
	view_row_line(row, member, out.data, VIEW_REASON_MAX);
}

static void
join_rows(struct json_object *view, const struct shown *s, const char *host,
    struct json_object *rows)
{
	struct json_object *here = view_of(view, s->section);

	JSON_MEMBERS (it, rows) {
		cleanup_free char *name = s->global ?
		    xstrdup(it.key) :
		    xasprintf("%s:%s", host, it.key);
		struct json_object *old = json_object_object_get(here, name);
		struct json_object *row;

		/* The host that works on a task knows most about it. */
		if (!json_object_is_type(it.val, json_type_object) ||
		    (old != NULL && !view_is(old, "step", "elsewhere")))
			continue;
		row = json_object_new_object();
		view_add_rows(row, it.val);
		json_set_string(row, "host", host);
		if (strcmp(s->section, "asks") == 0)
			set_command(row, host);
		set_words(row, "remark", host);
		set_words(row, "reason", host);
		json_set(here, name, row);
	}
}

void
view_hosts_add(struct json_object *view, const struct view_host *h)
{
	static const char *const order[] = { "lost", "drain", "new", "up",
		"gone", NULL };
	struct json_object *row = json_object_new_object(), *rows;
	bool up = strcmp(h->state, "up") == 0 || strcmp(h->state, "drain") == 0;
	int rank = 0;

	while (order[rank] != NULL && strcmp(order[rank], h->state) != 0)
		rank++;

	json_set_string(row, "host", h->host);
	json_set_string(row, "state", h->state);
	json_set_int(row, "rank", rank);
	json_set_bool(row, "here", h->here);
	view_row_moment(row, "seen_unix", h->seen_ms);
	view_row_moment(row, "lease_unix", h->lease_ms);
	json_set_string(row, "version", h->version);
	json_set_string(row, "ssh", h->ssh);
	view_row_line(row, "can", h->can, VIEW_WORDS_MAX);
	json_set_int(row, "slots", h->slots);
	view_pick(row, h->part,
	    NAMES("root", "paused", "workers_all", "busy", "waiting",
		"asks_open", "landed", "failed", "cost_micros", "left_out"));
	json_set(view_of(view, VIEW_HOSTS), h->host, row);
	for (size_t i = 0; i < nitems(shown); i++) {
		if (h->here)
			mark_rows(view, shown[i].section, h->host);
		else if (up &&
		    json_object_object_get_ex(
			h->part, shown[i].section, &rows) &&
		    json_object_is_type(rows, json_type_object))
			join_rows(view, &shown[i], h->host, rows);
	}
	if (h->here)
		json_set_string(view_of(view, "head"), "host", h->host);
}

void
view_hosts_here(struct json_object *view)
{
	const char *host = json_string_or(view_of(view, "head"), "host", NULL);

	for (const struct view_section *s = view_sections;
	     host != NULL && s->name != NULL; s++) {
		JSON_MEMBERS (it, view_of(view, s->name)) {
			bool others = s->map &&
			    json_string_or(it.val, "host", NULL) != NULL &&
			    !view_is(it.val, "host", host);

			if (others || strcmp(s->name, VIEW_HOSTS) == 0)
				json_object_object_del(
				    view_of(view, s->name), it.key);
		}
	}
}

static int
by_rank(const void *a, const void *b)
{
	struct json_object *ra = *(struct json_object *const *)a;
	struct json_object *rb = *(struct json_object *const *)b;
	int64_t first = json_int_or(ra, "rank", 0);
	int64_t second = json_int_or(rb, "rank", 0);

	if (first != second)
		return first < second ? -1 : 1;
	return natural_compare(
	    json_string_or(ra, "host", ""), json_string_or(rb, "host", ""));
}

struct json_object *
view_hosts_list(struct json_object *view)
{
	struct json_object *list = json_object_new_array();
	struct json_object *hosts = view_of(view, VIEW_HOSTS);
	struct json_object **rows;
	size_t count = 0;

	if (hosts == NULL) /* no fleet */
		return list;
	rows = xcalloc((size_t)json_object_object_length(hosts) + 1,
	    sizeof(struct json_object *));
	JSON_MEMBERS (it, hosts)
		rows[count++] = it.val;
	qsort(rows, count, sizeof(struct json_object *), by_rank);
	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, json_object_get(rows[i]));
	free(rows);
	return list;
}

const struct schema view_host_schema =
    SCHEMA_SHAPE(SCHEMA_IS("host", STRING, NULL),
	SCHEMA_IS("state", STRING, "up, drain, lost, new or gone"),
	SCHEMA_IS("rank", INT, "those with the lowest come first"),
	SCHEMA_IS("here", BOOL, "the host that was asked"),
	SCHEMA_OR_NULL("seen_unix", INT, "when it last said that it lives",
	    .max = INT64_MAX),
	SCHEMA_OR_NULL("lease_unix", INT,
	    "its tasks are given to others after that", .max = INT64_MAX),
	SCHEMA_OR_NULL("version", STRING, NULL),
	SCHEMA_OR_NULL("ssh", STRING, "how people get there"),
	SCHEMA_OR_NULL("can", STRING, "its capabilities"),
	SCHEMA_IS("slots", INT, "tasks that it may have at once"),
	SCHEMA_OR_NULL("root", STRING, NULL),
	SCHEMA_OR_NULL("paused", STRING, "why it takes no tasks"),
	SCHEMA_OR_NULL("workers_all", INT, NULL),
	SCHEMA_OR_NULL("busy", INT, "workers that have a task"),
	SCHEMA_OR_NULL("waiting", INT, "tasks that wait there"),
	SCHEMA_OR_NULL("asks_open", INT, NULL),
	SCHEMA_OR_NULL("landed", INT, "tasks that it did, ever"),
	SCHEMA_OR_NULL("failed", INT, "tasks, ever"),
	SCHEMA_OR_NULL("cost_micros", INT, "of today", .max = INT64_MAX),
	SCHEMA_OR_NULL("left_out", INT, "rows that were too many to show"));

void
view_host_words(struct json_object *row, struct buf *out)
{
	const char *paused = json_string_or(row, "paused", NULL);

	if (view_is(row, "state", "lost")) {
		buf_adds(out, "other hosts take its tasks");
		return;
	}
	buf_addf(out,
	    "%" PRId64 " of %" PRId64 " busy, %" PRId64 " waiting, %" PRId64
	    " landed",
	    json_int_or(row, "busy", 0), json_int_or(row, "slots", 0),
	    json_int_or(row, "waiting", 0), json_int_or(row, "landed", 0));
	if (paused != NULL)
		buf_addf(out, "; paused: %s", paused);
}

static void
add_busy(struct json_object *row, struct buf *out)
{
	if (json_object_object_get(row, "busy") != NULL &&
	    !view_is(row, "state", "lost"))
		buf_addf(out, "%" PRId64 " of %" PRId64,
		    json_int_or(row, "busy", 0), json_int_or(row, "slots", 0));
}

static void
add_host(struct json_object *row, struct buf *out)
{
	buf_addf(out, "%s%s", json_string_or(row, "host", ""),
	    json_bool_or(row, "here", false) ? " (here)" : "");
}

const struct view_column view_host_columns[VIEW_HOST_COLUMNS] = {
	{ .title = "host", .add = add_host },
	{ .title = "state", .key = "state", .cell = VIEW_STATUS },
	{ .title = "seen", .key = "seen_unix", .cell = VIEW_UNIX },
	{ .title = "busy", .add = add_busy, .right = true },
	{ .title = "waiting",
	    .key = "waiting",
	    .cell = VIEW_INT,
	    .right = true },
	{ .title = "asks",
	    .key = "asks_open",
	    .cell = VIEW_COUNT,
	    .right = true,
	    .usual = "" },
	{ .title = "landed", .key = "landed", .cell = VIEW_INT, .right = true },
	{ .title = "failed",
	    .key = "failed",
	    .cell = VIEW_COUNT,
	    .right = true,
	    .usual = "" },
	{ .title = "version", .key = "version" },
	{ .title = "paused", .key = "paused", .flexible = true, .usual = "" },
};

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
	{ -1, "it crashed or was killed", "llmc overseer" },
	{ 0, NULL, NULL },
	{ 130, NULL, NULL },
	{ 3, "it ended: failures went on and on", "llmc log failures" },
	{ 4, "it ended: a repair needs a person", "llmc overseer --check" },
	{ 5, "it ended: a failure could not be repaired", "llmc log failures" },
	{ 1, "it ended with an error of its own", "llmc overseer" },
};

/* An overseer that has ended by itself leaves the daemon alone. A run that was
 * begun later, without one, is not its business. */
static bool
is_overseer_gone(struct json_object *head, size_t *ret_end)
{
	struct json_object *o = json_member(head, "overseer");
	int64_t status = view_is(o, "state", "Terminated") ?
	    json_int_or(o, "exit_status", 1) :
	    -1;
	size_t i = 0;

	if (o == NULL || json_bool_or(head, "overseer_alive", true) ||
	    json_int_or(head, "run_unix", 0) >
		json_int_or(head, "overseer_unix", INT64_MAX))
		return false;
	while (
	    i + 1 < nitems(overseer_ends) && overseer_ends[i].status != status)
		i++;
	if (overseer_ends[i].words == NULL)
		return false;
	*ret_end = i;
	return true;
}

const char *
view_start_command(struct json_object *head)
{
	size_t end;

	if (is_overseer_gone(head, &end))
		return "llmc overseer";
	return json_bool_or(head, "auto", false) ||
		json_member(head, "failure") != NULL ?
	    "llmc up --auto" :
	    "llmc up";
}

/* What is visible only without a daemon. */
static void
add_head(const struct making *m)
{
	struct json_object *head = view_of(m->view, "head");
	struct json_object *failure = json_member(head, "failure");
	size_t end = 0;
	bool gone = is_overseer_gone(head, &end);

	if (failure != NULL)
		add_need(m, 'a', "failure",
		    json_string_or(failure, "class", "autod"),
		    json_string_or(failure, "words", NULL),
		    json_bool_or(head, "overseer_alive", false) ?
			"llmc log failures" :
			"llmc log daemon --level error");
	/* One that gave up has ended the daemon. */
	if (json_bool_or(head, "daemon_gone", false) && end == 0)
		add_need(m, 'a', "daemon", "autod",
		    "it was killed, and was not started again",
		    view_start_command(head));
	if (gone)
		add_need(m, 'a', "overseer", "overseer",
		    overseer_ends[end].words, overseer_ends[end].command);
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

/* A person who set a channel believes to be told. */
static void
add_untold(const struct making *m)
{
	struct json_object *untold =
	    json_member(view_of(m->view, "head"), "untold");
	const char *channel = json_string_or(untold, "channel", "");
	cleanup_free char *command = NULL, *words = NULL;
	cleanup_buf struct buf since = BUF_INIT;

	if (untold == NULL)
		return;
	moment_add(&since, json_int_or(untold, "since_unix", 0) * 1000);
	words = xasprintf("nothing could be sent to you since %s: %s",
	    since.data, json_string_or(untold, "why", "?"));
	command = xasprintf("llmc doctor channel %s", channel);
	add_need(m, 'm', "channel", "channel", words, command);
}

void
view_needs(struct json_object *view)
{
	struct making m = { .view = view, .needs = json_object_new_object() };
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
	add_untold(&m);
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

bool
view_all_wait(struct json_object *view)
{
	struct json_object *workers = view_of(view, "workers");

	JSON_MEMBERS (worker, workers) {
		bool waits = false;

		JSON_MEMBERS (ask, view_of(view, "asks"))
			waits |= view_is(ask.val, "who", worker.key) ||
			    view_is(ask.val, "worker", worker.key);
		if (!waits)
			return false;
	}
	return json_object_object_length(workers) > 0 &&
	    json_object_object_length(view_of(view, "landing")) == 0;
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
