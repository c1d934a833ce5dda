/* SPDX-License-Identifier: ISC */

/*
 * An operation on a worker, the steps that several have, and the operations
 * that everybody needs: salvage, park, reset, inspect.
 */

#include "base.h"

#include <dirent.h>
#include <sys/stat.h>

#include "acceptance.h"
#include "box-plan.h"
#include "child.h"
#include "core-settings.h"
#include "emit.h"
#include "fleet-private.h"
#include "git-facts.h"
#include "git-worktree.h"
#include "persist.h"
#include "rpc.h"
#include "serve.h"
#include "session.h"
#include "settings.h"
#include "setup.h"
#include "worker-op.h"
#include "workspace.h"

#define ASIDE_MAX 10 /* trees of a worker that are kept aside */

/* --- salvage ------------------------------------------------------------ */

enum {
	SALVAGE_STEP_SAVE,
	SALVAGE_STEP_ADD,
	SALVAGE_STEP_SAVE_AGAIN
};

struct salvage {
	struct operation op;
	struct agent *agent;
	enum salvage_then then;
	char *onto, *head, *same;
	bool check, find_base, unlocked;
	char ref[256], clean[GIT_ID_SIZE]; /* as in git_salvaged */
	salvage_fn *fn;
	void *arg;
};

void
salvage_place(const struct agent *agent, bool check,
    char stamp[SALVAGE_STAMP_SIZE], struct git_salvage *ret_what)
{
	const struct worker *w = agent->worker;
	char now[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), now);
	snprintf(stamp, SALVAGE_STAMP_SIZE, "%s%s%.16s",
	    check && w->work_of != NULL ? "checks" : now,
	    w->work_of != NULL ? "-" : "",
	    w->work_of != NULL ? w->work_of : "");
	*ret_what = (struct git_salvage){
		.worker = w->name,
		.branch = w->branch,
		.onto = core_branch(agent->core),
		.stamp = stamp,
		.keep_as = check ? "checks" : NULL,
	};
}

void
salvage_tell(const struct agent *agent, const char *ref)
{
	if (ref[0] != '\0')
		AGENT_EMIT(agent, EVENT_WORK_SALVAGED,
		    .task = agent->worker->work_of, .ref = ref);
}

/* --- a tree that cannot be used ----------------------------------------- */

bool
agent_blames_tree(const struct agent *agent, const struct err *err)
{
	cleanup_free char *lost = NULL;

	if (err->code == -ECANCELED || err->code == -ENOKEY)
		return false;
	lost = landing_branch_lost(agent->core);
	return lost == NULL;
}

bool
agent_tree_failed(struct agent *agent, const struct err *err)
{
	agent->spoilt =
	    agent->worker->work_of != NULL && agent_blames_tree(agent, err);
	agent_move(agent, WORKER_ERROR, err->msg);
	return agent->spoilt && fleet_drives(agent);
}

static int
aside_newest_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name); /* their ends are times */
}

/* In a child, as they may be large. */
static int
aside_remove_old(void *arg)
{
	const char *tree = arg, *name = strrchr(tree, '/') + 1;
	cleanup_free char *dir = xstrndup(tree, (size_t)(name - tree));
	cleanup_free char *prefix = xasprintf("%s.broken-", name);
	struct dirent **list;
	int count = scandir(dir, &list, NULL, aside_newest_first), kept = 0;

	for (int i = 0; i < count; i++) {
		cleanup_free char *path = file_join(dir, list[i]->d_name);

		if (text_begins(list[i]->d_name, prefix) && kept++ >= ASIDE_MAX)
			remove_tree(path);
	}
	return 0;
}

static void
on_old_removed(const struct child_result *result, void *arg)
{
	(void)result; /* the next time */
	(void)arg;
}

char *
agent_put_aside(const struct agent *agent)
{
	const char *tree = agent->worker->worktree;
	cleanup_free char *kept = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	struct stat st;

	clock_format_compact(clock_wall_ms(), stamp);
	kept = xasprintf("%s.broken-%s", tree, stamp);
	for (int n = 2; lstat(kept, &st) == 0; n++) {
		free(kept);
		kept = xasprintf("%s.broken-%s-%d", tree, stamp, n);
	}
	if (rename(tree, kept) == -1)
		return NULL;
	git_interrupt(agent->core->git, tree);
	child_spawn(agent->core->loop,
	    &(struct child_spec){
		.call = aside_remove_old, .call_arg = agent->worker->worktree },
	    on_old_removed, NULL, NULL, NULL);
	AGENT_EMIT(agent, EVENT_WORKTREE_BROKEN, .path = kept);
	return take_ptr(&kept);
}

