/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "book.h"
#include "emit.h"
#include "hosts-private.h"
#include "intake.h"
#include "landing.h"
#include "outcome.h"
#include "persist.h"
#include "review.h"
#include "schema.h"
#include "task.h"
#include "taskfile.h"

#define WANTS_MAX (TASK_WANTS_MAX + 3)
#define WITHHELD_MS \
	((int64_t)10 * 365 * 24 * 3600 * 1000) /* its goal is paused */

/* --- what is told ------------------------------------------------- */

/* Is it one that a paused goal holds back? */
static bool
is_held_back(const struct hosts_floor *floor, const struct task *t)
{
	const struct auto_policy *policy = floor->mode->policy;

	return policy->holds != NULL && intake_is_planned(t) &&
	    policy->holds(floor->mode->policy_arg, t);
}

bool
shares_wait(const struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		const struct share *share = floor->shares[i];
		const struct task *t = share_task(floor, share);

		if (t == NULL ||
		    (share->step != SHARE_NEW && share->step != SHARE_OUT) ||
		    !is_held_back(floor, t))
			return true;
	}
	return false;
}

void
shares_compare(struct hosts_floor *floor)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];
		cleanup_free char *id = NULL;

		if ((t->step != TASK_WAITING && t->step != TASK_ASSIGNED &&
			t->step != TASK_QUEUED) ||
		    share_of_task(floor, t->id) != NULL || review_is(t))
			continue;
		id = share_id(floor->host, t->id);
		if (share_of_id(floor, id) == NULL)
			share_add(floor, id, t->id, floor->host, SHARE_NEW);
	}
	for (size_t i = floor->share_count; i-- > 0;) {
		struct share *share = floor->shares[i];

		const struct task *t = share_task(floor, share);

		/* What has not begun is for a host that stays. */
		if (floor->drains && share->step == SHARE_HELD && t != NULL &&
		    t->step == TASK_WAITING && t->attempts == 0 &&
		    !share_stays(t)) {
			share->step = SHARE_BACK;
			xstrset(&share->words, "its host is being drained");
			share_save(floor, share);
		}
		/* Its task went while no daemon looked. */
		if (t == NULL &&
		    (share->step == SHARE_NEW || share->step == SHARE_OUT ||
			share->step == SHARE_AWAY)) {
			share->step = SHARE_DROP;
			share_save(floor, share);
		}
	}
}

/* Did an earlier one of our requests, which was not answered, do it? */
static bool
was_finished(const struct hosts_floor *floor, const struct share *share,
    const struct shared_rows *row)
{
	const char *host = row->count > 0 ? shared_text(row, 0, "host") : NULL;

	return host != NULL && strcmp(host, floor->host) == 0 &&
	    shared_int(row, 0, "fence") == share->fence &&
	    strcmp(shared_text(row, 0, "state"), share->state) == 0;
}

/* It has ended here, but it was not ours any more: its row says what became of
 * it. */
static void
fenced(struct hosts_floor *floor, struct share *share, struct task *t,
    const struct shared_rows *row)
{
	const char *host = row->count > 0 ? shared_text(row, 0, "host") : NULL;

	EMIT(floor->core, EVENT_TASK_FENCED, .task = share->task,
	    .reason = "it has ended here, but another host has it by now");
	if (share_is_own(floor, share) && t != NULL &&
	    t->outcome == OUTCOME_ABORTED) { /* a person does not want it */
		share->step = SHARE_DROP;
		share_save(floor, share);
		return;
	}
	if (!share_is_own(floor, share) || t == NULL || row->count == 0 ||
	    strcmp(shared_text(row, 0, "state"), "dropped") == 0 ||
	    task_elsewhere(t, host != NULL ? host : "none", clock_wall_ms()) <
		0) {
		share_remove(floor, share);
		return;
	}
	floor->core->state.outcomes[t->outcome]--;
	t->outcome = OUTCOME_NONE;
	share->step = SHARE_AWAY;
	share->fence = shared_int(row, 0, "fence");
	xstrset(&share->state, NULL);
	share_save(floor, share);
	persist_changed(floor->core);
	floor->since_ms = 0;
	floor->poll = true;
}

