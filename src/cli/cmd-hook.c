/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <poll.h>

#include "agent-kind.h"
#include "cli-private.h"
#include "command-guard.h"
#include "config.h"
#include "guard.h"
#include "hook-event.h"
#include "id.h"
#include "orphans.h"
#include "spool.h"
#include "workspace.h"

#define PATCH "apply_patch" /* of Codex */

/* The tools that write a file, and the member of their input that names it. */
static const struct {
	const char *tool, *member;
} writers[] = {
	{ "Write", "file_path" },
	{ "Edit", "file_path" },
	{ "MultiEdit", "file_path" },
	{ "NotebookEdit", "notebook_path" },
};

/* A worker runs unattended: what would ask a person is answered here, also
 * while no daemon is running, and the agent learns why. */
static const struct {
	const char *event, *answer;
} unattended[] = {
	{ "PermissionRequest",
	    "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\","
	    "\"decision\":{\"behavior\":\"deny\",\"message\":\"This session is "
	    "unattended: nobody can grant the permission. Continue without it, "
	    "or say in your last message what you need.\"}}}" },
	/* A server of the user's asks for input. */
	{ "Elicitation",
	    "{\"hookSpecificOutput\":{\"hookEventName\":\"Elicitation\","
	    "\"action\":\"decline\"}}" },
};

static bool
is_restricted(const struct guard_policy *policy)
{
	return guard_is_limited(policy) || policy->reserved_count > 0;
}

/* Claude Code may take such a path for another one than we do. */
static bool
is_ambiguous(const char *path)
{
	size_t len = strlen(path);

	return *path == '~' || strcspn(path, " \t\r\n") == 0 ||
	    strchr(" \t\r\n", path[len - 1]) != NULL;
}

/* A link may lead the path elsewhere than it says, and programs differ in how
 * they read "..": no way of reading it may lead out. */
static enum guard_kind
judge_path(const struct guard_policy *policy, struct json_object *data,
    const char *path, int64_t now_ms, struct buf *why)
{
	const char *cwd = json_string_or(data, "cwd", NULL);
	enum guard_kind kind = GUARD_PASS;

	if (path != NULL && is_restricted(policy) && is_ambiguous(path)) {
		buf_adds(why,
		    "Name the file by its whole path, without ~ and without "
		    "blanks around it.");
		return GUARD_UNKNOWN;
	}
	for (int plain = 0; kind == GUARD_PASS && plain < 2; plain++) {
		cleanup_free char *file = path == NULL || policy->tree == NULL ?
		    NULL :
		    tree_path(policy->tree, cwd, path, plain);

		kind = guard_write(policy, file, now_ms, why);
	}
	return kind;
}

static int64_t
parent_of(int64_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%" PRId64 "/stat", pid);
	cleanup_buf struct buf stat = BUF_INIT;
	const char *name;
	long long parent = 0;

	if (file_read(path, 4096, &stat, NULL) < 0 ||
	    (name = strrchr(stat.data, ')')) == NULL ||
	    sscanf(name, ") %*c %lld", &parent) != 1)
		return 0;
	return parent;
}

struct whose {
	const char *mark; /* NULL = none */
	const char *tree;
};

/* Does the process belong neither to the session nor to a process of it? What
 * the session has started has its mark; a program may have written over it, but
 * then one of its parents has it. */
static bool
is_foreign(int64_t pid, void *arg)
{
	const char *mark = ((const struct whose *)arg)->mark;
	int64_t parent = parent_of(pid);

	if (parent == 0)
		return false; /* it is not there */
	for (int depth = 0; pid > 1 && depth < 64; depth++) {
		if (mark_is_on((pid_t)pid, mark))
			return false;
		pid = parent_of(pid);
	}
	return true;
}

static bool
is_inside(const char *path, void *arg)
{
	cleanup_free char *file =
	    tree_path(((const struct whose *)arg)->tree, NULL, path, false);

	return file != NULL;
}

static enum guard_kind
judge_command(const struct guard_policy *policy, const char *cwd,
    const char *text, struct buf *why)
{
	struct whose whose = { getenv("LLMC_KEEPER"), policy->tree };
	const char *const scratch[] = { "/tmp", "/var/tmp", getenv("TMPDIR"),
		NULL };
	cleanup_free char *real = cwd != NULL ? realpath(cwd, NULL) : NULL;
	struct command_place place = { .tree = policy->tree,
		.cwd = real,
		.home = getenv("HOME"),
		.own = getenv("LLMC_TMPDIR"),
		.scratch = scratch,
		.is_foreign = whose.mark != NULL ? is_foreign : NULL,
		.is_inside = is_inside,
		.arg = &whose };
	unsigned rule;

	for (char **r = policy->refuse_commands; r != NULL && *r != NULL; r++)
		if (word_find(command_rule_words, *r, &rule))
			place.rules |= 1U << rule;
	return command_guard(text, &place, why) ? GUARD_PASS : GUARD_COMMAND;
}

