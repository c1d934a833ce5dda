/* SPDX-License-Identifier: ISC */

/*
 * The top floor: auto mode. It takes tasks from a source, assigns them to
 * workers, and lands their work on the default branch. It learns about the
 * floors below through their events, and answers their questions through its
 * policies.
 *
 * A daemon without --auto has this floor too. It assigns no tasks then, but it
 * finishes what an earlier daemon left, and serves the commands.
 *
 * Its units, each on top of those below it in this list:
 *
 *   auto.c           events and policies; a lost login; usage limits and
 *                    outages of the service; landed tasks whose commit was
 *                    taken back
 *   scheduler.c      assigns tasks to free workers; workers for tasks that
 *                    agents have asked for
 *   task-commands.c  the methods for tasks
 *   turn-policy.c    the end of a turn on a task; check_command; workers
 *                    without a sign of life
 *   post-accept.c    post_accept_command; tasks that a pull request landed
 *   after-landing.c  when landings may begin: finished work is reviewed by
 *                    another agent; and what happens after them
 *   outcome.c        how attempts and tasks end
 *   ledger.c         tokens and cost of tasks and days; costs that are known
 *                    after a task was filed
 *   pause.c          budgets, and tasks that fail alike
 *   park.c           keeps the work of tasks without a worker; parks tasks
 *   intake.c         gets tasks from their source
 *   holders.c        which worker has which task
 */
#ifndef AUTO_H
#define AUTO_H

#include "core.h"
#include "ladder.h"
#include "limit.h"
#include "quota.h"

struct agent;
struct auto_mode;
struct buf;
struct child_result;
struct err;
struct fleet;
struct git_snapshot;
struct guard_policy;
struct json_object;
struct landing_item;
struct landings;
struct ledger;
struct loop_call;
struct loop_timer;
struct post_accept;
struct server_call;
struct source;
struct source_offer;
struct task;

/* task->source of the tasks that the floor above offers. */
#define AUTO_PLAN_SOURCE "plan"

/* What the floor above knows about a task. */
struct auto_known {
	const char *effort; /* a word; NULL = none; borrowed */
	double percent; /* that is done of it; NAN = not known */
};

/* What becomes of a task whose attempts have all failed. */
enum auto_next {
	AUTO_END, /* it has failed */
	AUTO_REPLACED, /* the same, and other tasks do its work */
	AUTO_ASK, /* it waits for a person */
	AUTO_REASSIGN, /* one more attempt, by another worker */
};

/* The floor above is one more source of tasks. Every question may be NULL.
 * take and settle answer -EINPROGRESS while something else must end first, such
 * as a question to git, and are asked again after auto_plan_changed(); both may
 * be asked about a task that they have answered before. */
struct auto_policy {
	/* The next task it wants done, except those in the state, for ordinary
	 * workers or for those of a team; what it points to is valid until the
	 * next question. false = none now. */
	bool (*offer)(void *arg, bool team, struct source_offer *offer);
	/* The offered task is saved: 0 = it may be assigned, -ESTALE = it is
	 * not wanted any more. */
	int (*take)(void *arg, const struct task *task, struct err *err);
	/* Would it take a task that does again what this one, which has ended,
	 * did? -ESTALE: no. */
	int (*again)(void *arg, const struct task *task, struct err *err);
	/* Is the task, which waits for a worker or has one that waits for a
	 * person, to wait on? Such tasks do not keep a run from its end. */
	bool (*holds)(void *arg, const struct task *task);
	/* The task, of this or another source, has its outcome: 0 = the state
	 * need not keep it. */
	int (*settle)(void *arg, const struct task *task, struct err *err);
	/* Its attempts are used up; AUTO_END if this is not asked. */
	enum auto_next (*used_up)(void *arg, const struct task *task);
	/* Does a question at the end of its turn go to a person? Then its
	 * worker is paused until there is an answer. */
	bool (*asks)(void *arg, const struct task *task);
	/* What is planned for the task, and how far it is. */
	void (*known)(
	    void *arg, const struct task *task, struct auto_known *known);
	/* Will there be more tasks without anyone's doing? */
	bool (*expects)(void *arg);
	/* Is it not known what it wants done, until a person helps? */
	bool (*is_lost)(void *arg);
};

