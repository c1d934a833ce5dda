/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "box-limits.h"
#include "buf.h"
#include "cgroup.h"
#include "emit.h"
#include "errtext.h"
#include "id.h"
#include "mem.h"
#include "remains.h"
#include "strv.h"
#include "worker-limits.h"
#include "workspace.h"

#define HASH_LEN 8

static void
forget(struct worker_limits *limits)
{
	if (limits->cgroup != NULL)
		cgroup_remove(limits->cgroup);
	free(take_ptr(&limits->cgroup));
	strv_clear(&limits->scope);
	limits->memory_max = 0;
}

/* Everybody who uses llmc on this machine may have a worker adam. */
static char *
name_for(const struct agent *agent)
{
	char hash[HASH_LEN + 1];

	id_hash(agent->core->workspace->root, hash, HASH_LEN);
	return xasprintf("llmc-%s-%s", hash, agent->worker->name);
}

static void
tell(struct agent *agent, const char *why)
{
	struct worker_limits *limits = &agent->limits;

	if (limits->told != NULL && strcmp(limits->told, why) == 0)
		return;
	xstrset(&limits->told, why);
	emit(agent->core,
	    &(struct event){ .kind = EVENT_LIMITS_MISSING,
		.worker = agent->worker->name,
		.reason = why });
}

static void
use_place(struct agent *agent, const struct cgroup_place *place,
    const struct box_limits *wanted)
{
	struct worker_limits *limits = &agent->limits;
	cleanup_free char *name = name_for(agent);
	struct err err = { 0 };

	if (place->way == CGROUP_FOLDER &&
	    cgroup_make(place, wanted, name, &limits->cgroup, &err) < 0) {
		tell(agent, err.msg);
	} else if (place->way == CGROUP_SCOPE) {
		/* The scope of the last session may not be gone yet. */
		cleanup_free char *unit = xasprintf("%s-%llu", name,
		    (unsigned long long)agent->worker->session.generation + 1);

		limits->scope = box_limits_scope(
		    wanted, place->systemd_run, unit, place->as_root);
	}
	limits->memory_max = wanted->values[BOX_LIMIT_MEMORY];
}

void
worker_limits_prepare(struct agent *agent, struct session_launch *how)
{
	struct worker_limits *limits = &agent->limits;
	struct box_limits wanted;
	struct cgroup_place place;

	forget(limits);
	box_limits_of(agent->core->settings, agent->worker->name, &wanted);
	cgroup_find(box_limits_wanted(&wanted), agent->fleet->cgroups, &place);
	if (place.why != NULL)
		tell(agent, place.why);
	use_place(agent, &place, &wanted);
	cgroup_place_release(&place);
	how->cgroup = limits->cgroup;
	how->scope = limits->scope;
}

void
worker_limits_ended(struct agent *agent, struct buf *out)
{
	struct worker_limits *limits = &agent->limits;
	int64_t kills =
	    limits->cgroup != NULL ? cgroup_oom_kills(limits->cgroup) : 0;
	struct box_limits now;

	/* A scope is gone by now, and what an earlier daemon launched is not
	 * known here: the keeper has written it down. */
	if (kills <= 0)
		kills = remains_oom_kills(
		    agent->core->workspace, agent->worker->name);
	box_limits_of(agent->core->settings, agent->worker->name, &now);
	if (limits->memory_max == 0)
		limits->memory_max = now.values[BOX_LIMIT_MEMORY];
	if (kills > 0 && limits->memory_max > 0)
		box_limits_describe_oom(limits->memory_max, out);
	forget(limits);
}

void
worker_limits_release(struct worker_limits *limits)
{
	forget(limits);
	free(take_ptr(&limits->told));
}
