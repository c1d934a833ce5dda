/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "preflight.h"
#include "settings.h"

#define MIB ((int64_t)1024 * 1024)

/* A machine on which everything is right. */
static struct preflight_facts
good(void)
{
	return (struct preflight_facts){
		.is_claude = true,
		.onboarded = PREFLIGHT_YES,
		.trusted = PREFLIGHT_YES,
		.key_approved = PREFLIGHT_YES,
		.logged_in = PREFLIGHT_YES,
		.permission_mode = "bypassPermissions",
		.branch = xstrdup("main"),
		.branch_exists = PREFLIGHT_YES,
		.identity = xstrdup("Ann <ann@example.invalid>"),
		.has_identity = PREFLIGHT_YES,
		.disk_free = 5000 * MIB,
		.knows_budget = true,
		.has_budget = true,
	};
}

static void
release(struct preflight *p)
{
	preflight_release(p);
}
#define cleanup_preflight __attribute__((cleanup(release)))

/* Judges and frees the facts. */
static struct preflight
judge(struct preflight_facts *facts)
{
	struct preflight p;

	preflight_judge(facts, &p);
	preflight_facts_release(facts);
	return p;
}

static const struct preflight_finding *
find(const struct preflight *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->list[i].name, name) == 0)
			return &p->list[i];
	return NULL;
}

TEST(a_missing_program_is_a_reason_to_refuse)
{
	struct preflight_facts facts = good();
	cleanup_preflight struct preflight p = { 0 };

	facts.no_tmux = xstrdup("tmux");
	facts.no_agent = xstrdup("claude");
	facts.agent_key = "agent_command";
	facts.agent_fix = "llmc config set defaults.agent_command PATH";
	p = judge(&facts);
	ck_assert_int_eq(p.counts[PREFLIGHT_FAIL], 2);
	ck_assert_ptr_nonnull(strstr(find(&p, "tmux")->detail, "tmux.command"));
	ck_assert_ptr_nonnull(
	    strstr(find(&p, "agent")->remedy, "defaults.agent_command"));
}

TEST(where_all_is_right_nothing_is_printed)
{
	struct preflight_facts facts = good();
	cleanup_preflight struct preflight p = judge(&facts);
	cleanup_buf struct buf text = BUF_INIT;

	preflight_print(&p, &text);
	preflight_agent_reason(&p, &text);
	ck_assert_str_eq(text.data, "");
	ck_assert_int_eq(p.counts[PREFLIGHT_FAIL], 0);
	ck_assert_int_eq(p.counts[PREFLIGHT_WARN], 0);
	/* llmc doctor shows these. */
	ck_assert_str_eq(find(&p, "branch")->detail, "work lands on main");
	ck_assert_str_eq(find(&p, "login")->detail, "Claude Code is logged in");
}

static void
no_home(struct preflight_facts *f)
{
	f->home_error = xstrdup("not JSON");
}

static void
not_onboarded(struct preflight_facts *f)
{
	f->onboarded = PREFLIGHT_NO;
}

static void
not_logged_in(struct preflight_facts *f)
{
	f->logged_in = PREFLIGHT_NO;
}

static void
not_trusted(struct preflight_facts *f)
{
	f->trusted = PREFLIGHT_NO;
}

static void
key_unknown(struct preflight_facts *f)
{
	f->key_approved = PREFLIGHT_NO;
}

static void
as_root(struct preflight_facts *f)
{
	f->is_root = true;
}

static void
no_sandbox(struct preflight_facts *f)
{
	f->sandbox = "worktree";
	f->sandbox_error = xstrdup("there is no bwrap");
}

static void
sandbox_left_out(struct preflight_facts *f)
{
	f->sandbox = "off";
	f->sandbox_required = true;
}

static void
strict_without_key(struct preflight_facts *f)
{
	f->needs_key = true;
}

static void
login_shared(struct preflight_facts *f)
{
	f->login_file = true;
	f->workers = 3;
}

static void
mode_asks(struct preflight_facts *f)
{
	f->permission_mode = "default";
}

static void
no_branch(struct preflight_facts *f)
{
	f->branch[0] = '\0';
	f->branch_exists = PREFLIGHT_NO;
}

static void
branch_missing(struct preflight_facts *f)
{
	f->branch_exists = PREFLIGHT_NO;
}

static void
nobody(struct preflight_facts *f)
{
	f->has_identity = PREFLIGHT_NO;
}

static void
dirty(struct preflight_facts *f)
{
	f->uncommitted = xstrdup("1 file changed");
}

static void
no_forge(struct preflight_facts *f)
{
	f->forge_error = xstrdup("there is no origin");
}

