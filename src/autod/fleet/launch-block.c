/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "agent.h"
#include "box.h"
#include "buf.h"
#include "claude-home.h"
#include "emit.h"
#include "launch-block.h"
#include "mem.h"
#include "op-box.h"
#include "persist.h"
#include "preflight.h"
#include "start-facts.h"
#include "watch.h"

struct launch_block {
	struct fleet *fleet;
	struct watch *watch; /* on Claude Code's file; NULL = not needed yet */
};

void
launch_block_reason(const struct agent *agent, struct buf *out)
{
	struct preflight_facts facts;
	struct preflight preflight;

	start_facts_agent(agent->core->workspace, agent->core->settings,
	    agent->worker->name, &facts);
	preflight_judge(&facts, &preflight);
	preflight_agent_reason(&preflight, out);
	preflight_release(&preflight);
	preflight_facts_release(&facts);
	if (out->len == 0 && agent->box_fault != NULL &&
	    box_mode_of(agent->core->settings, agent->worker->name) != BOX_OFF)
		buf_adds(out, agent->box_fault);
}

static bool
is_over(const struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	return reason.len == 0;
}

static void
look(void *arg)
{
	struct launch_block *block = arg;
	struct fleet *fleet = block->fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		struct worker *w = agent->worker;

		if (!w->blocked || w->on_hold)
			continue;
		/* Nothing tells when its sandbox can be made: try. */
		if (agent->box_fault != NULL && agent->op == NULL)
			op_box(agent);
		if (!is_over(agent))
			continue;
		emit(fleet->core,
		    &(struct event){
			.kind = EVENT_LAUNCH_UNBLOCKED, .worker = w->name });
		w->blocked = false;
		persist_changed(fleet->core);
		if (worker_holds(w) == 0)
			agent_move(agent, w->before, NULL);
		agent_tick_later(agent, 1);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_SETTINGS_READ)
		look(arg);
}

struct launch_block *
launch_block_new(struct fleet *fleet)
{
	struct launch_block *block = xcalloc(1, sizeof *block);

	block->fleet = fleet;
	emit_subscribe(fleet->core, on_event, block);
	return block;
}

void
launch_block_free(struct launch_block *block)
{
	emit_unsubscribe(block->fleet->core, on_event, block);
	watch_free(block->watch);
	free(block);
}

/* Its folder, the home directory, always exists. */
static void
watch_file(struct launch_block *block)
{
	cleanup_free char *file = claude_home_file();

	if (block->watch == NULL && file != NULL)
		watch_new(block->fleet->core->loop, file, look, block,
		    &block->watch, NULL);
}

bool
launch_block_check(struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	if (reason.len == 0 || agent->worker->blocked)
		return reason.len > 0;
	watch_file(agent->fleet->block);
	agent_move(agent, WORKER_PAUSED, reason.data);
	agent->worker->blocked = true;
	persist_changed(agent->core);
	emit(agent->core,
	    &(struct event){ .kind = EVENT_LOGIN_NEEDED,
		.worker = agent->worker->name,
		.reason = reason.data });
	return true;
}

void
launch_block_look(struct launch_block *block)
{
	look(block);
}

void
launch_block_resume(struct launch_block *block)
{
	const struct fleet *fleet = block->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->worker->blocked)
			watch_file(block);
	look(block);
}
