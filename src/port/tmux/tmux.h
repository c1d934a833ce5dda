/* SPDX-License-Identifier: ISC */

/*
 * The tmux server of one root: sessions with the agent as the pane's own
 * command. Short asynchronous `tmux -L socket -f our.conf` children, every
 * status checked, exact targets only, never a control-mode client. What is on a
 *screen is never taken as proof.
 *
 * Commands for one session run in the order they were given, others in
 *parallel. People may attach and open windows and panes of their own: input and
 *reports always concern the pane that the session was started with.
 *
 * Callbacks come once, from the loop; err is NULL on success. Its codes:
 *
 *	-ESRCH		no such session, or no server
 *	-EPIPE		the program in the session has ended
 *	-EEXIST		the name is taken
 *	-ENOENT		no such program as tmux, or no such working directory
 *	-EINVAL		no name for a session (letters, digits, '_', '-')
 *	-E2BIG		longer than the 16 KiB a command of tmux may have
 *	-ETIMEDOUT	no answer in time; whether it was done is not known
 *	-EIO		anything else, with tmux's message
 *
 * and the codes of a process that cannot be started.
 */
#ifndef TMUX_H
#define TMUX_H

#include <sys/queue.h>
#include <sys/types.h>

struct err;
struct loop;
struct loop_call;
struct tmux;

TAILQ_HEAD(tmux_jobs, tmux_job);

struct tmux_queue {
	struct loop *loop;
	struct loop_call *pump;
	struct tmux_jobs jobs; /* waiting and running, oldest first */
	bool finishing; /* the loop runs for the last jobs */
	char *command, *socket, *config;
	int64_t deadline_ms;
};

struct tmux_options {
	const char *command; /* the program */
	const char *socket; /* -L */
	const char *config; /* path of the config file to write and use */
	int64_t deadline_ms; /* for each command, 0 = 10 s */
};

/* Strings are copied. Writes the config file, in a directory that exists;
 * starts nothing. */
int tmux_new(struct loop *loop, const struct tmux_options *options,
    struct tmux **ret_tmux, struct err *err);

/* Abandons running commands; the server lives on. */
void tmux_free(struct tmux *tmux);

/* Before that, at the end of a program: sessions that it has killed are removed
 * from tmux, which ends the server with the last one; every other command is
 * abandoned. Runs the loop, for two seconds at most, without callbacks. */
void tmux_finish(struct tmux *tmux);

typedef void tmux_done_fn(const struct err *err, void *arg);

struct tmux_session {
	const char *name; /* "llmc-adam" */
	const char *role; /* "worker", "console", "overseer": kept in the user
			   * option @llmc_role */
	const char *worker; /* @llmc_worker, NULL = none */
	uint64_t generation; /* @llmc_generation */
	const char *cwd;
	const char *const *argv; /* the pane's command, exec'd without a
				  * shell; short (see claude.h's launcher) */
	const char *const *env; /* "K=V", NULL terminated, may be NULL */
};

/* Start a detached session with remain-on-exit, and the server if there is
 * none. On success fn gets the pane's pid. The marks are set in the same
 * command: no session of ours is ever seen without them. Everything is copied.
 */
typedef void tmux_started_fn(pid_t pane_pid, const struct err *err, void *arg);

void tmux_start(struct tmux *tmux, const struct tmux_session *session,
    tmux_started_fn *fn, void *arg);

/* Paste text (bracketed) and a final CR as one buffer, leaving copy mode
 * first. `enter` false leaves the CR out. The text must be clean
 * (prompt_clean). Success: tmux has it, and writes it to the pane as fast as
 * the program reads. */
void tmux_paste(struct tmux *tmux, const char *name, const char *text,
    bool enter, tmux_done_fn *fn, void *arg);

/* Keys by tmux's names ("Enter", "C-c", "Escape"); NULL terminated. Leaves
 * copy mode first. */
void tmux_keys(struct tmux *tmux, const char *name, const char *const *keys,
    tmux_done_fn *fn, void *arg);

/* It is no error if there is no such session. */
void
tmux_kill(struct tmux *tmux, const char *name, tmux_done_fn *fn, void *arg);

/* The text on the screen and up to `history` lines above, each line with its
 * newline, blanks and blank lines at the end cut; of a dead pane too. Valid
 * until the callback returns, NULL on failure. */
typedef void tmux_text_fn(const char *text, const struct err *err, void *arg);

void tmux_capture(struct tmux *tmux, const char *name, int history,
    tmux_text_fn *fn, void *arg);

/* All sessions of the server, with our marks; without a server the list is
 * empty. Valid until the callback returns. Of a session that is not ours, the
 * active pane. */
struct tmux_info {
	const char *name, *role, *worker; /* "" = none */
	uint64_t generation;
	pid_t pane_pid; /* 0 when dead */
	bool dead; /* the pane's process has ended, or its pane is gone */
};

typedef void tmux_list_fn(const struct tmux_info *list, size_t count,
    const struct err *err, void *arg);

void tmux_list(struct tmux *tmux, tmux_list_fn *fn, void *arg);

/* Callbacks with this arg are not called any more. Commands are still executed,
 * but nothing is typed any more. */
void tmux_forget(struct tmux *tmux, const void *arg);

/* "llmc-<worker>". */
char *tmux_session_name(const char *worker);

/* Where the server has its socket of that name ("tmux -L socket"); "" = the
 * folder. The caller frees. */
char *tmux_socket_path(const char *socket);

/* The command that a person types to attach: "tmux -L socket attach -t =name",
 * or to switch inside the same server. argv is NULL terminated; its strings are
 * those of options, and *ret_target, which the caller frees. Quote them for a
 * shell: zsh gives '=' a meaning. */
void tmux_attach_words(const struct tmux_options *options, const char *name,
    bool switch_client, const char *argv[8], char **ret_target);

/* Parse the answer in place: one entry per session, whose strings are inside
 * text. The caller frees the list, which may be NULL. */
size_t tmux_list_parse(char *text, struct tmux_info **ret_list);

#endif
