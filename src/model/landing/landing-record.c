/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "backoff.h"
#include "check-book.h"
#include "landing-record.h"
#include "schema.h"
#include "settings-table.h"
#include "settings.h"
#include "task.h"

/* --- an item --------------------------------------------------------- */

const char *const item_kind_words[ITEM_KIND_COUNT + 1] = {
	[ITEM_WORK] = "work",
	[ITEM_PICK] = "pick",
	[ITEM_REVERT] = "revert",
	[ITEM_SHARED] = "shared",
};

static const char *const item_step_words[ITEM_STEP_COUNT + 1] = {
	[ITEM_QUEUED] = "queued",
	[ITEM_LANDED] = "landed",
	[ITEM_PROPOSED] = "proposed",
	[ITEM_EJECTED] = "ejected",
	[ITEM_SUBMITTED] = "submitted",
	[ITEM_HELD] = "held",
};

#define ITEM(key, member, ...) \
	SCHEMA_FIELD(struct landing_item, key, member, ##__VA_ARGS__)

static const struct schema_field item_fields[] = {
	ITEM("id", id, .flags = SCHEMA_REQUIRED),
	ITEM("kind", kind, .words = item_kind_words),
	ITEM("step", step, .words = item_step_words),
	ITEM("priority", priority, .words = priority_words),
	ITEM("seq", seq),
	ITEM("worker", worker),
	ITEM("task", task),
	ITEM("attempt", attempt),
	ITEM("title", title),
	ITEM("head", head, .flags = SCHEMA_REQUIRED),
	ITEM("base", base),
	ITEM("undoes", undoes, .max = RED_RUN_MAX),
	ITEM("why", why),
	ITEM("head_tree", head_tree),
	ITEM("base_tree", base_tree),
	ITEM("message", message),
	ITEM("author_name", author_name),
	ITEM("author_email", author_email),
	ITEM("author_date", author_date),
	ITEM("committer_date", committer_date),
	ITEM("freeing", freeing),
	ITEM("approved", approved),
	ITEM("guarded", guarded),
	ITEM("tests", tests),
	ITEM("conflict", conflict),
	ITEM("incorporated", incorporated),
	ITEM("commit", commit),
	ITEM("tree", tree),
	ITEM("place", place),
	ITEM("overtaken", overtaken),
	ITEM("words", words),
	ITEM("picked_head", picked_head),
	ITEM("uncommitted", uncommitted),
	ITEM("queued_ms", queued_ms, .flags = SCHEMA_CLAMP),
};

const struct schema landing_item_schema =
    SCHEMA_OF(struct landing_item, item_fields,
	.blank = &(const struct landing_item){ .priority = PRIORITY_NORMAL });

struct landing_item *
landing_item_new(const char *id)
{
	struct landing_item *item = schema_new(&landing_item_schema);

	xstrset(&item->id, id);
	return item;
}

#define UNKNOWN_TRIES 3 /* without an answer, until a person is asked */

bool
lands_by_pull(const struct settings *settings)
{
	return strcmp(settings_string(settings, "auto.land"), "pull-request") ==
	    0;
}

enum upstream_mode
upstream_mode_of(const struct settings *settings)
{
	const char *mode = settings_string(settings, "repo.upstream");

	if (lands_by_pull(settings))
		return UPSTREAM_FOLLOW;
	/* Hosts have the branch in common at origin, and nowhere else. */
	if (*settings_string(settings, "fleet.database") != '\0')
		return UPSTREAM_PUSH;
	return strcmp(mode, "push") == 0 ? UPSTREAM_PUSH :
	    strcmp(mode, "follow") == 0  ? UPSTREAM_FOLLOW :
					   UPSTREAM_OFF;
}

void
push_record_reached(struct push_record *push)
{
	push->tries = 0;
	push->next_ms = push->away_ms = 0;
	xstrset(&push->reason, NULL);
}

void
push_record_done(
    struct push_record *push, const char *commit, const char *pushed)
{
	xstrset(&push->pushed, pushed);
	if (text_is(push->unpushed, commit))
		xstrset(&push->unpushed, NULL);
	push->rejected = 0;
	push->held = false;
	push_record_reached(push);
}

void
push_record_failed(struct push_record *push, const char *reason, int64_t now_ms)
{
	int64_t ms = backoff_outage.max_ms;

	backoff_next(&backoff_outage, push->tries, &ms);
	push->tries++;
	push->next_ms = now_ms + ms;
	xstrset(&push->reason, reason);
}

/* The clock may go back: never wait longer than this. */
static int64_t
wait_for(int64_t due_ms, int64_t now_ms, int64_t longest_ms)
{
	int64_t ms = due_ms - now_ms;

	if (ms > longest_ms)
		return longest_ms;
	return ms > 0 ? ms : 0;
}

int64_t
push_record_wait_ms(const struct push_record *push, int64_t now_ms)
{
	if (push->unpushed == NULL && !push->held)
		return -1;
	return wait_for(push->next_ms, now_ms, backoff_outage.max_ms);
}

int64_t
push_record_look_ms(const struct push_record *push, enum look_why why,
    int64_t every_ms, int64_t now_ms)
{
	int64_t backs_off =
	    wait_for(push->next_ms, now_ms, backoff_outage.max_ms);
	int64_t age = now_ms - push->looked_ms, regular;
	bool looked = push->looked_ms > 0 && age >= 0;

	switch (why) {
	case LOOK_REGULAR:
		if (every_ms < tuning.look_least)
			every_ms = tuning.look_least;
		regular = !looked ? 0 : age < every_ms ? every_ms - age : 0;
		return regular > backs_off ? regular : backs_off;
	case LOOK_TASK:
		return backs_off > 0 || (looked && age < tuning.look_least) ?
		    -1 :
		    0;
	case LOOK_LANDING:
		break;
	}
	/* Origin that is away keeps nothing from landing. */
	if (backs_off > 0 && !push->held)
		return -1;
	return looked && age < LOOK_LANDING_MS ? -1 : 0;
}

enum push_next
push_record_answer(struct push_record *push, enum push_answer answer,
    const char *words, int64_t now_ms)
{
	switch (answer) {
	case PUSH_OK:
		push->rejected = 0;
		push->held = false;
		push_record_reached(push);
		return PUSH_THEN_LAND;
	case PUSH_AWAY:
		if (push->away_ms == 0)
			push->away_ms = now_ms;
		push_record_failed(push, words, now_ms);
		return PUSH_THEN_LATER;
	case PUSH_REJECTED:
		if (++push->rejected < PUSH_REJECTED_MAX)
			return PUSH_THEN_REBUILD;
		break;
	case PUSH_REFUSED:
		break;
	case PUSH_UNKNOWN:
	case PUSH_ANSWER_COUNT:
		/* It may be there, or be refused: origin must say so first. */
		push->held = true;
		if (push->away_ms == 0)
			push->away_ms = now_ms;
		push_record_failed(push, words, now_ms);
		return PUSH_THEN_HOLD;
	}
	push->held = true;
	push->away_ms = 0;
	push_record_failed(push, words, now_ms);
	return PUSH_THEN_HOLD;
}

bool
push_record_has_failed(const struct push_record *push)
{
	return (push->unpushed != NULL || push->held) && push->tries > 0;
}

bool
push_record_let_go(struct push_record *push)
{
	if (!push->held)
		return false;
	push->held = false;
	push->rejected = 0;
	push_record_reached(push);
	return true;
}

char *
push_record_asks(
    const struct push_record *push, enum upstream_mode mode, const char *branch)
{
	const char *reason =
	    push->reason != NULL ? push->reason : "unknown reason";

	if (mode == UPSTREAM_OFF)
		return NULL;
	if (push->ours != NULL && push->theirs != NULL)
		return xasprintf("%s is at %.12s here and at %.12s at origin, "
				 "and neither has all of the other; choose, in "
				 "a checkout of %s: git rebase %.12s (your "
				 "commits on top), git merge %.12s, or git "
				 "reset --keep %.12s (without your commits)",
		    branch, push->ours, push->theirs, branch, push->theirs,
		    push->theirs, push->theirs);
	if (mode != UPSTREAM_PUSH)
		return NULL;
	if (push->held && push->away_ms > 0)
		return push->tries < UNKNOWN_TRIES ?
		    NULL :
		    xasprintf("origin does not say whether it has taken what "
			      "would land on %s: %s; it waits, and is tried "
			      "again: llmc resume",
			branch, reason);
	if (push->held)
		return xasprintf("origin does not take what would land on %s: "
				 "%s; it waits, and is tried again: llmc "
				 "resume; if %s is protected there, have pull "
				 "requests opened (llmc config set auto.land "
				 "pull-request, then restart the daemon), or "
				 "land only here (llmc config set "
				 "repo.upstream follow) and push it yourself",
		    branch, reason, branch);
	return push_record_has_failed(push) ?
	    xasprintf("landed work could not be pushed: %s", reason) :
	    NULL;
}

const char *
push_record_blocks(
    const struct push_record *push, enum upstream_mode mode, int64_t now_ms)
{
	return mode != UPSTREAM_OFF &&
		now_ms - push->blocked_ms >= FOLLOW_PATIENCE_MS ?
	    push->blocked :
	    NULL;
}

/* What is shown of it. */
struct row {
	const char *state, *commit, *reason;
	int tries;
	int64_t next_ms, away_ms, since_ms;
};

#define PUSH(key, member, ...) \
	SCHEMA_FIELD(struct row, key, member, ##__VA_ARGS__)

static const struct schema_field push_fields[] = {
	PUSH("state", state, .flags = SCHEMA_REQUIRED,
	    .choices = (const char *const[]){ "waiting", "pushing", "failed",
		"held", "away", "diverged", "done", NULL },
	    .help = "held: origin does not take what would land, or (with "
		    "away_unix) does not say whether it has; away: it does "
		    "not answer, and nothing waits for it"),
	PUSH("commit_sha", commit,
	    .help = "that is to be pushed; when done, the last that was; null "
		    "when there is none"),
	PUSH("tries", tries, .help = "that failed"),
	PUSH("reason", reason, .help = "why the last one failed"),
	PUSH("next_unix", next_ms, .flags = SCHEMA_UNIX,
	    .help = "when the next one is"),
	PUSH("away_unix", away_ms, .flags = SCHEMA_UNIX,
	    .help = "since when origin does not answer"),
	PUSH("since_unix", since_ms, .flags = SCHEMA_UNIX,
	    .help = "since when the push runs"),
};

const struct schema push_record_schema = SCHEMA_OF(struct row, push_fields);

struct json_object *
push_record_json(const struct push_record *push)
{
	struct row row = { .state = "done", .commit = push->pushed };

	if (push->unpushed == NULL && push->pushed == NULL && !push->held &&
	    push->tries == 0 && push->ours == NULL && push->pushing_ms == 0)
		return NULL;
	if (push->unpushed != NULL)
		row = (struct row){ .state = "waiting",
			.commit = push->unpushed };
	if (push->tries > 0) {
		row.state = push->held     ? "held" :
		    push->unpushed != NULL ? "failed" :
					     "away";
		row.tries = push->tries;
		row.reason = push->reason;
		row.next_ms = push->next_ms;
		row.away_ms = push->away_ms;
	}
	if (push->pushing_ms > 0)
		row = (struct row){ .state = "pushing",
			.commit = push->pushing,
			.since_ms = push->pushing_ms };
	if (push->ours != NULL) {
		row.state = "diverged";
		row.commit = push->ours;
	}
	return schema_json(&push_record_schema, &row);
}

static int
compare(const void *a, const void *b)
{
	const struct task *x = *(struct task *const *)a;
	const struct task *y = *(struct task *const *)b;

	return x->place < y->place ? -1 : x->place > y->place;
}

void
landed_tasks_find(struct task *const *tasks, size_t count, const char *move,
    struct landed_tasks *ret_list)
{
	ret_list->tasks = xcalloc(count + 1, sizeof(struct task *));
	ret_list->count = 0;
	for (size_t i = 0; i < count; i++)
		if (tasks[i]->step == TASK_LANDED &&
		    text_is(tasks[i]->move, move))
			ret_list->tasks[ret_list->count++] = tasks[i];
	qsort(ret_list->tasks, ret_list->count, sizeof(struct task *), compare);
}

void
landed_tasks_release(struct landed_tasks *list)
{
	free(list->tasks);
	*list = (struct landed_tasks){ 0 };
}

struct task *
landed_tasks_last(const struct landed_tasks *list)
{
	return list->count > 0 ? list->tasks[list->count - 1] : NULL;
}

struct task *
landed_tasks_next_revert(const struct landed_tasks *list)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->tasks[i]->commit != NULL)
			return list->tasks[i];
	return NULL;
}

