/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "auto.h"
#include "git.h"
#include "mem.h"
#include "plan-evidence.h"
#include "plan-files.h"
#include "plan-floor.h"
#include "strv.h"
#include "workspace.h"

/* One commit. It lives until git has answered, even if nobody asks any more. */
struct look {
	TAILQ_ENTRY(look) entry;
	struct plan_files *files; /* NULL = nobody asks any more */
	struct git_slot *slot; /* while git is asked */
	bool known;
	char *commit;
	char **names;
};

TAILQ_HEAD(looks, look);

struct plan_files {
	struct plan_floor *floor;
	struct looks looks;
};

static void
look_free(struct look *look)
{
	free(look->commit);
	strv_free(look->names);
	free(look);
}

static void
answered(struct look *look)
{
	if (look->files == NULL) {
		look_free(look);
		return;
	}
	look->known = true;
	auto_plan_changed(look->files->floor->mode);
}

static void
on_names(const struct git_answer *answer, void *arg)
{
	struct look *look = arg;
	const char *end = answer->out + answer->out_len;

	if (answer->status == 0)
		for (const char *name = answer->out;
		     name < end && strv_count(look->names) < PLAN_LIST_MAX;
		     name += strlen(name) + 1)
			strv_add(&look->names, name);
	git_slot_end(look->slot);
	answered(look);
}

static void
ask(struct git_slot *slot, void *arg)
{
	struct look *look = arg;
	const char *const args[] = { "diff-tree", "-r", "-z", "--root",
		"--no-commit-id", "--name-only", look->commit, "--", NULL };
	struct git_command command = { .args = args };

	look->slot = slot;
	git_slot_run(slot, &command, on_names, look);
}

/* git is gone, and this floor before it. */
static void
drop(void *arg)
{
	look_free(arg);
}

static struct look *
find(const struct plan_files *files, const char *commit)
{
	struct look *look;

	TAILQ_FOREACH (look, &files->looks, entry)
		if (strcmp(look->commit, commit) == 0)
			return look;
	return NULL;
}

char *const *
plan_files_of(struct plan_files *files, const char *commit)
{
	static char *none[] = { NULL };
	const struct core *core = files->floor->core;
	struct look *look = find(files, commit);

	if (look != NULL && look->known)
		return look->names != NULL ? look->names : none;
	if (look != NULL)
		return NULL;
	look = xcalloc(1, sizeof *look);
	look->files = files;
	look->commit = xstrdup(commit);
	TAILQ_INSERT_TAIL(&files->looks, look, entry);
	git_slot(git_queue(core->git, core->workspace->root), ask, drop, look);
	return NULL;
}

static void
let_go(struct plan_files *files, struct look *look)
{
	TAILQ_REMOVE(&files->looks, look, entry);
	look->files = NULL;
	if (look->known)
		look_free(look);
}

void
plan_files_forget(struct plan_files *files, const char *commit)
{
	struct look *look = find(files, commit);

	if (look != NULL)
		let_go(files, look);
}

struct plan_files *
plan_files_new(struct plan_floor *floor)
{
	struct plan_files *files = xcalloc(1, sizeof *files);

	files->floor = floor;
	TAILQ_INIT(&files->looks);
	return files;
}

void
plan_files_free(struct plan_files *files)
{
	struct look *look;

	while ((look = TAILQ_FIRST(&files->looks)) != NULL)
		let_go(files, look);
	free(files);
}
