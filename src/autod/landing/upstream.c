/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "backoff.h"
#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "git-freeze.h"
#include "git-land.h"
#include "git-landed.h"
#include "git-replay.h"
#include "git-upstream.h"
#include "landing-private.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"
#include "persist.h"
#include "prompt.h"
#include "settings.h"
#include "worker-op.h"
#include "workspace.h"

#define STOP_MS  3000
#define HASTE_MS (15 * 1000) /* that a task waits for origin, at most */

enum step {
	STEP_IDLE,
	STEP_LOOKS, /* at origin */
	STEP_FOLLOWS, /* moves the branch to what origin has */
	STEP_REPLAYS, /* moves it there with what has landed here on top */
	STEP_PUSHES,
};

struct upstream {
	struct queue *queue;
	struct core *core;
	/* Its own, so that no other command waits for the remote, and neither
	 * does the end of the daemon. */
	struct git *git;
	char *remote, *ref; /* of the branch; NULL = to be asked for */
	enum upstream_mode asked; /* they are for this */
	enum step step;
	bool again; /* look once more when the step is done */
	bool begun, stopping;
	struct loop_timer *timer; /* for the next look or try, or the end */
	/* As of the last look. */
	bool known;
	enum git_upstream_stand stand;
	char *theirs, *ours; /* commits; theirs "" = it has no such branch */
	char *refused; /* "OURS THEIRS" that a rebase does not solve */
	struct checkout_watch *checkout; /* waits: it cannot follow */
	struct loop_timer *held; /* the same, for a lock of git */
	char *reason; /* why it cannot */
	struct loop_timer *asks; /* a person, if that stays */
	struct loop_timer *haste; /* tasks wait for the look that runs; NULL =
				   * none does */
	bool slow; /* ... and none does any more */
	char *covers; /* record->unpushed when the push that runs began */
	/* What is to land when origin has it; NULL = nothing. */
	char *landing;
	upstream_push_fn *fn;
	void *arg;
};

static void look(struct upstream *up);
static bool replay(struct upstream *up);
static void replay_resume(struct upstream *up);
static void follow(struct upstream *up);
static void push_now(struct upstream *up, const char *commit);

static struct push_record *
record_of(const struct upstream *up)
{
	return &up->core->state.landings.push;
}

static enum upstream_mode
mode_of(const struct upstream *up)
{
	return upstream_mode_of(up->core->settings);
}

/* Do other hosts land on the branch, too? Then nothing lands without origin's
 * word. */
static bool
is_shared(const struct upstream *up)
{
	return up->queue->landings->hosts != NULL;
}

/* --- when ------------------------------------------------------------ */

static void
on_time(void *arg)
{
	struct upstream *up = arg;

	loop_timer_free(take_ptr(&up->timer));
	look(up);
}

static void
arm(struct upstream *up)
{
	struct push_record *record = record_of(up);
	int64_t now = clock_wall_ms(), ms, push;

	if (mode_of(up) == UPSTREAM_OFF || up->stopping ||
	    up->step != STEP_IDLE)
		return;
	ms = push_record_look_ms(record, LOOK_REGULAR,
	    settings_duration(up->core->settings, "repo.fetch_every"), now);
	push = push_record_wait_ms(record, now);
	/* What would land has its own look, when it can land. */
	if (mode_of(up) == UPSTREAM_PUSH && push < ms && record->ours == NULL &&
	    (push > 0 || record->unpushed != NULL))
		ms = push > 0 ? push : 0;
	loop_timer_set(&up->timer, up->core->loop, ms, on_time, up);
}

/* Tasks that wait for the look begin. */
static void
on_haste(void *arg)
{
	struct upstream *up = arg;

	if (up->haste == NULL)
		return;
	loop_timer_free(take_ptr(&up->haste));
	up->slow = true;
	op_start_fresh(up->queue->landings->fleet);
}

/* What waited for origin is decided again. */
static void
rest(struct upstream *up)
{
	up->step = STEP_IDLE;
	if (up->stopping)
		return;
	if (up->again) {
		up->again = false;
		look(up);
		return;
	}
	on_haste(up);
	up->slow = false;
	if (up->landing != NULL) {
		push_now(up, up->landing);
		return;
	}
	arm(up);
	queue_look(up->queue);
}

