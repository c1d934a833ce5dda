/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "mem.h"
#include "settings.h"
#include "source-choice.h"
#include "workspace.h"

static enum source_type
choose_type(const struct settings *settings)
{
	enum source_type type = SOURCE_COMMAND;

	/* The folder has a default; the others are empty unless chosen. */
	while (type < SOURCE_FOLDER &&
	    settings_string(settings, source_type_setting(type))[0] == '\0')
		type++;
	return type;
}

void
source_choice_init(struct source_choice *choice,
    const struct settings *settings, const struct workspace *workspace,
    const char *root_id)
{
	enum source_type type = choose_type(settings);
	const char *value =
	    settings_string(settings, source_type_setting(type));

	choice->where = type == SOURCE_COMMAND ?
	    xstrdup(value) :
	    workspace_resolve(workspace, value);
	choice->run_dir = workspace_path(workspace, "pool");
	choice->log = workspace_path(workspace, "logs/task_pool.log");
	choice->owner =
	    root_id == NULL ? NULL : xasprintf("llmc-%.8s", root_id);
	choice->options = (struct source_options){
		.type = type,
		.where = choice->where,
		.cwd = workspace->root,
		.run_dir = choice->run_dir,
		.log = choice->log,
		.timeout_ms =
		    settings_duration(settings, "auto.task_pool_timeout"),
		.owner = choice->owner,
	};
}

void
source_choice_release(struct source_choice *choice)
{
	free(choice->where);
	free(choice->run_dir);
	free(choice->log);
	free(choice->owner);
	*choice = (struct source_choice){ .where = NULL };
}
