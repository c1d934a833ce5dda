/* SPDX-License-Identifier: ISC */

/*
 * What an agent says about the end of its work: {"status", "confidence",
 * "summary", "artifacts": [{"path", "description"}], "blockers", "warnings"},
 * only what was said. It comes from the tool report_completion, or from the
 * text of the agent's last message. Pure. What the tool is given is kept whole,
 * or refused if it is too long; of a message, which is kept beside it, the
 * beginning of what is too long is taken.
 */
#ifndef COMPLETION_REPORT_H
#define COMPLETION_REPORT_H

struct err;
struct json_object;

/* Without blanks around it and without control characters, valid UTF-8, cut
 * between characters; lines: newlines and tabs stay. The caller frees it. */
char *report_text(const char *text, size_t len, size_t max, bool lines);

/* The word that is equal but for its case; NULL = none of them. */
const char *report_word(const char *const *words, const char *text);

#define COMPLETION_TOOL        "report_completion"
#define COMPLETION_SUMMARY_MAX 16384 /* bytes */
#define COMPLETION_ENTRY_MAX   1024
#define COMPLETION_ENTRIES_MAX 50 /* of each list */

/* From the arguments of the tool: blanks around texts and the case of words do
 * not matter, a list may be a single text, empty entries are dropped. -EINVAL
 * with what is wrong: summary is required. The caller owns *ret_report. */
int completion_report_from_args(
    struct json_object *args, struct json_object **ret_report, struct err *err);

/* From a message: lines "field: value" or "field = value" and the list items
 * below them, outside of fenced code blocks. Of each field the last valid value
 * counts. NULL: there is none. The caller owns the result. */
struct json_object *completion_report_from_text(const char *text, size_t len);

/* The name of a tool as a run's record has it: llmc's own tools have no
 * prefix. */
const char *completion_report_tool(const char *tool_name);

#endif