static void
on_told(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct share *share = floor->share;
	const struct shared_rows *claimed =
	    floor->claim_at > 0 ? &answer->of[floor->claim_at] : NULL;
	struct task *t;
	bool done;

	floor->share = NULL;
	if (!hosts_answered(floor, answer) || share == NULL ||
	    share->step != floor->share_step) {
		auto_plan_changed(floor->mode); /* it may begin here */
		hosts_done(floor);
		return;
	}
	done = answer->of[0].count > 0;
	t = share_task(floor, share);
	switch (share->step) {
	case SHARE_NEW:
		share->step = SHARE_OUT;
		share->out_ms = clock_boot_ms();
		if (!done) { /* an earlier daemon was killed after this */
			floor->since_ms = 0;
			floor->poll = true;
		}
		if (claimed != NULL && claimed->count > 0) {
			share->step = SHARE_HELD;
			share->fence = shared_int(claimed, 0, "fence");
		}
		share_save(floor, share);
		floor->claim = true;
		break;
	case SHARE_OUT: /* its priority, that its goal is paused, or that
			 * nobody else wants it */
		if (t != NULL)
			share->prio = task_rank(t);
		if (claimed != NULL && claimed->count > 0) {
			share->step = SHARE_HELD;
			share->fence = shared_int(claimed, 0, "fence");
		}
		share->out_ms = clock_boot_ms();
		share->withheld = floor->withholds;
		share_save(floor, share);
		floor->poll |= !done; /* a host has it by now */
		break;
	case SHARE_FINISH:
		if (!done && !was_finished(floor, share, &answer->of[2]))
			fenced(floor, share, t, &answer->of[2]);
		else
			share_remove(floor, share);
		outcome_settle_due(floor->mode);
		break;
	case SHARE_BACK:
		if (share_is_own(floor, share) && t != NULL) {
			share->step = SHARE_OUT;
			share_save(floor, share);
			break;
		}
		if (t != NULL)
			state_remove_task(&floor->core->state, share->task);
		persist_changed(floor->core);
		share_remove(floor, share);
		break;
	case SHARE_DROP:
	default:
		share_remove(floor, share);
		break;
	}
	auto_plan_changed(floor->mode);
	hosts_done(floor);
}

static void
tell(struct hosts_floor *floor, struct share *share,
    const struct shared_call *calls, size_t count)
{
	floor->share = share;
	floor->share_step = share->step;
	hosts_ask(floor, calls, count, on_told);
}

/* The task as another host is to have it, and what it wants of that. */
static char *
body_of(const struct hosts_floor *floor, const struct task *t, char ***wants)
{
	struct task *copy = schema_clone(&task_schema, t);
	const struct auto_mode *mode = floor->mode;
	char *body;

	if (mode->team->leaves != NULL)
		mode->team->leaves(mode->team_arg, copy);
	body = share_body(copy);
	*wants = share_wants(copy);
	task_free(copy);
	return body;
}

/* What stays here is claimed with it. */
static void
publish(struct hosts_floor *floor, struct share *share, const struct task *t,
    bool withheld)
{
	cleanup_strv char **wants = NULL;
	cleanup_free char *body = body_of(floor, t, &wants);
	cleanup_free char *parent =
	    task_is_child(t) ? share_id(floor->host, t->launch.parent) : NULL;
	struct book_value want[WANTS_MAX][2];
	struct shared_call calls[WANTS_MAX + 5] = {
		SHARED_CALL(SHARED_PUBLISH, BOOK_T(share->id),
		    BOOK_I(task_rank(t)), BOOK_T(t->label),
		    BOOK_T(core_branch(floor->core)), BOOK_T(t->title),
		    BOOK_T(body != NULL ? body : "{}"),
		    BOOK_I(withheld ? WITHHELD_MS : 0)),
		SHARED_CALL(SHARED_WANTS_CLEAR, BOOK_T(share->id)),
		SHARED_CALL(
		    SHARED_PUBLISH_PARENT, BOOK_T(share->id), BOOK_T(parent)),
	};
	const struct shared_call claim[] = {
		share->fence > 0 ? /* the server has lost that */
		    SHARED_CALL(SHARED_RESTORE, BOOK_T(share->id),
			BOOK_I(share->fence), BOOK_T(floor->boot)) :
		    SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(floor->boot),
			BOOK_T(share->id)),
		SHARED_CALL(SHARED_ATTEMPTS_BEGIN, BOOK_T(floor->boot)),
	};
	size_t n = 3;

	for (size_t i = 0; i < strv_count(wants) && i < WANTS_MAX; i++) {
		want[i][0] = BOOK_T(share->id);
		want[i][1] = BOOK_T(wants[i]);
		calls[n++] =
		    (struct shared_call){ SHARED_PUBLISH_WANT, want[i], 2 };
	}
	floor->claim_at = 0;
	floor->withholds = withheld;
	if (share->step == SHARE_NEW &&
	    (share_stays(t) || family_at_home(floor, t) ||
		body == NULL)) { /* too long for others */
		floor->claim_at = n;
		calls[n++] = claim[0];
		calls[n++] = claim[1];
	}
	share->prio = task_rank(t);
	tell(floor, share, calls, n);
}

