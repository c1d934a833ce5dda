/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "agent-card.h"
#include "api-shape.h"
#include "attempt.h"
#include "contract.h"
#include "settings-value.h"
#include "spawn-rules.h"
#include "work-record.h"

const struct schema spawn_entry_schema = {
	SCHEMA_FIELDS{
	    TEXT("role", 64, "such as coder, reviewer or fixer"),
	    TEXT("task", PLAN_TEXT_MAX,
		"what it is to do, complete in itself: it sees nothing of "
		"your conversation"),
	    MAY_TEXT("suggested_actor_id", 128, "such as team:backend"),
	    MAY_INT(
		"local_max_depth", 0, 100, "how deep agents may be below it"),
	    MAY_TEXT("agent", 64, "name of an agent of the fleet table"),
	    MAY_TEXT("label", 100, "a short name for people"),
	    MAY_TEXT("model", 128, "the model it runs on"),
	    MAY_WORD("thinking", thinking_words, "how hard it thinks"),
	    MAY_INT("runTimeoutSeconds", 1, 604800,
		"the attempt ends after this time"),
	    MAY_STRINGS("toolsAllow", 200, "only these tools"),
	    MAY_STRINGS("toolsDeny", 200, "not these tools"),
	    MAY_STRINGS(
		"scope_paths", 200, "files and folders that it may change"),
	    SCHEMA_MAY("verification", OBJECT,
		"what must be there when it ends", .of = &contract_schema),
	    SCHEMA_MAY("completionReport", BOOL,
		"every agent ends with report_completion, with this or without"),
	    SCHEMA_MAY("allowPartial", BOOL,
		"land its commit also if it reports that it has done a part; "
		"otherwise only a complete one lands"),
	    SCHEMA_MAY("ownBudget", BOOL,
		"what it spends does not count for your budget"),
	    SCHEMA_MAY(
		"progressReporting", BOOL, "it is told to report its progress"),
	    SCHEMA_END,
	},
};

/* --- places ---------------------------------------------------------- */

enum hierarchy_verdict
hierarchy_may_spawn(const struct hierarchy_place *place)
{
	if (place->depth < 0 || place->max_depth <= 0 ||
	    place->local_max_depth <= 0)
		return HIERARCHY_MALFORMED;
	if (place->depth >= place->max_depth)
		return HIERARCHY_GLOBAL_LIMIT;
	if (place->depth >= place->local_max_depth)
		return HIERARCHY_LOCAL_LIMIT;
	return HIERARCHY_ALLOW;
}

const char *
hierarchy_reason(enum hierarchy_verdict verdict)
{
	switch (verdict) {
	case HIERARCHY_ALLOW:
		return NULL;
	case HIERARCHY_MALFORMED:
		return "malformed";
	case HIERARCHY_GLOBAL_LIMIT:
		return "depth_limit_exceeded";
	case HIERARCHY_LOCAL_LIMIT:
		break;
	}
	return "local_limit_exceeded";
}

struct hierarchy_place
hierarchy_child(
    const struct hierarchy_place *parent, int requested, bool *ret_clamped)
{
	bool clamped = requested > parent->local_max_depth;
	int limit =
	    requested <= 0 || clamped ? parent->local_max_depth : requested;

	if (ret_clamped != NULL)
		*ret_clamped = clamped;
	return (struct hierarchy_place){ .depth = parent->depth + 1,
		.max_depth = parent->max_depth,
		.local_max_depth = limit };
}

struct hierarchy_place
hierarchy_root_worker(int max_depth)
{
	const struct hierarchy_place overseer = { 0, max_depth, max_depth };

	return hierarchy_child(&overseer, 0, NULL);
}

int
hierarchy_deepest(const struct hierarchy_place *place)
{
	int limit = place->local_max_depth < place->max_depth ?
	    place->local_max_depth :
	    place->max_depth;

	return limit > place->depth ? limit : place->depth;
}

