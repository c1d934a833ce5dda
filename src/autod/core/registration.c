/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "procref.h"
#include "registration.h"
#include "workspace.h"

#define FILE_MAX 65536

int
registration_write(const struct core *core, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "daemon.json");
	cleanup_free char *log =
	    workspace_path(core->workspace, "logs/autod.log");
	struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;

	procref_set_self(&self);
	json = procref_to_json(&self);
	procref_release(&self);
	json_set_int(json, "start_time_unix", clock_wall_ms() / 1000);
	json_set_string(json, "instance_id", core->instance);
	json_set_string(json, "log_file", log);
	json_set_string(json, "socket", core->socket);
	json_set_string(json, "version", LLMC_VERSION);
	json_set_string(json, "landing_branch", core_branch(core));
	json_set_bool(json, "auto", core->options->auto_mode);
	return json_save(file, json, 0600, err);
}

void
registration_remove(const struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "daemon.json");

	if (!core->evicted)
		unlink(file);
}

int
registration_declare_end(
    const struct core *core, const char *why, struct err *err)
{
	cleanup_free char *file = workspace_path(core->workspace, "ended.json");
	struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;

	procref_set_self(&self);
	json = procref_to_json(&self);
	procref_release(&self);
	json_set_string(json, "instance_id", core->instance);
	json_set_string(json, "why", why);
	json_set_int(json, "at_unix", clock_wall_ms() / 1000);
	return json_save(file, json, 0600, err);
}

int
registration_describe_holder(const struct core *core, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "daemon.json");
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *who = NULL;

	if (json_load(file, FILE_MAX, &json, NULL) == 0)
		who = xasprintf(
		    " (pid %lld)", (long long)json_int_or(json, "pid", 0));
	return err_set(err, -EAGAIN,
	    "another daemon%s owns %s; llmc status shows it, llmc down stops it",
	    who != NULL ? who : "", core->workspace->root);
}
