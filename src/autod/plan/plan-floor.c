/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-work.h"
#include "auto.h"
#include "child.h"
#include "emit.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan.h"
#include "rpc.h"
#include "serve.h"
#include "settings.h"
#include "sibling.h"
#include "work-record.h"
#include "workspace.h"

static void on_landed(struct plan_floor *floor, const struct event *event);

#define REPORT_MAX RPC_LINE_MAX

struct kind {
	const char *method, *name;
};

static const struct kind kinds[] = {
	{ "overseer.store.check", "check" },
	{ "overseer.store.export", "export" },
	{ "overseer.store.sql", "sql" },
};

struct slot {
	struct store_jobs *jobs;
	const struct kind *kind;
};

struct store_jobs {
	struct plan_floor *floor;
	struct slot slots[nitems(kinds)];
	struct loop_call *begin;
	/* The job under way: */
	struct server_call *call; /* NULL = none */
	const struct kind *kind;
	char *file, *sql;
	struct child *child;
	struct json_object *report; /* NULL = it failed */
	struct err err;
};

static void
job_clear(struct store_jobs *jobs)
{
	jobs->call = NULL;
	free(take_ptr(&jobs->file));
	free(take_ptr(&jobs->sql));
	json_object_put(take_ptr(&jobs->report));
}

/* --- the end --------------------------------------------------------- */

/* What it printed: a line of JSON, or "autod: what is wrong". */
static struct json_object *
read_report(const struct child_result *result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *report = NULL;
	const char *words;

	if (child_succeeded(result)) {
		child_output_text(&result->out, &text);
		json_parse(text.data, text.len, REPORT_MAX, &report, err);
		return report;
	}
	if (result->timed_out) {
		err_set(err, API_FAILED,
		    "it was stopped because it took more than %d minutes; the "
		    "book is as before",
		    (int)(API_STORE_JOB_MS / 60000));
		return NULL;
	}
	child_output_text(&result->err, &text);
	buf_truncate(&text, strcspn(text.data, "\n"));
	words = text.data;
	if (text_begins(words, "autod: "))
		words += strlen("autod: ");
	if (!result->exited || words[0] == '\0') {
		buf_clear(&text);
		child_result_describe(result, &text);
		words = text.data;
	}
	err_set(err, API_FAILED, "%s", words);
	return NULL;
}

static void
job_ended(struct store_jobs *jobs)
{
	const struct plan_floor *floor = jobs->floor;

	if (jobs->report == NULL)
		serve_fail(floor->core, jobs->call, API_FAILED, jobs->err.msg);
	else
		serve_reply(floor->core, jobs->call, take_ptr(&jobs->report));
	job_clear(jobs);
}

static void
on_child(const struct child_result *result, void *arg)
{
	struct store_jobs *jobs = arg;

	jobs->child = NULL;
	jobs->report = read_report(result, &jobs->err);
	job_ended(jobs);
}

/* --- the begin ------------------------------------------------------- */

static int
spawn(struct store_jobs *jobs, struct err *err)
{
	cleanup_free char *autod = sibling_find("autod");
	cleanup_free char *owner = xasprintf("%d", (int)getpid());
	const char *argv[12] = { autod, "--root",
		jobs->floor->core->workspace->root, "--store-task",
		jobs->kind->name, "--owner", owner };
	int n = 7;

	if (autod == NULL)
		return err_set(err, API_FAILED,
		    "cannot find autod; install it with: make install");
	if (jobs->file != NULL) {
		argv[n++] = "--file";
		argv[n++] = jobs->file;
	}
	if (jobs->sql != NULL) {
		argv[n++] = "--sql";
		argv[n++] = jobs->sql;
	}
	return child_spawn(jobs->floor->core->loop,
	    &(struct child_spec){ .argv = argv,
		.output_max = REPORT_MAX,
		.deadline_ms = API_STORE_JOB_MS },
	    on_child, jobs, &jobs->child, err);
}

