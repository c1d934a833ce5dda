/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "account.h"
#include "agent-kind.h"
#include "api.h"
#include "git-facts.h"
#include "history.h"
#include "hook-event.h"
#include "identity.h"
#include "limit.h"
#include "loop.h"
#include "moment.h"
#include "overseer-private.h"
#include "place.h"
#include "prompt.h"
#include "rpc.h"
#include "schema.h"
#include "server.h"
#include "session-hook.h"
#include "session-limit.h"
#include "session.h"
#include "settings.h"
#include "tmux.h"
#include "transcript.h"
#include "workspace.h"

#define NAME         CALLER_REPAIR
#define SESSIONS_MAX 3 /* of one repair, when they die */
#define FAILURES_MAX 3 /* turns that fail */
#define AFTER_ESC_MS 3000
#define STOP_BLOCKS  20 /* more than we send back */
#define FINDING_MAX  300 /* bytes of it in the report */
#define NOTE_MAX     ((size_t)16 * 1024)

static const char go_on[] =
    "The interruption is over. Continue the repair where it stopped.";

static void launch(struct repair *r);

/* --- the end of the step --------------------------------------------- */

/* Each session has its own. */
static void
keep_transcript(struct repair *r)
{
	const char *path = r->agent.record.transcript;
	size_t count = strv_count(r->transcripts);

	if (path != NULL &&
	    (count == 0 || strcmp(r->transcripts[count - 1], path) != 0))
		strv_add(&r->transcripts, path);
}

void
repair_agent_rest(struct repair *r)
{
	struct repair_agent *a = &r->agent;

	a->working = false;
	loop_timer_free(take_ptr(&a->wait));
	keep_transcript(r);
}

static void
agent_failed(struct repair *r, enum repair_outcome outcome, const char *words)
{
	repair_agent_rest(r);
	repair_failed(r, outcome, words);
}

static void
agent_done(struct repair *r, const char *words)
{
	repair_agent_rest(r);
	xstrset(&r->words, words);
	if (operation_arrived(&r->op, NULL))
		operation_done(&r->op);
}

static void
on_interrupted(void *arg)
{
	struct repair *r = arg;

	loop_timer_free(take_ptr(&r->agent.wait));
	operation_arrived(&r->op, NULL);
}

/* At the deadline it may put its pen down. */
void
repair_agent_cancel(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct repair_agent *a = &r->agent;

	if (!a->working)
		return;
	repair_agent_rest(r);
	if (op->err.code != -ETIMEDOUT || a->session == NULL ||
	    session_phase(a->session) != SESSION_UP) {
		operation_arrived(op, NULL);
		return;
	}
	session_interrupt(a->session);
	a->wait =
	    loop_after(r->overseer->loop, AFTER_ESC_MS, on_interrupted, r);
}

/* --- a turn has ended ------------------------------------------------ */

static void
answer(struct server_call *call, const char *reason)
{
	if (call != NULL)
		server_reply(call, session_hook_stop_answer(reason));
}

static void
tell(struct repair *r, const char *text)
{
	struct repair_agent *a = &r->agent;
	cleanup_free char *receipt =
	    xasprintf("o%llu", (unsigned long long)++a->receipts);
	cleanup_buf struct buf clean = BUF_INIT;

	if (prompt_clean(text, strlen(text), &clean))
		session_prompt(a->session, clean.data, receipt, false);
}

/* A person is needed: write the file that says so. */
static void
repair_agent_write_manual(const struct repair *r, const char *words)
{
	struct err err = { 0 };

	if (file_replace(r->manual, words, strlen(words), 0600, &err) < 0)
		log_errorx("%s: %s", r->manual, err.msg);
}

/* The turn goes on, with these words. */
static void
send_back(struct repair *r, struct server_call *call, const char *words)
{
	if (call != NULL)
		answer(call, words);
	else
		tell(r, words);
}

/* True if the agent was asked to clean up first. */
static bool
asks_to_tidy(struct repair *r, struct server_call *call, int uncommitted)
{
	cleanup_free char *words = NULL;

	if (r->agent.asked_to_tidy)
		return false;
	r->agent.asked_to_tidy = true;
	words = xasprintf("%d file%s in %s changed and not committed. Commit "
			  "what belongs to the repair, restore the rest, and "
			  "leave git status as clean as it was.",
	    uncommitted, uncommitted == 1 ? " is" : "s are", r->cwd);
	send_back(r, call, words);
	return true;
}

/* Only in the user's checkout, where nothing may be discarded. */
static void
left_changes(struct repair *r, struct server_call *call, int uncommitted)
{
	cleanup_free char *words =
	    xasprintf("The repair agent left %d uncommitted change%s in %s.\n",
		uncommitted, uncommitted == 1 ? "" : "s", r->cwd);

	answer(call, NULL);
	repair_agent_write_manual(r, words);
	agent_failed(
	    r, REPAIR_GAVE_UP, "it left changes that are not committed");
}

