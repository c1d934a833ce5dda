/* SPDX-License-Identifier: ISC */

/* What is done about a finding, the mildest first. */
#ifndef PROGRESS_STEP_H
#define PROGRESS_STEP_H

enum progress_step {
	STEP_NONE,
	STEP_LOG, /* record it */
	STEP_WARN, /* add a warning to the next prompt */
	STEP_CHECK, /* have the work checked as it is, and land it if it
		     * passes: the session is told nothing */
	STEP_REDIRECT, /* have another approach taken */
	STEP_RESTART, /* a fresh session that starts with what was learned */
	STEP_RETRY, /* the same in a new attempt by another worker: for silence,
		     * and where a plan says so */
	STEP_PAUSE, /* park the task for a person; its worker is free */
	STEP_COUNT
};

extern const char *const progress_step_words[];

#endif
