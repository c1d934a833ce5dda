/* SPDX-License-Identifier: ISC */

/* llmc escalations: what people are told of through channels: shown, marked as
 * seen, answered; and a channel tried. The outbox is shared by processes, so no
 * daemon is needed but for an answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api-people.h"
#include "api-team.h"
#include "channel.h"
#include "clock.h"
#include "commands.h"
#include "deliver.h"
#include "errtext.h"
#include "escalation-answer.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "moment.h"
#include "outbox-record.h"
#include "outbox.h"
#include "request.h"
#include "roster.h"
#include "schema.h"
#include "settings.h"
#include "state.h"
#include "strv.h"
#include "table.h"
#include "text.h"
#include "verbs.h"
#include "worker.h"

#define ID_LEAST    4 /* characters of its end that name one */
#define PATIENCE_MS (45 * 1000)
#define LOOK_MS     50

enum {
	FLAG_ALL
};

static const struct cli_flag escalations_flags[] = {
	[FLAG_ALL] = { "all", NULL, "for list: also what was seen" },
	{ NULL, NULL, NULL },
};

static bool is_untold(const char *dir, const char *typed);

static char *
outbox_dir(struct cli *cli)
{
	return workspace_path(&cli->workspace, "outbox");
}

/* --- list ------------------------------------------------------------- */

/* "ops sent #3, desk waiting (2 tries)" */
static void
add_channels(const struct outbox_record *record, struct buf *out)
{
	for (size_t i = 0; i < record->delivery_count; i++) {
		const struct outbox_delivery *d = &record->deliveries[i];

		buf_addf(out, "%s%s %s", i > 0 ? ", " : "", d->channel,
		    outbox_state_words[d->state]);
		if (d->ref != NULL)
			buf_addf(out, " %s", d->ref);
		if (d->state == OUTBOX_WAITING && d->attempts > 0)
			buf_addf(out, " (%d %s)", d->attempts,
			    d->attempts == 1 ? "try" : "tries");
	}
}

/* The worker that waits with the question that it tells of; NULL = none. */
static const struct worker *
asking(const struct state *state, const struct outbox_record *record)
{
	const char *event = record->event;
	size_t len = strlen(REQUEST_EVENT);

	if (event == NULL || strncmp(event, REQUEST_EVENT, len) != 0)
		return NULL;
	for (size_t i = 0; i < state->count; i++)
		if (state->workers[i]->asks_id != NULL &&
		    strcmp(state->workers[i]->asks_id, event + len) == 0)
			return state->workers[i];
	return NULL;
}

/* What it asks says more than that it asks. */
static void
add_row(struct table *table, const struct outbox_record *record,
    const struct worker *w)
{
	cleanup_buf struct buf channels = BUF_INIT;
	const char *cells[] = { record->id, record->timestamp,
		escalation_level_words[record->level],
		record->worker != NULL ? record->worker : "-", NULL,
		w != NULL ? w->asks : record->title };

	add_channels(record, &channels);
	cells[4] = channels.len > 0 ? channels.data : "none";
	table_row(table, cells);
}

struct listing {
	const char *dir;
	bool all;
	struct state state;
	struct table *table;
	struct json_object *array;
};

static void
list_one(struct listing *l, const struct outbox_record *record,
    const struct worker *w)
{
	struct json_object *json = outbox_record_to_json(record);

	add_row(l->table, record, w);
	json_set_string(json, "question", w != NULL ? w->asks : NULL);
	json_object_array_add(l->array, json);
}

/* Of one folder. A question stays until it is answered. */
static void
list_some(struct listing *l, bool done)
{
	cleanup_strv char **ids = outbox_list(l->dir, done);

	for (size_t i = 0; ids[i] != NULL; i++) {
		struct outbox_record *record = NULL;
		const struct worker *w;

		if (outbox_load(l->dir, ids[i], &record, NULL) < 0)
			continue;
		w = asking(&l->state, record);
		if (l->all || record->acked_ms == 0 || w != NULL)
			list_one(l, record, w);
		outbox_record_free(record);
	}
}