bool
shares_act(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];
		const struct task *t = share_task(floor, share);
		const struct shared_call calls[] = {
			[SHARE_NEW] =
			    SHARED_CALL(SHARED_REQUEUE, BOOK_T(share->id)),
			[SHARE_OUT] =
			    SHARED_CALL(SHARED_REPRIORITISE, BOOK_T(share->id),
				BOOK_I(t != NULL ? task_rank(t) : 0)),
			[SHARE_FINISH] = SHARED_CALL(SHARED_FINISH,
			    BOOK_T(share->id), BOOK_I(share->fence),
			    BOOK_T(floor->boot), BOOK_T(share->state),
			    BOOK_T(share->result), BOOK_T(share->words)),
			[SHARE_BACK] = SHARED_CALL(SHARED_GIVE_BACK,
			    BOOK_T(share->id), BOOK_I(share->fence),
			    BOOK_T(floor->boot), BOOK_T(share->words)),
			[SHARE_DROP] = SHARED_CALL(SHARED_DROP,
			    BOOK_T(share->id), BOOK_T(share->words)),
		};
		const struct shared_call close[] = { calls[SHARE_FINISH],
			SHARED_CALL0(SHARED_ATTEMPTS_CLOSE),
			SHARED_CALL(SHARED_TASK_READ, BOOK_T(share->id)) };
		const struct shared_call home[] = { calls[SHARE_OUT],
			SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(floor->boot),
			    BOOK_T(share->id)),
			SHARED_CALL(
			    SHARED_ATTEMPTS_BEGIN, BOOK_T(floor->boot)) };

		switch (share->step) {
		case SHARE_NEW:
			if (t == NULL || t->step == TASK_PARKED ||
			    t->step == TASK_SETTLING || is_held_back(floor, t))
				continue;
			if (share->state == NULL) {
				publish(floor, share, t, false);
				return true;
			}
			free(take_ptr(&share->state)); /* it was held */
			floor->claim_at = 0;
			break;
		case SHARE_OUT:
			if (t != NULL &&
			    is_held_back(floor, t) != share->withheld) {
				publish(floor, share, t, !share->withheld);
				return true;
			}
			floor->withholds = share->withheld;
			if (kin_due_ms(floor, share) <= 0) {
				floor->claim_at = 1;
				tell(floor, share, home, nitems(home));
				return true;
			}
			if (t == NULL || task_rank(t) == share->prio)
				continue;
			floor->claim_at = 0;
			break;
		case SHARE_FINISH:
			tell(floor, share, close, nitems(close));
			return true;
		case SHARE_BACK:
		case SHARE_DROP:
			break;
		default:
			continue;
		}
		tell(floor, share, &calls[share->step], 1);
		return true;
	}
	return false;
}

/* In the pass in which the task ends, so that both are saved or none. */
void
shares_ended(struct hosts_floor *floor, const struct event *event)
{
	struct share *share = share_of_task(floor, event->task);
	const struct task *t = state_task(&floor->core->state, event->task);

	if (share == NULL || t == NULL)
		return;
	switch (share->step) {
	case SHARE_HELD:
		share->step = SHARE_FINISH;
		xstrset(&share->state,
		    t->outcome == OUTCOME_LANDED ||
			    t->outcome == OUTCOME_NO_CHANGES ?
			"done" :
			"failed");
		free(share->result);
		share->result = share_result(t);
		xstrset(&share->words, t->reason);
		break;
	case SHARE_NEW:
	case SHARE_READY: /* its row says so: that is how it is known here */
		share_remove(floor, share);
		return;
	case SHARE_OUT:
	case SHARE_AWAY:
		share->step = SHARE_DROP;
		xstrset(&share->words, t->reason);
		break;
	default:
		return;
	}
	share_save(floor, share);
	hosts_look(floor);
}

/* --- what is claimed ---------------------------------------------- */

