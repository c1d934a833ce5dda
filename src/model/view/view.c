/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ask.h"
#include "attempt.h"
#include "behaviour.h"
#include "event.h"
#include "metrics.h"
#include "moment.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "plan.h"
#include "schema.h"
#include "task.h"
#include "view-private.h"
#include "view.h"
#include "work-record.h"
#include "worker.h"

const struct view_section view_sections[] = {
	{ "head", false },
	{ "needs", true },
	{ "workers", true },
	{ "tasks", true },
	{ "todo", true },
	{ "ended", true },
	{ "landing", true },
	{ "goals", true },
	{ "asks", true },
	{ "repairs", true },
	{ VIEW_HOSTS, true },
	{ "team", false },
	{ "budget", false },
	{ NULL, false },
};

struct json_object *
view_new(void)
{
	struct json_object *view = json_object_new_object();

	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		json_set(view, s->name, json_object_new_object());
	json_set(view, VIEW_EVENTS, json_object_new_array());
	return view;
}

struct json_object *
view_complete(struct json_object *view)
{
	if (!json_object_is_type(view, json_type_object)) {
		json_object_put(view);
		return view_new();
	}
	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		if (!json_object_is_type(
			view_of(view, s->name), json_type_object))
			json_set(view, s->name, json_object_new_object());
	if (!json_object_is_type(view_of(view, VIEW_EVENTS), json_type_array))
		json_set(view, VIEW_EVENTS, json_object_new_array());
	return view;
}

bool
view_wants(struct json_object *sections, const char *section)
{
	size_t count =
	    sections != NULL ? json_object_array_length(sections) : 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(sections, i)),
			section) == 0)
			return true;
	return sections == NULL;
}

void
view_keep(struct json_object *view, struct json_object *sections)
{
	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		if (!view_wants(sections, s->name))
			json_object_object_del(view, s->name);
	if (!view_wants(sections, VIEW_EVENTS))
		json_object_object_del(view, VIEW_EVENTS);
	/* Without a fleet there is nothing of it. */
	if (view_of(view, VIEW_HOSTS) != NULL &&
	    json_object_object_length(view_of(view, VIEW_HOSTS)) == 0)
		json_object_object_del(view, VIEW_HOSTS);
}

struct json_object *
view_of(struct json_object *view, const char *section)
{
	return json_member(view, section);
}

struct json_object *
view_row(struct json_object *view, const char *section, const char *key)
{
	return json_member(view_of(view, section), key);
}

bool
view_is(struct json_object *row, const char *member, const char *word)
{
	return strcmp(json_string_or(row, member, ""), word) == 0;
}

void
view_add_rows(struct json_object *rows, struct json_object *more)
{
	JSON_MEMBERS (it, more)
		json_set(rows, it.key, json_object_get(it.val));
}

void
view_pick(struct json_object *row, struct json_object *from,
    const char *const *members)
{
	for (; *members != NULL; members++)
		json_set(row, *members,
		    json_object_get(json_member(from, *members)));
}

static struct json_object *
brief_row(struct json_object *row)
{
	static const char *const details[] = { "history", "last_words",
		"completion", "progress", "nodes" };
	struct json_object *brief = json_object_new_object();

	view_add_rows(brief, row);
	for (size_t i = 0; i < nitems(details); i++)
		json_object_object_del(brief, details[i]);
	return brief;
}

struct json_object *
view_brief(struct json_object *sections)
{
	struct json_object *brief = json_object_new_object();

	json_object_object_foreach(sections, name, rows)
	{
		struct json_object *to;

		if (strcmp(name, "tasks") != 0 && strcmp(name, "ended") != 0 &&
		    strcmp(name, "goals") != 0) {
			json_set(brief, name, json_object_get(rows));
			continue;
		}
		to = json_object_new_object();
		json_set(brief, name, to);
		JSON_MEMBERS (it, rows)
			json_set(to, it.key, brief_row(it.val));
	}
	return brief;
}

/* --- what has changed ------------------------------------------------ */

