/* SPDX-License-Identifier: ISC */

#include "e2e.h"
#include "enclave.h"

/* The workspace is complete, git does not see it, and a second run changes
 * nothing. */
static void
assert_set_up(const char *root)
{
	struct stat st;

	ck_assert_int_eq(stat(e2e_path("%s/.llmc", root), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(e2e_path("%s/.llmc/config.toml", root), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(e2e_path("%s/.llmc/logs", root), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_str_eq(e2e_git(root, "status", "--porcelain", NULL), "");
}

static size_t
count_lines(const char *text, const char *line)
{
	const char *needle = e2e_path("\n%s\n", line);
	const char *hay = e2e_path("\n%s", text);
	size_t count = 0;

	while ((hay = strstr(hay, needle)) != NULL) {
		count++;
		hay++;
	}
	return count;
}

TEST(first_run_sets_up_and_says_what_next)
{
	const char *dir = e2e_repo("r");
	struct e2e_run *run = e2e_llmc(dir, "init", NULL);

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Set up llmc in ");
	e2e_has(run->out, "llmc doctor");
	assert_set_up(dir);
	e2e_expect(e2e_llmc(dir, "config", "list", NULL), 0, NULL);
}

TEST(second_run_changes_nothing)
{
	const char *dir = e2e_workspace("r");
	const char *exclude = e2e_path("%s/.git/info/exclude", dir);
	const char *before = e2e_read(exclude);
	struct json_object *json;

	json = e2e_json(e2e_llmc(dir, "--json", "init", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "root", ""), dir);
	ck_assert(!json_bool_or(json, "created", true));
	ck_assert(!json_bool_or(json, "changed", true));
	e2e_has(e2e_llmc(dir, "init", NULL)->out, "nothing was changed");
	ck_assert_str_eq(e2e_read(exclude), before);
	ck_assert_uint_eq(count_lines(before, "/.llmc"), 1);
	ck_assert_uint_eq(count_lines(before, "/.worktrees/"), 1);
}

TEST(json_tells_the_first_run)
{
	const char *dir = e2e_repo("r");
	struct json_object *json;

	json = e2e_json(e2e_llmc(dir, "init", "--json", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "root", ""), dir);
	ck_assert(json_bool_or(json, "created", false));
	ck_assert(json_bool_or(json, "changed", false));
}

TEST(no_commit_is_refused_with_the_cure)
{
	const char *dir = e2e_empty_repo("r");

	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "git commit --allow-empty");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1, "no_commit",
	    "has no commit yet");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
}

/* With its working trees beside its .git: none of them is the main one. */
TEST(a_bare_repository_is_refused)
{
	const char *dir = e2e_repo("r"), *tree = e2e_path("%s/tree", dir);

	e2e_git(dir, "worktree", "add", "-q", "-b", "side", "tree", NULL);
	e2e_git(dir, "config", "core.bare", "true", NULL);
	e2e_expect(e2e_llmc(tree, "init", NULL), 1, "git clone");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1,
	    "bad_repository", "is a bare repository");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
}

TEST(outside_of_a_repository_is_refused)
{
	const char *dir = e2e_dir("plain");

	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "git init");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1,
	    "no_repository", "not inside a git repository");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
}

TEST(a_folder_named_git_is_no_repository)
{
	const char *dir = e2e_dir("plain");
	const char *outer = e2e_repo("outer");
	const char *inner = e2e_path("%s/inner", outer);

	e2e_dir("plain/.git");
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "git init");
	/* Like git, it continues the search upwards. */
	ck_assert_int_eq(mkdir(inner, 0755), 0);
	ck_assert_int_eq(mkdir(e2e_path("%s/.git", inner), 0755), 0);
	e2e_expect(e2e_llmc(inner, "init", NULL), 0, NULL);
	ck_assert(e2e_exists(e2e_path("%s/.llmc/config.toml", outer)));
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", inner)));
}

