/* SPDX-License-Identifier: ISC */

/* llmc attach: look into a session, and take over if you like. */
#include "commands.h"
#include "json.h"
#include "schema.h"
#include "sessions.h"
#include "settings.h"

enum {
	FLAG_NESTED
};

static const struct cli_flag attach_flags[] = {
	[FLAG_NESTED] = { "nested", NULL,
	    "attach inside another tmux without asking" },
	{ NULL, NULL, NULL },
};

static int
attach_target(struct cli *cli, const struct settings *settings,
    const char *target, bool nested)
{
	struct sessions sessions;
	const struct sessions_entry *found;
	cleanup_buf struct buf names = BUF_INIT, words = BUF_INIT;
	int status = sessions_load(cli, settings, &sessions);

	if (status != CLI_OK)
		return status;
	found = sessions_find(&sessions, target);
	if (found == NULL) {
		for (size_t i = 0; i < sessions.count; i++)
			buf_addf(&names, " %s", sessions.list[i].name);
		status = cli_fail(cli, "no_such_session",
		    "there is no session %s; %s%s", target,
		    names.len > 0 ? "the sessions are:" :
				    "no session is running, see: llmc status",
		    names.data);
	} else {
		sessions_attach_words(settings, found->name, &words);
		cli->result = json_object_new_object();
		json_set_string(cli->result, "session", found->name);
		json_set_string(cli->result, "attach", words.data);
		status = sessions_attach(cli, settings, found->name, nested);
	}
	sessions_release(&sessions);
	return status;
}

static int
attach_run(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	int status = cli_load_settings(cli, &settings);

	if (status == CLI_OK)
		status = attach_target(cli, settings, args->list[0],
		    args->flags[FLAG_NESTED] != NULL);
	settings_free(settings);
	return status;
}

static const struct schema attach_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("session", STRING, NULL),
	    SCHEMA_IS(
		"attach", STRING, "command to type; --json does not attach"),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_attach = {
	.name = "attach",
	.usage = "TARGET [--nested]",
	.summary = "attach to a session",
	.help =
	    "TARGET is a worker, a console, overseer (during a remediation), "
	    "or the name of\na session. You can watch, or type into it. Detach "
	    "with the keys of tmux, by\ndefault Ctrl-b d; the agent carries "
	    "on. Inside the same tmux server, the client\nswitches to the "
	    "session; inside another one, you are asked whether to attach\n"
	    "inside of it (--nested: yes). Detach from there with its prefix "
	    "twice: Ctrl-b\nCtrl-b d.\n",
	.flags = attach_flags,
	.min_args = 1,
	.max_args = 1,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &attach_shape },
	.run = attach_run,
};
