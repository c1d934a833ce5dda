/* SPDX-License-Identifier: ISC */

/*
 * What an agent may do with its tools: the policy that the daemon writes for a
 * worker (port/files/policy-file.h), and the answer to one use of a tool. The
 * hook of the tool asks by itself, also while no daemon is running. Pure.
 *
 *   tools       which tools it has at all
 *   task_guard  it writes files only where its task has its scope
 *   file_guard  it does not write files that another agent has reserved
 *
 * The format:
 *
 *   { "version": 1, "tree": the worktree,
 *     "tools": { "all", "allow": [...], "deny": [...] }, see tool-scope.h,
 *     "scope_paths": [...], absent = everywhere,
 *     "reserved": [{ "path", "owner", "until" }, ...], those of others; until
 *       is wall clock milliseconds,
 *     "llmc_tools": [...] that llmc mcp offers, absent = all }
 */
#ifndef GUARD_H
#define GUARD_H

#include "tool-scope.h"

struct buf;
struct err;
struct json_object;

/* The name that our own tools have in Claude Code. */
#define GUARD_LLMC_TOOLS "mcp__llmc__"

struct guard_reserved {
	char *path; /* in its shortest form: scope-path.h */
	char *owner; /* for a sentence: "adam (actor:task:t3)" */
	int64_t until_ms;
};

/* All owned; guard_policy_release() frees. */
struct guard_policy {
	char *tree; /* absolute, without links; NULL = not known */
	struct tool_scope tools; /* nothing, unless it is set */
	char **scope_paths; /* NULL = everywhere */
	struct guard_reserved *reserved;
	size_t reserved_count;
	bool llmc_scoped; /* llmc_tools counts, even if it is empty */
	char **llmc_tools; /* without the prefix: "mail_send" */
};

void guard_policy_release(struct guard_policy *policy);
void guard_policy_reserve(struct guard_policy *policy, const char *path,
    const char *owner, int64_t until_ms);

struct json_object *guard_policy_to_json(const struct guard_policy *policy);
/* -EINVAL with the path of what is wrong; the policy is empty then. */
int guard_policy_from_json(
    struct json_object *json, struct guard_policy *ret_policy, struct err *err);

enum guard_kind {
	GUARD_PASS,
	GUARD_TOOL, /* it does not have the tool */
	GUARD_SCOPE, /* task_guard */
	GUARD_RESERVED, /* file_guard */
	GUARD_UNKNOWN, /* the policy cannot be read */
	GUARD_KIND_COUNT
};

/* "tools", "task_guard", "file_guard", "policy"; "" = passes. */
extern const char *const guard_kind_words[GUARD_KIND_COUNT + 1];

/* May it use the tool? why: what the agent is told. */
enum guard_kind guard_tool(
    const struct guard_policy *policy, const char *tool, struct buf *why);

/* Does its task limit its tools, or where it may write? */
bool guard_is_limited(const struct guard_policy *policy);

/* May it write this file? NULL = one outside of the worktree. */
enum guard_kind guard_write(const struct guard_policy *policy, const char *file,
    int64_t now_ms, struct buf *why);

/* Do commits stay within the scope, which a shell can write around? files: what
 * they change. why: what is to be done about it. */
enum guard_kind guard_commits(char *const *scope_paths,
    const char *const *files, size_t count, struct buf *why);

/* Does llmc mcp offer this tool of ours ("mail_send")? */
bool guard_offers(const struct guard_policy *policy, const char *tool);

#endif