/* --- salvage, and what follows ------------------------------------------ */

bool
agent_tree_is_broken(const struct agent *agent, const struct err *err)
{
	const struct worker *w = agent->worker;

	return err->code == -EUCLEAN ||
	    (err->code == -ENOENT && w->clone && !worker_tree_is_clone(w) &&
		file_is_dir(w->worktree));
}

/* After a reset the tree has to be one that can be used, whatever is wrong with
 * it; only a lock is waited for, and removed, before. */
static bool
is_broken(const struct salvage *s, const struct err *err)
{
	if (agent_tree_is_broken(s->agent, err))
		return true;
	return s->then == SALVAGE_RESET &&
	    file_exists(s->agent->worker->worktree) &&
	    (err->code != -EBUSY || s->unlocked) &&
	    agent_blames_tree(s->agent, err);
}

/* Whatever git says of it, a worker can be removed: its folder stays for
 * people. Not where a person can help: a repository inside with work of its
 * own, a lock, the user's own tree. */
static bool
is_removed_anyway(const struct salvage *s, const struct err *err)
{
	return s->then == SALVAGE_REMOVE && err->code != -ENOTEMPTY &&
	    err->code != -EBUSY && err->code != -EINVAL &&
	    err->code != -ECANCELED && file_is_dir(s->agent->worker->worktree);
}

static void
salvage_on_saved(
    const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct salvage *s = arg;
	bool anyway = err != NULL && is_removed_anyway(s, err);
	cleanup_free char *kept = NULL;

	if (err != NULL && (anyway || is_broken(s, err)) &&
	    s->op.at == SALVAGE_STEP_SAVE && !s->op.stopping)
		kept = agent_put_aside(s->agent);
	if (kept != NULL) {
		err = NULL;
		/* What is known is known of that one, and so it is where a
		 * session is still at work. */
		mem_cleanup_free(&s->head);
		mem_cleanup_free(&s->same);
		if (session_phase(s->agent->session) != SESSION_NONE)
			agent_end_session(s->agent);
	}
	if (saved != NULL && saved->base[0] != '\0' && !s->check) {
		xstrset(&s->agent->worker->base, saved->base);
		persist_changed(s->agent->core);
	}
	if (saved != NULL) {
		snprintf(s->ref, sizeof s->ref, "%s", saved->ref);
		snprintf(s->clean, sizeof s->clean, "%s", saved->clean);
	}
	if (!operation_arrived(&s->op, err))
		return;
	if (saved != NULL || s->op.at == SALVAGE_STEP_SAVE_AGAIN)
		operation_done(&s->op);
	else if (anyway)
		operation_go(&s->op, SALVAGE_STEP_SAVE_AGAIN);
	else
		operation_next(
		    &s->op); /* from the branch, which has the commits */
}

static void
salvage_save(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;
	struct git *git = s->agent->core->git;
	const char *dir = s->agent->worker->worktree;
	struct git_reset reset = {
		.head = s->head, .same = s->same, .find_base = s->find_base
	};
	char stamp[SALVAGE_STAMP_SIZE];

	salvage_place(s->agent, s->check, stamp, &reset.keep);
	reset.onto = s->onto != NULL ? s->onto : reset.keep.onto;
	operation_await(op);
	switch (s->then) {
	case SALVAGE_ONLY:
		git_salvage(git, dir, &reset.keep, salvage_on_saved, s);
		break;
	case SALVAGE_RESET:
		git_reset(git, dir, &reset, salvage_on_saved, s);
		break;
	case SALVAGE_REMOVE:
		git_remove(git, dir, &reset.keep, salvage_on_saved, s);
		break;
	}
}

static void
salvage_add(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;
	const struct worker *w = s->agent->worker;

	git_worktree_add(s->agent->core->git, w->worktree, w->branch,
	    core_branch(s->agent->core), operation_on_done,
	    operation_await(op));
}

/* If the folder exists, save from it; otherwise check out its branch first. */
static void
salvage_look(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;

	if (file_is_dir(s->agent->worker->worktree))
		salvage_save(op);
	else
		operation_next(op);
}

