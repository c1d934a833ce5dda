/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "history.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "overseer-files.h"
#include "roster.h"

#define REGISTRATION_MAX ((size_t)256 * 1024)

void
overseer_files_load(struct cli *cli, struct overseer_files *ret_overseer)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "overseer.json");
	cleanup_free char *lock =
	    workspace_path(&cli->workspace, "overseer.lock");
	cleanup_json struct json_object *json = NULL;

	*ret_overseer =
	    (struct overseer_files){ .active = lock_is_held(lock) == 1 };
	if (json_load(file, REGISTRATION_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return;
	ret_overseer->registered =
	    ret_overseer->active && roster_is_alive(json);
	ret_overseer->json = take_ptr(&json);
}

void
overseer_files_release(struct overseer_files *overseer)
{
	json_object_put(overseer->json);
	*overseer = (struct overseer_files){ 0 };
}

int64_t
overseer_files_pid(const struct overseer_files *overseer)
{
	return overseer->registered ? json_int_or(overseer->json, "pid", 0) : 0;
}

int
overseer_files_refuse(struct cli *cli, const char *command, const char *way)
{
	struct overseer_files overseer;
	cleanup_free char *kill = NULL;
	int64_t pid;
	bool active;

	overseer_files_load(cli, &overseer);
	active = overseer.active;
	pid = overseer_files_pid(&overseer);
	overseer_files_release(&overseer);
	if (!active)
		return CLI_OK;
	if (pid > 0)
		kill = xasprintf(", or: kill %lld", (long long)pid);
	return cli_fail(cli, "overseen",
	    "llmc %s is refused while an overseer runs; stop the overseer "
	    "first, with Ctrl-C in its terminal%s%s%s",
	    command, kill != NULL ? kill : "", way != NULL ? "; " : "",
	    way != NULL ? way : "");
}

bool
overseer_files_is_over(struct cli *cli, struct buf *words)
{
	struct history history;
	bool over;

	if (history_load(&cli->workspace, &history, NULL) < 0)
		return false;
	over = spiral_is_over(history.events, history.count, words);
	history_release(&history);
	return over;
}
