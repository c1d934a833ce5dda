/* SPDX-License-Identifier: ISC */

/*
 * What the files of this folder share. The commands are in cmd-<name>.c, one or
 * a few of them each; what several commands need is declared here, with the
 * headers that most of them use.
 */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <sys/types.h>

#include "api.h"
#include "client.h"
#include "git-ask.h"
#include "json-short.h"
#include "json.h"
#include "moment.h"
#include "proposals.h"
#include "schema.h"
#include "settings.h"
#include "source.h"
#include "state.h"
#include "table.h"
#include "top.h"
#include "view-table.h"
#include "worker.h"
#include "workspace.h"

struct preflight;
struct loop;
struct plan;
struct plan_set;
struct screen;
struct view_source;

/* --- the command line -------------------------------------------------- */

/*
 * What every command shares: its row in the table, the options common to all,
 * and the two ways out (text for people, one JSON value for programs).
 *
 * A command fills cli->text and cli->result and returns its exit status; main
 * prints the one that was asked for. Failures go through cli_fail().
 */
enum {
	CLI_OK = 0,
	CLI_FAILED = 1, /* a runtime error */
	CLI_USAGE = 2, /* called wrongly */
};

struct cli {
	const struct cli_command *const *commands; /* all, up to a NULL */
	const char *root_option; /* --root, else LLMC_ROOT, else NULL */
	bool json;
	bool verbose;
	bool here; /* --here: of a fleet, only this host */
	bool silent; /* the command must not print errors */
	bool colour; /* on standard output */
	bool utf8; /* it may be used beside ASCII, by the locale */
	int width; /* of standard output, 0 = not a terminal */
	struct workspace workspace; /* when the command needs one */
	struct json_object *result;
	struct buf text;
};

struct cli_flag {
	const char *name; /* without dashes; NULL ends the list */
	const char *value; /* what its value is called, NULL = a switch */
	const char *help;
};

/* Of the commands that show a whole fleet. */
#define CLI_HERE_HELP "of a fleet, show only this host"

#define CLI_FLAGS_MAX 16
#define CLI_GIVEN_MAX 64

/* What was typed after the command's name. */
struct cli_args {
	int count;
	const char *const *list;
	const char *flags[CLI_FLAGS_MAX]; /* by position in the command's
					   * flag list; "" for a switch, NULL
					   * when not given */
	/* The same in the order in which they were typed: for flags that may
	 * be given several times. Otherwise the last one counts. */
	struct {
		int flag;
		const char *value;
	} given[CLI_GIVEN_MAX];
	int given_count;
};

/* Where a command can be run; 0 = in a repository in which llmc init has been
 * run. */
#define CLI_NEEDS_REPO 1u /* in any git repository */
#define CLI_DAEMON_DOES                                                       \
	4u /* as 0, or where a daemon runs, which uses the settings that were \
	    * accepted */
#define CLI_ANYWHERE 8u

/* The groups of llmc help, in their order. */
enum cli_group {
	CLI_UNLISTED, /* for scripts and programs, or a verb of another */
	CLI_START,
	CLI_RUN,
	CLI_WORK,
	CLI_WATCH,
	CLI_ANSWER,
	CLI_WORKERS,
	CLI_LAND,
	CLI_GROUP_COUNT
};

struct cli_command {
	const char *name; /* two words for one that belongs to another */
	enum cli_group group;
	const char *usage; /* arguments, as in a synopsis */
	const char *summary; /* one line */
	const char *help; /* more lines, each ended by a newline */
	const char *example; /* what follows llmc; NULL = none */
	const struct cli_flag *flags;
	const char *letters; /* short forms of the flags, by position, a blank
			      * for none; NULL = none at all */
	int min_args, max_args;
	bool silent; /* exit status 0 and no error message, whatever happens */
	const char *method; /* the daemon's method that it calls, NULL = none */
	bool guarded; /* refused inside an agent's own session, also if its
		       * method says so (api.h) ... */
	bool repairs; /* ... but not in the overseer's own repair session */
	bool travels; /* HOST:NAME as its first argument: it runs there */
	unsigned needs;
	const struct schema_field *shape; /* of its JSON; NULL = that of its
					   * method's result */
	const struct verb *verbs; /* instead of run */
	int (*run)(struct cli *cli, const struct cli_args *args);
};

