/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "config.h"
#include "core.h"
#include "emit.h"
#include "git-ask.h"
#include "git-facts.h"
#include "landing-branch.h"
#include "settings.h"
#include "workspace.h"

#define KEY "repo.default_branch"

static void
tell_wrong(struct core *core, const char *reason)
{
	emit(core,
	    &(struct event){ .kind = EVENT_BRANCH_WRONG,
		.branch = core->branch,
		.reason = reason });
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
		emit(core,
		    &(struct event){
			.kind = EVENT_BRANCH_CHOSEN, .branch = core->branch });
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
	    git_facts_tip(core->git, core->branch, tip) != -ENOENT)
		return NULL;
	other = branch_of_user(core);
	return xasprintf("work cannot land: there is no branch %s any more; if "
			 "it has another name now, type: llmc config set " KEY
			 " %s; if not, create it again: git branch %s COMMIT",
	    core->branch, other, core->branch);
}
