/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <unistd.h>

#include "auto.h"
#include "book-history.h"
#include "book.h"
#include "buf.h"
#include "emit.h"
#include "forge-private.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"
#include "persist.h"
#include "pull.h"
#include "schema.h"
#include "settings.h"
#include "task.h"
#include "workspace.h"

/* Before what was refused is tried again. */
#define REFUSED_MS ((int64_t)10 * 60 * 1000)

static void
save(struct forge_floor *floor, const struct pull_row *row)
{
	book_put(floor->core->book, book_pull_table(), row);
}

static struct pull_held *
find(const struct forge_floor *floor, const char *task)
{
	for (size_t i = 0; task != NULL && i < floor->pull_count; i++)
		if (strcmp(floor->pulls[i]->row->task, task) == 0)
			return floor->pulls[i];
	return NULL;
}

bool
pulls_has(const struct forge_floor *floor, const char *task)
{
	return find(floor, task) != NULL;
}

struct task *
pull_task(const struct forge_floor *floor, const struct pull_row *row)
{
	return state_task(&floor->core->state, row->task);
}

static struct pull_held *
hold(struct forge_floor *floor, struct pull_row *row)
{
	struct pull_held *held = xcalloc(1, sizeof *held);

	held->row = row;
	held->page = 1;
	pull_look_init(&held->look, floor->dialect);
	floor->pulls = xreallocarray(
	    floor->pulls, floor->pull_count + 1, sizeof(struct pull_held *));
	floor->pulls[floor->pull_count++] = held;
	return held;
}

static void
held_free(struct pull_held *held)
{
	schema_free(&pull_row_schema, held->row);
	pull_look_release(&held->look);
	free(held->trouble);
	free(held);
}

void
pull_forget(struct forge_floor *floor, struct pull_held *held)
{
	size_t i = 0;

	while (floor->pulls[i] != held)
		i++;
	floor->pulls[i] = floor->pulls[--floor->pull_count];
	book_delete(floor->core->book, book_pull_table(),
	    (const struct book_value[]){ BOOK_T(held->row->task) });
	held_free(held);
	landings_kick(floor->mode->landings);
}

static bool
is_open(const struct pull_row *row)
{
	return row->state == PULL_OPEN && !row->withdrawn && !row->ended;
}

/* The issue that a task is for; NULL = none. */
static const struct forge_row *
issue_of(const struct forge_floor *floor, const char *task)
{
	for (size_t i = 0; i < floor->row_count; i++)
		if (strcmp(floor->rows[i]->task, task) == 0)
			return floor->rows[i];
	return NULL;
}

struct pull_rules
pull_rules_of(const struct forge_floor *floor, const struct pull_row *row)
{
	const struct settings *settings = floor->core->settings;
	const struct forge_row *issue = issue_of(floor, row->task);
	const char *const *labels;

	settings_list(settings, "forge.labels", &labels);
	return (struct pull_rules){
		.draft = settings_bool(settings, "forge.draft"),
		/* An issue that has changed is for a person to look at. */
		.merge = strcmp(settings_string(settings, "forge.merge"),
			     "when-green") == 0 &&
		    (issue == NULL || !issue->changed),
		.labels = *labels != NULL,
	};
}

/* --- what people see ---------------------------------------------- */

/* Is it for a person to merge? */
static bool
asks(const struct forge_floor *floor, const struct pull_row *row)
{
	struct pull_rules rules = pull_rules_of(floor, row);

	if (!is_open(row) || row->turn_sent || row->asked == PULL_WHY_ROUNDS)
		return false;
	return row->asked != PULL_WHY_NONE ||
	    (!rules.merge && row->number != 0 && row->turn == PULL_TURN_NONE &&
		text_is(row->checked, row->pushed) &&
		(row->verdict == PULL_GREEN || row->verdict == PULL_NONE));
}

/* Told when it changes; its task says so, too. */
static void
tell(struct forge_floor *floor, const struct pull_held *held)
{
	const struct pull_row *row = held->row;
	struct task *t = pull_task(floor, row);
	cleanup_buf struct buf words = BUF_INIT;
	bool asking = asks(floor, row) || held->trouble != NULL;

	if (t == NULL)
		return;
	if (held->trouble != NULL)
		buf_adds(&words, held->trouble);
	else if (row->asked != PULL_WHY_NONE && row->asked != PULL_WHY_ROUNDS)
		pull_row_question(row, row->asked, &words);
	else
		pull_row_words(row, &words);
	if (text_is(t->pull, words.data) && t->pull_asks == asking)
		return;
	if (!text_is(t->pull, words.data))
		EMIT(
		    floor->core, EVENT_PULL, .task = t->id, .text = words.data);
	xstrset(&t->pull, words.data);
	if (t->step == TASK_QUEUED)
		xstrset(&t->reason, words.data);
	xstrset(&t->pull_url, row->url);
	t->pull_asks = asking;
	persist_changed(floor->core);
	auto_plan_changed(floor->mode); /* a run may end with it */
}

void
pull_trouble(struct pull_held *held, const char *what, const char *words)
{
	free(held->trouble);
	held->trouble = xasprintf("%s: %s", what, words);
	held->rest_ms = clock_mono_ms() + REFUSED_MS;
}

void
pull_done(struct forge_floor *floor, struct pull_held *held)
{
	save(floor, held->row);
	tell(floor, held);
	forge_done(floor);
}

/* --- what the floors below ask and hand over ---------------------- */

