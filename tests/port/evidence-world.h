/* SPDX-License-Identifier: ISC */

/* A workspace whose evidence the tests collect. */
#ifndef EVIDENCE_WORLD_H
#define EVIDENCE_WORLD_H

#include "base.h"
#include "history.h"
#include "unit.h"
#include "workspace.h"

#define EVIDENCE_WORLD_STAMP "20260131T081530Z"

/* A workspace that is only a folder. */
void evidence_world_begin(struct workspace *ws, const char *name);
void evidence_world_end(struct workspace *ws);

/* Write a file in it. */
void evidence_world_put_bytes(const struct workspace *ws, const char *name,
    const void *bytes, size_t len);
void evidence_world_put(
    const struct workspace *ws, const char *name, const char *text);

/* Read and save; collect fails the test on an error. */
int evidence_world_try(const struct workspace *ws, pid_t pid, const char *said,
    const char *stamp, struct evidence *evidence, struct err *err);
void evidence_world_collect(
    const struct workspace *ws, pid_t pid, struct evidence *evidence);

/* Entries of a folder. */
int evidence_world_count(const char *path);
/* The file has that text, and a mode that hides it from others. */
void evidence_world_kept(const char *dir, const char *name, const char *text);

#endif
