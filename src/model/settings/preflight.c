/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "preflight.h"
#include "schema.h"
#include "settings.h"

#define MIB      ((int64_t)1024 * 1024)
#define DISK_MIN (1 * MIB) /* the state cannot be written soon */
#define DISK_LOW (1024 * MIB) /* worktrees and logs grow in a night */

/* The verdict of one check. */
struct verdict {
	enum preflight_level level;
	const char *remedy;
};

#define GOOD     ((struct verdict){ PREFLIGHT_OK, NULL })
#define BAD(fix) ((struct verdict){ PREFLIGHT_FAIL, fix })
#define MEH(fix) ((struct verdict){ PREFLIGHT_WARN, fix })

/* --- Claude Code ------------------------------------------------------ */

static struct verdict
judge_home(const struct preflight_facts *f, struct buf *detail)
{
	if (f->home_error == NULL)
		return GOOD;
	buf_adds(detail, f->home_error);
	return BAD("mv ~/.claude.json ~/.claude.json.broken; claude");
}

static struct verdict
judge_onboarding(const struct preflight_facts *f, struct buf *detail)
{
	if (f->onboarded != PREFLIGHT_NO)
		return GOOD;
	buf_adds(detail, "Claude Code has never been started by this user");
	return BAD("llmc doctor trust --onboarding");
}

static struct verdict
judge_login(const struct preflight_facts *f, struct buf *detail)
{
	if (f->needs_key) {
		buf_adds(detail,
		    "a strict sandbox does not get the login file: "
		    "ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN must be in "
		    "the environment of llmc");
		return BAD("claude setup-token");
	}
	if (f->logged_in == PREFLIGHT_NO) {
		buf_adds(detail, "Claude Code is not logged in");
		return BAD("claude auth login");
	}
	if (f->login_file && f->workers > 1) {
		buf_addf(detail,
		    "%" PRId64 " workers renew one login file, and some day "
		    "one of them logs the others out: put a token that needs "
		    "no renewal into CLAUDE_CODE_OAUTH_TOKEN of llmc",
		    f->workers);
		return MEH("claude setup-token");
	}
	if (f->logged_in == PREFLIGHT_YES)
		buf_adds(detail, "Claude Code is logged in");
	return GOOD;
}

static struct verdict
judge_trust(const struct preflight_facts *f, struct buf *detail)
{
	if (f->trusted == PREFLIGHT_NO) {
		buf_adds(
		    detail, "Claude Code does not trust this repository yet");
		return BAD("llmc doctor trust");
	}
	if (f->trusted == PREFLIGHT_YES)
		buf_adds(detail, "Claude Code trusts this repository");
	return GOOD;
}

static struct verdict
judge_key(const struct preflight_facts *f, struct buf *detail)
{
	if (f->key_approved != PREFLIGHT_NO)
		return GOOD;
	buf_adds(detail, "the key in ANTHROPIC_API_KEY is not approved yet");
	return BAD("llmc doctor trust");
}

/* --- permissions ------------------------------------------------------ */

static bool
mode_is(const struct preflight_facts *f, const char *mode)
{
	return text_is(f->permission_mode, mode);
}

static struct verdict
judge_root(const struct preflight_facts *f, struct buf *detail)
{
	if (!f->is_root || f->allow_root || !mode_is(f, "bypassPermissions"))
		return GOOD;
	buf_adds(detail,
	    "Claude Code refuses bypassPermissions as root: use another user, "
	    "or allow it");
	return BAD("llmc config set defaults.allow_root true");
}

static struct verdict
judge_mode(const struct preflight_facts *f, struct buf *detail)
{
	if (!mode_is(f, "default") && !mode_is(f, "plan"))
		return GOOD;
	buf_addf(detail,
	    "with permission_mode %s the agent asks, and a worker that asks "
	    "waits for a person",
	    f->permission_mode);
	return MEH("llmc config set defaults.permission_mode "
		   "bypassPermissions");
}

/* --- the sandbox ------------------------------------------------------ */

