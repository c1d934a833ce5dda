/* SPDX-License-Identifier: ISC */

/*
 * The daemon: sole owner of the workers while it runs. This header is what the
 * files of autod share: the daemon itself, and one agent per worker (what is
 * known of a worker that state.json does not keep).
 *
 * Persist, then act: whoever changes a worker calls daemon_changed() and hands
 * what is to be done about it to daemon_then(). At the end of the turn the
 * state is written once, and then those calls are made, in order.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "procref.h"
#include "state.h"
#include "worker.h"

struct agent;
struct check;
struct daemon;
struct err;
struct git;
struct json_object;
struct loop;
struct loop_call;
struct loop_signal;
struct loop_timer;
struct loop_watch;
struct pilot;
struct server;
struct server_call;
struct settings;
struct setup;
struct tmux;
struct transcript;
struct watch;
struct workspace;

typedef void effect_fn(void *arg);

enum agent_phase {
	AGENT_NONE, /* no session */
	AGENT_LAUNCHING, /* started, SessionStart awaited */
	AGENT_UP, /* SessionStart has come */
	AGENT_ENDING, /* we are ending it */
	AGENT_PHASE_COUNT
};

/* A worker at run time. The worker itself belongs to the state. */
struct agent {
	struct daemon *daemon;
	struct worker *worker;
	char *session_name; /* in tmux */
	enum agent_phase phase;
	struct procref pane;
	struct loop_watch *pane_watch;
	struct transcript *transcript;
	struct loop_timer *timer; /* runs agent_tick() */
	char *launcher; /* file that `llmc pane` reads */
	bool resume; /* the launch continues a conversation */
	bool tmux_busy; /* a command to its session is under way */
	bool operating; /* an operation owns its worktree: no other begins */
	bool compacting;
	bool background; /* its last turn left something running */
	bool stirred; /* something happened since its worktree was looked at */
	char *park_reason; /* set while its screen is being saved */
	effect_fn *end_fn; /* when the session has ended */
	void *end_arg;
	int64_t launched_ms; /* monotonic: start of the launch or ending */
	int64_t hook_ms; /* last hook of any kind */
	int64_t grew_ms; /* last growth of the transcript */
	int64_t cpu_seen_ms; /* last growth of CPU time */
	int64_t cpu_total_ms;
	int gates; /* times the Stop gate sent this turn back */
	int missing; /* patrols in a row that found no session */
	int start_failures;
	int64_t retry_ms; /* not launched again before */
	int64_t stall_ms; /* last thing tried against silence, 0 = none */
	struct check *check; /* check_command runs */
	struct setup *setup; /* its worktree is being set up */
};

TAILQ_HEAD(effects, effect);
TAILQ_HEAD(waiters, waiter);
TAILQ_HEAD(landings, landing);

/* What the command line asked for; NULL = as the settings say. */
struct daemon_options {
	bool oneshot; /* one request, no sessions */
	bool auto_mode;
	bool until_empty;
	const char *concurrency;
	const char *task_pool_command;
	const char *post_accept_command;
};

struct daemon {
	const struct daemon_options *options;
	struct pilot *pilot;
	struct loop *loop;
	const struct workspace *workspace;
	struct settings *settings;
	struct state state;
	struct agent **agents; /* as many as state.count, any order */
	size_t agent_count;
	struct tmux *tmux;
	struct git *git;
	struct server *server;
	char *socket; /* path */
	char *llmc; /* path of the command line program */
	char *instance; /* uuid of this run */
	char *detected_branch; /* what git says, NULL = nothing */
	int lock; /* descriptor of state.lock */
	bool oneshot; /* one request, no sessions */
	bool stopping;
	bool signalled; /* told to end by a signal */
	bool dirty; /* the state has changes that are not written */
	struct effects effects;
	struct loop_call *commit;
	struct loop_timer *commit_retry;
	struct waiters waiters;
	struct landings landings; /* the first one runs */
	struct loop_timer *patrol, *stop_deadline, *quiet;
	uint64_t patrols; /* made by the timer */
	struct loop_signal *signals[4];
	struct watch *config_watch, *spool_watch;
	int exit_status;
};

/* daemon.c: the run. */
int daemon_new(struct loop *loop, const struct workspace *workspace,
    const struct daemon_options *options, struct daemon **ret_daemon,
    struct err *err);
