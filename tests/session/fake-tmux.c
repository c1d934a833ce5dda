/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "fake-tmux.h"
#include "loop.h"
#include "mem.h"

struct command {
	TAILQ_ENTRY(command) entry;
	tmux_done_fn *done;
	tmux_started_fn *started;
	tmux_text_fn *text;
	void *arg;
};
TAILQ_HEAD(commands, command);

struct tmux {
	struct fake_tmux fake; /* first */
	struct loop *loop;
	struct loop_timer *timer;
	struct commands commands;
};

static void
answer_one(struct tmux *tmux)
{
	struct command *first = TAILQ_FIRST(&tmux->commands), command = *first;
	struct err err = tmux->fake.err;
	const struct err *told = err.code != 0 ? &err : NULL;

	TAILQ_REMOVE(&tmux->commands, first, entry);
	free(first);
	tmux->fake.err = (struct err){ 0 };
	if (command.done != NULL)
		command.done(told, command.arg);
	else if (command.started != NULL)
		command.started(
		    told == NULL ? tmux->fake.pid : 0, told, command.arg);
	else if (command.text != NULL)
		command.text(
		    told == NULL ? tmux->fake.screen : NULL, told, command.arg);
}

static void
on_timer(void *arg)
{
	struct tmux *tmux = arg;

	if (tmux->fake.held || TAILQ_EMPTY(&tmux->commands))
		return;
	loop_timer_restart(tmux->timer, 1);
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

	while ((command = TAILQ_FIRST(&tmux->commands)) != NULL) {
		TAILQ_REMOVE(&tmux->commands, command, entry);
		free(command);
	}
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
	TAILQ_INSERT_TAIL(&tmux->commands, command, entry);
	loop_timer_restart(tmux->timer, 1);
	return command;
}

/* --- tmux.h ---------------------------------------------------------- */

void
tmux_start(struct tmux *tmux, const struct tmux_session *session,
    tmux_started_fn *fn, void *arg)
{
	tmux->fake.generation = session->generation;
	buf_clear(&tmux->fake.launcher);
	buf_adds(&tmux->fake.launcher, session->argv[2]);
	buf_clear(&tmux->fake.role);
	buf_adds(&tmux->fake.role, session->role);
	command_add(tmux, "start", NULL, arg)->started = fn;
}

void
tmux_kill(struct tmux *tmux, const char *name, tmux_done_fn *fn, void *arg)
{
	(void)name;
	command_add(tmux, "kill", NULL, arg)->done = fn;
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
		}
}

char *
tmux_session_name(const char *worker)
{
	return xasprintf("llmc-%s", worker);
}