TEST(second_run_repairs_what_is_missing)
{
	const char *dir = e2e_workspace("r");
	const char *exclude = e2e_path("%s/.git/info/exclude", dir);
	struct json_object *json;

	e2e_write(exclude, "");
	ck_assert_int_eq(rmdir(e2e_path("%s/.llmc/logs", dir)), 0);
	json = e2e_json(e2e_llmc(dir, "--json", "init", NULL), 0);
	ck_assert(!json_bool_or(json, "created", true));
	ck_assert(json_bool_or(json, "changed", false));
	assert_set_up(dir);
	ck_assert_int_eq(unlink(exclude), 0);
	ck_assert_int_eq(rmdir(e2e_path("%s/.git/info", dir)), 0);
	e2e_has(e2e_llmc(dir, "init", NULL)->out,
	    "what was missing has been added");
	assert_set_up(dir);
	ck_assert_int_eq(unlink(e2e_path("%s/.llmc/config.toml", dir)), 0);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	assert_set_up(dir);
}

TEST(own_config_and_excludes_are_kept)
{
	const char *dir = e2e_workspace("r");
	const char *config = e2e_path("%s/.llmc/config.toml", dir);
	const char *exclude = e2e_path("%s/.git/info/exclude", dir);

	e2e_write(config, "[auto]\nmax_turns = 30 # mine\n");
	e2e_write(exclude, "# mine\n*.o");
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	ck_assert_str_eq(e2e_read(config),
	    "[auto]\nmax_turns = 30 # mine\n\n[repo]\ndefault_branch = \"main\"\n");
	ck_assert_str_eq(
	    e2e_read(exclude), "# mine\n*.o\n/.llmc\n/.worktrees/\n");
}

TEST(worktree_folder_of_the_config_is_excluded)
{
	static const struct {
		const char *dir;
		const char *line; /* NULL: nothing to exclude */
	} cases[] = {
		{ "work trees/here", "/work trees/here/" },
		{ "./a//b/", "/a/b/" },
		{ "a*[1]?\\\\b", "/a\\*\\[1]\\?\\\\b/" },
		{ "../outside", NULL },
		{ ".", NULL },
		{ "/elsewhere", NULL },
		{ "~/elsewhere", NULL },
		{ "two\\nlines", NULL },
	};
	const char *dir = e2e_workspace("r");
	const char *exclude = e2e_path("%s/.git/info/exclude", dir);
	const char *config = e2e_path("%s/.llmc/config.toml", dir);

	for (size_t i = 0; i < nitems(cases); i++) {
		e2e_write(exclude, "");
		e2e_write(config,
		    e2e_path("[repo]\nworktree_dir = \"%s\"\n", cases[i].dir));
		e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
		ck_assert_str_eq(e2e_read(exclude),
		    cases[i].line != NULL ?
			e2e_path("/.llmc\n%s\n", cases[i].line) :
			"/.llmc\n");
	}
}

TEST(excluded_marks_are_taken_literally_by_git)
{
	const char *dir = e2e_workspace("r");
	const char *trees = e2e_path("%s/a*[1]", dir);

	e2e_expect(
	    e2e_llmc(dir, "config", "set", "repo.worktree_dir", "a*[1]", NULL),
	    0, NULL);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	ck_assert_int_eq(mkdir(trees, 0755), 0);
	e2e_write(e2e_path("%s/x", trees), "");
	ck_assert_str_eq(e2e_git(dir, "status", "--porcelain", NULL), "");
	ck_assert_int_eq(mkdir(e2e_path("%s/ab1", dir), 0755), 0);
	e2e_write(e2e_path("%s/ab1/x", dir), "");
	e2e_has(e2e_git(dir, "status", "--porcelain", NULL), "ab1/");
}

TEST(broken_config_is_told_and_left_alone)
{
	const char *dir = e2e_workspace("r");
	const char *config = e2e_path("%s/.llmc/config.toml", dir);

	e2e_write(config, "[auto]\n\nmax_turns = \n");
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "config.toml:3: ");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1, "bad_config",
	    "config.toml:3: ");
	ck_assert_str_eq(e2e_read(config), "[auto]\n\nmax_turns = \n");
}

TEST(llmc_folder_that_is_a_file_is_told)
{
	const char *dir = e2e_repo("r");
	const char *ours = e2e_path("%s/.llmc", dir);

	e2e_write(ours, "mine\n");
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "/.llmc: Not a directory");
	e2e_json_error(
	    e2e_llmc(dir, "--json", "init", NULL), 1, "io", "Not a directory");
	ck_assert_str_eq(e2e_read(ours), "mine\n");
}

