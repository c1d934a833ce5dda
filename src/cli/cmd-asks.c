/* SPDX-License-Identifier: ISC */

/* llmc asks, llmc answer: what needs a person, and the one way to answer it. */
#include "base.h"

#include <pwd.h>

#include "ask.h"
#include "cli-private.h"
#include "message.h"
#include "people.h"
#include "view.h"

#define SEEN_MS 1000

/* --- asks --------------------------------------------------------------- */

enum {
	FLAG_ALL,
	FLAG_HERE
};

static const struct cli_flag asks_flags[] = {
	[FLAG_ALL] = { "all", NULL, "also what was answered, or is over" },
	[FLAG_HERE] = { "here", NULL, CLI_HERE_HELP },
	{ NULL, NULL, NULL },
};

static void
add_row(struct table *table, const struct ask *ask)
{
	cleanup_buf struct buf command = BUF_INIT, since = BUF_INIT;
	cleanup_buf struct buf line = BUF_INIT;
	const char *words = ask->words != NULL ? ask->words :
	    ask->title != NULL                 ? ask->title :
						 "-";

	ask_command(ask, &command);
	moment_add(&since, ask->created_ms);
	text_add_line(&line, words, strlen(words));
	for (size_t i = 0; ask->how == ASK_OPEN && i < strv_count(ask->options);
	     i++)
		buf_addf(&line, "%s %zu. %s", i > 0 ? "," : "", i + 1,
		    ask->options[i]);
	table_row(table,
	    (const char *[]){ ask->id, ask_kind_words[ask->kind], since.data,
		ask_subject(ask), line.data,
		ask->how == ASK_OPEN    ? command.data :
		    ask->answer != NULL ? ask->answer :
					  ask_end_words[ask->how] });
}

/* --- what the overseer told while there was no daemon --------------------- */

struct spooled {
	struct json_object *list;
	bool all;
	struct cli *cli;
};

static void
add_spooled(struct message *m, void *arg)
{
	const struct spooled *spooled = arg;
	cleanup_free char *key = xasprintf("message/%s", m->id);
	bool add = spooled->all || m->level >= ESCALATION_CRITICAL;
	struct ask *ask;

	/* The daemon may have filed it just now. */
	JSON_EACH (row, spooled->list)
		add = add && strcmp(json_string_or(row, "key", ""), key) != 0;
	if (add) {
		ask = ask_new(&(struct ask_draft){ .kind = ASK_TOLD,
				  .level = m->level,
				  .key = key,
				  .title = m->title,
				  .words = m->text,
				  .command = remote_start_command(spooled->cli),
				  .stays = true },
		    0, m->at_ms);
		xstrset(&ask->id, "-");
		json_object_array_add(
		    spooled->list, schema_json(&ask_schema, ask));
		ask_free(ask);
	}
	message_free(m);
}

/* Those of the other hosts of a fleet, of which less is known. */
static void
add_elsewhere(struct cli *cli)
{
	static const char *const sections[] = { "head", "asks", VIEW_HOSTS,
		NULL };
	cleanup_json struct json_object *view = NULL;

	if (!remote_alive(cli) || !view_source_ask(cli, sections, &view))
		return;
	JSON_MEMBERS (it, view_of(view, "asks")) {
		cleanup_json struct json_object *json =
		    json_object_new_object();
		struct ask *ask;

		if (strchr(it.key, ':') == NULL)
			continue;
		view_add_rows(json, it.val);
		json_set_string(json, "id", it.key);
		json_set_int(json, "nr", 0);
		json_set_int(json, "created_ms",
		    json_int_or(it.val, "at_unix", 0) * 1000);
		ask = schema_make(&ask_schema, json, "", NULL);
		if (ask != NULL)
			json_object_array_add(
			    cli->result, schema_json(&ask_schema, ask));
		ask_free(ask);
	}
}

