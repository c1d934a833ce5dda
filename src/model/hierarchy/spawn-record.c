/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-text.h"
#include "spawn-record.h"
#include "spawn-rules.h"
#include "task-run.h"
#include "tool-scope.h"

static char **
list_of(struct json_object *entry, const char *key)
{
	struct json_object *list = NULL;

	json_object_object_get_ex(entry, key, &list);
	return strv_from_json(list);
}

struct json_object *
spawn_denied_agents(
    const struct spawn_decision *d, struct json_object *requested)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < d->count; i++) {
		struct json_object *one;

		if (d->agents[i].reason == NULL)
			continue;
		one = json_object_new_object();
		json_set_string(one, "role",
		    json_string_or(
			json_object_array_get_idx(requested, i), "role", ""));
		json_set_string(one, "reason", d->agents[i].reason);
		json_set_string(one, "message", d->agents[i].message);
		json_object_array_add(list, one);
	}
	return list;
}

/* NULL for "", so that it is not set. */
static void
set(char **to, struct json_object *entry, const char *key)
{
	const char *text = json_string_or(entry, key, "");

	xstrset(to, *text == '\0' ? NULL : text);
}

/* What the request and the card say, and what the caller does not have either.
 * All of it is kept: a card that is removed later gives nothing back. */
static void
set_tools(struct task_run *run, const struct spawn_facts *facts,
    struct json_object *entry)
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	const struct tool_scope *own = facts->tools;

	run->tools_deny = list_of(entry, "toolsDeny");
	run->tools_scoped =
	    json_object_object_get_ex(entry, "toolsAllow", NULL);
	if (run->tools_scoped)
		run->tools_allow = list_of(entry, "toolsAllow");
	if (spawn_scope(facts, entry, &scope, NULL) < 0)
		return;
	for (char **t = own != NULL ? own->deny : NULL; t != NULL && *t != NULL;
	     t++)
		if (!plan_has(run->tools_deny, *t))
			strv_add(&run->tools_deny, *t);
	if (run->tools_scoped || (scope.all && (own == NULL || own->all)))
		return;
	run->tools_scoped = true;
	for (char **t = scope.all ? own->allow : scope.allow;
	     t != NULL && *t != NULL; t++)
		if (own == NULL || tool_scope_permits(own, *t))
			strv_add(&run->tools_allow, *t);
}

/* Has it a tool for changing files? What a shell can do is not asked. */
static bool
can_edit(const struct task_run *run)
{
	static const char *const tools[] = { "Edit", "Write", "MultiEdit",
		"NotebookEdit" };

	for (size_t i = 0; i < nitems(tools); i++)
		if ((!run->tools_scoped ||
			plan_has(run->tools_allow, tools[i])) &&
		    !plan_has(run->tools_deny, tools[i]))
			return true;
	return false;
}

struct task_run *
spawn_run(const struct spawn_facts *facts, const struct spawn_verdict *v,
    struct json_object *entry)
{
	struct task_run *run = task_run_new();
	struct json_object *contract = NULL;

	xstrset(&run->actor, v->actor);
	run->depth = v->place.depth;
	run->max_depth = v->place.max_depth;
	run->local_max_depth = v->place.local_max_depth;
	set(&run->role, entry, "role");
	set(&run->label, entry, "label");
	set(&run->agent, entry, "agent");
	set(&run->model, entry, "model");
	set(&run->thinking, entry, "thinking");
	run->timeout_s = (int)json_int_or(entry, "runTimeoutSeconds", 0);
	set_tools(run, facts, entry);
	run->report_only = !can_edit(run);
	run->scope_paths = list_of(entry, "scope_paths");
	if (strv_count(run->scope_paths) == 0) {
		strv_clear(&run->scope_paths);
		if (facts->scope_paths != NULL)
			run->scope_paths =
			    strv_copy(strv_const(facts->scope_paths));
	}
	run->progress_reporting =
	    json_bool_or(entry, "progressReporting", false);
	if (json_object_object_get_ex(entry, "verification", &contract)) {
		run->contract = json_object_get(contract);
		run->verification = VERIFICATION_PENDING;
	}
	return run;
}