static void
on_ref_dropped(const struct err *err, void *arg)
{
	(void)arg;
	if (err != NULL) /* it only keeps a commit longer than needed */
		log_debug("a ref of what has landed stays");
}

/* --- how it stands with origin ---------------------------------------- */

static void
away(struct upstream *up, const char *words)
{
	struct push_record *record = record_of(up);

	/* The remote may get another name or place. */
	xstrset(&up->remote, NULL);
	push_record_answer(record, is_shared(up) ? PUSH_UNKNOWN : PUSH_AWAY,
	    words, clock_wall_ms());
	if (record->tries == 1)
		EMIT(up->core,
		    mode_of(up) == UPSTREAM_PUSH ? EVENT_PUSH_FAILED :
						   EVENT_ORIGIN_AWAY,
		    .branch = core_branch(up->core), .commit = record->unpushed,
		    .reason = words);
	persist_changed(up->core);
}

static void
note_divergence(struct upstream *up, const char *ours, const char *theirs)
{
	struct push_record *record = record_of(up);

	if (ours == NULL ? record->ours == NULL :
			   text_is(record->ours, ours) &&
		    strcmp(record->theirs, theirs) == 0)
		return;
	xstrset(&record->ours, ours);
	xstrset(&record->theirs, theirs);
	persist_changed(up->core);
}

/* A pull request would show what somebody has committed here and not pushed.
 * NULL = it would not; else the caller frees it. */
static char *
lacks(const struct upstream *up)
{
	const char *branch = core_branch(up->core);

	if (up->stand == GIT_STAND_SAME || up->stand == GIT_STAND_BEHIND)
		return NULL;
	if (up->stand == GIT_STAND_DIVERGED)
		return xasprintf("%s and origin each have commits that the "
				 "other lacks; see: llmc asks",
		    branch);
	return xasprintf("%s has commits that origin lacks, and pull requests "
			 "would have them; push them: git push %s %s",
	    branch, up->remote, branch);
}

/* The asks follow from what is saved. */
static void
on_blocked_long(void *arg)
{
	struct upstream *up = arg;

	loop_timer_free(take_ptr(&up->asks));
	persist_changed(up->core);
}

/* A checkout is in the way, or commits that were not pushed; NULL = neither. */
static void
note_blocked(struct upstream *up, const char *reason)
{
	struct push_record *record = record_of(up);
	int64_t now = clock_wall_ms();

	if (reason == NULL && record->blocked == NULL)
		return;
	if (record->blocked == NULL || record->blocked_ms > now)
		record->blocked_ms = now;
	xstrset(&record->blocked, reason);
	loop_timer_free(take_ptr(&up->asks));
	if (reason != NULL && !up->stopping &&
	    now - record->blocked_ms < FOLLOW_PATIENCE_MS)
		up->asks = loop_after(up->core->loop,
		    record->blocked_ms + FOLLOW_PATIENCE_MS - now,
		    on_blocked_long, up);
	persist_changed(up->core);
}

static void
on_fetched(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct upstream *up = arg;
	struct push_record *record = record_of(up);

	record->looked_ms = clock_wall_ms();
	if (fetched->result != PUSH_OK) {
		away(up, words);
		rest(up);
		return;
	}
	/* What it does not take it may still not take. */
	if (record->tries > 0 && !record->held) {
		push_record_reached(record);
		persist_changed(up->core);
	}
	up->known = true;
	up->stand = fetched->stand;
	xstrset(&up->theirs, fetched->remote);
	xstrset(&up->ours, fetched->branch);
	if (replay(up))
		return;
	note_divergence(up, up->stand == GIT_STAND_DIVERGED ? up->ours : NULL,
	    up->stand == GIT_STAND_DIVERGED ? up->theirs : NULL);
	if (lands_by_pull(up->core->settings)) {
		free(up->reason);
		up->reason = lacks(up);
	}
	if (up->stand != GIT_STAND_BEHIND &&
	    (!lands_by_pull(up->core->settings) || up->reason == NULL ||
		!landings_busy(up->queue->landings)))
		note_blocked(up, NULL);
	if (!landings_busy(up->queue->landings) && push_record_let_go(record))
		persist_changed(up->core);
	if (record->unpushed != NULL &&
	    (up->stand == GIT_STAND_BEHIND || up->stand == GIT_STAND_SAME)) {
		push_record_done(record, record->unpushed, up->theirs);
		persist_changed(up->core);
	}
	switch (up->stand) {
	case GIT_STAND_BEHIND:
		up->step = STEP_IDLE;
		follow(up);
		return;
	case GIT_STAND_SAME:
		break;
	case GIT_STAND_AHEAD:
	case GIT_STAND_NONE:
		/* What has landed while it was away. */
		if (mode_of(up) == UPSTREAM_PUSH && record->unpushed != NULL &&
		    up->landing == NULL && !up->stopping) {
			up->step = STEP_IDLE;
			push_now(up, up->ours);
			return;
		}
		break;
	case GIT_STAND_DIVERGED:
	case GIT_STAND_COUNT:
		break;
	}
	rest(up);
}

