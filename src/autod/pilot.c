/* SPDX-License-Identifier: ISC */

/* Auto mode: begins, looks who is free, gives out tasks, and knows when all is
 * done. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "child.h"
#include "clock.h"
#include "errand.h"
#include "errtext.h"
#include "file.h"
#include "lock.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "settings.h"
#include "setup.h"
#include "source.h"
#include "workspace.h"

static void look(void *arg);

int
pilot_new(struct daemon *d, struct err *err)
{
	struct pilot *p = xcalloc(1, sizeof *p);

	p->daemon = d;
	p->active = d->options->auto_mode;
	p->until_empty = d->options->until_empty;
	p->look = loop_call_new(d->loop, look, p);
	d->pilot = p;
	/* Without auto mode it is opened when somebody asks for it: a source
	 * that cannot be had is in nobody's way. */
	return p->active && supply_source(p, err) == NULL ? err->code : 0;
}

void
pilot_free(struct pilot *p)
{
	if (p == NULL)
		return;
	daemon_forget(p->daemon, p);
	errand_free(p->post);
	source_free(p->source);
	loop_call_free(p->look);
	loop_timer_free(p->beat);
	loop_timer_free(p->again);
	free(p->posting);
	free(p->quarantined);
	free(p);
}

bool
pilot_drives(const struct agent *agent)
{
	return agent->daemon->pilot->active &&
	    worker_is_auto(agent->worker->name);
}

struct task *
pilot_task(const struct agent *agent)
{
	return agent->worker->task == NULL ?
	    NULL :
	    state_task(&agent->daemon->state, agent->worker->task);
}

/* --- giving out ------------------------------------------------------ */

static bool
is_free(const struct agent *agent)
{
	return agent->phase == AGENT_UP && worker_is_free(agent->worker) &&
	    !agent->operating;
}

static void
assign(struct agent *agent, struct task *t)
{
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	cleanup_buf struct buf text = BUF_INIT, review = BUF_INIT;
	cleanup_free char *attempt = NULL;

	task_assign(t, w->name, clock_wall_ms());
	attempt = xasprintf("%d", t->attempts);
	task_text(t, &text);
	xstrset(&w->prompt, text.data);
	xstrset(&w->prompt_command, t->source);
	xstrset(&w->task, t->id);
	settings_worker_path(d->settings, w->name, "self_review", &review);
	w->self_review = settings_bool(d->settings, review.data);
	w->self_reviewed = false;
	w->stalls = 0;
	agent->stall_ms = 0;
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		return;
	d->state.last_task_assignment_unix = clock_wall_ms() / 1000;
	d->pilot->told_waiting = false;
	log_fields(LOG_LEVEL_INFO, "task assigned", "worker", w->name, "task",
	    t->id, "attempt", attempt, "title", t->title, NULL);
	record(d, LOG_LEVEL_INFO, "task_assigned", "worker_name", w->name,
	    "task", t->id, "task_excerpt", t->title, "attempt", attempt, NULL);
	tasks_start_again(agent);
}

/* Give the waiting tasks to the free; how many are left with nothing? */
static size_t
give_out(struct pilot *p)
{
	struct daemon *d = p->daemon;
	size_t left = 0;

	for (size_t i = 0; d->state.auto_workers[i] != NULL; i++) {
		struct agent *agent = agent_find(d, d->state.auto_workers[i]);
		struct task *t;

		if (agent == NULL || !is_free(agent))
			continue;
		t = task_next_waiting(d->state.tasks, d->state.task_count);
		if (t != NULL)
			assign(agent, t);
		else
			left++;
	}
	return left;
}

/* A worker whose task is over may still be being set back. */
static bool
is_at_rest(const struct daemon *d)
{
	for (size_t i = 0; i < d->agent_count; i++)
		if (d->agents[i]->operating)
			return false;
	return true;
}