static void
salvage_end(struct operation *op, const struct err *err)
{
	struct salvage *s = (struct salvage *)op;
	struct git_salvaged saved = { .ref = s->ref, .clean = s->clean };

	s->agent->salvage = NULL;
	if (err == NULL)
		salvage_tell(s->agent, s->ref);
	if (s->fn != NULL)
		s->fn(err == NULL ? &saved : NULL, err, s->arg);
	free(s->onto);
	free(s->head);
	free(s->same);
	free(s);
}

static const struct operation_step salvage_steps[] = {
	[SALVAGE_STEP_SAVE] = { .name = "save", .run = salvage_look },
	[SALVAGE_STEP_ADD] = { .name = "add", .run = salvage_add },
	[SALVAGE_STEP_SAVE_AGAIN] = { .name = "save-again",
	    .run = salvage_save },
};

OPERATION_KIND(salvage_kind, "salvage", salvage_steps, salvage_end);

void
salvage_begin(struct agent *agent, const struct salvage_what *what,
    salvage_fn *fn, void *arg)
{
	struct salvage *s = xcalloc(1, sizeof *s);

	s->agent = agent;
	s->then = what->then;
	xstrset(&s->onto, what->onto);
	xstrset(&s->head, what->head);
	xstrset(&s->same, what->same);
	s->check = what->check;
	s->find_base = what->find_base;
	s->unlocked = what->unlocked;
	s->fn = fn;
	s->arg = arg;
	agent->salvage = s;
	operation_begin(&s->op, &salvage_kind, agent->core->loop, 0);
}

void
salvage_drop(struct salvage *s)
{
	if (s == NULL)
		return;
	s->fn = NULL;
	operation_drop(&s->op);
}

/* --- an operation ------------------------------------------------------- */

/* Every command has its own deadline, up to a day in the settings; this one is
 * a last resort. */
#define DEADLINE_MS (25 * 60 * 60 * 1000)

void
worker_op_begin(struct worker_op *op, const struct operation_kind *kind,
    struct agent *agent, struct server_call *call)
{
	if (agent->op != NULL)
		fatalx("%s begins on %s, but %s is running", kind->name,
		    agent->worker->name, agent->op->op.kind->name);
	op->agent = agent;
	op->call = call;
	agent->op = op;
	operation_begin(&op->op, kind, agent->core->loop, DEADLINE_MS);
}

void
worker_op_release(struct worker_op *op)
{
	persist_forget(op->agent->core, op);
	op->agent->op = NULL;
	fleet_freed(op->agent->fleet);
	agent_tick_later(op->agent, 1);
}

void
worker_op_answer(
    struct worker_op *op, const struct err *err, struct json_object *result)
{
	struct core *core = op->agent->core;

	if (err == NULL)
		serve_reply(core, op->call, result);
	else if (op->call != NULL)
		serve_fail(core, op->call, API_FAILED, err->msg);
	else if (err->code != -ECANCELED)
		EMIT(core, EVENT_GIT_FAILED, .worker = op->agent->worker->name,
		    .reason = err->msg);
}

void
worker_op_write(struct operation *op)
{
	struct worker_op *w = (struct worker_op *)op;

	persist_changed(w->agent->core);
	persist_then(w->agent->core, w, operation_on_over, operation_await(op));
}

/* Not while a process of the session may still write into the worktree. */
static void
on_session_ended(void *arg)
{
	struct worker_op *w = arg;

	operation_on_done(session_left(w->agent->session), arg);
}

void
worker_op_end_session(struct operation *op)
{
	struct worker_op *w = (struct worker_op *)op;

	session_end(w->agent->session, on_session_ended, operation_await(op));
}

static void
on_salvaged(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct worker_op *w = arg;

	if (saved != NULL)
		snprintf(w->salvage, sizeof w->salvage, "%s", saved->ref);
	w->on_salvaged(err, arg);
}

void
worker_op_salvage(
    struct worker_op *op, const struct salvage_what *what, git_work_fn *fn)
{
	op->on_salvaged = fn != NULL ? fn : operation_on_done;
	operation_await(&op->op);
	salvage_begin(op->agent, what, on_salvaged, op);
}

static void
on_submodules(const struct err *err, void *arg)
{
	const struct worker_op *w = arg;

	if (err != NULL && err->code != -ECANCELED) {
		AGENT_EMIT(
		    w->agent, EVENT_SUBMODULE_MISSING, .reason = err->msg);
		err = NULL;
	}
	operation_on_done(err, arg);
}