static void
fetch(struct upstream *up)
{
	cleanup_free char *keep =
	    xasprintf("refs/llmc/upstream/%s", core_branch(up->core));

	git_upstream_fetch(up->git,
	    &(struct git_fetch_spec){ .remote = up->remote,
		.ref = up->ref,
		.keep = keep,
		.branch = core_branch(up->core),
		.known_remote = up->known ? up->theirs : NULL,
		.known_branch = up->known ? up->ours : NULL,
		.known_stand = up->stand },
	    on_fetched, up);
}

/* "origin refs/heads/main"; a branch that has no upstream yet has that of its
 * own name at origin. What lands is pushed to the branch of the same name only,
 * as by git push: one that was made from origin/main must not push there. */
static void
on_names(const struct git_answer *answer, void *arg)
{
	struct upstream *up = arg;
	const char *space = strchr(answer->out, ' ');
	bool set = answer->status == 0 && space != NULL &&
	    space != answer->out && space[1] != '\0' &&
	    !text_begins(answer->out, ". ");
	bool by_name = !set || up->asked == UPSTREAM_PUSH;

	free(up->remote);
	free(up->ref);
	up->remote = set ?
	    xstrndup(answer->out, (size_t)(space - answer->out)) :
	    xstrdup("origin");
	up->ref = by_name ? xasprintf("refs/heads/%s", core_branch(up->core)) :
			    xstrndup(space + 1, strcspn(space + 1, "\n"));
	fetch(up);
}

/* One look for all that want one. */
static void
look(struct upstream *up)
{
	static const char follows[] =
	    "--format=%(upstream:remotename) %(upstream:remoteref)";
	static const char pushes[] = "--format=%(push:remotename) by-name";
	cleanup_free char *ref = NULL;
	const char *args[] = { "for-each-ref", follows, NULL, NULL };
	struct git_command ask = { .args = args };

	if (mode_of(up) == UPSTREAM_OFF || up->stopping)
		return;
	if (up->step != STEP_IDLE) {
		up->again |= up->step != STEP_LOOKS;
		return;
	}
	if (record_of(up)->replayed_tip != NULL) {
		up->again = true;
		replay_resume(up);
		return;
	}
	up->step = STEP_LOOKS;
	if (up->remote != NULL && up->asked == mode_of(up)) {
		fetch(up);
		return;
	}
	up->asked = mode_of(up);
	up->known = false;
	if (up->asked == UPSTREAM_PUSH)
		args[1] = pushes;
	ref = xasprintf("refs/heads/%s", core_branch(up->core));
	args[2] = ref;
	git_run(git_queue(up->git, git_root(up->git)), &ask, on_names, up);
}

/* --- the branch follows ------------------------------------------------ */

static void
on_follow_again(void *arg)
{
	struct upstream *up = arg;

	loop_timer_free(take_ptr(&up->held));
	follow(up);
}

/* Work that origin has, as its trailer says, has landed: an earlier answer was
 * lost, with the journal. Who wrote it, and when, tells it from a task of the
 * same number that somebody else's llmc has landed. */
