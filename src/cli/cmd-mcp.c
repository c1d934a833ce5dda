/* SPDX-License-Identifier: ISC */

/* llmc mcp, pane, stream, errand, verify, proxy, inside: what programs of ours
 * run, never a person. */
#include "base.h"

#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "cli-private.h"
#include "errand-run.h"
#include "guard.h"
#include "hook-event.h"
#include "id.h"
#include "sibling.h"
#include "loop.h"
#include "mcp.h"
#include "box-net.h"
#include "config.h"
#include "client.h"
#include "rpc.h"
#include "stream.h"
#include "check-place.h"
#include "version.h"
#include "watch.h"

/* --- llmc mcp ------------------------------------------------------------- */

/*
 * The tools of a worker's session, as an MCP server on standard input and
 * output. It answers what it knows by itself (model/api/mcp.h), and forwards
 * the use of a tool to the daemon at the worker's own socket
 * (port/wire/client.h), which is how the daemon knows who asks. Reads no
 * configuration: there is one of these in each session, so it is to stay small.
 *
 * Claude Code does not start a server again that has ended. So nothing ends it
 * but the end of standard input, or SIGTERM: SIGINT and SIGHUP are what it gets
 * when the session ends, and then its input ends too.
 */

#define READ_SIZE 16384
#define BIG       4096 /* a line that is worth giving memory back for */
#define REPORT_MS 10000 /* later the caller has given up */

enum {
	FLAG_SOCKET,
	FLAG_WORKER,
	FLAG_GENERATION,
	FLAG_POLICY,
	FLAG_READY
};

static const struct cli_flag mcp_flags[] = {
	[FLAG_SOCKET] = { "socket", "PATH", "the worker's own socket" },
	[FLAG_WORKER] = { "worker", "NAME",
	    "worker that the session belongs to" },
	[FLAG_GENERATION] = { "generation", "N",
	    "number of the session's launch" },
	[FLAG_POLICY] = { "policy", "FILE", "which of the tools it offers" },
	[FLAG_READY] = { "ready", NULL,
	    "a session that asks for them can be prompted" },
	{ NULL, NULL, NULL },
};

/* A use of a tool that the daemon has not answered yet. */
struct use {
	LIST_ENTRY(use) entry;
	struct speaker *speaker;
	struct relay_call *call;
	struct json_object *id;
	const char *late; /* NULL = as the relay says */
};

LIST_HEAD(use_list, use);

struct speaker {
	struct loop *loop;
	struct loop_watch *input;
	struct loop_call *file; /* instead: input that epoll(7) refuses */
	struct relay *relay;
	struct rpc_reader reader;
	struct mcp_server server;
	struct use_list uses;
	const char *worker; /* NULL = not known */
	bool listed; /* the client was given the list of tools */
	bool ready; /* then it can be prompted */
	const char *policy_file; /* NULL = none */
	struct guard_policy policy;
	struct watch *watch; /* of that file */
	uint64_t mark; /* of the tools that the client knows */
};

/* Code is read again from its file when it is needed. */
static int
forget_code(struct dl_phdr_info *object, size_t size, void *arg)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from, to;

	(void)size;
	(void)arg;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) ||
		    part->p_flags & PF_W)
			continue;
		from = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
		to = object->dlpi_addr + part->p_vaddr + part->p_memsz;
		madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 0;
}

/* Waits for a client that does not read: it is the only one. */
static void
say(struct speaker *speaker, const struct buf *line)
{
	if (file_write_all(STDOUT_FILENO, line->data, line->len) < 0)
		loop_stop(speaker->loop, CLI_OK);
	if (line->len > BIG) {
		/* The list of tools is the most that it does in a session,
		 * at its beginning: what only that needed is given back. */
		malloc_trim(0);
		dl_iterate_phdr(forget_code, NULL);
	}
}

