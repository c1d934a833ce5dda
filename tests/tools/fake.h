/* SPDX-License-Identifier: ISC */

/*
 * fake-claude: replaces Claude Code in tests, as far as a supervisor can see
 * it: arguments, terminal, hooks, transcript, status file. What it does in a
 * turn is written in the prompt (script.h).
 *
 * One struct for the whole program; each file below owns its part of it.
 *
 *   fake-claude.c      start and end of the process
 *   fake-options.c     arguments and environment
 *   fake-codex.c       Codex instead: the arguments of that, and its files
 *   fake-hooks.c       hooks from settings files, their answers
 *   fake-mcp.c         MCP servers
 *   fake-memory.c      remembers a turn that was interrupted
 *   fake-session.c     ids, events and status for hooks and other readers
 *   fake-transcript.c  the JSONL file
 *   fake-term.c        keys in, screen out
 *   fake-turn.c        prompts, their queue, turns
 *   fake-tool.c        the Bash tool, its dialog, background processes
 *   fake-use.c         the tools of MCP servers
 *   fake-command.c     /clear, /compact, /exit
 */
#ifndef FAKE_H
#define FAKE_H

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/queue.h>
#include <termios.h>

#include "id.h"
#include "loop.h"
#include "script.h"

struct child;
struct fake;
struct json_object;
struct loop;
struct loop_timer;
struct loop_watch;
struct loop_signal;

#define FAKE_VERSION "2.1.328" /* of the program that it was compared with */

/* ---- fake-options.c: strings belong to argv and the environment */

struct fake_options {
	const char *settings; /* --settings: a file, or JSON */
	const char *servers; /* --mcp-config: likewise */
	const char *session; /* --session-id */
	const char *resume; /* --resume */
	const char *model;
	const char *mode; /* permission mode */
	const char *prompt; /* after "--" */
	const char *sources; /* --setting-sources, NULL = all */
	bool bash_allowed; /* --allowedTools has Bash */
	bool llmc_allowed; /* or mcp__llmc__* */
	int64_t tool_timeout_ms; /* MCP_TOOL_TIMEOUT, 0 = none */
	bool version;
	const char *folder; /* CLAUDE_CONFIG_DIR, or ~/.claude */
	const char *log; /* FAKE_CLAUDE_LOG */
	const char *more; /* FAKE_CLAUDE_MORE: a file of steps that are added to
			   * every prompt, NULL = none */
	int64_t start_ms; /* FAKE_CLAUDE_START_MS */
	int64_t notify_ms; /* FAKE_CLAUDE_NOTIFY_MS */
	int64_t idle_ms; /* FAKE_CLAUDE_IDLE_MS */
	int64_t ignore_enter; /* FAKE_CLAUDE_IGNORE_ENTER */
	int64_t block_cap; /* CLAUDE_CODE_STOP_HOOK_BLOCK_CAP */
	bool no_start; /* FAKE_CLAUDE_NO_SESSIONSTART */
	bool goes_on; /* FAKE_CLAUDE_GOES_ON */
	const char *faults; /* FAKE_CLAUDE_FAULTS */
	bool codex; /* it was started as Codex */
	bool opencode; /* or as OpenCode */
	bool gemini; /* or as Gemini CLI: headless, with one prompt */
	bool headless; /* -p: lines of JSON instead of a terminal */
};
void fake_options_read(struct fake_options *options, int argc, char **argv);

/* ---- fake-codex.c */

struct fake;
/* Only if the arguments are those of Codex. */
void fake_codex_options(struct fake_options *options, int argc, char **argv);
char *fake_codex_path(const struct fake *fake); /* of its rollout */
/* The line of a transcript, in its form. */
void fake_codex_write(struct fake *fake, struct json_object *line);

/* ---- fake-opencode.c: only if the environment is that of OpenCode. */

void fake_opencode_options(struct fake_options *options, int argc, char **argv);

/* ---- fake-gemini.c: only if the arguments are those of Gemini CLI. */

void fake_gemini_options(struct fake_options *options, int argc, char **argv);
char *fake_gemini_path(const struct fake *fake); /* of its chat file */
/* The line of a transcript, in its form. */
void fake_gemini_write(struct fake *fake, struct json_object *line);
void fake_gemini_say(const char *type, const char *key, const char *value);

/* ---- fake-hooks.c */

/* The combined answer of the hooks of one event. */
struct fake_answer {
	int hooks; /* that ran */
	bool block; /* or deny */
	bool allow;
	bool ask;
	struct buf reason;
	struct buf context; /* for the model, after a tool */
};
typedef void
fake_answer_fn(struct fake *fake, const struct fake_answer *answer, void *arg);

struct fake_fired; /* an event whose hooks are running */
struct fake_hook;
TAILQ_HEAD(fake_hook_list, fake_hook);

void fake_hooks_load(struct fake *fake);
void fake_hooks_free(struct fake *fake);

