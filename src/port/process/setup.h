/* SPDX-License-Identifier: ISC */

/*
 * What a fresh worktree needs beyond git: files that git does not keep copied
 * from the root, a command run in it, a Serena project of its own. Done once
 * for a worktree, again when it was made anew or the settings changed: a stamp
 * (a file outside of the worktree) tells.
 */
#ifndef SETUP_H
#define SETUP_H

#include <stdbool.h>
#include <stdint.h>

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
	int64_t timeout_ms;
	const char *serena_name; /* NULL = no Serena */
	const char *serena_config; /* ~/.serena/serena_config.yml */
};

/* err NULL = ready. The words of a failure carry the end of what the command
 * said. */
typedef void setup_fn(const struct err *err, void *arg);

/* Is there anything to do? Reads the stamp only. */
bool setup_is_due(const struct setup_spec *spec);

/* Do it; fn comes once, from the loop, unless it is freed before (a command
 * that runs is ended then). A file to copy that is not there is no error;
 * nothing that git tracks in the worktree is overwritten; a path that leads out
 * of root or worktree is -EINVAL. */
struct setup *setup_begin(
    struct loop *loop, const struct setup_spec *spec, setup_fn *fn, void *arg);
void setup_free(struct setup *setup);

#endif
