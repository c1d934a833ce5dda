/* SPDX-License-Identifier: ISC */

/*
 * What the last llmc without a book left of a run (tests/e2e/before/make.sh),
 * on top of autorun.h: a fleet whose repository, worktrees, .llmc and
 * conversations are those, as if that run had ended just now.
 */
#ifndef BEFORE_H
#define BEFORE_H

#include "autorun.h"

/* "ended" or "killed". Returns the root. */
const char *before_begin(const char *name);

/* A file of its .llmc, as it was before any new program ran. */
const char *before_file(const char *name);

/* Make .llmc what it was again. */
void before_again(void);

#endif
