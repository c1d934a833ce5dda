/* SPDX-License-Identifier: ISC */

/* The branch that work lands on is chosen once. */
#include "e2e.h"

static const char *
branch_of(const char *dir)
{
	return json_string_or(e2e_json(e2e_llmc(dir, "--json", "config", "get",
					   "repo.default_branch", NULL),
				  0),
	    "value", "");
}

/* In the file, so that nothing that is checked out later changes it. */
static void
assert_lands_on(const char *dir, const char *branch)
{
	const char *config = e2e_path("%s/.llmc/config.toml", dir);

	e2e_has(e2e_read(config),
	    e2e_path("\n[repo]\ndefault_branch = \"%s\"\n", branch));
	e2e_git(dir, "checkout", "-q", "-B", "later", NULL);
	ck_assert_str_eq(branch_of(dir), branch);
	e2e_has(e2e_llmc(dir, "status", NULL)->out,
	    e2e_path("Work lands on %s.\n", branch));
}

TEST(the_branch_that_is_checked_out)
{
	const char *dir = e2e_repo("r");
	struct e2e_run *run;

	e2e_git(dir, "checkout", "-q", "-b", "trunk", NULL);
	run = e2e_llmc(dir, "init", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out,
	    "Work lands on trunk; change it with: llmc config set "
	    "repo.default_branch NAME\n");
	e2e_lacks(run->out, "upstream");
	assert_lands_on(dir, "trunk");
	e2e_has(e2e_llmc(dir, "init", NULL)->out, "Work lands on trunk;");
	assert_lands_on(dir, "trunk");
}

TEST(the_branch_of_origin)
{
	const char *origin = e2e_repo("origin"), *dir = unit_path("clone");
	struct e2e_run *run;

	e2e_git(NULL, "clone", "-q", origin, dir, NULL);
	e2e_git(dir, "checkout", "-q", "-b", "topic", NULL);
	run = e2e_llmc(dir, "init", NULL);
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->err, "");
	e2e_has(run->out, "It has an upstream, and follows what others push");
	e2e_has(e2e_llmc(dir, "config", "get", "repo.upstream", NULL)->out,
	    "follow");
	assert_lands_on(dir, "main");
}

TEST(a_branch_that_only_origin_has_is_told)
{
	const char *origin = e2e_repo("origin"), *dir = unit_path("clone");
	struct e2e_run *run;

	e2e_write(e2e_path("%s/go.mod", origin), "module x\n");
	e2e_git(origin, "add", "go.mod", NULL);
	e2e_git(origin, "commit", "-q", "-m", "Go", NULL);
	e2e_git(NULL, "clone", "-q", origin, dir, NULL);
	e2e_git(dir, "checkout", "-q", "-b", "topic", NULL);
	e2e_git(dir, "branch", "-q", "-D", "main", NULL);
	run = e2e_llmc(dir, "init", NULL);
	ck_assert_int_eq(run->status, 0);
	e2e_has(run->out, "auto.check_command = go test ./...\n");
	e2e_has(run->err,
	    "there is no branch main here yet; create it with: git branch "
	    "main origin/main");
}

TEST(a_branch_that_is_nowhere_is_told)
{
	const char *dir = e2e_repo("r");
	struct e2e_run *run;

	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	e2e_set(dir, "repo.default_branch", "nowhere");
	run = e2e_llmc(dir, "init", NULL);
	ck_assert_int_eq(run->status, 0);
	e2e_has(run->err, "there is no branch nowhere here or at origin");
	e2e_lacks(run->err, "create it with");
}

TEST(none_is_checked_out)
{
	const char *dir = e2e_repo("r");

	e2e_git(dir, "checkout", "-q", "--detach", NULL);
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "llmc init --branch NAME");
	e2e_json_error(e2e_llmc(dir, "--json", "init", NULL), 1, "no_branch",
	    "no branch is checked out");
	e2e_json_error(e2e_llmc(dir, "--json", "init", "--branch", "x", NULL),
	    1, "no_such_branch", "there is no branch x");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", dir)));
	e2e_expect(e2e_llmc(dir, "init", "--branch", "main", NULL), 0, NULL);
	assert_lands_on(dir, "main");
}

/* What is set stays, and what is missing is added. */
TEST(the_next_run)
{
	const char *dir = e2e_repo("r");
	const char *config = e2e_path("%s/.llmc/config.toml", dir);
	struct json_object *json;

	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	e2e_write(config, "[repo]\nupstream = \"push\"\n");
	e2e_git(dir, "checkout", "-q", "--detach", NULL);
	e2e_expect(e2e_llmc(dir, "init", NULL), 1, "llmc init --branch NAME");
	e2e_git(dir, "checkout", "-q", "main", NULL);
	json = e2e_json(e2e_llmc(dir, "--json", "init", NULL), 0);
	ck_assert(json_bool_or(json, "changed", false));
	ck_assert_str_eq(json_string_or(json, "landing_branch", ""), "main");
	ck_assert_str_eq(e2e_read(config),
	    "[repo]\nupstream = \"push\"\ndefault_branch = \"main\"\n");
	e2e_git(dir, "checkout", "-q", "-b", "other", NULL);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	ck_assert_str_eq(branch_of(dir), "main");
	e2e_expect(e2e_llmc(dir, "init", "--branch", "other", NULL), 0, NULL);
	ck_assert_str_eq(branch_of(dir), "other");
}
