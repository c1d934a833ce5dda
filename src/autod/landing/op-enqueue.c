/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-book.h"
#include "core.h"
#include "emit.h"
#include "git-facts.h"
#include "git-worktree.h"
#include "landing-private.h"
#include "landing-record.h"
#include "persist.h"
#include "prompt.h"
#include "schema.h"
#include "serve.h"
#include "settings.h"
#include "task.h"
#include "acceptance.h"
#include "worker-op.h"
#include "worker.h"

#define NAMES_MAX 5 /* paths named in a sentence */

/* expected: the commit that HEAD must be, NULL = any. Everything is borrowed;
 * rules must stay where it is. */
static void
freeze_rules_init(struct freeze_rules *rules, const struct core *core,
    const struct worker *worker, const char *expected)
{
	freeze_rules_paths(rules, core);
	rules->what.branch = worker->branch;
	rules->what.onto = core_branch(core);
	rules->what.expected = expected;
}

/* Append ": a, b and 3 more". */
static void
freeze_rules_add_paths(struct buf *out, const struct git_list *paths)
{
	buf_adds(out, paths->count > 0 ? ": " : "");
	text_add_names(out, paths->v, paths->count, NAMES_MAX);
}

/* Say why it is refused (enum git_freeze_refusal, not 0). -ESTALE if HEAD is
 * not the expected commit, otherwise -EPERM: the worker must change something.
 */
static int
freeze_rules_refuse(const struct core *core, const struct worker *worker,
    const char *expected, const struct git_frozen *frozen, unsigned refused,
    struct err *err)
{
	cleanup_buf struct buf words = BUF_INIT;
	unsigned first = GIT_FREEZE_OTHER_BRANCH | GIT_FREEZE_REBASING;
	bool moved = (refused & GIT_FREEZE_MOVED) != 0 && !(refused & first);
	const char *branch;

	branch = core_branch(core);
	if (refused & GIT_FREEZE_OTHER_BRANCH)
		buf_addf(&words, "%s is on %s, not on its branch %s",
		    worker->name,
		    frozen->branch[0] != '\0' ? frozen->branch : "no branch",
		    worker->branch);
	else if (refused & GIT_FREEZE_REBASING)
		buf_addf(
		    &words, "a rebase is in progress in %s", worker->worktree);
	else if (refused & GIT_FREEZE_MOVED)
		buf_addf(&words,
		    "the work of %s is not what you were shown: HEAD was "
		    "%.12s and is %.12s now; look again with: llmc review %s",
		    worker->name, expected, frozen->commit, worker->name);
	else if (refused & GIT_FREEZE_FORBIDDEN) {
		buf_addf(
		    &words, "%s must not land on %s", worker->name, branch);
		freeze_rules_add_paths(&words, &frozen->forbidden);
	} else if (refused & GIT_FREEZE_UNRELATED)
		buf_addf(&words, "%s has no commit in common with %s",
		    worker->branch, branch);
	else {
		buf_addf(&words, "%s has uncommitted changes", worker->name);
		freeze_rules_add_paths(&words, &frozen->dirty);
	}
	return err_set(err, moved ? -ESTALE : -EPERM, "%s", words.data);
}

#define TITLE_MAX 200 /* bytes */
#define SEEN_MS   2000 /* a tree that was clean is taken for clean */

enum {
	STEP_WRITE,
	STEP_FREEZE,
	STEP_LEFTOVERS,
	STEP_LINES
};

struct op_enqueue {
	struct worker_op op; /* first */
	struct landings *landings;
	char *commit; /* that must be HEAD, NULL = any */
	bool approved; /* by a person */
	char *hold; /* why only a person may let it land; NULL = it lands */
	struct landing_item *item; /* until it is in the state */
	bool nothing; /* the branch has it all */
	bool tried; /* leftovers were committed */
};

/* --- refused --------------------------------------------------------- */