/*
 * Run the hooks of an event (takes ownership of it); `match` is what matchers
 * are compared with. fn is called later, once, unless cancelled.
 *
 * FAKE_CLAUDE_FAULTS names a folder of faults, each for one event: a file
 * "<name of the worktree>.<event>" that contains "lose" or "double" is removed,
 * and the hooks are not run, or run twice at once.
 */
struct fake_fired *fake_fire(struct fake *fake, struct json_object *event,
    const char *match, fake_answer_fn *fn, void *arg);
void fake_fired_cancel(struct fake_fired *fired); /* NULL is fine */

/* ---- fake-memory.c: with FAKE_CLAUDE_GOES_ON=1, a prompt without a step after
 * a turn that was interrupted (or killed and resumed) repeats all steps of that
 * turn. */

void fake_memory_load(struct fake *fake); /* when a conversation is resumed */
void fake_memory_begin(struct fake *fake, const char *prompt);
void fake_memory_end(struct fake *fake); /* the turn has ended */

/* ---- fake-session.c */

#define FAKE_WITH_MODE   1u
#define FAKE_WITH_EFFORT 2u

void fake_session_new(struct fake *fake); /* another id, no prompt yet */
void fake_session_paths(struct fake *fake);
void fake_prompt_id(struct fake *fake); /* the next one */
struct json_object *
fake_event(struct fake *fake, const char *name, unsigned with);
struct json_object *
fake_event_tool(struct fake *fake, const char *name, struct json_object *input);
void fake_status(struct fake *fake, const char *status, const char *waiting);
void fake_status_remove(struct fake *fake);
void fake_log_prompt(struct fake *fake, const char *text);

/* ---- fake-transcript.c */

void fake_transcript_prompt(struct fake *fake, const char *text, bool queued);
void fake_transcript_feedback(struct fake *fake, const char *reason);
void fake_transcript_queue(
    struct fake *fake, const char *operation, const char *text);
void fake_transcript_say(struct fake *fake, const char *text);
void fake_transcript_call(struct fake *fake, const char *say,
    const char *tool_use_id, struct json_object *input);
void fake_transcript_tool(struct fake *fake, const char *say,
    const char *tool_use_id, const char *name, struct json_object *input);
void fake_transcript_result(struct fake *fake, const char *tool_use_id,
    const char *content, bool failed, struct json_object *response);
void fake_transcript_error(
    struct fake *fake, const struct script_error *error, const char *text);
void fake_transcript_interrupted(struct fake *fake, bool in_tool);
void fake_transcript_turn(struct fake *fake, int64_t ms);
void fake_transcript_compact(struct fake *fake, const char *trigger);
/* At the end of a conversation, of which it is the sum. */
void fake_transcript_cost(struct fake *fake);
void fake_transcript_resume(struct fake *fake);

/* ---- fake-term.c */

enum fake_dialog {
	FAKE_DIALOG_NONE,
	FAKE_DIALOG_FIRST_RUN,
	FAKE_DIALOG_PERMISSION,
	FAKE_DIALOG_REWIND,
};

struct fake_term {
	bool raw; /* saved holds the previous mode */
	struct termios saved;
	struct loop_watch *watch;
	struct loop_timer *escape; /* is it a lone Esc? */
	struct loop_timer *twice; /* for a second press of a key */
	int pressed; /* the key that may be pressed again */
	enum {
		FAKE_KEY_PLAIN,
		FAKE_KEY_ESCAPE,
		FAKE_KEY_CSI,
		FAKE_KEY_PASTE
	} state;
	struct buf sequence; /* of a CSI; or the text of a paste */
	struct buf box;
	bool pasted; /* into the box */
	int64_t ignore_enter;
	enum fake_dialog dialog;
	int drawn; /* lines of the box on the screen */
};

void fake_term_open(struct fake *fake);
void fake_term_close(struct fake *fake);
void fake_term_say(struct fake *fake, const char *mark, const char *text);
void fake_term_draw(struct fake *fake);
void fake_term_dialog(struct fake *fake, enum fake_dialog dialog);

/* ---- fake-turn.c */

struct fake_prompt {
	TAILQ_ENTRY(fake_prompt) entry;
	struct fake *fake;
	char *text;
	struct fake_fired *fired;
	bool accepted; /* by its hook */
	bool notification; /* not from a person */
};
TAILQ_HEAD(fake_prompt_list, fake_prompt);

struct fake_turn {
	bool active;
	struct script script;
	struct script_action action;
	struct fake_prompt *prompt; /* its hook is running */
	struct fake_fired *fired;
	struct loop_timer *timer;
	struct buf last; /* text of the assistant */
	int64_t began_ms;
	int64_t blocks; /* by the Stop hook, in a row */
};

void fake_submit(struct fake *fake, const char *text);
void fake_notify(struct fake *fake, const char *text); /* a task has ended */
void fake_turn_shell(struct fake *fake, const char *command); /* "!..." */
void fake_interrupt(struct fake *fake);
void fake_turn_step(struct fake *fake); /* the next answer of the script */
void fake_turn_cancel(struct fake *fake); /* without hooks */
void fake_next(struct fake *fake); /* from the queue, if nothing is running */
void fake_prompts_free(struct fake *fake);