TEST(llmc_folder_that_is_a_dead_link_is_told)
{
	const char *dir = e2e_repo("r");

	ck_assert_int_eq(symlink("nowhere", e2e_path("%s/.llmc", dir)), 0);
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "/.llmc: Not a directory");
	ck_assert(!e2e_exists(e2e_path("%s/nowhere", dir)));
}

TEST(llmc_folder_may_be_a_link)
{
	const char *dir = e2e_repo("r");
	const char *other = e2e_dir("other");

	ck_assert_int_eq(symlink(other, e2e_path("%s/.llmc", dir)), 0);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	ck_assert(e2e_exists(e2e_path("%s/config.toml", other)));
	ck_assert_str_eq(e2e_git(dir, "status", "--porcelain", NULL), "");
	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "30", NULL),
	    0, NULL);
}

TEST(exclude_that_is_a_folder_is_told)
{
	const char *dir = e2e_repo("r");
	const char *exclude = e2e_path("%s/.git/info/exclude", dir);

	ck_assert_int_eq(unlink(exclude), 0);
	ck_assert_int_eq(mkdir(exclude, 0755), 0);
	e2e_expect(
	    e2e_llmc(dir, "init", NULL), 1, "info/exclude: it is a folder");
}

TEST(without_write_permission_is_told)
{
	const char *dir = e2e_repo("r"), *why = enclave_obey_modes();

	if (why != NULL)
		unit_skip(why);
	ck_assert_int_eq(chmod(dir, 0555), 0);
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "/.llmc: Permission denied");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
}

TEST(repository_of_another_user_is_told)
{
	const char *dir = e2e_repo("r");

	if (geteuid() != 0)
		unit_skip("only root can give a folder away");
	ck_assert_int_eq(chown(e2e_path("%s/.git", dir), 65534, 65534), 0);
	ck_assert_int_eq(chown(dir, 65534, 65534), 0);
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "dubious ownership");
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "safe.directory");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1,
	    "bad_repository", "dubious ownership");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
}

TEST(worktree_sets_up_the_main_tree)
{
	const char *dir = e2e_repo("r");
	const char *tree = unit_path("side tree");
	struct e2e_run *run;

	e2e_git(dir, "worktree", "add", "-q", tree, "-b", "side", NULL);
	run = e2e_llmc(tree, "init", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "This is a worktree of ");
	assert_set_up(dir);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", tree)));
	ck_assert_str_eq(e2e_git(tree, "status", "--porcelain", NULL), "");
	e2e_has(e2e_llmc(dir, "init", NULL)->out, "nothing was changed");
	e2e_expect(
	    e2e_llmc(tree, "config", "set", "auto.max_turns", "31", NULL), 0,
	    NULL);
	ck_assert_str_eq(
	    e2e_llmc(dir, "config", "get", "auto.max_turns", NULL)->out,
	    "31\n");
}

TEST(worktree_of_a_bare_repository_is_refused)
{
	const char *dir = e2e_repo("r");
	const char *bare = unit_path("bare");
	const char *tree = unit_path("tree");

	e2e_git(dir, "clone", "-q", "--bare", dir, bare, NULL);
	e2e_git(bare, "worktree", "add", "-q", tree, "main", NULL);
	e2e_expect(
	    e2e_llmc(tree, "init", NULL), 1, "without a main working tree");
}

TEST(subdirectory_sets_up_the_top)
{
	const char *dir = e2e_repo("r");
	const char *below = e2e_dir("r/a/b");

	e2e_expect(e2e_llmc(below, "init", NULL), 0, NULL);
	assert_set_up(dir);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", below)));
}

TEST(bare_repository_and_git_folder_are_refused)
{
	const char *bare = e2e_dir("bare");
	const char *dir = e2e_repo("r");

	e2e_git(bare, "init", "-q", "--bare", NULL);
	e2e_expect(e2e_llmc(bare, "init", NULL), 1, "change to a working tree");
	e2e_json_error(e2e_llmc(bare, "--json", "init", NULL), 1,
	    "bad_repository", "bare repository");
	e2e_expect(e2e_llmc(e2e_path("%s/.git", dir), "init", NULL), 1,
	    "change to a working tree");
	e2e_expect(e2e_llmc(e2e_path("%s/.git/refs", dir), "init", NULL), 1,
	    "change to a working tree");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", bare)));
}