/* --- rules ----------------------------------------------------------- */

#define PREFIX   "actor:team:"
#define WORD_MAX 40 /* bytes of a part of a name */

/* --- one entry --------------------------------------------------------- */

/* What is accepted so far counts for those behind it. */
struct judge {
	const struct spawn_facts *facts;
	char **actors; /* of what is accepted */
	size_t accepted;
};

/* A word that can stand between the colons of a name. */
static bool
is_word(const char *s)
{
	size_t len = strlen(s);

	if (len == 0 || len > WORD_MAX)
		return false;
	for (; *s != '\0'; s++)
		if (!isalnum((unsigned char)*s) && strchr("._-", *s) == NULL)
			return false;
	return true;
}

/* "backend" out of "team:backend" or "actor:team:backend"; NULL: the role. */
static const char *
group_of(struct json_object *entry)
{
	const char *s = json_string_or(entry, "suggested_actor_id", NULL);

	if (s == NULL || *s == '\0')
		return json_string_or(entry, "role", "");
	if (text_begins(s, "actor:"))
		s += 6;
	if (text_begins(s, "team:"))
		s += 5;
	return s;
}

static const struct agent_card *
card_named(const struct agent_cards *cards, const char *name)
{
	for (size_t i = 0; cards != NULL && name != NULL && i < cards->count;
	     i++)
		if (strcmp(cards->list[i]->name, name) == 0)
			return cards->list[i];
	return NULL;
}

static const struct agent_card *
card_of(const struct spawn_facts *facts, struct json_object *entry)
{
	{
		const char *agent = json_string_or(entry, "agent", NULL);
		const char *role = json_string_or(entry, "role", NULL);

		/* The one that is named, or else that of the role. */
		return card_named(facts->cards, agent != NULL ? agent : role);
	}
}

static void
deny(struct spawn_verdict *v, const char *reason, char *message)
{
	v->reason = reason;
	v->message = message;
}

/* --- the rules, each of which may deny it ------------------------------ */

static const char *
outside_of(char *const *paths)
{
	for (; paths != NULL && *paths != NULL; paths++) {
		cleanup_free char *normal = scope_path_normal(*paths);

		if (normal == NULL)
			return *paths;
	}
	return NULL;
}

static void
check_form(struct json_object *entry, struct spawn_verdict *v)
{
	static const struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = &spawn_entry_schema };
	const char *task = json_string_or(entry, "task", "");
	cleanup_strv char **paths =
	    strv_from_json(json_member(entry, "scope_paths"));
	struct err err = { 0 };

	if (schema_check(&whole, entry, "entry", &err) < 0)
		deny(v, "malformed", xstrdup(err.msg));
	else if (!is_word(json_string_or(entry, "role", "")))
		deny(v, "malformed",
		    xasprintf("role: up to %d letters, digits, '.', '_' and "
			      "'-'",
			WORD_MAX));
	else if (!is_word(group_of(entry)))
		deny(v, "malformed",
		    xasprintf("suggested_actor_id: such as team:backend, with "
			      "up to %d letters, digits, '.', '_' and '-'",
			WORD_MAX));
	else if (task[strspn(task, " \t\r\n")] == '\0')
		deny(v, "malformed", xstrdup("task: say what it is to do"));
	else if (json_object_object_get_ex(entry, "verification", NULL) &&
	    contract_validate(
		json_member(entry, "verification"), "verification", &err) < 0)
		deny(v, "malformed", xstrdup(err.msg));
	else if (outside_of(paths) != NULL)
		deny(v, "malformed",
		    xasprintf("scope_paths: %s is not below the top of the "
			      "worktree",
			outside_of(paths)));
}

/* The tools of an entry of the request: those of its card, cut down. -EINVAL:
 * it asks for more. */
