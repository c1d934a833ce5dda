/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "backoff.h"
#include "id.h"
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

#define ENDING ".jsonl"

bool
session_start_id_valid(const char *id)
{
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

static bool
is_dots(const char *part, size_t len)
{
	return strncmp(part, "..", len) == 0 && len <= 2;
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
		if (is_dots(part, len))
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

	if (path == NULL || !session_start_id_valid(id) || !is_plain(path))
		return false;
	rest = projects != NULL ? below(projects, path) : path;
	if (rest == NULL)
		return false;
	file = strrchr(path, '/') + 1;
	if (strncmp(file, id, strlen(id)) != 0 ||
	    strcmp(file + strlen(id), ENDING) != 0)
		return false;
	/* Exactly one folder between them. */
	return projects == NULL ||
	    (strchr(rest, '/') != NULL && strchr(rest, '/') + 1 == file);
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
