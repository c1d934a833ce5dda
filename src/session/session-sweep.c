/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "session-sweep.h"
#include "session.h"
#include "tmux.h"

#define ROLE "worker"

struct orphan {
	struct session_sweep *sweep;
	struct session *session;
	struct session_record record; /* never saved */
};

struct session_sweep {
	struct session_host host;
	bool now;
	session_sweep_fn *fn;
	void *arg;
	struct orphan *orphans;
	size_t count, left;
	bool listed; /* what there is to end is known */
	int ended;
};

static void
over(struct session_sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++) {
		session_free(sweep->orphans[i].session);
		session_record_release(&sweep->orphans[i].record);
	}
	sweep->fn(sweep->ended, sweep->arg);
	free(sweep->orphans);
	free(sweep);
}

static void
on_gone(void *arg)
{
	struct session_sweep *sweep = arg;

	if (--sweep->left == 0)
		over(sweep);
}

static void
take(struct session_sweep *sweep, const struct tmux_info *info)
{
	static const struct session_events none = { 0 };
	struct orphan *orphan = &sweep->orphans[sweep->count++];

	orphan->session = session_new(
	    &sweep->host, info->worker, ROLE, &orphan->record, &none, NULL);
	if (!info->dead &&
	    session_adopt(orphan->session, info->pane_pid, 0) == 0)
		sweep->ended++;
}

/* What has ended by itself is removed too: tmux keeps its last screen. */
static void
on_list(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct session_sweep *sweep = arg;

	sweep->orphans = xcalloc(count + 1, sizeof *sweep->orphans);
	for (size_t i = 0; err == NULL && i < count; i++)
		if (strcmp(list[i].role, ROLE) == 0 &&
		    list[i].worker[0] != '\0')
			take(sweep, &list[i]);
	sweep->left = sweep->count + 1;
	sweep->listed = true;
	if (sweep->now) {
		session_sweep_hurry(sweep);
		return;
	}
	for (size_t i = 0; i < sweep->count; i++)
		session_end(sweep->orphans[i].session, on_gone, sweep);
	on_gone(sweep);
}

void
session_sweep_hurry(struct session_sweep *sweep)
{
	sweep->now = true;
	if (!sweep->listed)
		return;
	for (size_t i = 0; i < sweep->count; i++)
		session_kill(sweep->orphans[i].session);
	over(sweep);
}

struct session_sweep *
session_sweep_new(struct loop *loop, struct tmux *tmux,
    const struct workspace *workspace, session_sweep_fn *fn, void *arg)
{
	struct session_sweep *sweep = xcalloc(1, sizeof *sweep);

	sweep->host = (struct session_host){
		.loop = loop,
		.tmux = tmux,
		.workspace = workspace,
	};
	sweep->fn = fn;
	sweep->arg = arg;
	tmux_list(tmux, on_list, sweep);
	return sweep;
}
