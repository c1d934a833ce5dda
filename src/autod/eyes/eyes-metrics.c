/* SPDX-License-Identifier: ISC */

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-metrics.h"
#include "eyes-spans.h"
#include "heartbeat.h"
#include "json.h"
#include "loop.h"
#include "metrics-state.h"
#include "metrics-text.h"
#include "persist.h"
#include "process-facts.h"
#include "serve.h"

/*
 * A counter must never go back, not even if this daemon is killed now: so what
 * was counted is saved soon, and a span that goes on counts until the moment
 * that the next daemon would end it at (book_open_spans()), which is the last
 * heartbeat or the last time the state was saved.
 */
void
eyes_metrics_text(struct eyes_floor *eyes, struct buf *out)
{
	struct core *core = eyes->core;
	struct metrics m = { .version = LLMC_VERSION, .live = true };
	int64_t now = clock_wall_ms();

	metrics_state_fill(&core->state, core->settings, now, &m);
	m.beat_s = heartbeat_last_unix(core->heartbeat);
	eyes_spans_sum(
	    eyes->spans, m.beat_s > 0 ? m.beat_s * 1000 : now, m.uses);
	m.lag_ms = loop_lag_ms(core->loop);
	process_facts_read(&m.process);
	m.process.start_s = (double)eyes->started_ms / 1000;
	metrics_text(&m, out);
	if (m.beat_s == 0 || !persist_is_idle(core))
		persist_changed(core);
}

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct eyes_floor *eyes = arg;
	struct json_object *result = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	(void)params;
	eyes_metrics_text(eyes, &text);
	json_set_string(result, "text", text.data);
	serve_reply(eyes->core, call, result);
}

void
eyes_metrics_register(struct eyes_floor *eyes)
{
	serve_handle(eyes->core, "metrics.get", on_get, eyes);
}