/* In a pass of its own: what the plans wrote is committed then. */
static void
job_begin(void *arg)
{
	struct store_jobs *jobs = arg;

	if (spawn(jobs, &jobs->err) < 0)
		job_ended(jobs);
}

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	const struct slot *slot = arg;
	struct store_jobs *jobs = slot->jobs;
	const char *file = json_string_or(params, "file", NULL);
	const char *sql = json_string_or(params, "sql", NULL);

	if (jobs->call != NULL) {
		serve_refuse(call, API_BUSY,
		    "a %s of the book is under way; try again when it has "
		    "ended",
		    jobs->kind->name);
		return;
	}
	if (file != NULL && file[0] != '/') {
		serve_refuse(call, API_FAILED,
		    "%s: the path of the file must begin with /", file);
		return;
	}
	jobs->call = call;
	jobs->kind = slot->kind;
	jobs->file = file != NULL ? xstrdup(file) : NULL;
	jobs->sql = sql != NULL ? xstrdup(sql) : NULL;
	loop_call_request(jobs->begin);
}

/* A job that runs is killed; it leaves the book as it was. */
static void
store_jobs_free(struct store_jobs *jobs)
{
	if (jobs == NULL)
		return;
	if (jobs->child != NULL)
		child_abandon(jobs->child);
	if (jobs->call != NULL)
		serve_refuse(jobs->call, API_FAILED,
		    "the daemon ended before the %s of the book was done",
		    jobs->kind->name);
	job_clear(jobs);
	loop_call_free(jobs->begin);
	free(jobs);
}

/* --- the plans --------------------------------------------------------- */

/* What follows from a refusal is in the same commit. */
static void
put(struct plan_floor *floor)
{
	cleanup_strv char **refused = NULL;

	while (plan_book_put(floor->book, &refused))
		plan_floor_changed(floor);
}

static void
on_commit(void *arg)
{
	struct plan_floor *floor = arg;

	put(floor);
	if (floor->dispatcher != NULL)
		plan_dispatcher_order(floor->dispatcher);
}

/* Plans and floors below are ready: go on where the last daemon stopped. */
static void
begin(struct plan_floor *floor)
{
	if (!floor->begun || floor->state != PLAN_OPEN)
		return;
	plan_dispatcher_begin(floor->dispatcher);
	plan_tasks_begin(floor->tasks);
	plan_tick_begin(floor->tick);
	planner_look(floor->planner);
}

/* Records that no plan can be made of stay where they are. */
static void
open_plans(struct plan_floor *floor)
{
	struct err err = { 0 };

	floor->state = PLAN_OFF;
	if (!settings_bool(floor->core->settings, "plan.enabled") &&
	    !plan_book_has_goals(floor))
		return;
	if (plan_book_load(floor->book, &err) < 0) {
		floor->state = PLAN_SAFE;
		free(floor->why);
		floor->why = xasprintf("%s%s", err.msg,
		    err.code != -EBADMSG ?
			"" :
			"; type: llmc down, and correct that record with: "
			"sqlite3 .llmc/llmc.db");
		return;
	}
	floor->state = PLAN_OPEN;
	floor->dispatcher = plan_dispatcher_new(floor);
	floor->tick = plan_tick_new(floor);
	floor->planner = planner_new(floor);
	if (floor->guest != NULL)
		floor->guest->opened(floor->guest_arg);
}

static void
close_plans(struct plan_floor *floor)
{
	if (floor->guest != NULL && floor->state == PLAN_OPEN)
		floor->guest->closed(floor->guest_arg);
	plan_tasks_closed(floor->tasks);
	plan_calls_closed(floor->calls);
	plan_tick_free(take_ptr(&floor->tick));
	plan_dispatcher_free(take_ptr(&floor->dispatcher));
	planner_free(take_ptr(&floor->planner));
	plan_book_unload(floor->book);
}

static void
tell_safe(struct plan_floor *floor)
{
	if (floor->state == PLAN_SAFE)
		emit(floor->core,
		    &(struct event){
			.kind = EVENT_STORE_CLOSED, .reason = floor->why });
}

