/* SPDX-License-Identifier: ISC */

/* The box, with the real bubblewrap and the real git. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

#define WORKTREE "[defaults]\nsandbox = \"worktree\"\n"

struct world {
	struct repo *repo;
	struct workspace workspace;
	struct settings *settings;
	struct box_spec spec;
	struct buf out; /* of the last script */
};

static void
read_settings(struct world *w, const char *text)
{
	struct settings_facts facts = { .root = w->workspace.root,
		.home = getenv("HOME") };
	struct settings_problems problems;

	settings_free(w->settings);
	w->settings = settings_parse(text, strlen(text), &facts, &problems);
	ck_assert_uint_eq(problems.count, 0);
	settings_problems_release(&problems);
	w->spec.settings = w->settings;
}

/* A repository with the worktree of ann, secrets around it, and a sibling. */
static void
begin(struct world *w, const char *config)
{
	struct err err = { 0 };

	*w = (struct world){ .repo = repo_new(false) };
	buf_init(&w->out);
	ck_assert_int_eq(repo_add(w->repo), 0);
	repo_sh(w->repo,
	    "mkdir -p .llmc/sessions .worktrees\n"
	    "git worktree add -q --detach .worktrees/ann HEAD\n"
	    "git worktree add -q --detach .worktrees/bob HEAD\n"
	    "git -C .worktrees/ann config user.name Ann\n"
	    "git -C .worktrees/ann config user.email a@example.org\n"
	    "echo secret >\"$HOME/secret\"; echo state >.llmc/state.json\n");
	ck_assert_msg(workspace_at(w->repo->root, &w->workspace, &err) == 0,
	    "%s", err.msg);
	w->spec = (struct box_spec){
		.kind = BOX_SESSION, .workspace = &w->workspace, .worker = "ann"
	};
	w->spec.tree = file_join(w->workspace.root, ".worktrees/ann");
	read_settings(w, config);
}

static void
end(struct world *w)
{
	free((char *)(uintptr_t)w->spec.tree);
	settings_free(w->settings);
	workspace_release(&w->workspace);
	repo_free(w->repo);
	buf_release(&w->out);
}

/* Run a script inside; its status. The machine may not allow boxes. */
static int
inside(struct world *w, const char *script)
{
	const char *const shell[] = { "sh", "-c", script, NULL };
	cleanup_child_result struct child_result result;
	cleanup_strv char **argv = NULL;
	struct child_spec child = { .cwd = w->spec.tree, .merge_stderr = true };
	struct box box = { 0 };
	struct err err = { 0 };

	ck_assert_msg(box_prepare(&w->spec, &box, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(box.prefix);
	strv_add_all(&argv, strv_const(box.prefix));
	strv_add_all(&argv, shell);
	box_release(&box);
	child.argv = strv_const(argv);
	ck_assert_int_eq(child_run(&child, &result, &err), 0);
	buf_clear(&w->out);
	child_output_text(&result.out, &w->out);
	ck_assert(result.exited);
	return result.status;
}

static void
need_bwrap(void)
{
	static const char *const argv[] = { "bwrap", "--unshare-user",
		"--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc",
		"true", NULL };
	struct child_spec child = { .argv = argv };
	cleanup_child_result struct child_result result;

	if (child_run(&child, &result, NULL) < 0 || !child_succeeded(&result))
		unit_skip("bubblewrap cannot make a box here");
}

#define works(w, script) \
	ck_assert_msg(inside(&(w), script) == 0, "%s: %s", script, (w).out.data)
#define fails(w, script) \
	ck_assert_msg(inside(&(w), script) != 0, "%s: %s", script, (w).out.data)

START_TEST(without_a_sandbox_there_is_no_box)
{
	struct world w;
	struct box box;
	char **prefix;

	begin(&w, "");
	ck_assert_int_eq(box_prepare(&w.spec, &box, NULL), 0);
	ck_assert_int_eq(box.mode, BOX_OFF);
	ck_assert_ptr_null(box.prefix);
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, NULL),
	    0);
	ck_assert_ptr_null(prefix);
	end(&w);
}
END_TEST

