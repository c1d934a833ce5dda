/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "config.h"
#include "git-ask.h"
#include "overseer-private.h"
#include "people.h"
#include "settings.h"
#include "toml.h"

static int
parse_settings(const struct overseer *o, const struct buf *config,
    struct settings **ret_settings, struct err *err)
{
	struct settings_problems problems;
	struct settings *fresh =
	    config_parse(&o->workspace, o->branch, config, &problems);
	int r = 0;

	for (size_t i = 0; i < problems.count && r == 0; i++)
		if (problems.list[i].fatal)
			r = err_set(err, -EINVAL, "config.toml:%u: %s",
			    problems.list[i].line, problems.list[i].text);
	settings_problems_release(&problems);
	if (r < 0)
		settings_free(fresh);
	else
		*ret_settings = fresh;
	return r;
}

static void
on_config(const struct buf *config, const struct err *err, void *arg)
{
	struct overseer *o = arg;
	bool awaited = o->settings_awaited;
	struct settings *fresh = NULL;
	struct err wrong = { 0 };

	o->settings_awaited = false;
	if (config == NULL)
		wrong = *err;
	else
		parse_settings(o, config, &fresh, &wrong);
	if (wrong.code != 0) {
		log_info(
		    "the settings are wrong, the old ones stay in effect: %s",
		    wrong.msg);
	} else {
		settings_free(o->settings);
		o->settings = fresh;
		people_settings(o->people, fresh);
	}
	if (awaited)
		HAPPENS(o, WHEN_SETTINGS, .err = &wrong);
}

void
overseer_reload(struct overseer *o, bool awaited)
{
	if (awaited)
		o->settings_awaited = true;
	config_read_begin(o->reader);
}

int
overseer_load_settings(struct overseer *o, struct err *err)
{
	cleanup_free char *file = overseer_path(o, "config.toml");
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(file, TOML_SIZE_MAX, &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	o->branch = git_ask_default_branch(o->workspace.root);
	o->reader = config_read_new(o->loop, &o->workspace, on_config, o);
	r = parse_settings(o, &text, &o->settings, err);
	if (r == 0)
		people_settings(o->people, o->settings);
	return r;
}
