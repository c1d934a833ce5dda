/* SPDX-License-Identifier: ISC */

/* Every configuration key: one row each. */
#ifndef SETTINGS_TABLE_H
#define SETTINGS_TABLE_H

#include "settings-value.h"

enum setting_type {
	SETTING_STRING,
	SETTING_PATH, /* "~" and "~/..." mean the home directory */
	SETTING_CHOICE,
	SETTING_BOOL,
	SETTING_INT,
	SETTING_DURATION, /* "500ms", "30s", "5m", "1h" or plain seconds */
	SETTING_LIST, /* of strings */
	SETTING_AMOUNT, /* a number with up to six decimals, in millionths */
	SETTING_TYPE_COUNT
};

#define SETTING_RUNS    2u /* its value is run as a program or command */
#define SETTING_NONE    4u /* "none" is empty, on purpose */
#define SETTING_RESTART 1u /* a change needs a restart of the daemon */

struct setting {
	const char *path; /* "repo.default_branch" */
	enum setting_type type;
	const char *fallback; /* the default, as TOML; NULL: derived */
	const char *derived; /* how it is derived, for people */
	int64_t min, max; /* INT, DURATION (ms), AMOUNT; both 0 = none */
	const char *const *choices; /* CHOICE, and LIST if it has them; NULL
				     * terminated */
	enum setting_form form; /* of a STRING, of each item of a LIST */
	unsigned flags;
	const char *help; /* one sentence */
};

extern const struct setting settings_table[];
extern const size_t settings_table_count;

/* --- cards of agents -------------------------------------------------- */

/* The keys of the tables [agents.<name>] of a config file: what an agent that
 * can be asked for is good at, and how it is started. agent-card.h has them as
 * values. */

/* The kinds of agents (agent-kind.h), NULL terminated; and "" before them. */
extern const char *const agent_kind_or_none[];
#define agent_kind_words (agent_kind_or_none + 1)

/* What the paths of the rows begin with; not a name that a file can have. */
#define SETTINGS_AGENT "agents.NAME."

extern const struct setting settings_agent_keys[];
extern const size_t settings_agent_key_count;

/* --- numbers that only tests replace ---------------------------------- */

/*
 * Numbers that no user needs to set. They are constants, except for tests,
 * which cannot wait that long: LLMC_TEST_TUNING names a file that replaces some
 * of them, as "outage_limit=1000 same_failures=2". It is read whenever the
 * configuration is (config_parse()).
 */

#define TUNING_FILE "LLMC_TEST_TUNING" /* a variable */

/* Times are in ms. */
extern struct tuning {
	int64_t
	    outage_limit; /* without the service, until a person is needed */
	int64_t
	    login_probe; /* between two tries with a login that is refused */
	int64_t login_ask; /* of those, until a person is told */
	int64_t plan_tick; /* between two checks of all assignments */
	int64_t plan_retries; /* requests for a status, until recovery */
	int64_t slice; /* part of a long turn: it ends after this time ... */
	int64_t slice_tools; /* ... or after this many tool calls */
	int64_t expected_iterations; /* of a task; 0: its effort says so */
	int64_t daemon_start; /* for the overseer's daemon to become ready */
	int64_t daemon_stop; /* from SIGTERM to SIGKILL */
	int64_t same_failures; /* in 24 hours, until a person is needed ... */
	int64_t remediations; /* ... and of all kinds together; 0 = no limit */
	int64_t answer_wait; /* of a worker, for a person */
	int64_t trial; /* check_command is tried before the first task; 0 =
			* no */
	int64_t admission; /* no session while the machine is short of
			    * something (quota.h); 0 = that is not looked at */
	int64_t team_depth; /* of agents that spawn agents; a worker's is 1 */
	int64_t host_lease; /* of a host in a fleet */
	int64_t host_beat; /* between two renewals of it ... */
	int64_t host_poll; /* ... and two looks into the shared book */
	int64_t look_least; /* between two looks at origin, but for landings */
} tuning;

/* All of them as they are without tests, then those of the text (NULL =
 * none). False: it names another one, or is not a list of numbers. */
bool tuning_read(const char *text);

#endif