START_TEST(a_worker_commits_in_its_box)
{
	struct world w;

	need_bwrap();
	begin(&w, WORKTREE);
	works(w,
	    "echo new >new.txt && git add new.txt && git commit -qm new && "
	    "git status --short && git log --oneline");
	repo_sh(w.repo, "git -C .worktrees/ann show HEAD:new.txt");
	repo_sh(w.repo, "git fsck --no-progress");
	end(&w);
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
	struct world w;

	need_bwrap();
	begin(&w, WORKTREE);
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	for (size_t i = 0; i < nitems(scripts); i++) {
		cleanup_free char *script =
		    xasprintf("R=$LLMC_TEST_ROOT; %s", scripts[i]);

		fails(w, script);
	}
	end(&w);
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
	struct world w;

	need_bwrap();
	setenv("A_SECRET", "x", 1);
	setenv("TMUX", "x", 1);
	begin(&w, WORKTREE);
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	for (size_t i = 0; i < nitems(scripts); i++) {
		cleanup_free char *script =
		    xasprintf("R=$LLMC_TEST_ROOT; %s", scripts[i]);

		fails(w, script);
	}
	end(&w);
}
END_TEST

START_TEST(what_a_worker_needs_is_there)
{
	struct world w;
	cleanup_free char *claude = NULL, *spool = NULL;

	need_bwrap();
	setenv("ANTHROPIC_API_KEY", "sk-test", 1);
	begin(&w, WORKTREE);
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
	end(&w);
}
END_TEST

START_TEST(the_agents_of_the_user_are_read_and_no_others)
{
	struct world w;

	need_bwrap();
	begin(&w, WORKTREE);
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
	end(&w);
}
END_TEST

START_TEST(the_user_can_open_more)
{
	struct world w;

	need_bwrap();
	setenv("A_SECRET", "x", 1);
	begin(&w, "");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/read\" \"$HOME/write\"; "
	    "echo 1 >\"$HOME/read/x\"");
	read_settings(&w,
	    WORKTREE "sandbox_read = [\"~/read\", \"~/missing\"]\n"
		     "sandbox_write = [\"~/write\"]\n"
		     "sandbox_env = [\"A_SECRET\"]\n");
	works(w, "cat \"$HOME/read/x\" && test \"$A_SECRET\" = x");
	works(w, "echo 1 >\"$HOME/write/x\"");
	fails(w, "echo 1 >\"$HOME/read/x\"");
	repo_sh(w.repo, "cat \"$HOME/write/x\"");
	end(&w);
}
END_TEST

START_TEST(gits_own_settings_are_seen_with_what_they_include)
{
	struct world w;

	need_bwrap();
	begin(&w, WORKTREE);
	unsetenv("GIT_CONFIG_GLOBAL");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/dots\"\n"
	    "printf '[include]\\n\\tpath = dots/more\\n' "
	    ">\"$HOME/.gitconfig\"\n"
	    "printf '[user]\\n\\tname = Included\\n' >\"$HOME/dots/more\"\n");
	works(w,
	    "test \"$(git config --global --includes user.name)\" = "
	    "Included");
	end(&w);
}
END_TEST

/* As git worktree add --relative-paths writes them. */
#define RELATIVE                                                    \
	"D=$(git -C .worktrees/ann rev-parse --absolute-git-dir); " \
	"N=${D##*/}; "                                              \
	"echo \"gitdir: ../../.git/worktrees/$N\" "                 \
	">.worktrees/ann/.git; "                                    \
	"echo ../../../.worktrees/ann/.git >\"$D/gitdir\""

START_TEST(relative_pointers_are_accepted)
{
	struct world w;

	need_bwrap();
	begin(&w, WORKTREE);
	repo_sh(w.repo, RELATIVE);
	works(w, "echo 1 >one; git add one; git commit -qm one");
	end(&w);
}
END_TEST