/* The rows that are new or different. */
static struct json_object *
new_rows(struct json_object *before, struct json_object *after)
{
	struct json_object *rows = json_object_new_object();

	JSON_MEMBERS (it, after) {
		struct json_object *old = NULL;

		if (!json_object_object_get_ex(before, it.key, &old) ||
		    !json_object_equal(old, it.val))
			json_set(rows, it.key, json_object_get(it.val));
	}
	return rows;
}

/* The keys of those that are gone. */
static struct json_object *
lost_rows(struct json_object *before, struct json_object *after)
{
	struct json_object *keys = json_object_new_array();

	JSON_MEMBERS (it, before)
		if (!json_object_object_get_ex(after, it.key, NULL))
			json_object_array_add(
			    keys, json_object_new_string(it.key));
	return keys;
}

/* Adds it unless it is empty; takes it. */
static void
set_filled(
    struct json_object *change, const char *key, struct json_object *value)
{
	size_t count = json_object_is_type(value, json_type_array) ?
	    json_object_array_length(value) :
	    (size_t)json_object_object_length(value);

	if (count > 0)
		json_set(change, key, value);
	else
		json_object_put(value);
}

static struct json_object *
new_events(struct json_object *before, struct json_object *after)
{
	struct json_object *list = json_object_new_array();
	size_t count = json_object_array_length(before);
	int64_t last = count > 0 ?
	    json_int_or(json_object_array_get_idx(before, count - 1), "n", 0) :
	    0;

	JSON_EACH (event, after)
		if (json_int_or(event, "n", 0) > last)
			json_object_array_add(list, json_object_get(event));
	return list;
}

struct json_object *
view_diff(struct json_object *before, struct json_object *after)
{
	struct json_object *change = json_object_new_object();
	struct json_object *set = json_object_new_object();
	struct json_object *unset = json_object_new_object();
	cleanup_json struct json_object *none = json_object_new_object();

	for (const struct view_section *s = view_sections; s->name != NULL;
	     s++) {
		struct json_object *old = view_of(before, s->name);
		struct json_object *now = view_of(after, s->name);

		old = old != NULL ? old : none;
		now = now != NULL ? now : none;

		if (s->map) {
			set_filled(set, s->name, new_rows(old, now));
			set_filled(unset, s->name, lost_rows(old, now));
		} else if (!json_object_equal(old, now)) {
			json_set(set, s->name, json_object_get(now));
		}
	}
	set_filled(change, "set", set);
	set_filled(change, "unset", unset);
	set_filled(change, VIEW_EVENTS,
	    new_events(
		view_of(before, VIEW_EVENTS), view_of(after, VIEW_EVENTS)));
	if (json_object_object_length(change) > 0)
		return change;
	json_object_put(change);
	return NULL;
}

/* --- making a change ------------------------------------------------- */

