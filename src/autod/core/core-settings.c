/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "config.h"
#include "core.h"
#include "core-settings.h"
#include "emit.h"
#include "git-ask.h"
#include "git-facts.h"
#include "people.h"
#include "settings.h"
#include "toml.h"
#include "workspace.h"

struct waiting {
	reload_fn *fn;
	void *arg;
	struct waiting *next;
};

struct reload {
	struct core *core;
	struct config_read *reader;
	struct waiting *waiting;
};

/* Command-line options override the file. */
static int
override(const struct core *core, struct settings *settings, struct err *err)
{
	const struct {
		const char *path, *value;
	} overrides[] = {
		{ "auto.concurrency", core->options->concurrency },
		{ "auto.task_pool_command", core->options->task_pool_command },
		{ "auto.post_accept_command",
		    core->options->post_accept_command },
	};
	int r = 0;

	for (size_t i = 0; i < nitems(overrides) && r == 0; i++)
		if (overrides[i].value != NULL)
			r = settings_override(settings, overrides[i].path,
			    overrides[i].value, err);
	return r;
}

static int
apply(struct core *core, const struct buf *config, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "config.toml");
	struct settings_problems problems;
	struct settings *fresh =
	    config_parse(core->workspace, core->branch, config, &problems);
	int r = 0;

	for (size_t i = 0; i < problems.count && r == 0; i++)
		if (problems.list[i].fatal)
			r = err_set(err, -EINVAL, "%s:%u: %s", file,
			    problems.list[i].line, problems.list[i].text);
	settings_problems_release(&problems);
	if (r == 0)
		r = override(core, fresh, err);
	if (r < 0) {
		settings_free(fresh);
		return r;
	}
	settings_free(core->settings);
	core->settings = fresh;
	if (core->people != NULL)
		people_settings(core->people, fresh);
	return 0;
}

/* fn may begin another reading. */
static void
tell_waiting(struct reload *reload, const struct err *err)
{
	struct waiting *w = take_ptr(&reload->waiting), *next;

	for (; w != NULL; w = next) {
		next = w->next;
		w->fn(err, w->arg);
		free(w);
	}
}

static void
on_read(const struct buf *config, const struct err *err, void *arg)
{
	struct reload *reload = arg;
	struct err wrong = { 0 };

	if (config == NULL)
		wrong = *err;
	else
		apply(reload->core, config, &wrong);
	tell_waiting(reload, wrong.code != 0 ? &wrong : NULL);
}

struct reload *
reload_new(struct core *core)
{
	struct reload *reload = xcalloc(1, sizeof *reload);

	reload->core = core;
	reload->reader =
	    config_read_new(core->loop, core->workspace, on_read, reload);
	return reload;
}

void
reload_free(struct reload *reload)
{
	struct err err = { 0 };

	err_set(&err, -ECANCELED, "the daemon is stopping");
	tell_waiting(reload, &err);
	config_read_free(reload->reader);
	free(reload);
}

int
reload_first(struct core *core, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "config.toml");
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(file, TOML_SIZE_MAX, &text, err);

	return r < 0 && r != -ENOENT ? r : apply(core, &text, err);
}

void
reload_begin(struct core *core, reload_fn *fn, void *arg)
{
	struct reload *reload = core->reload;
	struct waiting *w = xcalloc(1, sizeof *w);

	*w = (struct waiting){ fn, arg, reload->waiting };
	reload->waiting = w;
	config_read_begin(reload->reader);
}

/* --- the landing branch ------------------------------------------------- */

#define KEY "repo.default_branch"

static void
tell_wrong(struct core *core, const char *reason)
{
	EMIT(
	    core, EVENT_BRANCH_WRONG, .branch = core->branch, .reason = reason);
}

/* From what git says now, and into the settings. */
static void
choose(struct core *core)
{
	struct err err = { 0 };
	cleanup_free char *words = NULL;

	core->branch = git_ask_default_branch(core->workspace->root);
	if (core->branch == NULL) {
		core->branch = xstrdup("");
		tell_wrong(core,
		    "work cannot land: " KEY " is not set, no branch is "
		    "checked out and origin has no HEAD; type: llmc config "
		    "set " KEY " BRANCH, and restart the daemon");
	} else if (config_change(core->workspace, KEY, core->branch, &err) <
	    0) {
		words = xasprintf("work lands on %s until the daemon ends, "
				  "but that cannot be written down: %s",
		    core->branch, err.msg);
		tell_wrong(core, words);
	} else {
		EMIT(core, EVENT_BRANCH_CHOSEN, .branch = core->branch);
	}
}

void
landing_branch_fix(struct core *core)
{
	const char *set = settings_string(core->settings, KEY);
	cleanup_free char *words = NULL;

	if (set[0] != '\0')
		core->branch = xstrdup(set);
	else
		choose(core);
	if (core->branch[0] == '\0' ||
	    git_ask_branch_exists(core->workspace->root, core->branch))
		return;
	words = xasprintf("work cannot land: there is no branch %s; create it, "
			  "or type: llmc config set " KEY
			  " BRANCH, and restart the daemon",
	    core->branch);
	tell_wrong(core, words);
}

/* What the user has checked out may be its new name. */
static char *
branch_of_user(const struct core *core)
{
	static const char prefix[] = "ref: refs/heads/";
	cleanup_free char *path = file_join(core->workspace->git_dir, "HEAD");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 4096, &text, NULL) < 0 ||
	    strncmp(text.data, prefix, sizeof prefix - 1) != 0)
		return xstrdup("BRANCH");
	text.data[strcspn(text.data, "\n")] = '\0';
	return xstrdup(text.data + sizeof prefix - 1);
}

char *
landing_branch_lost(const struct core *core)
{
	cleanup_free char *other = NULL;
	char tip[GIT_ID_SIZE];

	if (core->git == NULL || core->branch == NULL ||
	    core->branch[0] == '\0' ||
	    git_refs_tip(core->git, core->branch, tip) != -ENOENT)
		return NULL;
	other = branch_of_user(core);
	return xasprintf("work cannot land: there is no branch %s any more; if "
			 "it has another name now, type: llmc config set " KEY
			 " %s; if not, create it again: git branch %s COMMIT",
	    core->branch, other, core->branch);
}