void
asks_seen(struct cli *cli, struct json_object *ids)
{
	struct json_object *params = json_object_new_object(), *result = NULL;
	const char *code = NULL;
	struct err err = { 0 };

	json_set(params, "asks", ids);
	if (cli->json || !isatty(STDOUT_FILENO) || !remote_alive(cli))
		json_object_put(params);
	else
		remote_try(cli, "ask.seen", params, SEEN_MS, &result, &code,
		    &err); /* a daemon that is busy learns it the next time */
	json_object_put(result);
}

static int
asks_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *seen;
	bool all = args->flags[FLAG_ALL] != NULL;
	const struct table_column columns[] = { { .title = "ID" },
		{ .title = "KIND" }, { .title = "SINCE" }, { .title = "ABOUT" },
		{ .title = "WHAT", .flexible = true },
		{ .title = all ? "ANSWER" : "TYPE" } };
	struct table *table;
	struct state state;
	struct err err = { 0 };
	size_t count;
	int status;

	if (all) {
		if (remote_look(cli, "asks", json_object_new_object(),
			&cli->result, &err) < 0)
			return cli_fail_err(cli, "failed", &err);
	} else {
		status = roster_load(cli, &state);
		if (status != CLI_OK)
			return status;
		cli->result = json_object_new_array();
		for (size_t i = 0; i < state.ask_count; i++)
			json_object_array_add(cli->result,
			    schema_json(&ask_schema, state.asks[i]));
		state_release(&state);
	}
	if (!all && args->flags[FLAG_HERE] == NULL)
		add_elsewhere(cli);
	message_spool_read(cli->workspace.root, add_spooled,
	    &(struct spooled){ cli->result, all, cli });
	count = json_object_array_length(cli->result);
	if (count == 0) {
		buf_addf(&cli->text, "Nothing is asked of you%s.\n",
		    all ? "" : "; see what was with --all");
		return CLI_OK;
	}
	seen = json_object_new_array();
	table = table_new(columns, (int)nitems(columns));
	JSON_EACH (row, cli->result) {
		struct ask *ask = schema_make(&ask_schema, row, "", NULL);

		if (ask != NULL) {
			add_row(table, ask);
			if (strchr(ask->id, ':') == NULL)
				json_object_array_add(
				    seen, json_object_new_string(ask->id));
		}
		ask_free(ask);
	}
	asks_seen(cli, seen);
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
	return CLI_OK;
}

const struct cli_command cmd_asks = {
	.name = "asks",
	.group = CLI_ANSWER,
	.usage = "[--all] [--here]",
	.summary = "show what needs you, and how to answer it",
	.help =
	    "Questions of agents, tasks and workers that wait for you, work "
	    "for review, budgets,\nfailures: open until you answer them, or "
	    "until they are settled. They are\nkept whether or not a "
	    "channel could tell you of them.\n",
	.example = "asks --all",
	.flags = asks_flags,
	.guarded = true,
	.shape = &(const struct schema_field){ .type = SCHEMA_ROWS,
	    .of = &ask_schema },
	.run = asks_run,
};

/* --- answer ------------------------------------------------------------- */

enum {
	FLAG_YES,
	FLAG_NO
};

static const struct cli_flag answer_flags[] = {
	[FLAG_YES] = { "yes", NULL,
	    "go on, accept, try again; or: it is seen" },
	[FLAG_NO] = { "no", NULL, "do not: abort, send back, leave it" },
	{ NULL, NULL, NULL },
};

struct answering {
	struct cli *cli;
	struct state state;
	const struct ask *ask;
	bool yes, no;
	const char *text; /* NULL = none */
	bool is_text; /* the text is the answer, whatever it says */
	char *said; /* the answer for the agent; NULL = as it was typed */
};

/* What is noted as the answer. */
static const char *
words_of(const struct answering *a)
{
	return a->said != NULL ? a->said :
	    a->text != NULL    ? a->text :
	    a->no              ? "no" :
				 "yes";
}