static const struct view_section *
find_section(const char *name)
{
	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static int
apply_set(struct json_object *view, struct json_object *set)
{
	JSON_MEMBERS (it, set) {
		const struct view_section *s = find_section(it.key);
		struct json_object *rows = view_of(view, it.key);

		if (s == NULL) /* of a later version */
			continue;
		if (rows == NULL ||
		    !json_object_is_type(it.val, json_type_object))
			return -EINVAL;
		if (s->map)
			view_add_rows(rows, it.val);
		else
			json_set(view, s->name, json_object_get(it.val));
	}
	return 0;
}

static int
apply_unset(struct json_object *view, struct json_object *unset)
{
	JSON_MEMBERS (it, unset) {
		const struct view_section *s = find_section(it.key);
		struct json_object *rows = view_of(view, it.key);

		if (s == NULL)
			continue;
		if (!s->map || rows == NULL ||
		    !json_object_is_type(it.val, json_type_array))
			return -EINVAL;
		JSON_EACH (key, it.val) {
			if (!json_object_is_type(key, json_type_string))
				return -EINVAL;
			json_object_object_del(
			    rows, json_object_get_string(key));
		}
	}
	return 0;
}

int
view_apply(struct json_object *view, struct json_object *change)
{
	struct json_object *set = json_member(change, "set");
	struct json_object *unset = json_member(change, "unset");
	struct json_object *events = json_member(change, VIEW_EVENTS);
	int r = 0;

	if ((set != NULL && !json_object_is_type(set, json_type_object)) ||
	    (unset != NULL && !json_object_is_type(unset, json_type_object)) ||
	    (events != NULL && !json_object_is_type(events, json_type_array)))
		return -EINVAL;
	if (set != NULL)
		r = apply_set(view, set);
	if (r == 0 && unset != NULL)
		r = apply_unset(view, unset);
	if (r == 0 && events != NULL) {
		struct json_object *list = view_of(view, VIEW_EVENTS);
		size_t count;

		JSON_EACH (row, events)
			json_object_array_add(list, json_object_get(row));
		count = json_object_array_length(list);
		if (count > VIEW_EVENTS_MAX)
			json_object_array_del_idx(
			    list, 0, count - VIEW_EVENTS_MAX);
	}
	return r;
}

#define PRIME          UINT64_C(1099511628211)
#define VIEW_MARK_INIT UINT64_C(14695981039346656037)

/* FNV-1a */
static void
view_mark_bytes(uint64_t *mark, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		*mark = (*mark ^ at[i]) * PRIME;
}

static void
view_mark_int(uint64_t *mark, int64_t number)
{
	view_mark_bytes(mark, &number, sizeof number);
}

static void
view_mark_text(uint64_t *mark, const char *text, size_t max)
{
	size_t len = text != NULL ? strnlen(text, max) : 0;

	view_mark_int(mark, text != NULL ? (int64_t)len : -1);
	view_mark_bytes(mark, text != NULL ? text : "", len);
}

static uint64_t
view_mark_end(uint64_t mark)
{
	return mark != 0 ? mark : 1;
}

static const char *
worker_of(const struct plan_node *node)
{
	return plan_node_is_assigned(node) ? node->work.worker : NULL;
}

static struct json_object *
node_row(const struct plan_node *node)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "id", node->id);
	json_set_string(row, "parent", node->parent_id);
	json_set_string(row, "kind", node_kind_name(node->kind));
	view_row_line(row, "title", node->name, VIEW_TITLE_MAX);
	json_set_string(row, "status", node_status_name(node->status));
	json_set_string(row, "worker", worker_of(node));
	view_row_line(row, "reason", node->blocked_reason, VIEW_TITLE_MAX);
	return row;
}

static void
add_nodes(struct json_object *list, struct plan_node *const *nodes,
    size_t count, size_t room)
{
	for (size_t i = 0; i < count; i++) {
		if (json_object_array_length(list) >= room)
			return;
		json_object_array_add(list, node_row(nodes[i]));
		add_nodes(
		    list, nodes[i]->children, nodes[i]->child_count, room);
	}
}

struct json_object *
view_goal_row(const struct plan *plan, size_t room)
{
	struct plan_summary s = plan_summary(plan, NULL);
	struct json_object *row = json_object_new_object();
	struct json_object *nodes = json_object_new_array();

	json_set_string(row, "id", plan->goal->id);
	view_row_line(row, "title", plan->goal->title, VIEW_TITLE_MAX);
	json_set_string(row, "status", goal_status_name(plan->goal->status));
	json_set_int(row, "done", (int64_t)s.leaves[NODE_DONE]);
	json_set_int(row, "total", (int64_t)s.total);
	json_set_int(row, "ready", (int64_t)s.ready);
	json_set_int(row, "blocked", (int64_t)s.leaves[NODE_BLOCKED]);
	json_set_int(row, "percent", s.percent);
	add_nodes(nodes, plan->phases, plan->phase_count,
	    room < VIEW_NODES_MAX ? room : VIEW_NODES_MAX);
	json_set_int(row, "nodes_more",
	    (int64_t)(plan->count - json_object_array_length(nodes)));
	json_set(row, "nodes", nodes);
	return row;
}

/* A text is cut between characters, so a few bytes more count. */
#define MARK_MAX (VIEW_WORDS_MAX + 4)