TEST(submodule_is_a_repository_of_its_own)
{
	const char *inner = e2e_repo("inner");
	const char *outer = e2e_repo("outer");
	const char *module = e2e_path("%s/mod", outer);

	e2e_git(outer, "-c", "protocol.file.allow=always", "submodule", "add",
	    "-q", inner, "mod", NULL);
	e2e_git(outer, "commit", "-q", "-m", "Module", NULL);
	e2e_expect(e2e_llmc(module, "init", NULL), 0, NULL);
	assert_set_up(module);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", outer)));
	e2e_has(e2e_read(e2e_path("%s/.git/modules/mod/info/exclude", outer)),
	    "/.llmc\n");
	ck_assert_str_eq(e2e_git(outer, "status", "--porcelain", NULL), "");
}

TEST(separate_git_folder_works)
{
	const char *dir = e2e_repo("r");
	const char *git = unit_path("elsewhere.git");

	e2e_git(dir, "init", "-q", "--separate-git-dir", git, NULL);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	assert_set_up(dir);
	e2e_has(e2e_read(e2e_path("%s/info/exclude", git)), "/.llmc\n");
}

TEST(git_file_that_is_broken_is_told)
{
	const char *dir = e2e_dir("r");
	const char *file = e2e_path("%s/.git", dir);

	e2e_write(file, "nonsense\n");
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "gitdir: ");
	e2e_write(file, "gitdir: /no/such/place\n");
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "/no/such/place");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1,
	    "no_repository", "/no/such/place");
}

TEST(odd_paths_work)
{
	static const char *const names[] = { "with space", "it's \"quoted\"",
		"h\xc3\xa9llo \xe2\x9c\x93 \xf0\x9f\x90\x99", "-dash",
		"$HOME `x` \\back", "two\nlines", "\x1b[31mred", "a*[b]?",
		"bad\xff utf" };

	for (size_t i = 0; i < nitems(names); i++) {
		const char *dir = e2e_repo(names[i]);
		struct e2e_run *run = e2e_llmc(dir, "init", NULL);

		e2e_expect(run, 0, NULL);
		e2e_lacks(run->out, "\x1b");
		e2e_lacks(run->out, "two\nlines");
		assert_set_up(dir);
		e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns",
			       "33", NULL),
		    0, NULL);
		ck_assert_str_eq(
		    e2e_llmc(dir, "config", "get", "auto.max_turns", NULL)->out,
		    "33\n");
		e2e_json(e2e_llmc(dir, "--json", "init", NULL), 0);
		run =
		    e2e_llmc(dir, "config", "set", "auto.max_turns", "x", NULL);
		ck_assert_ptr_eq(
		    strchr(run->err, '\n'), strrchr(run->err, '\n'));
	}
}

TEST(root_option_and_variable_name_the_repository)
{
	const char *a = e2e_repo("a"), *b = e2e_repo("b"), *c = e2e_repo("c");
	const char *plain = e2e_dir("plain");

	e2e_expect(e2e_llmc(plain, "--root", a, "init", NULL), 0, NULL);
	assert_set_up(a);
	e2e_env(e2e_path("LLMC_ROOT=%s", b));
	e2e_expect(e2e_llmc(plain, "init", NULL), 0, NULL);
	assert_set_up(b);
	/* The option overrides the variable. */
	e2e_expect(
	    e2e_llmc(plain, "init", e2e_path("--root=%s", c), NULL), 0, NULL);
	assert_set_up(c);
	/* An empty variable counts as unset. */
	e2e_env("LLMC_ROOT=");
	e2e_expect(e2e_llmc(plain, "init", NULL), 1, "git init");
	e2e_expect(e2e_llmc(plain, "--root", "../a", "init", NULL), 0, NULL);
}

