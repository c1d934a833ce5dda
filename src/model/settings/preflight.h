/* SPDX-License-Identifier: ISC */

/*
 * What must be right before work without a person begins: facts in, one finding
 * for each check out, with what to type. Used by llmc up --auto, the overseer,
 * llmc doctor, and before the launch of a worker. The facts come from
 * port/process/machine.h.
 */
#ifndef PREFLIGHT_H
#define PREFLIGHT_H

struct buf;
struct json_object;
struct settings_problems;
struct schema;

/* What is not known is never a reason to refuse. */
enum preflight_answer {
	PREFLIGHT_UNKNOWN,
	PREFLIGHT_YES,
	PREFLIGHT_NO
};

/* Strings may be NULL = not known. */
struct preflight_facts {
	const char *config; /* path of the file */
	const struct settings_problems *problems; /* in it */
	bool is_claude; /* other agents have no login that we know of */
	char *home_error; /* why Claude Code's own file cannot be read */
	enum preflight_answer onboarded, trusted;
	enum preflight_answer key_approved; /* that in ANTHROPIC_API_KEY */
	enum preflight_answer logged_in;
	bool is_root;
	bool allow_root; /* defaults.allow_root */
	const char *permission_mode;
	const char *sandbox; /* its mode: "off", "worktree", "strict" */
	bool sandbox_required; /* auto.sandbox_required */
	bool needs_key; /* a strict sandbox, and no login in the environment */
	bool login_file; /* the login is a file that sessions renew */
	int64_t workers; /* that use it at the same time; 0 = not known */
	char *sandbox_error; /* why no sandbox can be made here */
	char *branch; /* that work lands on, "" = none */
	enum preflight_answer branch_exists;
	char *identity; /* of the commits, as git gives it */
	enum preflight_answer has_identity;
	char *uncommitted; /* in the checkout of the branch, "" = none */
	char *forge_error; /* why work cannot become pull requests */
	int64_t book_version; /* of tables that this llmc is too old for; 0 =
			       * it is not */
	int64_t disk_free; /* bytes, negative = not known */
	enum preflight_answer checked; /* auto.check_command is chosen */
	bool needs_check; /* a person starts this: it must be */
	bool knows_budget, has_budget;
	const char *unpriced; /* a model in the settings without a price, while
			       * a budget is in dollars */
	char *limits; /* memory_max and such that are set; NULL = none */
	char *limits_place; /* what holds them; NULL = nothing */
	char *limits_why; /* why not all of them can be held; NULL = all are */
	const char *agent_key; /* of [defaults]: its program */
	const char *agent_fix; /* how to get it */
	char *no_tmux, *no_agent; /* the programs that are not there; NULL =
				   * they are */
};

enum preflight_level {
	PREFLIGHT_OK,
	PREFLIGHT_WARN,
	PREFLIGHT_FAIL, /* nothing useful would happen: do not start */
	PREFLIGHT_LEVEL_COUNT
};

struct preflight_finding {
	const char *name; /* of the check, one word */
	enum preflight_level level;
	char *detail; /* a sentence */
	const char *remedy; /* what to type; NULL = nothing is wrong */
	bool agent; /* an agent that starts now cannot work */
};

struct preflight {
	struct preflight_finding *list;
	size_t count;
	int counts[PREFLIGHT_LEVEL_COUNT];
};

/* Released by the caller. Checks whose facts are not known are left out. */
void preflight_judge(
    const struct preflight_facts *facts, struct preflight *ret_preflight);
/* Add what a trial of the first worker's place has said; NULL = it works. */
void preflight_add_place(struct preflight *preflight, const char *failed);
void preflight_release(struct preflight *preflight);
void preflight_facts_release(struct preflight_facts *facts);

const char *preflight_level_name(enum preflight_level level);
/* Append what is not ok, the worst first: a line each, and the remedy on a line
 * of its own. */
void preflight_print(const struct preflight *preflight, struct buf *out);
/* {ok, checks: [{name, status, detail, fix}]}, as llmc doctor has it. */
struct json_object *preflight_json(const struct preflight *preflight);
/* Of it, and of one of its checks. */
extern const struct schema preflight_shape, preflight_check_shape;
/* Append why an agent that starts now could not work, and what to type, as one
 * sentence. Appends nothing if it could. */
void preflight_agent_reason(const struct preflight *preflight, struct buf *out);

#endif