static int
call(const struct answering *a, const char *method, struct json_object *params,
    const char *fmt, const char *who)
{
	cleanup_json struct json_object *result = NULL;
	const char *message;
	int status = remote_call(a->cli, method, params, 0, &result);

	if (status != CLI_OK)
		return status;
	message = json_string_or(result, "message", NULL);
	if (fmt == NULL && message != NULL)
		text_add_visible(&a->cli->text, message, strlen(message), true);
	else
		buf_addf(&a->cli->text, "%s%s", who, fmt != NULL ? fmt : "");
	buf_addc(&a->cli->text, '\n');
	return CLI_OK;
}

static int
resume(const struct answering *a, const char *who)
{
	return call(a, "auto.resume",
	    remote_params(
		"worker", who, "note", who != NULL ? a->text : NULL, NULL),
	    NULL, "");
}

static int
refuse(const struct answering *a, const char *why)
{
	cleanup_buf struct buf command = BUF_INIT;

	ask_command(a->ask, &command);
	return cli_fail(
	    a->cli, "failed", "%s: %s: %s", a->ask->id, why, command.data);
}

/* Also one that has ended: the daemon knows how. */
static int
answer_question(struct answering *a, const char *question)
{
	cleanup_json struct json_object *result = NULL;
	int status = remote_call(a->cli, "request.answer",
	    remote_params("id", question, "response", words_of(a), NULL), 0,
	    &result);

	if (status != CLI_OK)
		return status;
	xstrset(&a->said, json_string_or(result, "response", words_of(a)));
	buf_addf(&a->cli->text, "%s is answered: %s\n", question, a->said);
	return CLI_OK;
}

static int
answer_review(const struct answering *a, const struct worker *w)
{
	cleanup_free char *commit = NULL;
	struct json_object *params;
	int status;

	if (w->status != WORKER_NEEDS_REVIEW) {
		if (a->text == NULL)
			return refuse(a, "say what it should do");
		return call(a, "worker.message",
		    remote_params("worker", w->name, "text", a->text, NULL),
		    " is told.", w->name);
	}
	status = seen_commit(a->cli, w, NULL, true, &commit);
	if (status != CLI_OK)
		return status;
	params = seen_params(w, commit);
	if (a->yes)
		return call(
		    a, "worker.accept", params, ": its work lands.", w->name);
	json_set_string(
	    params, "text", a->text != NULL ? a->text : "Do it again.");
	return call(a, "worker.reject", params, " works on it again.", w->name);
}

/* A session that asked gets the answer; without one, the node is given out
 * again. */
static int
answer_node(const struct answering *a, const struct worker *w)
{
	struct json_object *result = NULL;
	const char *code = NULL;
	struct err err = { 0 };

	if (w != NULL && a->text != NULL &&
	    (a->ask->task == NULL || text_is(w->task, a->ask->task)) &&
	    remote_try(a->cli, "worker.message",
		remote_params("worker", w->name, "text", a->text, NULL), 0,
		&result, &code, &err)) {
		json_object_put(result);
		buf_addf(&a->cli->text, "Sent to %s.\n", w->name);
		return CLI_OK;
	}
	json_object_put(result);
	return call(a, "overseer.work.update",
	    remote_params("goal", a->ask->goal, "node", a->ask->node, "status",
		"queued", "reason", words_of(a), NULL),
	    " can be worked on again.", a->ask->node);
}

