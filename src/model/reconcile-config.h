/* SPDX-License-Identifier: ISC */

/* The settings of the tick, as values, and the rules that follow from them
 * alone. Pure. */
#ifndef RECONCILE_CONFIG_H
#define RECONCILE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

#define RECONCILE_AGENT_MAIN "main" /* all auto workers */
#define RECONCILE_AGENT_ANY  "*"

struct reconcile_config {
	bool enabled;
	int64_t tick_every_ms; /* 0 = never */
	int64_t idle_after_ms;
	int max_retries;
	int64_t min_resend_ms;
	int64_t backoff_base_ms, backoff_max_ms;
	const char *const *allow_agents; /* NULL terminated; borrowed */
	bool allow_cross_agent;
};

/* The lists are those of the settings. */
void reconcile_config_read(
    const struct settings *settings, struct reconcile_config *ret_config);

/* How long to wait after a retry; `retries` counts it already. */
int64_t
reconcile_backoff_ms(const struct reconcile_config *config, int retries);

/* May work go to this agent ("main", NULL = main, or the name of a worker that
 * a person drives)? worker: which one of them, NULL = not known. */
bool reconcile_allows(const struct reconcile_config *config,
    const char *agent_id, const char *worker);

/* How many messages an assignment gets before a person is told: work between
 * them begins the retries anew, but not for ever. */
int reconcile_messages_max(const struct reconcile_config *config);

#endif
