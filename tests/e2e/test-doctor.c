/* SPDX-License-Identifier: ISC */

#include "e2e.h"
#include "forge-stand.h"
#include "json-short.h"

/* A folder for PATH with links to the real curl, git and tmux, an agent that
 * prints
 * its version, and nothing else. */
static const char *
tools(void)
{
	const char *dir = e2e_dir("bin");

	e2e_expect(e2e_sh(dir,
		       "ln -s \"$(command -v curl)\" curl && "
		       "ln -s \"$(command -v git)\" git && "
		       "ln -s \"$(command -v tmux)\" tmux"),
	    0, NULL);
	e2e_script(e2e_path("%s/claude", dir),
	    "#!/bin/sh\necho '9.9.9 (Fake Agent)'\n");
	e2e_env(e2e_path("PATH=%s", dir));
	return dir;
}

/* Claude Code would not ask anything in this repository, nor refuse. */
static void
trust(const char *dir)
{
	e2e_expect(
	    e2e_llmc(dir, "doctor", "trust", "--onboarding", NULL), 0, NULL);
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "defaults.allow_root", "true", NULL),
	    0, NULL);
}

static struct json_object *
doctor(const char *dir, int status)
{
	struct json_object *json =
	    e2e_json(e2e_llmc(dir, "--json", "doctor", NULL), status);

	ck_assert(json_bool_or(json, "ok", status != 0) == (status == 0));
	return json_object_object_get(json, "checks");
}

/* The first check of that name, or NULL. */
static struct json_object *
find(struct json_object *checks, const char *name)
{
	JSON_EACH (check, checks)
		if (strcmp(json_string_or(check, "name", ""), name) == 0)
			return check;
	return NULL;
}

static void
assert_check(struct json_object *checks, const char *name, const char *status,
    const char *detail, const char *fix)
{
	struct json_object *check = find(checks, name);

	ck_assert_msg(check != NULL, "there is no check %s", name);
	ck_assert_msg(strcmp(json_string_or(check, "status", ""), status) == 0,
	    "%s is %s: %s", name, json_string_or(check, "status", ""),
	    json_string_or(check, "detail", ""));
	e2e_has(json_string_or(check, "detail", ""), detail);
	if (fix != NULL)
		e2e_has(json_string_or(check, "fix", ""), fix);
}

/* Of the running test. */
static const char *ws, *bin;

void
unit_before(void)
{
	ws = e2e_workspace("r");
	bin = tools();
}

static void
set(const char *key, const char *value)
{
	e2e_expect(e2e_llmc(ws, "config", "set", key, value, NULL), 0, NULL);
}

TEST(all_is_well)
{
	static const char *const names[] = { "config", "repository", "branch",
		"state", "permissions", "exclude", "git", "tmux", "agent",
		"autod", "overseer", "keeper", "daemon", "trust", "identity",
		"disk" };
	struct json_object *checks;
	struct e2e_run *run;

	trust(ws);
	e2e_has(e2e_llmc(ws, "doctor", NULL)->out,
	    "no channel is set: you will find asks in llmc status");
	e2e_notify(ws, "true");
	checks = doctor(ws, 0);
	for (size_t i = 0; i < nitems(names); i++) {
		assert_check(checks, names[i], "ok", "", NULL);
		ck_assert_ptr_null(
		    json_object_object_get(find(checks, names[i]), "fix"));
	}
	assert_check(checks, "agent", "ok", "9.9.9 (Fake Agent)", NULL);
	assert_check(checks, "branch", "ok", "main", NULL);
	run = e2e_llmc(ws, "doctor", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "\nAll checks passed");
	/* It changes nothing. */
	ck_assert_str_eq(e2e_git(ws, "status", "--porcelain", NULL), "");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/llmc.db", ws)));
}

/* As an ordinary user, who owns the repository. */
static const char *
keeper_of_user(const char *dir, const char *command)
{
	struct e2e_run *run = e2e_sh(dir,
	    e2e_path("export HOME=\"$PWD\" PATH=\"/usr/bin:/bin:$PATH\"\n"
		     "user=\n"
		     "if [ \"$(id -u)\" = 0 ]; then\n"
		     "	chown -R 12345:12345 . && chmod 755 .. || exit\n"
		     "	user='setpriv --reuid=12345 --regid=12345 "
		     "--clear-groups'\n"
		     "fi\n"
		     "$user test -x \"$LLMC\" || exit 77\n"
		     "$user \"$LLMC\" %s >/dev/null || exit\n"
		     "$user \"$LLMC\" --json doctor; exit 0",
		command));

	if (run->status == 77)
		unit_skip("other users cannot run this build");
	run->json_of = "doctor";
	return json_string_or(
	    find(json_object_object_get(e2e_json(run, 0), "checks"), "keeper"),
	    "detail", "");
}