/* What the answer does; its kind and what it is about decide. */
static int
carry_out(struct answering *a)
{
	const struct ask *ask = a->ask;
	const struct task *t =
	    ask->task != NULL ? state_task(&a->state, ask->task) : NULL;
	const struct worker *w =
	    ask->worker != NULL ? state_find(&a->state, ask->worker) : NULL;

	if (ask->kind == ASK_TOLD)
		return CLI_OK;
	if (text_begins(ask->key, ASK_OF_AGENT))
		return answer_question(a, ask->question);
	if (text_begins(ask->key, "mail/"))
		return call(a, "mail.ack",
		    remote_params("id", ask->key + strlen("mail/"), NULL),
		    " is confirmed.", ask->key + strlen("mail/"));
	if (t != NULL && task_asks(t) && ask->kind == ASK_QUESTION) {
		struct answering resumed = *a;
		cleanup_free char *text =
		    xasprintf("You asked:\n\n%s\n\nThe answer is:\n\n%s",
			ask->words, words_of(a));

		resumed.text = text;
		return resume(&resumed, ask->task);
	}
	if (t != NULL && task_asks(t))
		return !a->no ?
		    resume(a, ask->task) :
		    call(a, "task.abort",
			remote_params("task", ask->task, "reason",
			    a->text != NULL ? a->text : "that was the answer",
			    NULL),
			" is aborted.", ask->task);
	if (ask->question != NULL) {
		cleanup_free char *first =
		    xstrndup(ask->question, strcspn(ask->question, " "));

		return answer_question(a, first);
	}
	if (ask->kind == ASK_FAILURE && ask->stays && ask->task != NULL) {
		if (a->no)
			return CLI_OK;
		if (a->text != NULL)
			return cli_fail(a->cli, "failed",
			    "%s has ended: change what it says with llmc task edit %s, "
			    "then: llmc answer %s --yes",
			    a->ask->task, a->ask->task, a->ask->id);
		return call(a, "task.retry",
		    remote_params("task", a->ask->task, NULL),
		    " is tried again.", a->ask->task);
	}
	if (text_begins(ask->key, ASKS_REVIEW)) {
		roster_add_held(&a->state);
		w = NULL;
		for (size_t i = 0; w == NULL && i < a->state.count; i++)
			if (text_is(a->state.workers[i]->task, ask->task))
				w = a->state.workers[i];
	}
	if (w != NULL && ask->kind == ASK_REVIEW)
		return answer_review(a, w);
	if (ask->node != NULL && ask->command == NULL && !a->no)
		return answer_node(a, w);
	if (w != NULL && !a->no)
		return resume(a, w->name);
	if (a->yes &&
	    (strcmp(ask->key, "paused") == 0 ||
		strcmp(ask->key, "alike") == 0 ||
		strcmp(ask->key, "trial") == 0 ||
		strcmp(ask->key, "push") == 0))
		return resume(a, NULL);
	return ask->stays ? CLI_OK :
			    refuse(a, "no answer helps here, but this does");
}

static int
note(const struct answering *a)
{
	const struct passwd *user = getpwuid(getuid());
	int status = remote_call(a->cli, "ask.end",
	    remote_params("ask", a->ask->id, "answer",
		a->ask->kind != ASK_TOLD || a->text != NULL ? words_of(a) :
							      NULL,
		"user", user != NULL ? user->pw_name : NULL, NULL),
	    0, &a->cli->result);

	if (status == CLI_OK)
		buf_addf(&a->cli->text, "%s is %s.\n", a->ask->id,
		    json_string_or(a->cli->result, "status", "answered"));
	return status;
}

/* A number is the option, and a word that is a decision is not an answer for an
 * agent. */
static int
take_choice(struct answering *a)
{
	struct err err = { 0 };
	enum ask_decision decision;

	if (a->text == NULL || (a->is_text && a->ask->kind != ASK_QUESTION))
		return CLI_OK;
	a->text = ask_choice(strv_const(a->ask->options), a->text, &err);
	if (a->text == NULL)
		return cli_fail_err(a->cli, "failed", &err);
	decision =
	    a->ask->kind != ASK_QUESTION ? ask_decision(a->text) : ASK_SAYS;
	if (decision == ASK_SAYS)
		return CLI_OK;
	a->yes = decision == ASK_SAYS_YES;
	a->no = decision == ASK_SAYS_NO;
	a->text = NULL;
	return CLI_OK;
}

