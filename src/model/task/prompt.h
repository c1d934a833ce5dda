/* SPDX-License-Identifier: ISC */

/* The texts that are typed into sessions. Everything is appended to the
 * caller's buf. */
#ifndef PROMPT_H
#define PROMPT_H

struct buf;

/* The commit message of a landing, from the messages of its commits (oldest
 * first). One message is used as it is; several are paragraphs below the title
 * (of the task; NULL or "": below the first), without fixups and repetitions.
 * The result is
 * trimmed and has no final newline. Attribution is removed if requested
 * (Co-Authored-By: Claude, Generated with Claude Code, links to a session;
 * ignoring case, with or without emoji and link; people are kept, even if they
 * are named Claude), and repeated blank lines with it. Trailers of llmc's own
 * (Llmc-Task) are always removed: no agent can write one. Never empty; what is
 * longer than PROMPT_COMMIT_MAX is cut, and the last line says so. */
#define PROMPT_COMMIT_MAX (64 * 1024)

void prompt_commit_message(const char *title, const char *const *messages,
    size_t count, bool strip, struct buf *out);

/* Append which task and goal it is for, as trailers; NULL = none. */
#define PROMPT_TASK_TRAILER    "Llmc-Task"
#define PROMPT_ATTEMPT_TRAILER "Llmc-Attempt"

void
prompt_commit_trailers(const char *task, const char *goal, struct buf *message);

#define PROMPT_MAX 1048576 /* bytes */

/* Make text safe to paste: drops C0 (except \n and \t), DEL, C1 and invalid
 * UTF-8, converts CRLF to LF, adds a blank after a final backslash, and trims
 * blanks at both ends. False, with out unchanged, if nothing is left or it is
 * longer than PROMPT_MAX. */
bool prompt_clean(const char *text, size_t len, struct buf *out);

/* "[llmc 17] text": the receipt comes first, so that the first character of the
 * text has no special meaning to the agent. `text` must be clean; a receipt
 * consists of letters, digits and '-', shorter than PROMPT_RECEIPT_SIZE. */
#define PROMPT_RECEIPT_SIZE 40

void
prompt_with_receipt(const char *receipt, const char *text, struct buf *out);

/* The text for a bracketed paste, as pastes of a line or a part of one each.
 * Claude Code tells its model of a longer paste that the user may not have
 * written it. */
void prompt_pieces(const char *text, struct buf *out);

/* Copy the receipt at the start of a submitted prompt into out; false if there
 * is none. */
bool prompt_receipt(const char *submitted, char out[PROMPT_RECEIPT_SIZE]);

/* Does the submitted text contain the prompt with this receipt? It may follow
 * other text, for example if someone had started to type. */
bool prompt_carries(const char *submitted, const char *receipt);

/* The prompt for a task: where it is, one commit, stay inside, no push; the
 * role if any; the task. Members may be NULL if unknown. */
struct prompt_facts {
	const char *worktree;
	const char *branch;
	const char *default_branch;
	const char *role;
	const char *task;
	const char *answers; /* who answers its tool request_orchestrator, in
			      * words; NULL = it cannot ask */
	bool by_hand; /* a person drives it, and reads its questions */
	bool report_only; /* its result is a report, and no commit */
};

void prompt_task(const struct prompt_facts *facts, struct buf *out);

/* After a compaction: the task again, and the state of its worktree. At most
 * PROMPT_REMINDER_MAX bytes: Claude Code puts what is longer into a file. Or,
 * with why, the first prompt of another conversation, with the whole task. */
#define PROMPT_REMINDER_MAX 9000

struct prompt_reminder {
	const char *task; /* its whole prompt */
	const char *id; /* of the task; NULL = by hand */
	const char *check_command; /* NULL or "" = none */
	const char *last_check; /* a sentence; NULL = none is known */
	const char *last_words; /* of the conversation before; NULL = none */
	const char *why; /* another one begins; NULL = it was compacted */
	bool tree_known; /* what follows is: */
	const char *branch, *onto;
	int ahead; /* commits */
	const char *const *files; /* changed since the work began */
	size_t file_count;
	int uncommitted; /* how many of them */
};

void prompt_compacted(const struct prompt_reminder *r, struct buf *out);

/* What another worker wrote: who it was, and its lines quoted. */
void prompt_from_worker(const char *sender, const char *text, struct buf *out);

/* After a person rejected the work. The diff is still in the worktree. */
void prompt_rejection(const char *feedback, struct buf *out);

/* Conflicts: why, the first lines of the task, keep the work, the files, the
 * steps. files is NULL terminated. */
void prompt_conflict(const struct prompt_facts *facts, const char *const *files,
    struct buf *out);

/* Does the text reference files by absolute paths below root with the agent's
 * own mark ("@/src/x", "@\"/src/a b\"")? The first path, without the mark, is
 * appended to out. */
bool prompt_names_root(const char *text, const char *root, struct buf *out);

/* --- texts for a worker on a node ---------------------------------------- */

/*
 * Texts for a worker on a node of a plan: how to report, a request for its
 * status, and the request that follows a reply without an update. Everything is
 * appended to the caller's buf.
 *
 * The same facts give the same text.
 */

/* Strings may be NULL if unknown. */
struct nudge_facts {
	const char *goal_id;
	const char *goal_title;
	const char *node_id;
	const char *node_name;
};

/* How to report: the fenced block, its key and members. */
void nudge_text_contract(const struct nudge_facts *facts, struct buf *out);

/* Ask for Status, Next and Blockers, or DONE with evidence, and for the
 * update. */
void nudge_text_status(const struct nudge_facts *facts, struct buf *out);

/* After a reply without a valid update. why: what is wrong with it
 * (update_find()); NULL = there was none. */
void nudge_text_follow_up(
    const struct nudge_facts *facts, const char *why, struct buf *out);

/* In front of the instruction, when a person has unblocked the node. words:
 * what they said; NULL = nothing. */
void nudge_text_unblocked(const char *words, struct buf *out);

/* For a person: what needs one, why, and what to type afterwards. */
void nudge_text_escalation(
    const struct nudge_facts *facts, const char *reason, struct buf *out);

#endif
