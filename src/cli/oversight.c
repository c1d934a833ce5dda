/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "history.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "oversight.h"
#include "roster.h"

#define REGISTRATION_MAX ((size_t)256 * 1024)

void
oversight_load(struct cli *cli, struct oversight *ret_oversight)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "overseer.json");
	cleanup_free char *lock =
	    workspace_path(&cli->workspace, "overseer.lock");
	cleanup_json struct json_object *json = NULL;

	*ret_oversight =
	    (struct oversight){ .active = lock_is_held(lock) == 1 };
	if (json_load(file, REGISTRATION_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return;
	ret_oversight->registered =
	    ret_oversight->active && roster_is_alive(json);
	ret_oversight->json = take_ptr(&json);
}

void
oversight_release(struct oversight *oversight)
{
	json_object_put(oversight->json);
	*oversight = (struct oversight){ 0 };
}

int64_t
oversight_pid(const struct oversight *oversight)
{
	return oversight->registered ? json_int_or(oversight->json, "pid", 0) :
				       0;
}

int
oversight_refuse(struct cli *cli, const char *command, const char *way)
{
	struct oversight oversight;
	cleanup_free char *kill = NULL;
	int64_t pid;
	bool active;

	oversight_load(cli, &oversight);
	active = oversight.active;
	pid = oversight_pid(&oversight);
	oversight_release(&oversight);
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
oversight_is_over(struct cli *cli, struct buf *words)
{
	struct history history;
	bool over;

	if (history_load(&cli->workspace, &history, NULL) < 0)
		return false;
	over = spiral_is_over(history.events, history.count, words);
	history_release(&history);
	return over;
}
