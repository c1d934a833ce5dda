/* SPDX-License-Identifier: ISC */

/*
 * What an agent says about the end of its work: {"status", "confidence",
 * "summary", "artifacts": [{"path", "description"}], "blockers", "warnings"},
 * only what was said. It comes from the tool report_completion, or from the
 * text of the agent's last message. Pure. What the tool is given is kept whole,
 * or refused if it is too long; of a message, which is kept beside it, the
 * beginning of what is too long is taken.
 */
#ifndef AGENT_REPORT_H
#define AGENT_REPORT_H

struct buf;
struct err;
struct json_object;

#define COMPLETION_TOOL        "report_completion"
#define COMPLETION_SUMMARY_MAX 16384 /* bytes */
#define COMPLETION_ENTRY_MAX   1024
#define COMPLETION_ENTRIES_MAX 50 /* of each list */

/* As the head of a task says it: the summary is the result, and no change is
 * wanted. */
#define COMPLETION_IS_RESULT "report"
extern const char *const completion_result_words[];

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

/* --- how far its work is, and how often it may say so ------------------- */

#define PROGRESS_EVERY_MS    30000
#define PROGRESS_COUNT_MAX   100 /* of a run */
#define PROGRESS_PHASE_MAX   1024 /* bytes */
#define PROGRESS_METRICS_MAX 50
#define PROGRESS_NAME_MAX    64
#define PROGRESS_VALUE_MAX   256

extern const char *const progress_level_words[]; /* "L0_operational", ... */

/* {"phase", "percentComplete", "level", "metrics"}, only what was said, and the
 * level: the first unless it was said. -EINVAL with what is wrong. The caller
 * owns *ret_report. */
int progress_report_from_args(
    struct json_object *args, struct json_object **ret_report, struct err *err);

/* What the record of its run keeps: without the metrics, with "updatedAt". The
 * caller owns it. */
struct json_object *
progress_report_latest(struct json_object *report, int64_t now_ms);
/* The percentage of what the record keeps; NAN = not known. */
double progress_report_percent(struct json_object *latest);

enum progress_rate {
	PROGRESS_ACCEPTED,
	PROGRESS_TOO_SOON,
	PROGRESS_USED_UP
};

/* May a run that has sent `count` reports, the last one at last_ms, send
 * another? *ret_wait_ms: how long until it may, if it is too soon. A last_ms
 * that is still to come does not make it wait. */
enum progress_rate progress_report_rate(
    int count, int64_t last_ms, int64_t now_ms, int64_t *ret_wait_ms);

/* Append what the prompt of a task says about reports; completion, progress:
 * what is asked for. */
void report_prompt(struct buf *out, bool completion, bool progress);

#endif
