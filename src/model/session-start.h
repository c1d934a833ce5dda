/* SPDX-License-Identifier: ISC */

/* What an agent says at the start of its session about its conversation. The
 * daemon reads the file that it names: it must be one that Claude Code would
 * write, and no other. */
#ifndef SESSION_START_H
#define SESSION_START_H

#include <stdbool.h>

/* Is this the id of a conversation (a UUID)? */
bool session_start_id_valid(const char *id);

/* Is this the file of that conversation: <projects>/<folder>/<id>.jsonl,
 * without
 * "." and ".." in it? projects: absolute; NULL = not known, then any folder
 * will do. */
bool session_start_path_valid(
    const char *projects, const char *id, const char *path);

#endif
