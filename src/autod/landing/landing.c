/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "check-book.h"
#include "emit.h"
#include "git-facts.h"
#include "git-land.h"
#include "landing-private.h"
#include "landing-record.h"
#include "life.h"
#include "persist.h"
#include "prompt.h"
#include "serve.h"
#include "worker-op.h"

static void
landing_commands_register(struct landings *landings, struct fleet *fleet);

struct review {
	struct worker_op op; /* first */
	struct json_object *answer;
};

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct review *review = arg;
	struct agent *agent = review->op.agent;

	if (!operation_arrived(&review->op.op, err))
		return;
	xstrset(&agent->worker->reviewed,
	    facts->head[0] != '\0' ? facts->head : NULL);
	persist_changed(agent->core);
	json_set_string(review->answer, "commit_sha", agent->worker->reviewed);
	json_set_string(
	    review->answer, "landing_branch", core_branch(agent->core));
	json_set_int(review->answer, "uncommitted_files",
	    facts->changed + facts->untracked);
	operation_done(&review->op.op);
}

static void
step_head(struct operation *op)
{
	struct review *review = (struct review *)op;
	const struct core *core = review->op.agent->core;

	git_facts_read(core->git, review->op.agent->worker->worktree, NULL,
	    on_facts, operation_await(op));
}

static void
review_end(struct operation *op, const struct err *err)
{
	struct review *review = (struct review *)op;

	worker_op_release(&review->op);
	worker_op_answer(&review->op, err,
	    err == NULL ? json_object_get(review->answer) : NULL);
	json_object_put(review->answer);
	free(review);
}

static const struct operation_step steps[] = {
	{ .name = "head", .run = step_head },
};

OPERATION_KIND(kind, "review", steps, review_end);

/* Add the worker's HEAD and the number of files with uncommitted changes to
 * the answer, which is taken over, and send it. No operation may be running on
 * the worker. */
static void
op_review(
    struct agent *agent, struct server_call *call, struct json_object *answer)
{
	struct review *review = xcalloc(1, sizeof *review);

	review->answer = answer;
	worker_op_begin(&review->op, &kind, agent, call);
}

/* --- begin ----------------------------------------------------------- */

static struct json_object *
rebase_answer(
    const struct agent *agent, enum op_rebase_end end, const char *head)
{
	struct json_object *answer = json_object_new_object();

	json_set_string(answer, "worker", agent->worker->name);
	json_set_string(
	    answer, "commit_sha", end == OP_REBASE_CONFLICT ? NULL : head);
	json_set_string(answer, "commit_message", NULL);
	json_set_string(answer, "status",
	    end == OP_REBASE_CONFLICT ? "rebasing" : "needs_review");
	json_set_bool(
	    answer, "needs_conflict_resolution", end == OP_REBASE_CONFLICT);
	json_set_bool(answer, "already_incorporated", false);
	json_set_string(answer, "landing_branch", core_branch(agent->core));
	return answer;
}

static void
on_rebased(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *call, void *arg)
{
	(void)arg;
	if (err != NULL)
		serve_fail(agent->core, call, API_FAILED, err->msg);
	else
		serve_reply(agent->core, call, rebase_answer(agent, end, head));
}

static void
on_rebased_for_review(struct agent *agent, enum op_rebase_end end,
    const char *head, const struct err *err, struct server_call *call,
    void *arg)
{
	if (end == OP_REBASE_DONE)
		op_review(agent, call, rebase_answer(agent, end, head));
	else
		on_rebased(agent, end, head, err, call, arg);
}

/* Not accepted: it must not land after a restart. */
void
landing_rebase(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	agent->worker->accepted = false;
	agent_move(agent, WORKER_ACCEPTING, NULL);
	op_rebase(agent, false, call, on_rebased, landings);
}

/* After a restart: what was in progress on a worker that is accepting. Items of
 * the queue continue by themselves. */
static void
recover(struct landings *landings, struct agent *agent)
{
	const struct landing_record *record = &landings->core->state.landings;

	if (agent->worker->status != WORKER_ACCEPTING ||
	    agent_is_taken(agent) ||
	    landing_record_of(record, agent->worker->name) != NULL)
		return;
	if (agent->worker->accepted)
		op_enqueue(landings, agent, NULL);
	else
		op_rebase(agent, true, NULL, on_rebased, landings);
}

bool
landings_checking(const struct landings *landings)
{
	const struct queue *queue = landings->queue;

	for (int i = 0; i < LANDING_SLOTS_MAX; i++)
		if (queue_slot_tree(&queue->slots[i]) != NULL)
			return true;
	return false;
}

