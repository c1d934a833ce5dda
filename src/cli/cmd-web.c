/* SPDX-License-Identifier: ISC */

/* llmc web, report metrics: the page of the daemon, and what is measured.
 */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "web-files.h"

enum {
	FLAG_OPEN
};

static const struct cli_flag web_flags[] = {
	[FLAG_OPEN] = { "open", NULL, "open it in your browser" },
	{ NULL, NULL, NULL },
};

static int
check_enabled(struct cli *cli)
{
	struct settings *settings = NULL;
	int status = cli_load_settings(cli, &settings);

	if (status == CLI_OK && !settings_bool(settings, "web.enabled"))
		status = cli_fail(cli, "web_off",
		    "the page is off; turn it on: llmc config set web.enabled "
		    "true");
	settings_free(settings);
	return status;
}

/* A daemon that has not seen the settings yet reads them now. */
static int
find_port(struct cli *cli, int64_t *ret_port)
{
	cleanup_json struct json_object *answer = NULL;
	int status = remote_call(cli, "web.get", NULL, 0, &answer);
	const char *reason;

	if (status == CLI_OK && !json_bool_or(answer, "enabled", false)) {
		json_object_put(take_ptr(&answer));
		status = remote_call(cli, "daemon.reload", NULL, 0, &answer);
		json_object_put(take_ptr(&answer));
		if (status == CLI_OK)
			status = remote_call(cli, "web.get", NULL, 0, &answer);
	}
	if (status != CLI_OK)
		return status;
	*ret_port = json_int_or(answer, "port", 0);
	reason = json_string_or(
	    answer, "reason", "the page is not open; see: llmc log daemon");
	return *ret_port != 0 ? CLI_OK :
				cli_fail(cli, "web_closed", "%s", reason);
}

static bool
has_program(const char *name)
{
	const char *const argv[] = { "/bin/sh", "-c",
		"command -v -- \"$1\" >/dev/null", "sh", name, NULL };
	const struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result result;

	return child_run(&spec, &result, NULL) == 0 && child_succeeded(&result);
}

/* The token is not among the words of a command, which everybody on the machine
 * can read, but in a file that leads to the page. */
static int
open_browser(struct cli *cli, const char *url)
{
	const char *browser = getenv("BROWSER");
	bool chosen = browser != NULL && browser[0] != '\0';
	cleanup_free char *path = NULL;
	cleanup_buf struct buf command = BUF_INIT;
	struct child_spec spec = { .detach = true };
	cleanup_child_result struct child_result result;
	struct err err = { 0, "" };

	child_result_init(&result);
	if (!chosen && !has_program("xdg-open"))
		return cli_fail(cli, "no_browser",
		    "there is no xdg-open here; set BROWSER to the command of "
		    "your browser, or open this address: %s",
		    url);
	if (web_files_write_link(&cli->workspace, url, &path, &err) < 0)
		return cli_fail_err(cli, "cannot_open", &err);
	/* It is a command, whose words may be quoted. */
	buf_addf(&command, "%s ", chosen ? browser : "exec xdg-open");
	text_add_shell(&command, path);
	buf_adds(&command, " >/dev/null 2>&1");
	spec.shell = command.data;
	return child_run(&spec, &result, &err) == 0 ?
	    CLI_OK :
	    cli_fail_err(cli, "cannot_open", &err);
}

static int
web_run(struct cli *cli, const struct cli_args *args)
{
	char token[WEB_TOKEN_CHARS + 1];
	cleanup_free char *url = NULL;
	struct err err = { 0, "" };
	int64_t port = 0;
	int status = check_enabled(cli);

	if (status == CLI_OK)
		status = find_port(cli, &port);
	if (status != CLI_OK)
		return status;
	if (web_files_token(&cli->workspace, token, &err) < 0)
		return cli_fail_err(cli, "no_token", &err);
	url = xasprintf("http://127.0.0.1:%u/#token=%s", (unsigned)port, token);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "url", url);
	json_set_int(cli->result, "port", port);
	buf_addf(&cli->text, "%s\n", url);
	return args->flags[FLAG_OPEN] != NULL ? open_browser(cli, url) : CLI_OK;
}

static const struct schema web_shape =
    CLI_FIELDS(SCHEMA_IS("url", STRING, "with the token, which is a secret"),
	SCHEMA_IS("port", INT, NULL));

const struct cli_command cmd_web = {
	.name = "web",
	.group = CLI_WATCH,
	.usage = "[--open]",
	.summary = "print the address of the live page",
	.help =
	    "The page shows what llmc top shows, in a browser on this machine; "
	    "nothing can be\nchanged there. It is off until you type: llmc "
	    "config set web.enabled true. The\naddress contains a secret "
	    "token: who has it can read everything that llmc shows.\n--open "
	    "uses $BROWSER, or else xdg-open.\n",
	.example = "web --open",
	.flags = web_flags,
	.max_args = 0,
	.method = "web.get",
	.guarded = true,
	.shape = CLI_SHAPE(OBJECT, web_shape),
	.run = web_run,
};

/* --- metrics ------------------------------------------------------------- */

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
	.name = "report metrics",
	.usage = "[--output FILE]",
	.summary = "print what is measured, for Prometheus",
	.help =
	    "Prometheus can read it from the page (GET /metrics, see: llmc web "
	    "--help), or from\na file that --output writes, by node_exporter's "
	    "textfile collector. Counters go on\nfor as long as the workspace "
	    "exists. A daemon that was stopped has no heartbeat in\nit, "
	    "one that was killed has its last one.\n",
	.example = "report metrics --output llmc.prom",
	.flags = metrics_flags,
	.max_args = 0,
	.method = "metrics.get",
	.repairs = true,
	.shape = CLI_SHAPE(OBJECT, metrics_shape),
	.run = metrics_run,
};
