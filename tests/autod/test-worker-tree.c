/* SPDX-License-Identifier: ISC */

/* Whose box git runs in. */
#include "repo.h"
#include "box-probe.h"
#include "core.h"
#include "schema.h"
#include "settings.h"
#include "worker.h"
#include "workspace.h"

struct world {
	struct repo *repo;
	struct workspace workspace;
	struct worker *workers[1]; /* ann, whose worktree is old/first */
	struct core core;
};

static void
read_settings(struct world *w, const char *text)
{
	struct settings_facts facts = { .root = w->workspace.root,
		.home = getenv("HOME") };
	struct settings_problems problems;

	settings_free(w->core.settings);
	w->core.settings =
	    settings_parse(text, strlen(text), &facts, &problems);
	ck_assert_uint_eq(problems.count, 0);
	settings_problems_release(&problems);
}

static void
begin(struct world *w)
{
	if (box_check(NULL) < 0)
		unit_skip("there can be no box here");
	*w = (struct world){ .repo = repo_new(false) };
	ck_assert_int_eq(repo_add(w->repo), 0);
	repo_sh(w->repo,
	    "mkdir -p .llmc old\n"
	    "git worktree add -q --detach old/first HEAD\n"
	    "git worktree add -q --detach old/mine HEAD\n");
	ck_assert_int_eq(workspace_at(w->repo->root, &w->workspace, NULL), 0);
	w->workers[0] = worker_new("ann", 0);
	w->workers[0]->worktree = file_join(w->workspace.root, "old/first");
	w->workers[0]->branch = xstrdup("llmc/ann");
	w->workers[0]->detached = true;
	w->core.workspace = &w->workspace;
	w->core.state.workers = w->workers;
	w->core.state.count = 1;
	read_settings(w,
	    "[repo]\nworktree_dir = \"new\"\n"
	    "[workers.ann]\nsandbox = \"worktree\"\n");
}

static void
end(struct world *w)
{
	schema_free(&worker_table, w->workers[0]);
	settings_free(w->core.settings);
	workspace_release(&w->workspace);
	repo_free(w->repo);
}

static bool
is_boxed(struct world *w, const char *name)
{
	cleanup_free char *dir = file_join(w->workspace.root, name);
	cleanup_strv char **prefix = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    worker_tree_box(&w->core, dir, &prefix, &err) == 0, "%s", err.msg);
	return prefix != NULL;
}

/* Its folder was repo.worktree_dir once, and it has another name. */
TEST(a_workers_tree_has_its_box_wherever_it_is)
{
	ended_by(end) struct world w;

	begin(&w);
	ck_assert(is_boxed(&w, "old/first"));
	free(take_ptr(&w.workers[0]->branch));
	w.workers[0]->detached = false;
	ck_assert(is_boxed(&w, "old/first"));
}

TEST(a_box_that_cannot_be_made_is_an_error)
{
	cleanup_strv char **prefix = NULL;
	ended_by(end) struct world w;

	begin(&w);
	repo_sh(w.repo, "echo 'gitdir: /etc' >old/first/.git");
	ck_assert_int_lt(
	    worker_tree_box(&w.core, w.workers[0]->worktree, &prefix, NULL), 0);
	ck_assert_ptr_null(prefix);
}

TEST(others_have_none)
{
	ended_by(end) struct world w;

	begin(&w);
	ck_assert(!is_boxed(&w, "old/mine"));
	w.workers[0]->detached = false;
	ck_assert(!is_boxed(&w, "old/first"));
	w.workers[0]->detached = true;
	read_settings(&w, "[workers.ann]\nsandbox = \"off\"\n");
	ck_assert(!is_boxed(&w, "old/first"));
}
