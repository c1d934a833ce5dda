/* SPDX-License-Identifier: ISC */

/* llmc web, report metrics: the page of the daemon, and what is measured.
 */
#include "base.h"

#include <limits.h>
#include <pwd.h>

#include "child.h"
#include "cli-private.h"
#include "config.h"
#include "http-server.h"
#include "workspace.h"

enum {
	FLAG_OPEN,
	FLAG_SHARE,
	FLAG_ALL
};

static const struct cli_flag web_flags[] = {
	[FLAG_OPEN] = { "open", NULL, "open it in your browser" },
	[FLAG_SHARE] = { "share", NULL,
	    "say how to reach it from another machine" },
	[FLAG_ALL] = { "all", NULL, "list the pages of all your repositories" },
	{ NULL, NULL, NULL },
};

#define ROOT_MS      2000 /* for the daemon of a root to answer */
#define TAILSCALE_MS 3000

/* Who opens the page wants it to be on. */
static int
check_enabled(struct cli *cli, bool turn_on)
{
	struct settings *settings = NULL;
	struct err err = { 0 };
	int status = cli_load_settings(cli, &settings);
	bool off = status == CLI_OK && !settings_bool(settings, "web.enabled");

	if (off && turn_on) {
		if (config_change(
			&cli->workspace, "web.enabled", "true", &err) < 0)
			status = cli_fail_err(cli, "config", &err);
		else
			cli_warn(cli,
			    "the page was off and is on now; to turn it off: "
			    "llmc config set web.enabled false");
	} else if (off)
		status = cli_fail(cli, "web_off",
		    "the page is off; turn it on: llmc config set web.enabled "
		    "true");
	settings_free(settings);
	return status;
}

/* What the daemon says; one that has not seen the settings yet reads them now.
 * The caller owns it. */
static int
find_page(struct cli *cli, struct json_object **ret_answer)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *params = json_object_new_object();
	int status;
	const char *reason;

	json_set_bool(params, "code", true);
	status = remote_call(cli, "web.get", params, 0, &answer);
	if (status == CLI_OK && !json_bool_or(answer, "enabled", false)) {
		json_object_put(take_ptr(&answer));
		status = remote_call(cli, "daemon.reload", NULL, 0, &answer);
		json_object_put(take_ptr(&answer));
		params = json_object_new_object();
		json_set_bool(params, "code", true);
		if (status == CLI_OK)
			status =
			    remote_call(cli, "web.get", params, 0, &answer);
		else
			json_object_put(params);
	}
	if (status != CLI_OK)
		return status;
	reason = json_string_or(
	    answer, "reason", "the page is not open; see: llmc log daemon");
	if (json_int_or(answer, "port", 0) == 0)
		return cli_fail(cli, "web_closed", "%s", reason);
	*ret_answer = take_ptr(&answer);
	return CLI_OK;
}

/* The address on this machine; NULL = it does not listen there, or has no
 * token. The caller frees it. */
static char *
local_url(const struct workspace *workspace, struct json_object *answer,
    struct err *err)
{
	const char *listen = json_string_or(answer, "listen", WEB_LOOPBACK);
	char token[WEB_TOKEN_CHARS + 1];

