/* SPDX-License-Identifier: ISC */

/*
 * One landing at a time in a repository, and what it has in its hands written
 * down: <common>/llmc-landing, locked while any process of the landing lives
 * (its gits inherit the descriptor). What is written there when nobody holds it
 * belongs to a landing that was killed. Private to the git-*.c files.
 */
#ifndef GIT_CLAIM_H
#define GIT_CLAIM_H

#include <sys/types.h>

#include "git-work.h"
#include "procref.h"

struct err;

struct git_claim {
	int fd; /* -1 = not taken */
	char *common;
	bool holds_index; /* index.lock was made by this one */

	/* Written down. */
	bool active;
	char *tree, *gitdir; /* where its locks are; tree "" = not checked
			      * out */
	char *branch;
	char old_id[GIT_ID_SIZE], new_id[GIT_ID_SIZE];
	struct procref updater; /* holds the locks of the refs */
	uint64_t head_inode; /* of its HEAD.lock, 0 = not known */
	int64_t head_ms;
	bool files; /* begun to move; before that they are the user's alone */
};

void git_claim_init(struct git_claim *claim);

/* Take it without waiting, and read what is left in it (active). -EAGAIN while
 * another landing has it. */
int
git_claim_take(struct git_claim *claim, const char *common, struct err *err);
void git_claim_release(struct git_claim *claim); /* keeps what is written */

/* Write down what is about to be done, or that it is done. */
int git_claim_write(struct git_claim *claim, struct err *err);
void git_claim_clear(struct git_claim *claim);

/* Note the updater, before it takes a lock, and its HEAD.lock, once it has. */
int git_claim_note_updater(struct git_claim *claim, pid_t pid, struct err *err);
int git_claim_note_head(struct git_claim *claim, struct err *err);

/* Note that files are about to move. All that is written is on disk then. */
int git_claim_note_files(struct git_claim *claim, struct err *err);

/* Make `name` (index.lock, HEAD.lock) in claim->gitdir, marked as ours. -EEXIST
 * when somebody has it; that index.lock is held already is fine. */
int git_claim_lock(struct git_claim *claim, const char *name, struct err *err);
void git_claim_unlock(struct git_claim *claim, const char *name);

/* Remove the locks that a killed landing left, but not an index.lock that this
 * one holds. False while its updater lives: that removes its own. */
bool git_claim_sweep(struct git_claim *claim);

/* Have the updater end, with its hook. */
void git_claim_end_updater(const struct git_claim *claim);

/* The index that the landing works on; the caller frees. */
char *git_claim_index(const struct git_claim *claim);
void git_claim_remove_index(const struct git_claim *claim);

#endif