uint64_t
view_goal_mark(const struct plan *plan, size_t room)
{
	uint64_t mark = VIEW_MARK_INIT;

	view_mark_int(
	    &mark, (int64_t)(room < VIEW_NODES_MAX ? room : VIEW_NODES_MAX));
	view_mark_text(&mark, plan->goal->id, MARK_MAX);
	view_mark_text(&mark, plan->goal->title, MARK_MAX);
	view_mark_int(&mark, plan->goal->status);
	view_mark_int(&mark, plan->goal->version);
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_node *node = plan->nodes[i];

		view_mark_text(&mark, node->id, MARK_MAX);
		view_mark_text(&mark, node->parent_id, MARK_MAX);
		view_mark_int(&mark, node->order);
		view_mark_int(&mark, node->status);
		view_mark_int(&mark, node->updated_ms);
		view_mark_text(&mark, node->name, MARK_MAX);
		view_mark_text(&mark, worker_of(node), MARK_MAX);
		view_mark_text(&mark, node->blocked_reason, MARK_MAX);
	}
	return view_mark_end(mark);
}

/* --- members --------------------------------------------------------- */

void
view_row_text(
    struct json_object *row, const char *key, const char *text, size_t max)
{
	size_t len = text != NULL ? text_cut(text, strlen(text), max) : 0;

	json_set(row, key,
	    text != NULL ? json_object_new_string_len(text, (int)len) : NULL);
}

void
view_row_line(
    struct json_object *row, const char *key, const char *text, size_t max)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (text != NULL)
		text_add_line(&line, text, strlen(text));
	view_row_text(row, key, text != NULL ? line.data : NULL, max);
}

void
view_row_moment(struct json_object *row, const char *key, int64_t at_ms)
{
	json_set(
	    row, key, at_ms > 0 ? json_object_new_int64(at_ms / 1000) : NULL);
}

void
view_row_cost(struct json_object *row, const struct spent *spent)
{
	enum cost_source source = spent_source(spent);

	json_set(row, "cost_micros",
	    source == COST_UNKNOWN ? NULL : json_object_new_int64(spent->cost));
	json_set_string(row, "cost_source", cost_source_words[source]);
}

static void
set_spent(struct json_object *row, const struct task *task)
{
	const struct usage *usage;
	struct json_object *tokens;
	int64_t sums[USAGE_KINDS] = { 0 };

	view_row_cost(row, &task->spent);
	usage = &task->spent.usage;
	tokens = json_object_new_object();
	for (size_t m = 0; m < usage->count; m++)
		for (int k = 0; k < USAGE_KINDS; k++)
			sums[k] += usage->models[m].tokens[k];
	json_set_int(tokens, "input", sums[USAGE_INPUT]);
	json_set_int(tokens, "output", sums[USAGE_OUTPUT]);
	json_set_int(tokens, "cacheRead", sums[USAGE_CACHE_READ]);
	json_set_int(tokens, "cacheCreation",
	    sums[USAGE_CACHE_WRITE_5M] + sums[USAGE_CACHE_WRITE_1H]);
	json_set(row, "tokens", tokens);
}

/* Null if unknown. */
static void
set_lines(struct json_object *row, const struct task *task)
{
	json_set(row, "lines_added",
	    task->lines_known ? json_object_new_int64(task->lines_added) :
				NULL);
	json_set(row, "lines_removed",
	    task->lines_known ? json_object_new_int64(task->lines_removed) :
				NULL);
}

/* --- a worker -------------------------------------------------------- */

void
view_row_remark(const struct worker *w, struct buf *out)
{
	cleanup_buf struct buf advice = BUF_INIT;
	unsigned holds = worker_holds(w);

	if (w->asks_id != NULL)
		buf_addf(out, "asks: %s%s%s%s", w->asks,
		    w->asks_person ? "; answer with: llmc answer " :
				     " (another agent)",
		    w->asks_person ? w->asks_id : "",
		    w->asks_person ? " TEXT" : "");
	else if (w->reason != NULL) {
		if (w->status == WORKER_ERROR)
			worker_add_advice(w, &advice);
		buf_addf(out, "%s%s%s", w->reason, advice.len > 0 ? "; " : "",
		    advice.data);
	} else if (w->on_hold)
		buf_addf(out, "%s; continue with: llmc resume %s",
		    worker_in_turn(w->status) || w->status == WORKER_STARTING ?
			"pauses at the end of its turn" :
			"on hold",
		    w->name);
	else if (!worker_is_auto(w->name))
		worker_add_advice(w, out);
	else if (w->health != NULL && strcmp(w->health, "healthy") != 0)
		buf_addf(out,
		    "oversight says %s%s%s; look at it with: llmc task iterations %s",
		    w->health, w->finding != NULL ? ": " : "",
		    w->finding != NULL ? w->finding : "", w->name);
	if ((holds & (holds - 1)) != 0) { /* more than one */
		buf_adds(out, " (paused for: ");
		worker_add_holds(holds, out);
		buf_addc(out, ')');
	}
}

