/* SPDX-License-Identifier: ISC */

/* The texts that are typed into sessions, and what comes out of one for the
 * commit. Everything is appended to the caller's buf. */
#ifndef PROMPT_H
#define PROMPT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define PROMPT_MAX 1048576 /* bytes */

/* Clean for a paste: C0 (but \n and \t), DEL, C1 and invalid UTF-8 are
 * dropped, CRLF becomes LF, a final backslash gets a blank, blank ends go.
 * False (out as it was) when nothing is left or it is longer than
 * PROMPT_MAX. */
bool prompt_clean(const char *text, size_t len, struct buf *out);

/* "[llmc 17] text": the receipt comes first, so that no first character can
 * mean something to the agent. `text` must be clean; a receipt is letters,
 * digits and '-', shorter than PROMPT_RECEIPT_SIZE. */
#define PROMPT_RECEIPT_SIZE 40
void
prompt_with_receipt(const char *receipt, const char *text, struct buf *out);

/* The receipt at the head of a submitted prompt, copied into out; false when
 * there is none. */
bool prompt_receipt(const char *submitted, char out[PROMPT_RECEIPT_SIZE]);

/* Was that prompt submitted with this text? Also true with other words in
 * front, as when somebody had begun to type. */
bool prompt_carries(const char *submitted, const char *receipt);

/* What a worker is told with a task: where it is, one commit, stay inside, no
 * push; the role if any; the task. Members may be NULL where unknown. */
struct prompt_facts {
	const char *worktree;
	const char *root;
	const char *branch;
	const char *default_branch;
	const char *role;
	const char *task;
};
void prompt_task(const struct prompt_facts *facts, struct buf *out);

/* After a person's verdict. The diff is still in the worktree. */
void prompt_rejection(const char *feedback, struct buf *out);

/* Conflicts: why, the task's first lines, keep the work, the files, the steps.
 * files is NULL terminated. */
void prompt_conflict(const struct prompt_facts *facts, const char *const *files,
    struct buf *out);

/* Does the text name files by absolute paths below root, as the agent's own
 * mark ("@/src/x", "@\"/src/a b\"")? The first path, without the mark, is
 * added to out. */
bool prompt_names_root(const char *text, const char *root, struct buf *out);

/* The commit message of a landing, from the messages of its commits (oldest
 * first): one is kept as it is; of several the first one, and the others as
 * paragraphs below, fixups and repetitions left out. Blank ends go; no final
 * newline. Attribution is stripped when asked (Co-Authored-By: Claude,
 * Generated with Claude Code, links to a session; any case, with or without
 * emoji and link; people are kept, also those named Claude), and with it every
 * second blank line in a row. Never empty. */
void prompt_commit_message(
    const char *const *messages, size_t count, bool strip, struct buf *out);

#endif