static void
on_trailers(const struct git_answer *answer, void *arg)
{
	struct upstream *up = arg;
	struct landing_record *record = &up->core->state.landings;
	cleanup_free char *text = xstrdup(answer->out);
	char *rest_of = text, *line;

	while ((line = strsep(&rest_of, "\n")) != NULL) {
		const char *commit = strsep(&line, "\t");
		const char *date = strsep(&line, "\t");
		const char *email = strsep(&line, "\t");

		for (size_t i = record->count; line != NULL && i-- > 0;) {
			struct landing_item *item = record->items[i];

			if (item->kind != ITEM_WORK ||
			    item->step != ITEM_QUEUED || item->commit != NULL ||
			    item->task == NULL || item->author_date == NULL ||
			    strcmp(item->task, line) != 0 ||
			    strcmp(item->author_date, date) != 0 ||
			    strcmp(item->author_email, email) != 0)
				continue;
			xstrset(&item->commit, commit);
			push_record_let_go(&record->push);
			settle_landed(up->queue->landings, item);
		}
	}
	up->step = STEP_IDLE;
	queue_base_changed(up->queue);
	rest(up);
}

static void
read_trailers(struct upstream *up, const char *from)
{
	static const char format[] =
	    "--format=%H%x09%ad%x09%ae%x09%(trailers:key=" PROMPT_TASK_TRAILER
	    ",valueonly,separator=%x2C)";
	cleanup_free char *range = xasprintf("%s..%s", from, up->theirs);
	const char *const args[] = { "log", "--no-show-signature", "--date=raw",
		"--max-count=1000", format, range, "--", NULL };
	struct git_command ask = { .args = args };

	up->step = STEP_FOLLOWS;
	git_run(git_queue(up->git, git_root(up->git)), &ask, on_trailers, up);
}

static void
on_followed(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	struct upstream *up = arg;
	const char *branch = core_branch(up->core);

	up->step = STEP_IDLE;
	switch (result) {
	case GIT_LANDED:
		EMIT(up->core, EVENT_FOLLOWED, .branch = branch,
		    .commit = up->theirs);
		EMIT(up->core, EVENT_BRANCH_MOVED, .branch = branch,
		    .from = up->ours, .to = up->theirs);
		up->stand = GIT_STAND_SAME;
		xstrset(&up->reason, NULL);
		note_blocked(up, NULL);
		checkout_watch_end(up->checkout);
		if (landings_busy(up->queue->landings) && !up->stopping) {
			cleanup_free char *from = take_ptr(&up->ours);

			up->ours = xstrdup(up->theirs);
			read_trailers(up, from);
			return;
		}
		xstrset(&up->ours, up->theirs);
		break;
	case GIT_LAND_MOVED:
		up->again = true;
		break;
	case GIT_LAND_DIRTY:
	case GIT_LAND_BUSY:
		free(up->reason);
		up->reason = xasprintf("your checkout of %s is in the way of "
				       "what origin has: %s",
		    branch, detail);
		note_blocked(up, up->reason);
		checkout_watch_wait(up->checkout, places);
		break;
	case GIT_LAND_HELD:
	case GIT_LAND_FAILED:
		xstrset(&up->reason, err != NULL ? err->msg : detail);
		loop_timer_set(&up->held, up->core->loop,
		    backoff_outage.first_ms, on_follow_again, up);
		break;
	}
	rest(up);
}

/* By the rules of a landing: its lock, compare-and-swap, and the checkout goes
 * along or makes it wait. Not while a landing moves the branch. */
static void
follow(struct upstream *up)
{
	struct core *core = up->core;

	if (up->step != STEP_IDLE || up->stopping ||
	    mode_of(up) == UPSTREAM_OFF || !up->known ||
	    up->stand != GIT_STAND_BEHIND)
		return;
	if (core->state.landings.to != NULL) {
		rest(up);
		return;
	}
	checkout_watch_looks(up->checkout);
	up->step = STEP_FOLLOWS;
	git_land(core->git, core_branch(core), up->ours, up->theirs, NULL,
	    core_lands_when_dirty(core), on_followed, up);
}

/* --- what has landed here goes on top of what origin has ------------------ */

