/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "account.h"
#include "auto.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "jsonl.h"
#include "log.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "refile.h"
#include "task-json.h"
#include "task.h"
#include "workspace.h"

#define LOOK    500 /* records; an older task keeps its estimate */
#define KEY_LEN 16

static bool
is_due(const struct state *state, const struct account *account)
{
	struct spent change = spent_beyond(&account->spent, &account->filed);

	return account->task != NULL && spent_is_change(&change) &&
	    state_task(state, account->task) == NULL;
}

struct search {
	const char *id;
	struct json_object *found;
};

static bool
on_record(struct json_object *record, void *arg)
{
	struct search *search = arg;

	if (strcmp(json_string_or(record, "id", ""), search->id) == 0) {
		json_object_put(search->found);
		search->found = json_object_get(record);
	}
	return true;
}

/* The newest record of a task, NULL = none. */
static struct task *
filed_task(const struct auto_mode *mode, const char *id)
{
	cleanup_free char *file =
	    workspace_path(mode->core->workspace, "tasks.jsonl");
	struct search search = { .id = id };
	struct task *task = NULL;

	jsonl_last(file, LOOK, on_record, &search, NULL);
	if (search.found != NULL)
		task_from_json(search.found, "", &task, NULL);
	json_object_put(search.found);
	return task;
}

/* The record says how much of this conversation it has: if the state was not
 * saved after the record was written, it is not added twice. */
static void
correct(struct task *task, const struct account *account)
{
	struct json_object *known = NULL, *now = json_object_new_object();
	struct spent filed = account->filed, change;
	char key[KEY_LEN + 1];

	id_hash(account->transcript, key, KEY_LEN);
	if (task->corrections == NULL)
		task->corrections = json_object_new_object();
	if (json_object_object_get_ex(task->corrections, key, &known)) {
		filed = (struct spent){ 0 };
		spent_from_json(known, key, &filed, NULL);
	}
	change = spent_beyond(&account->spent, &filed);
	task->tokens += usage_budget_tokens(&change.usage);
	spent_add(&task->spent, &change);
	spent_to_json(&account->spent, now);
	json_set(task->corrections, key, now);
}

static void
refile(struct auto_mode *mode, struct account *account)
{
	struct task *task = filed_task(mode, account->task);
	struct err err = { 0 };

	if (task != NULL) {
		correct(task, account);
		if (outcome_file(mode, task, &err) < 0) {
			/* The next patrol tries again. */
			log_debug("%s: %s", task->id, err.msg);
			task_free(task);
			return;
		}
		task_free(task);
	}
	account->filed = account->spent;
	persist_changed(mode->core);
}

static void
on_saved(void *arg)
{
	struct auto_mode *mode = arg;
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->account_count; i++)
		if (is_due(state, state->accounts[i]))
			refile(mode, state->accounts[i]);
}

void
refile_later(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->account_count; i++)
		if (is_due(state, state->accounts[i])) {
			persist_then(mode->core, mode, on_saved, mode);
			return;
		}
}