TEST(a_user_namespace_is_told_with_the_setting_that_ends_it)
{
	const char *detail;

	detail = keeper_of_user(ws, "version");
	if (strstr(detail, "a pid namespace") == NULL)
		unit_skip("no user namespaces here");
	e2e_has(detail, "in a user namespace: sudo, and ssh");
	e2e_has(detail, "llmc config set defaults.user_namespace false");
	detail = keeper_of_user(ws, "config set defaults.user_namespace false");
	e2e_has(detail, "without a user namespace (defaults.user_namespace)");
}

TEST(missing_programs_are_named)
{
	struct json_object *checks;

	ck_assert_int_eq(unlink(e2e_path("%s/claude", bin)), 0);
	checks = doctor(ws, 0); /* a warning: llmc can start without it */
	assert_check(checks, "agent", "warn",
	    "claude: No such file or directory", "defaults.agent_command");
	ck_assert_int_eq(unlink(e2e_path("%s/tmux", bin)), 0);
	checks = doctor(ws, 1);
	assert_check(
	    checks, "tmux", "fail", "No such file", "apt-get install tmux");
	ck_assert_int_eq(unlink(e2e_path("%s/git", bin)), 0);
	checks = doctor(ws, 1);
	assert_check(
	    checks, "git", "fail", "No such file", "apt-get install git");
	assert_check(checks, "repository", "fail", "git", NULL);
	/* What only git could tell is not guessed. */
	ck_assert_ptr_null(find(checks, "branch"));
	ck_assert_ptr_null(find(checks, "exclude"));
	e2e_expect(e2e_llmc(ws, "init", NULL), 1, "git");
}

TEST(programs_of_the_config_are_looked_at)
{
	const char *agent = unit_path("my agent");
	struct json_object *checks;

	e2e_script(agent, "#!/bin/sh\necho mine 1\n");
	set("defaults.agent_command", agent);
	set("tmux.command", "/no/such/tmux");
	checks = doctor(ws, 1);
	assert_check(checks, "agent", "ok", "mine 1", NULL);
	assert_check(checks, "tmux", "fail", "/no/such/tmux: No such", NULL);
	ck_assert_int_eq(chmod(agent, 0644), 0);
	assert_check(doctor(ws, 1), "agent", "warn", "Permission denied",
	    "defaults.agent_command");
}

TEST_ROWS(the_version_of_the_agent_is_judged, 4)
{
	static const struct {
		const char *version, *status, *detail, *fix;
	} rows[] = {
		{ "2.1.197", "warn", "2.1.197 (Claude Code), older than",
		    "Node 22" },
		{ "2.1.314", "ok", "2.1.314 (Claude Code)", NULL },
		{ "2.1.999", "ok", "2.1.999 (Claude Code), tested up to 2.1.",
		    NULL },
		{ "2.2.0", "ok", "2.2.0 (Claude Code), tested up to 2.1.",
		    NULL },
	};
	const char *agent = unit_path("versioned");

	e2e_script(agent,
	    e2e_path("#!/bin/sh\necho '%s (Claude Code)'\n", rows[_i].version));
	set("defaults.agent_command", agent);
	assert_check(doctor(ws, 0), "agent", rows[_i].status, rows[_i].detail,
	    rows[_i].fix);
}