/* What the commits are known by: the tasks, and the refs. */
static void
replay_note(struct upstream *up)
{
	struct core *core = up->core;
	struct push_record *record = record_of(up);
	struct landing_record *landings = &core->state.landings;

	for (char **line = record->replayed; line != NULL && *line != NULL;
	     line++) {
		cleanup_free char *copy = xstrdup(*line), *ref = NULL;
		char *rest = copy;
		const char *id = strsep(&rest, " ");
		const char *from = strsep(&rest, " ");
		const char *to = rest != NULL && *rest != '\0' ? rest : from;
		struct task *filed = from != NULL ?
		    book_find_task_commit(core->book, from) :
		    NULL;

		if (from == NULL)
			continue;
		for (size_t i = 0; i < core->state.task_count; i++)
			if (text_is(core->state.tasks[i]->commit, from))
				xstrset(&core->state.tasks[i]->commit, to);
		if (filed != NULL) {
			xstrset(&filed->commit, to);
			book_file_task(core->book, filed);
		}
		task_free(filed);
		ref = xasprintf(GIT_LANDED_REFS "%s", id);
		git_freeze_drop(core->git, ref, on_ref_dropped, NULL);
	}
	/* They have other parents now: a person takes them back. */
	red_run_release(&landings->own);
	/* As after a landing whose check was overtaken, the tip is checked. */
	xstrset(&landings->overtaken.commit, record->replayed_tip);
	xstrset(&landings->overtaken.tree, record->replayed_tree);
	if (record->unpushed != NULL || mode_of(up) == UPSTREAM_PUSH)
		xstrset(&record->unpushed, record->replayed_tip);
	note_divergence(up, NULL, NULL);
}

static void
replay_over(struct upstream *up, bool moved)
{
	struct push_record *record = record_of(up);

	if (moved)
		replay_note(up);
	strv_clear(&record->replayed);
	xstrset(&record->replayed_tip, NULL);
	xstrset(&record->replayed_tree, NULL);
	persist_changed(up->core);
}

/* It stays as it is, and a person is asked. */
static void
replay_fail(struct upstream *up, const char *why, bool for_good)
{
	log_debug("%s is not rebased: %s", core_branch(up->core), why);
	if (for_good) {
		free(up->refused);
		up->refused = xasprintf("%s %s", up->ours, up->theirs);
	}
	note_divergence(up, up->ours, up->theirs);
	up->step = STEP_IDLE;
	rest(up);
}

static void
on_replay_landed(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	struct upstream *up = arg;
	cleanup_free char *tip = xstrdup(record_of(up)->replayed_tip);
	const char *branch = core_branch(up->core);

	(void)places;
	if (result == GIT_LAND_MOVED) {
		replay_over(up, false);
		up->step = STEP_IDLE;
		up->again = true;
		rest(up);
		return;
	}
	replay_over(up, result == GIT_LANDED);
	if (result != GIT_LANDED) {
		replay_fail(up, err != NULL ? err->msg : detail, false);
		return;
	}
	EMIT(up->core, EVENT_FOLLOWED, .branch = branch, .commit = up->theirs);
	EMIT(up->core, EVENT_BRANCH_MOVED, .branch = branch, .from = up->ours,
	    .to = tip);
	xstrset(&up->ours, tip);
	up->stand = GIT_STAND_AHEAD;
	up->step = STEP_IDLE;
	queue_base_changed(up->queue);
	rest(up);
}

/* What is about to be done is on disk: the next daemon finds it. */
static void
replay_land(void *arg)
{
	struct upstream *up = arg;
	struct core *core = up->core;
	const struct push_record *record = record_of(up);
	cleanup_strv char **keep = NULL;

	if (up->stopping)
		return;
	for (char **line = record->replayed; *line != NULL; line++) {
		const char *to = strrchr(*line, ' ') + 1;
		const char *dash = strrchr(*line, '-');
		int len = dash != NULL ? (int)(dash - *line) :
					 (int)strcspn(*line, " ");

		if (*to != '\0')
			strv_take(&keep,
			    xasprintf("%.*s-%.12s %s", len, *line, to, to));
	}
	git_land_instead(core->git, core_branch(core), up->ours,
	    record->replayed_tip, strv_const(keep), core_lands_when_dirty(core),
	    on_replay_landed, up);
}

