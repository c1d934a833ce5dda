/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "ancestry.h"
#include "api.h"
#include "caller-find.h"
#include "caller.h"
#include "core.h"
#include "door.h"
#include "hook-event.h"
#include "identity.h"
#include "json.h"
#include "mem.h"
#include "worker.h"

/* At a worker's socket it does not matter which other session it is. */
static int
find(
    const struct door *door, const struct server_peer *peer, char **ret_session)
{
	const struct core *core = door_core(door);
	struct identity_panes panes = { 0 };
	int r;

	if (peer->gone)
		return -ESRCH;
	for (size_t i = 0; i < core->state.count; i++)
		identity_add(&panes, core->state.workers[i]->name,
		    core->state.workers[i]->session.pane);
	if (door_worker(door) == NULL)
		identity_add_repair(&panes, core->workspace, door_files(door));
	r = identity_find(ANCESTRY_PROC, core->workspace, &panes, peer->pid,
	    peer->pidfd, ret_session);
	identity_release(&panes);
	return r;
}

static bool
is_life(const struct api_method *method, struct json_object *params)
{
	struct hook_event event;

	return (method->flags & API_OWN) &&
	    hook_event_read(params, &event, NULL) == 0 &&
	    hook_kind_is_life(event.kind);
}

/* Whatever the call says. */
static void
name_caller(const char *worker, const char *key, struct json_object *params)
{
	if (!json_object_is_type(params, json_type_object))
		return;
	json_object_object_del(params, key);
	if (worker != NULL)
		json_set_string(params, key, worker);
}

int
caller_find_check(const struct door *door, struct server_call *call,
    const struct api_method *method, struct json_object *params,
    char **ret_worker, struct err *err)
{
	cleanup_free char *session = NULL;
	const char *worker;
	const struct core *core = door_core(door);
	struct caller caller = { .door = door_worker(door) };
	struct server_peer peer;

	*ret_worker = NULL;
	if (caller_is_anybody(method))
		return 0;
	server_call_peer(call, &peer);
	caller.unknown = find(door, &peer, &session) < 0;
	caller.outside = caller.unknown && !peer.gone && peer.pid == 0;
	caller.session = session;
	/* While no daemon runs there is no other way. */
	if (core->options->oneshot && session != NULL &&
	    caller_rank(&caller) == API_READER)
		caller.door = session;
	worker = caller_rank(&caller) == API_WORKER ? caller.door : NULL;
	if (method->flags & API_NAMED)
		name_caller(worker, "worker", params);
	if (method->flags & API_SENT)
		name_caller(worker, "sender", params);
	if (worker != NULL)
		*ret_worker = xstrdup(worker);
	return caller_check(&caller, method,
	    json_string_or(params, "worker", NULL), is_life(method, params),
	    err);
}