static int
spawn_scope(const struct spawn_facts *facts, struct json_object *entry,
    struct tool_scope *ret_scope, struct err *err)
{
	cleanup_strv char **allow =
	    strv_from_json(json_member(entry, "toolsAllow"));
	cleanup_strv char **deny =
	    strv_from_json(json_member(entry, "toolsDeny"));

	return tool_scope_make(card_of(facts, entry),
	    json_object_object_get_ex(entry, "toolsAllow", NULL) ?
		strv_const(allow) :
		NULL,
	    strv_const(deny), ret_scope, err);
}

/* A caller cannot get more through its children than it has itself. */
static void
check_tools(
    const struct judge *j, struct json_object *entry, struct spawn_verdict *v)
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	cleanup_strv char **allow =
	    strv_from_json(json_member(entry, "toolsAllow"));
	struct err err = { 0 };

	if (spawn_scope(j->facts, entry, &scope, &err) < 0) {
		deny(v, "tools_widened", xstrdup(err.msg));
		return;
	}
	for (char **t = allow; t != NULL && *t != NULL; t++)
		if (j->facts->tools != NULL &&
		    !tool_scope_permits(j->facts->tools, *t)) {
			deny(v, "tools_widened",
			    xasprintf(
				"you do not have the tool %s yourself", *t));
			return;
		}
}

static void
check_scope(
    const struct judge *j, struct json_object *entry, struct spawn_verdict *v)
{
	cleanup_strv char **paths =
	    strv_from_json(json_member(entry, "scope_paths"));

	if (j->facts->scope_paths == NULL)
		return;
	for (char **p = paths; p != NULL && *p != NULL; p++) {
		cleanup_free char *normal = scope_path_normal(*p);

		if (scope_path_within(j->facts->scope_paths, normal))
			continue;
		deny(v, "policy_violation",
		    xasprintf("you may not change %s yourself", *p));
		return;
	}
}

static void
check_room(const struct judge *j, struct spawn_verdict *v)
{
	const struct spawn_facts *f = j->facts;

	if (f->at_work + j->accepted >= f->max_concurrent)
		deny(v, "resource_exhausted",
		    xasprintf("no more than %zu spawned agents may be at work",
			f->max_concurrent));
	else if (f->children + j->accepted >= f->max_children)
		deny(v, "resource_exhausted",
		    xasprintf("no more than %zu of your agents may be at work",
			f->max_children));
}

/* --- the whole --------------------------------------------------------- */

static char *
name_for(const struct judge *j, struct json_object *entry)
{
	for (int n = 1;; n++) {
		char *actor = xasprintf(PREFIX "%s:%s-%d", group_of(entry),
		    json_string_or(entry, "role", ""), n);

		if (!plan_has(j->facts->actors, actor) &&
		    !plan_has(j->actors, actor))
			return actor;
		free(actor);
	}
}

static void
judge_one(struct judge *j, struct json_object *entry, struct spawn_verdict *v)
{
	const struct hierarchy_place *place = &j->facts->place;
	enum hierarchy_verdict verdict = hierarchy_may_spawn(place);

	switch (verdict) {
	case HIERARCHY_ALLOW:
		break;
	case HIERARCHY_MALFORMED:
		deny(v, hierarchy_reason(verdict),
		    xasprintf("depth %d of at most %d, here %d, is no place in "
			      "the tree",
			place->depth, place->max_depth,
			place->local_max_depth));
		break;
	case HIERARCHY_GLOBAL_LIMIT:
		deny(v, hierarchy_reason(verdict),
		    xasprintf("you are at depth %d, and agents may be at most "
			      "at depth %d",
			place->depth, place->max_depth));
		break;
	case HIERARCHY_LOCAL_LIMIT:
		deny(v, hierarchy_reason(verdict),
		    xasprintf("you are at depth %d, and agents below you may "
			      "be at most at depth %d",
			place->depth, place->local_max_depth));
		break;
	}
	if (v->reason == NULL)
		check_form(entry, v);
	if (v->reason == NULL) {
		const struct spawn_facts *f = j->facts;
		const char *role = json_string_or(entry, "role", "");
		const char *agent = json_string_or(entry, "agent", NULL);

		if (strv_count(f->roles) > 0 && !plan_has(f->roles, role))
			deny(v, "policy_violation",
			    xasprintf("the role %s is not allowed here", role));
		else if (agent != NULL && card_named(f->cards, agent) == NULL)
			deny(v, "forbidden",
			    xasprintf(
				"there is no agent %s in the fleet", agent));
	}
	if (v->reason == NULL)
		check_tools(j, entry, v);
	if (v->reason == NULL)
		check_scope(j, entry, v);
	if (v->reason == NULL)
		check_room(j, v);
	if (v->reason != NULL)
		return;
	v->place = hierarchy_child(&j->facts->place,
	    (int)json_int_or(entry, "local_max_depth", 0), &v->clamped);
	v->actor = name_for(j, entry);
	strv_add(&j->actors, v->actor);
	j->accepted++;
}

