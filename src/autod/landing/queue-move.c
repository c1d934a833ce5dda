/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "backoff.h"
#include "core.h"
#include "emit.h"
#include "git-land.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "loop.h"
#include "persist.h"
#include "workspace.h"

#define HELD_TRIES 5 /* for a dirty checkout, until a person is told */

struct queue_move {
	struct queue *queue;
	struct core *core;
	bool running; /* or waiting for the journal to be saved */
	bool stopping;
	struct loop_timer *wait; /* not NULL: a lock is in the way, or git */
	struct checkout_watch *checkout; /* waits: the user's is in the way */
	/* Only work that changes files of the checkout which a user has changed
	 * waits for that; the rest lands. */
	bool partial;
	char **places; /* files of that checkout and of git */
	char *seen; /* how those files were; NULL = not known yet */
	char *reason;
	int lock_tries;
	char *failed; /* the commit that git failed to land last */
	bool pushing; /* the journal's commit, to origin */
	bool pushed; /* origin has it: it lands */
};

static struct landing_record *
record_of(const struct queue_move *move)
{
	return &move->core->state.landings;
}

/* --- waiting --------------------------------------------------------- */

static void look_at_files(struct queue_move *move);

static void
on_wait_over(void *arg)
{
	queue_move_retry(arg);
}

static void
on_checkout_changed(void *arg)
{
	struct queue_move *move = arg;

	if (move->partial)
		look_at_files(move);
	else
		queue_move_retry(move);
}

static void
wait_ms(struct queue_move *move, int64_t ms, const char *reason)
{
	xstrset(&move->reason, reason);
	loop_timer_set(&move->wait, move->core->loop, ms, on_wait_over, move);
}

/* The checkout: looked at once for all, and told of after each back-off. What a
 * user has begun there is never a failure: who repairs that would end it. */
static void
wait_for_checkout(struct queue_move *move, enum git_land_result result,
    const char *detail, const char *const *places)
{
	struct core *core = move->core;
	struct state *state = &core->state;
	cleanup_free char *reason = xasprintf(
	    "your checkout of %s is in the way: %s", core_branch(core), detail);
	cleanup_free char *words = NULL;
	int64_t now = clock_wall_ms(), ms = 0;

	xstrset(&move->reason, reason);
	if (!text_is(state->source_repo_dirty_reason, reason)) {
		xstrset(&state->source_repo_dirty_reason, reason);
		persist_changed(core);
	}
	checkout_watch_wait(move->checkout, places);
	if (now / 1000 < state->source_repo_dirty_retry_after_unix)
		return; /* told of already */
	if (!backoff_next(
		&backoff_dirty, state->source_repo_dirty_retry_count, &ms)) {
		if (result == GIT_LAND_DIRTY) {
			landings_blocked(
			    move->queue->landings, "dirty_checkout", reason);
			return;
		}
		ms = backoff_dirty.max_ms;
	}
	if (result == GIT_LAND_DIRTY ||
	    state->source_repo_dirty_retry_count < backoff_dirty.tries_max - 1)
		state->source_repo_dirty_retry_count++;
	state->source_repo_dirty_backoff_secs = ms / 1000;
	state->source_repo_dirty_retry_after_unix = (now + ms) / 1000;
	persist_changed(core);
	words = xasprintf("Source repository has uncommitted changes. Will "
			  "retry in %lld seconds (attempt %d/%d): %s",
	    (long long)(ms / 1000), state->source_repo_dirty_retry_count,
	    backoff_dirty.tries_max, reason);
	EMIT(core, EVENT_WAITING, .reason = words,
	    .until_unix = state->source_repo_dirty_retry_after_unix);
	if (state->source_repo_dirty_retry_count == HELD_TRIES)
		EMIT(core, EVENT_CHECKOUT_HELD, .branch = core_branch(core),
		    .reason = reason);
}

/* A lock file of another git process goes away. */
static void
wait_for_git(struct queue_move *move, const char *detail)
{
	int64_t ms = 0;

	if (!backoff_next(&backoff_git, move->lock_tries++, &ms)) {
		landings_blocked(move->queue->landings, "git_lock", detail);
		ms = backoff_git.max_ms;
	}
	EMIT(move->core, EVENT_LANDING_WAITS, .branch = core_branch(move->core),
	    .reason = detail);
	wait_ms(move, ms, detail);
}

