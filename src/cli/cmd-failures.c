/* SPDX-License-Identifier: ISC */

/* llmc failures: what the overseer remembers, grouped by failure. Only reads.
 */
#include "base.h"
#include "cli-private.h"
#include "history.h"

enum {
	FLAG_ALL
};

static const struct cli_flag failures_flags[] = {
	[FLAG_ALL] = { "all", NULL,
	    "include what happened before the last llmc overseer --clear" },
	{ NULL, NULL, NULL },
};

/* Failures with one signature, and what was done about them. */
struct group {
	const char *signature;
	const struct spiral_event *last; /* failure; NULL = forgotten */
	int64_t first_ms;
	size_t count; /* failures */
	size_t order; /* of its newest event */
	struct spiral_event *acts; /* repairs and ends, in order; the strings
				    * are the history's */
	size_t act_count;
};

struct failures {
	struct cli *cli;
	struct history history;
	size_t begin; /* the first event that is shown */
	const struct spiral_event *clear; /* the last one, NULL = none */
	struct group *groups; /* the newest last */
	size_t count;
};

/* --- grouping -------------------------------------------------------- */

static bool
is_failure(const struct spiral_event *event)
{
	return event->kind == SPIRAL_FAILURE || event->kind == SPIRAL_STALL;
}

static struct group *
find_group(struct failures *f, const char *signature)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->groups[i].signature, signature) == 0)
			return &f->groups[i];
	f->groups = xreallocarray(f->groups, f->count + 1, sizeof *f->groups);
	f->groups[f->count] = (struct group){ .signature = signature };
	return &f->groups[f->count++];
}

static void
add_event(struct failures *f, const struct spiral_event *event, size_t order)
{
	struct group *group;

	if (!is_failure(event) && event->kind != SPIRAL_REMEDY &&
	    event->kind != SPIRAL_GAVE_UP)
		return;
	group = find_group(f,
	    event->signature != NULL ? event->signature :
				       spiral_kind_name(event->kind));
	group->order = order;
	if (!is_failure(event)) {
		group->acts = xreallocarray(
		    group->acts, group->act_count + 1, sizeof *group->acts);
		group->acts[group->act_count++] = *event;
		return;
	}
	if (group->count++ == 0)
		group->first_ms = event->at_ms;
	group->last = event;
}

static int
compare_groups(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	return left->order < right->order ? -1 : left->order > right->order;
}

static void
make_groups(struct failures *f, bool all)
{
	const struct history *h = &f->history;

	for (size_t i = 0; i < h->count; i++) {
		if (h->events[i].kind != SPIRAL_CLEAR)
			continue;
		f->clear = &h->events[i];
		f->begin = all ? 0 : i + 1;
	}
	for (size_t i = f->begin; i < h->count; i++)
		add_event(f, &h->events[i], i);
	if (f->count > 1)
		qsort(f->groups, f->count, sizeof *f->groups, compare_groups);
}

/* --- words ----------------------------------------------------------- */

/* Only the first line: the JSON has all of them. */
static void
add_words(struct cli *cli, const char *words)
{
	text_add_visible(&cli->text, words, strcspn(words, "\n"), false);
}

static void
tell_act(struct cli *cli, const struct spiral_event *act)
{
	buf_adds(&cli->text, "  ");
	moment_add(&cli->text, act->at_ms);
	if (act->kind == SPIRAL_REMEDY) {
		buf_adds(&cli->text, "  remediation ");
		cli_coloured(cli,
		    act->outcome != NULL &&
			    strcmp(act->outcome, "completed") == 0 ?
			"32" :
			"33",
		    act->outcome != NULL ? act->outcome : "ended");
		buf_adds(&cli->text, " after ");
		moment_add_age(&cli->text, act->took_ms);
	} else {
		buf_adds(&cli->text, "  the overseer gave up");
	}
	if (act->words != NULL) {
		buf_adds(&cli->text, ": ");
		add_words(cli, act->words);
	}
	buf_addc(&cli->text, '\n');
	if (act->log != NULL) {
		buf_adds(&cli->text, "                       ");
		add_words(cli, act->log);
		buf_addc(&cli->text, '\n');
	}
}

static void
tell_group(struct cli *cli, const struct group *group)
{
	const struct spiral_event *last = group->last;
	cleanup_buf struct buf title = BUF_INIT;
	const char *words = last != NULL && last->words != NULL ?
	    last->words :
	    group->signature;

	text_add_visible(&title, words, strcspn(words, "\n"), false);
	cli_coloured(cli, "1;31", title.data);
	buf_adds(&cli->text, "\n  ");
	if (last == NULL) {
		buf_adds(&cli->text, "older than the history\n");
	} else {
		buf_addf(&cli->text, "%zu time%s", group->count,
		    group->count == 1 ? ": " : "s: first ");
		if (group->count > 1) {
			moment_add(&cli->text, group->first_ms);
			buf_adds(&cli->text, ", last ");
		}
		moment_add(&cli->text, last->at_ms);
		buf_adds(&cli->text, ", after a run of ");
		moment_add_age(&cli->text, last->run_ms);
		buf_addf(&cli->text, "%s\n",
		    last->kind == SPIRAL_STALL ? " (a stall: restarted)" : "");
	}
	for (size_t i = 0; i < group->act_count; i++)
		tell_act(cli, &group->acts[i]);
	buf_addc(&cli->text, '\n');
}