static struct verdict
judge_sandbox(const struct preflight_facts *f, struct buf *detail)
{
	if (f->sandbox == NULL)
		return GOOD;
	if (strcmp(f->sandbox, "off") == 0) {
		if (!f->sandbox_required)
			return GOOD;
		buf_adds(detail,
		    "auto.sandbox_required is set, but defaults.sandbox is "
		    "off");
		return BAD("llmc config set defaults.sandbox worktree");
	}
	if (f->sandbox_error != NULL) {
		buf_adds(detail, f->sandbox_error);
		return BAD("llmc doctor --sandbox");
	}
	buf_addf(detail, "agents run in a sandbox (%s)", f->sandbox);
	return GOOD;
}

/* --- the repository --------------------------------------------------- */

static struct verdict
judge_branch(const struct preflight_facts *f, struct buf *detail)
{
	if (f->branch == NULL)
		return GOOD;
	if (f->branch[0] == '\0') {
		buf_adds(detail,
		    "no branch is checked out and origin has no HEAD, so work "
		    "has no branch to land on");
		return BAD("llmc config set repo.default_branch BRANCH");
	}
	if (f->branch_exists == PREFLIGHT_NO) {
		buf_addf(detail, "there is no branch %s", f->branch);
		return BAD("llmc config set repo.default_branch BRANCH");
	}
	buf_addf(detail, "work lands on %s", f->branch);
	return GOOD;
}

static struct verdict
judge_identity(const struct preflight_facts *f, struct buf *detail)
{
	if (f->has_identity == PREFLIGHT_NO) {
		buf_adds(detail,
		    "git does not know who you are, so nothing can be "
		    "committed");
		return BAD("git config user.name NAME; git config user.email "
			   "ADDRESS");
	}
	if (f->identity != NULL)
		buf_addf(detail, "commits are made by %s", f->identity);
	return GOOD;
}

static struct verdict
judge_checkout(const struct preflight_facts *f, struct buf *detail)
{
	if (f->uncommitted == NULL || f->uncommitted[0] == '\0')
		return GOOD;
	buf_adds(detail, f->uncommitted);
	return MEH("commit or stash the changes: git status");
}

/* --- the machine, the settings ---------------------------------------- */

static struct verdict
judge_book(const struct preflight_facts *f, struct buf *detail)
{
	if (f->book_version == 0)
		return GOOD;
	buf_addf(detail,
	    ".llmc/llmc.db was written by a newer llmc (version %lld of its "
	    "tables)",
	    (long long)f->book_version);
	return BAD("install that llmc again");
}

static struct verdict
judge_forge(const struct preflight_facts *f, struct buf *detail)
{
	if (f->forge_error == NULL)
		return GOOD;
	buf_adds(detail, f->forge_error);
	return BAD("see FORGES in llmc.conf(5), or: llmc config set auto.land "
		   "branch");
}

static struct verdict
judge_disk(const struct preflight_facts *f, struct buf *detail)
{
	if (f->disk_free < 0)
		return GOOD;
	if (f->disk_free < DISK_MIN) {
		buf_adds(detail, "the disk is full");
		return BAD("make room; see: df -h .");
	}
	buf_addf(detail, "%lld MiB are free on the disk",
	    (long long)(f->disk_free / MIB));
	return f->disk_free < DISK_LOW ? MEH("make room; see: df -h .") : GOOD;
}

static struct verdict
judge_limits(const struct preflight_facts *f, struct buf *detail)
{
	if (f->limits == NULL)
		return GOOD;
	if (f->limits_why == NULL) {
		buf_addf(detail, "%s: held by %s", f->limits,
		    f->limits_place != NULL ? f->limits_place : "nothing");
		return GOOD;
	}
	buf_addf(detail, "%s %s on this machine: %s", f->limits,
	    f->limits_place != NULL ? "can only be held in part" :
				      "cannot be held",
	    f->limits_why);
	return MEH("start llmc where systemd runs, for example with the "
		   "service llmc-overseer@, or: llmc config unset "
		   "defaults.memory_max");
}

