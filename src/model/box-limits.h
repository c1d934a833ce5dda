/* SPDX-License-Identifier: ISC */

/*
 * How much of the machine a worker may use: from the settings to what is
 * written into a cgroup, or given to systemd-run. Pure; port/process/cgroup.h
 * finds a place for it.
 */
#ifndef BOX_LIMITS_H
#define BOX_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct settings;

enum box_limit {
	BOX_LIMIT_MEMORY,
	BOX_LIMIT_TASKS,
	BOX_LIMIT_CPU,
	BOX_LIMIT_COUNT
};

/* Sets of limits are masks: 1 << enum box_limit. */
struct box_limit_row {
	const char *key; /* in [defaults] */
	const char *controller; /* in cgroup.controllers */
	const char *file; /* of the cgroup */
	const char *none; /* what that file has without a limit */
	const char *property; /* of a systemd unit */
};
extern const struct box_limit_row box_limit_rows[BOX_LIMIT_COUNT];

/* Bytes, processes and threads, weight; 0 = not limited. */
struct box_limits {
	int64_t values[BOX_LIMIT_COUNT];
};

void box_limits_of(const struct settings *settings, const char *worker,
    struct box_limits *ret_limits);

/* Those that are set. */
unsigned box_limits_wanted(const struct box_limits *limits);

/* Those that any worker can have: a section of its own, or the defaults. */
unsigned box_limits_wanted_by_any(const struct settings *settings);

/* Those whose controllers are in a list as in cgroup.controllers. */
unsigned box_limits_available(const char *controllers);

/* Append "memory_max, tasks_max and cpu_weight". */
void box_limits_describe(unsigned set, struct buf *out);

/* The words before a program that run it in a systemd scope with the limits,
 * up to and with "--"; for strv_free(). unit: without ".scope". */
char **box_limits_scope(const struct box_limits *limits,
    const char *systemd_run, const char *unit, bool as_root);

/* How often the kernel has killed for memory, from memory.events; -1 = it does
 * not say. */
int64_t box_limits_oom_kills(const char *memory_events);

/* Append why the agent ended, to follow its other words. */
void box_limits_describe_oom(int64_t memory_max, struct buf *out);

#endif
