/* SPDX-License-Identifier: ISC */

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "clock.h"
#include "history.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "overseer-files.h"
#include "procref.h"
#include "roster.h"

#define LOOK_MS          50
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

bool
overseer_files_repairs(const struct overseer_files *overseer)
{
	const char *state = json_string_or(overseer->json, "state", "");

	return overseer->active && overseer->registered &&
	    (strcmp(state, "Remediating") == 0 ||
		strcmp(state, "Waiting") == 0);
}

bool
overseer_files_end(struct cli *cli, int64_t ms)
{
	cleanup_free char *lock =
	    workspace_path(&cli->workspace, "overseer.lock");
	struct procref ref = PROCREF_INIT;
	struct overseer_files overseer;
	int64_t end = clock_mono_ms() + ms;
	bool told;

	overseer_files_load(cli, &overseer);
	told = overseer.registered &&
	    procref_from_json(&ref, overseer.json, NULL) == 0 &&
	    procref_open(&ref) == 0 && procref_signal(&ref, SIGTERM) == 0;
	overseer_files_release(&overseer);
	procref_release(&ref);
	while (told && lock_is_held(lock) == 1 && clock_mono_ms() < end)
		poll(NULL, 0, LOOK_MS); /* a lock has no event */
	return told && lock_is_held(lock) != 1;
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
