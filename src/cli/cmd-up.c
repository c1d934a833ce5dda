/* SPDX-License-Identifier: ISC */

/*
 * llmc up: become autod, in the foreground, or with --detach in the background
 * and come back when it answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"
#include "commands.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "shape.h"
#include "sibling.h"
#include "terminal.h"
#include "text.h"

#define START_MS 20000

enum {
	FLAG_DETACH
};

static const struct cli_flag up_flags[] = {
	[FLAG_DETACH] = { "detach", NULL,
	    "run in the background; come back when it answers" },
	{ NULL, NULL, NULL },
};

static int
start_detached(struct cli *cli, const char *autod, struct err *err)
{
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_free char *log =
	    workspace_path(&cli->workspace, "logs/autod.stderr");
	cleanup_child_result struct child_result result;
	struct child_spec spec = { .cwd = cli->workspace.root, .detach = true };
	int r;

	buf_adds(&command, "exec ");
	text_add_shell(&command, autod);
	buf_adds(&command, " --root ");
	text_add_shell(&command, cli->workspace.root);
	buf_adds(&command, " </dev/null >/dev/null 2>>");
	text_add_shell(&command, log);
	spec.shell = command.data;
	r = child_run(&spec, &result, err);
	if (r == 0 && !child_succeeded(&result))
		r = err_set(err, -EIO, "autod cannot be started");
	return r;
}

/* The last words of a daemon that did not come up. */
static void
last_words(struct cli *cli, struct buf *out)
{
	cleanup_free char *log =
	    workspace_path(&cli->workspace, "logs/autod.stderr");
	const char *const argv[] = { "tail", "-n", "1", log, NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result result;

	if (child_run(&spec, &result, NULL) == 0)
		child_output_text(&result.out, out);
	buf_truncate(out, strcspn(out->data, "\n"));
}

static int
up_detached(struct cli *cli, const char *autod)
{
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_json struct json_object *info = NULL;
	int64_t end = clock_mono_ms() + START_MS;
	struct err err = { 0 };

	if (remote_alive(cli))
		return cli_fail(cli, "already_running",
		    "a daemon runs for %s already; llmc status shows it",
		    cli->workspace.root);
	if (start_detached(cli, autod, &err) < 0)
		return cli_fail_err(cli, "failed", &err);
	while (!remote_alive(cli)) {
		if (clock_mono_ms() > end) {
			last_words(cli, &words);
			return cli_fail(cli, "failed",
			    "the daemon did not come up%s%s",
			    words.len > 0 ? ": " : "", words.data);
		}
		poll(NULL, 0, 20); /* the kernel has no event for it */
	}
	if (remote_call(cli, "daemon.info", 0, NULL, 0, &info) != CLI_OK)
		return CLI_FAILED;
	buf_addf(&cli->text, "The daemon runs (pid %lld).\n",
	    (long long)json_int_or(info, "pid", 0));
	cli->result = json_object_get(info);
	return CLI_OK;
}

static int
up_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *autod = sibling_find("autod");
	const char *const argv[] = { autod, "--root", cli->workspace.root,
		NULL };
	struct err err = { 0 };

	if (autod == NULL)
		return cli_fail(cli, "not_installed",
		    "autod is not found beside llmc, nor on PATH");
	if (args->flags[FLAG_DETACH] != NULL)
		return up_detached(cli, autod);
	terminal_become(argv, &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_up = {
	.name = "up",
	.usage = "[--detach]",
	.summary = "run the daemon that owns the workers",
	.help = "Runs in the foreground until Ctrl-C, or in the background "
		"with --detach. Running\nsessions of an earlier daemon are "
		"taken over, missing ones are started.\n",
	.flags = up_flags,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct shape_field){ .type = SHAPE_ANY,
	    .help = "with --detach: {pid, version, instance_id, ...}" },
	.run = up_run,
};