void
spawn_decide(const struct spawn_facts *facts, struct json_object *requested,
    struct spawn_decision *ret)
{
	struct judge j = { .facts = facts };
	size_t count = json_object_array_length(requested);

	*ret = (struct spawn_decision){ .count = count };
	ret->agents = xcalloc(count + 1, sizeof *ret->agents);
	for (size_t i = 0; i < count; i++)
		judge_one(&j, json_object_array_get_idx(requested, i),
		    &ret->agents[i]);
	ret->accepted = j.accepted;
	strv_free(j.actors);
}

void
spawn_decision_fail(struct spawn_decision *d, const char *message)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->agents[i].reason == NULL)
			deny(&d->agents[i], "invalid_plan", xstrdup(message));
	d->accepted = 0;
}

void
spawn_decision_release(struct spawn_decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->agents[i].message);
		free(d->agents[i].actor);
	}
	free(d->agents);
	*d = (struct spawn_decision){ 0 };
}

/* The reason that all of them have; NULL = there are several. */
static const char *
common_reason(const struct spawn_decision *d)
{
	for (size_t i = 1; i < d->count; i++)
		if (strcmp(d->agents[i].reason, d->agents[0].reason) != 0)
			return NULL;
	return d->count > 0 ? d->agents[0].reason : NULL;
}

static bool
is_depth(const char *reason)
{
	return reason != NULL &&
	    (strcmp(reason, "depth_limit_exceeded") == 0 ||
		strcmp(reason, "local_limit_exceeded") == 0);
}

const char *
spawn_decision_reason(const struct spawn_decision *d)
{
	const char *reason;

	if (d->accepted == d->count)
		return NULL;
	if (d->accepted > 0)
		return "some_agents_denied";
	reason = common_reason(d);
	if (is_depth(reason))
		return "all_requests_exceed_depth_limit";
	return reason != NULL ? reason : "all_requests_denied";
}

const char *
spawn_decision_message(const struct spawn_decision *d)
{
	if (d->accepted == d->count)
		return NULL;
	return d->accepted > 0 ? "some agents were denied" :
				 "all requested agents were denied";
}

const char *
spawn_decision_suggestion(const struct spawn_decision *d)
{
	const char *reason;

	if (d->accepted == d->count)
		return NULL;
	reason = d->accepted == 0 ? common_reason(d) : NULL;
	if (is_depth(reason))
		return "Complete the task yourself, or call plan_review_needed "
		       "to have the plan revised.";
	if (text_is(reason, "resource_exhausted"))
		return "Do the work yourself, or ask again when one of the "
		       "agents has ended.";
	return "Correct what the messages name and ask again for those agents, "
	       "or do their work yourself.";
}

/* --- the record ------------------------------------------------------ */