void
worker_op_submodules(struct operation *op)
{
	const struct agent *agent = ((struct worker_op *)op)->agent;
	const struct worker *w = agent->worker;
	cleanup_free char *file = file_join(w->worktree, ".gitmodules");

	if (!file_exists(file) || worker_tree_is_clone(w) ||
	    box_mode_of(agent->core->settings, w->name) != BOX_OFF)
		operation_next(op);
	else
		git_submodules(agent->core->git, w->worktree, on_submodules,
		    operation_await(op));
}

/* --- park ----------------------------------------------------------------- */

struct park {
	struct worker_op op;
	enum worker_status status;
	char *reason;
};

/* The file it was saved to, NULL on failure; the caller frees it. */
static char *
save_screen(const struct agent *agent, const char *text)
{
	cleanup_free char *dir =
	    workspace_path(agent->core->workspace, "logs/screens");
	cleanup_free char *name = NULL, *file = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	name = xasprintf("%s-%s.txt", agent->worker->name, stamp);
	file = file_join(dir, name);
	if (text == NULL || file_mkdirs(dir, 0700, NULL) < 0 ||
	    file_replace(file, text, strlen(text), 0600, NULL) < 0)
		return NULL;
	return take_ptr(&file);
}

static void
on_screen(const char *text, void *arg)
{
	struct park *p = arg;
	cleanup_free char *file = save_screen(p->op.agent, text);
	char *reason;

	if (file != NULL) {
		reason = xasprintf("%s; its screen is in %s", p->reason, file);
		free(p->reason);
		p->reason = reason;
	}
	operation_on_over(arg);
}

static void
park_screen(struct operation *op)
{
	struct park *p = (struct park *)op;

	session_screen(p->op.agent->session, on_screen, operation_await(op));
}

static void
park_worker(struct operation *op)
{
	struct park *p = (struct park *)op;
	struct agent *agent = p->op.agent;

	agent_move(agent, p->status, p->reason);
	AGENT_EMIT(agent, EVENT_WORKER_PARKED, .reason = p->reason);
	session_end(agent->session, operation_on_over, operation_await(op));
}

static void
park_end(struct operation *op, const struct err *err)
{
	struct park *p = (struct park *)op;

	(void)err; /* only if the daemon stops, which also ends the session */
	worker_op_release(&p->op);
	free(p->reason);
	free(p);
}

static const struct operation_step park_steps[] = {
	{ .name = "screen", .run = park_screen },
	{ .name = "pause", .run = park_worker },
};

OPERATION_KIND(park_kind, "park", park_steps, park_end);

/* status: paused, or error. */
static void
op_park(struct agent *agent, enum worker_status status, const char *reason)
{
	struct park *p = xcalloc(1, sizeof *p);

	p->status = status;
	p->reason = xstrdup(reason);
	worker_op_begin(&p->op, &park_kind, agent, NULL);
}

void
agent_park(struct agent *agent, const char *reason)
{
	if (agent_is_taken(agent) || agent->core->stopping)
		return;
	op_park(agent, WORKER_PAUSED, reason);
}

void
agent_give_up(struct agent *agent, const char *reason)
{
	if (agent_is_taken(agent) || agent->core->stopping)
		return;
	op_park(
	    agent, fleet_drives(agent) ? WORKER_ERROR : WORKER_PAUSED, reason);
}

/* --- reset -------------------------------------------------------------- */

enum {
	STEP_END_SESSION,
	STEP_FORGET,
	STEP_RESET,
	STEP_UNLOCK,
	STEP_RESET_AGAIN
};

struct reset {
	struct worker_op op;
	enum worker_status before;
};

static void
reset_forget(struct operation *op)
{
	struct agent *agent = ((struct reset *)op)->op.agent;

	agent_move(agent, WORKER_OFFLINE, NULL);
	agent_forget(agent);
	agent->retry_ms = 0;
	operation_next(op);
}

/* Its session has ended, so nothing will release a lock any more. A git process
 * that survived had the time that git.h allows. */
static void
on_reset(const struct err *err, void *arg)
{
	struct reset *r = arg;
	struct agent *agent = r->op.agent;

	if (err == NULL || err->code != -EBUSY) {
		if (operation_arrived(&r->op.op, err))
			operation_done(&r->op.op);
		return;
	}
	if (!operation_arrived(&r->op.op, NULL))
		return;
	AGENT_EMIT(agent, EVENT_LOCKS_REMOVED, .reason = err->msg);
	operation_next(&r->op.op);
}