static void
on_replayed(
    const struct git_replayed *replayed, const struct err *err, void *arg)
{
	struct upstream *up = arg;
	struct push_record *record = record_of(up);

	if (up->stopping || err != NULL || replayed->refused != NULL) {
		replay_fail(up, err != NULL ? err->msg : replayed->refused,
		    err == NULL);
		return;
	}
	if (up->core->state.landings.to != NULL) {
		replay_fail(up, "the branch is moving", false);
		return;
	}
	for (size_t i = 0; i < replayed->count; i++)
		strv_take(&record->replayed,
		    xasprintf("%s %s %s", replayed->commits[i].id,
			replayed->commits[i].from, replayed->commits[i].to));
	xstrset(&record->replayed_tip, replayed->tip);
	xstrset(&record->replayed_tree, replayed->tree);
	persist_changed(up->core);
	persist_then(up->core, up, replay_land, up);
}

/* A branch that has diverged only by landings of ours is put on top of what
 * origin has, as a rebase without a conflict would; a user's commit is not
 * touched. False: it is not to be tried. */
static bool
replay(struct upstream *up)
{
	cleanup_free char *pair = xasprintf("%s %s", up->ours, up->theirs);

	if (up->stand != GIT_STAND_DIVERGED || up->stopping || is_shared(up) ||
	    lands_by_pull(up->core->settings) || up->landing != NULL ||
	    up->core->state.landings.to != NULL || text_is(up->refused, pair))
		return false;
	up->step = STEP_REPLAYS;
	git_replay(up->core->git, up->ours, up->theirs, on_replayed, up);
	return true;
}

/* Had the branch moved when the last daemon was killed? Nothing else begins
 * before that is known. */
static void
on_replay_looked(const struct git_answer *answer, void *arg)
{
	struct upstream *up = arg;

	replay_over(up, answer->status == 0);
	up->step = STEP_IDLE;
	rest(up);
}

static void
replay_resume(struct upstream *up)
{
	struct core *core = up->core;
	cleanup_free char *branch =
	    xasprintf("refs/heads/%s", core_branch(core));
	const char *const args[] = { "merge-base", "--is-ancestor",
		record_of(up)->replayed_tip, branch, NULL };
	struct git_command ask = { .args = args };

	up->step = STEP_REPLAYS;
	git_run(git_queue(core->git, core->workspace->root), &ask,
	    on_replay_looked, up);
}

void
upstream_look(struct upstream *up)
{
	record_of(up)->looked_ms = 0;
	look(up);
}

void
upstream_split(struct upstream *up)
{
	up->known = false;
	upstream_look(up);
}

void
upstream_moved(struct upstream *up)
{
	if (mode_of(up) == UPSTREAM_OFF || up->stopping)
		return;
	/* Where it stands is known again after the next look. */
	if (up->known && up->stand == GIT_STAND_BEHIND)
		look(up);
}

/* --- what is pushed ---------------------------------------------------- */

/* How it ends is for whoever waits for it, if that is this commit. */
static void
tell(struct upstream *up, const char *commit, enum push_next next)
{
	if (!text_is(up->landing, commit))
		return;
	free(take_ptr(&up->landing));
	up->fn(next == PUSH_THEN_LATER && is_shared(up) ? PUSH_THEN_HOLD : next,
	    up->arg);
}

static void
on_pushed(enum push_answer result, const char *words, void *arg)
{
	struct upstream *up = arg;
	struct push_record *record = record_of(up);
	cleanup_free char *commit = take_ptr(&record->pushing);
	cleanup_free char *covers = take_ptr(&up->covers);
	bool lands = text_is(up->landing, commit);
	enum push_next next = PUSH_THEN_LATER;

	up->step = STEP_IDLE;
	record->pushing_ms = 0;
	if (result == PUSH_AWAY)
		away(up, words);
	else
		next =
		    push_record_answer(record, result, words, clock_wall_ms());
	/* Where it stands now is only known after a look, but for a push that
	 * succeeded. */
	up->known = result == PUSH_OK;
	switch (next) {
	case PUSH_THEN_LAND:
		xstrset(&up->theirs, commit);
		up->stand = GIT_STAND_SAME;
		push_record_done(
		    record, covers != NULL ? covers : commit, commit);
		EMIT(up->core, EVENT_PUSHED, .branch = core_branch(up->core),
		    .commit = commit);
		break;
	case PUSH_THEN_REBUILD:
		record->looked_ms = 0;
		up->again |= !lands;
		break;
	case PUSH_THEN_HOLD:
		record->looked_ms = 0;
		if (record->tries == 1)
			EMIT(up->core, EVENT_PUSH_FAILED,
			    .branch = core_branch(up->core), .commit = commit,
			    .reason = words);
		break;
	case PUSH_THEN_LATER:
		break;
	}
	persist_changed(up->core);
	tell(up, commit, next);
	rest(up);
}

