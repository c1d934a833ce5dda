/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <sys/queue.h>
#include <sys/wait.h>

#include "fake-tmux.h"
#include "loop.h"

/* What the server would have. */
struct pane {
	TAILQ_ENTRY(pane) entry;
	char *name, *role, *worker;
	uint64_t generation;
	pid_t pid;
};
TAILQ_HEAD(panes, pane);
static struct panes panes = TAILQ_HEAD_INITIALIZER(panes);

struct command {
	TAILQ_ENTRY(command) entry;
	uint64_t pass; /* of the loop, in which it was given */
	struct pane *pane; /* to be started */
	char *killed; /* name of the session */
	tmux_done_fn *done;
	tmux_started_fn *started;
	tmux_text_fn *text;
	tmux_list_fn *list;
	void *arg;
};
TAILQ_HEAD(commands, command);

struct tmux {
	struct fake_tmux fake; /* first */
	struct loop *loop;
	struct loop_timer *timer;
	struct commands commands;
};

/* --- sessions -------------------------------------------------------- */

static struct pane *
find_pane(const char *name)
{
	struct pane *pane;

	TAILQ_FOREACH (pane, &panes, entry)
		if (strcmp(pane->name, name) == 0)
			return pane;
	return NULL;
}

static void
pane_free(struct pane *pane)
{
	if (pane == NULL)
		return;
	free(pane->name);
	free(pane->role);
	free(pane->worker);
	free(pane);
}

static struct pane *
pane_new(const struct tmux_session *session)
{
	struct pane *pane = xcalloc(1, sizeof *pane);

	pane->name = xstrdup(session->name);
	pane->role = xstrdup(session->role);
	pane->worker = xstrdup(session->worker != NULL ? session->worker : "");
	pane->generation = session->generation;
	return pane;
}

static void
pane_end(const struct tmux *tmux, const char *name)
{
	struct pane *pane = find_pane(name);

	if (pane == NULL)
		return;
	if (tmux->fake.spawn != NULL)
		kill(pane->pid, SIGHUP);
	TAILQ_REMOVE(&panes, pane, entry);
	pane_free(pane);
}

pid_t
fake_tmux_pane(const char *name)
{
	const struct pane *pane = find_pane(name);

	return pane != NULL ? pane->pid : 0;
}

void
fake_tmux_forget_sessions(void)
{
	struct pane *pane;

	while ((pane = TAILQ_FIRST(&panes)) != NULL) {
		TAILQ_REMOVE(&panes, pane, entry);
		pane_free(pane);
	}
}

static bool
has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) !=
	    0 ||
	    info.si_pid != 0;
}

static void
answer_list(const struct command *command, const struct err *err)
{
	struct tmux_info list[32];
	const struct pane *pane;
	size_t count = 0;

	TAILQ_FOREACH (pane, &panes, entry) {
		bool dead = has_ended(pane->pid);

		if (count == nitems(list))
			break;
		list[count++] = (struct tmux_info){ .name = pane->name,
			.role = pane->role,
			.worker = pane->worker,
			.generation = pane->generation,
			.pane_pid = dead ? 0 : pane->pid,
			.dead = dead };
	}
	command->list(err == NULL ? list : NULL, err == NULL ? count : 0, err,
	    command->arg);
}

/* --- answers --------------------------------------------------------- */

/* It is done, whether somebody waits for the answer or not. */
static pid_t
do_it(struct tmux *tmux, struct command *command)
{
	struct pane *pane = take_ptr(&command->pane);

	if (command->killed != NULL)
		pane_end(tmux, command->killed);
	if (pane == NULL)
		return 0;
	pane->pid =
	    tmux->fake.spawn != NULL ? tmux->fake.spawn() : tmux->fake.pid;
	TAILQ_INSERT_TAIL(&panes, pane, entry);
	return pane->pid;
}

static void
command_free(struct tmux *tmux, struct command *command)
{
	TAILQ_REMOVE(&tmux->commands, command, entry);
	pane_free(command->pane);
	free(command->killed);
	free(command);
}

static void
answer_one(struct tmux *tmux)
{
	struct command *first = TAILQ_FIRST(&tmux->commands), command;
	struct err err = tmux->fake.err;
	const struct err *told = err.code != 0 ? &err : NULL;
	pid_t pid = told == NULL ? do_it(tmux, first) : 0;

	command = *first;
	command_free(tmux, first);
	tmux->fake.err = (struct err){ 0 };
	if (command.done != NULL)
		command.done(told, command.arg);
	else if (command.started != NULL)
		command.started(pid, told, command.arg);
	else if (command.text != NULL)
		command.text(
		    told == NULL ? tmux->fake.screen : NULL, told, command.arg);
	else if (command.list != NULL)
		answer_list(&command, told);
}

static void
on_timer(void *arg)
{
	struct tmux *tmux = arg;
	const struct command *first = TAILQ_FIRST(&tmux->commands);

	if (tmux->fake.held || first == NULL)
		return;
	loop_timer_restart(tmux->timer, 1);
	/* As from a program: not in the pass of the request, however long that
	 * takes, so that a test that looks after each pass misses nothing.
	 * (Descriptors are served before a pass is counted.) */
	if (loop_passes(tmux->loop) > first->pass + 1)
		answer_one(tmux);
}

