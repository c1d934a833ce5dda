/* SPDX-License-Identifier: ISC */

/*
 * The kinds of agents: how each is launched, what it reports and where it keeps
 * its files. A kind is one file and one row of agent_kinds; nothing above
 * session/ knows which one it has.
 *
 * The names of hook events, and the answers to them, are those of Claude Code
 * everywhere in llmc (hook-event.h); `llmc hook` translates those of a kind
 * that has others.
 */
#ifndef AGENT_KIND_H
#define AGENT_KIND_H

struct buf;
struct err;
struct json_object;
struct launch_choice;
struct preflight_facts;
struct settings;
struct workspace;

/* What a kind can do. No kind is taken that cannot prove that a prompt was
 * submitted and that a turn has ended. */
#define AGENT_OWN_ID 1u /* we choose the id of a conversation */
#define AGENT_READY_HOOK                                    \
	2u /* it reports when it can be prompted; otherwise \
	    * that it asks for our tools says so */
#define AGENT_STOP_BLOCKS 4u /* the end of a turn can be refused */
#define AGENT_ALLOWS      8u /* each use of a tool can be refused */
#define AGENT_STATUS      16u /* it tells how full context and windows are */
#define AGENT_ERROR_HOOK                                    \
	32u /* it reports a turn that failed; otherwise its \
	     * transcript does */
#define AGENT_SCOPES 64u /* tools can be taken away from it */
#define AGENT_MODES  128u /* it has more than bypassPermissions */
#define AGENT_ISOLATES                                       \
	256u /* it can ignore settings and hooks of the user \
	      * and of the repository */
#define AGENT_ASKED  512u /* it answers without a session: print */
#define AGENT_QUEUES 1024u /* a prompt in its turn is confirmed at once */
#define AGENT_BOXED  2048u /* it runs in a box (box.h) */
#define AGENT_THINKS 4096u /* how long it thinks can be chosen */

struct agent_launch {
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
	const char
	    *socket; /* for its hooks: workspace.h, also for their spool */
	const char *cgroup; /* for its keeper; NULL = none */
	char *const *scope; /* words before its keeper; NULL = none */
	bool sees_processes; /* its keeper has no pid namespace: it may look at
			      * and signal the processes of its user */
	bool tools; /* it gets those of llmc mcp */
	bool guarded; /* its hooks ask its policy file: config.h */
	/* It repairs: what landed before it was not reviewed, so settings,
	 * hooks and servers of the repository are not loaded. In a box it has
	 * these paths, too; NULL = none. */
	bool repair;
	const char *const *read, *const *write;
	int max_turns; /* sets the Stop hook's block cap, 0 = default */
};

/* A question that is answered without a session. */
struct agent_print {
	const struct settings *settings; /* agent_command and isolate */
	const char *dir; /* where it runs: its memory file is read; settings,
			  * hooks and servers in it are not */
	const char *model; /* "" = the agent's own default */
	int64_t max_cost; /* millionths of a dollar; 0 = any */
	struct json_object *schema; /* of the answer */
};

struct agent_kind {
	const char *name; /* as in the settings */
	const char *command; /* key of the setting with its program */
	const char *install; /* what to do if that is not there */
	bool marks_pastes; /* its model is told which words were pasted */
	const char *tested; /* the newest version that llmc was tested with */
	const char *oldest; /* that works; NULL = not known */
	const char *log_in; /* what a person types for that */
	unsigned can; /* AGENT_* */
	int64_t start_ms; /* that it may take to start, whatever less
			   * defaults.start_timeout says */

	/* Write what it reads at its start below agent_path(), and append its
	 * words and what its environment has besides ours ("K=V"). */
	int (*prepare)(const struct agent_launch *launch, char ***argv,
	    char ***env, struct err *err);
	/* The words that ask it a question, for strv_free(), and what is set
	 * for them. NULL = it cannot be asked. */
	char **(*print)(const struct agent_print *print);
	const char *const *print_env;

	/* Our name for an event of its hooks; NULL = it is ignored. May change
	 * data. The callback is NULL if both are the same; with it, its hooks
	 * say which kind they are of. */
	const char *(*event)(const char *event, struct json_object *data);
	/* Our answer to it, in its form, owned by the caller. NULL: ours is. */
	struct json_object *(*answer)(
	    const char *event, struct json_object *answer);

	/* Its files. */
	const char *folder; /* of its own in .llmc/box/NAME */
	bool homed; /* it has that folder also without a box */
	const char *variable; /* that says where it is */
	const char *home; /* where the user's own is without it, below HOME */
	const char *transcripts; /* the folder of all of them, in it */
	const char *const *variables; /* what those begin with that reach only
				       * this kind, NULL terminated; NULL =
				       * none */
	/* What else it needs there (agent_write()); NULL = nothing. */
	int (*write)(const char *folder, const char *tree, struct err *err);
	const char *const
	    *gone; /* files that must not be there: what an earlier
		    * session left would be settings and hooks of
		    * the next one. NULL terminated; NULL = none */
	const char *memory; /* the user's memory file, which is copied */
	const char *const *shared; /* folders that a box shows as they are, NULL
				    * terminated */
	const char *login; /* file of the user's login, shown in a box; NULL =
			    * none */
	const char *login_variable; /* that replaces it */
	char *(*state_file)(void); /* that changes when a person has answered
				    * its dialogs; NULL = none */
	/* Which account it uses here, without any secret: the same on every
	 * machine. The caller frees it; NULL = not known, or it has none. */
	char *(*account)(void);
	/* What its files say, for preflight.h; runs nothing. NULL = nothing is
	 * known. */
	void (*look)(const struct workspace *workspace, bool boxed, bool strict,
	    struct preflight_facts *facts);
};

