/* SPDX-License-Identifier: ISC */

#include "filed.h"
#include "json-schema.h"
#include "shown.h"
#include "task.h"
#include "worker.h"

const char *shown_root;

void
shown_setup(void)
{
	shown_root = e2e_workspace("auto");
}

struct e2e_run *
shown_must(const char *command, const char *first, const char *second)
{
	struct e2e_run *run =
	    e2e_llmc(shown_root, command, first, second, NULL);

	e2e_expect(run, 0, NULL);
	return run;
}

/* The JSON output of a command, which must match its schema. */
struct json_object *
shown_json(const char *command, const char *first, const char *second)
{
	struct json_object *value = e2e_json(
	    e2e_llmc(shown_root, "--json", command, first, second, NULL), 0);
	struct json_object *schema = e2e_json(
	    e2e_llmc(shown_root, "doctor", "schema", command, NULL), 0);
	cleanup_buf struct buf why = BUF_INIT;

	ck_assert_msg(schema_matches(schema, value, "", &why), "%s: %s",
	    command, why.data);
	return value;
}

void
shown_fails(const char *words, const char *command, const char *first,
    const char *second)
{
	e2e_expect(
	    e2e_llmc(shown_root, command, first, second, NULL), 1, words);
}

void
shown_set(const char *key, const char *value)
{
	e2e_expect(
	    e2e_llmc(shown_root, "config", "set", key, value, NULL), 0, NULL);
}

const char *
shown_member(struct json_object *value, const char *key)
{
	return json_string_or(value, key, "(none)");
}

const char *
shown_file(const char *name)
{
	return e2e_path("%s/.llmc/%s", shown_root, name);
}

int64_t
shown_now(void)
{
	return clock_wall_ms() / 1000;
}

/* --- files as the daemon writes them --------------------------------- */

void
shown_save(struct state *state)
{
	struct json_object *json = state_to_json(state);

	e2e_put_state(shown_root, json);
	json_object_put(json);
	state_release(state);
}

void
shown_append_ended(const struct task *task)
{
	struct json_object *json = task_to_json(task);

	filed_put_tasks(shown_root, json_object_to_json_string(json));
	json_object_put(json);
}

/* A task that ended an hour ago. */
struct task *
shown_ended(const char *id, const char *key, enum task_outcome outcome,
    const char *reason)
{
	int64_t at = clock_wall_ms() - 3600 * 1000;
	cleanup_free char *text = xasprintf("Title of %s\n\nand more", id);
	struct task *task = task_new(id, "folder", key, NULL, text, at);

	task_take(task, at);
	task_assign(task, "auto-1", at);
	task_settle(task, outcome, reason, at);
	return task;
}

void
shown_append_new(const char *id, const char *key, enum task_outcome outcome,
    const char *reason)
{
	struct task *task = shown_ended(id, key, outcome, reason);

	shown_append_ended(task);
	task_free(task);
}

/* auto-1 works on t3, and t4 waits. */
void
shown_fill_state(struct state *state)
{
	int64_t now = clock_wall_ms();
	struct worker *worker = worker_new("auto-1", now);
	struct task *task;

	state_init(state);
	state->auto_mode = true;
	state_auto_set_workers(state, 1);
	worker->status = WORKER_WORKING;
	xstrset(&worker->prompt, "the whole text");
	xstrset(&worker->task, "t3");
	state_add(state, worker);
	task = task_new("t3", "folder", "faster.md", NULL,
	    "# Make it faster\n\nby far", now - 60000);
	task_take(task, now - 60000);
	task_assign(task, "auto-1", now - 60000);
	state_add_task(state, task);
	task = task_new("t4", "folder", "later.md", NULL, "Later", now);
	task_take(task, now);
	state_add_task(state, task);
}

/* Old enough that nobody can still be writing it. */
void
shown_put_task(const char *folder, const char *name, const char *text)
{
	const char *dir = e2e_path("%s/.llmc/tasks/%s", shown_root, folder);

	e2e_sh(shown_root, e2e_path("mkdir -p '%s'", dir));
	e2e_write(e2e_path("%s/%s", dir, name), text);
	e2e_sh(
	    shown_root, e2e_path("touch -d '1 hour ago' '%s/%s'", dir, name));
}
