/* SPDX-License-Identifier: ISC */

/*
 * The box of a worker: what bubblewrap is told so that a program sees its own
 * worktree, what git needs and the machine's programs, and nothing else: its
 * root is an empty folder. Pure: facts in, an argument vector out. The facts
 * come from port/process/box.h, which also makes the folders that are mounted.
 *
 * A mount hides what is below it, so the plan puts a folder before everything
 * inside it, wherever home, root, worktrees and temporary folders are. Of two
 * mounts at one path the later one counts.
 */
#ifndef BOX_PLAN_H
#define BOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct settings;

/* defaults.sandbox */
enum box_mode {
	BOX_OFF,
	BOX_WORKTREE, /* the user's network */
	BOX_STRICT, /* no network of its own */
	BOX_MODE_COUNT
};

const char *box_mode_name(enum box_mode mode);
/* False when no mode has that name. */
bool box_mode_parse(const char *name, enum box_mode *ret_mode);

/* The mode of a worker. One of a team (team-1) has the strictest of all that
 * auto mode drives, so that no agent leaves its box by another one; a repair
 * ("overseer") has box_mode_strictest(). */
enum box_mode box_mode_of(const struct settings *settings, const char *worker);

/* The mode for work on what several workers wrote (a check at landing): the
 * strictest of defaults.sandbox and of all workers with a section. */
enum box_mode box_mode_strictest(const struct settings *settings);

/* Where the words before those of bwrap have the filter (keeper --filter). */
#define BOX_FILTER_FD 10

/* A file or folder that is seen at another path; lists end with .from NULL. */
struct box_bind {
	const char *from, *at;
	bool writable;
};

/* Paths are absolute, without symbolic links; NULL = there is none. Lists are
 * ended by NULL and may be NULL. */
struct box_facts {
	enum box_mode mode; /* not BOX_OFF */
	const char *bwrap; /* the program */
	bool is_root;
	bool filter; /* of system calls, open at BOX_FILTER_FD */

	const char *const *machine; /* /usr, ...: readable, as they are */
	const struct box_bind *links; /* symbolic ones: .from is the text */
	const char *const *temporary; /* /tmp, ...: an empty one instead */
	const char *const *closed; /* /run, ...: empty, and stays so */
	const char *home; /* hidden */
	const char *root; /* of the repository; hidden */
	const char *state; /* root/.llmc; hidden */
	const char *trees; /* the folder of all worktrees; hidden */
	const char *tree; /* this one: writable, and where it starts */
	const char *git_dir; /* the repository's; objects is below it */
	const char *tree_git; /* git_dir/worktrees/NAME of a linked worktree;
			       * NULL for a clone with its own */
	const char *objects; /* a folder for new objects, below a temporary
			      * one: those of the repository are read-only.
			      * NULL = a linked worktree writes there */
	const char *lfs; /* git_dir/lfs, if the repository uses it: writable */
	bool packs; /* git must be able to add packs, and so to delete them:
		     * a partial clone, into which it fetches what is missing */

	const char *session; /* .llmc/sessions/NAME: readable */
	const char *run; /* .llmc/run/NAME: readable, the worker's socket */
	const char *spool; /* below run: writable */
	const char *claude; /* .llmc/box/NAME/claude: writable */
	const char *cache; /* .llmc/box/NAME/cache: ~/.cache */

	const struct box_bind *binds;
	const char *const *programs; /* files and folders that are needed, and
				      * not in machine, or hidden: readable */
	const char *tmux; /* the folder of tmux's sockets: hidden if it would be
			   * seen; a box may have one of its own in /tmp */
	const char *const *read, *const *write; /* sandbox_read, _write */
	const char *const *sockets; /* that somebody on this machine listens at:
				     * hidden in machine, programs, read and
				     * write, unless one of these is it */
	const char *const *unset; /* variables that must not get in */
	const char *const *set; /* "NAME=VALUE": not for secrets, since
				 * arguments are visible to all users */
	const char *const *inner; /* words after "--", before the program */
};

/* The words before the program's own, to be run as they are; for strv_free().
 */
char **box_plan(const struct box_facts *facts);

/* May this variable ("NAME=VALUE" or a name) enter a box? A fixed list: what
 * programs need to run, the agent's own variables, and sandbox_env. */
bool box_plan_allows(const char *variable, const char *const *sandbox_env);

#endif