extern const struct agent_kind claude_kind, claude_headless_kind, codex_kind,
    opencode_kind, gemini_kind;

/* All of them, NULL terminated; the first one is the default. */
extern const struct agent_kind *const agent_kinds[];

/* NULL if there is none of that name. */
const struct agent_kind *agent_kind_find(const char *name);

/* That which has its transcripts in such a folder; NULL if there is none, or
 * the folder is NULL. */
const struct agent_kind *agent_kind_of_folder(const char *projects);

/* That of a worker's sessions; choice may be NULL. Repairs are done by the
 * first one: it is the one that loads nothing of what has landed. */
const struct agent_kind *agent_kind_of(const struct settings *settings,
    const char *worker, const struct launch_choice *choice);

/* How long its session may take to start: start_timeout, or more if the kind is
 * slow. */
int64_t agent_start_ms(const struct settings *settings, const char *worker,
    const struct launch_choice *choice);

/* The folder of all transcripts of its sessions; the caller frees; NULL if it
 * is not known. */
char *agent_transcripts(const struct agent_kind *kind,
    const struct workspace *workspace, const char *worker, bool boxed);

/* What follows for a person, if a kind cannot do it: a row for each AGENT_*,
 * the last one has no words. */
extern const struct agent_lack {
	unsigned can;
	const char *words;
} agent_lacks[];

/* Can the kind or card of this name review work (auto.review), with these
 * settings? -ENOTSUP, with words, if not. *ret_scoped: its tools can be limited
 * to those that read. */
int agent_reviews(const struct settings *settings, const char *name,
    bool *ret_scoped, struct err *err);

/* Write its files and the launcher file (0600) under .llmc/sessions/<worker>/
 * and return the path of the launcher file, owned by the caller: `llmc pane
 * FILE` reads argument vector and environment from it and execs the agent. */
/* -ENOTSUP, with words, if the settings or the task need what the kind cannot
 * do: nothing is left out silently. */
int agent_prepare(
    const struct agent_launch *launch, char **ret_launcher, struct err *err);

/* The same for an agent that a person talks to: no hooks of ours, and the
 * person's own settings and dialogs. Only workspace, settings, worker, cwd and
 * sees_processes are used. */
int agent_prepare_console(
    const struct agent_launch *launch, char **ret_launcher, struct err *err);

/* Does the variable ("K=V") belong to this kind? kind may be NULL. */
bool agent_owns(const struct agent_kind *kind, const char *variable);

/* --- what a kind writes, in the form of Claude Code's transcripts --- */

/* A line of Codex's rollout file, owned by the caller; NULL = it says nothing
 * that is counted, or is none of its lines. model: that of the lines before,
 * owned; it may change. */
struct json_object *codex_line(struct json_object *line, char **model);

/* Is it a line of Gemini's chat file? And that line, owned by the caller; NULL
 * = it says nothing that is counted. */
bool gemini_is_line(struct json_object *line);
struct json_object *gemini_line(struct json_object *line);

/* Has a conversation of Gemini a message? In the folder that the environment
 * names, if that is of this kind. */
bool gemini_can_resume(const char *id);

/* --- for the kinds: agent-parts.c ---------------------------------------- */

/* The folder of the user's own files; the caller frees; NULL if it is not
 * known. */
char *agent_source(const struct agent_kind *kind);

/* Write what it needs so that no dialog opens, into an existing folder. The
 * worker may have put anything there while it ran: links are never followed.
 * Called while nothing of the worker runs. */
int agent_write(const struct agent_kind *kind, const char *folder,
    const char *tree, struct err *err);

/* A file of the session; the caller frees. */
char *agent_path(const struct agent_launch *launch, const char *name);

/* A worker's effective value of a [defaults] key. */
const char *agent_string(const struct agent_launch *launch, const char *key);
size_t agent_list(const struct agent_launch *launch, const char *key,
    const char *const **ret_items);
bool agent_bool(const struct agent_launch *launch, const char *key);
int64_t agent_int(const struct agent_launch *launch, const char *key);

const struct launch_choice *agent_choice(const struct agent_launch *launch);
const char *agent_mode(const struct agent_launch *launch);
const char *agent_model(const struct agent_launch *launch); /* "" = any */

/* Append the words of the settings "model", if there is one, and "extra_args".
 */
void agent_add_model(const char *model, char ***argv);
void agent_add_extra(const struct agent_launch *launch, char ***argv);

/* Append the words that run `llmc hook EVENT` and `llmc mcp` for it. */
void agent_hook_words(const struct agent_kind *kind,
    const struct agent_launch *launch, const char *event, char ***words);
void agent_mcp_words(const struct agent_launch *launch, char ***words);

/* The first ones as one that a shell reads. */
void agent_hook_command(const struct agent_kind *kind,
    const struct agent_launch *launch, const char *event, struct buf *command);

/* Replace what is at path, so that nothing is followed or written through: by
 * nothing, and by a file (0600). A folder is put aside. */
int agent_clear_place(const char *path, struct err *err);
int agent_write_file(
    const char *path, const void *bytes, size_t len, struct err *err);

#endif