static bool
proposes(void *arg, const struct task *task, const char **ret_wait)
{
	struct forge_floor *floor = arg;
	const struct settings *settings = floor->core->settings;
	int64_t max = settings_int(settings, "forge.pull_requests_open");
	int64_t open = 0;

	if (find(floor, task->id) != NULL)
		return true;
	if (!lands_by_pull(settings))
		return false;
	for (size_t i = 0; i < floor->pull_count; i++)
		open += is_open(floor->pulls[i]->row);
	if (floor->unusable != NULL) {
		*ret_wait = floor->unusable;
	} else if (open >= max) {
		free(floor->full);
		floor->full = xasprintf("%" PRId64 " pull request%s open, and "
					"forge.pull_requests_open is %" PRId64
					": it waits until "
					"one is merged or closed",
		    open, open == 1 ? " is" : "s are", max);
		*ret_wait = floor->full;
	}
	return true;
}

void
pull_hidden(const struct forge_floor *floor, char host[HOST_NAME_MAX + 1],
    const char *ret_hidden[4])
{
	size_t n = 0;

	ret_hidden[n++] = floor->core->workspace->root;
	if (getenv("HOME") != NULL)
		ret_hidden[n++] = getenv("HOME");
	if (gethostname(host, HOST_NAME_MAX) == 0) {
		host[HOST_NAME_MAX] = '\0';
		ret_hidden[n++] = host;
	}
	ret_hidden[n] = NULL;
}

static void
body_of(
    const struct forge_floor *floor, const struct task *task, struct buf *out)
{
	const char *check =
	    settings_string(floor->core->settings, "auto.check_command");
	const struct forge_row *issue = issue_of(floor, task->id);
	char host[HOST_NAME_MAX + 1] = "";
	const char *hidden[4];

	pull_hidden(floor, host, hidden);
	pull_body(
	    &(struct pull_facts){
		.summary = json_string_or(
		    task->attempt.report, "summary", task->last_words),
		.check = check[0] != '\0' ? check : NULL,
		.issue = issue != NULL ? issue->number : 0,
		.cost_usd =
		    task->spent.cost > 0 ? (double)task->spent.cost / 1e6 : -1,
		.hidden = hidden },
	    out);
}

/* In the pass in which its work leaves the queue: both are saved, or none. */
static void
propose(void *arg, struct task *task, const struct landing_item *item)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = find(floor, task->id);
	cleanup_buf struct buf text = BUF_INIT;

	body_of(floor, task, &text);
	if (held != NULL) {
		pull_row_worked(
		    held->row, item->commit, text.data, task->last_words);
		held->rest_ms = 0;
		xstrset(&held->trouble, NULL);
	} else {
		held = hold(floor,
		    pull_row_new(task->id, task->title,
			core_branch(floor->core), floor->owner, item->commit,
			text.data));
	}
	save(floor, held->row);
	tell(floor, held);
	loop_call_request(floor->look);
}

static const struct auto_pulls policy = {
	.proposes = proposes,
	.propose = propose,
};

bool
pulls_expect(const struct forge_floor *floor)
{
	for (size_t i = 0; i < floor->pull_count; i++)
		if (!is_open(floor->pulls[i]->row))
			return true;
	return false;
}

void
pulls_event(struct forge_floor *floor, const struct event *event)
{
	struct pull_held *held = find(floor, event->task);
	struct task *t = held != NULL ? pull_task(floor, held->row) : NULL;

	if (event->kind == EVENT_BRANCH_MOVED)
		for (size_t i = 0; i < floor->pull_count; i++)
			if (floor->pulls[i]->row->state == PULL_MERGED)
				floor->pulls[i]->rest_ms = 0;
	if (held == NULL)
		return;
	if (event->kind == EVENT_TASK_FINISHED && !held->row->ended) {
		held->row->withdrawn = true;
		save(floor, held->row);
	} else if (event->kind == EVENT_TASK_RESUMED &&
	    held->row->asked == PULL_WHY_ROUNDS && t != NULL) {
		pull_row_answered(held->row);
		pull_row_sent(held->row);
		xstrset(&t->reason, held->row->turn_text);
		save(floor, held->row);
		tell(floor, held);
	}
}

static bool
on_loaded(struct book_row *from, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_row *row = schema_new(&pull_row_schema);

	if (book_read(floor->core->book, book_pull_table(), from, row, NULL) <
	    0)
		schema_free(&pull_row_schema, row);
	else
		hold(floor, row);
	return true;
}

void
pulls_load(struct forge_floor *floor)
{
	book_query(floor->core->book, "SELECT pull.* FROM pull", NULL, 0,
	    on_loaded, floor, NULL);
	for (size_t i = 0; i < floor->pull_count; i++) {
		struct pull_row *row = floor->pulls[i]->row;
		const struct task *t = pull_task(floor, row);

		if ((t == NULL || t->step == TASK_SETTLING) && !row->ended &&
		    !row->withdrawn) {
			row->withdrawn = true;
			save(floor, row);
		}
	}
	auto_set_pulls(floor->mode, &policy, floor);
}

void
pulls_free(struct forge_floor *floor)
{
	auto_set_pulls(floor->mode, NULL, NULL);
	for (size_t i = 0; i < floor->pull_count; i++)
		held_free(floor->pulls[i]);
	free(floor->pulls);
	free(floor->pushing);
	free(floor->unusable);
	free(floor->full);
	floor->pulls = NULL;
	floor->pull_count = 0;
}
