/* SPDX-License-Identifier: ISC */

/*
 * Records of runs (perf-record.h) on disk: one file for each day (UTC) on which
 * runs ended, .llmc/perf/agent-performance-2026-01-31.jsonl. Only appended to,
 * and kept for PERF_KEEP_DAYS.
 */
#ifndef PERF_FILES_H
#define PERF_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_object;
struct workspace;

/* Append a record. again: a daemon that died may have done so before; then it
 * is not added twice. */
int perf_files_add(const struct workspace *workspace,
    struct json_object *record, bool again, struct err *err);

/* Each record that is kept, of runs that ended at since_ms or later; oldest day
 * first. Lines that are none are passed over. No files are no error. */
typedef void perf_files_fn(struct json_object *record, void *arg);
int perf_files_read(const struct workspace *workspace, int64_t since_ms,
    int64_t now_ms, perf_files_fn *fn, void *arg, struct err *err);

/* Remove what is kept no longer: files of records, and reports of progress
 * (.llmc/progress) that nothing was added to for as long. */
void perf_files_tidy(const struct workspace *workspace, int64_t now_ms);

#endif
