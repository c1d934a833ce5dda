/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "backoff.h"
#include "id.h"
#include "prompt.h"
#include "session-record.h"
#include "worker.h"

struct crash_verdict
crash_judge(struct worker *worker, bool driven, int64_t now_ms)
{
	struct crash_verdict verdict = { 0 };

	if (worker_waits(worker->status) || worker->status == WORKER_ERROR)
		return verdict;
	if (now_ms - worker->crashed_ms > CRASH_ROW_MS)
		worker->crashes = 0;
	worker->crashes++;
	worker->crashed_ms = now_ms;
	verdict.counts = true;
	verdict.give_up =
	    worker->crashes >= (driven ? CRASH_DRIVEN_MAX : CRASH_MAX);
	if (worker->crashes > 1)
		backoff_next(
		    &backoff_crash, worker->crashes - 2, &verdict.pause_ms);
	return verdict;
}

#define ENDING   ".jsonl"
#define DATED    "rollout-"
#define OPENCODE "ses_" /* its ids begin so */
#define CHAT     "session-"
#define CHAT_ID  8 /* bytes of the id */

bool
session_start_id_valid(const char *id)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (id != NULL && strncmp(id, OPENCODE, strlen(OPENCODE)) == 0)
		return strspn(id + strlen(OPENCODE), letters) == 26 &&
		    strlen(id) == strlen(OPENCODE) + 26;
	return id != NULL && id_uuid_valid(id);
}

/* The next part of a path, or NULL; *path is then behind it. */
static const char *
next_part(const char **path, size_t *ret_len)
{
	const char *part = *path + strspn(*path, "/");

	*ret_len = strcspn(part, "/");
	*path = part + *ret_len;
	return *ret_len > 0 ? part : NULL;
}

/* Absolute, each part separated by one slash, none of them "." or "..". */
static bool
is_plain(const char *path)
{
	size_t len, count = 0, bytes = 0;
	const char *at = path, *part;

	if (path[0] != '/')
		return false;
	while ((part = next_part(&at, &len)) != NULL) {
		if (strncmp(part, "..", len) == 0 && len <= 2)
			return false;
		count++;
		bytes += len;
	}
	return count > 0 && bytes + count == strlen(path);
}

/* What is left of the path below the folder, without a slash; NULL if it is not
 * below it. The folder may be written in any way. */
static const char *
below(const char *folder, const char *path)
{
	size_t len, path_len;
	const char *part, *path_part;

	while ((part = next_part(&folder, &len)) != NULL) {
		if (len == 1 && part[0] == '.')
			continue;
		path_part = next_part(&path, &path_len);
		if (path_part == NULL || path_len != len ||
		    strncmp(part, path_part, len) != 0)
			return NULL;
	}
	return path + strspn(path, "/");
}

bool
session_start_path_valid(const char *projects, const char *id, const char *path)
{
	const char *rest, *file;
	size_t len, tail, named;
	int folders = 0;
	bool dated, chat;

	if (path == NULL || !session_start_id_valid(id) || !is_plain(path))
		return false;
	rest = projects != NULL ? below(projects, path) : path;
	if (rest == NULL)
		return false;
	file = strrchr(path, '/') + 1;
	/* "rollout-TIME-ID.jsonl" is in a folder for each day. */
	dated = strncmp(file, DATED, strlen(DATED)) == 0;
	/* "PROJECT/chats/session-TIME-BEGINNING OF ID.jsonl" */
	chat = strncmp(file, CHAT, strlen(CHAT)) == 0;
	len = strlen(file);
	named = chat ? CHAT_ID : strlen(id);
	tail = named + strlen(ENDING);
	if (len < tail || strncmp(file + len - tail, id, named) != 0 ||
	    strcmp(file + len - strlen(ENDING), ENDING) != 0 ||
	    (!dated && !chat && len != tail))
		return false;
	for (const char *p = rest; (p = strchr(p, '/')) != NULL; p++)
		folders++;
	return projects == NULL || folders == (dated ? 3 : chat ? 2 : 1);
}

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

static const char *const action_words[] = {
	[DELIVERY_WAIT] = "wait",
	[DELIVERY_CLEAR] = "clear",
	[DELIVERY_PASTE] = "paste",
	[DELIVERY_ENTER] = "enter",
	[DELIVERY_RESTART] = "restart",
};