const char *
view_row_status(struct json_object *row)
{
	const char *status = json_string_or(row, "status", "-");
	struct json_object *asks = json_member(row, "asks");

	return json_bool_or(asks, "person", false) &&
		strcmp(status, worker_status_name(WORKER_WAITING)) == 0 ?
	    WORKER_WAITS_FOR_YOU :
	    status;
}

#define WORKER(key, member, ...) \
	SCHEMA_FIELD(struct worker, key, member, ##__VA_ARGS__)

static const struct schema_field worker_fields[] = {
	WORKER("name", name),
	WORKER("since_unix", since_ms, .flags = SCHEMA_UNIX),
	WORKER("branch", branch),
	WORKER("worktree", worktree),
	WORKER("index", index),
	WORKER("clone", clone),
	WORKER("task", task),
	WORKER("prompt", prompt, .flags = SCHEMA_LINE, .max = VIEW_TITLE_MAX),
	WORKER("prompt_command", prompt_command),
	WORKER("reason", reason, .flags = SCHEMA_LINE, .max = VIEW_REMARK_MAX),
	WORKER("on_hold", on_hold),
	WORKER("until_unix", until_ms, .flags = SCHEMA_UNIX),
	WORKER("session", session.id),
	WORKER("commit", commit),
	WORKER("reviewed", reviewed),
	WORKER("health", health),
	WORKER("finding", finding),
	WORKER("conflicts", conflicts),
};
static const struct schema worker_schema =
    SCHEMA_OF(struct worker, worker_fields);

#define RUN(key, member) SCHEMA_FIELD(struct task_launch, key, member)

static const struct schema_field run_fields[] = {
	RUN("parent", parent),
	RUN("role", role),
	RUN("depth", depth),
};
static const struct schema run_schema =
    SCHEMA_OF(struct task_launch, run_fields);

struct json_object *
view_row_worker(const struct worker *w, const struct task *task)
{
	struct json_object *row = schema_json(&worker_schema, w);
	cleanup_buf struct buf remark = BUF_INIT;
	const char *title;
	struct json_object *asks = NULL;

	json_set_string(row, "mode", metrics_modes[metrics_mode_of(w->name)]);
	json_set_string(row, "status", worker_shown_status(w));
	json_set_bool(row, "has_session", w->session.pane != NULL);
	/* Of its task, or its prompt. */
	title = task != NULL ? task->title : NULL;
	view_row_line(
	    row, "title", title != NULL ? title : w->prompt, VIEW_TITLE_MAX);
	view_row_remark(w, &remark);
	view_row_line(row, "remark", remark.len > 0 ? remark.data : NULL,
	    VIEW_REMARK_MAX);
	json_set(row, "paused_for", worker_holds_to_json(worker_holds(w)));
	/* What it waits for an answer to; null = nothing. */
	if (w->asks_id != NULL) {
		asks = json_object_new_object();
		json_set_string(asks, "id", w->asks_id);
		view_row_line(asks, "text", w->asks, VIEW_REASON_MAX);
		json_set_bool(asks, "person", w->asks_person);
	}
	json_set(row, "asks", asks);
	if (task == NULL)
		return row;
	json_set_int(row, "attempt", task->attempts);
	json_set_int(row, "turns", task->turns);
	set_spent(row, task);
	set_lines(row, task);
	if (task_is_special(task))
		schema_add(&run_schema, &task->launch, row);
	return row;
}

struct json_object *
view_row_oversight(
    const struct detection *d, const char *intervention, int64_t iteration)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "detection", detection_type_words[d->type]);
	json_set_string(row, "severity", severity_words[d->severity]);
	view_row_text(row, "message", d->message, VIEW_REASON_MAX);
	json_set_string(row, "intervention", intervention);
	json_set_int(row, "iteration", iteration);
	return row;
}

