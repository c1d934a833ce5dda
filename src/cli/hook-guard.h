/* SPDX-License-Identifier: ISC */

/* Whether a session may use a tool, for `llmc hook PreToolUse`: decided from
 * the worker's policy file alone, also while no daemon is running. */
#ifndef HOOK_GUARD_H
#define HOOK_GUARD_H

#include <stdint.h>

struct json_object;

/* data: the input of the hook, NULL or no object = it could not be read.
 * Returns NULL if the tool may be used; otherwise what is reported to the
 * daemon, owned by the caller:
 *
 *   { "guard": guard_kind_words, "tool", "path": that it would write,
 *     "reason": what the agent is told } */
struct json_object *
hook_guard(const char *policy, struct json_object *data, int64_t now_ms);

/* What Claude Code is answered. Owned by the caller. */
struct json_object *hook_guard_answer(struct json_object *denied);

#endif