/* One that cannot be read hides nothing: the daemon decides anyway. */
static void
load_policy(struct speaker *speaker)
{
	guard_policy_release(&speaker->policy);
	speaker->server.policy = NULL;
	if (speaker->policy_file != NULL &&
	    policy_file_load(speaker->policy_file, &speaker->policy, NULL) == 0)
		speaker->server.policy = &speaker->policy;
	speaker->mark = mcp_tools_mark(&speaker->server);
}

static void
on_policy(void *arg)
{
	struct speaker *speaker = arg;
	cleanup_buf struct buf line = BUF_INIT;
	uint64_t before = speaker->mark;

	load_policy(speaker);
	/* A client that has not asked yet may not be ready for it either. */
	if (speaker->mark == before || !speaker->listed)
		return;
	rpc_encode_request(
	    &line, NULL, "notifications/tools/list_changed", NULL);
	say(speaker, &line);
}

/* --- the use of a tool -------------------------------------------------- */

static void
use_free(struct use *use)
{
	LIST_REMOVE(use, entry);
	json_object_put(use->id);
	free(use);
}

static void
on_answer(struct json_object *result, int code, const char *message, void *arg)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct use *use = arg;
	struct speaker *speaker = use->speaker;

	if (message != NULL)
		mcp_refusal(&line, use->id, code,
		    code == API_BUSY && use->late != NULL ? use->late :
							    message);
	else
		mcp_result(&line, use->id, result);
	use_free(use);
	say(speaker, &line);
}

static void
forward(struct speaker *speaker, struct mcp_ask *ask)
{
	struct use *use = xcalloc(1, sizeof *use);
	char id[ID_ULID_SIZE];

	if (!json_object_object_get_ex(ask->params, "call", NULL)) {
		id_ulid(clock_wall_ms(), id);
		json_set_string(ask->params, "call", id);
	}
	use->speaker = speaker;
	use->id = take_ptr(&ask->id);
	use->late = ask->late;
	use->call = relay_send(speaker->relay, ask->method->name, ask->params,
	    ask->wait_ms, on_answer, use);
	LIST_INSERT_HEAD(&speaker->uses, use, entry);
}

/* MCP wants no answer to a call that was cancelled. */
static void
cancel(struct speaker *speaker, struct json_object *id)
{
	struct use *use;

	LIST_FOREACH (use, &speaker->uses, entry)
		if (json_object_equal(use->id, id)) {
			relay_cancel(use->call);
			use_free(use);
			return;
		}
}

static void
on_reported(
    struct json_object *result, int code, const char *message, void *arg)
{
	(void)result;
	(void)code;
	(void)message;
	(void)arg;
}

/* The session has its tools: a prompt for it waits for that. */
static void
report_listed(struct speaker *speaker)
{
	cleanup_json struct json_object *params = json_object_new_object();
	char id[ID_ULID_SIZE];
	int64_t generation = 0;

	if (speaker->listed)
		return;
	speaker->listed = true;
	if (speaker->worker == NULL || speaker->server.session == NULL)
		return;
	id_ulid(clock_wall_ms(), id);
	text_parse_int(speaker->server.session, 0, INT64_MAX, &generation);
	json_set_string(params, "event",
	    speaker->ready ? HOOK_EVENT_READY : HOOK_EVENT_TOOLS);
	json_set_string(params, "worker", speaker->worker);
	json_set_int(params, "generation", generation);
	json_set_string(params, "id", id);
	json_set(params, "data", json_object_new_object());
	relay_send(
	    speaker->relay, "hook.event", params, REPORT_MS, on_reported, NULL);
}

/* --- the client --------------------------------------------------------- */

static void
take_line(struct speaker *speaker, const struct buf *line)
{
	struct mcp_ask ask;

	mcp_read(&speaker->server, line->data, line->len, &ask);
	switch (ask.kind) {
	case MCP_ANSWER:
		say(speaker, &ask.answer);
		if (ask.lists)
			report_listed(speaker);
		break;
	case MCP_CALL:
		forward(speaker, &ask);
		break;
	case MCP_CANCEL:
		cancel(speaker, ask.id);
		break;
	case MCP_NOTHING:
		break;
	}
	mcp_ask_release(&ask);
}