/* Every file that a patch names: "*** Update File: PATH". */
static enum guard_kind
judge_patch(const struct guard_policy *policy, struct json_object *data,
    const char *patch, int64_t now_ms, struct buf *why)
{
	static const char *const marks[] = { "*** Add File: ",
		"*** Update File: ", "*** Delete File: ", "*** Move to: " };
	cleanup_free char *copy = xstrdup(patch);
	enum guard_kind kind = GUARD_PASS;
	char *rest = copy, *line;
	bool named = false;

	while (kind == GUARD_PASS && (line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		for (size_t i = 0; i < nitems(marks); i++) {
			if (strncmp(line, marks[i], strlen(marks[i])) != 0)
				continue;
			named = true;
			kind = judge_path(
			    policy, data, line + strlen(marks[i]), now_ms, why);
		}
	}
	/* It is read in another way than we do. */
	if (!named && is_restricted(policy)) {
		buf_adds(
		    why, "llmc cannot read which files this patch changes.");
		return GUARD_UNKNOWN;
	}
	return kind;
}

static enum guard_kind
judge(const struct guard_policy *policy, struct json_object *data,
    int64_t now_ms, const char **ret_path, struct buf *why)
{
	const char *tool = json_string_or(data, "tool_name", "");
	struct json_object *input = NULL;
	enum guard_kind kind;

	if (tool[0] == '\0') {
		if (!is_restricted(policy))
			return GUARD_PASS;
		buf_adds(why,
		    "llmc cannot read what this tool is to do: its input is "
		    "too large, or damaged. Use it for less at a time.");
		return GUARD_UNKNOWN;
	}
	kind =
	    guard_tool(policy, strcmp(tool, PATCH) == 0 ? "Edit" : tool, why);
	json_object_object_get_ex(data, "tool_input", &input);
	if (kind == GUARD_PASS && strcmp(tool, "Bash") == 0)
		kind = judge_command(policy, json_string_or(data, "cwd", NULL),
		    json_string_or(input, "command", ""), why);
	if (kind == GUARD_PASS && strcmp(tool, PATCH) == 0)
		kind = judge_patch(policy, data,
		    json_string_or(input, "patch", ""), now_ms, why);
	for (size_t i = 0; kind == GUARD_PASS && i < nitems(writers); i++) {
		if (strcmp(writers[i].tool, tool) != 0)
			continue;
		*ret_path = json_string_or(input, writers[i].member,
		    json_string_or(input, "path", NULL));
		kind = judge_path(policy, data, *ret_path, now_ms, why);
	}
	return kind;
}

/* Nothing is known, so nothing is allowed but to report it. */
static enum guard_kind
judge_unknown(struct json_object *data, const struct err *err, struct buf *why)
{
	const char *tool = json_string_or(data, "tool_name", "");

	if (strncmp(tool, GUARD_LLMC_TOOLS, strlen(GUARD_LLMC_TOOLS)) == 0)
		return GUARD_PASS;
	buf_addf(why,
	    "llmc cannot read which tools this session has: %s. Try again; if "
	    "it stays so, end your turn and report this.",
	    err->msg);
	return GUARD_UNKNOWN;
}

/* data: the input of the hook, NULL or no object = it could not be read.
 * Returns NULL if the tool may be used; otherwise what is reported to the
 * daemon, owned by the caller:
 *
 *   { "guard": guard_kind_words, "tool", "path": that it would write,
 *     "reason": what the agent is told } */
static struct json_object *
hook_guard(const char *policy_file, struct json_object *data, int64_t now_ms)
{
	cleanup_buf struct buf why = BUF_INIT;
	struct guard_policy policy;
	const char *path = NULL;
	struct json_object *denied;
	struct err err = { 0 };
	enum guard_kind kind;

	if (policy_file_load(policy_file, &policy, &err) < 0)
		kind = judge_unknown(data, &err, &why);
	else
		kind = judge(&policy, data, now_ms, &path, &why);
	guard_policy_release(&policy);
	if (kind == GUARD_PASS)
		return NULL;
	denied = json_object_new_object();
	json_set_string(denied, "guard", guard_kind_words[kind]);
	json_set_string(
	    denied, "tool", json_string_or(data, "tool_name", NULL));
	json_set_string(denied, "path", path);
	json_set_string(denied, "reason", why.data);
	return denied;
}

/* What Claude Code is answered. Owned by the caller. */
static struct json_object *
hook_guard_answer(struct json_object *denied)
{
	struct json_object *answer = json_object_new_object();
	struct json_object *output = json_object_new_object();

	json_set_string(output, "hookEventName", "PreToolUse");
	json_set_string(output, "permissionDecision", "deny");
	json_set_string(output, "permissionDecisionReason",
	    json_string_or(denied, "reason", ""));
	json_set(answer, "hookSpecificOutput", output);
	return answer;
}

#define INPUT_MAX (8 * 1024 * 1024)
#define TEXT_MAX  (128 * 1024) /* of one member: must fit into the spool */
#define INPUT_MS  2000 /* for a standard input that is never closed */
#define ANSWER_MS 3000
#define DENIED_MS 200 /* a deny that comes late would deny nothing */
#define STOP_MS   50000 /* git may be slow; Claude waits 60 s */

enum {
	FLAG_WORKER,
	FLAG_GENERATION,
	FLAG_SOCKET,
	FLAG_SPOOL,
	FLAG_POLICY,
	FLAG_AGENT
};

static const struct cli_flag hook_flags[] = {
	[FLAG_WORKER] = { "worker", "NAME",
	    "worker that the session belongs to" },
	[FLAG_GENERATION] = { "generation", "N",
	    "number of the session's launch" },
	[FLAG_SOCKET] = { "socket", "PATH", "socket of the daemon" },
	[FLAG_SPOOL] = { "spool", "DIR",
	    "folder where events wait for a daemon" },
	[FLAG_POLICY] = { "policy", "FILE",
	    "what the session may do with its tools" },
	[FLAG_AGENT] = { "agent", "KIND",
	    "kind of the agent, if it is not claude" },
	{ NULL, NULL, NULL },
};

/* Which events may be dropped, and which wait for an answer. */
static const struct {
	const char *event;
	bool life; /* only a sign of life */
	bool told; /* waits if the daemon has something to say */
	int64_t answer_ms;
} hook_events[] = {
	{ "PreToolUse", true, false, 0 },
	{ "PostToolUse", true, true, 0 },
	{ "PostToolUseFailure", true, true, 0 },
	{ "PermissionDenied", true, false, 0 },
	{ "SubagentStop", true, false, 0 },
	{ HOOK_EVENT_STATUS, true, false, 0 },
	{ "Stop", false, false, STOP_MS },
};

/* The members that the daemon uses: the megabytes of a tool are not sent. */
static const char *const hook_members[] = { "session_id", "transcript_path",
	"source", "reason", "prompt", "notification_type", "message",
	"stop_hook_active", "last_assistant_message", "background_tasks",
	"error", "trigger", "agent_id", "agent_type", "tool_name",
	"rate_limits", "context_window", "version" };

/* Read everything, even if only a part is kept: a writer whose pipe is closed
 * gets an error, and may report it as an error of the hook. */
static void
read_input(struct buf *input)
{
	struct pollfd event = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t end = clock_mono_ms() + INPUT_MS;
	ssize_t n = 1;

	while (n > 0) {
		int64_t left = clock_kernel_ms(end - clock_mono_ms());

		if (left <= 0 || poll(&event, 1, (int)left) <= 0)
			return;
		buf_reserve(input, 65536);
		n = read(STDIN_FILENO, input->data + input->len, 65536);
		if (n > 0)
			buf_grew(input, (size_t)n);
		if (input->len > INPUT_MAX)
			buf_truncate(input, INPUT_MAX);
	}
}

/* The member; of a text that is too long, the beginning. */
static struct json_object *
bounded(struct json_object *member)
{
	const char *text;
	size_t len;

	if (!json_object_is_type(member, json_type_string))
		return json_object_get(member);
	text = json_object_get_string(member);
	len = (size_t)json_object_get_string_len(member);
	if (len <= TEXT_MAX)
		return json_object_get(member);
	return json_object_new_string_len(
	    text, (int)text_cut(text, len, TEXT_MAX));
}

static struct json_object *
event_params(const char *event, const struct cli_args *args,
    struct json_object *data, struct json_object *denied)
{
	struct json_object *params = json_object_new_object();
	struct json_object *kept = json_object_new_object(), *member;
	const char *generation = args->flags[FLAG_GENERATION];
	char id[ID_ULID_SIZE];
	int64_t number = 0;

	for (size_t i = 0; i < nitems(hook_members); i++)
		if (json_object_is_type(data, json_type_object) &&
		    json_object_object_get_ex(data, hook_members[i], &member))
			json_set(kept, hook_members[i], bounded(member));
	if (denied != NULL)
		json_set(kept, "denied", json_object_get(denied));
	id_ulid(clock_wall_ms(), id);
	text_parse_int(generation, 0, INT64_MAX, &number);
	json_set_string(params, "event", event);
	json_set_string(params, "worker", args->flags[FLAG_WORKER]);
	json_set_int(params, "generation", number);
	json_set_string(params, "id", id);
	json_set(params, "data", kept);
	return params;
}

static bool
is_last_tool(struct json_object *data)
{
	return json_string_or(data, "tool_name", NULL) != NULL &&
	    json_string_or(data, "agent_id", NULL) == NULL;
}

/* The only thing that is ever printed: a decision of the daemon. */
static void
print_decision(struct cli *cli, const struct agent_kind *kind,
    const char *event, struct json_object *result)
{
	cleanup_json struct json_object *own = NULL;

	if (!json_object_is_type(result, json_type_object))
		return;
	own = kind != NULL && kind->answer != NULL ?
	    kind->answer(event, result) :
	    json_object_get(result);
	json_print(own, false, &cli->text);
	buf_addc(&cli->text, '\n');
}

/* NULL: the tool may be used, or it is another event. */
static struct json_object *
deny_tool(struct cli *cli, const struct cli_args *args,
    const struct agent_kind *kind, const char *event, struct json_object *data)
{
	const char *policy = args->flags[FLAG_POLICY];
	cleanup_json struct json_object *answer = NULL;
	struct json_object *denied;

	if (policy == NULL || strcmp(event, "PreToolUse") != 0)
		return NULL;
	denied = hook_guard(policy, data, clock_wall_ms());
	if (denied != NULL) {
		answer = hook_guard_answer(denied);
		print_decision(cli, kind, event, answer);
	}
	return denied;
}

static int
hook_run(struct cli *cli, const struct cli_args *args)
{
	const char *event = args->list[0];
	const char *socket = args->flags[FLAG_SOCKET];
	const char *spool = args->flags[FLAG_SPOOL];
	cleanup_buf struct buf input = BUF_INIT;
	cleanup_json struct json_object *data = NULL, *params = NULL,
					*result = NULL, *denied = NULL;
	int64_t answer_ms = ANSWER_MS;
	bool life = false, tool = false, waits = true;
	const struct agent_kind *kind;
	int r, code = 0;

	if (args->flags[FLAG_WORKER] == NULL || socket == NULL ||
	    args->flags[FLAG_GENERATION] == NULL)
		return CLI_OK;
	read_input(&input);
	for (size_t i = 0; i < nitems(unattended); i++)
		if (strcmp(event, unattended[i].event) == 0) {
			buf_addf(&cli->text, "%s\n", unattended[i].answer);
			return CLI_OK;
		}
	json_parse(input.data, input.len, INPUT_MAX, &data, NULL);
	kind = agent_kind_find(args->flags[FLAG_AGENT] != NULL ?
		args->flags[FLAG_AGENT] :
		"claude");
	if (kind != NULL && kind->event != NULL) {
		event = kind->event(event, data);
		if (event == NULL)
			return CLI_OK;
	}
	for (size_t i = 0; i < nitems(hook_events); i++) {
		if (strcmp(hook_events[i].event, event) != 0)
			continue;
		life = hook_events[i].life;
		tool = hook_events[i].told;
		waits = !life || (hook_events[i].told && run_dir_waits(socket));
		if (hook_events[i].answer_ms > 0)
			answer_ms = hook_events[i].answer_ms;
	}
	denied = deny_tool(cli, args, kind, event, data);
	if (denied != NULL)
		answer_ms = DENIED_MS;
	params = event_params(event, args, data, denied);
	r = client_call(socket, "hook.event", params, answer_ms, waits, &result,
	    &code, NULL);
	if (r == 0)
		print_decision(cli, kind, event, result);
	else if (!life && spool != NULL && (r != -EPROTO || code == API_BUSY))
		spool_write(spool, clock_wall_ms(), params, NULL);
	else if (tool && spool != NULL && r != -EPROTO && is_last_tool(data))
		spool_write_newest(spool, clock_wall_ms(), params, NULL);
	return CLI_OK;
}

const struct cli_command cmd_hook = {
	.name = "hook",
	.usage = "EVENT --worker NAME --generation N --socket PATH "
		 "[--spool DIR] [--policy FILE] [--agent KIND]",
	.summary = "report an event from a session to the daemon (internal)",
	.help =
	    "The hooks of an agent run this. It reads the event from standard "
	    "input, always\nexits with status 0, and prints nothing unless the "
	    "daemon has an answer for\nthe agent. When no daemon listens, "
	    "the event waits in DIR for the next one.\nBefore a tool is "
	    "used it reads FILE, and refuses tools and files that the\n"
	    "session may not use.\n",
	.silent = true, /* 2 would block Claude */
	.flags = hook_flags,
	.min_args = 1,
	.max_args = 1,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = hook_run,
};