void daemon_free(struct daemon *daemon);
/* Listen, adopt what runs, begin. */
int daemon_start(struct daemon *daemon, struct err *err);
void daemon_stop(struct daemon *daemon, bool now);
int daemon_reload(struct daemon *daemon, struct err *err);
/* tmux, git and branch of the settings in force. */
const char *daemon_branch(const struct daemon *daemon);
/* Only changes to the very files of a landing are in its way. */
bool daemon_lands_over_dirt(const struct daemon *daemon);

/* commit.c: persist, then act. */
void daemon_changed(struct daemon *daemon);
void daemon_then(struct daemon *daemon, void *owner, effect_fn *fn, void *arg);
void daemon_forget(struct daemon *daemon, const void *owner);
/* Answer a call (NULL: nobody asked) once what it tells is written: who has an
 * answer finds it in state.json too. result is taken over. */
void daemon_reply(struct daemon *daemon, struct server_call *call,
    struct json_object *result);
void daemon_fail(struct daemon *daemon, struct server_call *call, int code,
    const char *message);
/* Write now: for the end of a run. Negative errno. */
int daemon_save(struct daemon *daemon, struct err *err);
void daemon_commit_init(struct daemon *daemon);
void daemon_commit_release(struct daemon *daemon);

/* agent.c: sessions. */
struct agent *agent_new(struct daemon *daemon, struct worker *worker);
void agent_free(struct agent *agent);
struct agent *agent_find(const struct daemon *daemon, const char *name);
/* Look at what is known and do the next thing. */
void agent_tick(struct agent *agent);
void agent_tick_later(struct agent *agent, int64_t ms);
/* Take over a session that runs already. */
void agent_adopt(struct agent *agent, pid_t pane_pid);
/* SessionStart has come. */
void agent_ready(struct agent *agent, const char *session,
    const char *transcript, const char *source);
/* End the session; fn (may be NULL) when it is gone. */
void agent_end(struct agent *agent, effect_fn *fn, void *arg);
/* Change status through the table, save, tell waiters. A forbidden change is
 * an error of ours: logged, and the worker stays as it was. */
int agent_move(struct agent *agent, enum worker_status to, const char *reason);
/* deliver.c: give the session a prompt: parked, saved, then on its way. `after`
 * is the status once it is submitted. */
void agent_prompt(struct agent *agent, const char *text, bool clear,
    enum worker_status after);
/* This text has been submitted: is it the prompt that was on its way? */
bool agent_submitted(struct agent *agent, const char *submitted);
/* Save the screen under logs/screens, end the session, wait for a person. */
void agent_park(struct agent *agent, const char *why);

/* hooks.c: what Claude Code reports. */
void hooks_event(struct daemon *daemon, struct server_call *call,
    struct json_object *params);
/* Events that came while nobody listened. */
void hooks_drain(struct daemon *daemon);
void hooks_drain_all(struct daemon *daemon);

/* finish.c: the end of a turn. */
/* data, and call too, may be NULL: nobody waits for the judgement. */
void finish_turn(
    struct agent *agent, struct server_call *call, struct json_object *data);
bool finish_is_due(const struct agent *agent);
void finish_failed(struct agent *agent, const char *error, const char *text);
void finish_limit_over(struct agent *agent);

/* landing.c: accept. */
typedef void landing_fn(struct agent *agent, const struct err *err,
    struct json_object *result, void *arg);
void landing_begin(struct agent *agent, landing_fn *fn, void *arg);
/* After a restart: finish the landing, or the rebase, that was under way. */
void landing_recover(struct agent *agent);
void landing_forget(struct agent *agent);
/* The next one may begin. */
void landing_kick(struct daemon *daemon);
/* Only bring the worker up to date with the default branch. */
void landing_rebase(struct agent *agent, landing_fn *fn, void *arg);

/* patrol.c: reconcile with what there is; this is a look at everything. */
void patrol_run(struct daemon *daemon);
void patrol_start(struct daemon *daemon);

/* waiters.c: worker.wait. */
void waiters_add(struct daemon *daemon, struct server_call *call,
    const char *worker, const char *until, int64_t timeout_ms);
void waiters_tell(struct daemon *daemon, const struct worker *worker);
/* There is no worker of that name any more. */
void waiters_gone(struct daemon *daemon, const char *worker);
void waiters_release(struct daemon *daemon);

/* methods.c: the table of RPC methods. */
void methods_call(struct server_call *call, const char *method,
    struct json_object *params, void *daemon);

#endif