	if (strcmp(listen, WEB_LOOPBACK) != 0 &&
	    strcmp(listen, "0.0.0.0") != 0) {
		err_set(err, -ENOTSUP, "the page listens on %s only", listen);
		return NULL;
	}
	if (web_files_token(workspace, token, err) < 0)
		return NULL;
	return xasprintf("http://" WEB_LOOPBACK ":%u/#token=%s",
	    (unsigned)json_int_or(answer, "port", 0), token);
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
	if (!chosen && !terminal_knows(NULL, "xdg-open"))
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

/* The name of this machine in its tailnet, as https://...; NULL = tailscale is
 * not here, or does not run. The caller frees it. */
static char *
tailscale_origin(void)
{
	const char *const argv[] = { "tailscale", "status", "--json", NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = TAILSCALE_MS,
		.output_max = (size_t)4 * 1024 * 1024 };
	cleanup_child_result struct child_result result;
	cleanup_json struct json_object *status = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const char *name;
	char *origin;

	child_result_init(&result);
	if (!terminal_knows(NULL, "tailscale") ||
	    child_run(&spec, &result, NULL) < 0 || !child_succeeded(&result))
		return NULL;
	child_output_text(&result.out, &text);
	if (json_parse(text.data, text.len, text.len, &status, NULL) < 0)
		return NULL;
	name = json_string_or(json_member(status, "Self"), "DNSName", "");
	origin = xasprintf("https://%.*s",
	    (int)strlen(name) -
		(*name != '\0' && name[strlen(name) - 1] == '.'),
	    name);
	if (!web_origin_valid(origin))
		xstrset(&origin, NULL);
	return origin;
}

/* How to reach it from elsewhere. */
static void
share(struct cli *cli, struct json_object *answer, const char *local)
{
	const struct passwd *user = getpwuid(getuid());
	unsigned port = (unsigned)json_int_or(answer, "port", 0);
	cleanup_free char *ssh = NULL, *tailscale = NULL;
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, HOST_NAME_MAX);
	ssh = xasprintf("ssh -N -L %u:" WEB_LOOPBACK ":%u %s@%s", port, port,
	    user != NULL ? user->pw_name : "USER",
	    *host != '\0' ? host : "HOST");
	if (local != NULL) {
		json_set_string(cli->result, "ssh", ssh);
		buf_addf(&cli->text,
		    "\nFrom another machine, over ssh: type there\n  %s\nand "
		    "open the first address there.\n",
		    ssh);
	}
	if (*json_string_or(answer, "origin", "") != '\0')
		return;
	tailscale = tailscale_origin();
	if (tailscale != NULL)
		buf_addf(&cli->text,
		    "\nFrom your tailnet, with a login that lasts: type here\n"
		    "  llmc config set web.port %u\n"
		    "  llmc config set web.origin %s\n"
		    "  tailscale serve --bg http://" WEB_LOOPBACK ":%u\n"
		    "  llmc web\n",
		    port, tailscale, port);
	buf_addf(&cli->text,
	    "\nThrough a reverse proxy of yours that speaks TLS: let it pass "
	    "https://NAME on to\nhttp://" WEB_LOOPBACK ":%u with the Host as "
	    "it is and without buffering, then type here\n"
	    "  llmc config set web.port %u\n"
	    "  llmc config set web.origin https://NAME\n"
	    "  llmc web\n",
	    port, port);
}

static void
add_page(struct json_object *row, struct buf *out)
{
	buf_adds(
	    out, json_string_or(row, "url", json_string_or(row, "reason", "")));
}

/* One row for each root: its page, or why there is none. */
static int
list_all(struct cli *cli)
{
	static const struct view_column columns[] = {
		{ "Repository", .key = "root" }, { "Page", .add = add_page }
	};
	cleanup_strv char **roots = roots_list();

	cli->result = json_object_new_array();
	for (char **root = roots; root != NULL && *root != NULL; root++) {
		struct json_object *row = json_object_new_object();
		cleanup_json struct json_object *answer = NULL;
		cleanup_json struct json_object *params =
		    json_object_new_object();
		cleanup_free char *socket = NULL, *url = NULL;
		struct err err = { 0, "" };

		workspace_release(&cli->workspace);
		cli->workspace = (struct workspace){ 0 };
		if (workspace_at(*root, &cli->workspace, &err) < 0)
			;
		else if (cli_is_barred(cli, false))
			err_set(&err, -EPERM, "not for agents");
		else {
			socket = client_socket_path(&cli->workspace);
			if (client_call(socket, "web.get", params, ROOT_MS,
				true, &answer, NULL, NULL) < 0)
				err_set(&err, -ENOENT, "no daemon runs");
			else if (!json_bool_or(answer, "enabled", false))
				err_set(&err, -ENOENT,
				    "off: llmc config set web.enabled true");
			else if (json_int_or(answer, "port", 0) == 0)
				err_set(&err, -ENOENT, "%s",
				    json_string_or(
					answer, "reason", "not open"));
			else
				url = local_url(&cli->workspace, answer, &err);
		}
		json_set_string(row, "root", *root);
		json_set_bool(row, "daemon", answer != NULL);
		json_set_string(row, "url", url);
		json_set_string(row, "reason", url == NULL ? err.msg : NULL);
		json_object_array_add(cli->result, row);
	}
	CLI_TABLE(cli, columns, cli->result,
	    "No daemon of yours has run yet; start one: llmc up");
	return CLI_OK;
}

