/* SPDX-License-Identifier: ISC */

#include <stddef.h>
#include <string.h>

#include "reconcile-config.h"
#include "settings.h"

#define DOUBLINGS_MAX 10
#define MESSAGES_MAX  32 /* fewer than a record has dispatches */

void
reconcile_config_read(
    const struct settings *settings, struct reconcile_config *ret_config)
{
	ret_config->enabled = settings_bool(settings, "plan.enabled");
	ret_config->tick_every_ms =
	    settings_duration(settings, "plan.tick_every");
	ret_config->idle_after_ms =
	    settings_duration(settings, "plan.idle_after");
	ret_config->max_retries =
	    (int)settings_int(settings, "plan.max_retries");
	ret_config->min_resend_ms =
	    settings_duration(settings, "plan.min_resend_interval");
	ret_config->backoff_base_ms =
	    settings_duration(settings, "plan.backoff_base");
	ret_config->backoff_max_ms =
	    settings_duration(settings, "plan.backoff_max");
	settings_list(settings, "plan.allow_agents", &ret_config->allow_agents);
	ret_config->allow_cross_agent =
	    settings_bool(settings, "plan.allow_cross_agent");
}

int64_t
reconcile_backoff_ms(const struct reconcile_config *config, int retries)
{
	int64_t wait = config->backoff_base_ms;
	int64_t max = config->backoff_max_ms;

	for (int i = 0; i < retries && i < DOUBLINGS_MAX && wait < max; i++)
		wait = wait > max / 2 ? max : wait * 2;
	return wait < max ? wait : max;
}

static bool
is_listed(const struct reconcile_config *config, const char *name)
{
	const char *const *agents = config->allow_agents;

	for (size_t i = 0; agents != NULL && agents[i] != NULL; i++)
		if (strcmp(agents[i], name) == 0)
			return true;
	return false;
}

bool
reconcile_allows(const struct reconcile_config *config, const char *agent_id,
    const char *worker)
{
	const char *agent = agent_id != NULL ? agent_id : RECONCILE_AGENT_MAIN;

	if (strcmp(agent, RECONCILE_AGENT_MAIN) != 0 &&
	    !config->allow_cross_agent)
		return false;
	return is_listed(config, RECONCILE_AGENT_ANY) ||
	    is_listed(config, agent) ||
	    (worker != NULL && is_listed(config, worker));
}

int
reconcile_messages_max(const struct reconcile_config *config)
{
	int most = 3 * (config->max_retries + 1);

	return most < MESSAGES_MAX ? most : MESSAGES_MAX;
}
