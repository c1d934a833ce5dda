/* SPDX-License-Identifier: ISC */

/* The real Claude Code with sandbox strict: it reaches its API, here a stub,
 * through the proxy, with either kind of login, and nothing else. */
#include "fleet.h"
#include "scenarios.h"

static void
set_up(void)
{
	fleet_begin_real();
	e2e_need_boxes("--unshare-net");
	fleet_do("config", "set", "defaults.sandbox", "strict", NULL);
}

static void
begin(void)
{
	set_up();
	fleet_up();
}

static void
begin_with_token(void)
{
	set_up();
	e2e_env("ANTHROPIC_API_KEY");
	e2e_env("CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-of-a-test");
	fleet_up();
}

static const char *
seen(const char *name)
{
	return e2e_read(e2e_path("%s/%s", fleet_worktree("adam"), name));
}

/* What its Bash tool reaches: not the stub itself. */
static void
try_network(void)
{
	fleet_add("adam");
	fleet_start("adam",
	    "fake: run { url=${ANTHROPIC_BASE_URL#http://}; bash -c \"exec "
	    "5<>/dev/tcp/${url%:*}/${url#*:}\" && echo direct; getent hosts "
	    "example.com && echo named; bash -c 'exec "
	    "5<>/dev/tcp/127.0.0.1/3128 && printf \"CONNECT example.com:443 "
	    "HTTP/1.1\\r\\n\\r\\n\" >&5 && cat <&5'; echo $HTTPS_PROXY; } "
	    ">seen.txt 2>&1\nfake: write written.txt here");
	fleet_wait("adam", "needs_review,no_changes");
	e2e_has(seen("written.txt"), "here");
	e2e_lacks(seen("seen.txt"), "direct");
	e2e_lacks(seen("seen.txt"), "named");
	e2e_has(seen("seen.txt"), "example.com:443 is not in sandbox_hosts");
	e2e_has(seen("seen.txt"), "http://127.0.0.1:3128");
}

START_TEST(it_works_with_an_api_key)
{
	try_network();
}
END_TEST

START_TEST(it_works_with_a_token)
{
	try_network();
}
END_TEST

START_TEST(its_turn_goes_on_while_daemons_are_killed)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam",
	    "fake: run echo 1 >one.txt; until [ -e go ]; do :; done\n"
	    "fake: run echo 2 >two.txt\nfake: run echo 3 >three.txt");
	e2e_expect(
	    e2e_sh(fleet_worktree("adam"), "until [ -e one.txt ]; do :; done"),
	    0, NULL);
	agent = fleet_agent_pid("adam");
	for (int i = 0; i < 2; i++) {
		fleet_kill(fleet_daemon_pid());
		fleet_up();
	}
	e2e_write(e2e_path("%s/go", fleet_worktree("adam")), "");
	fleet_wait("adam", "needs_review,no_changes");
	e2e_has(seen("three.txt"), "3");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	ck_assert_int_eq(fleet_prompts("three.txt"), 1);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("strict-real");
	scenarios_add_test(s, begin, it_works_with_an_api_key);
	scenarios_add_test(s, begin_with_token, it_works_with_a_token);
	scenarios_add_test(s, begin, its_turn_goes_on_while_daemons_are_killed);
	return s;
}
