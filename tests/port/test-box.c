/* SPDX-License-Identifier: ISC */

/* The box, with the real bubblewrap and the real git. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "box-world.h"
#include "box.h"
#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "repo.h"
#include "settings.h"
#include "strv.h"
#include "unit.h"
#include "workspace.h"

START_TEST(without_a_sandbox_there_is_no_box)
{
	struct box_world w;
	struct box box;
	char **prefix;

	box_world_begin(&w, "");
	ck_assert_int_eq(box_prepare(&w.spec, &box, NULL), 0);
	ck_assert_int_eq(box.mode, BOX_OFF);
	ck_assert_ptr_null(box.prefix);
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, NULL),
	    0);
	ck_assert_ptr_null(prefix);
	box_world_end(&w);
}
END_TEST

START_TEST(a_worker_commits_in_its_box)
{
	struct box_world w;

	box_world_need();
	box_world_begin(&w, WORKTREE);
	works(w,
	    "echo new >new.txt && git add new.txt && git commit -qm new && "
	    "git status --short && git log --oneline");
	repo_sh(w.repo, "git -C .worktrees/ann show HEAD:new.txt");
	repo_sh(w.repo, "git fsck --no-progress");
	box_world_end(&w);
}
END_TEST

START_TEST(nothing_else_can_be_changed)
{
	static const char *const scripts[] = {
		"echo x >\"$R/a.txt\"",
		"echo x >\"$R/new\"",
		"echo x >>\"$R/.git/config\"",
		"echo x >\"$R/.git/hooks/pre-commit\"",
		"git update-ref refs/heads/x HEAD",
		"git config core.fsmonitor x",
		"echo x >.git",
		"mv .git aside",
		"D=$(git rev-parse --git-dir); echo x >\"$D/commondir\"",
		"D=$(git rev-parse --git-dir); mv \"$D/gitdir\" \"$D/x\"",
		"D=$(git rev-parse --git-dir); echo x >\"$D/config.worktree\"",
		"echo x >\"$R/.git/objects/info/alternates\"",
		"echo x >\"$R/.llmc/state.json\"",
		"echo x >\"$R/.llmc/new\"",
		"echo x >\"$R/.worktrees/new\"",
		"echo x >/usr/new",
		"echo x >/run/new",
		"echo x >/proc/sys/kernel/core_pattern",
	};
	struct box_world w;

	box_world_need();
	box_world_begin(&w, WORKTREE);
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	for (size_t i = 0; i < nitems(scripts); i++) {
		cleanup_free char *script =
		    xasprintf("R=$LLMC_TEST_ROOT; %s", scripts[i]);

		fails(w, script);
	}
	box_world_end(&w);
}
END_TEST

START_TEST(little_else_can_be_seen)
{
	static const char *const scripts[] = {
		"cat \"$HOME/secret\"",
		"cat \"$R/a.txt\"",
		"cat \"$R/.llmc/state.json\"",
		"ls \"$R/.worktrees/bob\"",
		"ls \"$R/.git/worktrees/bob\"",
		"ls /run | grep -v -e resolv -e systemd -e current-system",
		"tr '\\0' '\\n' </proc/1/environ | grep SECRET",
		"env | grep SECRET",
		"test -n \"$TMUX\"",
	};
	struct box_world w;

	box_world_need();
	setenv("A_SECRET", "x", 1);
	setenv("TMUX", "x", 1);
	box_world_begin(&w, WORKTREE);
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	for (size_t i = 0; i < nitems(scripts); i++) {
		cleanup_free char *script =
		    xasprintf("R=$LLMC_TEST_ROOT; %s", scripts[i]);

		fails(w, script);
	}
	box_world_end(&w);
}
END_TEST

START_TEST(what_a_worker_needs_is_there)
{
	struct box_world w;
	cleanup_free char *claude = NULL, *spool = NULL;

	box_world_need();
	setenv("ANTHROPIC_API_KEY", "sk-test", 1);
	box_world_begin(&w, WORKTREE);
	repo_sh(w.repo,
	    "mkdir -p .llmc/sessions/ann && "
	    "echo x >.llmc/sessions/ann/launch.json");
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	works(w, "test \"$ANTHROPIC_API_KEY\" = sk-test");
	works(w, "test \"$TMPDIR\" = /tmp && echo x >/tmp/x");
	works(w, "echo x >\"$HOME/.cache/x\" && echo x >\"$HOME/x\"");
	works(w, "cat \"$LLMC_TEST_ROOT/.llmc/sessions/ann/launch.json\"");
	works(w, "echo x >\"$LLMC_TEST_ROOT/.llmc/run/ann/spool/x\"");
	fails(w, "echo x >\"$LLMC_TEST_ROOT/.llmc/run/ann/x\"");
	works(w,
	    "grep -q hasCompletedOnboarding "
	    "\"$CLAUDE_CONFIG_DIR/.claude.json\" && "
	    "echo x >\"$CLAUDE_CONFIG_DIR/x\"");
	works(w,
	    "test \"$PWD\" = \"$LLMC_TEST_ROOT/.worktrees/ann\" && "
	    "test \"$(git rev-parse --show-toplevel)\" = \"$PWD\"");
	claude = box_claude_dir(&w.workspace, "ann");
	ck_assert(file_is_dir(claude));
	spool = workspace_path(&w.workspace, "run/ann/spool/x");
	ck_assert(file_exists(spool));
	box_world_end(&w);
}
END_TEST

START_TEST(the_agents_of_the_user_are_read_and_no_others)
{
	struct box_world w;

	box_world_need();
	box_world_begin(&w, WORKTREE);
	unsetenv("CLAUDE_CONFIG_DIR");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/.claude/agents\"; echo mine "
	    ">\"$HOME/.claude/agents/a.md\"\n"
	    "mkdir -p .llmc/box/ann/claude/skills; cd .llmc/box/ann/claude\n"
	    "echo planted >skills/a.md; ln -s /etc commands; echo >rules\n");
	works(w, "grep mine \"$CLAUDE_CONFIG_DIR/agents/a.md\"");
	fails(w, "echo >\"$CLAUDE_CONFIG_DIR/agents/b.md\"");
	fails(w, "cat \"$CLAUDE_CONFIG_DIR/skills/a.md\"");
	fails(w, "ls \"$CLAUDE_CONFIG_DIR/commands/\" | grep passwd");
	fails(w, "echo >\"$CLAUDE_CONFIG_DIR/rules/a.md\"");
	box_world_end(&w);
}
END_TEST

START_TEST(the_user_can_open_more)
{
	struct box_world w;

	box_world_need();
	setenv("A_SECRET", "x", 1);
	box_world_begin(&w, "");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/read\" \"$HOME/write\"; "
	    "echo 1 >\"$HOME/read/x\"");
	box_world_settings(&w,
	    WORKTREE "sandbox_read = [\"~/read\", \"~/missing\"]\n"
		     "sandbox_write = [\"~/write\"]\n"
		     "sandbox_env = [\"A_SECRET\"]\n");
	works(w, "cat \"$HOME/read/x\" && test \"$A_SECRET\" = x");
	works(w, "echo 1 >\"$HOME/write/x\"");
	fails(w, "echo 1 >\"$HOME/read/x\"");
	repo_sh(w.repo, "cat \"$HOME/write/x\"");
	box_world_end(&w);
}
END_TEST

START_TEST(gits_own_settings_are_seen_with_what_they_include)
{
	struct box_world w;

	box_world_need();
	box_world_begin(&w, WORKTREE);
	unsetenv("GIT_CONFIG_GLOBAL");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/dots\"\n"
	    "printf '[include]\\n\\tpath = dots/more\\n' "
	    ">\"$HOME/.gitconfig\"\n"
	    "printf '[user]\\n\\tname = Included\\n' >\"$HOME/dots/more\"\n");
	works(w,
	    "test \"$(git config --global --includes user.name)\" = "
	    "Included");
	box_world_end(&w);
}
END_TEST

START_TEST(a_box_that_cannot_be_made_is_an_error_with_words)
{
	struct box_world w;
	struct box box = { 0 };
	struct err err = { 0 };

	box_world_begin(&w, WORKTREE);
	setenv("LLMC_BWRAP", "/nonexistent/bwrap", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "package bubblewrap"));
	unsetenv("LLMC_BWRAP");
	setenv("HOME", "/", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "HOME"));
	box_world_end(&w);
}
END_TEST

/* A check of the world's repository from now on. */
static void
become_check(struct box_world *w)
{
	repo_sh(w->repo,
	    "mkdir -p .llmc/checks && "
	    "git worktree add -q --detach .llmc/checks/1 HEAD");
	free((char *)(uintptr_t)w->spec.tree);
	w->spec.tree = workspace_path(&w->workspace, "checks/1");
	w->spec.kind = BOX_CHECK;
	w->spec.worker = NULL;
}

