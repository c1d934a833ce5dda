/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "guard.h"
#include "hook-guard.h"
#include "json.h"
#include "mem.h"
#include "policy-file.h"
#include "tree-path.h"

/* The tools that write a file, and the member of their input that names it. */
static const struct {
	const char *tool, *member;
} writers[] = {
	{ "Write", "file_path" },
	{ "Edit", "file_path" },
	{ "MultiEdit", "file_path" },
	{ "NotebookEdit", "notebook_path" },
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
	kind = guard_tool(policy, tool, why);
	json_object_object_get_ex(data, "tool_input", &input);
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

struct json_object *
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

struct json_object *
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