TEST(old_and_odd_versions)
{
	static const struct {
		const char *says, *status, *detail;
	} cases[] = {
		{ "echo tmux 2.9a", "fail", "tmux 2.9a is older than 3.2" },
		{ "echo tmux 3.1c", "fail", "is older than 3.2" },
		{ "echo tmux 3.2", "ok", "tmux 3.2" },
		{ "echo tmux 3.10", "ok", "tmux 3.10" },
		{ "echo tmux 4", "ok", "tmux 4" },
		{ "echo tmux next-3.4", "ok", "tmux next-3.4" },
		{ "echo tmux master", "ok", "tmux master" },
		{ "exit 3", "fail", "tmux -V exited with status 3" },
		{ "kill -9 $$", "fail", "tmux -V killed by SIGKILL" },
		{ "printf 'tmux 3.3\\nmore'", "ok", "tmux 3.3" },
	};
	const char *tmux = e2e_path("%s/tmux", bin);

	for (size_t i = 0; i < nitems(cases); i++) {
		struct json_object *checks;

		unlink(tmux);
		e2e_script(tmux, e2e_path("#!/bin/sh\n%s\n", cases[i].says));
		checks = doctor(ws, strcmp(cases[i].status, "ok") != 0);
		assert_check(
		    checks, "tmux", cases[i].status, cases[i].detail, NULL);
	}
	e2e_lacks(
	    json_string_or(find(doctor(ws, 0), "tmux"), "detail", ""), "more");
}

TEST(old_git_is_refused)
{
	ck_assert_int_eq(
	    rename(e2e_path("%s/git", bin), e2e_path("%s/real-git", bin)), 0);
	e2e_script(e2e_path("%s/git", bin),
	    "#!/bin/sh\n"
	    "[ \"$1\" = --version ] && { echo git version 2.30.1; exit; }\n"
	    "exec real-git \"$@\"\n");
	assert_check(doctor(ws, 1), "git", "fail", "is older than 2.31", NULL);
}

/* Doctor gives a program ten seconds. */
TEST(a_program_that_hangs_is_told)
{
	struct json_object *checks;

	e2e_script(
	    e2e_path("%s/claude", bin), "#!/bin/sh\nexec /bin/sleep 100\n");
	e2e_hurry(5);
	checks = doctor(ws, 0);
	assert_check(checks, "agent", "warn", "stopped after 10",
	    "defaults.agent_command");
}

TEST(broken_config_is_told_and_the_rest_looked_at)
{
	const char *config = e2e_path("%s/.llmc/config.toml", ws);
	struct json_object *checks;

	e2e_write(config, "[auto]\nmax_turns = 0\nmax_turn = 2\n");
	checks = doctor(ws, 1);
	assert_check(checks, "config", "fail",
	    "config.toml:2: auto.max_turns: ", "llmc config doc");
	assert_check(checks, "tmux", "ok", "tmux", NULL);
	e2e_write(config, "[auto]\nmax_turn = 2\n");
	assert_check(doctor(ws, 0), "config", "warn",
	    "config.toml:2: auto.max_turn: no such setting", NULL);
	e2e_has(e2e_llmc(ws, "doctor", NULL)->out, "but see the warnings");
	e2e_write(config, "[tmux\n");
	checks = doctor(ws, 1);
	assert_check(checks, "config", "fail", "config.toml:1: ", NULL);
	assert_check(checks, "branch", "ok", "main", NULL);
	ck_assert_int_eq(unlink(config), 0);
	assert_check(
	    doctor(ws, 1), "config", "fail", "not set up", "llmc init");
	ck_assert_int_eq(mkdir(config, 0700), 0);
	assert_check(doctor(ws, 1), "config", "fail", "it is a folder",
	    "make it readable");
}

/* Its first bytes. */
static void
overwrite(const char *file)
{
	static const char zeroes[50];
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(
	    pwrite(fd, zeroes, sizeof zeroes, 0), (ssize_t)sizeof zeroes);
	close(fd);
}

TEST(corrupt_state_is_told)
{
	const char *book = e2e_path("%s/.llmc/llmc.db", ws);
	struct json_object *empty = json_object_new_object();

	assert_check(doctor(ws, 0), "state", "ok", "none yet", NULL);
	e2e_put_state(ws, empty);
	json_object_put(empty);
	assert_check(doctor(ws, 0), "state", "ok", "llmc.db", NULL);
	overwrite(book);
	assert_check(doctor(ws, 1), "state", "fail", "llmc.db", "--rebuild");
	e2e_write(book, "");
	assert_check(doctor(ws, 1), "state", "fail", "llmc.db", NULL);
	ck_assert_int_eq(unlink(book), 0);
	assert_check(doctor(ws, 1), "state", "fail", "llmc.db is gone", NULL);
}