static void
tell_end(struct failures *f, const char *over)
{
	struct cli *cli = f->cli;

	if (f->count == 0)
		buf_addf(&cli->text, "No failures%s.\n",
		    f->clear != NULL ? " since the last --clear" :
				       " are recorded");
	if (f->clear != NULL) {
		buf_adds(&cli->text, "Cleared at ");
		moment_add(&cli->text, f->clear->at_ms);
		buf_adds(&cli->text, ": ");
		add_words(cli, f->clear->words != NULL ? f->clear->words : "?");
		buf_addf(&cli->text, "%s\n",
		    f->begin > 1 ? "  (llmc failures --all shows older ones)" :
				   "");
	}
	if (over != NULL)
		buf_adds(&cli->text,
		    "The overseer will not start again. Fix the cause, then: "
		    "llmc overseer --clear \"what was done\"\n");
}

/* --- JSON ------------------------------------------------------------ */

/* What is shown of a group. */
struct row {
	const char *signature, *kind, *class, *words;
	size_t count;
	int64_t first_ms, last_ms, run_ms; /* -1 = forgotten */
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct row, key, member, ##__VA_ARGS__)

static const struct schema_field group_fields[] = {
	FIELD("signature", signature, .flags = SCHEMA_REQUIRED,
	    .help = "what these failures have in common"),
	FIELD("count", count, .help = "0: older than the history"),
	FIELD("first_ms", first_ms, .flags = SCHEMA_UNKNOWN,
	    .help = "milliseconds since 1970"),
	FIELD("last_ms", last_ms, .flags = SCHEMA_UNKNOWN),
	FIELD("last_run_ms", run_ms, .flags = SCHEMA_UNKNOWN,
	    .help = "how long the daemon had run before the last failure"),
	FIELD("kind", kind, .help = "failure or stall"),
	FIELD("class", class, .help = "see autod(8)"),
	FIELD("words", words, .help = "reason of the last failure"),
	SCHEMA_IS("done", ROWS, "remediations, and where the overseer gave up",
	    .of = &spiral_event_schema),
};
static const struct schema group_schema = SCHEMA_OF(struct row, group_fields);

static struct json_object *
group_json(const struct group *group)
{
	const struct spiral_event *last = group->last;
	struct row row = { .signature = group->signature,
		.count = group->count,
		.first_ms = last != NULL ? group->first_ms : -1,
		.last_ms = last != NULL ? last->at_ms : -1,
		.run_ms = last != NULL ? last->run_ms : -1,
		.kind = last != NULL ? spiral_kind_name(last->kind) : NULL,
		.class = last != NULL ? last->class : NULL,
		.words = last != NULL ? last->words : NULL };
	struct json_object *json = schema_json(&group_schema, &row);
	struct json_object *acts = json_object_new_array();

	for (size_t i = 0; i < group->act_count; i++)
		json_object_array_add(
		    acts, spiral_event_to_json(&group->acts[i]));
	json_set(json, "done", acts);
	return json;
}

static void
make_json(struct failures *f, const char *over)
{
	struct json_object *groups = json_object_new_array();
	struct json_object *events = json_object_new_array();
	struct json_object *json = json_object_new_object();

	for (size_t i = 0; i < f->count; i++)
		json_object_array_add(groups, group_json(&f->groups[i]));
	for (size_t i = f->begin; i < f->history.count; i++)
		json_object_array_add(
		    events, spiral_event_to_json(&f->history.events[i]));
	json_set(json, "failures", groups);
	json_set(json, "events", events);
	json_set(json, "cleared",
	    f->clear != NULL ? spiral_event_to_json(f->clear) : NULL);
	json_set_string(json, "over", over);
	f->cli->result = json;
}

static int
failures_run(struct cli *cli, const struct cli_args *args)
{
	struct failures f = { .cli = cli };
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };
	const char *over;

	if (history_load(&cli->workspace, &f.history, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	over = spiral_is_over(f.history.events, f.history.count, &words) ?
	    words.data :
	    NULL;
	make_groups(&f, args->flags[FLAG_ALL] != NULL);
	make_json(&f, over);
	for (size_t i = 0; i < f.count; i++)
		tell_group(cli, &f.groups[i]);
	tell_end(&f, over);
	for (size_t i = 0; i < f.count; i++)
		free(f.groups[i].acts);
	free(f.groups);
	history_release(&f.history);
	return CLI_OK;
}

/* --- shapes ---------------------------------------------------------- */

static const struct schema failures_shape =
    CLI_FIELDS(SCHEMA_IS("failures", ROWS, "by signature, newest last",
		   .of = &group_schema),
	SCHEMA_IS("events", ROWS, "the events behind the failures, newest last",
	    .of = &spiral_event_schema),
	SCHEMA_OR_NULL(
	    "cleared", OBJECT, "the last --clear", .of = &spiral_event_schema),
	SCHEMA_OR_NULL("over", STRING,
	    "why the overseer will not start before llmc overseer "
	    "--clear"));

const struct cli_command cmd_failures = {
	.name = "failures",
	.usage = "[--all]",
	.summary =
	    "show the failures under the overseer and what was done about them",
	.help =
	    "Lists each failure once: how often it happened, when first and "
	    "last, its\nmessage, and which remediations were tried, how they "
	    "ended and where their logs\nare. The newest is last. Without "
	    "--all, lists only what happened since the last\nllmc overseer "
	    "--clear.\n",
	.flags = failures_flags,
	.shape = CLI_SHAPE(OBJECT, failures_shape),
	.run = failures_run,
};
