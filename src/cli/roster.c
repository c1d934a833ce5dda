/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "cli-private.h"
#include "lock.h"
#include "procref.h"
#include "root-mark.h"

#define EXCERPT_WIDTH    50
#define REGISTRATION_MAX (64 * 1024)

int
roster_read(struct cli *cli, struct state *ret_state, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = remote_look(cli, "state", NULL, &json, err);

	if (r < 0)
		return r;
	if (json_object_object_length(json) > 0)
		return state_from_json(json, clock_wall_ms(), ret_state, err);
	state_init(ret_state);
	root_id_read(&cli->workspace, ret_state->root_id, NULL);
	return 0;
}

int
roster_load(struct cli *cli, struct state *ret_state)
{
	struct err err = { 0 };

	if (roster_read(cli, ret_state, &err) < 0)
		return cli_fail_err(cli, "bad_state", &err);
	return CLI_OK;
}

bool
roster_is_alive(struct json_object *registration)
{
	struct procref ref = PROCREF_INIT;
	bool alive = procref_from_json(&ref, registration, NULL) == 0 &&
	    (procref_alive(&ref) || getenv("LLMC_KEEPER") != NULL);

	procref_release(&ref);
	return alive;
}

struct json_object *
roster_daemon(struct cli *cli)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "daemon.json");
	cleanup_free char *lock = workspace_path(&cli->workspace, "state.lock");
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, REGISTRATION_MAX, &json, NULL) < 0 ||
	    lock_is_held(lock) != 1 || !roster_is_alive(json))
		return NULL;
	return take_ptr(&json);
}

int
roster_find(struct cli *cli, const struct state *state, const char *name,
    const struct worker **ret_worker)
{
	const struct worker *found = state_find(state, name);
	cleanup_buf struct buf names = BUF_INIT;

	if (found != NULL) {
		*ret_worker = found;
		return CLI_OK;
	}
	for (size_t i = 0; i < state->count; i++)
		buf_addf(&names, " %s", state->workers[i]->name);
	if (state->count == 0)
		return cli_fail(cli, "no_such_worker",
		    "there is no worker %s, and there are no others; add one "
		    "with: llmc add NAME",
		    name);
	return cli_fail(cli, "no_such_worker",
	    "there is no worker %s; the workers are:%s", name, names.data);
}

int
roster_with(struct cli *cli, const char *name,
    int (*fn)(struct cli *cli, const struct worker *worker,
	const struct cli_args *args),
    const struct cli_args *args)
{
	const struct worker *worker = NULL;
	struct state state = { 0 };
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	if (name != NULL)
		status = roster_find(cli, &state, name, &worker);
	else if (state.last_reviewed == NULL ||
	    (worker = state_find(&state, state.last_reviewed)) == NULL)
		status = cli_fail(cli, "not_reviewed",
		    "no work has been reviewed yet; name a worker, or first "
		    "run: llmc review");
	else if (worker->reviewed == NULL)
		status = cli_fail(cli, "not_reviewed",
		    "%s was reviewed last, and you have not seen the work that "
		    "it has now; name a worker, or first run: llmc review %s",
		    worker->name, worker->name);
	if (status == CLI_OK)
		status = fn(cli, worker, args);
	state_release(&state);
	return status;
}

void
roster_excerpt(const char *prompt, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;
	size_t cut;

	if (prompt != NULL)
		text_add_line(&line, prompt, strlen(prompt));
	cut = text_width_cut(line.data, line.len, EXCERPT_WIDTH);
	if (cut < line.len) {
		size_t word = cut;

		while (word > 0 && line.data[word] != ' ')
			word--;
		if (word > cut / 2)
			cut = word;
		buf_truncate(&line, cut);
		buf_adds(&line, "...");
	}
	text_add_visible(out, line.data, line.len, false);
}

const char *
roster_salvage(const char *ref)
{
	size_t len = strlen(ROSTER_SALVAGE);

	return strncmp(ref, ROSTER_SALVAGE, len) == 0 ? ref + len : ref;
}
