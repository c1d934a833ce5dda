/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "cli-private.h"
#include "loop.h"
#include "orphans.h"
#include "session-console.h"
#include "session-sweep.h"
#include "sibling.h"
#include "tmux.h"

/* One question to tmux. */
struct question {
	struct loop *loop;
	struct tmux *tmux;
	struct err err;
	struct buf *text; /* sessions_capture */
	struct sessions *sessions; /* sessions_load */
	int ended; /* sessions_sweep */
};

int
sessions_refuse_inside(struct cli *cli, const char *what, const char *command)
{
	cleanup_free char *own = orphans_mark(&cli->workspace, "");
	const char *mark = getenv("LLMC_KEEPER");

	if (mark == NULL || !text_begins(mark, own))
		return CLI_OK;
	return cli_fail(cli, "refused",
	    "%s would end with this console, %s, and the work of all workers "
	    "with it; type in a terminal outside of it: %s",
	    what, mark + strlen(own), command);
}

static struct tmux_options
tmux_options_of(const struct settings *settings, const char *config)
{
	return (struct tmux_options){
		.command = settings_string(settings, "tmux.command"),
		.socket = settings_string(settings, "tmux.socket"),
		.config = config,
	};
}

static int
question_begin(
    struct cli *cli, const struct settings *settings, struct question *q)
{
	cleanup_free char *config =
	    workspace_path(&cli->workspace, "tmux.conf");
	struct tmux_options options = tmux_options_of(settings, config);
	int r;

	q->loop = loop_new();
	r = tmux_new(q->loop, &options, &q->tmux, &q->err);
	if (r < 0)
		loop_free(q->loop);
	return r;
}

static void
question_release(struct question *q)
{
	tmux_free(q->tmux);
	loop_free(q->loop);
}

/* Wait for the answer. */
static int
question_end(struct question *q)
{
	loop_run(q->loop);
	question_release(q);
	return q->err.code;
}

static int
report(struct cli *cli, const struct question *q)
{
	return q->err.code == 0 ? CLI_OK : cli_fail_err(cli, "tmux", &q->err);
}

static void
answered(struct question *q, const struct err *err)
{
	if (err != NULL)
		q->err = *err;
	loop_stop(q->loop, 0);
}

static void
on_done(const struct err *err, void *arg)
{
	answered(arg, err);
}

static void
on_started(pid_t pid, const struct err *err, void *arg)
{
	(void)pid;
	answered(arg, err);
}

static void
on_text(const char *text, const struct err *err, void *arg)
{
	struct question *q = arg;

	if (err == NULL)
		buf_adds(q->text, text);
	answered(q, err);
}

static void
on_list(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct question *q = arg;
	struct sessions *s = q->sessions;

	s->list = xcalloc(count + 1, sizeof *s->list);
	for (size_t i = 0; err == NULL && i < count; i++)
		s->list[s->count++] = (struct sessions_entry){
			.name = xstrdup(list[i].name),
			.role = xstrdup(list[i].role),
			.worker = xstrdup(list[i].worker),
			.dead = list[i].dead,
		};
	answered(q, err);
}

int
sessions_try(struct cli *cli, const struct settings *settings,
    struct sessions *ret_sessions, struct err *err)
{
	struct question q = { .sessions = ret_sessions };
	int r;

	*ret_sessions = (struct sessions){ 0 };
	r = question_begin(cli, settings, &q);
	if (r == 0) {
		tmux_list(q.tmux, on_list, &q);
		r = question_end(&q);
	}
	if (r < 0) {
		sessions_release(ret_sessions);
		*err = q.err;
	}
	return r;
}

int
sessions_load(struct cli *cli, const struct settings *settings,
    struct sessions *ret_sessions)
{
	struct err err = { 0 };

	if (sessions_try(cli, settings, ret_sessions, &err) < 0)
		return cli_fail_err(cli, "tmux", &err);
	return CLI_OK;
}

void
sessions_release(struct sessions *sessions)
{
	for (size_t i = 0; i < sessions->count; i++) {
		free(sessions->list[i].name);
		free(sessions->list[i].role);
		free(sessions->list[i].worker);
	}
	free(sessions->list);
	*sessions = (struct sessions){ 0 };
}

const struct sessions_entry *
sessions_find(const struct sessions *sessions, const char *target)
{
	cleanup_free char *full = tmux_session_name(target);

	for (size_t i = 0; i < sessions->count; i++)
		if (strcmp(sessions->list[i].name, full) == 0 ||
		    strcmp(sessions->list[i].name, target) == 0)
			return &sessions->list[i];
	return NULL;
}

