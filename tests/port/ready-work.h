/* SPDX-License-Identifier: ISC */

/* Work that is ready to land, for the tests of landings: a.txt changed,
 * d/new.txt added, old.txt removed. */
#ifndef READY_WORK_H
#define READY_WORK_H

#include "repo.h"

/* What the checkout has after the landing, and how to see it. */
#define READY_LANDED "one\ntwo\nnew"
#define READY_SHOW \
	"cat a.txt d/new.txt; ls old.txt 2>/dev/null; git status --short"

/* A repository with squashed work: tags onto and id. */
struct repo *ready_work(bool run_hooks);

void ready_lands(struct repo *repo, bool overlap);

/* It waits, says what for, and has changed nothing. */
void ready_waits(struct repo *repo, bool overlap, const char *named);

#endif
