/* SPDX-License-Identifier: ISC */

/* The box, with the real bubblewrap and the real git. */
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "box-world.h"
#include "agent-kind.h"
#include "repo.h"

static void
all_fail(const char *const *scripts, size_t count)
{
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *script =
		    xasprintf("R=$LLMC_TEST_ROOT; %s", scripts[i]);

		fails(script);
	}
}

TEST(without_a_sandbox_there_is_no_box)
{
	struct box box;
	char **prefix;

	box_world_begin("");
	ck_assert_int_eq(box_prepare(&w.spec, &box, NULL), 0);
	ck_assert_int_eq(box.mode, BOX_OFF);
	ck_assert_ptr_null(box.prefix);
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, NULL),
	    0);
	ck_assert_ptr_null(prefix);
}

TEST(a_worker_commits_in_its_box)
{
	box_world_need();
	box_world_begin(WORKTREE);
	works("echo new >new.txt && git add new.txt && git commit -qm new && "
	      "git status --short && git log --oneline");
	repo_sh(w.repo, "git -C .worktrees/ann show HEAD:new.txt");
	repo_sh(w.repo, "git fsck --no-progress");
}

TEST(nothing_else_can_be_changed)
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
		"echo x >\"$R/.llmc/llmc.db\"",
		"echo x >\"$R/.llmc/new\"",
		"echo x >\"$R/.worktrees/new\"",
		"echo x >/usr/new",
		"echo x >/new",
		"mkdir /srv/new",
		"echo x >/run/new",
		"echo x >/proc/sys/kernel/core_pattern",
	};

	box_world_need();
	box_world_begin(WORKTREE);
	all_fail(scripts, nitems(scripts));
}

TEST(little_else_can_be_seen)
{
	static const char *const scripts[] = {
		"cat \"$HOME/secret\"",
		"cat \"$R/a.txt\"",
		"cat \"$R/.llmc/llmc.db\"",
		"ls \"$R/.worktrees/bob\"",
		"ls \"$R/.git/worktrees/bob\"",
		"ls /run | grep -v -e resolv -e systemd -e current-system",
		"tr '\\0' '\\n' </proc/1/environ | grep SECRET",
		"env | grep SECRET",
		"test -n \"$TMUX\"",
	};

	box_world_need();
	setenv("A_SECRET", "x", 1);
	setenv("TMUX", "x", 1);
	box_world_begin(WORKTREE);
	all_fail(scripts, nitems(scripts));
}

TEST(what_a_worker_needs_is_there)
{
	cleanup_free char *claude = NULL, *spool = NULL;

	box_world_need();
	setenv("ANTHROPIC_API_KEY", "sk-test", 1);
	box_world_begin(WORKTREE);
	repo_sh(w.repo,
	    "mkdir -p .llmc/sessions/ann && "
	    "echo x >.llmc/sessions/ann/launch.json");
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	works("test \"$ANTHROPIC_API_KEY\" = sk-test");
	works("test \"$TMPDIR\" = /tmp && echo x >/tmp/x");
	works("echo x >\"$HOME/.cache/x\" && echo x >\"$HOME/x\"");
	works("cat \"$LLMC_TEST_ROOT/.llmc/sessions/ann/launch.json\"");
	works("echo x >\"$LLMC_TEST_ROOT/.llmc/run/ann/spool/x\"");
	fails("echo x >\"$LLMC_TEST_ROOT/.llmc/run/ann/x\"");
	works("grep -q hasCompletedOnboarding "
	      "\"$CLAUDE_CONFIG_DIR/.claude.json\" && "
	      "echo x >\"$CLAUDE_CONFIG_DIR/x\"");
	works("test \"$PWD\" = \"$LLMC_TEST_ROOT/.worktrees/ann\" && "
	      "test \"$(git rev-parse --show-toplevel)\" = \"$PWD\"");
	/* Its own tmux server, if it wants one. */
	unsetenv("TMUX_TMPDIR");
	works(
	    "command -v tmux >/dev/null || exit 0; "
	    "tmux -L own -f /dev/null new-session -d && tmux -L own kill-server");
	claude = box_agent_dir(&w.workspace, "ann", &claude_kind);
	ck_assert(file_is_dir(claude));
	spool = workspace_path(&w.workspace, "run/ann/spool/x");
	ck_assert(file_exists(spool));
}