/* What the agent wrote into a file of its folder; the caller frees. NULL = it
 * is empty, or not a file: links are not followed. */
static char *
read_note(const char *file)
{
	struct buf text = BUF_INIT;
	cleanup_fd int fd =
	    open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return NULL;
	file_read_fd(fd, NOTE_MAX, &text);
	while (text.len > 0 && strchr(" \t\n", text.data[text.len - 1]))
		buf_truncate(&text, text.len - 1);
	if (text.len > 0)
		return buf_take(&text);
	buf_release(&text);
	return NULL;
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct server_call *call = take_ptr(&r->agent.call);
	int uncommitted;

	r->agent.looking = false;
	if (!operation_arrived(&r->op, NULL)) {
		answer(call, NULL);
		return;
	}
	uncommitted =
	    err == NULL ? facts->changed + facts->untracked : r->uncommitted;
	if (uncommitted > r->uncommitted &&
	    asks_to_tidy(r, call, uncommitted - r->uncommitted))
		return;
	if (uncommitted > r->uncommitted && !r->in_worktree) {
		left_changes(r, call, uncommitted - r->uncommitted);
		return;
	}
	if (err == NULL) {
		memcpy(r->onto, facts->onto, sizeof r->onto);
		memcpy(r->tip, facts->head, sizeof r->tip);
	}
	if (err != NULL || strcmp(r->tip, r->head) == 0) {
		cleanup_free char *finding = read_note(r->finding),
				  *words = NULL;
		cleanup_buf struct buf line = BUF_INIT;
		size_t len;

		/* No commit: then what it found is the result. */
		if (finding == NULL && !r->agent.asked_to_tell) {
			r->agent.asked_to_tell = true;
			words =
			    xasprintf("You have committed nothing. If you have "
				      "repaired something outside of the "
				      "repository, or if nothing had to be "
				      "repaired, write what was wrong and what "
				      "you did to %s. If you cannot repair it, "
				      "write what a person must do to %s.",
				r->finding, r->request);
			send_back(r, call, words);
			return;
		}
		answer(call, NULL);
		if (finding == NULL) {
			agent_failed(r, REPAIR_NO_FIX,
			    "the agent changed nothing and wrote no finding");
			return;
		}
		len = strcspn(finding, "\n");
		text_add_visible(
		    &line, finding, text_cut(finding, len, FINDING_MAX), false);
		words = xasprintf("the agent found: %s", line.data);
		agent_done(r, words);
		return;
	}
	answer(call, NULL);
	if (r->in_worktree) {
		/* It has left commits in a worktree of its own. */
		repair_agent_rest(r);
		operation_on_over(&r->op);
	} else {
		agent_done(r, "the agent finished");
	}
}

/* It asks for a person: what it wrote is put where people look. */
static bool
asks_for_person(struct repair *r)
{
	cleanup_free char *request = read_note(r->request), *file = NULL;

	if (request != NULL) {
		repair_agent_write_manual(r, request);
		unlink(r->request);
	}
	file = history_manual_file(&r->overseer->workspace);
	return file != NULL;
}

static void
on_turn_ended(void *arg, struct server_call *call, const char *last_words)
{
	struct repair *r = arg;
	struct repair_agent *a = &r->agent;

	(void)last_words;
	if (!a->working || a->looking) {
		answer(call, NULL);
	} else if (asks_for_person(r)) {
		answer(call, NULL);
		agent_failed(r, REPAIR_GAVE_UP,
		    "the agent says that a person is needed");
	} else {
		a->looking = true;
		a->call = call;
		git_facts_read(r->overseer->git, r->cwd, repair_branch(r),
		    on_facts, operation_await(&r->op));
	}
}

static void
on_wait_over(void *arg)
{
	tell(arg, go_on);
}

/* It is over some time, and that time is not the repair's. */
static void
wait_for_limit(struct repair *r, const char *text)
{
	struct repair_agent *a = &r->agent;
	int64_t until = session_limit_look_ms(LIMIT_USAGE, text, a->limits++);
	int64_t wait = until - clock_wall_ms();
	cleanup_buf struct buf moment = BUF_INIT;

	if (wait < 1)
		wait = 1;
	moment_add(&moment, until);
	console_say(r->overseer, CONSOLE_YELLOW,
	    "The repair waits until %s for the usage limit: %s", moment.data,
	    text);
	operation_extend(&r->op, wait);
	a->wait = loop_after(r->overseer->loop, wait, on_wait_over, r);
}

