/* SPDX-License-Identifier: ISC */

#include <string.h>
#include <unistd.h>

#include "account.h"
#include "agent.h"
#include "auto.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-live.h"
#include "eyes-spans.h"
#include "fleet.h"
#include "hand-task.h"
#include "json.h"
#include "life.h"
#include "loop.h"
#include "mem.h"
#include "oversight-floor.h"
#include "settings.h"
#include "view-doc.h"
#include "view-row.h"
#include "worker.h"
#include "workspace.h"

/* --- workers --------------------------------------------------------- */

/* The model that its newest conversation has used most. */
static const char *
model_of(const struct state *state, const struct worker *w)
{
	const char *best = NULL;
	int64_t most = -1;

	for (size_t i = state->account_count; i-- > 0;) {
		const struct account *account = state->accounts[i];
		const struct usage *usage = &account->spent.usage;

		if (account->worker == NULL ||
		    strcmp(account->worker, w->name) != 0)
			continue;
		for (size_t m = 0; m < usage->count; m++)
			if (usage->models[m].tokens[USAGE_OUTPUT] > most) {
				best = usage->models[m].name;
				most = usage->models[m].tokens[USAGE_OUTPUT];
			}
		break;
	}
	return best;
}

/* NULL = nothing was found, or nobody watches. */
static struct json_object *
oversight_of(const struct eyes_floor *eyes, const struct worker *w)
{
	cleanup_free char *task =
	    w->task != NULL ? xstrdup(w->task) : hand_task_name(w->name);
	const struct watched *watched = eyes->oversight != NULL ?
	    oversight_floor_known(eyes->oversight, task) :
	    NULL;
	struct json_object *row;
	struct detection d;

	if (watched == NULL || !watched_worst(watched, &d))
		return NULL;
	row = view_row_oversight(&d,
	    progress_step_words[watched->progress.tracks[d.type].level],
	    watched->count);
	detection_release(&d);
	return row;
}

static void
fill_worker(const struct eyes_floor *eyes, const struct agent *agent,
    struct json_object *row)
{
	const struct worker *w = agent->worker;
	bool open = w->session.busy && w->session.open_tools > 0;

	json_set_string(row, "tool", open ? agent->tool : NULL);
	view_row_moment(row, "tool_since_unix",
	    open && agent->tool != NULL ? agent->tool_ms : 0);
	json_set_string(row, "model", model_of(&agent->core->state, w));
	json_set(row, "oversight", oversight_of(eyes, w));
}

/* --- the daemon ------------------------------------------------------ */

/* A number of which a small change is nothing to show. */
static int64_t
rounded(int64_t ms)
{
	int64_t step = 1;

	while (step * 10 <= ms)
		step *= 10;
	return ms >= step * 5 ? step * 5 : ms >= step * 2 ? step * 2 : step;
}

static void
fill_head(struct eyes_floor *eyes, struct json_object *head)
{
	const struct core *core = eyes->core;
	const char *name = strrchr(core->workspace->root, '/');
	int64_t lag = loop_lag_ms(core->loop);

	json_set_string(
	    head, "project", name != NULL ? name + 1 : core->workspace->root);
	json_set_string(head, "root", core->workspace->root);
	json_set_string(head, "branch", core_branch(core));
	json_set_string(head, "version", LLMC_VERSION);
	json_set_string(head, "instance", core->instance);
	json_set_int(head, "pid", getpid());
	view_row_moment(head, "started_unix", eyes->started_ms);
	json_set_bool(head, "stopping", core->stopping);
	json_set_bool(head, "until_empty", eyes->mode->until_empty);
	json_set_int(head, "concurrency", eyes->mode->workers);
	json_set_bool(head, "overseen", life_is_overseen(core));
	json_set_int(head, "lag_ms", lag > 0 ? rounded(lag) : 0);
}

void
eyes_live_fill(struct eyes_floor *eyes, struct json_object *view)
{
	for (size_t i = 0; i < eyes->fleet->count; i++) {
		const struct agent *agent = eyes->fleet->agents[i];
		struct json_object *row =
		    view_row(view, "workers", agent->worker->name);

		if (row == NULL)
			continue;
		fill_worker(eyes, agent, row);
		eyes_spans_fill(eyes->spans, agent->worker->name, row);
	}
	fill_head(eyes, view_of(view, "head"));
}