/* The floor that watches how the work on tasks goes. Every question may be
 * NULL; `arg` is what auto_set_watch() got. */
struct auto_watch {
	/* As in struct fleet_policy: before and seen for every worker,
	 * preface for those with a task. */
	const char *(*before)(void *arg, struct agent *agent);
	void (*seen)(void *arg, struct agent *agent,
	    const struct git_snapshot *snapshot, const char *last_words);
	void (*preface)(void *arg, struct agent *agent, struct buf *out);
	const char *(*test)(void *arg, struct agent *agent);
	void (*tested)(
	    void *arg, struct agent *agent, const struct child_result *result);
	/* Its work was checked after its turn. What passed is about to
	 * land. */
	void (*checked)(
	    void *arg, struct agent *agent, bool passed, const char *output);
	/* Its work failed the check when it was about to land. agent: NULL = no
	 * worker has it; output: the message for its worker. */
	void (*ejected)(void *arg, const struct task *task, struct agent *agent,
	    const char *output);
	/* Has it ended so many turns with words only that its work is to be
	 * checked as it is? */
	bool (*idle)(void *arg, const struct agent *agent);
	/* It would be sent back with these words. True: do not. */
	bool (*held)(void *arg, struct agent *agent, const char *words);
	/* As in struct fleet_policy. */
	void (*freed)(void *arg);
	/* One of its tools ended, in a turn. */
	void (*progressed)(void *arg, struct agent *agent);
	/* As in struct fleet_policy. */
	bool (*tool_ended)(void *arg, struct agent *agent,
	    struct server_call *call, const char *event);
	/* Its turn ended with this error. */
	void (*failed)(void *arg, struct agent *agent, const char *text);
};

/* The floor on which agents work together. Every question may be NULL; `arg`
 * is what auto_set_team() got. */
struct auto_team {
	/* Its turn on its task has ended. Does it wait for agents that it has
	 * asked for? Then it is neither judged nor stalled. */
	bool (*waits)(void *arg, struct agent *agent);
	/* How many agents that the one on this task has asked for are no tasks
	 * yet? *ret_held: how many of them do not begin by themselves. */
	size_t (*unbegun)(void *arg, const struct task *task, size_t *ret_held);
	/* As in struct auto_policy, and asked before it. */
	int (*settle)(void *arg, const struct task *task, struct err *err);
	/* As in struct fleet_policy, for the agent of this task (NULL =
	 * none). */
	const char *(*answers)(void *arg, const struct task *task);
	/* Does one of its tools wait for an answer? Then its silence
	 * is no stall. */
	bool (*asks)(void *arg, const struct agent *agent);
	/* Its work on its task is finished, and committed up to head; NULL: it
	 * has no commit of its own, or which one is not known. True: it is
	 * being verified first; auto_verified() follows, or it is sent back,
	 * or the end of the attempt. */
	bool (*verify)(void *arg, struct agent *agent, const char *head);
	/* What it reads at the end of its turn, instead of the end being
	 * judged: mail, for example. False: nothing. */
	bool (*stop_words)(void *arg, struct agent *agent, struct buf *out);
	/* As in struct fleet_policy. */
	void (*guard)(
	    void *arg, struct agent *agent, struct guard_policy *policy);
	void (*denied)(
	    void *arg, struct agent *agent, struct json_object *denied);
	void (*preface)(void *arg, struct agent *agent, struct buf *out);
	bool (*tool_ended)(void *arg, struct agent *agent,
	    struct server_call *call, const char *event);
	/* The task is saved with its outcome, and is about to be filed. */
	void (*files)(void *arg, struct task *task);
	/* As in struct fleet_policy, for workers with a task. */
	void (*tool_used)(void *arg, struct agent *agent, const char *tool);
	/* As in struct fleet_policy. */
	void (*progressed)(void *arg, struct agent *agent);
	/* The prompt of its task is made: append what the agent must know of
	 * the team. */
	void (*task_text)(void *arg, const struct task *task, struct buf *out);
	/* This copy of the task goes to another host: what limits its agent
	 * here becomes a part of it. */
	void (*leaves)(void *arg, struct task *copy);
	/* What came of mail for another host: its answer if it was done; else
	 * why not, NULL = it was recalled. */
	void (*sent)(void *arg, const char *id, bool done,
	    struct json_object *answer, const char *why);
};