static void
reset_tree(struct operation *op)
{
	struct reset *r = (struct reset *)op;

	worker_op_salvage(
	    &r->op, &(struct salvage_what){ .then = SALVAGE_RESET }, on_reset);
}

/* What is in the way then is put aside with the tree. */
static void
on_unlocked(const struct err *err, void *arg)
{
	(void)err;
	operation_on_done(NULL, arg);
}

static void
reset_unlock(struct operation *op)
{
	struct reset *r = (struct reset *)op;
	const struct worker *w = r->op.agent->worker;

	git_worktree_unlock(r->op.agent->core->git, w->worktree, w->branch,
	    on_unlocked, operation_await(op));
}

static void
reset_again(struct operation *op)
{
	struct reset *r = (struct reset *)op;

	worker_op_salvage(&r->op,
	    &(struct salvage_what){ .then = SALVAGE_RESET, .unlocked = true },
	    NULL);
}

static struct json_object *
reset_result_of(const struct reset *r)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", r->op.agent->worker->name);
	json_set_string(
	    result, "previous_status", worker_status_name(r->before));
	json_set_string(result, "new_status", "offline");
	json_set_string(result, "salvage", r->op.salvage);
	return result;
}

static void
reset_end(struct operation *op, const struct err *err)
{
	struct reset *r = (struct reset *)op;

	worker_op_release(&r->op);
	if (err == NULL)
		xstrset(&r->op.agent->worker->work_of, NULL);
	if (err != NULL && err->code != -ECANCELED)
		agent_move(r->op.agent, WORKER_ERROR, err->msg);
	worker_op_answer(&r->op, err, err == NULL ? reset_result_of(r) : NULL);
	free(r);
}

static const struct operation_step reset_steps[] = {
	[STEP_END_SESSION] = { .name = "end-session",
	    .run = worker_op_end_session },
	[STEP_FORGET] = { .name = "forget", .run = reset_forget },
	[STEP_RESET] = { .name = "reset", .run = reset_tree },
	[STEP_UNLOCK] = { .name = "unlock", .run = reset_unlock },
	[STEP_RESET_AGAIN] = { .name = "reset-again", .run = reset_again },
};

OPERATION_KIND(reset_kind, "reset", reset_steps, reset_end);

void
op_reset(struct agent *agent, struct server_call *call)
{
	struct reset *r = xcalloc(1, sizeof *r);

	r->before = agent->worker->status;
	AGENT_EMIT(agent, EVENT_WORKER_LOST, .reason = "its worker was reset");
	worker_op_begin(&r->op, &reset_kind, agent, call);
}

/* --- inspect ------------------------------------------------------------ */

struct inspect {
	struct worker_op op; /* first */
	struct json_object *params; /* holds `seen` */
	const char *seen;
	unsigned flags;
	struct git_facts facts;
	struct buf sentence; /* about the difference; empty = none */
	fleet_worker_fn *fn;
	void *arg;
};

static struct inspection
inspection_of(const struct inspect *inspect)
{
	const struct worker *w = inspect->op.agent->worker;
	const struct git_facts *facts = &inspect->facts;

	return (struct inspection){
		.worker = w->name,
		.worktree = w->worktree,
		.seen = inspect->seen,
		.reviewed = w->reviewed != NULL &&
		    text_begins(w->reviewed, inspect->seen),
		.branch = inspect->flags & OP_INSPECT_BRANCH ? w->branch : NULL,
		.clean = inspect->flags & OP_INSPECT_CLEAN,
		.head = facts->head,
		.checked_out = facts->branch,
		.rebasing = facts->rebasing,
		.dirty = facts->changed + facts->untracked,
	};
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct inspect *inspect = arg;
	struct inspection found;

	if (!operation_arrived(&inspect->op.op, err))
		return;
	inspect->facts = *facts;
	found = inspection_of(inspect);
	if (inspection_holds(&found))
		operation_done(&inspect->op.op);
	else
		operation_next(&inspect->op.op);
}

static void
step_facts(struct operation *op)
{
	struct inspect *inspect = (struct inspect *)op;
	const struct core *core = inspect->op.agent->core;

	git_facts_read(core->git, inspect->op.agent->worker->worktree, NULL,
	    on_facts, operation_await(op));
}