static void
end_of_tasks(struct pilot *p)
{
	struct daemon *d = p->daemon;

	if (!p->told_waiting) {
		p->told_waiting = true;
		log_info("no task is left; %llu done, %llu failed%s",
		    (unsigned long long)p->done, (unsigned long long)p->failed,
		    p->until_empty ? "" : "; waiting for more");
	}
	if (!p->until_empty || !is_at_rest(d))
		return;
	if (p->failed > 0 || p->quarantined != NULL)
		d->exit_status = 1;
	daemon_stop(d, false);
}

static void
look(void *arg)
{
	struct pilot *p = arg;
	struct daemon *d = p->daemon;
	size_t left;

	if (!p->begun || d->stopping || d->state.paused != NULL)
		return;
	left = give_out(p);
	if (left > supply_count(p, TASK_OFFERED) && p->hungry &&
	    !source_asking(p->source))
		supply_ask(p);
	if (!p->hungry && !source_asking(p->source) &&
	    d->state.task_count == 0 && p->posting == NULL)
		end_of_tasks(p);
}

void
pilot_look(struct daemon *d)
{
	loop_call_request(d->pilot->look);
}

/* --- a worker and its task part -------------------------------------- */

void
pilot_clear_worker(struct agent *agent)
{
	agent_move(agent, WORKER_OFFLINE, NULL);
	fleet_forget(agent);
	fleet_reset(agent, NULL, NULL);
}

void
pilot_attempt_failed(struct agent *agent, const char *why)
{
	struct daemon *d = agent->daemon;
	struct task *t = pilot_task(agent);
	int max = (int)settings_int(d->settings, "auto.max_attempts");
	cleanup_free char *reason = xstrdup(why), *attempt = NULL;

	if (t != NULL && task_attempt_failed(t, reason, max, clock_wall_ms())) {
		attempt = xasprintf("%d", t->attempts);
		log_fields(LOG_LEVEL_INFO, "attempt failed", "worker",
		    agent->worker->name, "task", t->id, "reason", reason, NULL);
		record(d, LOG_LEVEL_INFO, "task_retry", "worker_name",
		    agent->worker->name, "task", t->id, "reason", reason,
		    "attempt", attempt, NULL);
	} else if (t != NULL) {
		settle_counted(d, t);
	}
	pilot_clear_worker(agent);
	pilot_look(d);
}

void
pilot_worker_lost(struct agent *agent, const char *why)
{
	struct task *t = pilot_task(agent);

	if (t == NULL)
		return;
	if (t->step == TASK_ASSIGNED)
		task_give_back(t, why, clock_wall_ms());
	xstrset(&agent->worker->task, NULL);
	daemon_changed(agent->daemon);
	pilot_look(agent->daemon);
}

void
pilot_landed_by_hand(struct agent *agent)
{
	struct task *t = pilot_task(agent);

	if (t != NULL)
		settle_task(agent->daemon, t, OUTCOME_LANDED, "landed by hand");
}

static void
worker_failed(void *arg)
{
	struct agent *agent = arg;
	const struct worker *w = agent->worker;
	cleanup_free char *words = NULL;

	if (w->status != WORKER_ERROR)
		return;
	words = xasprintf("%s cannot go on: %s", w->name,
	    w->reason != NULL ? w->reason : "no reason given");
	failure_raise(agent->daemon,
	    &(struct failure){ .class = "worker_error",
		.worker = w->name,
		.task = w->task,
		.status = -1,
		.words = words });
}

void
pilot_moved(struct agent *agent, enum worker_status from)
{
	const struct worker *w = agent->worker;
	struct daemon *d = agent->daemon;

	record(d, LOG_LEVEL_INFO, "worker_state_transition", "worker_name",
	    w->name, "from_state", worker_status_name(from), "to_state",
	    worker_status_name(w->status), NULL);
	if (w->status == WORKER_ERROR && pilot_drives(agent))
		daemon_then(d, agent, worker_failed, agent);
	if (w->status == WORKER_IDLE)
		pilot_look(d);
}

/* --- what does not fit together -------------------------------------- */

