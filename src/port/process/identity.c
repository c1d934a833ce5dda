/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ancestry.h"
#include "caller.h"
#include "identity.h"
#include "json.h"
#include "mem.h"
#include "procref.h"
#include "workspace.h"

#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define COMMAND        "LLMC_COMMAND"

/* --- the panes -------------------------------------------------------- */

static const char *
boot_id(struct identity_panes *panes)
{
	struct procref self = PROCREF_INIT;

	if (panes->boot == NULL && procref_set_self(&self) == 0) {
		panes->boot = xstrdup(self.boot_id);
		procref_release(&self);
	}
	return panes->boot != NULL ? panes->boot : "";
}

void
identity_add(
    struct identity_panes *panes, const char *name, struct json_object *pane)
{
	struct procref ref = PROCREF_INIT;

	if (!json_object_is_type(pane, json_type_object) ||
	    procref_from_json(&ref, pane, NULL) < 0 ||
	    strcmp(ref.boot_id, boot_id(panes)) != 0)
		return;
	panes->list =
	    xreallocarray(panes->list, panes->count + 1, sizeof *panes->list);
	panes->list[panes->count++] = (struct identity_pane){
		.name = xstrdup(name),
		.pid = ref.pid,
		.start_time = ref.start_time,
	};
}

static struct json_object *
load(const struct workspace *workspace, const char *name, const char *key)
{
	cleanup_free char *path = workspace_path(workspace, name);
	cleanup_json struct json_object *json = NULL;
	struct json_object *member = NULL;

	if (json_load(path, FILE_BYTES_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return NULL;
	json_object_object_get_ex(json, key, &member);
	return json_object_get(member);
}

void
identity_add_repair(
    struct identity_panes *panes, const struct workspace *workspace)
{
	cleanup_json struct json_object *pane =
	    load(workspace, "overseer.json", "repair_pane");

	identity_add(panes, CALLER_REPAIR, pane);
}

void
identity_add_all(
    struct identity_panes *panes, const struct workspace *workspace)
{
	cleanup_json struct json_object *workers =
	    load(workspace, "state.json", "workers");
	struct json_object *pane;
	struct json_object_iter i;

	if (json_object_is_type(workers, json_type_object)) {
		json_object_object_foreachC(workers, i)
		{
			pane = NULL;
			if (json_object_is_type(i.val, json_type_object))
				json_object_object_get_ex(i.val, "pane", &pane);
			identity_add(panes, i.key, pane);
		}
	}
	identity_add_repair(panes, workspace);
}

void
identity_release(struct identity_panes *panes)
{
	for (size_t i = 0; i < panes->count; i++)
		free(panes->list[i].name);
	free(panes->list);
	free(panes->boot);
	*panes = (struct identity_panes){ 0 };
}

/* --- the process ------------------------------------------------------ */

static const char *
find_pane(const struct identity_panes *panes, const struct ancestor *who)
{
	for (size_t i = 0; i < panes->count; i++)
		if (panes->list[i].pid == who->pid &&
		    panes->list[i].start_time == who->start_time)
			return panes->list[i].name;
	return NULL;
}

char *
identity_command(const char *root)
{
	return xasprintf(COMMAND "=%s", root);
}

/* Is it a command that the daemon runs on a worker's files? */
static bool
is_command(const char *proc, const struct workspace *workspace, pid_t pid)
{
	cleanup_free char *root = NULL;

	return ancestry_variable(proc, pid, COMMAND, &root) == 0 &&
	    strcmp(root, workspace->root) == 0;
}

/* By the environment that it was started with; NULL = no agent of this root. */
static char *
find_agent(const char *proc, const struct workspace *workspace, pid_t pid)
{
	cleanup_free char *agent = NULL, *root = NULL;
	char *name = NULL;

	if (is_command(proc, workspace, pid))
		return xstrdup("a setup or check command");
	if (ancestry_variable(proc, pid, "LLMC_AGENT", &agent) < 0 ||
	    ancestry_variable(proc, pid, "LLMC_ROOT", &root) < 0 ||
	    strcmp(root, workspace->root) != 0)
		return NULL;
	if (ancestry_variable(proc, pid, "LLMC_WORKER", &name) < 0)
		name = xstrdup("an agent");
	return name;
}

int
identity_find(const char *proc, const struct workspace *workspace,
    const struct identity_panes *panes, pid_t pid, int pidfd, char **ret_name)
{
	struct ancestor list[ANCESTRY_MAX];
	char *name = NULL;
	int count;

	count = ancestry_read(proc, pid, list, ANCESTRY_MAX);
	/* Was the number still its own? */
	if (pidfd >= 0 && ancestry_pidfd(proc, pidfd) != pid)
		return -ESRCH;
	if (count <= 0)
		return count < 0 ? count : -ESRCH;
	for (int i = count - 1; i >= 0; i--) {
		const char *found = find_pane(panes, &list[i]);

		if (found != NULL) {
			*ret_name = xstrdup(found);
			return 1;
		}
	}
	for (int i = count - 1; i >= 0 && name == NULL; i--)
		name = find_agent(proc, workspace, list[i].pid);
	if (name == NULL)
		return 0;
	*ret_name = name;
	return 1;
}

int
identity_own(const struct workspace *workspace, char **ret_name)
{
	struct identity_panes panes = { 0 };
	int r;

	identity_add_all(&panes, workspace);
	r = identity_find(
	    ANCESTRY_PROC, workspace, &panes, getpid(), -1, ret_name);
	identity_release(&panes);
	return r;
}