TEST(rebuild_gives_the_state_the_id_of_its_root)
{
	static const char own[] = "11111111-1111-4111-8111-111111111111";
	struct json_object *other = json_tokener_parse(
	    "{\"root_id\":\"22222222-2222-4222-8222-222222222222\"}");

	e2e_put_state(ws, other);
	json_object_put(other);
	e2e_write(e2e_path("%s/.llmc/root_id", ws), own);
	e2e_expect(e2e_llmc(ws, "doctor", "--rebuild", "--yes", NULL), 0, NULL);
	e2e_has(e2e_sh(ws, "\"$STATE\"")->out, own);
	/* Even if nothing in it can be read. */
	e2e_write(e2e_path("%s/.llmc/llmc.db", ws), "{");
	e2e_expect(e2e_llmc(ws, "doctor", "--rebuild", "--yes", NULL), 0, NULL);
	e2e_has(e2e_sh(ws, "\"$STATE\"")->out, own);
}

static void
begin_with_all_programs(void)
{
	ws = e2e_workspace("r");
}

/* The pages of the book as another program has written them, which makes no
 * checksums: with the last 8 bytes 0. */
static void
forget_checksums(void)
{
	int fd = open(e2e_path("%s/.llmc/llmc.db", ws), O_RDWR | O_CLOEXEC);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	for (off_t at = 4096; at <= st.st_size; at += 4096)
		ck_assert_int_eq(pwrite(fd, "\0\0\0\0\0\0\0", 8, at - 8), 8);
	fd_close(fd);
}

/* A row that no state can be made of: a person may still need the others. */
TEST_IN(begin_with_all_programs, rebuild_keeps_what_it_cannot_read)
{
	struct json_object *state = json_object_new_object();

	json_set_string(
	    state, "root_id", "11111111-1111-4111-8111-111111111111");
	e2e_put_state(ws, state);
	json_object_put(state);
	e2e_expect(e2e_sh(ws,
		       "cd .llmc && rm -f root_id && LC_ALL=C sed -i "
		       "s/11111111-1111-4111/x1111111-1111-4111/ llmc.db"),
	    0, NULL);
	forget_checksums();
	tools();
	assert_check(doctor(ws, 1), "state", "fail", "root_id", "--rebuild");
	e2e_has(e2e_llmc(ws, "doctor", "--rebuild", "--yes", NULL)->out,
	    "llmc.corrupt-");
	e2e_expect(e2e_sh(ws, "test -s .llmc/llmc.corrupt-*.db"), 0, NULL);
	assert_check(doctor(ws, 0), "state", "ok", "llmc.db", NULL);
	/* Its workers are there, but not its id. */
	if (e2e_sh(ws, "command -v sqlite3")->status != 0)
		return;
	e2e_expect(e2e_llmc(ws, "add", "adam", NULL), 0, NULL);
	e2e_expect(
	    e2e_sh(ws,
		"cd .llmc && rm llmc.corrupt-*.db && "
		"sqlite3 llmc.db \"DELETE FROM host WHERE key = 'root_id'\""),
	    0, NULL);
	forget_checksums();
	e2e_has(e2e_llmc(ws, "doctor", "--rebuild", "--yes", NULL)->out,
	    "llmc.corrupt-");
}

TEST(dialogs_of_claude_are_foreseen)
{
	struct json_object *checks;

	e2e_env("ANTHROPIC_API_KEY=sk-ant-0123456789abcdefghijklmnop");
	checks = doctor(ws, 0);
	assert_check(checks, "onboarding", "warn", "never", "--onboarding");
	assert_check(
	    checks, "trust", "warn", "does not trust", "llmc doctor trust");
	assert_check(
	    checks, "key", "warn", "not approved", "llmc doctor trust");
	trust(ws);
	checks = doctor(ws, 0);
	assert_check(checks, "trust", "ok", "", NULL);
	ck_assert_ptr_null(find(checks, "onboarding"));
	ck_assert_ptr_null(find(checks, "key"));
	e2e_env("ANTHROPIC_API_KEY=sk-ant-another-key-0123456789");
	assert_check(
	    doctor(ws, 0), "key", "warn", "not approved", "llmc doctor trust");
	/* Other agents are not checked. */
	set("defaults.agent_command", "git");
	ck_assert_ptr_null(find(doctor(ws, 0), "key"));
}

