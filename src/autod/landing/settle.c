/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "api-work.h"
#include "check-book.h"
#include "emit.h"
#include "landing-private.h"
#include "landing-record.h"
#include "persist.h"
#include "schema.h"
#include "serve.h"
#include "settings.h"
#include "turn.h"

struct landing_call {
	TAILQ_ENTRY(landing_call) entry;
	char *item;
	struct server_call *call;
};

/* --- calls ----------------------------------------------------------- */

void
landings_add_call(
    struct landings *landings, const char *item, struct server_call *call)
{
	struct landing_call *c;

	if (call == NULL)
		return;
	c = xcalloc(1, sizeof *c);
	c->item = xstrdup(item);
	c->call = call;
	TAILQ_INSERT_TAIL(&landings->calls, c, entry);
}

static struct landing_call *
find_call(const struct landings *landings, const char *item)
{
	struct landing_call *c = TAILQ_FIRST(&landings->calls);

	while (c != NULL && strcmp(c->item, item) != 0)
		c = TAILQ_NEXT(c, entry);
	return c;
}

struct server_call *
landings_take_call(struct landings *landings, const char *item)
{
	struct landing_call *c = find_call(landings, item);
	struct server_call *call;

	if (c == NULL)
		return NULL;
	call = c->call;
	TAILQ_REMOVE(&landings->calls, c, entry);
	free(c->item);
	free(c);
	return call;
}

/* The work stays in the queue; only the calls end. */
void
landings_release_calls(struct landings *landings)
{
	struct landing_call *c;

	while ((c = TAILQ_FIRST(&landings->calls)) != NULL) {
		TAILQ_REMOVE(&landings->calls, c, entry);
		serve_fail(landings->core, c->call, API_FAILED,
		    "the daemon is stopping; the next one continues it");
		free(c->item);
		free(c);
	}
}

/* --- policies and events --------------------------------------------- */

bool
landings_may_move(const struct landings *landings)
{
	return landings->policy->may_move == NULL ||
	    POLICY_ASK(landings, policy, may_move);
}

bool
landings_keeps(const struct landings *landings, const char *task)
{
	return task != NULL && POLICY_ASK(landings, policy, keeps, task);
}

bool
landings_proposes(const struct landings *landings,
    const struct landing_item *item, const char **ret_wait)
{
	*ret_wait = NULL;
	return item->kind == ITEM_WORK && item->task != NULL &&
	    POLICY_ASK(landings, policy, proposes, item, ret_wait);
}

void
landings_item_blocked(struct landings *landings,
    const struct landing_item *item, const char *class, const char *reason)
{
	POLICY_TELL(landings, policy, blocked, class,
	    item != NULL ? item->worker : NULL,
	    item != NULL ? item->task : NULL, reason);
}

void
landings_blocked(
    struct landings *landings, const char *class, const char *reason)
{
	const struct landing_record *record = &landings->core->state.landings;
	const struct landing_item *first = NULL;

	for (size_t i = 0; i < record->count && first == NULL; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			first = record->items[i];
	landings_item_blocked(landings, first, class, reason);
}

const char *
landings_moving(const struct landings *landings)
{
	const struct landing_record *record = &landings->core->state.landings;

	return record->branch != NULL ? record->branch :
					core_branch(landings->core);
}

void
landings_fail(struct landings *landings, struct server_call *call,
    const char *worker, const char *head, const struct err *err,
    const char *output)
{
	cleanup_free char *words = err->code == -ECANCELED || worker == NULL ?
	    xstrdup(err->msg) :
	    xasprintf("the work of %s%s%.7s has not landed on %s: %s", worker,
		head != NULL ? " at " : "", head != NULL ? head : "",
		core_branch(landings->core), err->msg);

	serve_fail_output(landings->core, call, API_FAILED, words, output);
}

void
landings_ended(struct landings *landings, const struct landing_end *end)
{
	struct core *core = landings->core;
	const char *worker =
	    end->agent != NULL ? end->agent->worker->name : NULL;

	if (end->result != LANDING_END_LANDED &&
	    end->result != LANDING_END_PROPOSED &&
	    end->result != LANDING_END_CANCELLED)
		EMIT(core, EVENT_NOT_LANDED, .worker = worker,
		    .task = end->task, .branch = core_branch(core),
		    .commit = end->commit, .error = end->err->msg);
	EMIT(core, EVENT_LANDING_ENDED, .worker = worker, .task = end->task,
	    .landing = end);
}

bool
landings_busy(const struct landings *landings)
{
	const struct landing_record *record = &landings->core->state.landings;

	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step != ITEM_HELD ||
		    record->items[i]->freeing)
			return true;
	return false;
}

