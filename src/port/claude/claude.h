/* SPDX-License-Identifier: ISC */

/*
 * Claude Code: how it is launched and which files it is given. Makes argument
 * vectors and files; starts nothing. For the user's own files see
 * claude.h.
 */
#ifndef CLAUDE_H
#define CLAUDE_H

struct err;
struct json_object;
struct launch_choice;
struct settings;
struct workspace;

struct claude_print {
	const struct settings *settings; /* agent_command and isolate */
	const char *dir; /* where it runs: its CLAUDE.md is read; settings,
			  * hooks and servers in it are not */
	const char *model; /* "" = the agent's own default */
	int64_t max_cost; /* millionths of a dollar; 0 = any */
	struct json_object *schema; /* of the answer */
};

/* For strv_free(). */
char **claude_print_argv(const struct claude_print *print);

/* Reasons why a dialog would open and wait for a person. */
#define CLAUDE_NOT_ONBOARDED 1u /* first start: theme and login */
#define CLAUDE_NOT_TRUSTED   2u /* this repository is not trusted */
#define CLAUDE_KEY_UNKNOWN   4u /* ANTHROPIC_API_KEY: use it? */
#define CLAUDE_FILE_BROKEN   8u /* not JSON: err says where */

/* Where Claude Code keeps it, by HOME and CLAUDE_CONFIG_DIR. The caller frees;
 * NULL if neither is set. */
char *claude_home_file(void);

/* The folder of all transcripts: `projects` in dir (CLAUDE_CONFIG_DIR of the
 * agent; NULL = the user's own). The caller frees; NULL if it is not known, or
 * not absolute. */
char *claude_home_projects(const char *dir);

/* Which of them the file has. api_key may be NULL. */
unsigned claude_home_check(
    const char *file, const char *root, const char *api_key, struct err *err);

/* Trust the repository and approve the key, unless the user has rejected it,
 * atomically, and keep everything else in the file; `onboarding` also skips the
 * first-start screens. A broken file is -EINVAL and is left alone. */
int claude_home_trust(const char *file, const char *root, const char *api_key,
    bool onboarding, struct err *err);

struct claude_launch {
	const struct workspace *workspace;
	const struct settings *settings;
	const char *worker; /* whose settings are used */
	const char *cwd; /* its worktree */
	int index; /* of its place: place.h */
	uint64_t generation;
	const char *session; /* a new id, or the one to resume */
	bool sandboxed; /* in a box (box.h), if the settings say so */
	const struct launch_choice *choice; /* what is not as the settings say;
					     * NULL = nothing */
	bool resume;
	const char *llmc; /* path of our own program, for hooks and tools */
	const char *socket; /* for its hooks: run-dir.h, also for their spool */
	const char *cgroup; /* for its keeper; NULL = none */
	char *const *scope; /* words before its keeper; NULL = none */
	bool sees_processes; /* its keeper has no pid namespace: it may look at
			      * and signal the processes of its user */
	bool tools; /* it gets those of llmc mcp */
	bool guarded; /* its hooks ask its policy file: policy-file.h */
	/* It repairs: what landed before it was not reviewed, so settings,
	 * hooks and servers of the repository are not loaded. In a box it has
	 * these paths, too; NULL = none. */
	bool repair;
	const char *const *read, *const *write;
	int max_turns; /* sets the Stop hook's block cap, 0 = default */
};

/* What claude_prepare() writes, for its tests: the agent's argument vector, and
 * what its environment has besides ours ("K=V"); for strv_free(). Extra:
 * IS_SANDBOX=1 for root with bypassPermissions, if defaults.allow_root. */
char **claude_argv(const struct claude_launch *launch);
char **claude_env(const struct claude_launch *launch);

/* Likewise the file for --settings: hooks, and what keeps dialogs from opening.
 */
struct json_object *claude_settings(const struct claude_launch *launch);

/* Write settings and launcher files (0600) under .llmc/sessions/<worker>/ and
 * return the path of the launcher file, owned by the caller: `llmc pane FILE`
 * reads argument vector and environment from it and execs the agent. */
int claude_prepare(
    const struct claude_launch *launch, char **ret_launcher, struct err *err);

/* The same for an agent that a person talks to: no hooks of ours, and the
 * person's own settings and dialogs. Only workspace, settings, worker, cwd and
 * sees_processes are used. */
int claude_prepare_console(
    const struct claude_launch *launch, char **ret_launcher, struct err *err);

/*
 * The folder that Claude Code has in a worker's box instead of ~/.claude
 * (CLAUDE_CONFIG_DIR): made from the user's own, so that no dialog opens. It
 * gets the user's memory file and settings, and the answers to the first
 * dialogs; it does not get other projects, the history, or MCP servers and
 * plugins, which may have secrets with them.
 */

/* Write .claude.json, settings.json and CLAUDE.md into an existing folder. The
 * worker may have put anything there while it ran: links are never followed.
 * Call it while nothing of the worker runs. api_key may be NULL. */
int claude_box_write(
    const char *folder, const char *tree, const char *api_key, struct err *err);

/* The user's own folder, ~/.claude or CLAUDE_CONFIG_DIR; the caller frees; NULL
 * if neither is known. */
char *claude_box_source(void);

/* Folders of it that a box shows as they are, NULL terminated. */
extern const char *const claude_box_shared[];

/* An empty file to mount the user's login on, in place of whatever is there.
 */
int
claude_box_login_place(const char *folder, char **ret_path, struct err *err);

/* The same for one of the shared folders: one that exists is kept. */
int claude_box_folder_place(
    const char *folder, const char *name, char **ret_path, struct err *err);

#endif