/* The shape of the JSON: OBJECT, ROWS or ONE of a schema. */
#define CLI_SHAPE(kind, schema) \
	(&(const struct schema_field){ .type = SCHEMA_##kind, .of = &(schema) })

extern const struct cli_flag cli_global_flags[];
extern const struct cli_flag cli_here_flags[]; /* --here alone */

/* By its name, or by another one; NULL = there is none. */
const struct cli_command *cli_find(const struct cli *cli, const char *name);
/* "plan", if the command is "goal plan" and the parent is goal; else NULL. */
const char *cli_verb_of(
    const struct cli_command *parent, const struct cli_command *command);
bool cli_has_verb(const struct cli_command *command, const char *word);
/* By the first words: "goal plan", before "goal". *ret_used: how many words. */
const struct cli_command *cli_find_words(
    const struct cli *cli, const char *const *words, int count, int *ret_used);

/* Report a failure: one line for people, {"error":{...}} with --json. `code` is
 * a word for programs. Returns CLI_FAILED (or CLI_USAGE from cli_misuse). */
int cli_fail(struct cli *cli, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int cli_fail_err(struct cli *cli, const char *code, const struct err *err);
/* With the output of a command (NULL = none) below it. */
int cli_fail_output(struct cli *cli, const char *code, const struct err *err,
    const char *output);
int cli_misuse(struct cli *cli, const struct cli_command *command,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

int cli_unknown_command(struct cli *cli, const char *word);

/* One line on standard error, for people only: nothing with --json. */
void cli_warn(struct cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The repository that --root names, or that we are in, into cli->workspace.
 * Negative errno. */
int cli_look_for_workspace(struct cli *cli, struct err *err);
/* Find the repository into cli->workspace, as far as `needs` asks for it.
 * CLI_OK, or the failure is reported. */
int cli_find_workspace(struct cli *cli, unsigned needs);

/* The settings in force; the caller frees them. CLI_OK, or the failure (an
 * error in the file too) is reported. */
int cli_load_settings(struct cli *cli, struct settings **ret_settings);

/* Is it forbidden in the session that this runs in? An agent must not stop what
 * it is part of; the one that repairs for the overseer may repair. The parents
 * of this process tell (identity.h), once the workspace is known; LLMC_AGENT is
 * believed only where it forbids. */
bool cli_is_barred(struct cli *cli, bool repairs);

/* Check a number of workers, as given to --concurrency: CLI_OK, or the failure
 * is reported. NULL = not given. */
int cli_check_concurrency(
    struct cli *cli, const struct cli_command *command, const char *text);

/* Write to standard output. The only way there: whatever a branch, a title or a
 * log line contains is made safe for a terminal. Negative errno. */
int cli_write(const struct buf *text);

/* Ends the loop when standard output is a pipe that nobody reads any more. The
 * caller frees it. NULL = it is none. */
struct loop_watch *cli_watch_reader(struct loop *loop);

/* The lines of a text as an array of strings. */
struct json_object *cli_lines(const char *text);

/* "\033[32mtext\033[0m" where colours are wanted, else the text. */
void cli_coloured(struct cli *cli, const char *sgr, const char *text);

/* A text from outside, on one line, made safe for a terminal, between two of
 * our own. */
void cli_say(
    struct cli *cli, const char *before, const char *text, const char *after);

/* The rows as a table (view-table.h), or, if there are none, a line that says
 * so (NULL = nothing). */
void cli_table(struct cli *cli, const struct view_column *columns, size_t count,
    struct json_object *rows, const void *arg, const char *none);
#define CLI_TABLE(cli, columns, rows, none) \
	cli_table(cli, columns, nitems(columns), rows, NULL, none)

/* What is known of one row: view_facts(). */
#define CLI_FACTS(cli, lines, row, width) \
	view_facts(                       \
	    lines, nitems(lines), row, "", width, (cli)->colour, &(cli)->text)

/* A text of many lines below its name, indented to set it apart from our own;
 * nothing for none (NULL, ""). */
void cli_text(struct cli *cli, const char *name, const char *text);

/* The members of a file's object that the shape has, as it describes them: one
 * that is missing is null if it may be, else 0 or false. The caller owns it. */
struct json_object *
cli_members(const struct schema *shape, struct json_object *from);

/* The short form of a flag by its position, '\0' = none. */
char cli_flag_letter(const char *letters, size_t flag);

/* Commands with subcommands, such as llmc goal list: a table of verbs. */
struct verb {
	const char *name; /* NULL ends the table; "" is a word that is none of
			   * the others, and the verb's argument */
	int min_args, max_args; /* without the verb itself */
	unsigned flags; /* of the command's flags, those it takes: a bit each */
	const char *form; /* how it is typed, for errors: "show GOAL" */
	int (*run)(struct cli *cli, const struct cli_args *args);
};

/* The command line of another program of ours, for this root: with those of
 * the flags that were given, which have the same names there, from one up to
 * another. */
char **
cli_argv(struct cli *cli, const char *program, const struct cli_flag *flags,
    const struct cli_args *args, int from, int to);

/* Set the member, if the flag was given: to its value; to all values of a flag
 * that may be given several times (a single empty one makes an empty list). */
void flag_text(struct json_object *params, const char *key,
    const struct cli_args *args, int flag);
void flag_list(struct json_object *params, const char *key,
    const struct cli_args *args, int flag);

/* Is this word (NULL = was not given) a priority? CLI_OK, or it is misuse. */
int flag_priority(
    struct cli *cli, const struct cli_command *command, const char *word);

/* Of a command whose first argument is HOST:NAME: llmc over ssh, to the host,
 * as the person who is let in there. Comes back only to say why not. */
int elsewhere_run(struct cli *cli, const struct cli_command *command,
    const struct cli_args *args);

/* The value of --since. */
#define SINCE_EXPECTED                                                          \
	"an age such as 12h or 7d, a day such as 2026-01-31, or a moment such " \
	"as 2026-01-31T08:15:30.000Z"

/* An age, a day (UTC) or a stamp; false for anything else. */
bool since_parse(const char *text, int64_t now_ms, int64_t *ret_ms);

/* All of them: main.c lists them. */
extern const struct cli_command cmd_abort, cmd_accept, cmd_add, cmd_agents,
    cmd_answer, cmd_asks, cmd_attach, cmd_channel, cmd_completion, cmd_config,
    cmd_console, cmd_doctor, cmd_down, cmd_errand, cmd_failures, cmd_fleet,
    cmd_goal, cmd_help, cmd_hook, cmd_init, cmd_inside, cmd_iterations,
    cmd_landing, cmd_log, cmd_logs, cmd_mail, cmd_mcp, cmd_message, cmd_metrics,
    cmd_node, cmd_nuke, cmd_overseer, cmd_oversight, cmd_pane, cmd_pause,
    cmd_peek, cmd_pick, cmd_plan, cmd_proxy, cmd_rebase, cmd_reject, cmd_replay,
    cmd_report, cmd_reset, cmd_restart, cmd_resume, cmd_revert, cmd_review,
    cmd_salvage, cmd_schema, cmd_start, cmd_stats, cmd_status, cmd_stop,
    cmd_store, cmd_stream, cmd_task, cmd_tick, cmd_top, cmd_tree, cmd_trust,
    cmd_up, cmd_verify, cmd_version, cmd_wait, cmd_web, cmd_why;

/* --- the daemon, and what it knows ------------------------------------- */

/*
 * Ask the owner of the workers: the daemon over its socket, or, if none is
 * running and the method allows it, `autod --oneshot` for this one request.
 */

/* Call a method of api.h; takes ownership of params. CLI_OK with *ret_result
 * (owned by the caller, may be NULL), or the failure is reported and its exit
 * status returned. deadline_ms 0 = a minute. */
int remote_call(struct cli *cli, const char *method, struct json_object *params,
    int64_t deadline_ms, struct json_object **ret_result);

/* Limit for git operations on a large repository. */
#define REMOTE_LONG_MS (30 * 60 * 1000)
/* A landing waits for its turn, for checks and for a clean checkout: until the
 * person has enough, or the daemon ends. */
#define REMOTE_LANDING_MS INT64_C(604800000)

/* The same without the report: false with a code for programs and a sentence
 * for people; *ret_result is then the data of the error. */
bool remote_try(struct cli *cli, const char *method, struct json_object *params,
    int64_t deadline_ms, struct json_object **ret_result, const char **ret_code,
    struct err *err);

/* What was committed to the book, whether or not a daemon answers: see
 * autod/look.h. Takes ownership of params (NULL = none). *ret_result is the
 * caller's. */
int remote_look(struct cli *cli, const char *name, struct json_object *params,
    struct json_object **ret_result, struct err *err);
/* The same: CLI_OK, or the failure is reported. */
int remote_see(struct cli *cli, const char *name, struct json_object *params,
    struct json_object **ret_result);
/* Let autod write this document as the new state of the book. */
int remote_rebuild(struct cli *cli, struct json_object *state,
    struct json_object **ret_result, struct err *err);

/* Run a verb of llmc fleet, with more options of autod. */
int remote_fleet_try(struct cli *cli, const char *verb,
    const char *const *words, struct json_object **ret_result, struct err *err);

/* Members and their values, ended by NULL; a member whose value is NULL is left
 * out. The second: {"worker": name}. */
struct json_object *
remote_params(const char *key, ...) __attribute__((sentinel));
struct json_object *remote_worker(const char *name);

/* Where the daemon is asked: inside a worker's session at the socket of that
 * worker, which LLMC_WORKER names; else at the people's. The caller frees. */
char *remote_socket(struct cli *cli);

/* Is there a daemon that answers? */
bool remote_alive(struct cli *cli);

/* If there is neither a daemon nor a worker, and a worktree is not all that one
 * needs: make the place of the first worker
 * as its start would, remove it, and add how that went. */
void cli_try_place(struct cli *cli, struct preflight *preflight);
/* What starts a daemon as the last one ran. Static. */
const char *remote_start_command(struct cli *cli);

/*
 * The state as it was committed to the book last, for commands that choose a
 * worker before they ask the daemon. What is shown of the fleet is in the view.
 */

/* A state that the caller releases; an empty one, if there is none yet. */
int roster_read(struct cli *cli, struct state *ret_state, struct err *err);
/* The same: CLI_OK, or the failure is reported. */
int roster_load(struct cli *cli, struct state *ret_state);

/* Does the process that wrote this registration, and whose lock is held, live?
 * Below a keeper the processes of others may not be visible: then the lock is
 * all that can be asked. */
bool roster_is_alive(struct json_object *registration);

/* The daemon's registration, owned by the caller, if the process that wrote it
 * lives and holds the lock; else NULL. */
struct json_object *roster_daemon(struct cli *cli);

/* The worker of that name, or the failure is reported (with the existing
 * names). */
int roster_find(struct cli *cli, const struct state *state, const char *name,
    const struct worker **ret_worker);

/* Run fn with the worker of that name. Its exit status, or the failure is
 * reported. */
int roster_with(struct cli *cli, const char *name,
    int (*fn)(struct cli *cli, const struct worker *worker,
	const struct cli_args *args),
    const struct cli_args *args);

/* Finished work is named by its worker, or by its task. If no worker has it any
 * more, it is among the workers after roster_add_held(), by the name of its
 * task, as one that waits with it. Without a name, roster_with_work() takes the
 * work that was reviewed last. */
void roster_add_held(struct state *state);
int roster_find_work(struct cli *cli, const struct state *state,
    const char *name, const struct worker **ret_worker);
int roster_with_work(struct cli *cli, const char *name,
    int (*fn)(struct cli *cli, const struct worker *worker,
	const struct cli_args *args),
    const struct cli_args *args);

/* The beginning of a worker's task on one line, for people; appended. Nothing
 * if it has none. */
void roster_excerpt(const char *prompt, struct buf *out);

/* The part of a salvage ref that people type: "worker/time". */
#define ROSTER_SALVAGE "refs/llmc/salvage/"
const char *roster_salvage(const char *ref);

/* Which commit of a worker does a command apply to? The daemon acts only if it
 * is still the worker's HEAD, so that nothing lands unseen. */
#define SEEN_FLAG                                                 \
	{                                                         \
		"commit", "COMMIT",                               \
		    "fail if the worker's commit is not this one" \
	}

/* Find the commit: the one that was typed (NULL = none), else the one that was
 * reviewed if `reviewed` is set, else the worker's HEAD. CLI_OK, or the failure
 * is reported. The caller frees it. */
int seen_commit(struct cli *cli, const struct worker *worker, const char *typed,
    bool reviewed, char **ret_commit);

/* {"worker": name, "commit": commit} */
struct json_object *
seen_params(const struct worker *worker, const char *commit);

/*
 * The view (view.h) for commands that show it: from the daemon, and as it
 * changes; from the files while none runs, or one that knows no view. What a
 * daemon showed last stays while it is away.
 */

/* The view once, or these sections of it (NULL terminated), of a daemon that
 * answers soon. False: none does. The caller owns it. */
bool view_source_ask(struct cli *cli, const char *const *sections,
    struct json_object **ret_view);
/* The same, else of the book and the files; *ret_live: a daemon answered.
 * CLI_OK, or the failure is reported. */
int view_source_once(struct cli *cli, const char *const *sections,
    struct json_object **ret_view, bool *ret_live);

/* Follow it: fn is called from the loop whenever the view, or whether it is
 * live, has changed. Begins with what the files say. CLI_OK, or the failure is
 * reported. Free it before the loop; the cli must live as long. */
int view_source_new(struct cli *cli, struct loop *loop, void (*fn)(void *arg),
    void *arg, struct view_source **ret_source);
void view_source_free(struct view_source *source);

/* Borrowed; never NULL, and replaced or changed before fn is called. */
struct json_object *view_source_view(const struct view_source *source);
/* Does the daemon send its changes? */
bool view_source_live(const struct view_source *source);

/* --- tasks, goals, landings -------------------------------------------- */

/*
 * All known tasks: those in progress and those that have ended, which the book
 * has, and those that the source has. Only reads.
 */
struct taskbook {
	enum source_type type; /* of the source */
	char *where; /* the command, or the folder */
	char *problem; /* why the source cannot be read, or NULL */
	struct json_object *entries; /* in progress, then waiting, then ended,
				      * the newest first */
};

/* Of the ended ones the last `limit`, 0 = all, or those with this name, NULL =
 * any. CLI_OK and a book that the caller releases, or it is reported. */
int taskbook_load(
    struct cli *cli, size_t limit, const char *name, struct taskbook *ret_book);
/* Of the ended ones those with this id or name, and all of each. */
int
taskbook_load_for(struct cli *cli, const char *name, struct taskbook *ret_book);
void taskbook_release(struct taskbook *book);

/* The entry with that id, or that name in its source; NULL if there is none. */
struct json_object *
taskbook_find(const struct taskbook *book, const char *word);

/* The id or name that is most similar to the word, or NULL. */
const char *taskbook_nearest(const struct taskbook *book, const char *word);

/* Add the contents of the source's own file, for a task that only the source
 * has. */
void taskbook_read_text(const struct taskbook *book, struct json_object *entry);

/* The name of an entry: its id, else its name in the source. */
const char *taskbook_name(struct json_object *entry);

/* An entry, for programs. */
extern const struct schema taskbook_entry_schema;

/* Set the members tokens, cost_usd, cost_source and usage from a row with
 * tokens (as the budgets count them), cost_micros, cost_source and usage. */
void spent_view_set(struct json_object *json, struct json_object *row);
/* Append such members: "1,204 tokens, $0.12 est., 3 tool calls". */
void spent_view_add(struct buf *out, struct json_object *json);
/* Append the tokens by model and kind: one line for each, after prefix. */
void spent_view_add_models(
    struct buf *out, const char *prefix, struct json_object *json);

/* Goals, plans and nodes for people. Each appends to cli->text; the JSON is
 * what the daemon has answered. */

/* The goals of the other hosts of a fleet, printed and as rows; NULL = none.
 * The caller owns them. */
extern const struct schema goal_elsewhere_shape;
struct json_object *goal_view_elsewhere(struct cli *cli);
/* "3/7", "no plan": of a summary of a goal. */
void goal_view_add_done(struct json_object *summary, struct buf *out);

/* The answers of overseer.work.list and .show. */
void goal_view_nodes(struct cli *cli, struct json_object *answer);
void goal_view_node(struct cli *cli, struct json_object *answer);

/* The plan of the answer of overseer.goal.show, with its assignments; the set
 * (empty) owns it. CLI_OK, or the failure is reported. */
int plan_read(struct cli *cli, struct json_object *answer, struct plan_set *set,
    struct plan **ret_plan);
/* The same of the goal that the daemon knows by this name. */
int plan_fetch(struct cli *cli, const char *goal, struct plan_set *set,
    struct plan **ret_plan);

/* Call the method with the text of the file ("-" is standard input, NULL =
 * none) as params.plan; errors about it name the file. Takes params. CLI_OK
 * with the answer in cli->result, or the failure is reported. */
int plan_send(struct cli *cli, const char *method, struct json_object *params,
    const char *file);

/* What happens now, with the daemon that is there or is not: after a plan was
 * given (nodes), or the planner was asked for one or for a draft of one. */
enum plan_next {
	PLAN_NEXT_WORK,
	PLAN_NEXT_PLAN,
	PLAN_NEXT_DRAFT
};

void plan_tell_next(struct cli *cli, enum plan_next what);

/* Its member push, not NULL. */
void landing_text_push(struct cli *cli, struct json_object *push);
/* What has landed on a result that was overtaken. */
void landing_text_unproven(struct cli *cli, const char *commit);

/* --- logs and events --------------------------------------------------- */

/* The daemon's log for people: which records are wanted, and how they look. */
struct log_view {
	const char *worker; /* only records about it, NULL = all */
	const char *object; /* only records with this member, NULL = all */
	enum log_level level; /* and above */
	/* Only records for which this is true, NULL = all. */
	bool (*wants)(struct json_object *record, const void *arg);
	const void *wants_arg;
	bool colour;
};

bool log_view_wants(const struct log_view *view, struct json_object *record);

/* The last `count` wanted records of a log and of its rotated files, oldest
 * first, as an array; the caller owns it. Of the log itself only the first
 * `end` bytes are read. What cannot be read is left out. */
struct json_object *log_view_last(
    const struct log_view *view, const char *path, uint64_t end, size_t count);

/* A record of the file: {timestamp, level, event:{type, ...}}. Valid until this
 * returns; false = pass on no more. */
typedef bool event_feed_fn(struct json_object *record, void *arg);

/* Which records of the file are events: a view that chooses among them begins
 * with this one. */
extern const struct log_view event_feed_view;

/* Passes on the events that the view wants, the last `lines` of them first, and
 * then what happens, until Ctrl-C or until somebody stops the loop. fn is
 * called from the loop only. The exit status; a failure is reported. */
int event_follow(struct cli *cli, struct loop *loop,
    const struct log_view *view, size_t lines, event_feed_fn *fn, void *arg);

/* --- programs and sessions --------------------------------------------- */

/* What the overseer's files say, for commands that show it or must not
 * interfere with it. Only reads. */

/* The name of its session, worktree and agent; no worker can have it. */
#define OVERSEER_NAME "overseer"

struct overseer_files {
	struct json_object *json; /* overseer.json; NULL = it cannot be read */
	bool active; /* an overseer holds the lock */
	bool registered; /* and it is the one described in the file */
};

/* The same in short. */
struct overseer_now {
	bool active; /* as above */
	bool repairs; /* the daemon, or waits before it starts another */
	int64_t pid; /* 0: there is none, or it is not known */
};

struct overseer_now overseer_now(struct cli *cli);
void overseer_files_load(struct cli *cli, struct overseer_files *ret_overseer);
void overseer_files_release(struct overseer_files *overseer);
/* The running overseer's process, 0 when there is none or it is not known. */
int64_t overseer_files_pid(const struct overseer_files *overseer);
/* End the running overseer, which has no daemon to be ended: it repairs one, or
 * waits. False if it is not known, or does not end in that time. */
bool overseer_files_end(struct cli *cli, int64_t ms);
/* Have it go on with its program on disk; false if it does not. */
bool overseer_files_restart(struct cli *cli, int64_t ms);
/* While an overseer is running, the failure is reported (`command` is what is
 * refused, `way` what can be done instead, NULL = nothing); otherwise CLI_OK.
 */
int
overseer_files_refuse(struct cli *cli, const char *command, const char *way);

/* Does the verdict of an earlier run keep it from starting? The reason says
 * why. */
bool overseer_files_is_over(struct cli *cli, struct buf *words);

/*
 * tmux from the command line: one command and its answer, in a loop of its own.
 * Failures are reported; all return an exit status.
 */
struct sessions_entry {
	char *name; /* in tmux: "llmc-adam" */
	char *role; /* "worker", "console", "overseer", "" = not ours */
	char *worker; /* "" = none */
	bool dead; /* its program has ended */
};

struct sessions {
	struct sessions_entry *list;
	size_t count;
};

/* Everything that a session starts ends with it (orphans.h): in one of this
 * root, as a console is, refuse to start what should go on. command: what to
 * type elsewhere. */
int
sessions_refuse_inside(struct cli *cli, const char *what, const char *command);

/* All sessions of this root's server; none if no server is running. */
int sessions_load(struct cli *cli, const struct settings *settings,
    struct sessions *ret_sessions);
/* The same without the report: negative errno. */
int sessions_try(struct cli *cli, const struct settings *settings,
    struct sessions *ret_sessions, struct err *err);
void sessions_release(struct sessions *sessions);
/* By the worker's name, the console's ("console1"), or the session's own; NULL
 * if there is none. */
const struct sessions_entry *
sessions_find(const struct sessions *sessions, const char *target);
/* The screen and up to `history` lines above it, appended. */
int sessions_capture(struct cli *cli, const struct settings *settings,
    const char *name, int history, struct buf *out);
/* An agent for a person; name: "console1". */
int sessions_start_console(
    struct cli *cli, const struct settings *settings, const char *name);
int sessions_kill(
    struct cli *cli, const struct settings *settings, const char *name);
/* End those of workers that no daemon owns, keeping their work; the caller
 * holds the daemon's lock. *ret_ended: agents that were still running. */
int sessions_sweep(
    struct cli *cli, const struct settings *settings, int *ret_ended);
/* The command to type to attach, quoted for a shell; appended. */
void sessions_attach_words(
    const struct settings *settings, const char *name, struct buf *out);
/* Become tmux, attached to the session; inside the same server the client
 * switches. Inside another tmux the person is asked, unless `nested` says yes.
 * Returns only after a failure, or with --json, which only prints the
 * command. */
int sessions_attach(struct cli *cli, const struct settings *settings,
    const char *name, bool nested);

/* --- the person's terminal --------------------------------------------- */

/*
 * Programs that need the person's own terminal: an editor, a pager, tmux.
 * Everything else is run by base/child, which keeps children away from it.
 */

/* Is a person there: are standard input and standard error a terminal? */
bool terminal_here(void);

/* Does the shell know this word as a command, in this folder (NULL = here)? */
bool terminal_knows(const char *cwd, const char *word);

/* Become the program (argv[0] is looked up in PATH). Returns only on failure:
 * negative errno. */
int terminal_become(const char *const *argv, struct err *err);

/* Run it with our own standard descriptors and wait for its end, however long
 * that takes. Its exit status (128 + signal if a signal ended it), or negative
 * errno. Interrupts from the keyboard go to it while it runs. */
int terminal_run(const char *const *argv, struct err *err);

/* Start a program that stays when this one ends, away from the terminal.
 * *ret_fd: the other end of its standard input, which is closed when it ends.
 * log: the file that gets what it says on standard error. */
int detach_start(struct cli *cli, char *const *argv, const char *log,
    int *ret_fd, struct err *err);

/* It has ended instead: fail with what it wrote to the log from there on. */
int detach_fail(struct cli *cli, const char *who, const char *log, off_t from);

/* "<question> [y/N] ". CLI_OK for a yes, typed or given in advance (yes: the
 * flag --yes). Otherwise the failure is reported: the person said no, or cannot
 * be asked, as always with --json. */
int ask_confirm(struct cli *cli, bool yes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "<question> [Y/n] ", about something that can be repeated. False for a no, or
 * without a person to ask. */
bool ask_again(struct cli *cli, const char *question);

/* What to set in this project (proposals.h), for a new config file. */

/* Look at the project as the branch has it; runs git. */
void propose_look(const struct workspace *ws, const char *branch,
    struct proposals *ret_proposals);
/* Append them with their reasons, and what was left out. */
void propose_print(const struct proposals *proposals, struct buf *out);
/* [{key, value, reason, set}] */
struct json_object *propose_json(const struct proposals *proposals, bool set);

enum propose_answer {
	PROPOSE_ACCEPTED,
	PROPOSE_EDIT, /* accepted, and the person edits the file */
	PROPOSE_NOTHING
};
/* Show them on the terminal until the person has chosen. */
enum propose_answer propose_ask(struct proposals *proposals);
/* Ask for one value until it is allowed; empty = none was typed. False: no line
 * can be read. */
bool propose_value(const char *path, const char *question, struct buf *typed);

/* Append the lines of a section of the config file; as comments if they are not
 * set. */
void propose_write(const struct proposals *proposals, const char *section,
    bool set, struct buf *out);

/*
 * A line for a person who waits for a long command: what is done, how much of
 * it, and for how long by now, every second from the first on. Only if standard
 * error is a terminal, and not with --json; the line is gone at the end, or
 * when a failure is reported. Nothing has to be called meanwhile.
 */

/* One at a time; what is kept until the end. */
void progress_begin(const struct cli *cli, const char *what);
/* So many of them are done. */
void progress_count(size_t done, size_t total);
/* May be called without a beginning. */
void progress_end(void);

/*
 * A text that a person writes for a worker: typed on the command line, piped
 * in, or written in an editor. A text from an editor stays in a file until it
 * has been delivered, so that it is not lost if it is refused.
 */
struct draft {
	struct buf text;
	char *file; /* of the editor, NULL = none */
	bool with_diff; /* it may be longer than a prompt, and begin with the
			 * line that ends the text of draft_fill() */
};

#define DRAFT_INIT                    \
	{                             \
		BUF_INIT, NULL, false \
	}

/* Fill the draft: `typed` as it is, "-" from standard input, NULL in the
 * editor ($VISUAL, $EDITOR, vi), which shows the lines of `below` (may be
 * NULL) under a line that ends the text. `kind` is a word for the file's name.
 * CLI_OK, or the failure (no terminal, an empty text too) is reported. */
int draft_fill(struct cli *cli, const char *typed, const char *kind,
    const char *below, struct draft *draft);

/* The same in the editor, which begins with this text. Without a terminal, it
 * must be one that the environment names; otherwise a message names the option
 * for a file. */
int draft_edit(struct cli *cli, const char *text, const char *kind,
    const char *option, struct draft *draft);
/* The editor once more, with the text as it is. */
int draft_again(struct cli *cli, struct draft *draft);
/* A NUL byte would cut the text off: CLI_OK, or the failure is reported. what:
 * where the text comes from. The others call it. */
int draft_check(struct cli *cli, const struct draft *draft, const char *what);
/* Run the person's editor on a file; a failure is reported, with what has not
 * been done because of it. */
int draft_editor(struct cli *cli, const char *file, const char *not_done);
/* The bytes of a file, or of standard input ("-"). */
int draft_read(struct cli *cli, const char *path, struct draft *draft);
/* Release it. status CLI_OK: it was delivered, and its file is removed;
 * otherwise a message says where it is. Returns status. */
int draft_end(struct cli *cli, struct draft *draft, int status);

/*
 * The whole terminal, for a command that draws on it: raw keys, the alternate
 * screen, its size. It is given back whatever ends the program, except for
 * SIGKILL. Nothing here waits for the terminal: while it does not read, only
 * the newest frame is kept. No terminfo: the sequences are those of ECMA-48 and
 * of xterm, which ignore what they do not know.
 */
struct screen_fns {
	/* A key (top.h); pasted: it was not typed, so it is text. */
	void (*on_key)(uint32_t key, bool pasted, void *arg);
	/* Draw again: another size, or the terminal is ours again. */
	void (*on_size)(void *arg);
	/* The terminal has gone. */
	void (*on_gone)(void *arg);
};

/* Can a screen be drawn: is standard output a terminal that can do more than
 * print? term: $TERM, NULL = not set. */
bool screen_possible(const char *term);

/* What colours it has, by $TERM and $COLORTERM (NULL = not set). */
enum grid_colours
screen_colours(bool wanted, const char *term, const char *colorterm);

/* Take the terminal of standard output. One at a time; free it before the
 * loop. Negative errno. */
int screen_new(struct loop *loop, enum grid_colours colours,
    const struct screen_fns *fns, void *arg, struct screen **ret_screen,
    struct err *err);
void screen_free(struct screen *screen);

void screen_size(const struct screen *screen, int *ret_rows, int *ret_columns);

/* Show the frame, now or as soon as the terminal reads; it belongs to the
 * screen from now on. */
void screen_show(struct screen *screen, struct grid *frame);
/* Do not trust what stands there: the next frame is drawn whole. */
void screen_forget(struct screen *screen);

/* Give the terminal to another program, and take it again. */
void screen_leave(struct screen *screen);
void screen_enter(struct screen *screen);

/* --- llmc status ------------------------------------------------------- */

/* llmc without a command, in a repository: where things stand, and the one
 * command that is next. */
int status_stand(struct cli *cli);

/* Its member of the JSON is "overseer". */
void status_overseer_show(
    struct cli *cli, const struct overseer_files *overseer, int64_t now_ms);
extern const struct schema status_overseer_shape;

struct status {
	struct cli *cli;
	struct json_object *view, *head, *workers;
	struct settings *settings;
	int64_t now; /* milliseconds */
	bool overseen; /* an overseer runs */
	bool plain; /* a daemon without auto mode runs */
};

/* A heading, with a blank line before it unless it is the first. */
void status_section(struct cli *cli, const char *title);
/* Auto mode, where it was ever used; and what was used on each day. */
void status_auto_show(struct status *status);
void status_days_show(struct status *status);
extern const struct schema status_auto_shape, status_day_shape;

/* --- llmc doctor ------------------------------------------------------- */

/* What the files of llmc doctor share: the report, and the facts behind it. */
enum verdict {
	VERDICT_OK,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_COUNT
};

struct doctor {
	struct cli *cli;
	bool have_git; /* git answers, and the repository has a commit */
	bool have_state; /* it could be read */
	struct state state;
	struct settings *settings; /* NULL = they cannot be read */
	struct json_object *checks;
	struct json_object *repairs; /* in words */
	int counts[VERDICT_COUNT];
	int width; /* of the names; 0 = that of the checks */
};

/* One line of the report. fix: what to do, NULL if nothing is wrong. */
void doctor_note(struct doctor *doctor, enum verdict verdict, const char *name,
    const char *detail, const char *fix);
/* The end of the report, and its JSON. */
void doctor_tell(struct doctor *doctor);
extern const struct schema doctor_shape;

/* Parts of it: the forge that issues come from; the daemon, the workers, their
 * sessions, and Claude Code's own file; the keeper that agents get here. */
void doctor_forge_check(struct doctor *doctor);
void doctor_fleet_check(struct doctor *doctor);
void doctor_keeper_check(struct doctor *doctor);

/* llmc doctor --sandbox: what this machine and this repository have for a
 * sandbox, and a box of a scratch repository with a program that does nothing,
 * and with the agent. The mode is "worktree" or "strict"; NULL = the
 * repository's, or "worktree" if that is off. The facts go to the doctor's
 * checks. Exit status; a failure of doctor's own is reported. */
int doctor_box_run(struct doctor *doctor, const char *mode);

/* Both return the exit status; what was done is in doctor->repairs. */
int doctor_repair(struct doctor *doctor, bool yes);
int doctor_repair_rebuild(struct doctor *doctor, bool yes);

/* A person who sits at a terminal sees these asks; takes the list of their
 * names. */
void asks_seen(struct cli *cli, struct json_object *names);

/* llmc answer with words for the next worker, none of which is a decision. */
int answer_with(struct cli *cli, const char *name, const char *text);
/* The same if anything is open about it. False: nothing is. */
bool answer_open(
    struct cli *cli, const char *name, const char *text, int *ret_status);

#endif
