/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fnmatch.h>

#include "api-error.h"
#include "schema.h"
#include "work-record.h"

/* --- bounds ---------------------------------------------------------- */

bool
plan_blank(const char *s)
{
	return s == NULL || s[strspn(s, " \t\r\n")] == '\0';
}

void
plan_cut(char **to, const char *text, size_t max)
{
	char *copy = text == NULL ?
	    NULL :
	    xstrndup(text, text_cut(text, strlen(text), max));

	free(*to);
	*to = copy;
}

bool
plan_has(char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

void
plan_set_list(char ***to, char *const *from)
{
	strv_clear(to);
	if (strv_count(from) > 0)
		*to = strv_copy(strv_const(from));
}

/* --- evidence -------------------------------------------------------- */

#define LIST(key, member) PLAN_LIST(struct plan_evidence, key, member)

static const struct schema_field fields[] = {
	LIST("filesTouched", files_touched),
	LIST("commandsRun", commands_run),
	LIST("testsRun", tests_run),
	LIST("commits", commits),
	LIST("prs", prs),
	LIST("issues", issues),
	LIST("externalRefs", external_refs),
};

const struct schema plan_evidence_schema =
    SCHEMA_OF(struct plan_evidence, fields, .strict = true);

static const struct schema_field override_fields[] = {
	PLAN_MUST(struct plan_override, "actor", actor, .size = PLAN_NAME_MAX),
	PLAN_MUST(
	    struct plan_override, "reason", reason, .size = PLAN_TEXT_MAX),
	SCHEMA_FIELD(struct plan_override, "at", at_ms),
};

const struct schema plan_override_schema =
    SCHEMA_OF(struct plan_override, override_fields, .strict = true,
	.help = "who set the status against the rules, and why");

static char ***
list_of(struct plan_evidence *evidence, size_t i)
{
	void *at = (char *)evidence + fields[i].offset;

	return at;
}

bool
plan_evidence_any(const struct plan_evidence *evidence)
{
	return evidence != NULL &&
	    (strv_count(evidence->files_touched) > 0 ||
		strv_count(evidence->commands_run) > 0 ||
		strv_count(evidence->tests_run) > 0 ||
		strv_count(evidence->commits) > 0 ||
		strv_count(evidence->prs) > 0 ||
		strv_count(evidence->issues) > 0 ||
		strv_count(evidence->external_refs) > 0);
}

void
plan_evidence_merge(
    struct plan_evidence *evidence, const struct plan_evidence *more)
{
	struct plan_evidence from = *more;

	for (size_t i = 0; i < nitems(fields); i++) {
		char ***to = list_of(evidence, i);

		for (char **s = *list_of(&from, i); s != NULL && *s != NULL;
		     s++)
			if (!plan_has(*to, *s) &&
			    strv_count(*to) < PLAN_LIST_MAX)
				strv_take(to,
				    xstrndup(*s,
					text_cut(
					    *s, strlen(*s), PLAN_LINE_MAX)));
	}
}

int
plan_evidence_from_json(struct json_object *json, const char *at,
    struct plan_evidence *ret, struct err *err)
{
	struct plan_evidence evidence = { 0 };

	if (schema_read(&plan_evidence_schema, json, at, &evidence, err) < 0) {
		plan_evidence_release(&evidence);
		return -EINVAL;
	}
	plan_evidence_release(ret);
	*ret = evidence;
	return 0;
}

void
plan_evidence_release(struct plan_evidence *evidence)
{
	schema_release(&plan_evidence_schema, evidence);
}

int
plan_override_set(struct plan_override *override, const char *actor,
    const char *reason, int64_t now_ms, struct err *err)
{
	if (plan_blank(actor) || plan_blank(reason))
		return err_set(err, API_E_REASON,
		    "an override needs an actor and a reason");
	plan_cut(&override->actor, actor, PLAN_NAME_MAX);
	plan_cut(&override->reason, reason, PLAN_TEXT_MAX);
	override->at_ms = now_ms;
	return 0;
}

void
plan_override_release(struct plan_override *override)
{
	schema_release(&plan_override_schema, override);
	override->at_ms = 0;
}

/* --- statuses ------------------------------------------------------------ */

const char *const goal_status_words[] = {
	[GOAL_ACTIVE] = "active",
	[GOAL_PAUSED] = "paused",
	[GOAL_COMPLETED] = "completed",
	[GOAL_CANCELLED] = "cancelled",
	[GOAL_ARCHIVED] = "archived",
	[GOAL_STATUS_COUNT] = NULL,
};

const char *const node_status_words[] = {
	[NODE_TODO] = "todo",
	[NODE_QUEUED] = "queued",
	[NODE_IN_PROGRESS] = "in_progress",
	[NODE_BLOCKED] = "blocked",
	[NODE_DONE] = "done",
	[NODE_CANCELLED] = "cancelled",
	[NODE_STATUS_COUNT] = NULL,
};

const char *const assignment_status_words[] = {
	[ASSIGNMENT_QUEUED] = "queued",
	[ASSIGNMENT_DISPATCHED] = "dispatched",
	[ASSIGNMENT_ACTIVE] = "active",
	[ASSIGNMENT_STALLED] = "stalled",
	[ASSIGNMENT_BLOCKED] = "blocked",
	[ASSIGNMENT_DONE] = "done",
	[ASSIGNMENT_CANCELLED] = "cancelled",
	[ASSIGNMENT_STATUS_COUNT] = NULL,
};

/* [from][to]. Everything else is refused. */
static const bool goal_moves[GOAL_STATUS_COUNT][GOAL_STATUS_COUNT] = {
	[GOAL_ACTIVE] = {
		[GOAL_PAUSED] = true,
		[GOAL_COMPLETED] = true,
		[GOAL_CANCELLED] = true,
	},
	[GOAL_PAUSED] = {
		[GOAL_ACTIVE] = true,
		[GOAL_COMPLETED] = true, /* its last turn finished */
		[GOAL_CANCELLED] = true,
	},
	[GOAL_COMPLETED] = {
		[GOAL_ACTIVE] = true, /* reverted, or work was added */
		[GOAL_ARCHIVED] = true,
	},
	[GOAL_CANCELLED] = {
		[GOAL_ARCHIVED] = true,
	},
};

static const bool node_moves[NODE_STATUS_COUNT][NODE_STATUS_COUNT] = {
	[NODE_TODO] = {
		[NODE_QUEUED] = true, /* what it depends on is done */
		[NODE_CANCELLED] = true,
	},
	[NODE_QUEUED] = {
		[NODE_IN_PROGRESS] = true,
		[NODE_BLOCKED] = true,
		[NODE_CANCELLED] = true,
	},
	[NODE_IN_PROGRESS] = {
		[NODE_QUEUED] = true, /* the attempt failed */
		[NODE_BLOCKED] = true,
		[NODE_DONE] = true,
		[NODE_CANCELLED] = true,
	},
	[NODE_BLOCKED] = {
		[NODE_QUEUED] = true, /* unblocked */
		[NODE_CANCELLED] = true,
	},
	[NODE_DONE] = {
		[NODE_QUEUED] = true, /* reverted */
	},
};

static const bool
    assignment_moves[ASSIGNMENT_STATUS_COUNT][ASSIGNMENT_STATUS_COUNT] = {
	[ASSIGNMENT_QUEUED] = {
		[ASSIGNMENT_DISPATCHED] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_DISPATCHED] = {
		[ASSIGNMENT_ACTIVE] = true,
		[ASSIGNMENT_STALLED] = true, /* never any progress */
		[ASSIGNMENT_BLOCKED] = true, /* the first reply says so */
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_ACTIVE] = {
		[ASSIGNMENT_STALLED] = true,
		[ASSIGNMENT_BLOCKED] = true,
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_STALLED] = {
		[ASSIGNMENT_ACTIVE] = true, /* progress again */
		[ASSIGNMENT_BLOCKED] = true, /* it waits for a person */
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_BLOCKED] = {
		[ASSIGNMENT_QUEUED] = true, /* unblocked: dispatched again */
		[ASSIGNMENT_ACTIVE] = true, /* goes on by itself */
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
};

/* A new status needs a word, a row, and a check of every other row. */
_Static_assert(GOAL_STATUS_COUNT == 5 && NODE_STATUS_COUNT == 6 &&
	ASSIGNMENT_STATUS_COUNT == 7,
    "the tables know these statuses");

const char *const recovery_policy_words[] = {
	[RECOVERY_RESEND_LAST] = "resend_last",
	[RECOVERY_NUDGE] = "nudge",
	[RECOVERY_REPLAN] = "replan",
	[RECOVERY_REASSIGN] = "reassign",
	[RECOVERY_ESCALATE] = "escalate",
	[RECOVERY_RETRY] = "retry",
	[RECOVERY_UNSET] = NULL,
};

const char *
goal_status_name(enum goal_status status)
{
	return goal_status_words[status];
}

const char *
node_status_name(enum node_status status)
{
	return node_status_words[status];
}

const char *
assignment_status_name(enum assignment_status status)
{
	return assignment_status_words[status];
}

bool
goal_status_open(enum goal_status status)
{
	return status == GOAL_ACTIVE || status == GOAL_PAUSED;
}

bool
node_status_open(enum node_status status)
{
	return status < NODE_DONE;
}

bool
assignment_status_open(enum assignment_status status)
{
	return status < ASSIGNMENT_DONE;
}

bool
goal_status_may(enum goal_status from, enum goal_status to)
{
	return (unsigned)from < GOAL_STATUS_COUNT &&
	    (unsigned)to < GOAL_STATUS_COUNT && goal_moves[from][to];
}

bool
node_status_may(enum node_status from, enum node_status to)
{
	return (unsigned)from < NODE_STATUS_COUNT &&
	    (unsigned)to < NODE_STATUS_COUNT && node_moves[from][to];
}

bool
assignment_status_may(enum assignment_status from, enum assignment_status to)
{
	return (unsigned)from < ASSIGNMENT_STATUS_COUNT &&
	    (unsigned)to < ASSIGNMENT_STATUS_COUNT &&
	    assignment_moves[from][to];
}

static int
refuse(const char *id, const char *const *words, const bool *row, unsigned from,
    unsigned to, struct err *err)
{
	cleanup_buf struct buf may = BUF_INIT;

	for (unsigned i = 0; words[i] != NULL; i++)
		if (row[i])
			buf_addf(
			    &may, "%s%s", may.len == 0 ? "" : ", ", words[i]);
	if (from == to)
		return err_set(
		    err, API_E_TRANSITION, "%s is %s already", id, words[from]);
	return err_set(err, API_E_TRANSITION,
	    "%s is %s and cannot become %s; it can become: %s", id, words[from],
	    words[to], may.len == 0 ? "nothing else" : may.data);
}

int
goal_status_check(
    const char *id, enum goal_status from, enum goal_status to, struct err *err)
{
	if (goal_status_may(from, to))
		return 0;
	return refuse(id, goal_status_words, goal_moves[from], from, to, err);
}

int
node_status_check(
    const char *id, enum node_status from, enum node_status to, struct err *err)
{
	if (node_status_may(from, to))
		return 0;
	return refuse(id, node_status_words, node_moves[from], from, to, err);
}

int
assignment_status_check(const char *id, enum assignment_status from,
    enum assignment_status to, struct err *err)
{
	if (assignment_status_may(from, to))
		return 0;
	return refuse(
	    id, assignment_status_words, assignment_moves[from], from, to, err);
}

/* --- launch ------------------------------------------------------------ */

#define FIELD(key, member, ...)                       \
	SCHEMA_FIELD(struct task_launch, key, member, \
	    .flags = SCHEMA_OMIT_UNSET, ##__VA_ARGS__)

static const struct schema_field launch_fields[] = {
	FIELD("actor", actor),
	FIELD("parent", parent),
	FIELD("parent_actor", parent_actor),
	FIELD("root_actor", root_actor),
	FIELD("depth", depth),
	FIELD("max_depth", max_depth),
	FIELD("local_max_depth", local_max_depth),
	FIELD("goal", goal),
	FIELD("role", role),
	FIELD("label", label),
	FIELD("agent", agent),
	FIELD("model", model),
	FIELD("thinking", thinking),
	FIELD("timeout_s", timeout_s),
	FIELD("tools_allow", tools_allow),
	FIELD("tools_deny", tools_deny),
	FIELD("tools_scoped", tools_scoped),
	FIELD("required_tools", required_tools),
	FIELD("wants", wants),
	FIELD("confined_by", confined_by),
	FIELD("permission_mode", permission_mode),
	FIELD("budget_tokens", budget_tokens),
	FIELD("budget_cost", budget_cost),
	FIELD("budget_ms", budget_ms),
	FIELD("budget_turns", budget_turns),
	FIELD("own_budget", own_budget),
	FIELD("scope_paths", scope_paths),
	FIELD("read_only", read_only),
	FIELD("progress_reporting", progress_reporting),
	FIELD("allow_partial", allow_partial),
	FIELD("report_only", report_only),
	FIELD("recovery", recovery),
	FIELD("contract", contract),
};

const struct schema task_launch_schema =
    SCHEMA_OF(struct task_launch, launch_fields);

/* --- priority ---------------------------------------------------------- */

const char *const priority_words[] = {
	[PRIORITY_URGENT] = "urgent",
	[PRIORITY_HIGH] = "high",
	[PRIORITY_NORMAL] = "normal",
	[PRIORITY_LOW] = "low",
	[PRIORITY_COUNT] = NULL,
};

static const int numbers[] = {
	[PRIORITY_URGENT] = 0,
	[PRIORITY_HIGH] = 1,
	[PRIORITY_NORMAL] = 3,
	[PRIORITY_LOW] = 4,
};

_Static_assert(
    nitems(numbers) == PRIORITY_COUNT, "a number for every priority");
_Static_assert(
    nitems(priority_words) == PRIORITY_COUNT + 1, "a word for every priority");

const char *
priority_name(enum priority priority)
{
	return priority_words[priority];
}

bool
priority_parse(const char *name, enum priority *ret_priority)
{
	unsigned index;

	if (!word_find(priority_words, name, &index))
		return false;
	*ret_priority = (enum priority)index;
	return true;
}

enum priority
priority_from_number(int64_t number)
{
	if (number <= 0)
		return PRIORITY_URGENT;
	if (number <= 2)
		return PRIORITY_HIGH;
	return number == 3 ? PRIORITY_NORMAL : PRIORITY_LOW;
}

int
priority_to_number(enum priority priority)
{
	return numbers[priority];
}

int
priority_compare(enum priority a, enum priority b)
{
	return a < b ? -1 : a > b;
}

/* --- places ---------------------------------------------------------- */

/* Remove the last name; false if there is none. */
static bool
go_up(struct buf *out)
{
	const char *slash;

	if (out->len == 0)
		return false;
	slash = strrchr(out->data, '/');
	buf_truncate(out, slash != NULL ? (size_t)(slash - out->data) : 0);
	return true;
}

char *
scope_path_normal(const char *place)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *name = place;

	if (*place == '/')
		return NULL;
	while (*name != '\0') {
		size_t len = strcspn(name, "/");

		if (len == 2 && memcmp(name, "..", 2) == 0) {
			if (!go_up(&out))
				return NULL;
		} else if (len > 0 && !(len == 1 && *name == '.')) {
			if (out.len > 0)
				buf_addc(&out, '/');
			buf_add(&out, name, len);
		}
		name += len + (name[len] == '/');
	}
	return xstrdup(out.len > 0 ? out.data : "");
}

/* Both in their shortest form. */
static bool
is_at(const char *place, const char *file)
{
	size_t len = strlen(place);

	return len == 0 ||
	    (strncmp(place, file, len) == 0 &&
		(file[len] == '\0' || file[len] == '/'));
}

static bool
is_pattern(const char *place)
{
	return strpbrk(place, "*?[") != NULL;
}

bool
scope_path_covers(const char *place, const char *file)
{
	cleanup_free char *normal = scope_path_normal(place);

	return normal != NULL &&
	    (is_at(normal, file) ||
		(is_pattern(normal) && fnmatch(normal, file, 0) == 0));
}

bool
scope_path_in(char *const *places, const char *file)
{
	for (; places != NULL && *places != NULL; places++)
		if (scope_path_covers(*places, file))
			return true;
	return false;
}

bool
scope_path_within(char *const *places, const char *place)
{
	if (place == NULL)
		return false;
	if (!is_pattern(place))
		return scope_path_in(places, place);
	for (; places != NULL && *places != NULL; places++) {
		cleanup_free char *normal = scope_path_normal(*places);

		if (normal != NULL &&
		    (is_pattern(normal) ? strcmp(normal, place) == 0 :
					  is_at(normal, place)))
			return true;
	}
	return false;
}

bool
scope_path_meets(const char *a, const char *b)
{
	return is_at(a, b) || is_at(b, a);
}