struct fake_tmux *
fake_tmux_new(struct loop *loop)
{
	struct tmux *tmux = xcalloc(1, sizeof *tmux);

	tmux->loop = loop;
	tmux->timer = loop_after(loop, 1, on_timer, tmux);
	TAILQ_INIT(&tmux->commands);
	buf_init(&tmux->fake.trace);
	buf_init(&tmux->fake.launcher);
	buf_init(&tmux->fake.role);
	tmux->fake.screen = "a screen\n";
	return &tmux->fake;
}

void
fake_tmux_free(struct fake_tmux *fake)
{
	struct tmux *tmux = (struct tmux *)fake;
	struct command *command;

	while ((command = TAILQ_FIRST(&tmux->commands)) != NULL)
		command_free(tmux, command);
	loop_timer_free(tmux->timer);
	buf_release(&fake->trace);
	buf_release(&fake->launcher);
	buf_release(&fake->role);
	free(tmux);
}

struct tmux *
fake_tmux_port(struct fake_tmux *fake)
{
	return (struct tmux *)fake;
}

void
fake_tmux_answer(struct fake_tmux *fake)
{
	struct tmux *tmux = (struct tmux *)fake;

	fake->held = false;
	loop_timer_restart(tmux->timer, 1);
}

size_t
fake_tmux_waiting(const struct fake_tmux *fake)
{
	const struct tmux *tmux = (const struct tmux *)fake;
	const struct command *command;
	size_t count = 0;

	TAILQ_FOREACH (command, &tmux->commands, entry)
		count++;
	return count;
}

static struct command *
command_add(struct tmux *tmux, const char *word, const char *more, void *arg)
{
	struct command *command = xcalloc(1, sizeof *command);
	struct buf *trace = &tmux->fake.trace;

	buf_addf(trace, "%s%s%s%s", trace->len > 0 ? " " : "", word,
	    more != NULL ? " " : "", more != NULL ? more : "");
	command->arg = arg;
	command->pass = loop_passes(tmux->loop);
	TAILQ_INSERT_TAIL(&tmux->commands, command, entry);
	loop_timer_restart(tmux->timer, 1);
	return command;
}

/* --- tmux.h ---------------------------------------------------------- */

int
tmux_new(struct loop *loop, const struct tmux_options *options,
    struct tmux **ret_tmux, struct err *err)
{
	(void)options;
	(void)err;
	*ret_tmux = fake_tmux_port(fake_tmux_new(loop));
	return 0;
}

char *
tmux_socket_path(const char *socket)
{
	return xasprintf("/nonexistent/tmux/%s", socket);
}

void
tmux_finish(struct tmux *tmux)
{
	(void)tmux;
}

void
tmux_free(struct tmux *tmux)
{
	if (tmux != NULL)
		fake_tmux_free(&tmux->fake);
}

void
tmux_start(struct tmux *tmux, const struct tmux_session *session,
    tmux_started_fn *fn, void *arg)
{
	struct command *command;

	tmux->fake.generation = session->generation;
	buf_clear(&tmux->fake.launcher);
	buf_adds(&tmux->fake.launcher, session->argv[2]);
	buf_clear(&tmux->fake.role);
	buf_adds(&tmux->fake.role, session->role);
	command = command_add(tmux, "start", NULL, arg);
	command->started = fn;
	command->pane = pane_new(session);
}

void
tmux_kill(struct tmux *tmux, const char *name, tmux_done_fn *fn, void *arg)
{
	struct command *command = command_add(tmux, "kill", NULL, arg);

	command->done = fn;
	command->killed = xstrdup(name);
}

void
tmux_list(struct tmux *tmux, tmux_list_fn *fn, void *arg)
{
	command_add(tmux, "list", NULL, arg)->list = fn;
}

void
tmux_paste(struct tmux *tmux, const char *name, const char *text, bool enter,
    tmux_done_fn *fn, void *arg)
{
	(void)name;
	(void)enter;
	command_add(tmux, "paste", text, arg)->done = fn;
}

void
tmux_keys(struct tmux *tmux, const char *name, const char *const *keys,
    tmux_done_fn *fn, void *arg)
{
	(void)name;
	command_add(tmux, "keys", keys[0], arg)->done = fn;
}

void
tmux_capture(struct tmux *tmux, const char *name, int history, tmux_text_fn *fn,
    void *arg)
{
	(void)name;
	(void)history;
	command_add(tmux, "capture", NULL, arg)->text = fn;
}

void
tmux_forget(struct tmux *tmux, const void *arg)
{
	struct command *command;

	TAILQ_FOREACH (command, &tmux->commands, entry)
		if (command->arg == arg) {
			command->done = NULL;
			command->started = NULL;
			command->text = NULL;
			command->list = NULL;
		}
}

char *
tmux_session_name(const char *worker)
{
	return xasprintf("llmc-%s", worker);
}