/* The worker that still has the item's work; NULL = none. */
struct agent *
settle_agent_of(
    const struct landings *landings, const struct landing_item *item)
{
	struct agent *agent;

	if (item->kind != ITEM_WORK || item->worker == NULL || item->freeing)
		return NULL;
	agent = fleet_find(landings->fleet, item->worker);
	return agent != NULL && agent->worker->status == WORKER_ACCEPTING ?
	    agent :
	    NULL;
}

/* The item is gone after this. */
void
settle_forget(struct landings *landings, struct landing_item *item)
{
	queue_item_drop_ref(landings->core, item->id);
	candidates_forget(landings->queue->candidates, item->id);
	queue_remove(landings->queue, item);
}

/* The same, and the floors above hear of it. */
void
settle_end(struct landings *landings, struct landing_item *item,
    struct agent *agent, enum landing_result result, const struct err *err)
{
	cleanup_free char *task =
	    item->task != NULL ? xstrdup(item->task) : NULL;
	cleanup_free char *head = xstrdup(item->head);
	struct landing_end end = {
		.agent = agent,
		.task = task,
		.commit = head,
		.result = result,
		.err = err,
	};
	bool work = item->kind == ITEM_WORK;

	settle_forget(landings, item);
	if (work)
		landings_ended(landings, &end);
}

/* Of an item, with the branch that it is for. */
static struct json_object *
answer_of(const struct landings *landings, const struct schema *schema,
    const struct landing_item *item)
{
	struct json_object *answer = schema_json(schema, item);

	json_set_string(answer, "landing_branch", core_branch(landings->core));
	return answer;
}

struct json_object *
settle_answer(const struct landings *landings, const struct landing_item *item,
    const char *status)
{
	struct json_object *answer =
	    answer_of(landings, &api_landing_accepted, item);

	json_set_string(answer, "commit_sha",
	    item->incorporated            ? "" :
		item->step == ITEM_LANDED ? item->commit :
					    NULL);
	json_set_string(answer, "status", status);
	json_set_bool(answer, "proposed", item->step == ITEM_PROPOSED);
	return answer;
}

static struct json_object *
picked_answer(const struct landings *landings, const struct landing_item *item)
{
	struct json_object *answer =
	    answer_of(landings, &api_landing_picked, item);

	json_set_bool(answer, "success", true);
	json_set_string(
	    answer, "commit_sha", item->incorporated ? "" : item->commit);
	return answer;
}

/* Of an item that has landed. */
void
settle_reply(struct landings *landings, const struct landing_item *item)
{
	struct server_call *call = landings_take_call(landings, item->id);
	struct core *core = landings->core;
	cleanup_free char *words = NULL;

	switch (item->kind) {
	case ITEM_PICK:
		serve_reply(core, call, picked_answer(landings, item));
		break;
	case ITEM_REVERT:
		if (!item->incorporated) {
			serve_reply(core, call,
			    answer_of(landings, &api_landing_reverted, item));
			break;
		}
		words = xasprintf("there is nothing to take back: %s no longer "
				  "has what %.12s changed",
		    core_branch(core), item->head);
		serve_fail(core, call, API_FAILED, words);
		break;
	default:
		serve_reply(core, call, settle_answer(landings, item, "idle"));
		break;
	}
}

