/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>

#include "asks.h"
#include "auto-private.h"
#include "auto.h"
#include "emit.h"
#include "error-signature.h"
#include "persist.h"
#include "task.h"
#include "workspace.h"

#define TASKS_MAX  3 /* that fail alike, until nothing is given out */
#define CONFIG_MAX (1 << 20)
#define SETTING    "hookspath"

struct alike {
	struct auto_mode *mode;
	char *reason; /* of the last failure; NULL = none */
	uint64_t signature; /* of that: numbers and commits differ */
	char **tasks; /* that it happened to */
	char **keys; /* what their sources call them: a node of a goal that is
		      * tried again is another task, and the same work */
	char *hooks; /* what git runs in this repository, "" = nothing */
};

/* --- hooks ----------------------------------------------------------- */

/* The line is enough: nobody but git needs to know what it means. */
static void
add_setting(const struct workspace *workspace, struct buf *out)
{
	cleanup_free char *path = file_join(workspace->git_dir, "config");
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *line;

	if (file_read(path, CONFIG_MAX, &text, NULL) < 0)
		return;
	for (rest = text.data; (line = strsep(&rest, "\n")) != NULL;) {
		const char *value;

		line += strspn(line, " \t");
		if (strncasecmp(line, SETTING, strlen(SETTING)) != 0)
			continue;
		value = line + strlen(SETTING);
		value += strspn(value, " \t=");
		buf_addf(out, "core.hooksPath is %s", value);
		return;
	}
}

static int
is_hook(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	    strstr(entry->d_name, ".sample") == NULL;
}

static void
add_files(const struct workspace *workspace, struct buf *out)
{
	cleanup_free char *dir = file_join(workspace->git_dir, "hooks");
	struct dirent **list = NULL;
	const char *before = out->len > 0 ? "; hooks:" : "hooks:";
	int count = scandir(dir, &list, is_hook, alphasort);

	for (int i = 0; i < count; i++) {
		cleanup_free char *path = file_join(dir, list[i]->d_name);
		struct stat st;

		if (stat(path, &st) == 0 && (st.st_mode & 0111) != 0) {
			buf_addf(out, "%s %s", before, list[i]->d_name);
			before = ",";
		}
		free(list[i]);
	}
	free(list);
}

bool
alike_look(struct alike *alike)
{
	const struct workspace *workspace = alike->mode->core->workspace;
	cleanup_buf struct buf now = BUF_INIT;
	bool first = alike->hooks == NULL;

	buf_adds(&now, "");
	add_setting(workspace, &now);
	add_files(workspace, &now);
	if (!first && strcmp(alike->hooks, now.data) == 0)
		return false;
	xstrset(&alike->hooks, now.data);
	if (first)
		return false;
	emit(alike->mode->core,
	    &(struct event){ .kind = EVENT_HOOKS_CHANGED,
		.reason = now.len > 0 ? now.data : "it has none now" });
	return true;
}

/* --- failures -------------------------------------------------------- */

static bool
has(char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

static void
stop(struct alike *alike)
{
	struct core *core = alike->mode->core;
	cleanup_buf struct buf words = BUF_INIT;

	buf_adds(&words, "the same failure on different tasks (");
	for (size_t i = 0; alike->tasks[i] != NULL; i++)
		buf_addf(&words, "%s%s", i > 0 ? ", " : "", alike->tasks[i]);
	buf_addf(&words, "): %s", alike->reason);
	alike_look(alike);
	if (alike->hooks[0] != '\0')
		buf_addf(&words, "; in this repository %s", alike->hooks);
	buf_adds(&words,
	    "; no more tasks are given out; find the cause, then: "
	    "llmc resume");
	xstrset(&core->state.paused, words.data);
	asks_open(core,
	    &(struct ask_draft){ .kind = ASK_FAILURE,
		.level = ESCALATION_CRITICAL,
		.key = ASKS_ALIKE,
		.title = "tasks fail alike",
		.words = words.data,
		.command = "llmc resume" });
	persist_changed(core);
	emit(core,
	    &(struct event){
		.kind = EVENT_INTAKE_STOPPED, .reason = words.data });
}

bool
alike_stops(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	return state->paused != NULL && state_ask(state, ASKS_ALIKE) != NULL;
}

bool
alike_failed(struct alike *alike, const struct task *task, const char *reason)
{
	const char *key = task->key != NULL ? task->key : task->id;
	uint64_t signature;

	if (reason == NULL)
		return false;
	signature = error_signature_hash(reason, strlen(reason));
	if (alike->reason == NULL || alike->signature != signature) {
		alike_forget(alike);
		alike->reason = xstrdup(reason);
		alike->signature = signature;
	}
	if (!has(alike->keys, key)) {
		strv_add(&alike->keys, key);
		strv_add(&alike->tasks, task->id);
	}
	if (strv_count(alike->tasks) < TASKS_MAX)
		return false;
	if (alike->mode->core->state.paused == NULL)
		stop(alike);
	return alike_stops(alike->mode);
}

void
alike_forget(struct alike *alike)
{
	xstrset(&alike->reason, NULL);
	strv_free(take_ptr(&alike->tasks));
	strv_free(take_ptr(&alike->keys));
}

struct alike *
alike_new(struct auto_mode *mode)
{
	struct alike *alike = xcalloc(1, sizeof *alike);

	alike->mode = mode;
	return alike;
}

void
alike_free(struct alike *alike)
{
	if (alike == NULL)
		return;
	alike_forget(alike);
	free(alike->hooks);
	free(alike);
}