static void
book_newer(struct preflight_facts *f)
{
	f->book_version = 99;
}

static void
disk_low(struct preflight_facts *f)
{
	f->disk_free = 1024 * MIB - 1;
}

static void
disk_full(struct preflight_facts *f)
{
	f->disk_free = MIB - 1;
}

static void
no_price(struct preflight_facts *f)
{
	f->unpriced = "claude-opus-9";
}

static void
no_budget(struct preflight_facts *f)
{
	f->has_budget = false;
}

static const struct {
	void (*spoil)(struct preflight_facts *facts);
	const char *name;
	enum preflight_level level;
	const char *remedy;
	bool agent;
} faults[] = {
	{ no_home, "claude", PREFLIGHT_FAIL, "mv ~/.claude.json", true },
	{ not_onboarded, "onboarding", PREFLIGHT_FAIL,
	    "llmc doctor trust --onboarding", true },
	{ not_logged_in, "login", PREFLIGHT_FAIL, "claude auth login", true },
	{ not_trusted, "trust", PREFLIGHT_FAIL, "llmc doctor trust", true },
	{ key_unknown, "key", PREFLIGHT_FAIL, "llmc doctor trust", true },
	{ as_root, "root", PREFLIGHT_FAIL,
	    "llmc config set defaults.allow_root true", true },
	{ no_sandbox, "sandbox", PREFLIGHT_FAIL, "llmc doctor --sandbox",
	    true },
	{ sandbox_left_out, "sandbox", PREFLIGHT_FAIL,
	    "llmc config set defaults.sandbox worktree", true },
	{ strict_without_key, "login", PREFLIGHT_FAIL, "claude setup-token",
	    true },
	{ login_shared, "login", PREFLIGHT_WARN, "claude setup-token", false },
	{ mode_asks, "mode", PREFLIGHT_WARN,
	    "llmc config set defaults.permission_mode", false },
	{ no_branch, "branch", PREFLIGHT_FAIL,
	    "llmc config set repo.default_branch BRANCH", false },
	{ branch_missing, "branch", PREFLIGHT_FAIL,
	    "llmc config set repo.default_branch BRANCH", false },
	{ nobody, "identity", PREFLIGHT_FAIL, "git config user.name", false },
	{ dirty, "checkout", PREFLIGHT_WARN, "git status", false },
	{ no_forge, "forge", PREFLIGHT_FAIL, "llmc config set auto.land branch",
	    false },
	{ book_newer, "book", PREFLIGHT_FAIL, "install that llmc", false },
	{ disk_low, "disk", PREFLIGHT_WARN, "df -h", false },
	{ disk_full, "disk", PREFLIGHT_FAIL, "df -h", false },
	{ no_price, "budget", PREFLIGHT_WARN, "man llmc.conf", false },
	{ no_budget, "budget", PREFLIGHT_WARN,
	    "llmc config set budget.day_cost", false },
};

/* One line says what, the next what to type, and that one is never too wide. */
static void
expect_lines(const struct preflight *p, const char *remedy)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *second;

	preflight_print(p, &text);
	second = strchr(text.data, '\n');
	ck_assert_ptr_nonnull(second);
	second++;
	ck_assert_ptr_nonnull(strstr(second, remedy));
	ck_assert_int_eq(strncmp(second, "      ", 6), 0);
	ck_assert_uint_eq(strcspn(second, "\n") + 1, strlen(second));
	ck_assert_uint_le(strlen(second), 80);
}

TEST_ROWS(each_fault_is_one_finding_with_a_remedy, nitems(faults))
{
	struct preflight_facts facts = good();
	cleanup_preflight struct preflight p = { 0 };
	cleanup_buf struct buf reason = BUF_INIT;
	const struct preflight_finding *f;
	int fails = faults[_i].level == PREFLIGHT_FAIL;

	faults[_i].spoil(&facts);
	p = judge(&facts);
	ck_assert_int_eq(p.counts[PREFLIGHT_FAIL], fails);
	ck_assert_int_eq(p.counts[PREFLIGHT_WARN], !fails);
	f = find(&p, faults[_i].name);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->level, faults[_i].level);
	ck_assert_ptr_nonnull(strstr(f->remedy, faults[_i].remedy));
	expect_lines(&p, faults[_i].remedy);
	preflight_agent_reason(&p, &reason);
	ck_assert_int_eq(reason.len > 0, faults[_i].agent);
}

TEST(what_is_not_known_refuses_nothing)
{
	struct preflight_facts facts = { .is_claude = true, .disk_free = -1 };
	cleanup_preflight struct preflight p = judge(&facts);

	ck_assert_uint_eq(p.count, 0);
}

