/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fnmatch.h>

#include "history.h"
#include "jsonl.h"
#include "workspace.h"

#define MANUAL_FILES      "manual_intervention_needed_*.txt"
#define HISTORY_LINES_MAX ((size_t)4 * HISTORY_MAX) /* then it is rewritten */

static char *
history_path(const struct workspace *workspace)
{
	return workspace_path(workspace, "failures.jsonl");
}

/* Takes ownership of the strings; drops the oldest event if it is full. */
static void
history_push(struct history *history, struct spiral_event *event)
{
	if (history->count == HISTORY_MAX) {
		spiral_event_release(&history->events[0]);
		history->count--;
		memmove(history->events, history->events + 1,
		    history->count * sizeof *history->events);
	} else {
		history->events = xreallocarray(history->events,
		    history->count + 1, sizeof *history->events);
	}
	history->events[history->count++] = *event;
	memset(event, 0, sizeof *event);
}

static bool
history_read(struct json_object *record, void *arg)
{
	struct history *history = arg;
	struct spiral_event event = { 0 };

	if (spiral_event_from_json(record, &event, NULL) == 0)
		history_push(history, &event);
	return true;
}

int
history_load(const struct workspace *workspace, struct history *ret_history,
    struct err *err)
{
	cleanup_free char *path = history_path(workspace);
	struct history history = { 0 };
	/* Read all of them: lines that are not events must not count. */
	int r = jsonl_last(path, 0, history_read, &history, err);

	if (r < 0) {
		history_release(&history);
		return r;
	}
	*ret_history = history;
	return 0;
}

void
history_release(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		spiral_event_release(&history->events[i]);
	free(history->events);
	memset(history, 0, sizeof *history);
}

static void
history_print(const struct spiral_event *event, struct buf *out)
{
	cleanup_json struct json_object *json = spiral_event_to_json(event);

	json_print(json, false, out);
	buf_addc(out, '\n');
}

/* Does the file have more lines than are ever read? */
static bool
history_is_long(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t lines = 0;
	int r = file_read(path, JSONL_LOOK_MAX, &text, NULL);

	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return r == -EFBIG || lines > HISTORY_LINES_MAX;
}

/* From the file, not from memory, which may not have all of it. */
static int
history_rewrite(
    const struct workspace *workspace, const char *path, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct history history = { 0 };
	int r = history_load(workspace, &history, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < history.count; i++)
		history_print(&history.events[i], &text);
	history_release(&history);
	return file_replace(path, text.data, text.len, 0600, err);
}

void
history_note(struct history *history, struct spiral_event *event)
{
	history_push(history, event);
	if (history->unsaved < history->count)
		history->unsaved++;
}

int
history_save(
    const struct workspace *workspace, struct history *history, struct err *err)
{
	cleanup_free char *path = history_path(workspace);
	struct err words = { 0 };

	if (history->unsaved == 0)
		return 0;
	while (history->unsaved > 0) {
		cleanup_buf struct buf line = BUF_INIT;
		int r;

		history_print(
		    &history->events[history->count - history->unsaved], &line);
		r = file_append(path, line.data, line.len, 0600, true, err);
		if (r < 0)
			return r;
		history->unsaved--;
	}
	/* The event is on the disk; if the file stays too long, the next call
	 * tries again. */
	if (history_is_long(path) &&
	    history_rewrite(workspace, path, &words) < 0)
		log_debug("%s", words.msg);
	return 0;
}

/* Not glob(3): the path of a repository may hold characters of patterns. */
char *
history_manual_file(const struct workspace *workspace)
{
	cleanup_free char *first = NULL;
	cleanup_dir DIR *dir = opendir(workspace->dir);
	const char *name;

	while ((name = dir_next(dir)) != NULL)
		if (fnmatch(MANUAL_FILES, name, 0) == 0 &&
		    (first == NULL || strcmp(first, name) >= 0))
			xstrset(&first, name);
	return first != NULL ? workspace_path(workspace, first) : NULL;
}

int
history_add(const struct workspace *workspace, struct history *history,
    struct spiral_event *event, struct err *err)
{
	history_note(history, event);
	return history_save(workspace, history, err);
}
