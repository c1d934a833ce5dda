/* SPDX-License-Identifier: ISC */

#include "box-world.h"
#include "agent-kind.h"
#include "repo.h"
#include "settings.h"

struct box_world w;

void
box_world_settings(const char *text)
{
	struct settings_facts facts = { .root = w.workspace.root,
		.home = getenv("HOME") };
	struct settings_problems problems;

	settings_free(w.settings);
	w.settings = settings_parse(text, strlen(text), &facts, &problems);
	ck_assert_uint_eq(problems.count, 0);
	settings_problems_release(&problems);
	w.spec.settings = w.settings;
}

static void
fill(struct repo *repo, const char *config)
{
	struct err err = { 0 };

	box_world_end();
	unit_at_end(box_world_end);
	w = (struct box_world){ .repo = repo };
	buf_init(&w.out);
	ck_assert_int_eq(repo_add(w.repo), 0);
	repo_sh(w.repo,
	    "mkdir -p .llmc/sessions .worktrees\n"
	    "git worktree add -q --detach .worktrees/ann HEAD\n"
	    "git worktree add -q --detach .worktrees/bob HEAD\n"
	    "git -C .worktrees/ann config user.name Ann\n"
	    "git -C .worktrees/ann config user.email a@example.org\n"
	    "echo secret >\"$HOME/secret\"; echo state >.llmc/llmc.db\n");
	ck_assert_msg(
	    workspace_at(w.repo->root, &w.workspace, &err) == 0, "%s", err.msg);
	w.spec = (struct box_spec){ .kind = BOX_SESSION,
		.agent = &claude_kind,
		.workspace = &w.workspace,
		.worker = "ann" };
	w.spec.tree = file_join(w.workspace.root, ".worktrees/ann");
	box_world_settings(config);
}

void
box_world_begin(const char *config)
{
	fill(repo_new(false), config);
}

void
box_world_begin_lfs(const char *config)
{
	fill(repo_new_lfs(), config);
}

void
box_world_end(void)
{
	free((char *)(uintptr_t)w.spec.tree);
	settings_free(w.settings);
	workspace_release(&w.workspace);
	repo_free(w.repo);
	buf_release(&w.out);
	w = (struct box_world){ 0 };
}

int
box_world_run(const char *script)
{
	const char *const shell[] = { "sh", "-c", script, NULL };
	cleanup_child_result struct child_result result;
	cleanup_strv char **argv = NULL;
	struct child_spec child = { .cwd = w.spec.tree, .merge_stderr = true };
	struct box box = { 0 };
	struct err err = { 0 };

	ck_assert_msg(box_prepare(&w.spec, &box, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(box.prefix);
	strv_add_all(&argv, strv_const(box.prefix));
	strv_add_all(&argv, shell);
	box_release(&box);
	if (w.prepared != NULL)
		w.prepared();
	child.argv = strv_const(argv);
	ck_assert_int_eq(child_run(&child, &result, &err), 0);
	buf_clear(&w.out);
	child_output_text(&result.out, &w.out);
	ck_assert(result.exited);
	return result.status;
}

void
box_world_need(void)
{
	static const char *const argv[] = { "bwrap", "--unshare-user",
		"--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc",
		"true", NULL };
	struct child_spec child = { .argv = argv };
	cleanup_child_result struct child_result result;

	if (child_run(&child, &result, NULL) < 0 || !child_succeeded(&result))
		unit_skip("bubblewrap cannot make a box here");
}