/* --- a task ---------------------------------------------------------- */

/* A report may be long: its plain members, with their texts cut. */
static void
set_report(struct json_object *row, const char *key, struct json_object *report)
{
	struct json_object *brief = NULL;

	if (json_object_is_type(report, json_type_object)) {
		brief = json_object_new_object();
		JSON_MEMBERS (it, report) {
			if (json_object_is_type(it.val, json_type_string))
				view_row_text(brief, it.key,
				    json_object_get_string(it.val),
				    VIEW_WORDS_MAX);
			else if (!json_object_is_type(
				     it.val, json_type_object) &&
			    !json_object_is_type(it.val, json_type_array))
				json_set(
				    brief, it.key, json_object_get(it.val));
		}
	}
	json_set(row, key, brief);
}

#define TASK(key, member, ...) \
	SCHEMA_FIELD(struct task, key, member, ##__VA_ARGS__)
#define LINE(key, member, most) \
	TASK(key, member, .flags = SCHEMA_LINE, .max = (most))

static const struct schema_field task_fields[] = {
	TASK("id", id),
	LINE("title", title, VIEW_TITLE_MAX),
	TASK("source", source),
	LINE("key", key, VIEW_TITLE_MAX),
	TASK("label", label),
	TASK("priority", priority, .words = priority_words),
	TASK("step", step, .words = task_step_words),
	TASK("worker", worker),
	TASK("host", host, .flags = SCHEMA_OMIT_UNSET),
	TASK("attempts", attempts),
	TASK("created_unix", created_ms, .flags = SCHEMA_UNIX),
	TASK("assigned_unix", assigned_ms, .flags = SCHEMA_UNIX),
	LINE("reason", reason, VIEW_REASON_MAX),
	LINE("pull", pull, VIEW_REASON_MAX),
	TASK("pull_url", pull_url),
	TASK("run_id", run_id),
};
static const struct schema task_brief_schema =
    SCHEMA_OF(struct task, task_fields);

struct json_object *
view_row_task_brief(const struct task *task)
{
	struct json_object *row = schema_json(&task_brief_schema, task);

	json_set_int(row, "turns", task->turns_before + task->turns);
	set_spent(row, task);
	set_lines(row, task);
	if (task_is_special(task)) {
		schema_add(&run_schema, &task->launch, row);
		json_set_string(row, "label", task->launch.label);
		json_set_string(row, "verification",
		    task->attempt.verification == VERIFICATION_NONE ?
			NULL :
			verification_state_words[task->attempt.verification]);
	}
	if (task->outcome != OUTCOME_NONE) {
		int64_t wall = task->finished_ms - task->created_ms;

		json_set_string(
		    row, "outcome", task_outcome_name(task->outcome));
		json_set_string(row, "commit",
		    task->commit != NULL ? task->commit : task->held_by);
		json_set_bool(row, "dropped", task->dropped);
		json_set_bool(row, "overtaken", task->overtaken);
		view_row_moment(row, "finished_unix", task->finished_ms);
		json_set_int(row, "wall_ms", wall > 0 ? wall : 0);
	}
	return row;
}

struct json_object *
view_row_task(const struct task *task)
{
	struct json_object *row = view_row_task_brief(task);
	struct json_object *list;
	size_t count;

	view_row_text(row, "last_words", task->last_words, VIEW_WORDS_MAX);
	list = json_object_new_array();
	count =
	    task->history != NULL ? json_object_array_length(task->history) : 0;
	for (size_t i = count > VIEW_HISTORY ? count - VIEW_HISTORY : 0;
	     i < count; i++) {
		struct json_object *from =
		    json_object_array_get_idx(task->history, i);
		struct json_object *entry = json_object_new_object();

		json_set_int(entry, "at_unix", json_int_or(from, "at_unix", 0));
		json_set_string(
		    entry, "what", json_string_or(from, "what", NULL));
		view_row_line(entry, "detail",
		    json_string_or(from, "detail", NULL), VIEW_TITLE_MAX);
		json_object_array_add(list, entry);
	}
	json_set(row, "history", list);
	if (task_is_special(task)) {
		set_report(row, "completion", task->attempt.report);
		set_report(row, "progress", task->attempt.progress);
	}
	return row;
}

struct json_object *
view_row_ask(const struct ask *ask)
{
	struct json_object *row = json_object_new_object();
	struct json_object *options = json_object_new_array();
	cleanup_buf struct buf command = BUF_INIT;

	ask_command(ask, &command);
	json_set_string(row, "id", ask->id);
	json_set_string(row, "kind", ask_kind_words[ask->kind]);
	json_set_string(row, "level", escalation_level_words[ask->level]);
	json_set_string(row, "key", ask->key);
	json_set_string(row, "who", ask_subject(ask));
	view_row_line(row, "title", ask->title, VIEW_TITLE_MAX);
	view_row_text(row, "words", ask->words, VIEW_WORDS_MAX);
	json_set_string(row, "command", command.data);
	json_set_string(row, "worker", ask->worker);
	json_set_string(row, "task", ask->task);
	json_set_string(row, "goal", ask->goal);
	json_set_string(row, "node", ask->node);
	json_set_string(row, "question", ask->question);
	for (char **option = ask->options; option != NULL && *option != NULL;
	     option++)
		json_object_array_add(options, json_object_new_string(*option));
	json_set(row, "options", options);
	view_row_moment(row, "at_unix", ask->created_ms);
	return row;
}

struct json_object *
view_row_event(struct json_object *record, int64_t n)
{
	struct json_object *row, *event = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	int64_t at = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0 ||
	    !moment_parse(json_string_or(record, "timestamp", ""), &at))
		return NULL;
	event_words_of(event, &words);
	row = json_object_new_object();
	json_set_int(row, "n", n);
	json_set_int(row, "at_ms", at);
	json_set_string(row, "level", json_string_or(record, "level", NULL));
	json_set_string(row, "type", json_string_or(event, "type", NULL));
	json_set_string(
	    row, "worker", json_string_or(event, "worker_name", NULL));
	json_set_string(row, "task", json_string_or(event, "task", NULL));
	view_row_line(row, "words", words.data, VIEW_REASON_MAX);
	return row;
}