TEST(root_option_must_be_the_top)
{
	const char *dir = e2e_repo("r");
	const char *below = e2e_dir("r/below");
	const char *tree = unit_path("tree");

	e2e_expect(e2e_llmc(NULL, "--root", below, "init", NULL), 1,
	    "is not the top of a git repository");
	e2e_expect(e2e_llmc(NULL, "--root", "nowhere", "init", NULL), 1,
	    "nowhere: No such file or directory");
	e2e_expect(
	    e2e_llmc(NULL, "init", "--root", NULL), 2, "needs a directory");
	e2e_expect(
	    e2e_llmc(NULL, "init", "--root=", NULL), 2, "needs a directory");
	e2e_git(dir, "worktree", "add", "-q", tree, "-b", "side", NULL);
	e2e_expect(e2e_llmc(NULL, "--root", tree, "init", NULL), 0, NULL);
	assert_set_up(dir);
}

TEST(variables_of_git_do_not_mislead)
{
	const char *dir = e2e_repo("r"), *other = e2e_repo("other");

	e2e_env(e2e_path("GIT_DIR=%s/.git", other));
	e2e_env(e2e_path("GIT_WORK_TREE=%s", other));
	e2e_env(e2e_path("GIT_INDEX_FILE=%s/.git/index", other));
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	ck_assert(e2e_exists(e2e_path("%s/.llmc/config.toml", dir)));
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", other)));
}

TEST(other_commands_ask_for_init_first)
{
	const char *dir = e2e_repo("r");

	e2e_expect(e2e_llmc(dir, "config", "list", NULL), 1, "llmc init");
	e2e_json_error(
	    e2e_llmc(dir, "--json", "config", "get", "auto.max_turns", NULL), 1,
	    "not_initialised", "llmc init");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
}

TEST(runs_side_by_side_do_not_hurt)
{
	const char *dir = e2e_repo("r");
	const char *exclude;
	struct e2e_run *run = e2e_sh(dir,
	    "for i in 1 2 3 4 5 6; do \"$LLMC\" init & p=\"$p $!\"; done\n"
	    "for i in $p; do wait $i || exit 1; done");

	e2e_expect(run, 0, NULL);
	assert_set_up(dir);
	exclude = e2e_read(e2e_path("%s/.git/info/exclude", dir));
	ck_assert_uint_eq(count_lines(exclude, "/.llmc"), 1);
	run = e2e_sh(dir, "ls -A .llmc .git/info | grep tmp");
	ck_assert_str_eq(run->out, "");
}

/* --- what suits the project --------------------------------------- */

/* Projects as a clone has them. keys: lines of the config file. */
static const struct project {
	const char *files[4][2]; /* name and text */
	const char *keys[4];
} projects[] = {
	{ { { "package.json",
		"{\"scripts\":{\"test\":\"node --test\"},"
		"\"devDependencies\":{\"x\":\"1\"}}" },
	      { "package-lock.json", "{}" },
	      { ".gitignore", "node_modules/\n" },
	      { ".worktreeinclude", ".env\n" } },
	    { "check_command = \"npm test\"", "setup_command = \"npm ci\"",
		"copy_files = [\".env\"]", "day_cost = 50" } },
	{ { { "pyproject.toml", "[tool.pytest.ini_options]\n" },
	      { "uv.lock", "" } },
	    { "check_command = \"uv run pytest\"",
		"setup_command = \"uv sync\"",
		"# pyproject.toml has [tool.pytest].", "day_cost = 50" } },
	{ { { "meson.build", "project('x', 'c')\n" } },
	    { "check_command = \"meson test -C build --print-errorlogs\"",
		"setup_command = \"meson setup build\"",
		"# There is meson.build.", "day_cost = 50" } },
};

static const char *
clone(const struct project *project)
{
	const char *origin = e2e_empty_repo("origin");
	const char *dir = e2e_path("%s/clone", unit_scratch());

	for (size_t i = 0; i < nitems(project->files); i++)
		if (project->files[i][0] != NULL)
			e2e_write(
			    e2e_path("%s/%s", origin, project->files[i][0]),
			    project->files[i][1]);
	e2e_git(origin, "add", "-A", NULL);
	e2e_git(origin, "commit", "-q", "-m", "Start", NULL);
	e2e_git(unit_scratch(), "clone", "-q", origin, dir, NULL);
	return dir;
}

static const char *
config_of(const char *dir)
{
	return e2e_read(e2e_path("%s/.llmc/config.toml", dir));
}