size_t
landings_long_waits(const struct landings *landings)
{
	return landings->queue->long_waits;
}

bool
landings_withdraw(struct landings *landings, const char *task)
{
	struct landing_item *item =
	    landing_record_of_task(&landings->core->state.landings, task);

	return item == NULL || settle_withdraw(landings, item);
}

void
landings_prioritize(struct landings *landings, const char *task, int priority)
{
	struct landing_item *item =
	    landing_record_of_task(&landings->core->state.landings, task);

	if (item == NULL)
		return;
	item->priority = (enum priority)priority;
	persist_changed(landings->core);
	landings_kick(landings);
}

void
landings_kick(struct landings *landings)
{
	queue_look(landings->queue);
}

void
landings_follow(struct landings *landings)
{
	upstream_look(landings->queue->upstream);
}

bool
landings_fresh(struct landings *landings)
{
	return upstream_fresh(landings->queue->upstream);
}

bool
landings_tried(struct landings *landings)
{
	struct queue *queue = landings->queue;

	if (!queue_trial_due(queue)) {
		if (queue->trial) /* there is no command any more */
			queue_look(queue);
		return true;
	}
	if (!queue->trial) {
		queue->trial = true;
		queue_look(queue);
	}
	return false;
}

bool
landings_trying(const struct landings *landings)
{
	return landings->queue->trial;
}

void
landings_trial_over(struct landings *landings, bool again)
{
	struct landing_record *record = &landings->core->state.landings;
	struct check_book *book = &record->checks;

	if (record->red_told == NULL)
		return;
	/* Of every command: it may be another one by now. */
	for (size_t i = 0; again && i < book->command_count; i++)
		check_book_forget(
		    book, record->red_told, book->commands[i].command);
	xstrset(&record->red_told, NULL);
	persist_changed(landings->core);
}

bool
landings_retry(struct landings *landings)
{
	bool pushes = upstream_retry(landings->queue->upstream);

	if (queue_move_reason(landings->queue->move) == NULL)
		return pushes;
	queue_move_retry(landings->queue->move);
	return true;
}

/* --- the floor ------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct landings *landings = arg;

	if (event->kind == EVENT_WORKER_LOST) {
		const char *worker = event->worker;
		const char *why = event->reason;
		struct landing_record *record = &landings->core->state.landings;
		struct landing_item *item = landing_record_of(record, worker);
		cleanup_free char *reason =
		    xasprintf("the landing is cancelled: %s", why);

		/* A worker loses its task: its item is taken out, unless the
		 * branch is moving with it already. */
		if (item == NULL)
			return;
		if (item->freeing)
			release_done(landings, item);
		else if (item->step == ITEM_QUEUED && item->commit == NULL)
			settle_cancelled(landings, item, reason);
		else /* too late: it may be on the branch already */
			xstrset(&item->worker, NULL);
		persist_changed(landings->core);
	} else if (event->kind == EVENT_WORK_FINISHED) {
		struct agent *agent =
		    fleet_find(landings->fleet, event->worker);
		const struct worker *w = agent != NULL ? agent->worker : NULL;

		/* The conflict of accepted work is resolved. The owner of its
		 * task looks at it again, and lets it land. */
		if (w == NULL || !w->accepted ||
		    landings_keeps(landings, w->task))
			return;
		landing_begin(landings, agent,
		    w->task != NULL ? w->commit : NULL, false, NULL);
	} else if (event->kind == EVENT_SETTINGS_READ && landings->begun) {
		upstream_begin(landings->queue->upstream);
	} else if (event->kind == EVENT_CLEARED && landings->begun) {
		recover(landings, fleet_find(landings->fleet, event->worker));
	}
}

static void
on_git_settled(const struct err *err, void *arg)
{
	struct landings *landings = arg;
	struct fleet *fleet = landings->fleet;

	if (err != NULL) /* the next landing tries again */
		EMIT(landings->core, EVENT_LANDING_WAITS,
		    .branch = core_branch(landings->core), .reason = err->msg);
	if (landings->core->stopping)
		return;
	queue_begin(landings->queue); /* first: it removes the refs of ids that
				       * are not used */
	for (size_t i = 0; i < fleet->count; i++)
		recover(landings, fleet->agents[i]);
	landings->begun = true;
	life_floor_begun(landings->core);
}

/* First of all remove the locks that a killed daemon left in the user's
 * repository. */
static void
floor_begin(void *self)
{
	struct landings *landings = self;

	git_land_settle(landings->core->git, on_git_settled, landings);
}