/* --- the move -------------------------------------------------------- */

/* Is the journal of a daemon that had another landing branch? */
static bool
is_of_another(const struct queue_move *move)
{
	const char *branch = record_of(move)->branch;

	return branch != NULL && strcmp(branch, core_branch(move->core)) != 0;
}

/* The items of the journal. fn may change the list. */
static void
each_item(struct queue_move *move,
    void (*fn)(struct queue_move *move, struct landing_item *item,
	const struct err *err),
    const struct err *err)
{
	const struct landing_record *record = record_of(move);

	for (size_t i = record->count; i-- > 0;)
		if (record->items[i]->step == ITEM_QUEUED &&
		    record->items[i]->commit != NULL)
			fn(move, record->items[i], err);
}

static void
item_landed(
    struct queue_move *move, struct landing_item *item, const struct err *err)
{
	(void)err;
	settle_landed(move->queue->landings, item);
}

static void
item_back(
    struct queue_move *move, struct landing_item *item, const struct err *err)
{
	xstrset(&item->commit, NULL);
	xstrset(&item->tree, NULL);
	item->incorporated = item->overtaken = false;
	/* Work that a person is waiting for is not kept back. */
	if (err != NULL)
		settle_refused(move->queue->landings, item, err);
}

static void
end_journal(struct queue_move *move)
{
	struct landing_record *record = record_of(move);

	xstrset(&record->branch, NULL);
	xstrset(&record->from, NULL);
	xstrset(&record->to, NULL);
	xstrset(&record->from_tree, NULL);
	move->running = move->pushed = false;
	persist_changed(move->core);
	upstream_moved(move->queue->upstream);
	queue_look(move->queue);
}

/* The item of this move that is at this place of it; NULL = none. */
static struct landing_item *
item_at(const struct landing_record *record, int place)
{
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_LANDED &&
		    record->items[i]->tree != NULL &&
		    record->items[i]->place == place)
			return record->items[i];
	return NULL;
}

/* Which commits are there now that tasks landed? */
static void
note_own(struct landing_record *record)
{
	struct red_commit next = { .parent = record->from,
		.parent_tree = record->from_tree };
	struct landing_item *item;

	for (int i = 1; (item = item_at(record, i)) != NULL; i++) {
		next.commit = item->commit;
		next.tree = item->tree;
		next.task =
		    item->kind == ITEM_WORK || item->kind == ITEM_SHARED ?
		    item->task :
		    NULL;
		if (item->commit != NULL && next.parent_tree != NULL) {
			red_run_add(&record->own, &next);
			next.parent = item->commit;
			next.parent_tree = item->tree;
		}
	}
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_LANDED)
			xstrset(&record->items[i]->tree, NULL);
}

/* Was what lands checked as it lands? If not, that is still to be done. */
static void
note_overtaken(struct queue_move *move)
{
	struct landing_record *record = record_of(move);
	struct overtaken_record *overtaken = &record->overtaken;

	overtaken_over(overtaken);
	xstrset(&overtaken->commit, NULL);
	xstrset(&overtaken->tree, NULL);
	for (size_t i = 0; i < record->count; i++) {
		const struct landing_item *item = record->items[i];

		if (item->step != ITEM_QUEUED || !item->overtaken ||
		    !text_is(item->commit, record->to))
			continue;
		xstrset(&overtaken->commit, item->commit);
		xstrset(&overtaken->tree, item->tree);
	}
	move->queue->passed = 0;
	move->queue->passed_overtaken = false;
	xstrset(&move->queue->planned, record->to);
}

static bool
any_held(const struct queue_move *move)
{
	const struct landing_record *record = record_of(move);

	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED &&
		    record->items[i]->overlaps)
			return true;
	return false;
}

/* Nothing waits for the checkout any more. */
static void
forget_checkout(struct queue_move *move)
{
	struct state *state = &move->core->state;

	checkout_watch_end(move->checkout);
	move->partial = false;
	xstrset(&move->reason, NULL);
	xstrset(&state->source_repo_dirty_reason, NULL);
	state->source_repo_dirty_retry_after_unix = 0;
	state->source_repo_dirty_backoff_secs = 0;
	state->source_repo_dirty_retry_count = 0;
	persist_note(move->core);
}