TEST(the_agents_of_the_user_are_read_and_no_others)
{
	box_world_need();
	box_world_begin(WORKTREE);
	unsetenv("CLAUDE_CONFIG_DIR");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/.claude/agents\"; echo mine "
	    ">\"$HOME/.claude/agents/a.md\"\n"
	    "mkdir -p .llmc/box/ann/claude/skills; cd .llmc/box/ann/claude\n"
	    "echo planted >skills/a.md; ln -s /etc commands; echo >rules\n");
	works("grep mine \"$CLAUDE_CONFIG_DIR/agents/a.md\"");
	fails("echo >\"$CLAUDE_CONFIG_DIR/agents/b.md\"");
	fails("cat \"$CLAUDE_CONFIG_DIR/skills/a.md\"");
	fails("ls \"$CLAUDE_CONFIG_DIR/commands/\" | grep passwd");
	fails("echo >\"$CLAUDE_CONFIG_DIR/rules/a.md\"");
}

TEST(the_user_can_open_more)
{
	box_world_need();
	setenv("A_SECRET", "x", 1);
	box_world_begin("");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/read\" \"$HOME/write\"; "
	    "echo 1 >\"$HOME/read/x\"");
	box_world_settings(
	    WORKTREE "sandbox_read = [\"~/read\", \"~/missing\"]\n"
		     "sandbox_write = [\"~/write\"]\n"
		     "env = [\"A_SECRET\"]\n");
	works("cat \"$HOME/read/x\" && test \"$A_SECRET\" = x");
	works("echo 1 >\"$HOME/write/x\"");
	fails("echo 1 >\"$HOME/read/x\"");
	repo_sh(w.repo, "cat \"$HOME/write/x\"");
}

TEST(gits_own_settings_are_seen_with_what_they_include)
{
	box_world_need();
	box_world_begin(WORKTREE);
	unsetenv("GIT_CONFIG_GLOBAL");
	repo_sh(w.repo,
	    "mkdir -p \"$HOME/dots\"\n"
	    "printf '[include]\\n\\tpath = dots/more\\n' "
	    ">\"$HOME/.gitconfig\"\n"
	    "printf '[user]\\n\\tname = Included\\n' >\"$HOME/dots/more\"\n");
	works("test \"$(git config --global --includes user.name)\" = "
	      "Included");
}

TEST(a_box_has_its_dev_null_where_git_has_that_for_its_settings)
{
	box_world_need();
	box_world_begin(WORKTREE);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	works("echo x >/dev/null && git rev-parse HEAD");
	unsetenv("GIT_CONFIG_GLOBAL");
}

TEST(a_box_that_cannot_be_made_is_an_error_with_words)
{
	struct box box = { 0 };
	struct err err = { 0 };

	box_world_need();
	box_world_begin(WORKTREE);
	setenv("LLMC_BWRAP", "/nonexistent/bwrap", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "package bubblewrap"));
	unsetenv("LLMC_BWRAP");
	setenv("HOME", "/", 1);
	ck_assert_int_eq(box_prepare(&w.spec, &box, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "HOME"));
}

/* --- the machine around it -------------------------------------------- */

static const char *const both_modes[] = { WORKTREE,
	"[defaults]\nsandbox = \"strict\"\n" };

static void
remove_elsewhere(void)
{
	remove_tree(getenv("LLMC_TEST_ELSEWHERE"));
}

/* A folder of a machine that is neither temporary nor somebody's home; the
 * scripts find it in LLMC_TEST_ELSEWHERE. */