START_TEST(a_changed_git_file_is_refused)
{
	static const char *const changes[] = {
		"echo 'gitdir: /etc' >.worktrees/ann/.git",
		"echo \"gitdir: $R/.git/worktrees/bob\" >.worktrees/ann/.git",
		"echo 'gitdir: ../../.git/worktrees/bob' >.worktrees/ann/.git",
		/* A link that the worker could change afterwards. */
		"ln -s ../.. .worktrees/ann/up; "
		"echo 'gitdir: up/.git/worktrees/ann' >.worktrees/ann/.git",
		"mkdir -p x/y; ln -s ../../x/y .worktrees/ann/up; " RELATIVE
		"; echo \"gitdir: up/../../.git/worktrees/$N\" "
		">.worktrees/ann/.git",
		RELATIVE "; echo ../../../.worktrees/bob/.git >\"$D/gitdir\"",
		"rm .worktrees/ann/.git; ln -s ../bob/.git .worktrees/ann/.git",
		"echo /etc >.git/worktrees/ann1/commondir",
		"rm .worktrees/ann/.git; mkdir .worktrees/ann/.git",
		"ln -s /etc/passwd .git/worktrees/ann1/config.worktree",
	};

	for (size_t i = 0; i < nitems(changes); i++) {
		struct world w;
		struct box box = { 0 };
		struct err err = { 0 };

		begin(&w, WORKTREE);
		ck_assert_int_eq(box_prepare(&w.spec, &box, &err), 0);
		box_release(&box);
		repo_sh(w.repo,
		    "N=$(git -C .worktrees/ann rev-parse --git-dir); "
		    "test -e .git/worktrees/ann1 || "
		    "ln -s \"$N\" .git/worktrees/ann1; "
		    "rm -f .git/worktrees/ann1/config.worktree");
		repo_sh(w.repo, changes[i]);
		ck_assert_msg(
		    box_prepare(&w.spec, &box, &err) < 0, "%s", changes[i]);
		ck_assert_str_ne(err.msg, "");
		end(&w);
	}
}
END_TEST

START_TEST(a_box_that_cannot_be_made_is_an_error_with_words)
{
	struct world w;
	struct box box = { 0 };
	struct err err = { 0 };

	begin(&w, WORKTREE);
	setenv("LLMC_BWRAP", "/nonexistent/bwrap", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "package bubblewrap"));
	unsetenv("LLMC_BWRAP");
	setenv("HOME", "/", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "HOME"));
	end(&w);
}
END_TEST

/* A check of the world's repository from now on. */
static void
become_check(struct world *w)
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

	need_bwrap();
	for (size_t i = 0; i < nitems(modes); i++) {
		struct world w;

		begin(&w, modes[i]);
		become_check(&w);
		for (int n = 0; n < 2; n++)
			works(w,
			    "mkdir -p ~/.cache && test -z \"$(ls ~/.cache)\" "
			    "&& echo x >~/.cache/x");
		end(&w);
	}
}
END_TEST

/* Of other worktrees it sees nothing: what only they use would be garbage. */
START_TEST(git_collects_no_garbage_in_a_box)
{
	static const enum box_kind kinds[] = { BOX_SESSION, BOX_COMMAND,
		BOX_CHECK };
	struct world w;
	struct box box = { 0 };
	int counts = 0;

	need_bwrap();
	begin(&w, WORKTREE);
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
	end(&w);
}
END_TEST

START_TEST(a_command_and_a_check_have_a_box_without_the_agents_things)
{
	struct world w;
	cleanup_strv char **prefix = NULL;
	struct err err = { 0 };

	need_bwrap();
	begin(&w, WORKTREE);
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
	end(&w);
}
END_TEST

START_TEST(a_shell_command_runs_in_a_box_as_it_is)
{
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *plain = box_shell(NULL, "echo a"), *boxed = NULL;
	struct child_spec child = { 0 };
	struct box box = { 0 };
	struct world w;

	ck_assert_str_eq(plain, "echo a");
	need_bwrap();
	begin(&w, WORKTREE);
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
	end(&w);
}
END_TEST

START_TEST(a_strict_box_has_a_clone_and_no_network)
{
	struct world w;

	need_bwrap();
	begin(&w, "[defaults]\nsandbox = \"strict\"\n");
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
	end(&w);
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
	    (const TTest *[]){ relative_pointers_are_accepted,
		a_changed_git_file_is_refused,
		a_box_that_cannot_be_made_is_an_error_with_words, NULL });
	return s;
}
