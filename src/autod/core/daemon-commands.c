/* SPDX-License-Identifier: ISC */

#include <unistd.h>

#include "core.h"
#include "daemon-commands.h"
#include "errtext.h"
#include "json.h"
#include "life.h"
#include "loop.h"
#include "reload.h"
#include "serve.h"
#include "server.h"

static void
on_info(void *arg, struct server_call *call, struct json_object *params)
{
	const struct core *core = arg;
	struct json_object *result = json_object_new_object();

	(void)params;
	json_set_string(result, "version", LLMC_VERSION);
	json_set_int(result, "pid", getpid());
	json_set_string(result, "instance_id", core->instance);
	json_set_int(result, "lag_ms", loop_lag_ms(core->loop));
	json_set_int(result, "turns", (int64_t)loop_passes(core->loop));
	json_set_int(result, "workers", (int64_t)core->state.count);
	json_set_bool(result, "auto", core->options->auto_mode);
	server_reply(call, result);
}

static void
on_state(void *arg, struct server_call *call, struct json_object *params)
{
	const struct core *core = arg;

	(void)params;
	server_reply(call, state_to_json(&core->state));
}

static void
on_reloaded(const struct err *err, void *arg)
{
	if (err != NULL)
		serve_refuse(arg, API_FAILED, "%s", err->msg);
	else
		server_reply(arg, NULL);
}

static void
on_reload(void *arg, struct server_call *call, struct json_object *params)
{
	(void)params;
	reload_begin(arg, on_reloaded, call);
}

static void
on_patrol(void *arg, struct server_call *call, struct json_object *params)
{
	(void)params;
	life_patrol(arg);
	server_reply(call, NULL);
}

static void
on_stop(void *arg, struct server_call *call, struct json_object *params)
{
	server_reply(call, json_object_new_int64(getpid()));
	if (json_bool_or(params, "keep", false)) {
		life_hand_over(arg, "another daemon takes over");
		return;
	}
	life_complete(
	    arg, "stopped with llmc down", json_bool_or(params, "now", false));
}

void
daemon_commands_register(struct core *core)
{
	serve_handle(core, "daemon.info", on_info, core);
	serve_handle(core, "state.get", on_state, core);
	serve_handle(core, "daemon.reload", on_reload, core);
	serve_handle(core, "daemon.patrol", on_patrol, core);
	serve_handle(core, "daemon.stop", on_stop, core);
}