/* Questions that no channel was told of. */
static void
list_untold(struct listing *l, const struct cli *cli)
{
	for (size_t i = 0; i < l->state.count; i++) {
		const struct worker *w = l->state.workers[i];
		struct outbox_record *record;
		char stamp[CLOCK_STAMP_SIZE];

		if (w->asks_id == NULL || !w->asks_person ||
		    !is_untold(l->dir, w->asks_id))
			continue;
		clock_format_stamp(w->asks_ms, stamp);
		record = xcalloc(1, sizeof *record);
		record->id = xstrdup(w->asks_id);
		record->timestamp = xstrdup(stamp);
		record->root = xstrdup(cli->workspace.root);
		record->level = ESCALATION_CRITICAL;
		record->title = xstrdup("an agent asks a question");
		record->signature = xstrdup("request");
		record->worker = xstrdup(w->name);
		xstrset(&record->task, w->task);
		record->count = 1;
		list_one(l, record, w);
		outbox_record_free(record);
	}
}

static int
escalations_list(struct cli *cli, const struct cli_args *args)
{
	static const struct table_column columns[] = { { "ID", false, false },
		{ "TIME", false, false }, { "LEVEL", false, false },
		{ "WORKER", false, false }, { "CHANNELS", false, false },
		{ "WHAT", false, true } };
	cleanup_free char *dir = outbox_dir(cli);
	struct listing l = { .dir = dir, .all = args->flags[FLAG_ALL] != NULL };
	int status = roster_load(cli, &l.state);

	if (status != CLI_OK)
		return status;
	l.table = table_new(columns, nitems(columns));
	l.array = cli->result = json_object_new_array();
	list_some(&l, true);
	list_some(&l, false);
	list_untold(&l, cli);
	if (json_object_array_length(l.array) == 0)
		buf_addf(&cli->text, "Nothing%s.\n",
		    l.all ? "" : " that nobody has seen; see all with --all");
	else
		table_print(l.table, cli->width, cli->colour, &cli->text);
	table_free(l.table);
	state_release(&l.state);
	return CLI_OK;
}

/* --- one of them ------------------------------------------------------ */

/* Is it the message about this question? */
static bool
is_about(const char *dir, const char *id, const char *question)
{
	cleanup_free char *event = xasprintf(REQUEST_EVENT "%s", question);
	struct outbox_record *record = NULL;
	bool is;

	if (outbox_load(dir, id, &record, NULL) < 0)
		return false;
	is = record->event != NULL && strcmp(record->event, event) == 0;
	outbox_record_free(record);
	return is;
}

/* Ids of messages have no such beginning. */
static bool
is_question(const char *typed)
{
	return strncmp(typed, "R_", 2) == 0;
}

static void
find_in(
    const char *dir, bool done, const char *typed, char **found, size_t *count)
{
	cleanup_strv char **ids = outbox_list(dir, done);
	size_t len = strlen(typed);

	for (size_t i = 0; ids[i] != NULL; i++) {
		size_t whole = strlen(ids[i]);

		if (is_question(typed) ? !is_about(dir, ids[i], typed) :
					 len > whole || len < ID_LEAST ||
			    strcasecmp(ids[i] + whole - len, typed) != 0)
			continue;
		xstrset(found, ids[i]);
		(*count)++;
	}
}

/* Another process has an entry for as long as it sends it. */
struct patience {
	struct loop *loop;
	const char *dir, *id;
	struct outbox_entry **entry;
	struct err *err;
	int64_t until_ms;
	int r;
};

static void
on_look(void *arg)
{
	struct patience *p = arg;

	p->r = outbox_claim(p->dir, p->id, p->entry, p->err);
	if (p->r != -EAGAIN || clock_mono_ms() > p->until_ms)
		loop_stop(p->loop, 0);
}

static int
claim_patiently(const char *dir, const char *id, struct outbox_entry **entry,
    struct err *err)
{
	struct patience p = { .loop = loop_new(),
		.dir = dir,
		.id = id,
		.entry = entry,
		.err = err,
		.until_ms = clock_mono_ms() + PATIENCE_MS };
	struct loop_timer *timer = loop_every(p.loop, LOOK_MS, on_look, &p);

