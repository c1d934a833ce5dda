/* SPDX-License-Identifier: ISC */

/*
 * Prepares a new worktree: copies files that git does not track from the root,
 * and runs a command in it. Done once for a worktree, and again if it was
 * created again or the settings changed, which a stamp (a file outside the
 * worktree) shows.
 */
#ifndef SETUP_H
#define SETUP_H

struct err;
struct loop;
struct setup;

struct setup_spec {
	const char *root;
	const char *worktree;
	const char *stamp; /* file; its folder exists */
	const char *const *copy_files; /* relative to root; a file, a folder
					* or a pattern; NULL terminated */
	const char *command; /* "" = none; sh -c in the worktree */
	const char *const *box; /* words before the command's (box.h); NULL =
				 * none */
	int64_t timeout_ms;
};

/* err NULL = ready. -ECHILD: the command has failed or took too long; the
 * message has the end of its output. */
typedef void setup_fn(const struct err *err, void *arg);

/* Is there anything to do? Reads the stamp only. */
bool setup_is_due(const struct setup_spec *spec);

/* Do it; fn is called once, from the loop, unless the setup is freed before
 * (which ends a running command). It is no error if a file to copy does not
 * exist; nothing that git tracks in the worktree is overwritten; a path that
 * leads out of root or worktree is -EINVAL. */
struct setup *setup_begin(
    struct loop *loop, const struct setup_spec *spec, setup_fn *fn, void *arg);
void setup_free(struct setup *setup);

#endif
