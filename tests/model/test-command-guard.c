/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "command-guard.h"

#define TREE "/r/.worktrees/adam"
#define OURS 77

static bool
is_foreign(int64_t pid, void *arg)
{
	(void)arg;
	return pid != OURS;
}

/* /link leads to the worktree. */
static bool
is_inside(const char *path, void *arg)
{
	(void)arg;
	return strncmp(path, "/link/", 6) == 0;
}

/* refused: a part of the answer; NULL = it passes. */
struct row {
	const char *text, *refused;
};

static void
check_rows(const struct row *rows, size_t count, unsigned rules)
{
	static const char *const scratch[] = { "/tmp", NULL };
	const struct command_place place = { .rules = rules,
		.tree = TREE,
		.cwd = TREE "/sub",
		.home = "/home/me",
		.own = "/scratch/adam/",
		.scratch = scratch,
		.is_foreign = is_foreign,
		.is_inside = is_inside };

	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf why = BUF_INIT;
		bool passes = command_guard(rows[i].text, &place, &why);

		ck_assert_msg(passes == (rows[i].refused == NULL) &&
			(passes ? why.len == 0 :
				  strstr(why.data, rows[i].refused) != NULL),
		    "%s: %s", rows[i].text, why.len > 0 ? why.data : "passes");
	}
}

#define ALL ((1U << COMMAND_RULE_COUNT) - 1)

/* What agents do all day: none of it may be refused. */
TEST(ordinary_work_passes)
{
	static const struct row rows[] = {
		{ "", NULL },
		{ "make check 2>&1 | tail -n 20", NULL },
		{ "git add -A && git commit -m 'git push; sudo rm -rf /'",
		    NULL },
		{ "git commit -m \"$(cat <<'EOF'\nDo not git push\n\nkill -9 -1\nEOF\n)\"",
		    NULL },
		{ "git stash push -m x; git log --oneline | grep push", NULL },
		{ "git config user.name me; git config --global user.name",
		    NULL },
		{ "git config --global --get user.name", NULL },
		{ "git config --global --list", NULL },
		{ "rm -rf build node_modules ../dist ./*", NULL },
		{ "rm -f /etc/x", NULL }, /* one file, and git can tell */
		{ "rm -rf /tmp/x /tmp/y* /scratch/adam/z", NULL },
		{ "rm -rf \"$DIR\" $(mktemp -d) `pwd`/x", NULL },
		{ "d=$(mktemp -d); cd \"$d\" && rm -rf sub ..", NULL },
		{ "(cd /tmp && rm -rf a); rm -rf sub", NULL },
		{ "rm -rf " TREE "/build \"$PWD/out\"", NULL },
		{ "npm start & sleep 1; kill $!; kill %1; kill -9 77", NULL },
		{ "kill -l; kill -TERM 0; kill -s INT 77; kill -- -77", NULL },
		{ "pkill -P $$; pkill --parent 77", NULL },
		{ "echo sudo; grep -rn sudo . # sudo make install", NULL },
		{ "cat tests/golden/a > /tmp/b; cp ../tests/golden/a b", NULL },
		{ "sed -n 1p ../tests/golden/a; diff <(ls) ../tests/golden",
		    NULL },
		{ "cat > x.sh <<EOF\nsudo git push\nEOF\nchmod +x x.sh", NULL },
		{ "for f in a b; do echo \"$f\"; done; case $x in a) ls;; esac",
		    NULL },
		{ "echo 'it''s' \"a \\\" b\" $'c\\' d' \\; ${X:-rm -rf /}",
		    NULL },
		{ "echo $((1 + 2)) \"$(echo \"$(date)\")\" 'open", NULL },
		{ "find . -name '*.o' -delete && xargs -n 1 rm -f < list",
		    NULL },
		{ "rm -rf /link/build /scratch/adam/* /scratch/adam", NULL },
		{ "cd \"$(git rev-parse --show-toplevel)\" && rm -rf build",
		    NULL },
		{ "pushd ../../..; popd; rm -rf build", NULL },
		{ "command -v sudo >/dev/null && echo yes", NULL },
		{ "if kill -0 1234 2>/dev/null; then :; fi", NULL },
		{ "kill -s 0 1234; kill $(lsof -ti:3000); kill \"$PID\"",
		    NULL },
		{ "lsof -ti :3000 | xargs -r kill -9", NULL },
		{ "pkill -f " TREE "/server.js; pkill -f \"$PWD/x\"", NULL },
		{ "cd /tmp/t && git init -q . && git push origin main", NULL },
		{ "git -C /tmp/clone push; git -C \"$d\" push -q", NULL },
		{ "cd \"$(mktemp -d)\" && git push; cd - && git push", NULL },
		{ "HOME=/tmp/h git config --global user.name me", NULL },
		{ "env HOME=\"$d\" git config --global a.b c", NULL },
		{ "export HOME=$d; git config --global a.b c; rm -rf ~/x",
		    NULL },
		{ "GIT_CONFIG_GLOBAL=/dev/null sh -c 'git config --global a b'",
		    NULL },
		{ "echo \"$(( (1 + (2)) * (3) )) ok\" 'git push'", NULL },
		{ "for i in 1 2; do [ $i -gt 1 ] && echo \"$i\" >>out; done",
		    NULL },
		{ "python3 - <<'PY' && echo 'ok'\nimport os\n"
		  "os.system('git push')\nPY\nls",
		    NULL },
	};

	check_rows(rows, nitems(rows), ALL);
	check_rows(rows, nitems(rows), 0);
}

