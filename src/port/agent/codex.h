/* SPDX-License-Identifier: ISC */

/* Codex (codex-cli), the kind `codex` of agent-kind.h. Its hooks have the names
 * and the form of Claude Code's. */
#ifndef CODEX_H
#define CODEX_H

struct json_object;

/* A line of its rollout file in the form of Claude Code's transcripts, owned by
 * the caller; NULL = it says nothing that is counted, or is none of its lines.
 * model: that of the lines before, owned; it may change. */
struct json_object *codex_line(struct json_object *line, char **model);

#endif
