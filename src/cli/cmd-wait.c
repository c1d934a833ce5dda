/* SPDX-License-Identifier: ISC */

/* llmc wait: return when a worker has reached a status. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "text.h"
#include "worker.h"

#define TIMEOUT_MS     (10 * 60 * 1000)
#define TIMEOUT_MAX_MS (7 * 24 * 3600 * (int64_t)1000)
#define ANSWER_MS      10000 /* added to the timeout, for the answer itself */

enum {
	FLAG_UNTIL,
	FLAG_TIMEOUT
};

static const struct cli_flag wait_flags[] = {
	[FLAG_UNTIL] = { "until", "STATUS",
	    "one status, or several separated by commas" },
	[FLAG_TIMEOUT] = { "timeout", "TIME",
	    "give up after TIME (default: 10m, at most 7d)" },
	{ NULL, NULL, NULL },
};

static int
check_statuses(struct cli *cli, const char *until)
{
	const char *names[WORKER_STATUS_COUNT + 1] = { NULL }, *near;
	cleanup_free char *copy = xstrdup(until);
	char *rest = copy, *word;
	enum worker_status status;

	for (int i = 0; i < WORKER_STATUS_COUNT; i++)
		names[i] = worker_status_name((enum worker_status)i);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (worker_status_parse(word, &status))
			continue;
		near = text_nearest(word, names);
		return cli_misuse(cli, &cmd_wait, "%s: no such status%s%s%s",
		    word, near != NULL ? "; did you mean \"" : "",
		    near != NULL ? near : "", near != NULL ? "\"?" : "");
	}
	return CLI_OK;
}

static int
wait_run(struct cli *cli, const struct cli_args *args)
{
	const char *until = args->flags[FLAG_UNTIL], *now;
	struct json_object *params;
	int64_t timeout = TIMEOUT_MS;
	int status;

	if (until == NULL)
		return cli_misuse(cli, &cmd_wait, "--until STATUS is required");
	status = check_statuses(cli, until);
	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_TIMEOUT] != NULL &&
	    (!text_parse_duration(args->flags[FLAG_TIMEOUT], &timeout) ||
		timeout < 1 || timeout > TIMEOUT_MAX_MS))
		return cli_misuse(cli, &cmd_wait,
		    "--timeout takes a time such as 30s, 10m or 1h, at most "
		    "7d");
	params = remote_worker(args->list[0]);
	json_set_string(params, "until", until);
	json_set_int(params, "timeout_ms", timeout);
	status = remote_call(
	    cli, "worker.wait", params, timeout + ANSWER_MS, &cli->result);
	if (status != CLI_OK)
		return status;
	now = json_string_or(cli->result, "status", "");
	if (!json_bool_or(cli->result, "reached", false)) {
		if (strcmp(now, "gone") == 0)
			cli_warn(cli, "%s has been removed", args->list[0]);
		else
			cli_warn(cli, "timed out: %s is in %s, not in %s",
			    args->list[0], now, until);
		return CLI_FAILED;
	}
	buf_addf(&cli->text, "%s is in %s.\n", args->list[0], now);
	return CLI_OK;
}

const struct cli_command cmd_wait = {
	.name = "wait",
	.usage = "WORKER --until STATUS[,STATUS] [--timeout TIME]",
	.summary = "wait until a worker reaches a status",
	.help =
	    "For scripts: the exit status is 0 when the worker reaches the "
	    "status or is\nalready in it, and 1 on a timeout. The statuses are "
	    "idle, starting, working,\nneeds_review, reviewing, rejected, "
	    "rebasing, no_changes, accepting, paused,\nlimited, error and "
	    "offline.\n",
	.flags = wait_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "worker.wait",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = wait_run,
};