static bool
has_holder(const struct daemon *d, const struct task *t)
{
	for (size_t i = 0; i < d->state.count; i++) {
		const char *held = d->state.workers[i]->task;

		if (held != NULL && strcmp(held, t->id) == 0)
			return true;
	}
	return false;
}

/* Tasks that no worker has, and workers whose task is gone. */
static void
reconcile(struct pilot *p)
{
	struct daemon *d = p->daemon;

	for (size_t i = 0; i < d->state.task_count; i++) {
		struct task *t = d->state.tasks[i];

		if (t->step != TASK_ASSIGNED || has_holder(d, t))
			continue;
		log_fields(LOG_LEVEL_INFO, "no worker has it: it waits again",
		    "task", t->id, NULL);
		task_give_back(t, "no worker had it", clock_wall_ms());
		daemon_changed(d);
	}
	for (size_t i = 0; i < d->agent_count; i++) {
		struct worker *w = d->agents[i]->worker;

		if (w->task == NULL || pilot_task(d->agents[i]) != NULL)
			continue;
		xstrset(&w->task, NULL);
		daemon_changed(d);
	}
}

static void
ensure_workers(struct pilot *p)
{
	struct daemon *d = p->daemon;

	state_set_auto_workers(&d->state, p->workers);
	for (size_t i = 0; d->state.auto_workers[i] != NULL; i++)
		if (state_find(&d->state, d->state.auto_workers[i]) == NULL)
			fleet_make(d, d->state.auto_workers[i], NULL);
}

/* Whoever starts us has seen to what was wrong: try it again. */
static void
repair_workers(struct pilot *p)
{
	struct daemon *d = p->daemon;

	for (size_t i = 0; i < d->agent_count; i++) {
		struct agent *agent = d->agents[i];
		const struct worker *w = agent->worker;

		if (!worker_is_auto(w->name) || agent->operating)
			continue;
		if (w->status == WORKER_ERROR) {
			pilot_attempt_failed(agent,
			    w->reason != NULL ? w->reason : "worker in error");
		} else if (w->status == WORKER_PAUSED && !w->over_budget) {
			pilot_worker_lost(agent, "its worker was paused");
			pilot_clear_worker(agent);
		}
	}
}

/* Of our workers, how many does a state have? */
static size_t
count_ours(const struct daemon *d, const struct state *other)
{
	size_t count = 0;

	for (size_t i = 0; d->state.auto_workers[i] != NULL; i++)
		count += state_find(other, d->state.auto_workers[i]) != NULL;
	return count;
}

static void
judge_foreign(struct daemon *d, const struct state *other)
{
	size_t found = count_ours(d, other), wanted = 0;
	cleanup_free char *words = NULL;

	while (d->state.auto_workers[wanted] != NULL)
		wanted++;
	if (strcmp(other->root_id, d->state.root_id) != 0 ||
	    (wanted > 0 && found == 0)) {
		words = xasprintf(
		    "state.json was overwritten by somebody else (it has %zu "
		    "of %zu auto workers%s); a test that uses LLMC_ROOT of "
		    "this repository does that. The state in memory was "
		    "written back",
		    found, wanted,
		    strcmp(other->root_id, d->state.root_id) != 0 ?
			", and another root id" :
			"");
		failure_raise(d,
		    &(struct failure){ .class = "state_overwritten",
			.status = -1,
			.words = words });
	} else if (found < wanted) {
		log_warnx("state.json was changed by somebody else and lacks "
			  "%zu of %zu auto workers; it is written back",
		    wanted - found, wanted);
	} else {
		log_info("state.json was changed by somebody else; it is "
			 "written back");
	}
}