	loop_run(p.loop);
	loop_timer_free(timer);
	loop_free(p.loop);
	return p.r;
}

/* By its id, the end of it, or the question that it is about. */
static int
claim(struct cli *cli, const char *dir, const char *typed,
    struct outbox_entry **ret_entry)
{
	cleanup_free char *id = NULL;
	struct err err = { 0 };
	size_t count = 0;
	int r;

	find_in(dir, false, typed, &id, &count);
	find_in(dir, true, typed, &id, &count);
	if (count != 1)
		return cli_fail(cli, "failed",
		    "%s: %s; see: llmc escalations list --all", typed,
		    count == 0 ? "there is no such escalation" :
				 "several escalations end like this");
	r = claim_patiently(dir, id, ret_entry, &err);
	if (r == -EAGAIN)
		return cli_fail(
		    cli, "busy", "%s is being sent; try again in a moment", id);
	return r < 0 ? cli_fail_err(cli, "io", &err) : CLI_OK;
}

static int
finish(struct cli *cli, struct outbox_entry *entry)
{
	struct err err = { 0 };
	int status = CLI_OK;

	if (outbox_save(entry, &err) < 0)
		status = cli_fail_err(cli, "io", &err);
	else if (cli->result == NULL)
		cli->result = outbox_record_to_json(entry->record);
	outbox_release(entry);
	return status;
}

static int
escalations_ack(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *dir = outbox_dir(cli);
	struct outbox_entry *entry = NULL;
	int status = claim(cli, dir, args->list[1], &entry);

	if (entry == NULL)
		return status;
	outbox_record_ack(entry->record, clock_wall_ms());
	buf_addf(&cli->text, "%s is marked as seen.\n", entry->id);
	return finish(cli, entry);
}

/* --- answer ----------------------------------------------------------- */

/* A question that no channel has told of. */
static bool
is_untold(const char *dir, const char *typed)
{
	cleanup_free char *id = NULL;
	size_t count = 0;

	if (!is_question(typed))
		return false;
	find_in(dir, false, typed, &id, &count);
	find_in(dir, true, typed, &id, &count);
	return count == 0;
}

static int
escalations_answer(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *dir = outbox_dir(cli);
	cleanup_buf struct buf words = BUF_INIT;
	struct outbox_entry *entry = NULL;
	const char *typed = args->list[1];
	struct err err = { 0 };
	int status;

	for (int i = 2; i < args->count; i++)
		buf_addf(&words, "%s%s", i > 2 ? " " : "", args->list[i]);
	if (is_untold(dir, typed))
		return escalation_answer_question(
			   cli, typed, words.data, &cli->result, &err) ?
		    CLI_OK :
		    cli_fail_err(cli, "failed", &err);
	status = claim(cli, dir, typed, &entry);
	if (entry == NULL)
		return status;
	if (!escalation_answer(cli, entry->record, words.data, &err)) {
		outbox_release(entry);
		return cli_fail_err(cli, "failed", &err);
	}
	return finish(cli, entry);
}

/* --- test ------------------------------------------------------------- */

struct attempt {
	struct loop *loop;
	enum outbox_state state;
	char *reason, *ref;
};

static void
on_delivered(const struct deliver_result *result, void *arg)
{
	struct attempt *attempt = arg;

	attempt->state = result->state;
	xstrset(&attempt->reason, result->reason);
	xstrset(&attempt->ref, result->ref);
	loop_stop(attempt->loop, 0);
}

static struct outbox_record *
test_record(struct cli *cli, const struct channel *channel)
{
	struct channel always = *channel;
	struct channel_list one = { &always, 1 };
	struct escalation what = { .level = ESCALATION_INFO,
		.class = "test",
		.title = "a test of this channel",
		.text = "llmc escalations test was run. Nothing is wrong.",
		.signature = "test" };
	char id[ID_ULID_SIZE], stamp[CLOCK_STAMP_SIZE];

	always.enabled = always.levels_given = true;
	always.levels = 1u << ESCALATION_INFO;
	id_ulid(clock_wall_ms(), id);
	clock_format_stamp(clock_wall_ms(), stamp);
	return outbox_record_new(
	    &what, &one, id, stamp, cli->workspace.root, "llmc", 0);
}

