/* SPDX-License-Identifier: ISC */

/*
 * Whose process is it? An agent session's if it descends from the pane of one,
 * as recorded; or from a process that was started with the environment of one
 * (LLMC_AGENT, LLMC_ROOT, LLMC_WORKER), which holds before the pane is recorded
 * and inside a pid namespace. So is a command that the daemon runs on a
 * worker's files, since those say what it does. The outermost one counts: what
 * is below it can say what it likes.
 */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <sys/types.h>

struct buf;
struct json_object;
struct state;
struct workspace;

/* What was read of a file, which is read again when it has changed. */
struct identity_file {
	uint64_t dev, ino;
	int64_t size, changed_s, changed_ns;
	struct json_object *member; /* NULL = none */
};

/* All zero is empty. */
struct identity_files {
	struct identity_file overseer, panes;
};

struct identity_pane {
	char *name; /* of the session: "adam", "overseer" */
	pid_t pid;
	uint64_t start_time;
};

/* All zero is empty. */
struct identity_panes {
	struct identity_pane *list;
	size_t count;
	char *boot; /* id of this boot */
};

/* Below .llmc: the panes of all workers, for programs that cannot read the
 * book. The daemon writes it; this is its text, appended. */
#define IDENTITY_PANES "panes.json"
void identity_panes_text(const struct state *state, struct buf *out);

/* pane: as procref_to_json() makes it; anything else, and one of another boot,
 * is left out. */
void identity_add(
    struct identity_panes *panes, const char *name, struct json_object *pane);
/* The repair session's, from overseer.json. */
void identity_add_repair(struct identity_panes *panes,
    const struct workspace *workspace, struct identity_files *files);
/* Those and all workers', from panes.json. */
void identity_add_all(struct identity_panes *panes,
    const struct workspace *workspace, struct identity_files *files);
void identity_release(struct identity_panes *panes);
void identity_files_release(struct identity_files *files);

/* For the environment of setup and check commands; the caller frees it. */
char *identity_command(const char *root);

/* pidfd: -1 = none. 1: it is a session's, whose name is *ret_name, to free. 0:
 * it is not. -ESRCH: it has ended; other negative errno: it cannot be said.
 * proc is ANCESTRY_PROC, except in tests. */
int identity_find(const char *proc, const struct workspace *workspace,
    const struct identity_panes *panes, pid_t pid, int pidfd, char **ret_name);

/* The same for this process, with the panes in the files of the workspace. */
int identity_own(const struct workspace *workspace, char **ret_name);

/*
 * The parents of a process, from /proc, up to init. A parent cannot be another
 * process with the same number: it is older than its child, and what does not
 * fit is read again.
 */

#define ANCESTRY_PROC "/proc"
#define ANCESTRY_MAX  128 /* of generations */

struct ancestor {
	pid_t pid;
	uint64_t start_time; /* field 22 of /proc/PID/stat */
};

/* The process itself first. Ends at init, at the top of the pid namespace that
 * proc shows, and at a process that another user's /proc hides. Returns how
 * many; -ESRCH: it has ended; -ELOOP: more than max; -ESTALE: its parents
 * change all the time. proc is ANCESTRY_PROC, except in tests. */
int ancestry_read(
    const char *proc, pid_t pid, struct ancestor *ret_list, size_t max);

/* The process of a pidfd: its pid in the pid namespace of proc, -ESRCH if it
 * was reaped, 0 if it is outside of the namespace. */
pid_t ancestry_pidfd(const char *proc, int pidfd);

#endif
