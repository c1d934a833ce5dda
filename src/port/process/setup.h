/* SPDX-License-Identifier: ISC */

/*
 * What a worker finds where it works: a worktree that is set up, a place for
 * temporary files, variables.
 *
 * Prepares a new worktree: copies folders and files that git does not track
 * from the root, and runs a command in it. Done once for a worktree, and again
 * if it was created again, the settings changed, or one of some files has other
 * contents, which a stamp (a file outside the worktree) shows. It is written
 * when all has succeeded, and removed when something begins.
 */
#ifndef SETUP_H
#define SETUP_H

struct buf;
struct err;
struct git;
struct json_object;
struct settings;
struct setup;
struct workspace;

struct setup_spec {
	struct git *git; /* files come from its root */
	const char *worktree;
	const char *stamp; /* file; its folder exists */
	const char *const *copy_files; /* relative to root; a file, a folder
					* or a pattern; NULL terminated */
	const char *command; /* "" = none; sh -c in the worktree */
	/* Files in the worktree with whose contents it is done again, and
	 * folders to copy into it if they are not there (copy.h); NULL or NULL
	 * terminated. */
	const char *const *when, *const *seed;
	/* Folders may come from other worktrees with stamps beside this one,
	 * too, not only from the root: whoever wrote there is trusted here. */
	bool trusts_others;
	bool look_only; /* -ESTALE if it has to be done again for a file */
	const char *const *env; /* of its place (setup.h); NULL = none */
	const char *const *box; /* words before the command's (box.h); NULL =
				 * none */
	int64_t timeout_ms;
};

/* err NULL = ready. -ECHILD: the command has failed or took too long; the
 * message has the end of its output. */
typedef void setup_fn(const struct err *err, void *arg);

/* Is there anything to do? Looks at the stamp and at the times of files only:
 * if that is not sure, yes, and setup_begin() finds out. */
bool setup_is_due(const struct setup_spec *spec);

/* Do it; fn is called once, from the loop, unless the setup is freed before
 * (which ends a running command). It is no error if a file to copy does not
 * exist; nothing that git tracks in the worktree is overwritten; a path that
 * leads out of root or worktree is -EINVAL. */
struct setup *
setup_begin(const struct setup_spec *spec, setup_fn *fn, void *arg);
void setup_free(struct setup *setup);

/* What it does now, in words: the last line that the command has printed. All
 * of its output is in the file <stamp>.log. Valid until it goes on. */
const char *setup_progress(const struct setup *setup);

/*
 * The place of a worker (model/settings/place.h) on this machine: its folder
 * for temporary files, .llmc/tmp/INDEX, and its variables. Made before a
 * session, a setup, a check or a teardown begins; all of them get the same.
 */

/* All zero is empty. */
struct workplace {
	char *tmpdir; /* exists; a box must show it (box.h) */
	char **env; /* edits of child.h */
};

/* name, index: of a worker or a slot (place.h). */
int workplace_make(const struct workspace *workspace,
    const struct settings *settings, const char *name, int index,
    struct workplace *ret_place, struct err *err);
void workplace_release(struct workplace *place);

/* Where workplace_make() puts temporary files of that number. The caller
 * frees. */
char *workplace_tmpdir(const struct workspace *workspace, int index);

/* Which processes of a worker's session listen on which ports: an array of
 * {"port", "pid", "program"}, the caller owns it. Reads /proc now, and waits
 * for it: not for a loop. */
struct json_object *
workplace_listeners(const struct workspace *workspace, const char *worker);

/* The first port of that number that somebody listens on, 0 = none. */
int workplace_busy_port(const struct settings *settings, int index);

#endif
