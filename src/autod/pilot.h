/* SPDX-License-Identifier: ISC */

/*
 * Auto mode: tasks from a source to workers, from workers to the default
 * branch, and what is done about everything that goes wrong on the way. A
 * daemon without --auto has a pilot too, which gives out nothing but settles
 * what an earlier one left.
 *
 *   pilot.c    begins, looks who is free, ends an --until-empty run
 *   supply.c   asks the source, takes what it offers
 *   verdict.c  judges the end of a task's turn
 *   harvest.c  lands finished work; back-offs
 *   post.c     post_accept_command
 *   settle.c   outcomes
 *   spend.c    tokens, cost, budgets, resume
 *   failure.c  hard failures
 *   beat.c     the heartbeat
 *   record.c   auto.log
 */
#ifndef PILOT_H
#define PILOT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon.h"
#include "log.h"
#include "task.h"

struct child;
struct errand;
struct finish;
struct git_facts;
struct source;

struct pilot {
	struct daemon *daemon;
	struct source *source;
	bool active; /* --auto */
	bool until_empty;
	bool begun; /* workers are there, tasks may be given out */
	bool hungry; /* worth asking the source: something may be new */
	bool told_waiting; /* that everybody is idle */
	int workers; /* how many there are to be */
	bool failing; /* a hard failure has been raised */
	struct loop_call *look;
	struct loop_timer *beat;
	struct loop_timer *again; /* harvest: a landing that had to wait */
	uint64_t beats;
	int git_tries; /* landings in a row that met a lock of git's */
	char *posting; /* task whose post_accept_command is due or runs */
	struct errand *post;
	uint64_t done, failed; /* tasks of this run */
	char *quarantined; /* what was told of last */
};

/* pilot.c */
int pilot_new(struct daemon *daemon, struct err *err);
void pilot_free(struct pilot *pilot);
/* The workers' sessions are known: begin. */
void pilot_begin(struct daemon *daemon);
/* Something changed: see who is free, at the end of this turn. */
void pilot_look(struct daemon *daemon);
/* The safety net's part. */
void pilot_patrol(struct daemon *daemon);
/* What runs for auto mode is told to end; has it? */
void pilot_stop(struct daemon *daemon);
bool pilot_is_quiet(const struct daemon *daemon);
/* Does auto mode give this worker its tasks? */
bool pilot_drives(const struct agent *agent);
/* The worker's task, NULL when it has none. */
struct task *pilot_task(const struct agent *agent);
/* The worker changes; called by agent_move() behind the change. */
void pilot_moved(struct agent *agent, enum worker_status from);
/* Somebody else wrote state.json. */
void pilot_foreign_state(struct daemon *daemon);
/* Take the task from the worker, which is set back (its work salvaged). */
void pilot_clear_worker(struct agent *agent);
/* The same for a worker whose task is given to another. */
void pilot_attempt_failed(struct agent *agent, const char *reason);
/* A person resets or removes the worker: its task waits again. */
void pilot_worker_lost(struct agent *agent, const char *why);
/* A person merged it: its task is done. */
void pilot_landed_by_hand(struct agent *agent);

/* supply.c */
void supply_ask(struct pilot *pilot);
/* Tasks whose taking was cut off are taken again. */
void supply_recover(struct pilot *pilot);
void supply_release(struct pilot *pilot);
/* The source, opened when it is not yet; NULL when it cannot be. */
struct source *supply_source(struct pilot *pilot, struct err *err);
size_t supply_count(const struct pilot *pilot, enum task_step step);

/* verdict.c: takes over the finish. */
void verdict_judge(struct finish *finish, const struct git_facts *facts);
/* The turn ended with an error of the service's that is no weather. */
void verdict_error(struct agent *agent, const char *text);
/* End check_command; forget it at once. */
void verdict_stop(struct agent *agent);
void verdict_release(struct agent *agent);

/* harvest.c */
enum harvest {
	HARVEST_LANDED, /* or there was nothing left to land */
	HARVEST_CONFLICT, /* sent back to resolve it */
	HARVEST_STUCK, /* too many conflicts */
	HARVEST_DIRTY, /* the user's checkout is in the way */
	HARVEST_FAILED, /* git says no */
};
/* The worker has finished: land it, now or when the back-off is over. */
void harvest_begin(struct agent *agent);
/* It is on the default branch; called in the turn that writes so. */
void harvest_published(struct agent *agent, bool incorporated);
/* A landing of this worker's has ended. task: what it had. */
void harvest_ended(struct agent *agent, const char *task, enum harvest how,
    const struct err *err);
/* A limit or an outage: everybody waits, but not for ever. */
void harvest_weather(
    struct agent *agent, bool outage, const char *words, int64_t until_ms);
/* May a landing begin? Not while post_accept_command is due. */
bool harvest_may_land(const struct daemon *daemon);
/* Take up what waits for its landing. */
void harvest_resume(struct pilot *pilot);

/* post.c */
void post_begin(struct pilot *pilot); /* for pilot->posting */
/* After a restart: landed, and the command has not been heard of. */
void post_due(struct pilot *pilot);
void post_stop(struct pilot *pilot);

/* settle.c */
void settle_task(struct daemon *daemon, struct task *task,
    enum task_outcome outcome, const char *reason);
/* A task whose outcome is written: tell the source, file it, forget it. */
void settle_open(struct daemon *daemon);
void settle_counted(struct daemon *daemon, const struct task *task);

/* spend.c */
void spend_update(struct agent *agent);
void spend_patrol(struct pilot *pilot);
bool spend_turn_ended(struct agent *agent); /* true: paused for it */
void spend_resume(struct daemon *daemon, struct server_call *call,
    struct json_object *params);

/* stalls.c: a driven worker in a turn, looked at by patrol. */
void stalls_judge(struct agent *agent);
void stalls_sign_of_life(struct agent *agent);

/* failure.c: write failure.json, tell, and stop with exit status 1. */
struct failure {
	const char *class; /* a word */
	const char *worker, *task; /* NULL = none */
	int status; /* exit status of what failed, -1 = none */
	const char *words; /* what happened, with evidence */
};
void failure_raise(struct daemon *daemon, const struct failure *failure);
void failure_clear(struct daemon *daemon);

/* beat.c */
void beat_start(struct pilot *pilot);
void beat_remove(const struct daemon *daemon);

/* record.c: an event into auto.log: key, value, ..., NULL, all strings; a NULL
 * value leaves its key out. */
void record(struct daemon *daemon, enum log_level level, const char *type, ...)
    __attribute__((sentinel));

/* jobs.c: RPC */
void jobs_add(struct daemon *daemon, struct server_call *call,
    struct json_object *params);
void jobs_retry(struct daemon *daemon, struct server_call *call,
    struct json_object *params);
void jobs_drop(struct daemon *daemon, struct server_call *call,
    struct json_object *params);

#endif