void
share_begin(struct hosts_floor *floor, const struct shared_rows *rows, size_t n)
{
	const char *id = shared_text(rows, n, "task");
	const char *owner = shared_text(rows, n, "owner");
	const char *words = shared_text(rows, n, "words");
	struct share *share = share_of_id(floor, id);
	struct task *t = share != NULL ? share_task(floor, share) :
					 state_task(&floor->core->state, id);
	bool busy = share != NULL && share->step == SHARE_LOST;
	bool unread = false;

	if (share == NULL)
		share = share_add(floor, id, id, owner, SHARE_HELD);
	if (t == NULL || t->step == TASK_ELSEWHERE || t->step == TASK_WAITING)
		xstrset(&share->from_ref, shared_text(rows, n, "head_ref"));
	share->fence = shared_int(rows, n, "fence");
	share->family = share->fence > 1;
	xstrset(&share->host, NULL);
	share->step = SHARE_HELD;
	if (t == NULL)
		unread = share_add_task(floor, share->task, owner,
			     shared_text(rows, n, "body")) == NULL;
	else if (t->step == TASK_ELSEWHERE)
		task_returned(t, words, clock_wall_ms());
	if (unread || busy) {
		share->step = SHARE_BACK;
		xstrset(&share->words,
		    busy ? "its last attempt here is being stopped" :
			   "this version of llmc cannot read it");
	} else {
		EMIT(floor->core, EVENT_TASK_CLAIMED, .task = share->task,
		    .text = owner);
	}
	share_save(floor, share);
	persist_changed(floor->core);
	auto_plan_changed(floor->mode);
}

/* The host that has its parent now has taken it over. */
static void
share_owner(struct hosts_floor *floor, const struct shared_rows *rows, size_t n)
{
	const char *owner = shared_text(rows, n, "owner");
	struct share *share = share_of_id(floor, shared_text(rows, n, "task"));
	struct task *t = share != NULL ? share_task(floor, share) : NULL;

	if (share == NULL || strcmp(share->owner, owner) == 0)
		return;
	if (share_is_own(floor, share)) {
		if (t != NULL) /* by the new owner */
			t->attempt.announced = true;
		share->step = SHARE_LOST;
		xstrset(&share->words,
		    "another host has its parent, and has taken it over");
	}
	xstrset(&share->owner, owner);
	share_save(floor, share);
}

static void
on_adopted(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer)) {
		const struct shared_rows *row = &answer->of[0];
		const char *boot =
		    row->count > 0 ? shared_text(row, 0, "boot") : NULL;

		free(floor->adopt[0]);
		memmove(floor->adopt, floor->adopt + 1,
		    (strv_count(floor->adopt + 1) + 1) * sizeof(char *));
		if (row->count > 0)
			share_owner(floor, row, 0);
		if (boot != NULL && strcmp(boot, floor->boot) == 0 &&
		    strcmp(shared_text(row, 0, "state"), "claimed") == 0)
			share_begin(floor, row, 0);
	}
	hosts_done(floor);
}

bool
shares_adopt(struct hosts_floor *floor)
{
	if (floor->doubt || floor->adopt == NULL || floor->adopt[0] == NULL)
		return false;
	hosts_ask(floor,
	    &SHARED_CALL(SHARED_TASK_READ, BOOK_T(floor->adopt[0])), 1,
	    on_adopted);
	return true;
}

/* --- news --------------------------------------------------------- */

/* What became of it elsewhere: its owner settles it. unseen: it is called
 * landed, and this host has not found it on the branch. */
