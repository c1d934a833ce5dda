/* SPDX-License-Identifier: ISC */

/*
 * When a new task may begin: working hours, the usage windows of the account,
 * what of them is kept for a person, an even pace, and a machine that is short
 * of something. Pure: the time, and how the zone differs from UTC, are
 * arguments. What runs already goes on: none of this ends a turn.
 */
#ifndef QUOTA_H
#define QUOTA_H

#include "account.h"

struct buf;
struct json_object;

/* --- the usage windows of the account --------------------------------- */

enum window_kind {
	WINDOW_FIVE_HOUR,
	WINDOW_SEVEN_DAY,
	WINDOW_COUNT
};

/* "five_hour": as Claude Code calls them in what its status line gets. */
extern const char *const window_words[WINDOW_COUNT + 1];
extern const int64_t window_ms[WINDOW_COUNT]; /* how long each is */

struct window {
	int64_t used; /* thousandths */
	int64_t resets_ms;
	int64_t seen_ms; /* when that was reported; 0 = never */
};

/* Is it known at this moment? Not after its reset, until more is reported. */
bool window_is_known(const struct window *w, int64_t now_ms);

/* {"five_hour": {"used_percentage": 42, "resets_at": SECONDS}, ...}, as a
 * session reports it. Several sessions share one account, and one may be late:
 * of the same window, the most that was reported counts. What is out of bounds
 * is ignored. True: something has changed. */
bool windows_read(
    struct json_object *limits, int64_t now_ms, struct window *windows);

/* Near the end of a window, Claude Code tells a conversation once to wrap up. A
 * turn that ends so has not failed: that window's reset, the nearest of those;
 * 0 = no window is nearly used, or one whose reset is not after
 * excused_ms. */
#define WINDOW_NEAR 930 /* thousandths; Claude Code begins at 950 */

int64_t windows_wrap_up(
    const struct window *windows, int64_t excused_ms, int64_t now_ms);

/* {"used_percentage": 42, ...}: how full a conversation is, in percent; -1 = it
 * does not say. */
int context_read(struct json_object *context);

/* --- working hours ----------------------------------------------------- */

#define HOURS_MAX 8

/* "22:00-07:00, 12:30-13:00": minutes of the local day; no range = always. */
struct hours {
	size_t count;
	struct {
		int from, to;
	} ranges[HOURS_MAX];
};

/* How far local time is ahead of UTC at that moment, in seconds. */
typedef int64_t zone_fn(int64_t unix_s);

/* False if the text is something else; "" has no range. */
bool hours_parse(const char *text, struct hours *ret_hours);
bool hours_open(const struct hours *hours, zone_fn *zone, int64_t now_ms);
/* When they are open, or closed, next: a full minute. -1 = not in 8 days. */
int64_t
hours_next(const struct hours *hours, zone_fn *zone, int64_t now_ms, bool open);
/* How much of this time is within them. */
int64_t hours_span(
    const struct hours *hours, zone_fn *zone, int64_t from_ms, int64_t to_ms);

/* --- the machine -------------------------------------------------------- */

/* -1 = not known. Pressure is of the last ten seconds, in percent, and of the
 * whole machine, even in a container. One process that waits for a slow disk on
 * an idle machine is a full stall: that of the disk says nothing. */
struct machine {
	int64_t memory_free; /* bytes that can be had without swapping */
	int64_t disk_free; /* bytes, of the worktrees' file system */
	int memory_full; /* all tasks stood still for that part */
	int cpu_some; /* some task waited for a CPU for that part */
	int cpus;
	int load; /* the mean of the last minute, in percent of one CPU */
};

/* A session needs about 250 MB, its tools more. */
#define MACHINE_MEMORY ((int64_t)400 * 1024 * 1024)
#define MACHINE_DISK   ((int64_t)500 * 1024 * 1024)
#define MACHINE_STALL                                           \
	40 /* percent, and memory is not plentiful: a container \
	    * may be at a limit of its own */
#define MACHINE_LOAD 25 /* times the CPUs: builds of workers are far below */
#define MACHINE_BUSY                                            \
	80 /* percent: tasks that hang count in the load, and a \
	    * container has that of all CPUs */

/* --- may one begin? ----------------------------------------------------- */

enum quota_hold {
	QUOTA_OPEN,
	QUOTA_HOURS,
	QUOTA_MACHINE,
	QUOTA_RESERVE,
	QUOTA_PACE,
	QUOTA_HOLD_COUNT
};

/* "hours" */
extern const char *const quota_hold_words[QUOTA_HOLD_COUNT + 1];

struct quota_facts {
	int64_t now_ms;
	zone_fn *zone;
	struct hours hours;
	int reserve; /* percent, kept for a person */
	bool even; /* spread over the time */
	const struct window *windows; /* WINDOW_COUNT of them */
	struct budget day, spent; /* tokens and cost; 0 = no limit */
	int64_t day_begins_ms;
	struct machine machine;
	size_t running; /* tasks that a worker works on at this moment */
};

/* May another task begin now? If not, the words say why, and *ret_until_ms when
 * this is over at the latest; 0 = when what is short is there again. The
 * machine never keeps the first task back: something always runs. */
enum quota_hold quota_judge(
    const struct quota_facts *facts, int64_t *ret_until_ms, struct buf *why);

#endif