/* --- landed ---------------------------------------------------------- */

static void
emit_reverted(struct landings *landings, const struct landing_item *item,
    const char *undone)
{
	EMIT(landings->core, EVENT_REVERTED,
	    .branch = landings_moving(landings), .commit = item->commit,
	    .ref = undone, .reason = item->why);
}

/* For each commit that it undoes, the newest first. */
static void
tell_reverted(struct landings *landings, const struct landing_item *item)
{
	const struct red_run *own = &landings->core->state.landings.own;

	if (item->commit == NULL && item->why == NULL)
		return; /* it changed nothing, and its caller hears of that */
	if (item->undoes == 0)
		emit_reverted(landings, item, item->head);
	for (size_t i = 0; i < (size_t)item->undoes && i < own->count; i++)
		emit_reverted(
		    landings, item, own->list[own->count - 1 - i].commit);
}

/* Of work that changes nothing: the commit of the branch that has it. NULL for
 * a task without any change of its own: its worker's word is no work. */
static const char *
holder_of(const struct landings *landings, const struct landing_item *item)
{
	const struct agent *agent = settle_agent_of(landings, item);
	bool merged = text_is(item->head, item->base);

	if (!item->incorporated)
		return NULL;
	if (item->task != NULL &&
	    (merged ? agent == NULL ||
			!text_is(item->head, agent->worker->commit) :
		      text_is(item->head_tree, item->base_tree)))
		return NULL;
	if (merged)
		return item->head;
	return item->commit != NULL ? item->commit :
				      landings->queue->base_commit;
}

static void
hosts_changed(const struct landings *landings)
{
	if (landings->hosts != NULL)
		landings->hosts->changed(landings->hosts_arg);
}

void
settle_landed(struct landings *landings, struct landing_item *item)
{
	const char *holder = holder_of(landings, item);
	cleanup_free char *ref = holder != NULL ? xstrdup(holder) : NULL;
	char key[CHECK_KEY_SIZE];

	item->step = ITEM_LANDED;
	check_book_key(
	    settings_string(landings->core->settings, "auto.check_command"),
	    key);
	check_book_landed(
	    &landings->core->state.landings.checks, key, item->tests);
	if (item->incorporated)
		xstrset(&item->commit, NULL);
	if (item->kind == ITEM_SHARED)
		hosts_changed(landings); /* the host that did it says so */
	else if (item->kind != ITEM_REVERT)
		EMIT(landings->core, EVENT_LANDED, .worker = item->worker,
		    .task = item->task, .branch = landings_moving(landings),
		    .commit = item->commit, .ref = ref,
		    .to = item->commit == NULL ?
			NULL :
			item->attempt != NULL ?
			item->commit :
			landings->core->state.landings.to,
		    .result = item->overtaken ? "overtaken" : NULL,
		    .count = item->place);
	else
		tell_reverted(landings, item);
	persist_changed(landings->core);
	queue_look(landings->queue);
}

void
landings_landed_elsewhere(
    struct landings *landings, struct landing_item *item, const char *commit)
{
	item->incorporated = commit[0] == '\0';
	item->place = 1;
	xstrset(&item->commit, item->incorporated ? NULL : commit);
	settle_landed(landings, item);
}

/* --- not landed ------------------------------------------------------ */

void
settle_ejected(
    struct landings *landings, struct landing_item *item, const char *words)
{
	cleanup_free char *kept = words != NULL ? xstrdup(words) : NULL;

	xstrset(&item->words, kept);
	item->step = ITEM_EJECTED;
	persist_changed(landings->core);
	if (item->kind == ITEM_SHARED)
		hosts_changed(landings);
	queue_look(landings->queue);
}

void
landings_returned(struct landings *landings, struct landing_item *item,
    bool conflict, const char *words)
{
	item->conflict = conflict;
	/* Its worktree is as it was: what was built is on another host. */
	xstrset(&item->commit, conflict ? NULL : item->head);
	settle_ejected(landings, item, words);
}

