/* SPDX-License-Identifier: ISC */

/* llmc pane, stream, errand, verify, proxy, inside: what programs of ours run,
 * never a person. */

#include "base.h"
#include "cli-private.h"
#include "errand-run.h"
#include "launcher.h"
#include "outside.h"
#include "stream.h"
#include "verify-run.h"

/* --- pane -------------------------------------------------------------- */

static int
pane_run(struct cli *cli, const struct cli_args *args)
{
	struct err err = { 0 };

	launcher_exec(args->list[0], &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_pane = {
	.name = "pane",
	.usage = "FILE",
	.summary = "run the agent that FILE describes (internal)",
	.help =
	    "A worker's tmux pane runs this. It reads the arguments and the "
	    "environment of\nthe agent from FILE, so that they do not hit a "
	    "limit of tmux, and becomes the\nagent's keeper: the parent that "
	    "ends with the agent, and with it everything that\nthe agent "
	    "started.\n",
	.min_args = 1,
	.max_args = 1,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = pane_run,
};

/* --- stream ------------------------------------------------------------ */

enum {
	FLAG_HOOK,
	FLAG_RESUME
};

static const struct cli_flag stream_flags[] = {
	[FLAG_HOOK] = { "hook", "JSON",
	    "PROGRAM runs once for each prompt; this reports for it" },
	[FLAG_RESUME] = { "resume", "ID", "the conversation to go on with" },
	{ NULL, NULL, NULL },
};

static int
stream_main(struct cli *cli, const struct cli_args *args)
{
	const char *hook = args->flags[FLAG_HOOK];
	cleanup_json struct json_object *words = NULL;
	cleanup_strv char **argv = NULL, **report = NULL;
	struct stream_spec spec = { .resume = args->flags[FLAG_RESUME] };
	struct err err = { 0 };
	int r = 0;

	for (int i = 0; i < args->count; i++)
		strv_add(&argv, args->list[i]);
	spec.argv = strv_const(argv);
	if (hook != NULL) {
		r = json_parse(hook, strlen(hook), strlen(hook), &words, &err);
		if (r < 0)
			return cli_fail_err(cli, "failed", &err);
		report = strv_from_json(words);
		spec.hook = strv_const(report);
	}
	r = isatty(STDIN_FILENO) ?
	    stream_run(&spec, &err) :
	    err_set(&err, -ENOTTY,
		"what is typed to the agent comes from a terminal, and there "
		"is none");
	return r < 0 ? cli_fail_err(cli, "failed", &err) : r;
}

const struct cli_command cmd_stream = {
	.name = "stream",
	.usage = "[--hook JSON] [--resume ID] -- PROGRAM [ARG ...]",
	.summary = "be the terminal of an agent that has none (internal)",
	.help = "A worker of the kind claude-headless or gemini runs this. It "
		"gives PROGRAM what is\npasted or typed as lines of JSON, or "
		"with --hook starts it once for each prompt,\nwith the prompt "
		"as its standard input. What PROGRAM says is printed in "
		"words.\nEscape interrupts its turn.\n",
	.flags = stream_flags,
	.min_args = 1,
	.max_args = 65536,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = stream_main,
};

/* --- errand ------------------------------------------------------------ */

static int
errand_main(struct cli *cli, const struct cli_args *args)
{
	struct err err = { 0 };

	errand_run(args->list[0], &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_errand = {
	.name = "errand",
	.usage = "FILE",
	.summary = "run the command that FILE describes (internal)",
	.help =
	    "autod uses this for task_pool_command and post_accept_command. It "
	    "runs the\ncommand that FILE describes and leaves the output and "
	    "the exit status next to\nFILE, so that they are not lost when "
	    "autod is killed in the meantime.\n",
	.min_args = 1,
	.max_args = 1,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = errand_main,
};

/* --- verify ------------------------------------------------------------ */

#define TOLD_MAX ((size_t)1024 * 1024)

static int
verify_main(struct cli *cli, const struct cli_args *args)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *told = NULL, *result = NULL;
	struct err err = { 0 };
	int r = file_read_fd(STDIN_FILENO, TOLD_MAX, &text);

	(void)args;
	if (r < 0)
		err_errno(&err, r, "cannot read standard input");
	else
		r = json_parse(text.data, text.len, TOLD_MAX, &told, &err);
	if (r == 0)
		r = verify_run(told, &result, &err);
	if (r < 0)
		return cli_fail_err(cli, "failed", &err);
	json_print(result, false, &cli->text);
	buf_addc(&cli->text, '\n');
	cli->result = json_object_get(result);
	return CLI_OK;
}

const struct cli_command cmd_verify = {
	.name = "verify",
	.usage = "",
	.summary = "check the artifacts of a contract (internal)",
	.help = "autod uses this at the end of a task with a contract. "
		"Standard input says which\ncommit is checked for what; the "
		"result is printed as JSON. No command is run.\n",
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = verify_main,
};

/* --- proxy ------------------------------------------------------------- */

static int
proxy_main(struct cli *cli, const struct cli_args *args)
{
	struct outside outside = { .hosts = args->list[0],
		.worker = args->list[1],
		.socket = args->list[2] };
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };

	for (int i = 3; i < args->count; i++)
		strv_add(&argv, args->list[i]);
	outside_exec(&outside, argv, &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_proxy = {
	.name = "proxy",
	.usage = "FILE WORKER SOCKET -- PROGRAM [ARG ...]",
	.summary = "start a sandbox's proxy, and its program (internal)",
	.help = "Starts the proxy of a worker whose sandbox is strict, then "
		"becomes PROGRAM, which\nmakes the box and runs llmc inside in "
		"it. The proxy allows the hosts in FILE, tells\nSOCKET of "
		"others, and ends with PROGRAM.\n",
	.min_args = 4,
	.max_args = 65536,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = proxy_main,
};

/* --- inside ------------------------------------------------------------ */

static int
inside_main(struct cli *cli, const struct cli_args *args)
{
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };

	for (int i = 0; i < args->count; i++)
		strv_add(&argv, args->list[i]);
	inside_exec(INSIDE_FD, INSIDE_PORT, argv, &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_inside = {
	.name = "inside",
	.usage = "-- PROGRAM [ARG ...]",
	.summary = "run a program in a sandbox without a network (internal)",
	.help = "The first program in the box of a worker whose sandbox is "
		"strict. It listens on\nthe box's own loopback, hands the "
		"socket to the proxy outside (llmc proxy) and\nbecomes "
		"PROGRAM.\n",
	.min_args = 1,
	.max_args = 4096,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = inside_main,
};
