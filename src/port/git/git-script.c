/* SPDX-License-Identifier: ISC */

/* git_run() and git_script(): turns whose commands are known beforehand. */

#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "git.h"
#include "mem.h"
#include "strv.h"

struct script_row {
	char **args, **env;
	char *input; /* NULL = none */
	size_t input_len;
	char *dir;
	int64_t deadline_ms;
	int allow;
};

struct script {
	struct git_turn *turn;
	struct script_row *rows;
	size_t count, at;
	git_fn *run_fn; /* one of the two */
	git_script_fn *script_fn;
	void *arg;
};

static void
script_free(void *arg)
{
	struct script *script = arg;

	for (size_t i = 0; i < script->count; i++) {
		strv_free(script->rows[i].args);
		strv_free(script->rows[i].env);
		free(script->rows[i].input);
		free(script->rows[i].dir);
	}
	free(script->rows);
	free(script);
}

static void
row_copy(struct script_row *row, const struct git_command *command, int allow)
{
	row->args = strv_copy(command->args);
	row->env = strv_copy(command->env);
	if (command->input != NULL) {
		row->input_len = command->input_len > 0 ?
		    command->input_len :
		    strlen(command->input);
		row->input = xmalloc(row->input_len + 1);
		memcpy(row->input, command->input, row->input_len);
		row->input[row->input_len] = '\0';
	}
	if (command->dir != NULL)
		row->dir = xstrdup(command->dir);
	row->deadline_ms = command->deadline_ms;
	row->allow = allow;
}

static void
script_end(struct script *script, int failed, const struct git_answer *answer)
{
	struct script copy = *script;

	git_turn_end(script->turn);
	script_free(script);
	if (copy.run_fn != NULL)
		copy.run_fn(answer, copy.arg);
	else
		copy.script_fn(failed, answer, copy.arg);
}

static void script_ask(struct script *script);

static void
script_answered(const struct git_answer *answer, void *arg)
{
	struct script *script = arg;
	const struct script_row *row = &script->rows[script->at];

	if (answer->status != 0 &&
	    (answer->status == -1 || answer->status != row->allow))
		script_end(script, (int)script->at, answer);
	else if (++script->at == script->count)
		script_end(script, -1, answer);
	else
		script_ask(script);
}

static void
script_ask(struct script *script)
{
	const struct script_row *row = &script->rows[script->at];
	struct git_command command = {
		.args = strv_const(row->args),
		.env = strv_const(row->env),
		.input = row->input,
		.input_len = row->input_len,
		.dir = row->dir,
		.deadline_ms = row->deadline_ms,
	};

	git_turn_run(script->turn, &command, script_answered, script);
}

static void
script_begin(struct git_turn *turn, void *arg)
{
	struct script *script = arg;

	script->turn = turn;
	script_ask(script);
}

static struct script *
script_new(size_t count, void *arg)
{
	struct script *script = xcalloc(1, sizeof *script);

	script->rows = xcalloc(count, sizeof *script->rows);
	script->count = count;
	script->arg = arg;
	return script;
}

void
git_run(struct git_queue *queue, const struct git_command *command, git_fn *fn,
    void *arg)
{
	struct script *script = script_new(1, arg);

	row_copy(&script->rows[0], command, 0);
	script->run_fn = fn;
	git_turn(queue, script_begin, script_free, script);
}

void
git_script(struct git_queue *queue, const struct git_step *steps, size_t count,
    git_script_fn *fn, void *arg)
{
	struct script *script = script_new(count, arg);

	for (size_t i = 0; i < count; i++) {
		struct git_command command = { .args = steps[i].args,
			.input = steps[i].input,
			.env = steps[i].env };

		row_copy(&script->rows[i], &command, steps[i].allow);
	}
	script->script_fn = fn;
	git_turn(queue, script_begin, script_free, script);
}