/* The floor that makes pull requests of work. */
struct auto_pulls {
	/* As in struct landing_policy; task is that of the item. */
	bool (*proposes)(
	    void *arg, const struct task *task, const char **ret_wait);
	/* The task is queued, and its work kept as task->from. */
	void (*propose)(
	    void *arg, struct task *task, const struct landing_item *item);
};

/* The floor that shares tasks with other hosts. */
struct auto_hosts {
	/* May the task, which waits, begin here? */
	bool (*may_begin)(void *arg, const struct task *task);
	/* Tasks may be assigned, and so many workers have nothing to do and no
	 * task; 0 = none, or nothing begins now. */
	void (*room)(void *arg, size_t workers);
	/* So many more tasks than this host has workers for are taken from
	 * their source, for the others. */
	size_t (*ahead)(void *arg);
	/* Will there be tasks of other hosts without anyone's doing? */
	bool (*expects)(void *arg);
	/* The run ends: tasks that did not begin may go back to their source.
	 * False: this one may not, somebody has it. */
	bool (*releases)(void *arg, const struct task *task);
	/* The host that gave this one the task; NULL = it is its own.
	 * Borrowed. */
	const char *(*owner)(void *arg, const struct task *task);
	/* Give mail (the parameters of mail.deliver) to that host, as soon as
	 * it is saved here; once, however often this is asked under one id.
	 * The team is told what came of it, unless the daemon ends. */
	void (*mail)(void *arg, const char *id, const char *host,
	    struct json_object *params);
	/* Take it back, if the other host has not done it yet. */
	void (*recall)(void *arg, const char *id);
	/* May its source know how it ended? False: not before the other hosts
	 * know; outcome_settle_due() follows. */
	bool (*settles)(void *arg, const struct task *task);
};

struct auto_mode {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct core_floor floor;
	bool active; /* --auto was given */
	bool begun; /* tasks may be assigned */
	int workers; /* number of auto workers */
	/* scheduler.c */
	struct loop_call *look; /* request it when something has changed */
	bool until_empty; /* stop when no task is left */
	bool exhausted_reported; /* EVENT_TASKS_EXHAUSTED was emitted */
	struct alike alike;
	enum quota_hold hold; /* pause.c: as it was judged last */
	int64_t said_ms[QUOTA_HOLD_COUNT]; /* monotonic, when; 0 = never */
	bool hold_said; /* and not that it is over */
	char *tried; /* commit and command that failed the first check of all,
		      * which is why the fleet is paused; NULL = not known */
	/* auto.c: until when an account is limited, as an agent said last. */
	char *limited_account, *limited_why; /* NULL = not known */
	int64_t limited_ms;
	char *hooks; /* what git runs here, "" = nothing; NULL = not known */
	uint64_t done, failed; /* tasks of this run */
	/* intake.c */
	struct source *source; /* NULL = not opened yet */
	bool worth_asking; /* the source may have something new */
	char *quarantined; /* unusable tasks as last reported */
	const struct auto_policy *policy; /* never NULL */
	void *policy_arg;
	const struct auto_watch *watch; /* never NULL */
	void *watch_arg;
	const struct auto_team *team; /* never NULL */
	void *team_arg;
	const struct auto_pulls *pulls; /* NULL = work lands */
	void *pulls_arg;
	const struct auto_hosts *hosts; /* NULL = this host is alone */
	void *hosts_arg;
	bool (*feed)(void *arg); /* see auto_set_feed() */
	const char *(*feed_lost)(void *arg, const char *task);
	void *feed_arg;
	struct ledger *ledger;
	/* after-landing.c */
	struct loop_timer *again; /* retries a landing that had to wait */
	int git_tries; /* landings in a row that found a git lock file */
	/* post-accept.c */
	struct post_accept *post; /* due or running; NULL = none */
};