TEST(login_is_what_claude_says)
{

	trust(ws);
	/* It does not know the question. */
	ck_assert_ptr_null(find(doctor(ws, 0), "login"));
	e2e_script(e2e_path("%s/claude", bin),
	    "#!/bin/sh\n[ \"$1\" != auth ] || { echo '{\"loggedIn\": false}'; "
	    "exit 1; }\n");
	assert_check(doctor(ws, 0), "login", "warn", "not logged in",
	    "claude auth login");
	e2e_script(e2e_path("%s/claude", bin),
	    "#!/bin/sh\n[ \"$1\" != auth ] || echo '{\"loggedIn\": true}'\n");
	assert_check(doctor(ws, 0), "login", "ok", "is logged in", NULL);
}

TEST(commits_need_somebody)
{
	assert_check(doctor(ws, 0), "identity", "ok",
	    "commits are made by Test <test@example.invalid>", NULL);
	e2e_git(ws, "config", "user.useConfigOnly", "true", NULL);
	e2e_git(ws, "config", "--unset", "user.email", NULL);
	assert_check(doctor(ws, 1), "identity", "fail", "who you are",
	    "git config user.name");
}

TEST(open_folder_is_a_warning)
{
	const char *dir = e2e_workspace("it's here");
	const char *ours = e2e_path("%s/.llmc", dir);
	struct json_object *checks;
	const char *fix;

	ck_assert_int_eq(chmod(ours, 0777), 0);
	checks = doctor(dir, 0);
	assert_check(checks, "permissions", "warn",
	    "has mode 777: other users can change the settings", "chmod 700 '");
	/* The suggested fix works as printed. */
	fix = json_string_or(find(checks, "permissions"), "fix", "");
	e2e_env("PATH=/usr/bin:/bin");
	e2e_expect(e2e_sh(NULL, fix), 0, NULL);
	assert_check(doctor(dir, 0), "permissions", "ok", "", NULL);
}

/* Agents that are told to use a cloud, and do not get its keys. */
TEST(keys_of_a_cloud_that_agents_lack_are_a_warning)
{
	e2e_env("AWS_SECRET_ACCESS_KEY=hidden");
	assert_check(
	    doctor(ws, 0), "environment", "ok", "AWS_SECRET_ACCESS_KEY", NULL);
	e2e_env("CLAUDE_CODE_USE_BEDROCK=1");
	assert_check(doctor(ws, 0), "environment", "warn",
	    "AWS_SECRET_ACCESS_KEY",
	    "llmc config set defaults.env '[\"AWS_SECRET_ACCESS_KEY\"]'");
	set("defaults.env", "[\"AWS_SECRET_ACCESS_KEY\"]");
	assert_check(doctor(ws, 0), "environment", "ok", "", NULL);
}

TEST(folder_of_another_user_is_told)
{
	if (geteuid() != 0)
		unit_skip("only root can give a folder away");
	ck_assert_int_eq(chown(e2e_path("%s/.llmc", ws), 65534, 65534), 0);
	assert_check(doctor(ws, 1), "permissions", "fail",
	    "belongs to user 65534, you are 0", "run llmc as that user");
}

TEST(no_setting_is_advised_that_is_set)
{
	const char *dir = e2e_workspace("o");
	struct json_object *checks;

	e2e_set(dir, "repo.upstream", "follow");
	checks = doctor(dir, 0);
	assert_check(checks, "origin", "warn", "git ls-remote",
	    "llmc config set repo.upstream off");
	e2e_set(dir, "repo.upstream", "off");
	e2e_set(dir, "auto.land", "pull-request");
	checks = doctor(dir, 1);
	assert_check(
	    checks, "origin", "warn", "git ls-remote", "git ls-remote");
	ck_assert_ptr_null(strstr(
	    json_string_or(find(checks, "origin"), "fix", ""), "upstream"));
}

TEST(removed_exclude_line_is_told)
{
	e2e_write(e2e_path("%s/.git/info/exclude", ws), "");
	assert_check(doctor(ws, 0), "exclude", "warn",
	    "git does not ignore .llmc", "llmc init");
	e2e_expect(e2e_llmc(ws, "init", NULL), 0, NULL);
	assert_check(doctor(ws, 0), "exclude", "ok", "", NULL);
	/* Ignored in another way is fine too. */
	e2e_write(e2e_path("%s/.git/info/exclude", ws), "");
	e2e_write(e2e_path("%s/.gitignore", ws), ".llmc\n");
	assert_check(doctor(ws, 0), "exclude", "ok", "", NULL);
	/* So is a config file that git tracks. */
	e2e_git(ws, "add", "-f", ".llmc/config.toml", NULL);
	e2e_expect(e2e_llmc(ws, "init", NULL), 0, NULL);
	assert_check(doctor(ws, 0), "exclude", "ok", "", NULL);
}