/* ---- fake-tool.c */

struct fake_task {
	TAILQ_ENTRY(fake_task) entry;
	struct fake *fake;
	char id[16], tool_use_id[40];
	char *command;
	struct child *child;
};
TAILQ_HEAD(fake_task_list, fake_task);

struct fake_tool {
	bool running; /* from PreToolUse on */
	bool ask, background;
	char id[40];
	char *command;
	struct child *child;
	struct loop_timer *notify;
	struct fake_fired *notice;
	int64_t began_ms;
	void (*then)(struct fake *fake); /* for a bare one */
	struct json_object *response;
	struct buf result;
	bool failed;
};

void fake_tool_run(struct fake *fake, const struct script_action *action);
/* A command typed by a person: no hooks, no dialog; then fn. */
void fake_tool_bare(
    struct fake *fake, const char *command, void (*then)(struct fake *fake));
void fake_tool_allow(struct fake *fake); /* the dialog's answer */
void fake_tool_cancel(struct fake *fake);
struct json_object *fake_tool_tasks(struct fake *fake);
void fake_tool_free_tasks(struct fake *fake);

/* ---- fake-mcp.c: the servers of --mcp-config. Each is started at once and in
 * the background; a server that has ended is not started again. At the end it
 * gets SIGINT, after a moment SIGTERM, then SIGKILL; its input is closed last.
 */

struct fake_server;
TAILQ_HEAD(fake_server_list, fake_server);

bool fake_mcp_start(struct fake *fake); /* false: the file is bad */
void fake_mcp_stop(struct fake *fake); /* waits for their end */

/* The server of a tool, and its name there. -ENOENT: there is no such tool;
 * -EAGAIN: its server is starting; -EPIPE: it has ended. */
int fake_mcp_find(struct fake *fake, const char *name,
    struct fake_server **ret_server, const char **ret_tool);
/* The id of the request; the answer comes to fake_use_answered(). */
int64_t fake_mcp_call(struct fake_server *server, const char *tool,
    const char *tool_use_id, struct json_object *input);
void fake_mcp_cancel(struct fake_server *server, int64_t id);

/* ---- fake-use.c: with hooks around each use, as for other tools. The answer
 * is in the transcript, on the screen, and for the script's {{KEY}}. */

struct fake_use;
TAILQ_HEAD(fake_use_list, fake_use);

void fake_use_run(struct fake *fake, const struct script_action *action);
void fake_use_cancel(struct fake *fake);
void fake_use_ready(struct fake *fake); /* a server is connected, or gone */
void fake_use_answered(struct fake *fake, const struct fake_server *server,
    int64_t id, struct json_object *result, int code, const char *message);

/* ---- fake-command.c */

/* Is it a command for the program, not for the model? */
bool fake_is_command(const char *text);
void fake_command(struct fake *fake, const char *text);
/* Fire the events of a compaction, then call fn. */
void fake_compact(
    struct fake *fake, const char *trigger, void (*then)(struct fake *fake));

/* ---- fake-claude.c */

struct fake {
	struct loop *loop;
	struct fake_options options;
	char *cwd;
	char session[ID_UUID_SIZE];
	char prompt_id[ID_UUID_SIZE]; /* "" = none yet */
	char *transcript; /* as reported to hooks */
	char *transcript_file; /* where it is written */
	char parent[ID_UUID_SIZE]; /* last line of the transcript, "" = none */
	char message[40]; /* id of the last assistant message */
	int64_t input_tokens, output_tokens, context_tokens;
	bool cleared; /* the transcript begins with /clear */
	char *unfinished; /* prompt of a turn that has not ended, NULL = none */
	char *status_path;
	const char *status;
	int64_t started_ms;
	struct fake_hook_list hooks;
	struct fake_term term;
	struct fake_turn turn;
	struct fake_tool tool;
	struct fake_task_list tasks;
	struct fake_server_list servers;
	struct fake_use_list uses;
	struct fake_prompt_list prompts;
	bool started; /* SessionStart was fired */
	bool busy; /* with a command, or starting */
	bool ending, hung, deaf;
	struct fake_fired *fired; /* of command, start and end */
	void (*then)(struct fake *fake); /* after a compaction */
	const char *trigger;
	size_t step; /* of a compaction */
	struct loop_timer *timer; /* start */
	struct loop_timer *idle;
	struct fake_fired *notice;
	struct loop_signal *signals[3];
	int status_code;
};

/* Fire SessionEnd, then exit with the status. */
void fake_end(struct fake *fake, const char *reason, int status);
/* Exit immediately, without hooks. */
void fake_quit(struct fake *fake, int status);

/* Notification events outside of turns: 60 s after Stop. */
void fake_idle_start(struct fake *fake);
void fake_idle_stop(struct fake *fake);

#endif