static void
refuse(struct op_enqueue *e, const struct git_frozen *frozen, unsigned refused)
{
	struct err err = { 0 };

	freeze_rules_refuse(e->op.agent->core, e->op.agent->worker, e->commit,
	    frozen, refused, &err);
	operation_fail(&e->op.op, &err);
}

/* It was not reviewed, and it changes what only a person may change, or weakens
 * tests. */
static void
refuse_guarded(
    struct op_enqueue *e, const struct git_frozen *frozen, const char *weakens)
{
	const struct worker *w = e->op.agent->worker;
	/* Its worker may do something else by then. */
	const char *name = w->task != NULL ? w->task : w->name;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	if (frozen->protected_paths.count > 0) {
		buf_addf(&words, "%s changes protected paths", name);
		freeze_rules_add_paths(&words, &frozen->protected_paths);
	} else {
		buf_addf(
		    &words, "the work of %s weakens tests: %s", name, weakens);
	}
	buf_addf(&words,
	    "; look at it with: llmc review %s, then: llmc accept %s", name,
	    name);
	err_set(&err, -EACCES, "%s", words.data);
	operation_fail(&e->op.op, &err);
}

/* --- step freeze ----------------------------------------------------- */

static void
fill(struct op_enqueue *e, const struct git_frozen *frozen)
{
	const struct core *core = e->op.agent->core;
	const struct worker *w = e->op.agent->worker;
	struct landing_item *item = e->item;
	const struct landing_hosts *hosts = e->landings->hosts;
	const struct task *t = state_task(&core->state, w->task);
	bool planned = t != NULL && t->source != NULL && t->key != NULL &&
	    strcmp(t->source, "plan") == 0 && strchr(t->key, '/') != NULL;
	cleanup_free char *goal =
	    planned ? xstrndup(t->key, strcspn(t->key, "/")) : NULL;
	cleanup_free char *id = NULL;
	cleanup_buf struct buf message = BUF_INIT;

	prompt_commit_message(t != NULL ? t->title : NULL, frozen->messages.v,
	    frozen->messages.count, true, &message);
	item->title = xstrndup(message.data,
	    text_cut(message.data, strcspn(message.data, "\n"), TITLE_MAX));
	if (w->task != NULL && hosts != NULL && !e->nothing)
		item->attempt =
		    hosts->attempt(e->landings->hosts_arg, w->task, &id);
	prompt_commit_trailers(id != NULL ? id : w->task, goal, &message);
	if (item->attempt != NULL) {
		buf_addf(&message, "\n" PROMPT_ATTEMPT_TRAILER ": %s",
		    item->attempt);
		item->step = ITEM_SUBMITTED;
	}
	xstrset(&item->worker, w->name);
	xstrset(&item->task, w->task);
	xstrset(&item->head, frozen->commit);
	xstrset(&item->head_tree, frozen->tree);
	xstrset(&item->base, frozen->base);
	xstrset(&item->base_tree,
	    frozen->base_tree[0] != '\0' ? frozen->base_tree : NULL);
	xstrset(&item->message, message.data);
	xstrset(&item->author_name, frozen->author_name);
	xstrset(&item->author_email, frozen->author_email);
	xstrset(&item->author_date, frozen->author_date);
	xstrset(&item->committer_date, frozen->committer_date);
	item->queued_ms = clock_wall_ms();
	if (frozen->base_date > 0 &&
	    git_facts_is_at(core->git, core_branch(core), frozen->base))
		queue_base_know(e->landings->queue, frozen->base,
		    frozen->base_tree, frozen->base_date);
}

/* Does it weaken tests, by its diff and by the number of those that ran? Said
 * once for each commit. */
static void
look_at_tests(
    struct op_enqueue *e, const struct git_frozen *frozen, struct buf *words)
{
	struct core *core = e->op.agent->core;
	const struct worker *w = e->op.agent->worker;
	struct task *task = state_task(&core->state, w->task);
	const struct check_command *known;
	char key[CHECK_KEY_SIZE];

