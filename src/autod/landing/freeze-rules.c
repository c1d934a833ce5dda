/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "core.h"
#include "errtext.h"
#include "freeze-rules.h"
#include "mem.h"
#include "settings.h"
#include "text.h"
#include "worker.h"
#include "workspace.h"

#define NAMES_MAX 5 /* paths named in a sentence */

void
freeze_rules_paths(struct freeze_rules *rules, const struct core *core)
{
	cleanup_free char *worktrees = workspace_inside(core->workspace,
	    settings_string(core->settings, "repo.worktree_dir"));

	*rules = (struct freeze_rules){
		.what = { .forbidden = rules->forbidden },
		.forbidden = { ".llmc",
		    worktrees != NULL ? rules->worktrees : NULL },
	};
	if (worktrees != NULL)
		strlcpy(rules->worktrees, worktrees, sizeof rules->worktrees);
	settings_list(core->settings, "auto.protected_paths",
	    &rules->what.protected_paths);
}

void
freeze_rules_init(struct freeze_rules *rules, const struct core *core,
    const struct worker *worker, const char *expected)
{
	freeze_rules_paths(rules, core);
	rules->what.branch = worker->branch;
	rules->what.onto = core_branch(core);
	rules->what.expected = expected;
}

void
freeze_rules_add_paths(struct buf *out, const struct git_list *paths)
{
	for (size_t i = 0; i < paths->count && i < NAMES_MAX; i++) {
		buf_adds(out, i == 0 ? ": " : ", ");
		text_add_visible(out, paths->v[i], strlen(paths->v[i]), false);
	}
	if (paths->count > NAMES_MAX)
		buf_addf(out, " and %zu more", paths->count - NAMES_MAX);
}

static void
add_refusal(const struct core *core, const struct worker *w,
    const char *expected, const struct git_frozen *frozen, unsigned refused,
    struct buf *out)
{
	const char *branch = core_branch(core);

	if (refused & GIT_FREEZE_OTHER_BRANCH)
		buf_addf(out, "%s is on %s, not on its branch %s", w->name,
		    frozen->branch[0] != '\0' ? frozen->branch : "no branch",
		    w->branch);
	else if (refused & GIT_FREEZE_REBASING)
		buf_addf(out, "a rebase is in progress in %s", w->worktree);
	else if (refused & GIT_FREEZE_MOVED)
		buf_addf(out,
		    "the work of %s is not what you were shown: HEAD was "
		    "%.12s and is %.12s now; look again with: llmc review %s",
		    w->name, expected, frozen->commit, w->name);
	else if (refused & GIT_FREEZE_FORBIDDEN) {
		buf_addf(out, "%s must not land on %s", w->name, branch);
		freeze_rules_add_paths(out, &frozen->forbidden);
	} else if (refused & GIT_FREEZE_UNRELATED)
		buf_addf(out, "%s has no commit in common with %s", w->branch,
		    branch);
	else {
		buf_addf(out, "%s has uncommitted changes", w->name);
		freeze_rules_add_paths(out, &frozen->dirty);
	}
}

int
freeze_rules_refuse(const struct core *core, const struct worker *worker,
    const char *expected, const struct git_frozen *frozen, unsigned refused,
    struct err *err)
{
	cleanup_buf struct buf words = BUF_INIT;
	unsigned first = GIT_FREEZE_OTHER_BRANCH | GIT_FREEZE_REBASING;
	bool moved = (refused & GIT_FREEZE_MOVED) != 0 && !(refused & first);

	add_refusal(core, worker, expected, frozen, refused, &words);
	return err_set(err, moved ? -ESTALE : -EPERM, "%s", words.data);
}