/* The landing, before the branch moves; or the branch. */
static void
push_now(struct upstream *up, const char *commit)
{
	struct push_record *record = record_of(up);
	bool lands = commit == up->landing;

	if (lands &&
	    (mode_of(up) != UPSTREAM_PUSH ||
		(record->away_ms > 0 && !record->held) ||
		(up->known && up->stand == GIT_STAND_DIVERGED))) {
		tell(up, commit, PUSH_THEN_LATER);
		rest(up);
		return;
	}
	/* It was sent before, and origin does not answer. */
	if (lands && record->held &&
	    push_record_wait_ms(record, clock_wall_ms()) > 0) {
		tell(up, commit, PUSH_THEN_HOLD);
		rest(up);
		return;
	}
	if (!up->known || up->remote == NULL || up->asked != UPSTREAM_PUSH) {
		look(up);
		return;
	}
	up->step = STEP_PUSHES;
	xstrset(&up->covers, record->unpushed);
	xstrset(&record->pushing, commit);
	record->pushing_ms = clock_wall_ms();
	git_upstream_push(up->git,
	    &(struct git_push_spec){ .remote = up->remote,
		.commit = commit,
		.ref = up->ref,
		.expected = up->theirs,
		.forward = true },
	    on_pushed, up);
}

bool
upstream_takes(const struct upstream *up)
{
	const struct push_record *record = record_of(up);

	return mode_of(up) == UPSTREAM_PUSH && !up->stopping &&
	    (record->away_ms == 0 || record->held);
}

void
upstream_push(
    struct upstream *up, const char *commit, upstream_push_fn *fn, void *arg)
{
	xstrset(&up->landing, commit);
	up->fn = fn;
	up->arg = arg;
	if (up->step == STEP_IDLE)
		push_now(up, up->landing);
}

void
upstream_landed(struct upstream *up, const char *commit)
{
	struct push_record *record = record_of(up);

	if (up->known) {
		/* On top of what it was. */
		xstrset(&up->ours, commit);
		if (strcmp(up->theirs, commit) == 0)
			up->stand = GIT_STAND_SAME;
		else if (up->stand == GIT_STAND_SAME)
			up->stand = GIT_STAND_AHEAD;
	}
	if (mode_of(up) != UPSTREAM_PUSH ||
	    (up->known && up->stand == GIT_STAND_SAME))
		return;
	xstrset(&record->unpushed, commit);
	if (push_record_wait_ms(record, clock_wall_ms()) == 0)
		look(up);
	else
		arm(up);
}

/* --- for others -------------------------------------------------------- */

bool
upstream_may_land(struct upstream *up)
{
	struct push_record *record = record_of(up);
	int64_t now = clock_wall_ms();

	if (mode_of(up) == UPSTREAM_OFF)
		return true;
	if (up->step != STEP_IDLE)
		return false;
	if (up->known && up->stand == GIT_STAND_BEHIND) {
		if (!checkout_watch_waits(up->checkout) && up->held == NULL)
			follow(up);
		return false;
	}
	if (record->held && mode_of(up) == UPSTREAM_PUSH &&
	    push_record_wait_ms(record, now) > 0) {
		arm(up);
		return false;
	}
	if (is_shared(up) && up->known && up->stand == GIT_STAND_DIVERGED)
		return false; /* a person is asked */
	if (push_record_look_ms(record, LOOK_LANDING, 0, now) < 0) {
		if (!lands_by_pull(up->core->settings) || up->reason == NULL)
			return true;
		if (record->blocked == NULL && up->stand != GIT_STAND_DIVERGED)
			note_blocked(up, up->reason);
		return false;
	}
	look(up);
	return false;
}

