/* SPDX-License-Identifier: ISC */

/*
 * What an agent may do with its tools: the policy that the daemon writes for a
 * worker (port/files/config.h), and the answer to one use of a tool. The
 * hook of the tool asks by itself, also while no daemon is running. Pure.
 *
 *   tools       which tools it has at all
 *   task_guard  it writes files only where its task has its scope
 *   file_guard  it does not write files that another agent has reserved
 *   commands    what its shell does not run, and files that only a person
 *               changes (command-guard.h)
 *
 * The format:
 *
 *   { "version": 1, "tree": the worktree,
 *     "tools": { "all", "allow": [...], "deny": [...] }, see agent-card.h,
 *     "scope_paths": [...], absent = everywhere,
 *     "reserved": [{ "path", "owner", "until" }, ...], those of others; until
 *       is wall clock milliseconds,
 *     "llmc_tools": [...] that llmc mcp offers, absent = all,
 *     "refuse_commands": [...] see command-guard.h,
 *     "protected_paths": [...] that it does not write }
 */
#ifndef GUARD_H
#define GUARD_H

#include "agent-card.h"

struct buf;
struct err;
struct json_object;

/* The name that our own tools have in Claude Code. */
#define GUARD_LLMC_TOOLS "mcp__llmc__"

struct guard_reserved {
	char *path; /* in its shortest form: work-record.h */
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
	char **refuse_commands, **protected_paths; /* NULL = none */
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
	GUARD_COMMAND, /* command-guard.h */
	GUARD_UNKNOWN, /* the policy cannot be read */
	GUARD_KIND_COUNT
};

/* "tools", "task_guard", "file_guard", "commands", "policy"; "" = passes. */
extern const char *const guard_kind_words[GUARD_KIND_COUNT + 1];

/* May it use the tool? why: the answer to the agent. */
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

/* --- reservations ---------------------------------------------------- */

/*
 * Files and folders that an agent has reserved for itself, for a time. A folder
 * covers what is in it (work-record.h). Pure; strings are owned, NULL = not
 * set; times are wall clock milliseconds.
 */

#define RESERVATION_TTL_MS (3600 * 1000) /* the default */
#define RESERVATION_MAX    10 /* of one agent */

struct reservation {
	char *id; /* V_...: made of actor and path */
	char *actor, *worker; /* whose it is */
	char *task, *run; /* it ends with them; NULL = none */
	char *path; /* in its shortest form; "" = everything */
	char *reason;
	int64_t created_ms, until_ms;
	bool ended; /* released, or its time is over */
};

struct reservation *reservation_new(void);
void reservation_free(struct reservation *reservation);

/* The same for the same agent and path; the caller frees it. */
char *reservation_id(const char *actor, const char *path);

/* The record in the book; its status is "open" until it has ended. */
struct json_object *reservation_to_json(const struct reservation *reservation);
/* -EINVAL with the path of what is wrong. */
int reservation_from_json(struct json_object *json, const char *at,
    struct reservation **ret_reservation, struct err *err);

/* Is it in force? */
bool reservation_holds(const struct reservation *reservation, int64_t now_ms);
/* Does it keep this agent from that path? */
bool reservation_blocks(const struct reservation *reservation,
    const char *actor, const char *path, int64_t now_ms);

/* "adam (actor:task:t3)", for a sentence; the caller frees it. */
char *reservation_owner(const struct reservation *reservation);

/* The paths of a call in their shortest form, each once, without those that
 * another one of them covers; for strv_free(). -EINVAL with words: a path is
 * absolute, or leads out of the repository. */
int reservation_paths(
    struct json_object *paths, char ***ret_paths, struct err *err);

#endif