static struct verdict
judge_check(const struct preflight_facts *f, struct buf *detail)
{
	static const char fix[] =
	    "llmc config set auto.check_command COMMAND; without a check, on "
	    "purpose: llmc config set auto.check_command none";

	if (f->checked != PREFLIGHT_NO)
		return GOOD;
	buf_adds(detail,
	    "auto.check_command is not set: nothing would test the work "
	    "before it lands");
	return f->needs_check ? BAD(fix) : MEH(fix);
}

static struct verdict
judge_budget(const struct preflight_facts *f, struct buf *detail)
{
	if (!f->knows_budget)
		return GOOD;
	if (f->unpriced != NULL) {
		buf_addf(detail,
		    "there is no price for the model %s: a budget in dollars "
		    "does not count it",
		    f->unpriced);
		return MEH("man llmc.conf (see Prices)");
	}
	if (f->has_budget) {
		buf_adds(detail, "what may be spent is limited");
		return GOOD;
	}
	buf_adds(detail, "no budget is set: nothing limits what is spent");
	return MEH("llmc config set budget.day_cost DOLLARS");
}

static struct verdict
judge_tmux(const struct preflight_facts *f, struct buf *detail)
{
	if (f->no_tmux == NULL)
		return GOOD;
	buf_addf(detail,
	    "%s (tmux.command) is not on PATH: the agents run in it",
	    f->no_tmux);
	return BAD("install tmux, or: llmc config set tmux.command PATH");
}

static struct verdict
judge_agent(const struct preflight_facts *f, struct buf *detail)
{
	if (f->no_agent == NULL)
		return GOOD;
	buf_addf(detail, "%s (defaults.%s) is not on PATH", f->no_agent,
	    f->agent_key);
	return BAD(f->agent_fix);
}

/* --- all of them ------------------------------------------------------ */

static const struct row {
	const char *name;
	struct verdict (*judge)(
	    const struct preflight_facts *facts, struct buf *detail);
	bool agent; /* without it, an agent cannot work */
	bool any; /* not only Claude Code */
} rows[] = {
	{ "tmux", judge_tmux, false, true },
	{ "agent", judge_agent, false, true },
	{ "claude", judge_home, true, false },
	{ "onboarding", judge_onboarding, true, false },
	{ "login", judge_login, true, false },
	{ "trust", judge_trust, true, false },
	{ "key", judge_key, true, false },
	{ "root", judge_root, true, false },
	{ "sandbox", judge_sandbox, true, true },
	{ "mode", judge_mode, false, true },
	{ "branch", judge_branch, false, true },
	{ "identity", judge_identity, false, true },
	{ "checkout", judge_checkout, false, true },
	{ "forge", judge_forge, false, true },
	{ "book", judge_book, false, true },
	{ "disk", judge_disk, false, true },
	{ "limits", judge_limits, false, true },
	{ "check", judge_check, false, true },
	{ "budget", judge_budget, false, true },
};

static void
add(struct preflight *p, const struct row *row, struct verdict verdict,
    const char *detail)
{
	p->list = xreallocarray(p->list, p->count + 1, sizeof *p->list);
	p->list[p->count++] = (struct preflight_finding){
		.name = row->name,
		.level = verdict.level,
		.detail = xstrdup(detail),
		.remedy = verdict.remedy,
		.agent = row->agent,
	};
	p->counts[verdict.level]++;
}

void
preflight_add_place(struct preflight *p, const char *failed)
{
	static const struct row row = { .name = "place" };
	static const char remedy[] =
	    "a worker's worktree could not be made like this; look at "
	    "repo.copy_files, repo.setup_command and defaults.sandbox: llmc "
	    "config list";

	add(p, &row,
	    (struct verdict){ failed != NULL ? PREFLIGHT_FAIL : PREFLIGHT_OK,
		failed != NULL ? remedy : NULL },
	    failed != NULL ? failed : "the first worker's can be made");
}

static void
judge_config(const struct preflight_facts *f, struct preflight *p)
{
	static const struct row row = { .name = "config" };

	for (size_t i = 0; f->problems != NULL && i < f->problems->count; i++) {
		const struct settings_problem *problem = &f->problems->list[i];
		cleanup_free char *detail = xasprintf(
		    "%s:%u: %s", f->config, problem->line, problem->text);

		add(p, &row,
		    problem->fatal ?
			BAD("edit the file; see: llmc config doc") :
			MEH("edit the file; see: llmc config doc"),
		    detail);
	}
}