START_TEST(a_check_finds_nothing_of_another_in_its_cache)
{
	static const char *const modes[] = { WORKTREE,
		"[defaults]\nsandbox = \"strict\"\n" };

	box_world_need();
	for (size_t i = 0; i < nitems(modes); i++) {
		struct box_world w;

		box_world_begin(&w, modes[i]);
		become_check(&w);
		for (int n = 0; n < 2; n++)
			works(w,
			    "mkdir -p ~/.cache && test -z \"$(ls ~/.cache)\" "
			    "&& echo x >~/.cache/x");
		box_world_end(&w);
	}
}
END_TEST

/* Of other worktrees it sees nothing: what only they use would be garbage. */
START_TEST(git_collects_no_garbage_in_a_box)
{
	static const enum box_kind kinds[] = { BOX_SESSION, BOX_COMMAND,
		BOX_CHECK };
	struct box_world w;
	struct box box = { 0 };
	int counts = 0;

	box_world_need();
	box_world_begin(&w, WORKTREE);
	setenv("GIT_CONFIG_COUNT", "1", 1);
	setenv("GIT_CONFIG_KEY_0", "user.nick", 1);
	setenv("GIT_CONFIG_VALUE_0", "mine", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, NULL), 0);
	for (char **v = box.env; *v != NULL; v++)
		counts += strncmp(*v, "GIT_CONFIG_COUNT=", 17) == 0;
	ck_assert_int_eq(counts, 1);
	box_release(&box);
	for (size_t i = 0; i < nitems(kinds); i++) {
		w.spec.kind = kinds[i];
		if (kinds[i] == BOX_CHECK)
			become_check(&w);
		works(w,
		    "test \"$(git config gc.auto)\" = 0 && "
		    "test \"$(git config maintenance.auto)\" = false && "
		    "test \"$(git config rerere.enabled)\" = false && "
		    "test \"$(git config user.nick)\" = mine");
	}
	box_world_end(&w);
}
END_TEST