TEST(branch_that_is_missing_is_told)
{
	set("repo.default_branch", "nowhere");
	assert_check(doctor(ws, 1), "branch", "fail",
	    "there is no branch nowhere", "config set repo.default_branch");
	e2e_expect(e2e_llmc(ws, "config", "unset", "repo.default_branch", NULL),
	    0, NULL);
	e2e_git(ws, "checkout", "-q", "--detach", NULL);
	assert_check(doctor(ws, 1), "branch", "fail",
	    "no branch is checked out", "config set repo.default_branch");
	e2e_git(ws, "checkout", "-q", "--orphan", "fresh", NULL);
	assert_check(doctor(ws, 1), "repository", "fail",
	    "the repository has no commit yet", "git commit --allow-empty");
}

TEST(dirty_checkout_is_a_warning)
{
	const char *other = e2e_path("%s/other", e2e_dir("trees"));

	ck_assert_ptr_null(find(doctor(ws, 0), "checkout"));
	/* It is in nobody's way as yet. */
	e2e_write(e2e_path("%s/untracked", ws), "x\n");
	ck_assert_ptr_null(find(doctor(ws, 0), "checkout"));
	e2e_write(e2e_path("%s/README", ws), "mine\n");
	set("repo.dirty_checkout", "wait");
	assert_check(doctor(ws, 0), "checkout", "warn",
	    "your checkout of main: README; no work lands", "git status");
	set("repo.dirty_checkout", "overlap");
	for (int i = 1; i <= 7; i++)
		e2e_write(e2e_path("%s/f%d", ws, i), "x\n");
	e2e_git(ws, "add", ".", NULL);
	assert_check(doctor(ws, 0), "checkout", "warn", "9 files changed in",
	    "commit or stash");
	assert_check(doctor(ws, 0), "checkout", "warn",
	    "README, f1, f2, f3, f4, ...; work that touches these files waits",
	    NULL);
	/* Only where the branch is. */
	e2e_git(ws, "checkout", "-q", "-b", "side", NULL);
	set("repo.default_branch", "main");
	ck_assert_ptr_null(find(doctor(ws, 0), "checkout"));
	e2e_git(ws, "worktree", "add", "-q", other, "main", NULL);
	e2e_write(e2e_path("%s/README", other), "mine\n");
	assert_check(doctor(ws, 0), "checkout", "warn",
	    e2e_path("1 file changed in %s, your checkout", other), NULL);
}

TEST(a_forge_needs_a_repository_and_a_token)
{
	const char *token = e2e_path("%s/../token", ws);
	struct e2e_run *run;

	trust(ws);
	ck_assert_ptr_null(find(doctor(ws, 0), "forge"));
	/* What doctor says, a start does. */
	set("auto.land", "pull-request");
	assert_check(doctor(ws, 1), "forge", "fail", "origin", "FORGES");
	run = e2e_llmc(ws, "up", "--check", NULL);
	e2e_expect(run, 1, NULL);
	e2e_has(run->out, "fail  forge: issues are claimed, and pull");
	set("auto.land", "branch");
	e2e_lacks(e2e_llmc(ws, "up", "--check", NULL)->out, "forge:");
	set("auto.source", "gitea");
	assert_check(doctor(ws, 1), "forge", "fail", "origin", "FORGES");
	e2e_git(ws, "remote", "add", "origin", "https://x/me/work.git", NULL);
	assert_check(
	    doctor(ws, 1), "forge", "fail", "forge.token_file", "FORGES");
	e2e_write(token, "tok-me\n");
	chmod(token, 0644);
	set("forge.token_file", token);
	assert_check(doctor(ws, 1), "forge", "fail", "others can", "FORGES");
	chmod(token, 0600);
	assert_check(doctor(ws, 0), "forge", "ok",
	    "by https://x/api/v1; there is a token; it was not asked", NULL);
	e2e_lacks(e2e_llmc(ws, "doctor", NULL)->out, "tok-me");
}

