/* SPDX-License-Identifier: ISC */

/*
 * Spans (work-span.h) on disk: one file for each day (UTC) on which they ended,
 * .llmc/spans/2026-01-31.jsonl, kept for SPAN_KEEP_DAYS. Those that go on are
 * not there: they follow from the state and from the files of the daemon, also
 * if it was killed.
 */
#ifndef SPAN_FILES_H
#define SPAN_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct work_span;
struct state;
struct workspace;

#define SPAN_KEEP_DAYS 31

int span_files_add(const struct workspace *workspace,
    const struct work_span *span, struct err *err);

/* Each span that ended at since_ms or later, in the order of their ends. Lines
 * that are none are passed over. */
typedef void span_files_fn(const struct work_span *span, void *arg);
void span_files_read(const struct workspace *workspace, int64_t since_ms,
    int64_t now_ms, span_files_fn *fn, void *arg);

/* Each span of the state that goes on, until now, or until the daemon that
 * wrote the state was last alive. It begins when the one before ended that is
 * on disk. */
void
span_files_open(const struct workspace *workspace, const struct state *state,
    bool alive, int64_t now_ms, span_files_fn *fn, void *arg);

/* The last heartbeat of a daemon; 0 = there is none. */
int64_t span_files_beat_ms(const struct workspace *workspace);

/* Each span on disk that the counters of the state lack: a daemon that was
 * killed wrote it, and then no state. */
void span_files_uncounted(const struct workspace *workspace,
    const struct state *state, int64_t now_ms, span_files_fn *fn, void *arg);

/* Remove files that are kept no longer. */
void span_files_tidy(const struct workspace *workspace, int64_t now_ms);

#endif