/* On a terminal of its own: what is typed, and what it shows. */
static struct e2e_run *
type(const char *dir, const char *typed, const char *command)
{
	if (e2e_sh(dir, "script -qec true /dev/null")->status != 0)
		unit_skip("no script(1) that makes a terminal");
	return e2e_sh(dir,
	    e2e_path("printf '%s' | script -qec '\"$LLMC\" %s' /dev/null",
		typed, command));
}

TEST_ROWS(enter_accepts_what_suits_the_project, nitems(projects))
{
	const struct project *project = &projects[_i];
	const char *dir = clone(project), *before;
	struct e2e_run *run = type(dir, "\\n", "init");

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Enter accepts this");
	before = config_of(dir);
	for (size_t i = 0; i < nitems(project->keys); i++)
		e2e_has(before, e2e_path("\n%s\n", project->keys[i]));
	e2e_has(before, "\nupstream = \"follow\"\n");
	e2e_expect(e2e_llmc(dir, "config", "list", NULL), 0, NULL);
	/* The second time it asks nothing and changes nothing. */
	e2e_lacks(type(dir, "", "init")->out, "Enter accepts");
	ck_assert_str_eq(config_of(dir), before);
}

TEST(one_proposal_can_be_changed_and_another_left_out)
{
	const char *dir = clone(&projects[0]), *config;

	e2e_expect(type(dir, "1\\nnpm run all\\n2\\n\\n\\n", "init"), 0, NULL);
	config = config_of(dir);
	e2e_has(config, "\ncheck_command = \"npm run all\"\n");
	e2e_has(config, "\n# setup_command = \"npm ci\"\n");
	e2e_has(config, "\nday_cost = 50\n");
}

TEST(without_a_terminal_nothing_is_set_but_by_yes)
{
	const char *dir = clone(&projects[0]);
	struct json_object *json;

	json = e2e_json(e2e_llmc(dir, "--json", "init", NULL), 0);
	e2e_has(json_object_to_json_string(json), "\"npm test\"");
	e2e_has(config_of(dir), "\n# check_command = \"npm test\"\n");
	ck_assert_str_eq(e2e_setting(dir, "auto.check_command"), "");
	e2e_has(e2e_llmc(dir, "init", NULL)->out,
	    "with llmc init --yes: auto.check_command,");
	e2e_set(dir, "repo.setup_command", "true");
	e2e_expect(e2e_llmc(dir, "init", "--yes", NULL), 0, NULL);
	ck_assert_str_eq(e2e_setting(dir, "auto.check_command"), "npm test");
	ck_assert_str_eq(e2e_setting(dir, "repo.setup_command"), "true");
	/* The comment has become the line. */
	e2e_has(config_of(dir),
	    "[auto]\n# package.json has a script \"test\".\n"
	    "check_command = \"npm test\"\n\n");
	/* A file that a person wrote gets the reason, too. */
	e2e_sh(dir, "printf '[budget]\\nday_tokens = 5\\n' >.llmc/config.toml");
	e2e_expect(e2e_llmc(dir, "init", "--yes", NULL), 0, NULL);
	e2e_has(config_of(dir),
	    "[auto]\n# package.json has a script \"test\".\n"
	    "check_command = \"npm test\"\n");
	e2e_lacks(config_of(dir), "day_cost");
	json = e2e_json(e2e_llmc(dir, "--json", "init", "--yes", NULL), 0);
	ck_assert(!json_bool_or(json, "changed", true));
}

/* Nothing starts while nobody has said what checks the work. */
TEST(auto_mode_asks_for_a_check)
{
	const char *dir = clone(&projects[0]);
	struct e2e_run *run;

	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	e2e_set(dir, "defaults.agent_command", "no-such-agent");
	run = e2e_llmc(dir, "up", "--auto", "--detach", NULL);
	e2e_expect(run, 1, "not started");
	e2e_has(run->err, "auto.check_command none");
	e2e_expect(e2e_llmc(dir, "up", "--check", NULL), 1, NULL);
	run = type(dir, "\\n", "up --auto --detach");
	e2e_has(run->out, "Enter: npm test");
	ck_assert_str_eq(e2e_setting(dir, "auto.check_command"), "npm test");
	e2e_set(dir, "auto.check_command", "none");
	e2e_lacks(
	    e2e_llmc(dir, "up", "--check", NULL)->out, "auto.check_command");
}