/* It may have been open before. */
static int
fail_unknown(struct cli *cli, const char *name)
{
	cleanup_json struct json_object *list = NULL;
	struct err err = { 0 };

	if (remote_look(cli, "asks", json_object_new_object(), &list, &err) < 0)
		list = json_object_new_array();
	JSON_EACH (row, list) {
		const char *answer = json_string_or(row, "answer", NULL);

		if (strcmp(json_string_or(row, "id", ""), name) == 0)
			return cli_fail(cli, "unknown",
			    "%s is not open any more (%s%s%s)", name,
			    json_string_or(row, "how", "it has ended"),
			    answer != NULL ? ": " : "",
			    answer != NULL ? answer : "");
	}
	return cli_fail(cli, "unknown",
	    "nothing is asked about %s; see what is with: llmc asks", name);
}

/* Also a worker that this person has paused: that is no ask. */
static int
answer(struct answering *a, const char *name)
{
	struct cli *cli = a->cli;
	int status = roster_load(cli, &a->state);
	const struct worker *w;

	if (status != CLI_OK)
		return status;
	a->ask = state_ask_named(&a->state, name);
	w = state_find(&a->state, name);
	if (a->ask == NULL && text_begins(name, "R_"))
		status = answer_question(a, name);
	else if (a->ask == NULL && w != NULL && worker_is_held(w) && !a->no)
		status = resume(a, name);
	else if (a->ask == NULL)
		status = fail_unknown(cli, name);
	else {
		status = take_choice(a);
		if (status == CLI_OK)
			status = carry_out(a);
	}
	if (status == CLI_OK && a->ask != NULL)
		status = note(a);
	else if (status == CLI_OK)
		cli->result =
		    remote_params("ask", name, "status", "answered", NULL);
	free(a->said);
	state_release(&a->state);
	return status;
}

int
answer_with(struct cli *cli, const char *name, const char *text)
{
	return answer(
	    &(struct answering){ .cli = cli, .text = text, .is_text = true },
	    name);
}

bool
answer_open(
    struct cli *cli, const char *name, const char *text, int *ret_status)
{
	struct state state;
	bool open;

	*ret_status = roster_load(cli, &state);
	if (*ret_status != CLI_OK)
		return true;
	open = state_ask_named(&state, name) != NULL;
	state_release(&state);
	if (open)
		*ret_status = answer_with(cli, name, text);
	return open;
}

static int
answer_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct answering a = { .cli = cli,
		.yes = args->flags[FLAG_YES] != NULL,
		.no = args->flags[FLAG_NO] != NULL };

	for (int i = 1; i < args->count; i++)
		buf_addf(&text, "%s%s", i > 1 ? " " : "", args->list[i]);
	a.text = text.len > 0 ? text.data : NULL;
	if (a.yes && a.no)
		return cli_misuse(cli, &cmd_answer, "--yes or --no, not both");
	if (!a.yes && !a.no && a.text == NULL)
		return cli_misuse(
		    cli, &cmd_answer, "say what: TEXT, --yes or --no");
	return answer(&a, args->list[0]);
}

const struct cli_command cmd_answer = {
	.name = "answer",
	.group = CLI_ANSWER,
	.usage = "ASK [TEXT ...] [--yes | --no]",
	.summary = "answer what llmc asks of you",
	.help =
	    "ASK is an id that llmc asks shows (a12), or a task, a node, a worker or "
	    "a question.\nTEXT may be one of the options that llmc asks shows, or "
	    "its number. What the\nanswer does depends on what is asked:\n\n"
	    "question  the agent that asked gets TEXT\n"
	    "a task or worker that waits\n          it goes on, and is told "
	    "TEXT; with --no its task is aborted\n"
	    "a task that has failed\n          --yes tries it again, --no "
	    "leaves it\n"
	    "review    --yes accepts the work that llmc review has shown, TEXT "
	    "sends it back\n"
	    "mail      it is confirmed\n"
	    "told      it is marked as seen\n\n"
	    "HOST:ASK (borg:a12) is asked by another host of the fleet: ssh "
	    "runs this command\nthere.\n",
	.example = "answer a12 Use the second option",
	.flags = answer_flags,
	.min_args = 1,
	.max_args = 1000,
	.method = "ask.end",
	.guarded = true,
	.travels = true,
	.run = answer_run,
};