static int
try_channel(struct cli *cli, const struct channel *channel)
{
	cleanup_free char *dir = outbox_dir(cli);
	struct outbox_record *record = test_record(cli, channel);
	struct attempt attempt = { .loop = loop_new() };
	struct err err = { 0 };
	int status = CLI_OK;

	if (file_mkdirs(dir, 0700, &err) < 0) {
		status = cli_fail_err(cli, "io", &err);
	} else {
		deliver_start(attempt.loop, dir, cli->workspace.root, channel,
		    record, on_delivered, &attempt);
		loop_run(attempt.loop);
		if (attempt.state != OUTBOX_SENT)
			status = cli_fail(cli, "failed", "%s: not sent: %s",
			    channel->name,
			    attempt.reason != NULL ? attempt.reason :
						     "unknown");
	}
	if (status == CLI_OK) {
		outbox_delivery_end(
		    &record->deliveries[0], OUTBOX_SENT, NULL, attempt.ref);
		cli->result = outbox_record_to_json(record);
		buf_addf(&cli->text, "%s: sent%s%s.\n", channel->name,
		    attempt.ref != NULL ? " as " : "",
		    attempt.ref != NULL ? attempt.ref : "");
	}
	loop_free(attempt.loop);
	outbox_record_free(record);
	free(attempt.reason);
	free(attempt.ref);
	return status;
}

static int
escalations_test(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	const struct channel *channel;
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	channel = channel_find(settings_channels(settings), args->list[1]);
	status = channel != NULL ?
	    try_channel(cli, channel) :
	    cli_fail(cli, "failed",
		"there is no channel %s; describe it in .llmc/config.toml as "
		"[people.channels.%s] (see llmc.conf(5))",
		args->list[1], args->list[1]);
	settings_free(settings);
	return status;
}

/* --- the command ------------------------------------------------------ */

static const struct verb escalations_verbs[] = {
	{ "list", 0, 0, 1u << FLAG_ALL, "list [--all]", escalations_list },
	{ "ack", 1, 1, 0, "ack MESSAGE", escalations_ack },
	{ "answer", 2, 1000, 0,
	    "answer MESSAGE TEXT, or the number of an option",
	    escalations_answer },
	{ "test", 1, 1, 0, "test CHANNEL", escalations_test },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int
escalations_run(struct cli *cli, const struct cli_args *args)
{
	return verbs_run(cli, &cmd_escalations, escalations_verbs, args);
}

static const struct schema escalations_forms = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("list", ROWS, NULL, .of = &outbox_record_schema),
	    SCHEMA_IS(
		"ack, answer, test", OBJECT, NULL, .of = &outbox_record_schema),
	    SCHEMA_IS("answer of a question that no channel told of", OBJECT,
		NULL, .of = &api_request),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_escalations = {
	.name = "escalations",
	.usage = "list | ack MESSAGE | answer MESSAGE TEXT ... | test CHANNEL",
	.summary = "show and answer what people were told through channels",
	.help =
	    "list    what was sent, or waits to be, and nobody has marked "
	    "as seen; and the\n        questions of agents, until they are "
	    "answered\n"
	    "ack     mark it as seen; what has not been sent is not sent "
	    "any more\n"
	    "answer  send TEXT, or an option (its number or its words), to "
	    "who waits: an agent\n        that asked by its tool (MESSAGE may "
	    "be the id of its question, R_...)\n        gets it, a paused "
	    "worker continues with it, a session that asked gets\n        it, "
	    "a node of a plan can be worked on again\n"
	    "test    send a message through a channel of the settings\n\n"
	    "Without one of these words: list.\n"
	    "MESSAGE is the id that list shows, or the end of it.\n",
	.flags = escalations_flags,
	.min_args = 0,
	.max_args = 1001,
	.guarded = true,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_ONE,
	    .of = &escalations_forms },
	.run = escalations_run,
};
