/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "clock.h"
#include "mem.h"
#include "overseer.h"
#include "remedy.h"
#include "repair-prompt.h"
#include "repair.h"
#include "settings.h"

static void
add_history(const struct overseer *o, struct buf *out)
{
	char stamp[CLOCK_STAMP_SIZE];

	for (size_t i = 0; i < o->history.count; i++) {
		const struct spiral_event *e = &o->history.events[i];

		if (e->kind != SPIRAL_REMEDY || e->signature == NULL ||
		    strcmp(e->signature, o->signature) != 0)
			continue;
		clock_format_stamp(e->at_ms, stamp);
		buf_addf(out, "%s: %s (%s)%s%s\n", stamp,
		    e->outcome != NULL ? e->outcome : "?",
		    e->words != NULL ? e->words : "",
		    e->log != NULL ? ", see " : "",
		    e->log != NULL ? e->log : "");
	}
}

void
repair_prompt_write(struct repair *r)
{
	struct overseer *o = r->overseer;
	const struct evidence *e = &o->evidence;
	cleanup_buf struct buf history = BUF_INIT;
	const struct remedy_log logs[] = {
		{ "autod.log", e->autod_log },
		{ "auto.log", e->auto_log },
		{ "task_pool.log", e->task_pool_log },
		{ "post_accept.log", e->post_accept_log },
	};
	struct remedy_facts facts = {
		.instructions =
		    settings_string(o->settings, "overseer.remediation_prompt"),
		.verdict = health_verdict_name(o->verdict),
		.class = o->class,
		.words = o->words,
		.ended = o->daemon.how_ended,
		.age_s = o->beat_age_s,
		.failure = e->failure,
		.registration = e->registration,
		.heartbeat = e->heartbeat,
		.standard_error = e->standard_error,
		.stack = e->stack,
		.workers = e->workers,
		.task_error = e->task_error,
		.git_status = r->status.data,
		.logs = logs,
		.log_count = nitems(logs),
		.finding_file = r->finding,
		.manual_file = r->request,
		.root = o->workspace.root,
		.tree = r->in_worktree ? r->cwd : NULL,
		.boxed = r->boxed,
	};

	add_history(o, &history);
	facts.history = history.data;
	remedy_prompt(&facts, &r->prompt);
}
