/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "config.h"
#include "core.h"
#include "people.h"
#include "reload.h"
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
