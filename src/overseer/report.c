/* SPDX-License-Identifier: ISC */

/* The record of a repair, kept for good: what was asked, everything that was
 * said and done, how it ended, what changed. */
#include <stdio.h>
#include <stdlib.h>

#include "errtext.h"
#include "file.h"
#include "log.h"
#include "mem.h"
#include "overseer.h"
#include "remedy-mask.h"
#include "repair.h"
#include "report.h"
#include "strv.h"
#include "text.h"
#include "transcript-text.h"

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

char *
report_write(const struct repair *r, struct err *err)
{
	const struct overseer *o = r->overseer;
	cleanup_free char *name =
	    xasprintf("logs/remediation_%s.txt", r->stamp);
	char *file = overseer_path(o, name);
	cleanup_buf struct buf text = BUF_INIT, masked = BUF_INIT;
	int64_t took = clock_mono_ms() - r->began_ms;

	buf_addf(&text,
	    "Remediation %s\nFailure: %s: %s\nOutcome: %s (%s)\nDuration: ",
	    r->stamp, health_verdict_name(o->verdict),
	    o->words != NULL ? o->words : "", repair_outcome_name(r->outcome),
	    r->words != NULL ? r->words : "");
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