static char *
make_elsewhere(void)
{
	cleanup_free char *self = realpath("/proc/self/exe", NULL);
	char *dir;

	*strrchr(self, '/') = '\0';
	dir = file_join(self, "elsewhere-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("LLMC_TEST_ELSEWHERE", dir, 1);
	return dir;
}

/* Anybody could connect to it outside. */
static int
listen_elsewhere(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_uint_lt(strlcpy(name.sun_path, getenv("LLMC_TEST_ELSEWHERE"),
			      sizeof name.sun_path),
	    sizeof name.sun_path);
	strlcat(name.sun_path, "/sock", sizeof name.sun_path);
	ck_assert_int_eq(bind(fd, (void *)&name, sizeof name), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

TEST(the_machine_is_seen_only_where_it_was_given)
{
	free(make_elsewhere());
	box_world_need();
	for (size_t i = 0; i < nitems(both_modes); i++) {
		box_world_begin(both_modes[i]);
		w.spec.trial = true;
		repo_sh(w.repo, "echo x >\"$LLMC_TEST_ELSEWHERE/file\"");
		fails("ls \"$LLMC_TEST_ELSEWHERE\"");
		works("ls /usr/bin/env /bin/sh /etc/passwd /dev/null");
		box_world_end();
	}
	remove_elsewhere();
}

TEST(the_tmux_server_is_out_of_reach_wherever_its_socket_is)
{
	cleanup_free char *dir = make_elsewhere();

	box_world_need();
	setenv("TMUX_TMPDIR", dir, 1);
	for (size_t i = 0; i < nitems(both_modes); i++) {
		cleanup_free char *given = xasprintf(
		    "%ssandbox_read = [\"%s\"]\n", both_modes[i], dir);
		const char *const configs[] = { both_modes[i], given };

		for (size_t n = 0; n < nitems(configs); n++) {
			box_world_begin(configs[n]);
			w.spec.trial = true;
			repo_sh(w.repo,
			    "command -v tmux || exit 0\n"
			    "tmux -L box -f /dev/null new-session -d\n"
			    "tmux -S \"$TMUX_TMPDIR/tmux-$(id -u)/box\" ls");
			fails(
			    "tmux -S \"$LLMC_TEST_ELSEWHERE/tmux-$(id -u)/box\""
			    " kill-server");
			repo_sh(w.repo,
			    "command -v tmux || exit 0\n"
			    "tmux -L box kill-server");
			box_world_end();
		}
	}
	remove_elsewhere();
}

TEST(a_socket_is_reached_only_if_it_was_named_itself)
{
	cleanup_free char *dir = make_elsewhere();
	int fd = listen_elsewhere();

	box_world_need();
	for (size_t i = 0; i < nitems(both_modes); i++) {
		cleanup_free char *folder = xasprintf(
		    "%ssandbox_read = [\"%s\"]\n", both_modes[i], dir);
		cleanup_free char *itself = xasprintf(
		    "%ssandbox_read = [\"%s/sock\"]\n", both_modes[i], dir);

		box_world_begin(both_modes[i]);
		w.spec.trial = true;
		repo_sh(w.repo, "echo x >\"$LLMC_TEST_ELSEWHERE/file\"");
		fails("test -e \"$LLMC_TEST_ELSEWHERE/sock\"");
		box_world_settings(folder);
		works("cat \"$LLMC_TEST_ELSEWHERE/file\"");
		fails("test -S \"$LLMC_TEST_ELSEWHERE/sock\"");
		box_world_settings(itself);
		works("test -S \"$LLMC_TEST_ELSEWHERE/sock\"");
		box_world_end();
	}
	fd_close(fd);
	remove_elsewhere();
}

static void
socket_goes(void)
{
	repo_sh(w.repo, "rm \"$LLMC_TEST_ELSEWHERE/sock\"");
}

/* Another worker's, say, when a box is about to be made. */
TEST_ROWS(a_socket_that_goes_leaves_nothing_in_its_folder, 2)
{
	cleanup_free char *dir = make_elsewhere();
	cleanup_free char *settings = xasprintf("%ssandbox_%s = [\"%s\"]\n",
	    both_modes[0], _i == 0 ? "write" : "read", dir);
	int fd = listen_elsewhere();

	box_world_need();
	box_world_begin(settings);
	w.spec.trial = true;
	w.prepared = socket_goes;
	works("ls \"$LLMC_TEST_ELSEWHERE\"");
	ck_assert_str_eq(repo_sh(w.repo, "ls \"$LLMC_TEST_ELSEWHERE\""), "");
	box_world_end();
	fd_close(fd);
	remove_elsewhere();
}

TEST(programs_in_unusual_places_work)
{
	cleanup_free char *dir = make_elsewhere();
	cleanup_free char *path =
	    xasprintf("%s/tool/bin:%s", dir, getenv("PATH"));
	cleanup_free char *home = file_join(dir, "home");
	cleanup_free char *config =
	    xasprintf(WORKTREE "agent_command = \"%s/agent\"\n", dir);

	box_world_need();
	box_world_begin("");
	repo_sh(w.repo,
	    "cd \"$LLMC_TEST_ELSEWHERE\" && mkdir -p tool/bin tool/lib own\n"
	    "echo hello >tool/lib/words\n"
	    "printf '#!/bin/sh\\ncat \"${0%%/*}/../lib/words\"\\n' >tool/bin/say\n"
	    "cp /bin/sh own/interpreter\n"
	    /* The kernel takes no interpreter whose path has a blank. */
	    "i=$PWD/own/interpreter; case $i in *' '*) i=/bin/sh; esac\n"
	    "printf '#!%s\\necho agent\\n' \"$i\" "
	    ">own/program && ln -s own/program agent\n"
	    "ln -s \"$PWD/own/program\" tool/bin/linked\n"
	    "chmod +x tool/bin/say own/program && ln -s \"$HOME\" home\n");
	setenv("PATH", path, 1);
	setenv("HOME", home, 1);
	box_world_settings(config);
	works("test \"$(say)\" = hello");
	works("test \"$(\"$LLMC_TEST_ELSEWHERE/agent\")\" = agent");
	/* A link of a folder of PATH, to a place that is not on it. */
	box_world_settings(WORKTREE "agent_command = \"linked\"\n");
	works("test \"$(linked)\" = agent");
	/* Also in a folder that can be written; the program itself cannot. */
	free(take_ptr(&config));
	config = xasprintf(WORKTREE "agent_command = \"linked\"\n"
				    "sandbox_write = [\"%s\"]\n",
	    dir);
	box_world_settings(config);
	works("test \"$(linked)\" = agent && "
	      "echo x >\"$LLMC_TEST_ELSEWHERE/own/new\"");
	fails("echo x >>\"$LLMC_TEST_ELSEWHERE/own/program\"");
	works("cd ~ && echo x >~/new");
	fails("cat ~/secret");
	box_world_end();
	remove_elsewhere();
}

/* A check of the world's repository from now on. */
static void
become_check(void)
{
	repo_sh(w.repo,
	    "mkdir -p .llmc/checks && "
	    "git worktree add -q --detach .llmc/checks/1 HEAD");
	free((char *)(uintptr_t)w.spec.tree);
	w.spec.tree = workspace_path(&w.workspace, "checks/1");
	w.spec.kind = BOX_CHECK;
	w.spec.worker = NULL;
}

TEST(a_check_finds_nothing_of_another_in_its_cache)
{
	static const char *const modes[] = { WORKTREE,
		"[defaults]\nsandbox = \"strict\"\n" };

	box_world_need();
	for (size_t i = 0; i < nitems(modes); i++) {

		box_world_begin(modes[i]);
		become_check();
		for (int n = 0; n < 2; n++)
			works("mkdir -p ~/.cache && test -z \"$(ls ~/.cache)\" "
			      "&& echo x >~/.cache/x");
		box_world_end();
	}
}

/* Of other worktrees it sees nothing: what only they use would be garbage. */
TEST(git_collects_no_garbage_in_a_box)
{
	static const enum box_kind kinds[] = { BOX_SESSION, BOX_COMMAND,
		BOX_CHECK };
	struct box box = { 0 };
	int counts = 0;

	box_world_need();
	box_world_begin(WORKTREE);
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
			become_check();
		works("test \"$(git config gc.auto)\" = 0 && "
		      "test \"$(git config maintenance.auto)\" = false && "
		      "test \"$(git config rerere.enabled)\" = false && "
		      "test -z \"$(git config user.nick)\"");
	}
}

TEST(a_command_and_a_check_have_a_box_without_the_agents_things)
{
	cleanup_strv char **prefix = NULL;
	struct err err = { 0 };

	box_world_need();
	box_world_begin(WORKTREE);
	w.spec.kind = BOX_COMMAND;
	works("git status --short && test -z \"$CLAUDE_CONFIG_DIR\"");
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, &err),
	    0);
	ck_assert_ptr_nonnull(prefix);
	strv_clear(&prefix);
	ck_assert_int_eq(box_prefix(&w.workspace, w.settings, w.workspace.root,
			     &prefix, &err),
	    0);
	ck_assert_ptr_null(prefix);
	become_check();
	works("git status --short && cat a.txt && echo x >built");
	fails("ls ../../sessions");
	ck_assert_int_eq(
	    box_prefix(&w.workspace, w.settings, w.spec.tree, &prefix, &err),
	    0);
	ck_assert_ptr_nonnull(prefix);
}