void
preflight_judge(
    const struct preflight_facts *facts, struct preflight *ret_preflight)
{
	*ret_preflight = (struct preflight){ 0 };
	judge_config(facts, ret_preflight);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_buf struct buf detail = BUF_INIT;
		struct verdict verdict;

		if (!rows[i].any && !facts->is_claude)
			continue;
		verdict = rows[i].judge(facts, &detail);
		if (detail.len > 0)
			add(ret_preflight, &rows[i], verdict, detail.data);
	}
}

void
preflight_release(struct preflight *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].detail);
	free(p->list);
	*p = (struct preflight){ 0 };
}

void
preflight_facts_release(struct preflight_facts *facts)
{
	free(take_ptr(&facts->home_error));
	free(take_ptr(&facts->sandbox_error));
	free(take_ptr(&facts->no_tmux));
	free(take_ptr(&facts->no_agent));
	free(take_ptr(&facts->branch));
	free(take_ptr(&facts->identity));
	free(take_ptr(&facts->uncommitted));
	free(take_ptr(&facts->forge_error));
	free(take_ptr(&facts->limits));
	free(take_ptr(&facts->limits_place));
	free(take_ptr(&facts->limits_why));
}

/* --- for people ------------------------------------------------------- */

static const char *const level_words[PREFLIGHT_LEVEL_COUNT + 1] = {
	[PREFLIGHT_OK] = "ok",
	[PREFLIGHT_WARN] = "warn",
	[PREFLIGHT_FAIL] = "fail",
};

const char *
preflight_level_name(enum preflight_level level)
{
	return level_words[level];
}

static void
print_level(
    const struct preflight *p, enum preflight_level level, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct preflight_finding *f = &p->list[i];

		if (f->level != level)
			continue;
		buf_addf(
		    out, "%-5s %s: ", preflight_level_name(level), f->name);
		text_add_visible(out, f->detail, strlen(f->detail), false);
		buf_addf(out, "\n      %s\n", f->remedy);
	}
}

void
preflight_print(const struct preflight *p, struct buf *out)
{
	print_level(p, PREFLIGHT_FAIL, out);
	print_level(p, PREFLIGHT_WARN, out);
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct preflight_finding, key, member, ##__VA_ARGS__)

static const struct schema_field check_fields[] = {
	FIELD("name", name, .flags = SCHEMA_REQUIRED),
	FIELD("status", level, .words = level_words),
	FIELD("detail", detail, .flags = SCHEMA_REQUIRED),
	FIELD("fix", remedy, .help = "what to do about it"),
};
const struct schema preflight_check_shape =
    SCHEMA_OF(struct preflight_finding, check_fields);

static const struct schema_field fields[] = {
	SCHEMA_IS("ok", BOOL, "no check failed; warnings are fine"),
	SCHEMA_PARTS(struct preflight, "checks", ROWS, list, count,
	    preflight_check_shape),
};
const struct schema preflight_shape = SCHEMA_OF(struct preflight, fields);

struct json_object *
preflight_json(const struct preflight *p)
{
	struct json_object *json = json_object_new_object();

	json_set_bool(json, "ok", p->counts[PREFLIGHT_FAIL] == 0);
	schema_add(&preflight_shape, p, json);
	return json;
}

void
preflight_agent_reason(const struct preflight *p, struct buf *out)
{
	cleanup_buf struct buf remedies = BUF_INIT;

	for (size_t i = 0; i < p->count; i++) {
		const struct preflight_finding *f = &p->list[i];

		if (!f->agent || f->level != PREFLIGHT_FAIL)
			continue;
		buf_addf(out, "%s%s", remedies.len > 0 ? "; " : "", f->detail);
		if (strstr(remedies.data, f->remedy) == NULL)
			buf_addf(&remedies, "%s%s",
			    remedies.len > 0 ? ", then: " : "", f->remedy);
	}
	if (remedies.len > 0)
		buf_addf(out, "; type: %s", remedies.data);
}