static void
landed(struct queue_move *move)
{
	struct landing_record *record = record_of(move);
	size_t tasks = 0;
	struct landings *landings;

	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED &&
		    record->items[i]->commit != NULL)
			tasks++;
	record->window = landing_plan_window_landed(record->window, tasks);
	xstrset(&record->red_told, NULL); /* what lands has passed its check */
	loop_timer_free(take_ptr(&move->wait));
	if (!any_held(move))
		forget_checkout(move);
	move->lock_tries = 0;
	xstrset(&move->failed, NULL);
	landings = move->queue->landings;
	EMIT(landings->core, EVENT_BRANCH_MOVED,
	    .branch = landings_moving(landings), .from = record->from,
	    .to = record->to);
	landed_watch_moved(move->queue->landed, record->from, record->to);
	note_overtaken(move);
	each_item(move, item_landed, NULL);
	note_own(record);
	if (text_is(move->queue->read, record->from))
		xstrset(&move->queue->read, record->to);
	if (!is_of_another(move)) /* that is not pushed */
		upstream_landed(move->queue->upstream, record->to);
	end_journal(move);
}

static void
item_at_origin(
    struct queue_move *move, struct landing_item *item, const struct err *err)
{
	xstrset(&item->tree, NULL); /* for note_own() it is not on the branch */
	item_landed(move, item, err);
}

/* A person has committed while it was pushed. Built again on top of that it
 * would land twice: the branch has diverged, and that is asked about. */
static void
landed_at_origin(struct queue_move *move)
{
	each_item(move, item_at_origin, NULL);
	end_journal(move);
	upstream_split(move->queue->upstream);
	queue_base_changed(move->queue);
}

static void
not_landed(struct queue_move *move, const struct err *err)
{
	each_item(move, item_back, err);
	end_journal(move);
	queue_base_changed(move->queue);
}

/* Does anything still wait for the branch to move? */
static bool
is_waited_for(const struct queue_move *move)
{
	const struct landing_record *record = record_of(move);

	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			return true;
	return false;
}

/* Something outside is in the way: a person gets the error, the rest waits. */
static void
in_the_way(struct queue_move *move, enum git_land_result result,
    const char *detail, const char *const *places, const struct err *err)
{
	cleanup_free char *words = xstrdup(detail);

	if (move->pushed) /* the journal stays, and the branch follows */
		move->running = false;
	else
		not_landed(move, err);
	if (!is_waited_for(move)) {
		checkout_watch_end(move->checkout);
		return;
	}
	if (result == GIT_LAND_DIRTY || result == GIT_LAND_BUSY)
		move->partial = false;
	if (result == GIT_LAND_DIRTY || result == GIT_LAND_BUSY)
		wait_for_checkout(move, result, words, places);
	else
		wait_for_git(move, words);
}

/* --- files that work and a user both change ---------------------------- */

/* The files of the checkout; the rest are git's own. */
static char **
files_of(const struct queue_move *move, char *const *places)
{
	cleanup_free char *git =
	    xasprintf("%s/", move->core->workspace->git_dir);
	char **files = NULL;

	for (; places != NULL && *places != NULL; places++)
		if (!text_begins(*places, git))
			strv_add(&files, *places);
	return files;
}

/* What git says of them, and what the kernel does: a landing of other work
 * changes neither. */