/* The branch may have been moved by hand; a worker may be free now. */
static void
floor_patrol(void *self, bool all)
{
	struct landings *landings = self;

	(void)all;
	if (!queue_move_busy(landings->queue->move))
		queue_base_changed(landings->queue);
	landed_watch_patrol(landings->queue->landed);
}

static void
floor_stop(void *self)
{
	struct landings *landings = self;
	struct queue *queue = landings->queue;

	/* Leave the running checks to the next daemon, end everything else. */
	queue->stopping = true;
	for (int i = 0; i < LANDING_SLOTS_MAX; i++)
		if (queue->slots[i].slot != NULL)
			check_slot_stop(queue->slots[i].slot);
	queue_move_stop(queue->move);
	upstream_stop(queue->upstream);
	landings_release_calls(landings);
}

static bool
floor_is_quiet(const void *self)
{
	const struct landings *landings = self;

	/* Does nothing run that must not be interrupted? */
	return !queue_move_busy(landings->queue->move) &&
	    upstream_is_quiet(landings->queue->upstream);
}

struct landings *
landings_new(struct fleet *fleet)
{
	struct landings *landings = xcalloc(1, sizeof *landings);

	landings->core = fleet->core;
	landings->fleet = fleet;
	landings_set_policy(landings, NULL, NULL);
	TAILQ_INIT(&landings->calls);
	landings->queue = queue_new(landings);
	landings->floor = (struct core_floor){
		.self = landings,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
	};
	core_add_floor(landings->core, &landings->floor);
	emit_subscribe(landings->core, on_event, landings);
	landing_commands_register(landings, fleet);
	review_get_register(landings);
	return landings;
}

void
landings_free(struct landings *landings)
{
	const struct fleet *fleet;

	if (landings == NULL)
		return;
	fleet = landings->fleet;
	landings->fleet->held = NULL;
	emit_unsubscribe(landings->core, on_event, landings);
	landings_release_calls(landings);
	review_get_release(landings);
	/* Git is freed next and will not answer any more. */
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->op != NULL)
			operation_drop(&fleet->agents[i]->op->op);
	queue_free(landings->queue);
	persist_forget(landings->core, landings);
	free(landings);
}

void
landings_set_policy(
    struct landings *landings, const struct landing_policy *policy, void *arg)
{
	static const struct landing_policy none;

	landings->policy = policy != NULL ? policy : &none;
	landings->policy_arg = arg;
}

void
landings_set_hosts(
    struct landings *landings, const struct landing_hosts *hosts, void *arg)
{
	landings->hosts = hosts;
	landings->hosts_arg = arg;
}

static bool
may_accept(struct agent *agent, struct server_call *call, bool force)
{
	const struct worker *w = agent->worker;

	if (w->status == WORKER_NEEDS_REVIEW ||
	    (force && w->status == WORKER_NO_CHANGES) ||
	    (force && w->status == WORKER_PAUSED))
		return !worker_commands_prompt_under_way(agent, call);
	worker_commands_wrong_status(
	    call, w, "only finished work can be accepted");
	return false;
}

static void
accept_seen(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct worker *w = agent->worker;
	const char *seen = json_string_or(params, "commit", NULL);
	bool force = json_bool_or(params, "force", false);

	if (!may_accept(agent, call, force))
		return;
	if (seen != NULL)
		xstrset(&w->commit, seen);
	/* Forced: uncommitted changes are part of it. */
	landing_begin(
	    landings, agent, force ? NULL : seen, force || seen != NULL, call);
}

static void
command_accept(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	bool force = json_bool_or(params, "force", false);

	if (may_accept(agent, call, force))
		op_inspect(agent, call, params,
		    OP_INSPECT_BRANCH | (force ? 0 : OP_INSPECT_CLEAN),
		    accept_seen, landings);
}

static void
command_rebase(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	(void)params;
	if (agent->worker->status != WORKER_NEEDS_REVIEW)
		worker_commands_wrong_status(
		    call, agent->worker, "only finished work can be rebased");
	else
		landing_rebase(landings, agent, call);
}

