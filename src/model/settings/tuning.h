/* SPDX-License-Identifier: ISC */

/*
 * Numbers that no user needs to set. They are constants, except for tests,
 * which cannot wait that long: LLMC_TEST_TUNING names a file that replaces some
 * of them, as "outage_limit=1000 same_failures=2". It is read whenever the
 * configuration is (config_parse()).
 */
#ifndef TUNING_H
#define TUNING_H

#define TUNING_FILE "LLMC_TEST_TUNING" /* a variable */

/* Times are in ms. */
extern struct tuning {
	int64_t
	    outage_limit; /* without the service, until a person is needed */
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