_Static_assert(
    nitems(action_words) == DELIVERY_ACTION_COUNT, "a word for every action");

/* How long to wait for the confirmation of a step. */
static const int64_t patience_ms[PROMPT_STEP_COUNT] = {
	[PROMPT_CLEARING] = DELIVERY_CLEAR_MS,
	[PROMPT_PASTED] = DELIVERY_CONFIRM_MS,
};

void
delivery_park(struct session_record *record, const char *text,
    const char *receipt, bool clear, int64_t now_ms)
{
	xstrset(&record->pending, text);
	xstrset(&record->receipt, receipt);
	record->step = PROMPT_PARKED;
	record->pending_clear = clear;
	record->pending_since_ms = now_ms;
	record->pending_tries = 0;
	record->pending_refused = 0;
}

enum delivery_action
delivery_next(const struct session_record *record, bool open, int64_t now_ms,
    int64_t *ret_wait_ms)
{
	int64_t waited = now_ms - record->pending_since_ms;
	int64_t patience = patience_ms[record->step];

	*ret_wait_ms = -1;
	if (record->step == PROMPT_NONE || record->pending == NULL ||
	    !record->ready || !open)
		return DELIVERY_WAIT;
	if (record->step == PROMPT_PARKED) {
		/* What to do with a parked prompt. While a turn runs, wait:
		 * /clear would only be queued until its end. */
		if (!record->pending_clear)
			return DELIVERY_PASTE;
		return record->busy ? DELIVERY_WAIT : DELIVERY_CLEAR;
	}
	/* Below 0, the clock was wrong then: act as if the time had passed. */
	if (waited >= 0 && waited < patience) {
		*ret_wait_ms = patience - waited;
		return DELIVERY_WAIT;
	}
	if (record->pending_tries < DELIVERY_TRIES)
		return DELIVERY_ENTER;
	return DELIVERY_RESTART;
}

void
delivery_did(
    struct session_record *record, enum delivery_action action, int64_t now_ms)
{
	switch (action) {
	case DELIVERY_CLEAR:
		record->step = PROMPT_CLEARING;
		record->pending_tries = 0;
		break;
	case DELIVERY_PASTE:
		record->step = PROMPT_PASTED;
		record->pending_tries = 0;
		break;
	case DELIVERY_ENTER:
		record->pending_tries++;
		break;
	case DELIVERY_RESTART:
		record->step = PROMPT_PARKED;
		record->pending_tries = 0;
		record->pending_refused++;
		record->ready = false;
		record->busy = false;
		record->open_tools = 0;
		break;
	case DELIVERY_WAIT:
	case DELIVERY_ACTION_COUNT:
		return;
	}
	record->pending_since_ms = now_ms;
}

bool
delivery_refused(struct session_record *record, int64_t *ret_pause_ms)
{
	if (record->pending_refused >= DELIVERY_SESSIONS) {
		record->pending_refused = 0;
		return false;
	}
	backoff_next(&backoff_crash, record->pending_refused, ret_pause_ms);
	return true;
}

void
delivery_recovered(struct session_record *record, int64_t now_ms)
{
	if (record->step != PROMPT_PASTED && record->step != PROMPT_CLEARING)
		return;
	record->pending_since_ms =
	    now_ms + DELIVERY_CONFIRM_MS - patience_ms[record->step];
	record->pending_tries =
	    record->step == PROMPT_PASTED ? DELIVERY_TRIES - 1 : DELIVERY_TRIES;
}

void
delivery_session_started(
    struct session_record *record, bool cleared, int64_t now_ms)
{
	record->ready = true;
	if (!cleared || record->step != PROMPT_CLEARING)
		return;
	record->step = PROMPT_PARKED;
	record->pending_clear = false;
	record->pending_since_ms = now_ms;
	record->pending_tries = 0;
}

bool
delivery_submitted(struct session_record *record, const char *submitted)
{
	if (record->step == PROMPT_NONE || record->receipt == NULL ||
	    !prompt_carries(submitted, record->receipt))
		return false;
	session_record_forget_pending(record);
	return true;
}

const char *
delivery_action_name(enum delivery_action action)
{
	return action_words[action];
}