bool
upstream_fresh(struct upstream *up)
{
	if (mode_of(up) == UPSTREAM_OFF || up->stopping)
		return true;
	if (up->step == STEP_IDLE &&
	    push_record_look_ms(record_of(up), LOOK_TASK, 0, clock_wall_ms()) <
		0)
		return true;
	/* Nobody waits for a push, for a checkout, or for long. */
	if (up->slow || up->step == STEP_PUSHES ||
	    (up->step == STEP_IDLE && up->reason != NULL))
		return true;
	if (up->haste == NULL)
		up->haste = loop_after(up->core->loop, HASTE_MS, on_haste, up);
	look(up);
	return false;
}

const char *
upstream_reason(const struct upstream *up)
{
	const struct push_record *record = record_of(up);

	if (mode_of(up) == UPSTREAM_OFF)
		return NULL;
	if (up->reason != NULL)
		return up->reason;
	return record->held && mode_of(up) == UPSTREAM_PUSH ? record->reason :
							      NULL;
}

bool
upstream_retry(struct upstream *up)
{
	struct push_record *record = record_of(up);

	if (mode_of(up) == UPSTREAM_OFF || up->stopping ||
	    up->step != STEP_IDLE ||
	    (record->tries == 0 && record->ours == NULL && up->reason == NULL))
		return false;
	record->next_ms = 0;
	record->rejected = 0;
	loop_timer_free(take_ptr(&up->held));
	on_time(up);
	return true;
}

void
upstream_begin(struct upstream *up)
{
	struct push_record *record = record_of(up);

	/* The last daemon may have pushed what it was about to land: without
	 * origin's word that does not land. */
	if (!up->begun && mode_of(up) == UPSTREAM_PUSH &&
	    up->core->state.landings.to != NULL && upstream_takes(up)) {
		record->held = true;
		record->away_ms = clock_wall_ms();
		persist_changed(up->core);
	}
	if (up->step == STEP_IDLE && record->replayed_tip != NULL)
		replay_resume(up);
	up->begun = true;
	if (mode_of(up) != UPSTREAM_PUSH && push_record_let_go(record_of(up))) {
		persist_changed(up->core);
		queue_look(up->queue);
	}
	arm(up);
}

static void
give_up(void *arg)
{
	struct upstream *up = arg;

	git_free(take_ptr(&up->git));
	up->step = STEP_IDLE;
}

void
upstream_stop(struct upstream *up)
{
	up->stopping = true;
	loop_timer_free(take_ptr(&up->timer));
	loop_timer_free(take_ptr(&up->held));
	loop_timer_free(take_ptr(&up->haste));
	loop_timer_free(take_ptr(&up->asks));
	checkout_watch_end(up->checkout);
	xstrset(&up->landing, NULL); /* the next daemon finds the journal */
	if (up->step == STEP_PUSHES)
		up->timer = loop_after(up->core->loop, STOP_MS, give_up, up);
}

bool
upstream_is_quiet(const struct upstream *up)
{
	return up->step != STEP_PUSHES && up->step != STEP_FOLLOWS &&
	    up->step != STEP_REPLAYS;
}

struct upstream *
upstream_new(struct queue *queue)
{
	struct upstream *up = xcalloc(1, sizeof *up);
	struct core *core = queue->core;
	struct git_options options = {
		.root = core->workspace->root,
		.run_hooks = git_runs_hooks(core->git),
	};

	up->queue = queue;
	up->core = core;
	up->git = git_new(core->loop, &options);
	up->checkout = checkout_watch_new(core->loop, on_follow_again, up);
	return up;
}

void
upstream_free(struct upstream *up)
{
	if (up == NULL)
		return;
	git_free(up->git);
	loop_timer_free(up->timer);
	loop_timer_free(up->held);
	loop_timer_free(up->haste);
	loop_timer_free(up->asks);
	checkout_watch_free(up->checkout);
	free(up->remote);
	free(up->ref);
	free(up->theirs);
	free(up->ours);
	persist_forget(up->core, up);
	free(up->refused);
	free(up->reason);
	free(up->landing);
	free(take_ptr(&record_of(up)->pushing));
	free(up->covers);
	free(up);
}