/* Outages are waited for, as long as the repair may take at all. */
static void
on_turn_failed(void *arg, const char *error, const char *text)
{
	struct repair *r = arg;
	struct repair_agent *a = &r->agent;
	enum limit_class class = limit_classify(error, text);
	cleanup_free char *words =
	    xasprintf("the agent's turn failed: %s", text);

	if (!a->working)
		return;
	loop_timer_free(take_ptr(&a->wait));
	if (class == LIMIT_USAGE) {
		wait_for_limit(r, text);
		return;
	}
	if (class == LIMIT_AUTH || a->failures++ >= FAILURES_MAX) {
		agent_failed(r, REPAIR_FAILED, words);
		return;
	}
	a->wait = loop_after(r->overseer->loop,
	    limit_backoff_ms(LIMIT_OUTAGE, a->failures - 1), on_wait_over, r);
}

/* --- the session dies ------------------------------------------------ */

static void
on_gone(void *arg)
{
	struct repair *r = arg;

	if (!r->agent.working)
		return;
	console_say(r->overseer, CONSOLE_YELLOW,
	    "The repair session died; another one starts.");
	launch(r);
}

static void
died(struct repair *r, const char *reason)
{
	struct repair_agent *a = &r->agent;

	if (!a->working)
		return;
	log_info("repair: %s", reason);
	if (++a->deaths >= SESSIONS_MAX) {
		agent_failed(r, REPAIR_DIED, reason);
		return;
	}
	loop_timer_free(take_ptr(&a->wait));
	session_end(a->session, on_gone, r);
}

static void
on_exited(void *arg, bool early)
{
	(void)early;
	died(arg, "the repair session ended on its own");
}

static void
on_trouble(void *arg, enum session_trouble trouble, const struct err *err)
{
	static const char *const reasons[SESSION_TROUBLE_COUNT] = {
		[SESSION_ENDED_AT_ONCE] = "the repair agent exited at once",
		[SESSION_UNREPORTED] =
		    "the repair agent did not report the start of its session: "
		    "a dialog may be open (look with: llmc attach overseer)",
		[SESSION_UNDELIVERED] =
		    "the repair session does not accept its prompt",
	};

	died(arg, reasons[trouble] != NULL ? reasons[trouble] : err->msg);
}

/* --- what it costs ------------------------------------------------------ */

/* Its last lines are still to come. */
static void
on_left(void *arg, struct transcript *transcript)
{
	struct repair *r = arg;
	struct repair_agent *a = &r->agent;

	a->over = xreallocarray(a->over, a->over_count + 1, sizeof(char *));
	a->over[a->over_count++] = transcript;
}

static int64_t
cost_of(const struct repair *r, const struct transcript_parser *parser)
{
	const struct transcript_totals *totals =
	    transcript_parser_totals(parser);
	struct account *account = account_new("", 0, NAME);
	struct spent spent = { 0 };

	account_update(account, &totals->usage, &totals->report,
	    settings_prices(r->overseer->settings), &spent);
	schema_free(&account_schema, account);
	return spent.cost;
}

int64_t
repair_agent_cost(const struct repair *r)
{
	const struct repair_agent *a = &r->agent;
	const struct transcript_parser *running =
	    a->session != NULL ? session_transcript(a->session) : NULL;
	int64_t cost = running != NULL ? cost_of(r, running) : 0;

	for (size_t i = 0; i < a->over_count; i++)
		cost += cost_of(r, transcript_parser_of(a->over[i]));
	return cost;
}

/* --- the session begins ----------------------------------------------- */

/* Each is a new one, with a new conversation. */
static void
launch(struct repair *r)
{
	const struct settings *settings = r->overseer->settings;
	struct repair_agent *a = &r->agent;
	const struct workspace *ws = &r->overseer->workspace;
	cleanup_free char *projects = agent_transcripts(
	    agent_kind_of(settings, NAME, NULL), ws, NAME, r->boxed);
	cleanup_free char *logs = workspace_path(ws, "logs");
	cleanup_free char *evidence = workspace_path(ws, "evidence");
	cleanup_free char *config = workspace_path(ws, "config.toml");
	const char *const read[] = { logs, evidence, config, NULL };
	const char *const write[] = { r->folder, NULL };
	struct session_launch how = {
		.settings = settings,
		.cwd = r->desk,
		.index = PLACE_OVERSEER,
		.socket = a->socket,
		.projects = projects,
		.sandboxed = r->boxed,
		.read = read,
		.write = write,
		.stop_blocks_max = STOP_BLOCKS,
		.start_timeout_ms =
		    settings_duration(settings, "defaults.start_timeout"),
	};

	keep_transcript(r);
	session_record_release(&a->record);
	a->record = (struct session_record){
		.generation = (uint64_t)clock_wall_ms(),
	};
	tell(r, r->prompt.data);
	session_launch(a->session, &how);
}