void
plan_floor_set_guest(
    struct plan_floor *floor, const struct plan_guest *guest, void *arg)
{
	floor->guest = guest;
	floor->guest_arg = arg;
	if (guest != NULL && floor->state == PLAN_OPEN)
		guest->opened(arg);
}

/* --- what llmc status shows ------------------------------------------- */

static struct json_object *
digest(const struct plan_floor *floor)
{
	switch (floor->state) {
	case PLAN_OPEN:
		return plan_digest(plan_floor_set(floor), NULL);
	case PLAN_SAFE:
		return plan_digest(NULL, floor->why);
	case PLAN_OFF:
		break;
	}
	return NULL;
}

static void
show(void *arg)
{
	struct plan_floor *floor = arg;
	struct core *core = floor->core;
	struct json_object *json = digest(floor);

	if (json_object_equal(json, core->state.goals)) {
		json_object_put(json);
		return;
	}
	json_object_put(core->state.goals);
	core->state.goals = json;
	persist_changed(core);
}

/* The planner has given a goal its plan. */
static void
on_planned(void *arg)
{
	plan_floor_changed(arg);
}

static void
floor_on_event(const struct event *event, void *arg)
{
	struct plan_floor *floor = arg;

	on_landed(floor, event);
	/* Before the asks are looked at: its node is not blocked any more. */
	if (event->kind == EVENT_TASK_RESUMED)
		show(floor);
	else if (event->goal != NULL)
		loop_call_request(floor->show);
}

/* --- the floor ------------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct plan_floor *floor = self;

	floor->begun = !floor->core->options->oneshot;
	tell_safe(floor);
	begin(floor);
	life_floor_begun(floor->core);
}

static void
floor_patrol(void *self, bool all)
{
	const struct plan_floor *floor = self;

	(void)all;
	plan_floor_changed(self);
	planner_look(floor->planner);
}

static void
floor_stop(void *self)
{
	const struct plan_floor *floor = self;

	planner_stop(floor->planner);
}

struct plan_floor *
plan_floor_new(struct auto_mode *mode)
{
	struct plan_floor *floor = xcalloc(1, sizeof *floor);
	struct store_jobs *jobs;

	floor->core = mode->core;
	floor->fleet = mode->fleet;
	floor->landings = mode->landings;
	floor->mode = mode;
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
	};
	core_add_floor(floor->core, &floor->floor);
	TAILQ_INIT(&floor->orders);
	floor->book = plan_book_new(floor);
	persist_before(floor->core, on_commit, floor);
	floor->tasks = plan_tasks_new(floor);
	floor->calls = plan_calls_new(floor);
	floor->show = loop_call_new(floor->core->loop, show, floor);
	floor->planned = loop_call_new(floor->core->loop, on_planned, floor);
	emit_subscribe(floor->core, floor_on_event, floor);
	goal_commands_register(floor);
	plan_tick_register(floor);
	plan_query_register(floor);
	why_command_register(floor);
	/* Registers the methods. */
	jobs = xcalloc(1, sizeof *jobs);
	jobs->floor = floor;
	jobs->begin = loop_call_new(floor->core->loop, job_begin, jobs);
	for (size_t i = 0; i < nitems(kinds); i++) {
		jobs->slots[i] = (struct slot){ jobs, &kinds[i] };
		serve_handle(
		    floor->core, kinds[i].method, on_call, &jobs->slots[i]);
	}
	floor->jobs = jobs;
	open_plans(floor);
	loop_call_request(floor->show);
	return floor;
}

void
plan_floor_free(struct plan_floor *floor)
{
	if (floor == NULL)
		return;
	store_jobs_free(floor->jobs);
	close_plans(floor);
	emit_unsubscribe(floor->core, floor_on_event, floor);
	loop_call_free(floor->show);
	loop_call_free(floor->planned);
	plan_calls_free(floor->calls);
	plan_tasks_free(floor->tasks);
	persist_before(floor->core, NULL, NULL);
	plan_book_free(floor->book);
	free(floor->why);
	free(floor);
}