static void
settle(struct hosts_floor *floor, struct share *share,
    const struct shared_rows *rows, size_t n, bool unseen)
{
	struct task *t = share_task(floor, share);
	struct task *end =
	    share_read(share->task, shared_text(rows, n, "result"));
	const char *commit = shared_text(rows, n, "commit_id");
	const char *words = shared_text(rows, n, "words");
	const char *state = shared_text(rows, n, "state");
	const char *host = shared_text(rows, n, "host");
	bool here = host == NULL || strcmp(host, floor->host) == 0;
	cleanup_free char *lie = NULL;
	enum task_outcome outcome = unseen              ? OUTCOME_FAILED :
	    commit != NULL                              ? OUTCOME_LANDED :
	    end != NULL && end->outcome != OUTCOME_NONE ? end->outcome :
	    strcmp(state, "failed") == 0                ? OUTCOME_FAILED :
							  OUTCOME_NO_CHANGES;

	if (t == NULL || t->step == TASK_SETTLING ||
	    !task_step_may(t->step, TASK_SETTLING)) {
		task_free(end);
		share_remove(floor, share);
		return;
	}
	if (end != NULL) {
		struct task_attempt attempt = t->attempt;

		xstrset(&t->last_words, end->last_words);
		free(t->worker);
		t->worker = end->worker == NULL || here ?
		    take_ptr(&end->worker) :
		    xasprintf("%s:%s", host, end->worker);
		xstrset(&t->held_by, end->held_by);
		xstrset(&t->weakens, end->weakens);
		xstrset(&t->commit, unseen ? NULL : end->commit);
		t->attempts = end->attempts;
		t->turns = end->turns;
		t->turns_before = end->turns_before;
		t->nudges = end->nudges;
		t->tokens = end->tokens;
		t->lines_known = end->lines_known;
		t->lines_added = end->lines_added;
		t->lines_removed = end->lines_removed;
		t->dropped = end->dropped;
		t->assigned_ms = end->assigned_ms;
		t->attempt = end->attempt;
		end->attempt = attempt;
		t->attempt.started_ms = 0; /* it is recorded there */
	}
	if (commit != NULL)
		xstrset(&t->commit, commit);
	floor->core->state.elsewhere += outcome == OUTCOME_LANDED && !here;
	share_remove(floor, share);
	if (unseen)
		lie = xasprintf(
		    "host %s says that it has landed, but its commit is not on "
		    "%s at origin with the trailer of this task",
		    host != NULL ? host : "unknown", core_branch(floor->core));
	outcome_settle(floor->mode, t, outcome,
	    lie != NULL                            ? lie :
		end != NULL && end->reason != NULL ? end->reason :
		outcome == OUTCOME_LANDED          ? NULL :
						     words);
	task_free(end);
	persist_changed(floor->core);
}

/* The commit that the row says the task has landed as, "" = it names none;
 * NULL: it does not say so. The caller frees it. */
static char *
called_landed(const struct shared_rows *rows, size_t n, enum row_state state)
{
	const char *commit = shared_text(rows, n, "commit_id");
	struct task *end = NULL;
	char *called = NULL;

	if (state == ROW_LANDED)
		return xstrdup(commit != NULL ? commit : "");
	if (state == ROW_ENDED || state == ROW_FAILED)
		end = share_read(shared_text(rows, n, "task"),
		    shared_text(rows, n, "result"));
	if (end != NULL && end->outcome == OUTCOME_LANDED)
		called = xstrdup(end->commit != NULL ? end->commit : "");
	task_free(end);
	return called;
}

/* It is read again later. */
static void
share_waits(struct hosts_floor *floor, const struct shared_rows *rows, size_t n)
{
	int64_t at = shared_int(rows, n, "changed_at");

	if (floor->follow_ms == 0 || at < floor->follow_ms)
		floor->follow_ms = at;
}