int
sessions_capture(struct cli *cli, const struct settings *settings,
    const char *name, int history, struct buf *out)
{
	struct question q = { .text = out };

	if (question_begin(cli, settings, &q) == 0) {
		tmux_capture(q.tmux, name, history, on_text, &q);
		question_end(&q);
	}
	return report(cli, &q);
}

int
sessions_start_console(
    struct cli *cli, const struct settings *settings, const char *name)
{
	cleanup_free char *llmc = sibling_find("llmc");
	struct session_console console = { .name = name,
		.workspace = &cli->workspace,
		.settings = settings,
		.llmc = llmc };
	struct question q = { 0 };

	if (llmc == NULL)
		return cli_fail(cli, "not_installed",
		    "cannot find the program llmc; install it with: make "
		    "install");
	if (question_begin(cli, settings, &q) < 0)
		return report(cli, &q);
	if (session_console_start(q.tmux, &console, on_started, &q, &q.err) <
	    0) {
		question_release(&q);
		return cli_fail_err(cli, "io", &q.err);
	}
	question_end(&q);
	return report(cli, &q);
}

int
sessions_kill(
    struct cli *cli, const struct settings *settings, const char *name)
{
	struct question q = { 0 };

	if (question_begin(cli, settings, &q) == 0) {
		tmux_kill(q.tmux, name, on_done, &q);
		question_end(&q);
	}
	return report(cli, &q);
}

static void
on_swept(int ended, void *arg)
{
	struct question *q = arg;

	q->ended = ended;
	loop_stop(q->loop, 0);
}

int
sessions_sweep(struct cli *cli, const struct settings *settings, int *ret_ended)
{
	struct question q = { 0 };

	if (question_begin(cli, settings, &q) == 0) {
		session_sweep_new(
		    q.loop, q.tmux, &cli->workspace, on_swept, &q);
		question_end(&q);
		*ret_ended = q.ended;
	}
	return report(cli, &q);
}

void
sessions_attach_words(
    const struct settings *settings, const char *name, struct buf *out)
{
	struct tmux_options options = tmux_options_of(settings, NULL);
	cleanup_free char *target = NULL;
	const char *argv[8];

	tmux_attach_words(&options, name, false, argv, &target);
	for (size_t i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_addc(out, ' ');
		text_add_shell(out, argv[i]);
	}
}

/* Is $TMUX a client of our own server? Compares the sockets themselves. */
static bool
is_our_server(const char *tmux, const char *socket)
{
	cleanup_free char *theirs = xstrndup(tmux, strcspn(tmux, ","));
	cleanup_free char *ours = tmux_socket_path(socket);
	struct stat a, b;

	return stat(theirs, &a) == 0 && stat(ours, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Inside another tmux: a client in a client works, but the keys go to the outer
 * one first, so a person must want it. */
static int
nest(struct cli *cli, bool nested, const char *words)
{
	int status;

	if (!nested && !terminal_here())
		return cli_fail(cli, "nested",
		    "you are inside another tmux; add --nested to attach "
		    "inside of it, or type in another terminal: %s",
		    words);
	status = ask_confirm(cli, nested,
	    "You are inside another tmux. Attach inside of it? Its keys come "
	    "first: type its\nprefix twice for the inner one, by default "
	    "Ctrl-b Ctrl-b d to detach.");
	if (status == CLI_OK)
		unsetenv("TMUX");
	return status;
}

int
sessions_attach(struct cli *cli, const struct settings *settings,
    const char *name, bool nested)
{
	struct tmux_options options = tmux_options_of(settings, NULL);
	const char *tmux = getenv("TMUX");
	bool inside = tmux != NULL && tmux[0] != '\0';
	int status;
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_free char *target = NULL;
	const char *argv[8];
	struct err err = { 0 };

	if (cli->json)
		return CLI_OK;
	sessions_attach_words(settings, name, &words);
	if (inside && !is_our_server(tmux, options.socket)) {
		status = nest(cli, nested, words.data);
		if (status != CLI_OK)
			return status;
		inside = false;
	}
	if (!inside && !(terminal_here() && isatty(STDOUT_FILENO)))
		return cli_fail(cli, "no_terminal",
		    "there is no terminal here; in a terminal, type: %s",
		    words.data);
	tmux_attach_words(&options, name, inside, argv, &target);
	terminal_become(argv, &err);
	return cli_fail_err(cli, "tmux", &err);
}