uint64_t
view_row_task_mark(const struct task *task)
{
	const char *const texts[] = { task->id, task->title, task->source,
		task->key, task->label, task->worker, task->reason,
		task->last_words, task->run_id, task->commit, task->held_by,
		task->pull, task->pull_url };
	const int64_t numbers[] = { task->priority, task->step, task->outcome,
		task->attempts, task->turns, task->turns_before,
		task->created_ms, task->assigned_ms, task->finished_ms,
		task->lines_known, task->lines_added, task->lines_removed };
	uint64_t mark = VIEW_MARK_INIT;
	const struct spent *spent;
	struct json_object *history;
	size_t count;
	struct json_object *last;

	if (task_is_special(task))
		return 0;
	for (size_t i = 0; i < nitems(texts); i++)
		view_mark_text(&mark, texts[i], MARK_MAX);
	for (size_t i = 0; i < nitems(numbers); i++)
		view_mark_int(&mark, numbers[i]);
	spent = &task->spent;
	view_mark_int(&mark, spent->cost);
	view_mark_int(&mark, spent->estimated);
	view_mark_int(&mark, spent->unpriced);
	for (size_t m = 0; m < spent->usage.count; m++)
		view_mark_bytes(&mark, spent->usage.models[m].tokens,
		    sizeof spent->usage.models[m].tokens);
	/* Entries are only added to a history, and only taken from its
	 * front. */
	history = task->history;
	count = history != NULL ? json_object_array_length(history) : 0;
	last = count > 0 ? json_object_array_get_idx(history, count - 1) : NULL;
	view_mark_int(&mark, (int64_t)count);
	view_mark_int(&mark, json_int_or(last, "at_unix", 0));
	view_mark_text(&mark, json_string_or(last, "what", NULL), MARK_MAX);
	view_mark_text(&mark, json_string_or(last, "detail", NULL), MARK_MAX);
	return view_mark_end(mark);
}