TEST(what_a_worker_does_not_run_is_refused_with_words)
{
	static const struct row rows[] = {
		{ "rm -rf /", "/ is outside of your worktree" },
		{ "rm -rf ~", "outside" },
		{ "rm -r -f -- ~/src", "outside" },
		{ "rm -fR \"$HOME\"/x", "outside" },
		{ "rm --recursive ../../eve", "outside" },
		{ "rm -rf ../../../.git", "outside" },
		{ "cd .. && cd .. && rm -rf eve", "outside" },
		{ "rm -rf /tmp", "outside" },
		{ "rm -rf /tmp/*", "outside" },
		{ "rm -rf /tmp/../home", "outside" },
		{ "rm -rf build /home/*", "outside" },
		{ "ls | xargs -I {} rm -rf /x/{}", "outside" },
		{ "(cd /tmp); rm -rf ../../x", "outside" },
		{ "make\nrm -rf /x", "outside" },
		{ "if true; then /bin/rm -rf /x; fi", "outside" },
		{ "echo \"ok\" && A=b nice -n 3 rm -rf '/x'", "outside" },
		{ "bash -lc 'cd /; rm -rf x'", "outside" },
		{ "eval rm -rf /x", "outside" },
		{ "eval 'rm -rf /x'", "outside" },
		{ "kill 1234", "not a process of your session" },
		{ "kill -9 77 78", "78 is not a process" },
		{ "kill -s KILL 78", "78 is not a process" },
		{ "kill -9 -1", "-1 is not a process" },
	};

	check_rows(rows, nitems(rows), ALL);
}

TEST(a_rule_that_is_off_refuses_nothing)
{
	static const struct row off[] = {
		{ "rm -rf /x", NULL },
		{ "sudo kill 1234", "not a process" },
	};
	static const struct row behind[] = {
		{ "sudo -u me rm -rf /x", "outside" },
		{ "kill 1234", NULL },
	};

	check_rows(off, nitems(off), 1U << COMMAND_KILL);
	check_rows(behind, nitems(behind), 1U << COMMAND_REMOVE);
}

/* Where nobody can tell whose a process is, only all of them are refused. */
TEST(what_kills_everything_is_refused_everywhere)
{
	const struct command_place place = { .rules = ALL, .tree = TREE };
	cleanup_buf struct buf why = BUF_INIT;

	ck_assert(command_guard("kill 1234", &place, &why));
	ck_assert(!command_guard("kill -9 -1", &place, &why));
	ck_assert(!command_guard("kill 1", &place, &why));
}

/* Commands in commands end somewhere, and so does a long text. */
TEST(depth_and_length_are_bounded)
{
	static const char *const repeated[] = { "a ", ">a", "<<a ", "a/../",
		"\"$(a", "kill %1;", "$((1))", "sh -c '" };
	cleanup_buf struct buf deep = BUF_INIT, ends = BUF_INIT;
	struct row row = { NULL, NULL };
	int64_t began = clock_mono_ms();

	for (size_t i = 0; i < nitems(repeated); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		buf_adds(&text, i == 3 ? "rm -r " : "");
		while (text.len < 300000)
			buf_adds(&text, repeated[i]);
		check_rows(&(struct row){ text.data, NULL }, 1, ALL);
	}
	/* It was 30 s when each part of a path looked at all after it. */
	ck_assert_int_lt(clock_mono_ms() - began, 10000);

	for (int i = 0; i < 1000; i++)
		buf_adds(&deep, "echo \"$(");
	check_rows(&(struct row){ deep.data, NULL }, 1, ALL);
	for (int i = 0; i < 200000; i++)
		buf_adds(&ends, "a $((");
	row.text = ends.data;
	check_rows(&row, 1, ALL);
}