static void
on_seen(const struct git_answer *answer, void *arg)
{
	struct queue_move *move = arg;
	cleanup_strv char **files = files_of(move, move->places);
	cleanup_buf struct buf seen = BUF_INIT;
	struct stat st;

	if (!move->partial)
		return;
	for (size_t i = 0; i < answer->out_len; i++)
		buf_addc(&seen, answer->out[i] != '\0' ? answer->out[i] : '\n');
	for (char **file = files; file != NULL && *file != NULL; file++)
		if (lstat(*file, &st) == 0)
			buf_addf(&seen, "%lld %lld.%09ld\n",
			    (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			    st.st_mtim.tv_nsec);
	if (any_held(move) && answer->status == 0 && answer->out_len > 0 &&
	    (move->seen == NULL || strcmp(move->seen, seen.data) == 0)) {
		xstrset(&move->seen, seen.data);
		checkout_watch_wait(move->checkout, strv_const(move->places));
		return;
	}
	queue_move_retry(move);
}

static void
look_at_files(struct queue_move *move)
{
	const struct core *core = move->core;
	cleanup_strv char **args = NULL, **files = NULL;
	struct git_command ask = { 0 };

	checkout_watch_looks(move->checkout);
	strv_add_all(&args,
	    (const char *[]){ "--literal-pathspecs", "status", "--porcelain",
		"-z", "--no-renames", "--untracked-files=all", "--ignored",
		"--", NULL });
	files = files_of(move, move->places);
	strv_add_all(&args, strv_const(files));
	ask.args = strv_const(args);
	git_run(
	    git_queue(core->git, core->workspace->root), &ask, on_seen, move);
}

static void
hold_item(
    struct queue_move *move, struct landing_item *item, const struct err *err)
{
	(void)move;
	(void)err;
	item->overlaps = true;
}

/* What changes those files waits until the user has ended with them, as git
 * itself would refuse it; the rest goes on. Of several that were to land
 * together, each is tried alone. */
static bool
hold_overlapping(struct queue_move *move, const char *detail,
    const char *const *places, const struct err *err)
{
	struct landing_record *record = record_of(move);
	cleanup_strv char **copy = strv_copy(places), **files = NULL;
	cleanup_free char *words = xstrdup(detail);
	size_t count = 0;

	files = files_of(move, copy);
	if (!core_lands_when_dirty(move->core) || move->pushed || files == NULL)
		return false;
	for (size_t i = 0; i < record->count; i++)
		count += record->items[i]->step == ITEM_QUEUED &&
		    record->items[i]->commit != NULL;
	if (count > 1 && record->window != 1) {
		record->window = 1;
		not_landed(move, NULL);
		return true;
	}
	each_item(move, hold_item, NULL);
	not_landed(move, err);
	if (!any_held(move))
		return true;
	move->partial = true;
	xstrset(&move->seen, NULL);
	for (char **place = copy; *place != NULL; place++)
		if (!strv_has(strv_const(move->places), *place))
			strv_add(&move->places, *place);
	wait_for_checkout(move, GIT_LAND_BUSY, words, strv_const(move->places));
	return true;
}

static void
forget_built(
    struct queue_move *move, struct landing_item *item, const struct err *err)
{
	(void)err;
	candidates_forget(move->queue->candidates, item->id);
}

/* What was built may be gone: somebody ran git gc without our refs. The same
 * commit is built again, once. */
static void
failed(struct queue_move *move, const struct err *err)
{
	const char *to = record_of(move)->to;
	bool first = !text_is(move->failed, to);

	xstrset(&move->failed, to);
	each_item(move, forget_built, NULL);
	not_landed(move, first ? NULL : err);
	if (!first && is_waited_for(move)) {
		landings_blocked(move->queue->landings, "git", err->msg);
		wait_ms(move, backoff_git.max_ms, err->msg);
	}
}

static void
on_result(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *error, void *arg)
{
	struct queue_move *move = arg;
	const char *branch = core_branch(move->core);
	struct err err = { 0 };

	switch (result) {
	case GIT_LANDED:
		landed(move);
		break;
	case GIT_LAND_MOVED:
		if (move->pushed)
			landed_at_origin(move);
		else
			not_landed(move, NULL);
		break;
	case GIT_LAND_DIRTY:
		err_set(&err, -EBUSY,
		    "your checkout of %s is in the way: %s; commit or stash "
		    "the changes and try again",
		    branch, detail);
		if (!hold_overlapping(move, detail, places, &err))
			in_the_way(move, result, detail, places, &err);
		break;
	case GIT_LAND_BUSY:
		err_set(&err, -EBUSY,
		    "your checkout of %s is in the way: %s; end that and try "
		    "again",
		    branch, detail);
		in_the_way(move, result, detail, places, &err);
		break;
	case GIT_LAND_HELD:
		err_set(&err, -EBUSY, "%s; try again", detail);
		in_the_way(move, result, detail, places, &err);
		break;
	case GIT_LAND_FAILED:
		err = *error;
		failed(move, &err);
		break;
	}
}

/* Has the journal's commit reached the branch that is no longer the landing
 * branch? If not, it is built again for the new one. */
static void
on_old_branch(const struct git_answer *answer, void *arg)
{
	struct queue_move *move = arg;

	if (answer->status == 0)
		landed(move);
	else
		not_landed(move, NULL);
}

static void
settle_old(struct queue_move *move)
{
	const struct core *core = move->core;
	const struct landing_record *record = record_of(move);
	cleanup_free char *ref = xasprintf("refs/heads/%s", record->branch);
	const char *const args[] = { "merge-base", "--is-ancestor", record->to,
		ref, NULL };
	struct git_command ask = { .args = args };

	git_run(git_queue(core->git, core->workspace->root), &ask,
	    on_old_branch, move);
}

/* Each commit is kept by the name of its task, or of its item, and by its own:
 * those of tasks and items begin again with a new book. */
static void
land(struct queue_move *move)
{
	struct core *core = move->core;
	const struct landing_record *record = record_of(move);
	cleanup_strv char **keep = NULL;

	for (size_t i = 0; i < record->count; i++) {
		const struct landing_item *item = record->items[i];
		bool work =
		    item->kind == ITEM_WORK || item->kind == ITEM_SHARED;

		if (item->step == ITEM_QUEUED && item->commit != NULL &&
		    !item->incorporated)
			strv_take(&keep,
			    xasprintf("%s-%.12s %s",
				work && item->task != NULL ? item->task :
							     item->id,
				item->commit, item->commit));
	}
	git_land(core->git, core_branch(core), record->from, record->to,
	    strv_const(keep), core_lands_when_dirty(core), on_result, move);
}

/* Origin is the judge of who was first. */
static void
on_pushed(enum push_next next, void *arg)
{
	struct queue_move *move = arg;

	move->pushing = false;
	move->pushed = next == PUSH_THEN_LAND;
	if (next == PUSH_THEN_LAND || next == PUSH_THEN_LATER)
		land(move);
	else
		not_landed(move, NULL);
}

static void
on_saved(void *arg)
{
	struct queue_move *move = arg;
	const struct landing_record *record = record_of(move);

	if (move->stopping) {
		move->running = false;
		return; /* the next daemon finds the journal */
	}
	if (is_of_another(move)) {
		settle_old(move);
		return;
	}
	move->pushing = !move->pushed && upstream_takes(move->queue->upstream);
	if (move->pushing)
		upstream_push(
		    move->queue->upstream, record->to, on_pushed, move);
	else
		land(move);
}

void
queue_move_begin(struct queue_move *move)
{
	if (move->running || record_of(move)->to == NULL)
		return;
	move->running = true;
	persist_then(move->core, move, on_saved, move);
}

bool
queue_move_busy(const struct queue_move *move)
{
	return move->running;
}

bool
queue_move_waits(const struct queue_move *move)
{
	return move->wait != NULL ||
	    (!move->partial && checkout_watch_waits(move->checkout));
}

const char *
queue_move_reason(const struct queue_move *move)
{
	return queue_move_waits(move) || move->partial ? move->reason : NULL;
}

void
queue_move_retry(struct queue_move *move)
{
	struct landing_record *record = record_of(move);

	loop_timer_free(take_ptr(&move->wait));
	move->partial = false;
	strv_clear(&move->places);
	xstrset(&move->seen, NULL);
	for (size_t i = 0; i < record->count; i++)
		record->items[i]->overlaps = false;
	if (is_waited_for(move))
		checkout_watch_looks(move->checkout);
	else
		checkout_watch_end(move->checkout);
	queue_look(move->queue);
}

void
queue_move_stop(struct queue_move *move)
{
	move->stopping = true;
	/* A push is not waited for: the next daemon finds the journal. */
	if (move->pushing)
		move->running = move->pushing = false;
}

struct queue_move *
queue_move_new(struct queue *queue)
{
	struct queue_move *move = xcalloc(1, sizeof *move);

	move->queue = queue;
	move->core = queue->core;
	move->checkout =
	    checkout_watch_new(move->core->loop, on_checkout_changed, move);
	return move;
}

void
queue_move_free(struct queue_move *move)
{
	if (move == NULL)
		return;
	persist_forget(move->core, move);
	checkout_watch_free(move->checkout);
	loop_timer_free(move->wait);
	strv_clear(&move->places);
	free(move->seen);
	free(move->reason);
	free(move->failed);
	free(move);
}