void
landed_tasks_add_ids(
    const struct landed_tasks *list, const char *between, struct buf *out)
{
	for (size_t i = 0; i < list->count; i++)
		buf_addf(out, "%s%s", i > 0 ? between : "", list->tasks[i]->id);
}

#define RED(key, member, ...) \
	SCHEMA_FIELD(struct red_commit, key, member, ##__VA_ARGS__)

static const struct schema_field red_fields[] = {
	RED("commit", commit, .flags = SCHEMA_REQUIRED),
	RED("tree", tree, .flags = SCHEMA_REQUIRED),
	RED("parent", parent, .flags = SCHEMA_REQUIRED),
	RED("parent_tree", parent_tree, .flags = SCHEMA_REQUIRED),
	RED("task", task, .flags = SCHEMA_REQUIRED),
};

const struct schema red_commit_schema =
    SCHEMA_OF(struct red_commit, red_fields);

void
red_run_release(struct red_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		schema_release(&red_commit_schema, &run->list[i]);
	run->count = 0;
}

void
red_run_add(struct red_run *run, const struct red_commit *commit)
{
	struct red_commit *last;

	if (commit->task == NULL ||
	    (run->count > 0 &&
		strcmp(run->list[run->count - 1].commit, commit->parent) != 0))
		red_run_release(run);
	if (commit->task == NULL)
		return;
	if (run->count == RED_RUN_MAX) {
		schema_release(&red_commit_schema, &run->list[0]);
		memmove(run->list, run->list + 1,
		    (RED_RUN_MAX - 1) * sizeof *run->list);
		run->count--;
	}
	last = &run->list[run->count++];
	*last = (struct red_commit){ 0 };
	schema_copy(&red_commit_schema, commit, last);
}

static bool
has_passed(const struct check_book *book, const char *tree, const char *command)
{
	const struct check_result *result =
	    check_book_find(book, tree, command);

	return result != NULL && result->passes > 0 && result->fails_row == 0;
}

size_t
red_run_length(const struct red_run *run, const char *tip,
    const struct check_book *book, const char *command)
{
	size_t n = 0;

	if (run->count == 0 ||
	    strcmp(run->list[run->count - 1].commit, tip) != 0)
		return 0;
	do
		n++;
	while (n < run->count &&
	    !has_passed(book, run->list[run->count - n].parent_tree, command));
	return n;
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct landing_record, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("ids", ids),
	FIELD("window", window),
	FIELD("branch", branch),
	FIELD("from", from),
	FIELD("to", to),
	FIELD("from_tree", from_tree),
	FIELD("red_told", red_told),
	FIELD("lost", lost),
	FIELD("let_go", let_go),
	FIELD("watched", watched),
	FIELD("watched_ms", watched_ms, .flags = SCHEMA_CLAMP),
	FIELD("overtaken_checks", overtaken.checks, .flags = SCHEMA_CLAMP),
	FIELD("overtaken_moves", overtaken.moves, .flags = SCHEMA_CLAMP),
	FIELD("overtaken_since_ms", overtaken.since_ms, .flags = SCHEMA_CLAMP),
	FIELD("overtaken_moved_ms", overtaken.moved_ms, .flags = SCHEMA_CLAMP),
	FIELD("unproven", overtaken.commit),
	FIELD("unproven_tree", overtaken.tree),
	FIELD("unpushed", push.unpushed),
	FIELD("pushed", push.pushed),
	FIELD("push_tries", push.tries, .flags = SCHEMA_CLAMP),
	FIELD("push_reason", push.reason),
	FIELD("push_next_ms", push.next_ms, .flags = SCHEMA_CLAMP),
	FIELD("push_away_ms", push.away_ms, .flags = SCHEMA_CLAMP),
	FIELD("push_rejected", push.rejected, .flags = SCHEMA_CLAMP),
	FIELD("push_held", push.held),
	FIELD("diverged_ours", push.ours),
	FIELD("diverged_theirs", push.theirs),
	FIELD("replayed", push.replayed),
	FIELD("replayed_tip", push.replayed_tip),
	FIELD("replayed_tree", push.replayed_tree),
	FIELD("follow_blocked", push.blocked),
	FIELD("follow_blocked_ms", push.blocked_ms, .flags = SCHEMA_CLAMP),
	SCHEMA_PARTS(struct landing_record, "items", POINTERS, items, count,
	    landing_item_schema),
	SCHEMA_PARTS(struct landing_record, "own", SLOTS, own.list, own.count,
	    red_commit_schema, .max = RED_RUN_MAX),
	SCHEMA_PART(
	    struct landing_record, "checks", STRUCT, checks, check_book_schema),
};

/* Repair what does not fit together, since the file may have been edited by
 * hand: a journal needs both of its ends. */
static int
check(void *given, const char *at, struct err *err)
{
	struct landing_record *record = given;

	for (size_t i = 0; i < record->count; i++)
		if (landing_record_find(record, record->items[i]->id) !=
		    record->items[i])
			return err_set(err, -EINVAL,
			    "%s.items[%zu].id: another item has this id", at,
			    i);
	if (record->branch != NULL && record->from != NULL &&
	    record->to != NULL)
		return 0;
	xstrset(&record->branch, NULL);
	xstrset(&record->from, NULL);
	xstrset(&record->to, NULL);
	xstrset(&record->from_tree, NULL);
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			xstrset(&record->items[i]->commit, NULL);
	return 0;
}

const struct schema landing_record_schema =
    SCHEMA_OF(struct landing_record, fields, .check = check);

char *
landing_record_overtaken(const struct landing_record *record,
    const struct settings *settings, const char *branch)
{
	char key[CHECK_KEY_SIZE];

	check_book_key(settings_string(settings, "auto.check_command"), key);
	return overtaken_asks(&record->overtaken, overtaken_mode_of(settings),
	    branch, check_book_expected_ms(&record->checks, key));
}

void
landing_record_append(struct landing_record *record, struct landing_item *item)
{
	record->items = xreallocarray(
	    record->items, record->count + 1, sizeof(struct landing_item *));
	record->items[record->count++] = item;
}

struct landing_item *
landing_record_new_item(struct landing_record *record)
{
	cleanup_free char *id = NULL;
	struct landing_item *item;

	/* A file edited by hand may have an item ahead of its counter. */
	do {
		free(id);
		id = xasprintf("q%" PRIu64, ++record->ids);
	} while (landing_record_find(record, id) != NULL);
	item = landing_item_new(id);
	item->seq = record->ids;
	return item;
}

void
landing_record_remove(struct landing_record *record, struct landing_item *item)
{
	size_t at = 0;

	while (at < record->count && record->items[at] != item)
		at++;
	if (at == record->count)
		return;
	schema_free(&landing_item_schema, item);
	record->count--;
	memmove(record->items + at, record->items + at + 1,
	    (record->count - at) * sizeof(struct landing_item *));
}

struct landing_item *
landing_record_find(const struct landing_record *record, const char *id)
{
	for (size_t i = 0; i < record->count; i++)
		if (strcmp(record->items[i]->id, id) == 0)
			return record->items[i];
	return NULL;
}

struct landing_item *
landing_record_of(const struct landing_record *record, const char *worker)
{
	for (size_t i = 0; i < record->count; i++) {
		struct landing_item *item = record->items[i];

		if (item->kind == ITEM_WORK && text_is(item->worker, worker))
			return item;
	}
	return NULL;
}

struct landing_item *
landing_record_of_task(const struct landing_record *record, const char *task)
{
	for (size_t i = 0; i < record->count; i++) {
		struct landing_item *item = record->items[i];

		if (item->kind == ITEM_WORK && text_is(item->task, task))
			return item;
	}
	return NULL;
}

struct landing_item *
landing_record_held(const struct landing_record *record, const char *task)
{
	struct landing_item *item = landing_record_of_task(record, task);

	return item != NULL && item->step == ITEM_HELD ? item : NULL;
}
