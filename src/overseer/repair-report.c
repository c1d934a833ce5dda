/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "excerpt.h"
#include "overseer-private.h"
#include "transcript.h"

static const char *const outcome_words[REPAIR_OUTCOME_COUNT] = {
	[REPAIR_COMPLETED] = "completed",
	[REPAIR_NO_FIX] = "no fix",
	[REPAIR_GAVE_UP] = "gave up",
	[REPAIR_INTERRUPTED] = "interrupted",
	[REPAIR_DIED] = "session died",
	[REPAIR_TIMED_OUT] = "timed out",
	[REPAIR_FAILED] = "failed",
};

const char *
repair_outcome_name(enum repair_outcome outcome)
{
	return outcome_words[outcome];
}

void
repair_failed(struct repair *r, enum repair_outcome outcome, const char *words)
{
	struct err err = { 0 };

	if (!r->op.stopping) {
		r->failed = true;
		r->outcome = outcome;
		xstrset(&r->words, words);
	}
	err_set(&err, -EIO, "%s", words);
	operation_arrived(&r->op, &err);
}

#define DIFF_MAX (512 * 1024)

/* One that died is followed by another. */
static void
add_sessions(char **transcripts, struct buf *out)
{
	size_t count = strv_count(transcripts);
	struct err err = { 0 };

	if (count == 0)
		buf_adds(out, "\n\n=== Session ===\n\nNo transcript.\n");
	for (size_t i = 0; i < count; i++) {
		buf_adds(out, "\n\n=== Session");
		if (count > 1)
			buf_addf(out, " %zu of %zu", i + 1, count);
		buf_addf(out, " ===\n\n");
		if (transcript_text(transcripts[i], out, &err) < 0)
			buf_addf(out, "No transcript: %s.\n", err.msg);
	}
}

/* logs/remediation_<stamp>.txt; its path, owned by the caller, or NULL, and err
 * says why. */
char *
repair_report_write(const struct repair *r, struct err *err)
{
	const struct overseer *o = r->overseer;
	cleanup_free char *name =
	    xasprintf("logs/remediation_%s.txt", r->stamp);
	char *file = overseer_path(o, name);
	cleanup_buf struct buf text = BUF_INIT, masked = BUF_INIT;
	int64_t took = clock_mono_ms() - r->began_ms;

	buf_addf(&text,
	    "Remediation %s\nFailure: %s: %s\nOutcome: %s (%s)\nDuration: ",
	    r->stamp, health_verdict_name(o->failure.verdict),
	    o->failure.words != NULL ? o->failure.words : "",
	    repair_outcome_name(r->outcome), r->words != NULL ? r->words : "");
	text_add_duration(&text, took);
	buf_addf(&text, "\nWhere: %s\n\n=== Prompt ===\n\n", r->cwd);
	buf_add(&text, r->prompt.data, r->prompt.len);
	add_sessions(r->transcripts, &text);
	buf_adds(&text, "\n=== What changed ===\n\n");
	buf_add(
	    &text, r->diff.data, text_cut(r->diff.data, r->diff.len, DIFF_MAX));
	buf_adds(&text, r->diff.len > 0 ? "\n" : "Nothing.\n");
	remedy_mask(text.data, text.len, &masked);
	if (file_replace(file, masked.data, masked.len, 0600, err) < 0) {
		log_errorx("%s: %s", file, err->msg);
		free(file);
		return NULL;
	}
	return file;
}
