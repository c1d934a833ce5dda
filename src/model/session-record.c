/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include <json-c/json.h>

#include "mem.h"
#include "session-record.h"

const char *const prompt_step_words[] = {
	[PROMPT_NONE] = "none",
	[PROMPT_PARKED] = "parked",
	[PROMPT_CLEARING] = "clearing",
	[PROMPT_PASTED] = "pasted",
	[PROMPT_STEP_COUNT] = NULL,
};

_Static_assert(nitems(prompt_step_words) == PROMPT_STEP_COUNT + 1,
    "a word for every step of a prompt");

const char *
prompt_step_name(enum prompt_step step)
{
	return prompt_step_words[step];
}

void
session_record_forget_pending(struct session_record *record)
{
	record->step = PROMPT_NONE;
	xstrset(&record->pending, NULL);
	xstrset(&record->receipt, NULL);
	record->pending_clear = false;
	record->pending_since_ms = 0;
	record->pending_tries = 0;
	record->pending_refused = 0;
}

void
session_record_release(struct session_record *record)
{
	free(record->id);
	free(record->projects);
	free(record->transcript);
	json_object_put(record->pane);
	free(record->pending);
	free(record->receipt);
	*record = (struct session_record){ 0 };
}
