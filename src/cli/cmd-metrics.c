/* SPDX-License-Identifier: ISC */

/* llmc metrics: what is measured, for Prometheus. */
#include "base.h"
#include "cli-private.h"

#define ANSWER_MS 5000

enum {
	FLAG_OUTPUT
};

static const struct cli_flag metrics_flags[] = {
	[FLAG_OUTPUT] = { "output", "FILE",
	    "replace this file with them, as a whole" },
	{ NULL, NULL, NULL },
};

static int
from_book(struct cli *cli, struct buf *out)
{
	struct json_object *params = json_object_new_object();
	cleanup_json struct json_object *answer = NULL;
	struct err err = { 0 };

	json_set_int(params, "now_ms", clock_wall_ms());
	if (remote_look(cli, "metrics", params, &answer, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	buf_adds(out, json_string_or(answer, "text", ""));
	return CLI_OK;
}

/* False: no daemon answers. */
static bool
from_daemon(struct cli *cli, struct buf *out)
{
	cleanup_free char *socket = client_socket_path(&cli->workspace);
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_json struct json_object *answer = NULL;
	const char *text;

	if (client_call(socket, "metrics.get", params, ANSWER_MS, true, &answer,
		NULL, NULL) < 0 ||
	    json_get_string(answer, "", "text", &text, NULL) < 0)
		return false;
	buf_adds(out, text);
	return true;
}

static int
metrics_run(struct cli *cli, const struct cli_args *args)
{
	const char *file = args->flags[FLAG_OUTPUT];
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0, "" };

	if (file != NULL && file[0] == '\0')
		return cli_misuse(
		    cli, &cmd_metrics, "--output needs the path of a file");
	if (!from_daemon(cli, &text)) {
		int status = from_book(cli, &text);

		if (status != CLI_OK)
			return status;
	}
	if (file != NULL &&
	    file_replace_soon(file, text.data, text.len, 0644, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "text", text.data);
	if (file == NULL)
		buf_add(&cli->text, text.data, text.len);
	return CLI_OK;
}

static const struct schema metrics_shape = CLI_FIELDS(
    SCHEMA_IS("text", STRING, "in the exposition format of Prometheus"));

const struct cli_command cmd_metrics = {
	.name = "metrics",
	.usage = "[--output FILE]",
	.summary = "print what is measured, for Prometheus",
	.help =
	    "Prometheus can read it from the page (GET /metrics, see: llmc web "
	    "--help), or from\na file that --output writes, by node_exporter's "
	    "textfile collector. Counters go on\nfor as long as the workspace "
	    "exists. A daemon that was stopped has no heartbeat in\nit, "
	    "one that was killed has its last one.\n",
	.flags = metrics_flags,
	.max_args = 0,
	.method = "metrics.get",
	.repairs = true,
	.shape = CLI_SHAPE(OBJECT, metrics_shape),
	.run = metrics_run,
};