struct json_object *
spawn_denied_agents(
    const struct spawn_decision *d, struct json_object *requested)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < d->count; i++) {
		struct json_object *one;

		if (d->agents[i].reason == NULL)
			continue;
		one = json_object_new_object();
		json_set_string(one, "role",
		    json_string_or(
			json_object_array_get_idx(requested, i), "role", ""));
		json_set_string(one, "reason", d->agents[i].reason);
		json_set_string(one, "message", d->agents[i].message);
		json_object_array_add(list, one);
	}
	return list;
}

/* NULL for "", so that it is not set. */
static void
set(char **to, struct json_object *entry, const char *key)
{
	const char *text = json_string_or(entry, key, "");

	xstrset(to, *text == '\0' ? NULL : text);
}

/* What the request and the card say, and what the caller does not have either.
 * All of it is kept: a card that is removed later gives nothing back. */
static void
set_tools(struct task_launch *launch, const struct spawn_facts *facts,
    struct json_object *entry)
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	const struct tool_scope *own = facts->tools;

	launch->tools_deny = strv_from_json(json_member(entry, "toolsDeny"));
	launch->tools_scoped =
	    json_object_object_get_ex(entry, "toolsAllow", NULL);
	if (launch->tools_scoped)
		launch->tools_allow =
		    strv_from_json(json_member(entry, "toolsAllow"));
	if (spawn_scope(facts, entry, &scope, NULL) < 0)
		return;
	for (char **t = own != NULL ? own->deny : NULL; t != NULL && *t != NULL;
	     t++)
		if (!plan_has(launch->tools_deny, *t))
			strv_add(&launch->tools_deny, *t);
	if (launch->tools_scoped || (scope.all && (own == NULL || own->all)))
		return;
	launch->tools_scoped = true;
	for (char **t = scope.all ? own->allow : scope.allow;
	     t != NULL && *t != NULL; t++)
		if (own == NULL || tool_scope_permits(own, *t))
			strv_add(&launch->tools_allow, *t);
}

/* Has it a tool for changing files? What a shell can do is not asked. */
static bool
can_edit(const struct task_launch *launch)
{
	static const char *const tools[] = { "Edit", "Write", "MultiEdit",
		"NotebookEdit" };

	for (size_t i = 0; i < nitems(tools); i++)
		if ((!launch->tools_scoped ||
			plan_has(launch->tools_allow, tools[i])) &&
		    !plan_has(launch->tools_deny, tools[i]))
			return true;
	return false;
}

struct task_launch *
spawn_launch(const struct spawn_facts *facts, const struct spawn_verdict *v,
    struct json_object *entry)
{
	struct task_launch *launch = schema_new(&task_launch_schema);
	struct json_object *contract = NULL;

	xstrset(&launch->actor, v->actor);
	launch->depth = v->place.depth;
	launch->max_depth = v->place.max_depth;
	launch->local_max_depth = v->place.local_max_depth;
	set(&launch->role, entry, "role");
	set(&launch->label, entry, "label");
	set(&launch->agent, entry, "agent");
	set(&launch->model, entry, "model");
	set(&launch->thinking, entry, "thinking");
	launch->timeout_s = (int)json_int_or(entry, "runTimeoutSeconds", 0);
	set_tools(launch, facts, entry);
	launch->report_only = !can_edit(launch);
	launch->scope_paths = strv_from_json(json_member(entry, "scope_paths"));
	if (strv_count(launch->scope_paths) == 0) {
		strv_clear(&launch->scope_paths);
		if (facts->scope_paths != NULL)
			launch->scope_paths =
			    strv_copy(strv_const(facts->scope_paths));
	}
	launch->progress_reporting =
	    json_bool_or(entry, "progressReporting", false);
	launch->allow_partial = json_bool_or(entry, "allowPartial", false);
	if (json_object_object_get_ex(entry, "verification", &contract))
		launch->contract = json_object_get(contract);
	return launch;
}
