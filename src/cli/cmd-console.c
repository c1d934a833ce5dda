/* SPDX-License-Identifier: ISC */

/*
 * llmc console: an agent for yourself, at the top of the repository. It has no
 * worktree, no hooks of ours and no record; it is only a session.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "sessions.h"
#include "settings.h"
#include "terminal.h"
#include "text.h"
#include "tmux.h"

#define CONSOLES_MAX 1000

/* The first number that is unused, or whose agent has ended. */
static char *
free_name(const struct sessions *sessions)
{
	for (int i = 1; i < CONSOLES_MAX; i++) {
		cleanup_free char *name = xasprintf("console%d", i);
		const struct sessions_entry *found =
		    sessions_find(sessions, name);

		if (found == NULL || found->dead)
			return take_ptr(&name);
	}
	return NULL;
}

/* A session may be created by a script; only attaching needs a terminal. */
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
		return sessions_attach(cli, settings, session, false);
	buf_addf(&cli->text, "%s %s; in a terminal, type: %s\n", name,
	    created ? "is running" : "is already running", words.data);
	return CLI_OK;
}

static int
console_open(struct cli *cli, const struct settings *settings,
    const struct sessions *sessions, const char *given)
{
	cleanup_free char *name =
	    given != NULL ? xstrdup(given) : free_name(sessions);
	cleanup_free char *session = NULL;
	const struct sessions_entry *found;
	bool fresh;
	int status = CLI_OK;

	if (name == NULL)
		return cli_fail(cli, "failed",
		    "there are too many consoles; remove one with: llmc nuke "
		    "NAME");
	if (!text_is_name(name) || strncmp(name, "console", 7) != 0)
		return cli_fail(cli, "bad_value",
		    "%s is not a valid name for a console; use \"console\" "
		    "followed by lower case letters, digits, - and _",
		    name);
	session = tmux_session_name(name);
	found = sessions_find(sessions, name);
	if (found != NULL && strcmp(found->role, "console") != 0)
		return cli_fail(cli, "exists", "%s is not a console, but %s",
		    name,
		    found->role[0] != '\0' ? found->role :
					     "a session of another program");
	/* The session stays when its agent ends, so that its last output can be
	 * read. */
	fresh = found == NULL || found->dead;
	if (found != NULL && found->dead)
		status = sessions_kill(cli, settings, session);
	if (status == CLI_OK && fresh)
		status = sessions_start_console(cli, settings, name);
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

static const struct schema console_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_IS("session", STRING, NULL),
	    SCHEMA_IS("created", BOOL, "false: it already existed"),
	    SCHEMA_IS(
		"attach", STRING, "command to type; --json does not attach"),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_console = {
	.name = "console",
	.usage = "[NAME]",
	.summary = "open an agent for yourself at the top of the repository",
	.help =
	    "Starts a session with the default agent and model, named "
	    "console1, console2 and\nso on. With the NAME of a running "
	    "console, attaches to it. Consoles have no\nworktree and outlive "
	    "the daemon; remove one with llmc nuke NAME.\n",
	.max_args = 1,
	.guarded = true,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &console_shape },
	.run = console_run,
};