void
landings_unshare(struct landings *landings, struct landing_item *item)
{
	settle_forget(landings, item);
}

/* Answer the call that waits for it. */
static void
fail_item(struct landings *landings, const struct landing_item *item,
    const struct err *err)
{
	struct server_call *call = landings_take_call(landings, item->id);
	const char *output =
	    item->step == ITEM_EJECTED && !item->conflict ? item->words : NULL;
	cleanup_free char *words = NULL;

	if (item->kind != ITEM_REVERT) {
		landings_fail(landings, call, item->worker,
		    item->kind == ITEM_PICK ? item->picked_head : item->head,
		    err, output);
		return;
	}
	words = xasprintf("%.12s is not taken back on %s: %s", item->head,
	    core_branch(landings->core), err->msg);
	serve_fail_output(landings->core, call, API_FAILED, words, output);
	/* The policy wanted it. */
	if (item->why != NULL)
		POLICY_TELL(landings, policy, not_reverted, item, words);
}

/* Back to a person. The item is gone after this. */
void
settle_give_back(struct landings *landings, struct landing_item *item,
    enum landing_result result, const struct err *err)
{
	struct agent *agent = settle_agent_of(landings, item);

	if (agent != NULL) {
		agent->worker->accepted = false;
		agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
		xstrset(&agent->worker->reason, err->msg);
	}
	fail_item(landings, item, err);
	settle_end(landings, item, agent, result, err);
}

void
settle_refused(
    struct landings *landings, struct landing_item *item, const struct err *err)
{
	struct err kept = *err;

	if ((item->why != NULL && err->code == -EBUSY) ||
	    item->kind == ITEM_SHARED)
		return; /* no call waits for it */
	if (!landings_keeps(landings, item->task)) {
		settle_give_back(landings, item, LANDING_END_FAILED, err);
		return;
	}
	err_set(&kept, err->code, "%s; it stays in the queue (llmc landing)",
	    err->msg);
	fail_item(landings, item, &kept); /* the caller gets the reason */
}

void
settle_cancelled(
    struct landings *landings, struct landing_item *item, const char *reason)
{
	struct err err = { 0 };

	err_set(&err, -ECANCELED, "%s", reason);
	settle_give_back(landings, item, LANDING_END_CANCELLED, &err);
}

bool
settle_withdraw(struct landings *landings, struct landing_item *item)
{
	struct err err = { 0 };

	if (item->freeing || item->step == ITEM_LANDED ||
	    item->step == ITEM_PROPOSED ||
	    (item->step == ITEM_SUBMITTED && landings->hosts != NULL) ||
	    (item->step == ITEM_QUEUED && item->commit != NULL))
		return false;
	err_set(&err, -ECANCELED, "its task was dropped");
	fail_item(landings, item, &err);
	settle_forget(landings, item);
	return true;
}

void
settle_check_words(
    const struct core *core, const char *tree, struct landing_item *item)
{
	cleanup_buf struct buf how = BUF_INIT, output = BUF_INIT;
	cleanup_buf struct buf words = BUF_INIT;

	check_output_read(core, tree, &how, &output);
	turn_check_words(settings_string(core->settings, "auto.check_command"),
	    how.len > 0 ? how.data : "failed", output.data, &words);
	if (item->kind == ITEM_SHARED)
		buf_addf(&words,
		    "\nThis was your work on top of %s as it is now. Bring it "
		    "there first: git rebase %s\n",
		    core_branch(core), core_branch(core));
	else if (item->kind == ITEM_WORK && item->task != NULL)
		buf_addf(&words,
		    "\nThis was your work on top of %s as it is now; your worktree is "
		    "at exactly that. What landed since you began is in the log: git "
		    "log %.12s..HEAD~1\n",
		    core_branch(core), item->base != NULL ? item->base : "");
	xstrset(&item->words, words.data);
}