static void
on_since(const struct git_since *since, const struct err *err, void *arg)
{
	struct inspect *inspect = arg;
	struct inspection found;

	if (!operation_arrived(&inspect->op.op, err))
		return;
	found = inspection_of(inspect);
	found.known = since->known;
	found.commits = since->commits;
	found.files = since->files;
	found.file_count = since->file_count;
	found.uncommitted = since->uncommitted;
	found.uncommitted_count = since->uncommitted_count;
	inspection_sentence(&found, &inspect->sentence);
	operation_done(&inspect->op.op);
}

/* It is not what the caller has seen: what is different? */
static void
step_since(struct operation *op)
{
	struct inspect *inspect = (struct inspect *)op;
	const struct core *core = inspect->op.agent->core;

	git_since_read(core->git, inspect->op.agent->worker->worktree,
	    inspect->seen, core_branch(core), on_since, operation_await(op));
}

static void
inspect_end(struct operation *op, const struct err *err)
{
	struct inspect *inspect = (struct inspect *)op;
	struct agent *agent = inspect->op.agent;

	worker_op_release(&inspect->op);
	if (err != NULL) {
		worker_op_answer(&inspect->op, err, NULL);
	} else if (inspect->sentence.len > 0) {
		serve_fail(agent->core, inspect->op.call, API_CHANGED,
		    inspect->sentence.data);
	} else {
		json_set_string(inspect->params, "commit", inspect->facts.head);
		inspect->fn(
		    inspect->arg, agent, inspect->op.call, inspect->params);
	}
	json_object_put(inspect->params);
	buf_release(&inspect->sentence);
	free(inspect);
}

static const struct operation_step inspect_steps[] = {
	{ .name = "inspect", .run = step_facts },
	{ .name = "compare", .run = step_since },
};

OPERATION_KIND(inspect_kind, "inspection", inspect_steps, inspect_end);

void
op_inspect(struct agent *agent, struct server_call *call,
    struct json_object *params, unsigned flags, fleet_worker_fn *fn, void *arg)
{
	const char *seen = json_string_or(params, "commit", NULL);
	struct inspect *inspect;

	if (seen == NULL) {
		fn(arg, agent, call, params);
		return;
	}
	if (!inspection_is_id(seen)) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "commit: expected 7 to 64 hexadecimal digits");
		return;
	}
	inspect = xcalloc(1, sizeof *inspect);
	inspect->params = json_object_get(params);
	inspect->seen = seen;
	inspect->flags = flags;
	buf_init(&inspect->sentence);
	inspect->fn = fn;
	inspect->arg = arg;
	worker_op_begin(&inspect->op, &inspect_kind, agent, call);
}

/* --- methods on one worker -------------------------------------------- */

void
fleet_refuse_unknown(
    const struct fleet *fleet, struct server_call *call, const char *name)
{
	const struct state *state = &fleet->core->state;
	cleanup_buf struct buf words = BUF_INIT;

	buf_addf(&words, "there is no worker %s", name);
	buf_adds(&words,
	    state->count == 0 ?
		", and there are no others; add one with: llmc add NAME" :
		"; the workers are:");
	for (size_t i = 0; i < state->count; i++)
		buf_addf(&words, " %s", state->workers[i]->name);
	serve_refuse(call, API_UNKNOWN, "%s", words.data);
}

struct fleet_method {
	struct fleet *fleet;
	const char *name;
	fleet_worker_fn *fn;
	void *arg;
	struct fleet_method *next;
};

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	const struct fleet_method *method = arg;
	const char *name = json_string_or(params, "worker", "");
	struct agent *agent = fleet_find(method->fleet, name);

	if (agent == NULL && method->fleet->held != NULL &&
	    method->fleet->held(
		method->fleet->held_arg, method->name, call, params))
		return;
	if (agent == NULL)
		fleet_refuse_unknown(method->fleet, call, name);
	else if (agent_is_taken(agent))
		serve_refuse(call, API_BUSY,
		    "another operation on %s is in progress; try again in a "
		    "moment",
		    name);
	else
		method->fn(method->arg, agent, call, params);
}

void
fleet_methods_free(struct fleet *fleet)
{
	struct fleet_method *m;

	while ((m = fleet->methods) != NULL) {
		fleet->methods = m->next;
		free(m);
	}
}

void
fleet_handle(
    struct fleet *fleet, const char *method, fleet_worker_fn *fn, void *arg)
{
	struct fleet_method *m = xcalloc(1, sizeof *m);

	m->fleet = fleet;
	m->name = method;
	m->fn = fn;
	m->arg = arg;
	m->next = fleet->methods;
	fleet->methods = m;
	serve_handle(fleet->core, method, on_call, m);
}