	e->item->tests = w->checked_tests;
	if (strcmp(settings_string(core->settings, "auto.test_guard"),
		test_guard_words[TEST_GUARD_OFF]) == 0)
		return;
	buf_adds(words, frozen->weakens);
	check_book_key(
	    settings_string(core->settings, "auto.check_command"), key);
	known = check_book_command(&core->state.landings.checks, key);
	if (known != NULL && w->checked_tests > 0 &&
	    w->checked_tests < known->tests)
		buf_addf(words,
		    "%s%" PRId64 " tests ran, where %" PRId64 " ran before",
		    words->len > 0 ? "; " : "", w->checked_tests, known->tests);
	if (words->len > 0 && e->hold == NULL)
		EMIT(core, EVENT_TESTS_WEAKENED, .worker = w->name,
		    .task = w->task, .reason = words->data);
	if (task != NULL)
		xstrset(&task->weakens, words->len > 0 ? words->data : NULL);
}

static void
on_frozen(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct op_enqueue *e = arg;
	cleanup_buf struct buf weakens = BUF_INIT;
	unsigned refused, guard = TEST_GUARD_OFF;

	if (!operation_arrived(&e->op.op, err))
		return;
	word_find(test_guard_words,
	    settings_string(e->op.agent->core->settings, "auto.test_guard"),
	    &guard);
	refused = frozen->refused;
	/* They are not reviewed: they are part of the work. */
	if (refused == GIT_FREEZE_DIRTY && e->commit == NULL && !e->tried) {
		e->tried = true;
		operation_next(&e->op.op);
		return;
	}
	e->nothing = (refused & GIT_FREEZE_NOTHING) != 0;
	refused &= ~(unsigned)GIT_FREEZE_NOTHING;
	if (refused != 0) {
		refuse(e, frozen, refused);
		return;
	}
	fill(e, frozen);
	look_at_tests(e, frozen, &weakens);
	e->item->guarded = frozen->protected_paths.count > 0;
	if (!e->approved && e->hold == NULL &&
	    (e->item->guarded ||
		(weakens.len > 0 && guard == TEST_GUARD_ASK))) {
		refuse_guarded(e, frozen, weakens.data);
		return;
	}
	if (e->nothing || e->item->task == NULL)
		operation_done(&e->op.op);
	else
		operation_go(&e->op.op, STEP_LINES);
}

/* Has another agent approved the commit that must be HEAD? */
static bool
is_reviewed(const struct op_enqueue *e)
{
	const struct agent *agent = e->op.agent;
	const char *id = agent->worker->task;
	const struct task *t = state_task(&agent->core->state, id);

	return t != NULL && e->commit != NULL &&
	    t->attempt.review == REVIEW_APPROVED &&
	    text_is(t->attempt.review_of, e->commit);
}

static void
step_freeze(struct operation *op)
{
	struct op_enqueue *e = (struct op_enqueue *)op;
	const struct agent *agent = e->op.agent;
	struct core *core = agent->core;
	const struct worker *w = agent->worker;
	cleanup_free char *ref = queue_item_ref(e->item->id);
	struct freeze_rules rules;

	freeze_rules_init(&rules, core, w, e->commit);
	rules.what.ref = ref;
	rules.what.tests =
	    strcmp(settings_string(core->settings, "auto.test_guard"),
		test_guard_words[TEST_GUARD_OFF]) != 0;
	/* By op_inspect(), for the person who waits; before a review; or at the
	 * end of the turn that led here. What appears later is saved before
	 * the next task. */
	if (e->op.call != NULL || is_reviewed(e))
		rules.what.seen_clean = e->commit;
	else if (git_facts_clean(&agent->seen) && agent->seen_ms > 0 &&
	    clock_mono_ms() - agent->seen_ms < SEEN_MS)
		rules.what.seen_clean = agent->seen.head;
	git_freeze(core->git, w->worktree, &rules.what, on_frozen,
	    operation_await(op));
}