void
pilot_foreign_state(struct daemon *d)
{
	cleanup_free char *file = workspace_path(d->workspace, "state.json");
	cleanup_buf struct buf bytes = BUF_INIT;
	cleanup_free char *words = NULL;
	struct state other;
	struct err err = { 0 };
	int r = file_read(file, STATE_SIZE_MAX, &bytes, &err);

	d->dirty = true; /* ours is the truth */
	if (!d->pilot->begun || r == -ENOENT) {
		log_info("state.json was changed by somebody else; it is "
			 "written back");
		return;
	}
	if (r == 0)
		r = state_parse(
		    bytes.data, bytes.len, clock_wall_ms(), &other, &err);
	if (r < 0) {
		words = xasprintf("state.json was damaged by somebody else "
				  "(%s); the state in memory was written back",
		    err.msg);
		failure_raise(d,
		    &(struct failure){ .class = "state_corrupt",
			.status = -1,
			.words = words });
		return;
	}
	judge_foreign(d, &other);
	state_release(&other);
}

/* --- begin, patrol, end ---------------------------------------------- */

static void
source_changed(void *arg)
{
	struct daemon *d = arg;

	d->pilot->hungry = true;
	pilot_look(d);
}

static void
begin_supply(struct pilot *p)
{
	struct daemon *d = p->daemon;
	cleanup_free const char **keys =
	    xcalloc(d->state.task_count + 1, sizeof *keys);
	struct err err = { 0 };
	int r;

	for (size_t i = 0; i < d->state.task_count; i++)
		keys[i] = d->state.tasks[i]->key;
	r = source_recover(p->source, keys, &err);
	if (r > 0)
		log_info("%d task%s that nobody worked on given back", r,
		    r == 1 ? "" : "s");
	if (r >= 0)
		r = source_watch(p->source, source_changed, d, &err);
	if (r < 0)
		failure_raise(d,
		    &(struct failure){ .class = "task_source",
			.status = -1,
			.words = err.msg });
}

void
pilot_begin(struct daemon *d)
{
	struct pilot *p = d->pilot;
	int workers = (int)settings_int(d->settings, "auto.concurrency");
	cleanup_free char *count = xasprintf("%d", workers);
	cleanup_free char *overseer =
	    workspace_path(d->workspace, "overseer.lock");

	d->state.auto_mode = p->active;
	d->state.overseer_active = lock_is_held(overseer) == 1;
	daemon_changed(d);
	settle_open(d);
	if (!p->active)
		return;
	p->workers = workers;
	d->state.last_task_completion_unix = 0;
	d->state.last_task_assignment_unix = 0;
	record(d, LOG_LEVEL_INFO, "daemon_startup", "instance_id", d->instance,
	    "concurrency", count, NULL);
	log_info("auto mode: %d worker%s, tasks from the %s source", workers,
	    workers == 1 ? "" : "s", source_kind(p->source));
	ensure_workers(p);
	reconcile(p);
	repair_workers(p);
	begin_supply(p);
	p->begun = true;
	p->hungry = true;
	supply_recover(p);
	post_due(p);
	harvest_resume(p);
	pilot_look(d);
}

void
pilot_patrol(struct daemon *d)
{
	struct pilot *p = d->pilot;

	if (supply_count(p, TASK_SETTLING) > 0)
		settle_open(d);
	if (!p->begun || d->stopping)
		return;
	p->hungry = true;
	reconcile(p);
	ensure_workers(p);
	spend_patrol(p);
	if (supply_count(p, TASK_OFFERED) > 0)
		supply_recover(p);
	harvest_resume(p);
	pilot_look(d);
}

void
pilot_stop(struct daemon *d)
{
	post_stop(d->pilot);
	for (size_t i = 0; i < d->agent_count; i++) {
		verdict_stop(d->agents[i]);
		setup_free(take_ptr(&d->agents[i]->setup));
	}
	if (d->pilot->active)
		record(d, LOG_LEVEL_INFO, "daemon_shutdown", "instance_id",
		    d->instance, "reason",
		    d->pilot->failing ? "failure" : "asked to", NULL);
}

bool
pilot_is_quiet(const struct daemon *d)
{
	for (size_t i = 0; i < d->agent_count; i++)
		if (d->agents[i]->check != NULL)
			return false;
	return d->pilot->post == NULL;
}