static void
on_input(int fd, unsigned what, void *arg)
{
	struct speaker *speaker = arg;
	char bytes[READ_SIZE];
	ssize_t n = read(fd, bytes, sizeof bytes);
	cleanup_buf struct buf line = BUF_INIT, answer = BUF_INIT;
	int r;

	(void)what;
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		loop_stop(speaker->loop, CLI_OK);
		return;
	}
	rpc_reader_feed(&speaker->reader, bytes, (size_t)n);
	while ((r = rpc_reader_next(&speaker->reader, &line)) != 0) {
		if (r == 1) {
			take_line(speaker, &line);
			continue;
		}
		buf_clear(&answer);
		rpc_encode_error(&answer, NULL, RPC_INVALID_REQUEST,
		    "the line is too long", NULL);
		say(speaker, &answer);
	}
}

static void
on_file(void *arg)
{
	struct speaker *speaker = arg;

	on_input(STDIN_FILENO, LOOP_READ, speaker);
	loop_call_request(speaker->file);
}

/* A plain file, or /dev/null: there is nothing to wait for. */
static bool
is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	    (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fd)));
}

static void
on_terminate(int signo, void *arg)
{
	(void)signo;
	loop_stop(arg, CLI_OK);
}

static int
speak(struct speaker *speaker)
{
	struct loop_signal *terminate = loop_signal_new(
	    speaker->loop, SIGTERM, on_terminate, speaker->loop);
	int status = CLI_OK;

	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (is_file(STDIN_FILENO)) {
		speaker->file = loop_call_new(speaker->loop, on_file, speaker);
		loop_call_request(speaker->file);
	} else {
		speaker->input = loop_watch_new(
		    speaker->loop, STDIN_FILENO, LOOP_READ, on_input, speaker);
	}
	if (speaker->input != NULL || speaker->file != NULL)
		status = loop_run(speaker->loop);
	loop_watch_free(speaker->input);
	loop_call_free(speaker->file);
	loop_signal_free(terminate);
	return status;
}

static int
mcp_run(struct cli *cli, const struct cli_args *args)
{
	const char *socket = args->flags[FLAG_SOCKET];
	struct speaker speaker = {
		.server = { .version = LLMC_VERSION,
		    .session = args->flags[FLAG_GENERATION] },
		.uses = LIST_HEAD_INITIALIZER(speaker.uses),
		.worker = args->flags[FLAG_WORKER],
		.policy_file = args->flags[FLAG_POLICY],
		.ready = args->flags[FLAG_READY] != NULL,
	};
	int status;

	if (socket == NULL)
		return cli_misuse(cli, &cmd_mcp, "--socket is required");
	speaker.loop = loop_new();
	speaker.relay = relay_new(speaker.loop, socket);
	rpc_reader_init(&speaker.reader, 0);
	if (speaker.policy_file != NULL)
		watch_new(speaker.loop, speaker.policy_file, on_policy,
		    &speaker, &speaker.watch, NULL);
	load_policy(&speaker);
	status = speak(&speaker);
	watch_free(speaker.watch);
	guard_policy_release(&speaker.policy);
	relay_free(speaker.relay);
	while (!LIST_EMPTY(&speaker.uses))
		use_free(LIST_FIRST(&speaker.uses));
	rpc_reader_release(&speaker.reader);
	loop_free(speaker.loop);
	return status;
}

const struct cli_command cmd_mcp = {
	.name = "mcp",
	.usage = "--socket PATH [--worker NAME] [--generation N] "
		 "[--policy FILE]",
	.summary = "offer llmc's tools to a session (internal)",
	.help =
	    "The agent starts this in each session of a worker, as an MCP "
	    "server with the\nname llmc. It reads requests from standard input "
	    "and answers on standard output\nuntil its input ends. What a tool "
	    "does is asked of the daemon at PATH; while no\ndaemon listens "
	    "there, the call waits for the next one. Which tools there are is "
	    "read from FILE.\n",
	.flags = mcp_flags,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = mcp_run,
};

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
