/* SPDX-License-Identifier: ISC */

/* The commit message made from the commits of a session. */
#ifndef PROMPT_COMMIT_H
#define PROMPT_COMMIT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* The commit message of a landing, from the messages of its commits (oldest
 * first). One message is used as it is; of several, the first one, followed by
 * the others as paragraphs, without fixups and repetitions. The result is
 * trimmed and has no final newline. Attribution is removed if requested
 * (Co-Authored-By: Claude, Generated with Claude Code, links to a session;
 * ignoring case, with or without emoji and link; people are kept, even if they
 * are named Claude), and repeated blank lines with it. Never empty; what is
 * longer than PROMPT_COMMIT_MAX is cut, and the last line says so. */
#define PROMPT_COMMIT_MAX (64 * 1024)
void prompt_commit_message(
    const char *const *messages, size_t count, bool strip, struct buf *out);

#endif