/* What it says to the token. */
static const struct {
	const char *token, *fault, *state, *words;
	int status;
} forges[] = {
	{ "tok-me", NULL, "ok", "the token is that of me, who may write", 0 },
	{ "tok-eve", NULL, "fail", "the token may not write to it", 1 },
	{ "unknown", NULL, "fail", "refuses the token: ", 1 },
	{ "tok-me", "\"path\":\"/work\",\"status\":404", "fail",
	    "there is no such repository", 1 },
	{ "tok-me", "\"path\":\"/user\",\"status\":502", "warn",
	    "not reached: ", 0 },
	{ "tok-me", "\"path\":\"/user\",\"slow\":60000", "warn",
	    "not reached: no answer in 5 seconds", 0 },
};

static const char *forge_url;

static void
begin_with_forge(void)
{
	forge_url = forge_stand("github");
	unit_before();
}

UNIT_TEST(a_forge_is_asked_about_its_token, .rows = nitems(forges),
    .before = begin_with_forge)
{
	const char *token = e2e_path("%s/../token", ws);

	trust(ws);
	forge_tell("user", "{\"login\":\"me\",\"permission\":\"write\"}");
	forge_tell("user", "{\"login\":\"eve\",\"permission\":\"read\"}");
	if (forges[_i].fault != NULL)
		forge_tell("fault", "{%s}", forges[_i].fault);
	e2e_write(token, e2e_path("%s\n", forges[_i].token));
	chmod(token, 0600);
	e2e_git(ws, "remote", "add", "origin", "https://x/me/work.git", NULL);
	e2e_set(ws, "auto.source", "github");
	e2e_set(ws, "forge.token_file", token);
	e2e_set(ws, "forge.url", forge_url);
	assert_check(doctor(ws, forges[_i].status), "forge", forges[_i].state,
	    forges[_i].words, forges[_i].status == 1 ? "FORGES" : NULL);
}

TEST(outside_of_a_repository_the_programs_are_looked_at)
{
	const char *plain = e2e_dir("plain");
	struct json_object *checks;

	checks = doctor(plain, 1);
	assert_check(checks, "repository", "fail", "git init", NULL);
	assert_check(checks, "git", "ok", "git version", NULL);
	assert_check(checks, "agent", "ok", "Fake", NULL);
	e2e_empty_repo("empty");
	assert_check(doctor(unit_path("empty"), 1), "config", "fail",
	    "not set up", "llmc init");
}

TEST(report_has_a_line_and_a_colour_for_each)
{
	const char *dir = e2e_workspace("two\nlines");
	struct e2e_run *run;

	trust(dir);
	e2e_write(
	    e2e_path("%s/.llmc/config.toml", dir), "[auto]\nmax_turns=0\n");
	run = e2e_llmc(dir, "doctor", NULL);
	e2e_expect(run, 1, NULL);
	ck_assert_str_eq(run->err, "");
	e2e_has(run->out, "fail  config ");
	e2e_has(run->out, "                  -> edit the file");
	e2e_has(run->out, "ok    git ");
	e2e_has(run->out, "\n1 failed, ");
	e2e_lacks(run->out, "two\nlines");
	e2e_env("FORCE_COLOR=1");
	run = e2e_llmc(dir, "doctor", NULL);
	e2e_has(run->out, "\033[1;31mfail \033[0m config");
	e2e_has(run->out, "\033[32mok   \033[0m git");
}

/* What a worker's place needs is found by making one, in the sandbox too, and
 * nothing of it is left. */
TEST(the_place_of_the_first_worker_is_tried)
{
	static const char left[] =
	    "git worktree list | sed 1d; git branch --list 'llmc/*'; "
	    "ls .worktrees 2>/dev/null";
	struct e2e_run *run;

	trust(ws);
	e2e_write(e2e_path("%s/.env", ws), "A=1\n");
	e2e_sh(ws,
	    "echo .env >.gitignore; git add .gitignore; "
	    "git commit -qm ignore");
	set("repo.copy_files", "[\".env\"]");
	set("repo.setup_command", "test -s .env");
	assert_check(doctor(ws, 0), "place", "ok", "can be made", NULL);
	ck_assert_str_eq(e2e_sh(ws, left)->out, "");
	set("repo.setup_command", "echo no such tool; exit 3");
	assert_check(
	    doctor(ws, 1), "place", "fail", "no such tool", "setup_command");
	run = e2e_llmc(ws, "up", "--check", NULL);
	e2e_expect(run, 1, NULL);
	e2e_has(run->out, "Auto mode cannot start.");
	ck_assert_str_eq(e2e_sh(ws, left)->out, "");
}