/* The filter that closes them is not left out in any kind of box. */
TEST(no_box_has_the_kernels_keyrings)
{
	static const enum box_kind kinds[] = { BOX_SESSION, BOX_COMMAND,
		BOX_CHECK };

	box_world_need();
	for (size_t i = 0; i < nitems(both_modes); i++) {

		box_world_begin(both_modes[i]);
		w.spec.trial = true;
		for (size_t n = 0; n < nitems(kinds); n++) {
			w.spec.kind = kinds[n];
			if (kinds[n] == BOX_CHECK)
				become_check();
			works("grep -q 'Seccomp:.2' /proc/self/status");
			/* Its init has it too, and nothing is behind it. */
			works("grep -q 'Seccomp:.2' /proc/1/status");
			works("grep -q keeper /proc/1/comm");
			fails("readlink /proc/1/exe");
			works("test -z \"$(ls /proc/self/fd | "
			      "grep -v '^[0-3]$')\"");
			ck_assert_int_eq(box_world_run("kill -9 $$"), 137);
		}
		box_world_end();
	}
}

/* Each of them has the lock while it lives, whatever it ignores. */
TEST(nothing_of_a_box_lives_when_it_has_ended)
{
	cleanup_free char *file = NULL;
	cleanup_fd int lock = -1;

	box_world_need();
	box_world_begin(WORKTREE);
	w.spec.kind = BOX_COMMAND;
	file = file_join(w.spec.tree, "lock");
	works("touch lock; exec 9<lock && flock -s 9 && trap '' HUP TERM && "
	      "for i in $(seq 100); do setsid sleep 60 >/dev/null 2>&1 & "
	      "done; true");
	lock = open(file, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
}

TEST(a_shell_command_runs_in_a_box_as_it_is)
{
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *plain = box_shell(NULL, "echo a"), *boxed = NULL;
	struct child_spec child = { 0 };
	struct box box = { 0 };

	ck_assert_str_eq(plain, "echo a");
	box_world_need();
	box_world_begin(WORKTREE);
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
}

TEST(a_strict_box_has_a_clone_and_no_network)
{
	box_world_need();
	box_world_begin("[defaults]\nsandbox = \"strict\"\n");
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
	works("echo 1 >x && git add x && git commit -qm x && "
	      "git branch own && git tag t");
	works("test \"$(tail -n +3 /proc/net/dev | grep -cv lo:)\" = 0");
	setenv("LLMC_TEST_ROOT", w.workspace.root, 1);
	fails("cat \"$LLMC_TEST_ROOT/.git/config\"");
	fails("rm -r \"$LLMC_TEST_ROOT/.git/objects\"");
}