/* --- landed ----------------------------------------------------------- */

/* The node that a person's worker has; NULL = none. */
static struct plan_node *
driven_by(const struct plan_set *set, const char *worker)
{
	struct plan_cursor cursor = { 0 };
	struct plan_node *node;

	while ((node = plan_set_next(set, &cursor)) != NULL)
		if (plan_node_is_assigned(node) &&
		    node->work.status != ASSIGNMENT_QUEUED &&
		    plan_node_driven(node) != NULL &&
		    strcmp(node->work.worker, worker) == 0)
			return node;
	return NULL;
}

/* commit: as what it landed, or the one of the branch that had it already. */
static void
finish(struct plan_floor *floor, const char *worker, const char *commit,
    bool had_it)
{
	struct plan_set *set = plan_floor_set(floor);
	struct plan_node *node = driven_by(set, worker);
	struct plan_evidence evidence = { 0 };
	struct reconcile_facts facts = {
		.accepted = true, .accepted_by = "person", .evidence = &evidence
	};
	struct reconcile_config config;
	struct reconcile_result result;

	if (node == NULL)
		return;
	strv_add(&evidence.commits, commit);
	if (had_it)
		strv_add(&evidence.external_refs,
		    "accepted by a person; the branch had it already");
	reconcile_config_read(floor->core->settings, &config);
	reconcile_now(set, node, &facts, &config, clock_wall_ms(), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
	plan_evidence_release(&evidence);
	plan_floor_changed(floor);
}

/* --- taken back ------------------------------------------------------- */

static bool
reopen_in(struct plan_floor *floor, struct plan *plan, const char *commit,
    const char *why)
{
	bool any = false;

	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_node *node = plan->nodes[i];

		if (!plan_node_leaf(node) || node->status != NODE_DONE ||
		    !plan_has(node->evidence.commits, commit))
			continue;
		plan_change_node(
		    floor, node, plan_edit_reopen, "landing", why, NULL);
		any = true;
	}
	return any;
}

static bool
on_node(const struct book_record *record, void *arg)
{
	char ***goals = arg;

	if (!plan_has(*goals, record->goal_id))
		strv_add(goals, record->goal_id);
	return true;
}

/* Also in goals that have ended. */
static void
take_back(struct plan_floor *floor, const char *commit, const char *by,
    const char *reason)
{
	const struct plan_set *set = plan_floor_set(floor);
	cleanup_free char *why =
	    xasprintf("taken back by %s%s%s", by != NULL ? by : "a commit",
		reason != NULL ? ": " : "", reason != NULL ? reason : "");
	cleanup_strv char **goals = NULL;
	struct err err = { 0 };
	bool any = false;

	for (size_t i = 0; i < set->plan_count; i++)
		strv_add(&goals, set->plans[i]->goal->id);
	if (book_find_nodes(floor->core->book, commit, on_node, &goals, &err) <
	    0)
		log_info("goals that have ended are not looked at for %s: %s",
		    commit, err.msg);
	for (size_t i = 0; i < strv_count(goals); i++) {
		struct plan *plan = plan_book_plan(floor, goals[i], &err);

		if (plan != NULL)
			any |= reopen_in(floor, plan, commit, why);
	}
	if (any)
		plan_floor_changed(floor);
}

/* --- events ----------------------------------------------------------- */

static void
on_landed(struct plan_floor *floor, const struct event *event)
{
	bool lands = event->kind == EVENT_LANDED ||
	    event->kind == EVENT_WORK_LANDED_ELSEWHERE;

	if (floor->state != PLAN_OPEN)
		return;
	if (lands && event->task == NULL && event->worker != NULL &&
	    (event->commit != NULL || event->ref != NULL))
		finish(floor, event->worker,
		    event->commit != NULL ? event->commit : event->ref,
		    event->commit == NULL);
	if (event->kind == EVENT_REVERTED && event->ref != NULL)
		take_back(floor, event->ref, event->commit, event->reason);
}
