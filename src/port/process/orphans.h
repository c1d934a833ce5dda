/* SPDX-License-Identifier: ISC */

/*
 * What a keeper (src/keeper/) may have left behind when it was killed: found by
 * its record, and where that is missing, damaged or does not say enough, by the
 * mark in the environment of what it started. A keeper that
 * ends by itself says so in the record, and then nothing is searched for.
 * Signals go through pidfds. Only for a keeper whose program is to be over: one
 * that still runs is killed.
 */
#ifndef ORPHANS_H
#define ORPHANS_H

#include <sys/types.h>

struct err;
struct loop;
struct mark_search;
struct metrics_process;
struct orphans;
struct procref;
struct proctree;
struct workspace;

#define MARK_SEARCH_SLICE 50 /* processes that are read in one pass */

/* Call found for each process of our user that has the mark, and then done,
 * once; both from the loop. The search is gone when done is called; found frees
 * no search. */
struct mark_search *mark_search_new(struct loop *loop, const char *mark,
    void (*found)(pid_t pid, void *arg), void (*done)(void *arg), void *arg);

/* Nothing is called any more. NULL is allowed. */
void mark_search_free(struct mark_search *search);

/* Has this process the mark? One that is exiting has no environment. */
bool mark_is_on(pid_t pid, const char *mark);

/* Of a worker's session: the file of the record, and the mark, which is the
 * same for all its sessions. The caller frees them. */
char *orphans_record(const struct workspace *workspace, const char *worker);
char *orphans_mark(const struct workspace *workspace, const char *worker);

/* The mode that the record names, NULL if there is none; for the caller to
 * free. */
char *orphans_mode(const struct workspace *workspace, const char *worker);

/* How often the kernel killed for memory in its last session, as the record
 * says; 0 also if that is not known. */
int64_t
orphans_oom_kills(const struct workspace *workspace, const char *worker);

/* A session is about to begin: until its keeper has written the record, that
 * says nothing, not even that the last keeper has ended. */
void orphans_expect(const struct workspace *workspace, const char *worker);

/* err NULL: nothing is left. Otherwise its text names a process that does not
 * end and says what to do. */
typedef void orphans_fn(const struct err *err, void *arg);

/* SIGKILL to everything that is left of the worker's session. NULL: nothing is
 * left, and fn is not called. Otherwise fn is called once, from the loop, when
 * nothing is left any more or when that takes too long; the object is gone
 * then. */
struct orphans *
orphans_end(struct loop *loop, const struct workspace *workspace,
    const char *worker, orphans_fn *fn, void *arg);

/* fn is not called any more. NULL is allowed. */
void orphans_free(struct orphans *orphans);

/*
 * What the processes of this machine have done: one pass over /proc, then any
 * number of questions about trees of processes.
 */

#define PROCTREE_PROC "/proc"

/* A snapshot of all processes, owned by the caller. Processes that start or end
 * meanwhile may be missing. proc is PROCTREE_PROC, except in tests. */
int
proctree_read(const char *proc, struct proctree **ret_tree, struct err *err);
void proctree_free(struct proctree *tree);

/* CPU time in ms, user and system, of the process and all below it: those that
 * live and those that were waited for. It can decrease when a process leaves
 * the tree: compare for change only. -ESRCH if the process is not in the
 * snapshot. */
int64_t
proctree_cpu_ms(const struct proctree *tree, const struct procref *root);

/* What the kernel says of this process, for metrics. */

/* What cannot be read stays 0; start_s is not touched. */
void process_facts_read(struct metrics_process *facts);

#endif