/* --- step leftovers -------------------------------------------------- */

static void
on_committed(const struct err *err, void *arg)
{
	struct operation *op = arg;

	if (operation_arrived(op, err))
		operation_go(op, STEP_FREEZE);
}

static void
step_leftovers(struct operation *op)
{
	struct op_enqueue *e = (struct op_enqueue *)op;
	struct core *core = e->op.agent->core;

	git_salvage_commit(core->git, e->op.agent->worker->worktree,
	    core_branch(core), turn_end_leftover_message, on_committed,
	    operation_await(op));
}

/* --- step lines ------------------------------------------------------ */

/* Only people want to know: nothing fails without it. */
static void
on_lines(int64_t added, int64_t removed, const struct err *err, void *arg)
{
	struct op_enqueue *e = arg;
	struct task *task;

	if (!operation_arrived(&e->op.op, NULL))
		return;
	task = state_task(&e->op.agent->core->state, e->item->task);
	if (task != NULL && err == NULL) {
		task->lines_known = true;
		task->lines_added = added;
		task->lines_removed = removed;
	}
	operation_done(&e->op.op);
}

static void
step_lines(struct operation *op)
{
	struct op_enqueue *e = (struct op_enqueue *)op;
	struct agent *agent = e->op.agent;
	const struct git_facts *seen = &agent->seen;

	operation_await(op);
	if (seen->lines_known && strcmp(seen->head, e->item->head) == 0)
		on_lines(seen->lines_added, seen->lines_removed, NULL, e);
	else
		git_lines_read(agent->core->git, agent->worker->worktree,
		    e->item->base, e->item->head, on_lines, e);
}

/* --- the end --------------------------------------------------------- */

/* The check that its worker's work passed in its own worktree holds for the
 * same tree in the queue. */
static void
note_own_check(const struct op_enqueue *e)
{
	struct core *core = e->op.agent->core;
	const struct worker *w = e->op.agent->worker;

	if (w->checked == NULL || w->checked_key == NULL || e->item->guarded ||
	    strcmp(w->checked, e->item->head) != 0)
		return;
	check_book_note(&core->state.landings.checks, e->item->head_tree,
	    w->checked_key, CHECK_PASSED, clock_wall_ms(), w->checked_ms, 0);
	candidates_trim_book(
	    e->landings->queue->candidates, e->landings->queue->base_tree);
}

/* The worker keeps its work and waits for a decision again. */
static void
fail(struct op_enqueue *e, const struct err *err)
{
	struct agent *agent = e->op.agent;
	struct landing_end ended = {
		.agent = agent,
		.task =
		    e->item->task != NULL ? e->item->task : agent->worker->task,
		.result = err->code == -ECANCELED ? LANDING_END_CANCELLED :
						    LANDING_END_TREE,
		.err = err,
	};

	if (agent->core->stopping && err->code == -ECANCELED) {
		serve_fail(agent->core, e->op.call, API_FAILED, err->msg);
		return; /* the next daemon tries again */
	}
	/* Frozen before it was refused, or cancelled at that moment. */
	if (e->item->head != NULL || err->code == -ECANCELED)
		queue_item_drop_ref(agent->core, e->item->id);
	agent->worker->accepted = false;
	agent->worker->for_person = err->code == -EACCES;
	agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
	xstrset(&agent->worker->reason, err->msg);
	persist_changed(agent->core);
	/* Not a worktree of ours any more: auto mode makes another one. */
	if (err->code == -EUCLEAN && !fleet_drives(agent))
		agent_park(agent, err->msg);
	landings_fail(e->landings, e->op.call, agent->worker->name,
	    agent->worker->commit, err, NULL);
	landings_ended(e->landings, &ended);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_enqueue *e = (struct op_enqueue *)op;

	worker_op_release(&e->op);
	if (err == NULL) {
		struct landings *landings;
		struct landing_item *item;

		note_own_check(e);
		landings = e->landings;
		item = take_ptr(&e->item);
		if (item->task != NULL && landings->policy->priority != NULL)
			item->priority = (enum priority)POLICY_ASK(
			    landings, policy, priority, item->task);
		item->approved = e->approved;
		if (e->hold != NULL && !e->nothing) {
			item->step = ITEM_HELD;
			item->words = take_ptr(&e->hold);
		}
		/* A person waits: do not keep them, or tell them at once why.
		 */
		if (e->op.call != NULL)
			queue_move_retry(landings->queue->move);
		landings_add_call(landings, item->id, take_ptr(&e->op.call));
		queue_add(landings->queue, item);
		if (e->nothing) {
			item->incorporated = true;
			settle_landed(landings, item);
		}
	} else {
		fail(e, err);
	}
	schema_free(&landing_item_schema, e->item);
	free(e->commit);
	free(e->hold);
	free(e);
}