/* Others ask overseer.json who belongs to it. */
static void
on_changed(void *arg)
{
	struct repair *r = arg;
	int64_t pane = json_int_or(r->agent.record.pane, "pid", 0);

	if (r->agent.pane != pane)
		overseer_register(r->overseer);
	r->agent.pane = pane;
}

/* A worker must not report for the repair session: that would end it. */
static int
check_caller(struct repair *r, struct server_call *call,
    const struct hook_event *event, bool life, struct err *err)
{
	struct caller caller = { .socket_of = NAME };
	struct identity_panes panes = { 0 };
	cleanup_free char *session = NULL;
	struct server_peer peer;

	server_call_peer(call, &peer);
	identity_add(&panes, NAME, r->agent.record.pane);
	identity_add_all(&panes, &r->overseer->workspace, &r->agent.files);
	caller.unknown = peer.gone ||
	    identity_find(ANCESTRY_PROC, &r->overseer->workspace, &panes,
		peer.pid, peer.pidfd, &session) < 0;
	identity_release(&panes);
	caller.session = session;
	return caller_check(
	    &caller, api_find("hook.event"), event->worker, life, err);
}

static void
on_call(struct server_call *call, const char *method,
    struct json_object *params, void *arg)
{
	struct repair *r = arg;
	struct hook_event event;
	struct err err = { 0 };

	if (strcmp(method, "hook.event") != 0)
		server_fail(call, RPC_METHOD_NOT_FOUND,
		    "only hook events are accepted here", NULL);
	else if (hook_event_read(params, &event, &err) < 0 ||
	    check_caller(r, call, &event, hook_event_is_life(params), &err) < 0)
		server_fail(call, API_REFUSED, err.msg, NULL);
	else if (!session_hook(r->agent.session, call, &event))
		server_reply(call, NULL);
}

/* What is to be repaired may be that nothing can be made in .llmc. */
static int
listen_to(struct repair *r, struct err *err)
{
	struct overseer *o = r->overseer;
	struct repair_agent *a = &r->agent;
	int e;

	a->socket = run_dir_socket(&o->workspace, NAME);
	e = run_dir_make(&o->workspace, NAME, NULL);
	if (e == 0)
		e = server_new(
		    o->loop, a->socket, on_call, r, &a->server, NULL);
	if (e < 0) {
		free(a->socket);
		a->socket = run_dir_socket_outside(&o->workspace, NAME);
		e = run_dir_make_outside(a->socket, err);
		if (e == 0)
			e = server_new(
			    o->loop, a->socket, on_call, r, &a->server, err);
	}
	if (e == 0)
		server_limit(a->server, SERVER_SESSION_MAX);
	return e;
}

void
repair_agent_work(struct operation *op)
{
	static const struct session_events events = {
		.changed = on_changed,
		.turn_ended = on_turn_ended,
		.turn_failed = on_turn_failed,
		.left = on_left,
		.exited = on_exited,
		.trouble = on_trouble,
	};
	struct repair *r = (struct repair *)op;
	struct overseer *o = r->overseer;
	struct repair_agent *a = &r->agent;
	struct err err = { 0 };

	a->host = (struct session_host){ .loop = o->loop,
		.tmux = o->tmux,
		.workspace = &o->workspace,
		.llmc = o->llmc };
	a->session = session_new(&a->host, NAME, NAME, &a->record, &events, r);
	a->working = true;
	operation_await(op);
	if (listen_to(r, &err) < 0)
		agent_failed(r, REPAIR_FAILED, err.msg);
	else
		launch(r);
}

/* --- the session ends ------------------------------------------------- */

static void
on_swept(const struct err *err, void *arg)
{
	(void)err;
	(void)arg;
}

void
repair_agent_sweep(struct overseer *o)
{
	cleanup_free char *name = tmux_session_name(NAME);

	tmux_kill(o->tmux, name, on_swept, NULL);
}

void
repair_agent_end(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	if (r->agent.session == NULL)
		operation_next(op);
	else
		session_end(
		    r->agent.session, operation_on_over, operation_await(op));
}

void
repair_agent_kill(struct repair *r)
{
	if (r->agent.session != NULL)
		session_kill(r->agent.session);
}

void
repair_agent_release(struct repair *r)
{
	struct repair_agent *a = &r->agent;

	answer(take_ptr(&a->call), NULL);
	session_free(a->session);
	for (size_t i = 0; i < a->over_count; i++)
		transcript_free(a->over[i]);
	free(a->over);
	server_free(a->server);
	if (a->socket != NULL)
		run_dir_remove(&r->overseer->workspace, NAME);
	identity_files_release(&a->files);
	session_record_release(&a->record);
	loop_timer_free(a->wait);
	free(a->socket);
}