START_TEST(a_command_and_a_check_have_a_box_without_the_agents_things)
{
	struct box_world w;
	cleanup_strv char **prefix = NULL;
	struct err err = { 0 };

	box_world_need();
	box_world_begin(&w, WORKTREE);
	w.spec.kind = BOX_COMMAND;
	works(w, "git status --short && test -z \"$CLAUDE_CONFIG_DIR\"");
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, &err),
	    0);
	ck_assert_ptr_nonnull(prefix);
	strv_clear(&prefix);
	ck_assert_int_eq(box_prefix(&w.workspace, w.settings, w.workspace.root,
			     &prefix, &err),
	    0);
	ck_assert_ptr_null(prefix);
	become_check(&w);
	works(w, "git status --short && cat a.txt && echo x >built");
	fails(w, "ls ../../sessions");
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, &err),
	    0);
	ck_assert_ptr_nonnull(prefix);
	box_world_end(&w);
}
END_TEST

START_TEST(a_shell_command_runs_in_a_box_as_it_is)
{
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *plain = box_shell(NULL, "echo a"), *boxed = NULL;
	struct child_spec child = { 0 };
	struct box box = { 0 };
	struct box_world w;

	ck_assert_str_eq(plain, "echo a");
	box_world_need();
	box_world_begin(&w, WORKTREE);
	w.spec.kind = BOX_COMMAND;
	ck_assert_int_eq(box_prepare(&w.spec, &box, NULL), 0);
	boxed = box_shell(strv_const(box.prefix),
	    "set -- 'a  b' \"c\"\nls ~/secret; echo \"$1$2\"; exit 3");
	child.shell = boxed;
	ck_assert_int_eq(child_run(&child, &result, NULL), 0);
	child_output_text(&result.out, &out);
	ck_assert_str_eq(out.data, "a  bc\n");
	ck_assert_int_eq(result.status, 3);
	box_release(&box);
	box_world_end(&w);
}
END_TEST

START_TEST(a_strict_box_has_a_clone_and_no_network)
{
	struct box_world w;

	box_world_need();
	box_world_begin(&w, "[defaults]\nsandbox = \"strict\"\n");
	/* As a shared clone, which git cannot make of every path. */
	repo_sh(w.repo,
	    "H=$(git rev-parse HEAD)\n"
	    "git worktree remove --force .worktrees/ann\n"
	    "git init -q .worktrees/ann\n"
	    "echo ../../../../.git/objects "
	    ">.worktrees/ann/.git/objects/info/alternates\n"
	    "cd .worktrees/ann && git reset -q --hard $H\n"
	    "git config user.name Ann\n"
	    "git config user.email a@example.org\n");
	works(w,
	    "echo 1 >x && git add x && git commit -qm x && "
	    "git branch own && git tag t");
	works(w, "test \"$(tail -n +3 /proc/net/dev | grep -cv lo:)\" = 0");
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	fails(w, "cat \"$LLMC_TEST_ROOT/.git/config\"");
	fails(w, "rm -r \"$LLMC_TEST_ROOT/.git/objects\"");
	box_world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("box");

	unit_case(s, "made",
	    (const TTest *[]){ without_a_sandbox_there_is_no_box,
		a_worker_commits_in_its_box, what_a_worker_needs_is_there,
		the_agents_of_the_user_are_read_and_no_others,
		the_user_can_open_more,
		gits_own_settings_are_seen_with_what_they_include,
		a_command_and_a_check_have_a_box_without_the_agents_things,
		a_check_finds_nothing_of_another_in_its_cache,
		git_collects_no_garbage_in_a_box,
		a_shell_command_runs_in_a_box_as_it_is,
		a_strict_box_has_a_clone_and_no_network, NULL });
	unit_case(s, "closed",
	    (const TTest *[]){
		nothing_else_can_be_changed, little_else_can_be_seen, NULL });
	unit_case(s, "refused",
	    (const TTest *[]){
		a_box_that_cannot_be_made_is_an_error_with_words, NULL });
	return s;
}