/* Registers itself as a floor, its policies and its methods. Returns NULL with
 * err set on failure: with --auto the source of tasks must open. */
struct auto_mode *
auto_new(struct fleet *fleet, struct landings *landings, struct err *err);

/* Call before the floors below are freed. */
void auto_free(struct auto_mode *mode);

/* NULL = none. */
void auto_set_policy(
    struct auto_mode *mode, const struct auto_policy *policy, void *arg);

/* NULL = none. */
void auto_set_watch(
    struct auto_mode *mode, const struct auto_watch *watch, void *arg);

/* NULL = none. */
void
auto_set_team(struct auto_mode *mode, const struct auto_team *team, void *arg);

/* NULL = none. */
void auto_set_pulls(
    struct auto_mode *mode, const struct auto_pulls *pulls, void *arg);

/* NULL = none. */
void auto_set_hosts(
    struct auto_mode *mode, const struct auto_hosts *hosts, void *arg);

/* What is known about a task; all zero if it is unknown. */
struct auto_known
auto_known(const struct auto_mode *mode, const struct task *task);

/* A task that comes from no source, and waits for a worker. */
void auto_add_task(struct auto_mode *mode, struct task *task);

/* expects: will there be such tasks without anyone's doing? lost: why the work
 * of this one must not land now, since it may be somebody else's (borrowed);
 * NULL = it may land. */
void auto_set_feed(struct auto_mode *mode, bool (*expects)(void *arg),
    const char *(*lost)(void *arg, const char *task), void *arg);

/* The other hosts of the fleet have spent this on that day (since 1970). */
void auto_spent_elsewhere(
    struct auto_mode *mode, int64_t day, int64_t tokens, int64_t cost);

/* The floor above may have a task, or has recorded something. */
void auto_plan_changed(struct auto_mode *mode);

/* The work of a worker meets the contract of its task: it goes on to its check
 * and to the landing queue. head: the commit that was verified. */
void
auto_verified(struct auto_mode *mode, struct agent *agent, const char *head);

/* Does auto mode give tasks to this worker? */
bool auto_drives(const struct auto_mode *mode, const struct agent *agent);

/* The worker's task, NULL if it has none. */
struct task *auto_task(const struct agent *agent);

/* Does a worker have this task? */
bool auto_is_held(const struct auto_mode *mode, const struct task *task);

/* Take the task from the worker and reset it; its work is salvaged. No
 * operation may be running on the worker. */
void auto_clear_worker(struct agent *agent);

/* Its pull request was merged, and the branch has it as this commit; what was
 * done since then is salvaged. whole: all that was handed over is in it.
 * -EBUSY: not now, its worker is busy. */
int auto_pull_merged(
    struct auto_mode *mode, struct task *task, const char *commit, bool whole);

/* Part of struct fleet_policy (turn_held); mode is a struct auto_mode. Only
 * what would be sent back: finished work lands, whatever it cost. */
bool auto_held(void *mode, struct agent *agent, const char *words);

/* Part of struct fleet_policy; mode is a struct auto_mode. */
void outage_limited(void *mode, struct agent *agent, enum limit_class class,
    const char *text, int64_t until_ms);

#endif
