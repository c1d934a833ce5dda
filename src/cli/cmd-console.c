/* SPDX-License-Identifier: ISC */

/*
 * llmc console: an agent for yourself, at the top of the repository. It has no
 * worktree, no hooks of ours and no record; it is only a session.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "sessions.h"
#include "settings.h"
#include "shape.h"
#include "sibling.h"
#include "terminal.h"
#include "text.h"
#include "tmux.h"

#define CONSOLES_MAX 1000

/* The file that `llmc pane` reads: a tmux server has the environment of
 * whoever started it, not ours. */
static int
write_launcher(struct cli *cli, const struct settings *settings,
    const char *name, char **ret_file, struct err *err)
{
	const char *model = settings_string(settings, "defaults.model");
	cleanup_free char *sub = xasprintf("sessions/%s", name);
	cleanup_free char *dir = workspace_path(&cli->workspace, sub);
	cleanup_free char *file = file_join(dir, "launch.json");
	cleanup_json struct json_object *json = json_object_new_object();
	struct json_object *argv = json_object_new_array();
	struct json_object *env = json_object_new_array();
	int r = file_mkdirs(dir, 0700, err);

	json_object_array_add(argv,
	    json_object_new_string(
		settings_string(settings, "defaults.agent_command")));
	if (model[0] != '\0') {
		json_object_array_add(argv, json_object_new_string("--model"));
		json_object_array_add(argv, json_object_new_string(model));
	}
	for (char **e = environ; *e != NULL; e++)
		json_object_array_add(env, json_object_new_string(*e));
	json_set(json, "argv", argv);
	json_set(json, "env", env);
	json_set_string(json, "cwd", cli->workspace.root);
	if (r == 0)
		r = json_save(file, json, 0600, err);
	if (r == 0)
		*ret_file = take_ptr(&file);
	return r;
}

static int
create(struct cli *cli, const struct settings *settings, const char *name,
    const char *session)
{
	cleanup_free char *llmc = sibling_find("llmc");
	cleanup_free char *file = NULL;
	const char *argv[] = { llmc, "pane", NULL, NULL };
	struct tmux_session spec = { .name = session,
		.role = "console",
		.cwd = cli->workspace.root,
		.argv = argv };
	struct err err = { 0 };

	if (llmc == NULL)
		return cli_fail(cli, "not_installed",
		    "the program llmc does not find itself on PATH");
	if (write_launcher(cli, settings, name, &file, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	argv[2] = file;
	return sessions_start(cli, settings, &spec);
}

/* The first number that is free, or whose agent has ended. */
static char *
free_name(const struct sessions *sessions)
{
	for (int i = 1; i < CONSOLES_MAX; i++) {
		cleanup_free char *name = xasprintf("console%d", i);
		const struct session *found = sessions_find(sessions, name);

		if (found == NULL || found->dead)
			return take_ptr(&name);
	}
	return NULL;
}

/* A session may be created in a script; only attaching needs a terminal. */
static int
enter(struct cli *cli, const struct settings *settings, const char *name,
    const char *session, bool created)
{
	cleanup_buf struct buf words = BUF_INIT;

	sessions_attach_words(settings, session, &words);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "name", name);
	json_set_string(cli->result, "session", session);
	json_set_bool(cli->result, "created", created);
	json_set_string(cli->result, "attach", words.data);
	if (!cli->json && terminal_here())
		return sessions_attach(cli, settings, session);
	buf_addf(&cli->text, "%s %s; in a terminal, type: %s\n", name,
	    created ? "runs" : "runs already", words.data);
	return CLI_OK;
}

static int
console_open(struct cli *cli, const struct settings *settings,
    const struct sessions *sessions, const char *given)
{
	cleanup_free char *name =
	    given != NULL ? xstrdup(given) : free_name(sessions);
	cleanup_free char *session = NULL;
	const struct session *found;
	bool fresh;
	int status = CLI_OK;

	if (name == NULL)
		return cli_fail(cli, "failed", "there are too many consoles");
	if (!text_is_name(name) || strncmp(name, "console", 7) != 0)
		return cli_fail(cli, "bad_value",
		    "%s: a console's name begins with \"console\" and goes on "
		    "with lower case letters, digits, - and _",
		    name);
	session = tmux_session_name(name);
	found = sessions_find(sessions, name);
	if (found != NULL && strcmp(found->role, "console") != 0)
		return cli_fail(cli, "exists", "%s is no console, but %s", name,
		    found->role[0] != '\0' ? found->role : "not ours");
	/* The session stays when its agent ends, for its last words. */
	fresh = found == NULL || found->dead;
	if (found != NULL && found->dead)
		status = sessions_kill(cli, settings, session);
	if (status == CLI_OK && fresh)
		status = create(cli, settings, name, session);
	if (status != CLI_OK)
		return status;
	return enter(cli, settings, name, session, fresh);
}

static int
console_run(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	struct sessions sessions = { 0 };
	int status = cli_load_settings(cli, &settings);

	if (status == CLI_OK)
		status = sessions_load(cli, settings, &sessions);
	if (status == CLI_OK)
		status = console_open(cli, settings, &sessions,
		    args->count > 0 ? args->list[0] : NULL);
	sessions_release(&sessions);
	settings_free(settings);
	return status;
}

static const struct shape console_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "name", .type = SHAPE_STRING },
		{ .name = "session", .type = SHAPE_STRING },
		{ .name = "created",
		    .type = SHAPE_BOOL,
		    .help = "false: it was there" },
		{ .name = "attach",
		    .type = SHAPE_STRING,
		    .help = "what to type; with --json nothing is attached" },
		{ .name = NULL },
	    },
};

const struct cli_command cmd_console = {
	.name = "console",
	.usage = "[NAME]",
	.summary = "open an agent for yourself, at the top of the repository",
	.help = "A new session with the default agent and model, numbered: "
		"console1, console2.\nWith the NAME of one that runs, attaches "
		"to it. Consoles have no worktree, and\noutlive the daemon; "
		"remove one with llmc nuke NAME.\n",
	.max_args = 1,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct shape_field){ .type = SHAPE_OBJECT,
	    .of = &console_shape },
	.run = console_run,
};
