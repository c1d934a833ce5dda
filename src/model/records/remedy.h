/* SPDX-License-Identifier: ISC */

/*
 * What is done about a failure of the daemon: a new start or a repair, by the
 * history of failures, and the prompt of the session that repairs it. Pure.
 */
#ifndef REMEDY_H
#define REMEDY_H

struct buf;
struct err;
struct json_object;
struct schema;

/* --- a new start, a repair, or the end ------------------------------- */

/*
 * What to do about a failure, given the history of failures. After an abrupt
 * one (killed, out of memory, a hang) a new start is tried first, once in
 * SPIRAL_ABRUPT_MS; any other is repaired, the first time always. A failure
 * soon after a repair is a spiral; a long healthy run resets it. In addition:
 * the same failure again and again even with long runs in between (a slow
 * spiral), a limit of repairs per day, and growing pauses between restarts.
 */

enum spiral_kind {
	SPIRAL_FAILURE, /* the daemon failed after run_ms */
	SPIRAL_STALL, /* restarted without a repair */
	SPIRAL_REMEDY, /* a repair ended with `outcome` */
	SPIRAL_STOP, /* stopped by a person after run_ms */
	SPIRAL_GAVE_UP, /* the overseer exited; a person must look */
	SPIRAL_CLEAR, /* a person resets the history (words = the reason) */
	SPIRAL_START, /* a person starts the overseer anew */
	SPIRAL_KIND_COUNT
};

const char *spiral_kind_name(enum spiral_kind kind);

/* A line of failures.jsonl. Strings are owned. */
struct spiral_event {
	enum spiral_kind kind;
	int64_t at_ms; /* wall clock */
	int64_t run_ms; /* how long the daemon had run */
	bool abrupt; /* health_is_abrupt() */
	char *signature; /* of the failure; NULL for others */
	char *class, *words; /* for people */
	char *outcome; /* of a repair: "completed", "gave up", ... */
	int64_t took_ms; /* duration of the repair */
	char *log; /* its file */
	int64_t cost; /* millionths of a dollar */
};

void spiral_event_release(struct spiral_event *event);
extern const struct schema spiral_event_schema;
struct json_object *spiral_event_to_json(const struct spiral_event *event);
/* -EINVAL (or -ENOENT for kind and at_ms) with a message that names the member;
 * unknown members are ignored. */
int spiral_event_from_json(
    struct json_object *json, struct spiral_event *ret_event, struct err *err);

struct spiral_rules {
	int64_t cooldown_ms; /* restart_cooldown */
	int same_max; /* failures of one signature ... */
	int64_t same_window_ms; /* ... in this time: a slow spiral; 0 = never */
	int day_max; /* repairs in 24 hours; 0 = no limit */
	int64_t delay_ms, delay_max_ms; /* before a second restart, then
					 * doubling; none before the first */
};

/* A second abrupt failure within this time is repaired: the first one was no
 * accident. */
#define SPIRAL_ABRUPT_MS (INT64_C(10) * 60 * 1000)

enum spiral_action {
	SPIRAL_RESTART, /* without repair */
	SPIRAL_REPAIR,
	SPIRAL_END, /* a person is needed */
	SPIRAL_ACTION_COUNT
};

struct spiral_decision {
	enum spiral_action action;
	int64_t delay_ms; /* before the next start */
	const char *why; /* "spiral", "slow_spiral", "day_budget", or NULL */
	int same; /* failures of this signature in the window */
};

/* The last FAILURE or STALL is the event to decide about; a repair of it that
 * was interrupted may follow. Only events after the last CLEAR count. The
 * same_max-th failure with one signature is a slow spiral, but never the first
 * one, and the one before it is repaired even if it is abrupt; stalls are
 * counted separately, and only those with a signature. A repair with the
 * outcome "interrupted" counts towards the day's limit, but not as an attempt.
 * A run of cooldown_ms or more is a long one; after it, and after a START, the
 * next failure is the first one again. */
struct spiral_decision spiral_decide(const struct spiral_event *history,
    size_t count, const struct spiral_rules *rules, int64_t now_ms);

/* Did the history end with a verdict that needs a person, and was not cleared
 * since? Then the overseer refuses to start, for the reason in words. */
bool spiral_is_over(
    const struct spiral_event *history, size_t count, struct buf *words);

/* --- the prompt ------------------------------------------------------ */

/*
 * The user's instructions, what is known about the failure, and what to do if
 * it can or cannot be repaired. Limited in size, valid UTF-8, secrets masked.
 */

#define REMEDY_SIZE_MAX    ((size_t)200 * 1024)
#define REMEDY_EXCERPT_MAX ((size_t)50000)
#define REMEDY_LINES       100 /* of each log */

struct remedy_log {
	const char *name; /* "autod.log" */
	const char *text; /* its last lines */
};

/* Texts may be NULL or empty if unknown: the section says so. */
struct remedy_facts {
	const char *instructions; /* overseer.remediation_prompt */
	const char *verdict; /* health_verdict_name() */
	const char *class; /* of failure.json */
	const char *words; /* what happened */
	const char *ended; /* "killed by SIGKILL after 3h 2m" */
	int64_t age_s; /* of the heartbeat or last progress; -1 = none */
	const char *failure; /* contents of failure.json */
	const char *registration; /* contents of daemon.json */
	const char *heartbeat; /* auto.heartbeat */
	const char *standard_error; /* its last output there */
	const char *stack; /* of a hung process */
	const char *workers; /* one line each */
	const char *task_error;
	const char *git_status;
	const char *history; /* earlier repairs of the same failure */
	const struct remedy_log *logs;
	size_t log_count;
	const char *finding_file; /* to write what was wrong, and was done */
	const char *manual_file; /* to write if it cannot be repaired */
	const char *root;
	const char *tree; /* its own worktree; NULL = it has none */
	bool boxed; /* it can change nothing but that */
};

/* Appends at most REMEDY_SIZE_MAX bytes (for paths of valid length). Each fact
 * has its own limit; if the whole is too long, the logs lose their oldest
 * lines. The instructions are never masked, and truncated only beyond half of
 * the limit. */
void remedy_prompt(const struct remedy_facts *facts, struct buf *out);

#endif