static const struct operation_step steps[] = {
	[STEP_WRITE] = { .name = "write", .run = worker_op_write },
	[STEP_FREEZE] = { .name = "freeze", .run = step_freeze },
	[STEP_LEFTOVERS] = { .name = "leftovers", .run = step_leftovers },
	[STEP_LINES] = { .name = "lines", .run = step_lines },
};

OPERATION_KIND(kind, "landing", steps, end);

void
op_enqueue(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	struct op_enqueue *e = xcalloc(1, sizeof *e);

	e->landings = landings;
	xstrset(&e->commit, agent->worker->accepted_head);
	e->approved = agent->worker->approved;
	if (agent->worker->for_person)
		e->hold = xstrdup(agent->worker->reason != NULL ?
			agent->worker->reason :
			"only a person may accept it");
	e->item = landing_record_new_item(&landings->core->state.landings);
	worker_op_begin(&e->op, &kind, agent, call);
}

void
landing_begin(struct landings *landings, struct agent *agent,
    const char *commit, bool approved, struct server_call *call)
{
	struct worker *w = agent->worker;
	struct err err = { 0 };

	if (w->task == NULL && lands_by_pull(landings->core->settings)) {
		err_set(&err, -EPERM,
		    "auto.land is pull-request, and only the work of a task "
		    "becomes one; push it yourself: git push origin "
		    "%s:refs/heads/NAME",
		    w->branch);
		landings_fail(landings, call, w->name, w->commit, &err, NULL);
		return;
	}
	w->accepted = true;
	w->approved = approved;
	xstrset(&w->accepted_head, commit);
	w->for_person = false;
	agent_move(agent, WORKER_ACCEPTING, NULL);
	op_enqueue(landings, agent, call);
}

void
landing_hold(struct landings *landings, struct agent *agent, const char *commit)
{
	struct worker *w = agent->worker;

	/* With for_person, which stays, this is begun again after a restart. */
	w->accepted = true;
	w->approved = false;
	xstrset(&w->accepted_head, commit);
	agent_move(agent, WORKER_ACCEPTING, NULL);
	op_enqueue(landings, agent, NULL);
}

/* --- pick --------------------------------------------------------------- */

struct pick {
	struct worker_op op; /* first */
	struct landings *landings;
	struct landing_item *item; /* until it is in the state */
};

/* It may be on any branch, and in the middle of anything. */
static bool
is_refused(struct pick *pick, const struct git_frozen *frozen)
{
	const struct agent *agent = pick->op.agent;
	unsigned refused = frozen->refused &
	    (GIT_FREEZE_MOVED | GIT_FREEZE_FORBIDDEN | GIT_FREEZE_UNRELATED);
	struct err err = { 0 };

	if (refused == 0)
		return false;
	freeze_rules_refuse(agent->core, agent->worker, pick->item->picked_head,
	    frozen, refused, &err);
	operation_fail(&pick->op.op, &err);
	return true;
}