static int
web_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_json struct json_object *answer = NULL;
	cleanup_free char *local = NULL, *public = NULL;
	struct err err = { 0, "" };
	const char *url, *code;
	int status;

	if (args->flags[FLAG_ALL] != NULL)
		return list_all(cli);
	status = cli_find_workspace(cli, 0);
	if (status == CLI_OK && cli_is_barred(cli, false))
		status = cli_fail(cli, "refused",
		    "this is a worker's session, and the page is for people");
	if (status == CLI_OK)
		status = check_enabled(cli, args->flags[FLAG_OPEN] != NULL);
	if (status == CLI_OK)
		status = find_page(cli, &answer);
	if (status != CLI_OK)
		return status;
	local = local_url(&cli->workspace, answer, &err);
	code = json_string_or(answer, "code", NULL);
	if (code != NULL)
	public = xasprintf(
	    "%s/#code=%s", json_string_or(answer, "origin", ""), code);
	if (local == NULL && public == NULL)
		return cli_fail_err(cli, "no_token", &err);
	url = local != NULL ? local : public;
	cli->result = json_object_new_object();
	json_set_string(cli->result, "url", url);
	json_set_int(cli->result, "port", json_int_or(answer, "port", 0));
	if (local != NULL)
		buf_addf(&cli->text, "%s\n", local);
	if (public != NULL) {
		json_set_string(cli->result, "login", public);
		buf_addf(&cli->text,
		    "%s  (for one login, within ten minutes)\n", public);
	}
	if (args->flags[FLAG_SHARE] != NULL)
		share(cli, answer, local);
	return args->flags[FLAG_OPEN] != NULL ? open_browser(cli, url) : CLI_OK;
}

static const struct schema web_shape =
    SCHEMA_SHAPE(SCHEMA_IS("url", STRING, "with the token, which is a secret"),
	SCHEMA_IS("port", INT, NULL),
	SCHEMA_MAY("login", STRING, "at web.origin, once"),
	SCHEMA_MAY("ssh", STRING, "--share: for another machine"));
static const struct schema root_shape = SCHEMA_SHAPE(
    SCHEMA_IS("root", STRING, NULL), SCHEMA_IS("daemon", BOOL, "it runs"),
    SCHEMA_OR_NULL("url", STRING, "with the token, which is a secret"),
    SCHEMA_OR_NULL("reason", STRING, "why there is no page"));
static const struct schema web_shapes = SCHEMA_SHAPE(
    { .name = "without --all", .type = SCHEMA_OBJECT, .of = &web_shape },
    { .name = "--all", .type = SCHEMA_ROWS, .of = &root_shape });

const struct cli_command cmd_web = {
	.name = "web",
	.group = CLI_WATCH,
	.usage = "[--open] [--share] | --all",
	.summary = "print the address of the live page",
	.help =
	    "The page shows what llmc top shows, in a browser on this machine. "
	    "It is off until you\ntype: llmc config set web.enabled true. To "
	    "answer and act there, too: llmc config set\nweb.mode work. The "
	    "address contains a secret token: who has it can read everything\n"
	    "that llmc shows, and in work mode change it. --open uses $BROWSER, "
	    "or else xdg-open, and turns the page on.\nWith web.origin set, a second address logs in "
	    "at the page's address with TLS, once.\n",
	.example = "web --open",
	.flags = web_flags,
	.method = "web.get",
	.guarded = true,
	.needs = CLI_ANYWHERE,
	.shape = CLI_SHAPE(ONE, web_shapes),
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
	cleanup_json struct json_object *daemon = roster_daemon(cli);
	int status;

	json_set_int(params, "now_ms", clock_wall_ms());
	json_set_bool(params, "alive", daemon != NULL);
	status = remote_see(cli, "metrics", params, &answer);
	buf_adds(out, json_string_or(answer, "text", ""));
	return status;
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

static const struct schema metrics_shape = SCHEMA_SHAPE(
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
	.method = "metrics.get",
	.repairs = true,
	.shape = CLI_SHAPE(OBJECT, metrics_shape),
	.run = metrics_run,
};
