/* SPDX-License-Identifier: ISC */

/*
 * The box of a worker: the arguments with which bubblewrap shows a program its
 * own worktree, what git needs and the machine's programs, and nothing else:
 * its root is an empty folder. Pure: facts in, an argument vector out. The
 * facts come from port/process/box.h, which also makes the folders that are
 * mounted.
 *
 * A mount hides what is below it, so the plan puts a folder before everything
 * inside it, wherever home, root, worktrees and temporary folders are. Of two
 * mounts at one path the later one counts.
 */
#ifndef BOX_PLAN_H
#define BOX_PLAN_H

struct buf;
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

/* Where the words before those of bwrap have the filter (keeper --filter), and
 * a sealed copy of bwrap if they make one (keeper --seal). */
#define BOX_FILTER_FD 10
#define BOX_BWRAP_FD  11

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
	bool filter; /* of system calls, open at BOX_FILTER_FD; and inner begins
		      * with an init (keeper --init) */

	const char *const *machine; /* /usr, ...: readable, as they are */
	const struct box_bind *links; /* symbolic ones: .from is the text */
	const char *const *temporary; /* /tmp, ...: an empty one instead */
	const char *const *closed; /* /run, ...: empty, and stays so */
	const char *home; /* hidden */
	const char *root; /* of the repository; hidden */
	const char *state; /* root/.llmc; hidden */
	const char *trees; /* the folder of all worktrees; hidden */
	const char *tree; /* this one: writable, and where it starts */
	bool read_only; /* neither it nor anything of git can be written */
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
	const char *agent; /* .llmc/box/NAME/claude: writable */
	const char *cache; /* .llmc/box/NAME/cache: ~/.cache */

	const struct box_bind *binds;
	const char *const *programs; /* files and folders that are needed, and
				      * not in machine, or hidden: readable */
	const char *tmux; /* the folder of tmux's sockets: hidden if it would be
			   * seen; a box may have one of its own in /tmp */
	const char *const *read, *const *write; /* sandbox_read, _write */
	/* With a listener on this machine: hidden in machine, programs, read
	 * and write, unless one of these is it. */
	const char *const *sockets;
	const char *const *unset; /* variables that must not get in */
	const char *const *set; /* "NAME=VALUE": not for secrets, since
				 * arguments are visible to all users */
	const char *const *inner; /* words after "--", before the program */
};

/* The words before the program's own, to be run as they are; for strv_free().
 */
char **box_plan(const struct box_facts *facts);

/* Is path this folder, or inside it? */
bool box_is_within(const char *path, const char *folder);

/* May this variable ("NAME=VALUE" or a name) reach an agent, or code that an
 * agent wrote? A fixed list: what programs need to run, the agent's own
 * variables, and `more` (defaults.env). A box has fewer. */
bool box_plan_allows(const char *variable, const char *const *more, bool boxed);

/*
 * How much of the machine a worker may use: from the settings to what is
 * written into a cgroup, or given to systemd-run. Pure; port/process/machine.h
 * finds a place for it.
 */

enum box_limit {
	BOX_LIMIT_MEMORY,
	BOX_LIMIT_TASKS,
	BOX_LIMIT_CPU,
	BOX_LIMIT_COUNT
};

/* Sets of limits are masks: 1 << enum box_limit. */
struct box_limit_row {
	const char *key; /* in [defaults] */
	const char *controller; /* in cgroup.controllers */
	const char *file; /* of the cgroup */
	const char *none; /* what that file has without a limit */
	const char *property; /* of a systemd unit */
};
extern const struct box_limit_row box_limit_rows[BOX_LIMIT_COUNT];

/* Bytes, processes and threads, weight; 0 = not limited. */
struct box_limits {
	int64_t values[BOX_LIMIT_COUNT];
};

void box_limits_of(const struct settings *settings, const char *worker,
    struct box_limits *ret_limits);

/* Those that are set. */
unsigned box_limits_wanted(const struct box_limits *limits);

/* Those that any worker can have: a section of its own, or the defaults. */
unsigned box_limits_wanted_by_any(const struct settings *settings);

/* Those whose controllers are in a list as in cgroup.controllers. */
unsigned box_limits_available(const char *controllers);

/* Append "memory_max, tasks_max and cpu_weight". */
void box_limits_describe(unsigned set, struct buf *out);

/* The words before a program that run it in a systemd scope with the limits,
 * up to and with "--"; for strv_free(). unit: without ".scope". */
char **box_limits_scope(const struct box_limits *limits,
    const char *systemd_run, const char *unit, bool as_root);

/* How often the kernel has killed for memory, from memory.events; -1 = it does
 * not say. */
int64_t box_limits_oom_kills(const char *memory_events);

/* Append why the agent ended, to follow its other words. */
void box_limits_describe_oom(int64_t memory_max, struct buf *out);

/* Why a box could not be made: what bubblewrap prints, in words that say what
 * to do. Pure. */

struct box_fault {
	const char *cause; /* a sentence without a full stop */
	const char *fix; /* what to type or to change */
};

/* The fault behind this text: standard error of bwrap, or the words of a
 * program that could not be started. There is always one; an unknown text gets
 * a general answer. */
const struct box_fault *box_fault_find(const char *text);

#endif