static void
on_looked(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct pick *pick = arg;

	if (!operation_arrived(&pick->op.op, err) || is_refused(pick, frozen))
		return;
	xstrset(&pick->item->base, frozen->base);
	xstrset(&pick->item->picked_head, frozen->commit);
	pick->item->uncommitted = (int)frozen->dirty.count;
	operation_next(&pick->op.op);
}

static void
step_look(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	struct core *core = pick->op.agent->core;
	const struct worker *w = pick->op.agent->worker;
	struct freeze_rules rules;

	freeze_rules_init(&rules, core, w, pick->item->picked_head);
	git_freeze(core->git, w->worktree, &rules.what, on_looked,
	    operation_await(op));
}

static void
on_salvaged(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct pick *pick = arg;
	struct err nothing = { 0 };

	if (!operation_arrived(&pick->op.op, err))
		return;
	if (saved->ref[0] == '\0') {
		err_set(&nothing, -ENOENT, "it has nothing to pick");
		operation_fail(&pick->op.op, &nothing);
		return;
	}
	xstrset(&pick->item->words, saved->ref);
	operation_next(&pick->op.op);
}

static void
step_salvage(struct operation *op)
{
	struct pick *pick = (struct pick *)op;

	salvage_begin(pick->op.agent,
	    &(struct salvage_what){ .then = SALVAGE_ONLY }, on_salvaged,
	    operation_await(op));
}

static void
on_saved_looked(
    const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct pick *pick = arg;

	if (!operation_arrived(&pick->op.op, err) || is_refused(pick, frozen))
		return;
	xstrset(&pick->item->head, frozen->commit);
	pick->item->guarded = frozen->protected_paths.count > 0;
	operation_next(&pick->op.op);
}

/* What was saved has the uncommitted files too, and HEAD may have moved since
 * the first look. */
static void
step_look_again(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	struct core *core = pick->op.agent->core;
	const struct landing_item *item = pick->item;
	struct freeze_rules rules;

	freeze_rules_init(
	    &rules, core, pick->op.agent->worker, item->picked_head);
	git_freeze_look(core->git, item->base, item->words, &rules.what,
	    on_saved_looked, operation_await(op));
}

static void
enqueue(struct pick *pick)
{
	struct landings *landings = pick->landings;
	struct landing_item *item = take_ptr(&pick->item);
	int64_t now = clock_wall_ms();

	item->kind = ITEM_PICK;
	xstrset(&item->worker, pick->op.agent->worker->name);
	item->title = xasprintf("Work of %s, picked", item->worker);
	item->message = xasprintf("%s\n", item->title);
	item->author_date = xasprintf("%" PRId64 " +0000", now / 1000);
	xstrset(&item->committer_date, item->author_date);
	item->approved = true;
	item->queued_ms = now;
	landings_add_call(landings, item->id, take_ptr(&pick->op.call));
	queue_add(landings->queue, item);
}

static void
pick_end(struct operation *op, const struct err *err)
{
	struct pick *pick = (struct pick *)op;

	worker_op_release(&pick->op);
	if (err == NULL)
		enqueue(pick);
	else
		landings_fail(pick->landings, pick->op.call,
		    pick->op.agent->worker->name, pick->item->picked_head, err,
		    NULL);
	/* A landing of the worker may have waited for this. */
	queue_look(pick->landings->queue);
	schema_free(&landing_item_schema, pick->item);
	free(pick);
}

static const struct operation_step pick_steps[] = {
	{ .name = "look", .run = step_look },
	{ .name = "salvage", .run = step_salvage },
	{ .name = "look-again", .run = step_look_again },
};

OPERATION_KIND(pick_kind, "pick", pick_steps, pick_end);

void
pick_begin(struct landings *landings, struct agent *agent, const char *commit,
    struct server_call *call)
{
	struct pick *pick = xcalloc(1, sizeof *pick);

	pick->landings = landings;
	pick->item = landing_record_new_item(&landings->core->state.landings);
	xstrset(&pick->item->picked_head, commit);
	worker_op_begin(&pick->op, &pick_kind, agent, call);
}