TEST(another_agent_needs_no_login)
{
	struct preflight_facts facts = { .disk_free = -1,
		.onboarded = PREFLIGHT_NO,
		.trusted = PREFLIGHT_NO,
		.logged_in = PREFLIGHT_NO,
		.is_root = true,
		.permission_mode = "bypassPermissions" };
	cleanup_preflight struct preflight p = judge(&facts);

	ck_assert_uint_eq(p.count, 0);
}

TEST(root_may_do_what_is_allowed_or_asks)
{
	struct preflight_facts facts = { .is_claude = true,
		.disk_free = -1,
		.is_root = true,
		.allow_root = true,
		.permission_mode = "bypassPermissions" };
	struct preflight p = judge(&facts);

	ck_assert_uint_eq(p.count, 0);
	preflight_release(&p);
	facts.allow_root = false;
	facts.permission_mode = "acceptEdits";
	p = judge(&facts);
	ck_assert_uint_eq(p.count, 0);
	preflight_release(&p);
}

TEST(problems_of_the_settings_are_findings)
{
	char warning[] = "tmux.colums: no such";
	char error[] = "tmux.rows: expected";
	struct settings_problem list[] = {
		{ .fatal = false, .line = 3, .text = warning },
		{ .fatal = true, .line = 4, .text = error },
	};
	struct settings_problems problems = { .list = list, .count = 2 };
	struct preflight_facts facts = { .disk_free = -1,
		.config = "/r/config.toml",
		.problems = &problems };
	cleanup_preflight struct preflight p = judge(&facts);
	cleanup_buf struct buf text = BUF_INIT;

	preflight_print(&p, &text);
	ck_assert_str_eq(text.data,
	    "fail  config: /r/config.toml:4: tmux.rows: expected\n"
	    "      edit the file; see: llmc config doc\n"
	    "warn  config: /r/config.toml:3: tmux.colums: no such\n"
	    "      edit the file; see: llmc config doc\n");
}

TEST(the_reason_of_a_worker_names_each_remedy_once)
{
	struct preflight_facts facts = { .is_claude = true,
		.disk_free = -1,
		.onboarded = PREFLIGHT_NO,
		.trusted = PREFLIGHT_NO };
	cleanup_preflight struct preflight p = judge(&facts);
	cleanup_buf struct buf text = BUF_INIT;

	preflight_agent_reason(&p, &text);
	ck_assert_str_eq(text.data,
	    "Claude Code has never been started by this user; Claude Code does "
	    "not trust this repository yet; type: llmc doctor trust --onboarding");
}

TEST(json_has_what_doctor_has)
{
	struct preflight_facts facts = { .is_claude = true,
		.disk_free = 2048 * MIB,
		.logged_in = PREFLIGHT_NO };
	cleanup_preflight struct preflight p = judge(&facts);
	cleanup_json struct json_object *json = preflight_json(&p);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	ck_assert_str_eq(text.data,
	    "{\"ok\":false,\"checks\":[{\"name\":\"login\",\"status\":\"fail\","
	    "\"detail\":\"Claude Code is not logged in\","
	    "\"fix\":\"claude auth login\"},"
	    "{\"name\":\"disk\",\"status\":\"ok\","
	    "\"detail\":\"2048 MiB are free on the disk\",\"fix\":null}]}");
}

static struct preflight
judge_limits(const char *place, const char *why)
{
	struct preflight_facts facts = good();

	facts.limits = xstrdup("memory_max and tasks_max");
	facts.limits_place = place != NULL ? xstrdup(place) : NULL;
	facts.limits_why = why != NULL ? xstrdup(why) : NULL;
	return judge(&facts);
}

TEST(limits_that_cannot_be_held_are_a_warning)
{
	cleanup_preflight struct preflight all =
	    judge_limits("systemd scopes", NULL);
	cleanup_preflight struct preflight part =
	    judge_limits("cgroups in /g", "no pids");
	cleanup_preflight struct preflight none = judge_limits(NULL, "no way");

	ck_assert_str_eq(find(&all, "limits")->detail,
	    "memory_max and tasks_max: held by systemd scopes");
	ck_assert_int_eq(find(&all, "limits")->level, PREFLIGHT_OK);
	ck_assert_str_eq(find(&part, "limits")->detail,
	    "memory_max and tasks_max can only be held in part on this "
	    "machine: no pids");
	ck_assert_int_eq(find(&part, "limits")->level, PREFLIGHT_WARN);
	ck_assert_str_eq(find(&none, "limits")->detail,
	    "memory_max and tasks_max cannot be held on this machine: no way");
	ck_assert_int_eq(find(&none, "limits")->level, PREFLIGHT_WARN);
}