static void
command_review(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct core *core = agent->core;
	struct worker *w = agent->worker;
	const char *status = worker_status_name(w->status);
	struct json_object *result;

	if (w->status != WORKER_NEEDS_REVIEW &&
	    !json_bool_or(params, "force", false)) {
		worker_commands_wrong_status(
		    call, w, "it has nothing to review yet");
		return;
	}
	xstrset(&core->state.last_reviewed, w->name);
	xstrset(&w->reviewed, NULL); /* until it is shown */
	persist_changed(core);
	if (w->status == WORKER_NEEDS_REVIEW) {
		/* The same for a review: answers with the commit to look at
		 * (landing.h). */
		agent->worker->accepted = false;
		agent_move(agent, WORKER_ACCEPTING, NULL);
		op_rebase(agent, false, call, on_rebased_for_review, landings);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "worker", w->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", status);
	json_set_string(result, "new_status", status);
	op_review(agent, call, result);
}

static void
pick_seen(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	pick_begin(
	    landings, agent, json_string_or(params, "commit", NULL), call);
}

static void
command_pick(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	op_inspect(agent, call, params, 0, pick_seen, landings);
}

/* --- held work, which no worker has ----------------------------------- */

static void
held_accept(struct landings *landings, struct landing_item *item,
    struct server_call *call)
{
	bool shared = item->attempt != NULL && landings->hosts != NULL;

	item->approved = true;
	item->step = shared ? ITEM_SUBMITTED : ITEM_QUEUED;
	xstrset(&item->words, NULL);
	persist_changed(landings->core);
	if (shared)
		landings->hosts->changed(landings->hosts_arg);
	/* A person waits: do not keep them, or tell them at once why. */
	queue_move_retry(landings->queue->move);
	landings_add_call(landings, item->id, call);
}

/* A worker goes on with it: the task is given out again, and the item is gone,
 * in one pass of the loop. */
static void
held_reject(struct landings *landings, struct landing_item *item,
    struct server_call *call, struct json_object *params)
{
	cleanup_buf struct buf feedback = BUF_INIT, text = BUF_INIT;
	const char *held = worker_status_name(WORKER_NEEDS_REVIEW);
	struct json_object *result;

	if (!worker_commands_words(call, params, &feedback))
		return;
	prompt_rejection(feedback.data, &text);
	result = json_object_new_object();
	json_set_string(result, "worker", item->task);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", held);
	json_set_string(
	    result, "new_status", worker_status_name(WORKER_REJECTED));
	json_set_string(result, "commit_sha", item->head);
	POLICY_TELL(
	    landings, policy, rejected, item->task, item->head, text.data);
	settle_forget(landings, item);
	serve_reply(landings->core, call, result);
}

static void
held_review(const struct landings *landings, const struct landing_item *item,
    struct server_call *call)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", item->task);
	json_set_string(result, "commit_sha", item->head);
	json_set_string(result, "landing_branch", core_branch(landings->core));
	json_set_int(result, "uncommitted_files", 0);
	json_set_string(result, "commit_message", item->message);
	json_set_string(
	    result, "status", worker_status_name(WORKER_NEEDS_REVIEW));
	serve_reply(landings->core, call, result);
}

static bool
on_held(void *arg, const char *method, struct server_call *call,
    struct json_object *params)
{
	struct landings *landings = arg;
	const char *task = json_string_or(params, "worker", "");
	const char *seen = json_string_or(params, "commit", NULL);
	struct landing_item *item =
	    landing_record_held(&landings->core->state.landings, task);

	if (item == NULL)
		return false;
	if (item->worker != NULL)
		serve_refuse(call, API_BUSY,
		    "the worker of %s is being reset for another task; try "
		    "again in a moment",
		    task);
	else if (strcmp(method, "worker.review") == 0)
		held_review(landings, item, call);
	else if (seen != NULL && !text_begins(item->head, seen))
		serve_refuse(call, API_CHANGED,
		    "the work of %s is not what you were shown: it was %.12s "
		    "and is %.12s now; look again with: llmc review %s",
		    task, seen, item->head, task);
	else if (strcmp(method, "worker.accept") == 0)
		held_accept(landings, item, call);
	else if (strcmp(method, "worker.reject") == 0)
		held_reject(landings, item, call, params);
	else
		return false;
	return true;
}

static void
on_list(void *landings, struct server_call *call, struct json_object *params)
{
	(void)params;
	queue_view_answer(landings, call);
}

static void
on_revert(void *landings, struct server_call *call, struct json_object *params)
{
	revert_begin(landings, json_string_or(params, "commit", ""), call);
}

static void
landing_commands_register(struct landings *landings, struct fleet *fleet)
{
	fleet->held = on_held;
	fleet->held_arg = landings;
	fleet_handle(fleet, "worker.accept", command_accept, landings);
	fleet_handle(fleet, "worker.rebase", command_rebase, landings);
	fleet_handle(fleet, "worker.review", command_review, landings);
	fleet_handle(fleet, "worker.pick", command_pick, landings);
	serve_handle(landings->core, "landing.list", on_list, landings);
	serve_handle(landings->core, "landing.revert", on_revert, landings);
}