void
share_news(struct hosts_floor *floor, const struct shared_rows *rows, size_t n)
{
	struct share_row row = {
		.id = shared_text(rows, n, "task"),
		.owner = shared_text(rows, n, "owner"),
		.host = shared_text(rows, n, "host"),
		.boot = shared_text(rows, n, "boot"),
		.fence = shared_int(rows, n, "fence"),
		.lost = (int)shared_int(rows, n, "lost"),
	};
	const char *words = shared_text(rows, n, "words");
	struct share *share = share_of_id(floor, row.id);
	struct task *t = share != NULL ? share_task(floor, share) : NULL;
	int64_t now = clock_wall_ms();
	enum share_news verdict;
	cleanup_free char *called = NULL;
	enum seen_answer seen = SEEN_THERE;
	unsigned state = 0;

	if (!word_find(row_state_words, shared_text(rows, n, "state"), &state))
		return; /* of a later version */
	row.state = (enum row_state)state;
	share_owner(floor, rows, n);
	if (share != NULL && row.fence < share->fence &&
	    row.state < ROW_LANDED &&
	    (share->step == SHARE_HELD || share->step == SHARE_READY)) {
		trust_lost(floor);
		return;
	}
	if (share != NULL && share->step >= SHARE_OUT &&
	    share->step <= SHARE_READY)
		called = called_landed(rows, n, row.state);
	if (called != NULL)
		seen = hosts_seen(floor, row.id, called);
	if (seen == SEEN_WAITS) {
		share_waits(floor, rows, n);
		return;
	}
	if (seen == SEEN_NOT && row.state == ROW_LANDED) {
		if (share_is_own(floor, share))
			hosts_deny(floor, row.id, row.fence, called);
		return;
	}
	if (share != NULL && hosts_land_news(floor, share, rows, n))
		return;
	verdict = share_judge(share, &row, floor->host, floor->boot);
	if (verdict == SHARE_IS_OURS &&
	    !strv_has(strv_const(floor->adopt), row.id))
		strv_add(&floor->adopt, row.id);
	if (share == NULL)
		return;
	switch (verdict) {
	case SHARE_SAME:
	case SHARE_IS_OURS:
		return;
	case SHARE_IS_OUT:
		share->step = SHARE_OUT;
		share->withheld = false;
		xstrset(&share->host, NULL);
		if (t != NULL && t->step == TASK_ELSEWHERE)
			task_returned(t, words, now);
		break;
	case SHARE_IS_AWAY:
		if (t == NULL || task_elsewhere(t, row.host, now) < 0)
			return;
		share->step = SHARE_AWAY;
		xstrset(&share->host, row.host);
		break;
	case SHARE_IS_LOST:
		share->step = SHARE_LOST;
		xstrset(&share->words, words);
		xstrset(&share->host, row.host);
		break;
	case SHARE_HAS_ENDED:
		/* Its parent is rebased onto it. */
		if (t != NULL && task_is_child(t) &&
		    shared_text(rows, n, "commit_id") != NULL) {
			if (!share->follows)
				landings_follow(floor->land->landings);
			share->follows = true;
			if (!landings_fresh(floor->land->landings)) {
				share_waits(floor, rows, n);
				return;
			}
		}
		settle(floor, share, rows, n, seen == SEEN_NOT);
		return;
	case SHARE_IS_HELD:
		if (!strv_has(strv_const(floor->held), row.id))
			strv_add(&floor->held, row.id);
		return;
	case SHARE_EJECTED:
		share->step = SHARE_HELD;
		xstrset(&share->words, words);
		break;
	}
	share->fence = row.fence;
	share_save(floor, share);
	persist_changed(floor->core);
}

/* What we thought was ours and is not in the list is lost. */
void
shares_held(struct hosts_floor *floor, const struct shared_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const char *id = shared_text(rows, i, "task");

		if (share_of_id(floor, id) == NULL &&
		    !strv_has(strv_const(floor->adopt), id))
			strv_add(&floor->adopt, id);
	}
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];
		size_t n = 0;

		if (share->step != SHARE_HELD)
			continue;
		while (n < rows->count &&
		    (strcmp(shared_text(rows, n, "task"), share->id) != 0 ||
			shared_int(rows, n, "fence") != share->fence))
			n++;
		if (n < rows->count || floor->doubt || floor->seen)
			continue;
		share->step = SHARE_LOST;
		share_save(floor, share);
	}
}

/* --- what is not ours any more ------------------------------------ */

bool
shares_stop(struct hosts_floor *floor)
{
	bool left = false;

	for (size_t i = floor->share_count; i-- > 0;) {
		struct share *share = floor->shares[i];
		struct task *t = share_task(floor, share);
		cleanup_free char *why = NULL;
		struct err err = { 0 };
		int r;

		if (share->step != SHARE_LOST)
			continue;
		hosts_land_lost(floor, share->task);
		kin_check(floor, share->task);
		why = xasprintf("it is not this host's any more%s%s: its work "
				"here is stopped and saved",
		    share->words != NULL ? ": " : "",
		    share->words != NULL ? share->words : "");
		if (share_is_own(floor, share) && t != NULL) {
			r = outcome_take_back(floor->mode, t, why);
			if (r == -EBUSY) {
				left = true;
				continue;
			}
			EMIT(floor->core, EVENT_TASK_FENCED,
			    .task = share->task, .reason = why);
			/* Who has it is read. */
			share->step = SHARE_OUT;
			share_save(floor, share);
			floor->since_ms = 0;
			floor->poll = true;
			continue;
		}
		/* Those that it has spawned go on. */
		if (t != NULL && t->host == NULL)
			xstrset(&t->host,
			    share->host != NULL ? share->host : share->owner);
		r = t == NULL ? 0 : outcome_drop(floor->mode, t, why, &err);
		if (r == -EBUSY || r == -EINPROGRESS) {
			left = true;
			continue;
		}
		EMIT(floor->core, EVENT_TASK_FENCED, .task = share->task,
		    .reason = why);
		share_remove(floor, share);
	}
	return left;
}
