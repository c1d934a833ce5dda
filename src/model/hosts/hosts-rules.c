/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "hosts-rules.h"
#include "json.h"
#include "schema.h"
#include "task.h"
#include "taskfile.h"

#define BODY_MAX ((size_t)512 * 1024) /* bytes of a task's JSON */

/* --- leases --------------------------------------------------------------- */

/* The clocks of two machines do not run at the same speed, and what is begun
 * within the lease must be over within it. */
#define MARGIN_MS (HOSTS_LEASE_MS * 15 / 100)

bool
hosts_lease_sure(int64_t asked_ms, int64_t now_ms)
{
	return asked_ms > 0 && now_ms >= asked_ms &&
	    now_ms - asked_ms < HOSTS_LEASE_MS - MARGIN_MS;
}

int64_t
hosts_beat_wait_ms(int64_t asked_ms, int64_t now_ms)
{
	int64_t past = now_ms - asked_ms;

	return asked_ms == 0 || past < 0 || past >= HOSTS_BEAT_MS ?
	    0 :
	    HOSTS_BEAT_MS - past;
}

int64_t
hosts_away_ms(int tries, uint32_t dice)
{
	int64_t wait = 500;

	for (int i = 0; i < tries && wait < 30 * 1000; i++)
		wait *= 2;
	if (wait > 30 * 1000)
		wait = 30 * 1000;
	return wait / 2 + (int64_t)(dice % (uint32_t)(wait / 2 + 1));
}

/* --- a task that is shared ------------------------------------------------ */

const char *const row_state_words[] = {
	[ROW_QUEUED] = "queued",
	[ROW_CLAIMED] = "claimed",
	[ROW_READY] = "ready",
	[ROW_LANDED] = "landed",
	[ROW_ENDED] = "done",
	[ROW_FAILED] = "failed",
	[ROW_DROPPED] = "dropped",
	[ROW_HELD] = "held",
	[ROW_STATE_COUNT] = NULL,
};

const char *const share_step_words[] = {
	[SHARE_NEW] = "new",
	[SHARE_OUT] = "out",
	[SHARE_HELD] = "held",
	[SHARE_AWAY] = "away",
	[SHARE_READY] = "ready",
	[SHARE_FINISH] = "finish",
	[SHARE_BACK] = "back",
	[SHARE_DROP] = "drop",
	[SHARE_LOST] = "lost",
	[SHARE_STEP_COUNT] = NULL,
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct share, key, member, ##__VA_ARGS__)

static const struct schema_field share_fields[] = {
	FIELD("id", id),
	FIELD("task", task),
	FIELD("owner", owner),
	FIELD("host", host),
	FIELD("step", step, .words = share_step_words),
	FIELD("fence", fence),
	FIELD("prio", prio),
	FIELD("state", state),
	FIELD("result", result),
	FIELD("commit_id", commit),
	FIELD("head", head),
	FIELD("from_ref", from_ref),
	FIELD("words", words),
	FIELD("asks", asks),
	FIELD("withheld", withheld),
};
const struct schema share_schema = SCHEMA_OF(struct share, share_fields);

bool
hosts_commit_is(const char *text)
{
	size_t len = strlen(text);

	return (len == 40 || len == 64) &&
	    strspn(text, "0123456789abcdef") == len;
}

char *
share_id(const char *host, const char *task)
{
	return strchr(task, '-') != NULL ? xstrdup(task) :
					   xasprintf("%s-%s", task, host);
}

static bool
is_same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Is the claim that the row has this one of ours? */
static bool
is_ours(const struct share *share, const struct share_row *row, const char *me,
    const char *boot)
{
	return is_same(row->host, me) && is_same(row->boot, boot) &&
	    (share == NULL || share->fence == row->fence ||
		share->step == SHARE_OUT || share->step == SHARE_AWAY ||
		share->step == SHARE_NEW);
}

enum share_news
share_judge(const struct share *share, const struct share_row *row,
    const char *me, const char *boot)
{
	bool own = is_same(row->owner, me);
	bool holds = share != NULL &&
	    (share->step == SHARE_HELD || share->step == SHARE_READY);
	bool ours = is_ours(share, row, me, boot);

	/* What is to be told is told first; the answer says what became of
	 * it. */
	if (share != NULL &&
	    (share->step == SHARE_FINISH || share->step == SHARE_DROP ||
		share->step == SHARE_LOST || share->step == SHARE_BACK))
		return SHARE_SAME;
	switch (row->state) {
	case ROW_QUEUED:
		if (holds) /* given back after all, or stolen */
			return row->fence > share->fence ? SHARE_IS_LOST :
							   SHARE_SAME;
		return own && share != NULL && share->step != SHARE_OUT ?
		    SHARE_IS_OUT :
		    SHARE_SAME;
	case ROW_CLAIMED:
		if (ours && holds)
			return share->step == SHARE_READY ? SHARE_EJECTED :
							    SHARE_SAME;
		if (ours)
			return SHARE_IS_OURS;
		if (holds)
			return row->fence >= share->fence ? SHARE_IS_LOST :
							    SHARE_SAME;
		return own && share != NULL ? SHARE_IS_AWAY : SHARE_SAME;
	case ROW_READY:
		if (ours && (holds || share == NULL))
			return SHARE_SAME;
		if (holds)
			return row->fence > share->fence ? SHARE_IS_LOST :
							   SHARE_SAME;
		return own && share != NULL ? SHARE_IS_AWAY : SHARE_SAME;
	case ROW_LANDED:
	case ROW_ENDED:
	case ROW_FAILED:
		/* Its runner knows how it ended, unless somebody else ended
		 * it: then what is here stops first. */
		if (holds && row->fence != share->fence)
			return SHARE_IS_LOST;
		if (own && share != NULL)
			return SHARE_HAS_ENDED;
		if (holds)
			return ours && row->state == ROW_LANDED ?
			    SHARE_HAS_ENDED :
			    SHARE_IS_LOST;
		return SHARE_SAME;
	case ROW_DROPPED:
		return holds ? SHARE_IS_LOST : SHARE_SAME;
	case ROW_HELD:
		if (holds)
			return SHARE_IS_LOST;
		return own && share != NULL ? SHARE_IS_HELD : SHARE_SAME;
	case ROW_STATE_COUNT:
		break;
	}
	return SHARE_SAME;
}

enum share_repair
share_compare(const struct share *share, const struct share_row *row,
    const char *me, const char *boot)
{
	bool own = is_same(share->owner, me);

	switch (share->step) {
	case SHARE_OUT:
	case SHARE_AWAY:
		return row == NULL ? SHARE_REPUBLISH : SHARE_FITS;
	case SHARE_HELD:
	case SHARE_READY:
	case SHARE_BACK:
	case SHARE_FINISH:
		if (row == NULL)
			return share->step == SHARE_FINISH && own ?
			    SHARE_FORGET :
			    own ? SHARE_REPUBLISH :
				  SHARE_RESTORE;
		if (row->fence < share->fence && row->state < ROW_LANDED)
			return SHARE_RESTORE;
		return share->step == SHARE_READY &&
			row->state == ROW_CLAIMED &&
			row->fence == share->fence && is_same(row->host, me) &&
			is_same(row->boot, boot) ?
		    SHARE_RESUBMIT :
		    SHARE_FITS;
	case SHARE_DROP:
		return row == NULL ? SHARE_FORGET : SHARE_FITS;
	case SHARE_NEW:
	case SHARE_LOST:
	case SHARE_STEP_COUNT:
		break;
	}
	return SHARE_FITS;
}

/* --- a task as JSON ----------------------------------------------- */

/* What a runner needs, and what an owner needs to know of the end. */
static const char *const body_keys[] = { "title", "text", "label", "priority",
	"maker", "sandbox", "key", "fixes", "landed_before", "advice", "reason",
	"last_words", "attempts", "attempts_allowed", "turns_before", "tokens",
	"run", NULL };
static const char *const result_keys[] = { "outcome", "reason", "last_words",
	"worker", "attempts", "turns", "turns_before", "nudges", "assigned_ms",
	"tokens", "lines_known", "lines_added", "lines_removed", "weakens",
	"commit", "move", "held_by", "dropped", "run", NULL };

static char *
print_some(const struct task *t, const char *const *keys)
{
	cleanup_json struct json_object *all = task_to_json(t);
	cleanup_json struct json_object *some = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *value;

	for (; *keys != NULL; keys++)
		if (json_object_object_get_ex(all, *keys, &value))
			json_set(some, *keys, json_object_get(value));
	json_print(some, false, &text);
	return text.len > BODY_MAX ? NULL : buf_take(&text);
}

char *
share_body(const struct task *task)
{
	return print_some(task, body_keys);
}

char *
share_result(const struct task *task)
{
	return print_some(task, result_keys);
}

struct task *
share_read(const char *id, const char *text)
{
	cleanup_json struct json_object *json = NULL;
	struct task *t = NULL;

	if (text == NULL ||
	    json_parse(text, strlen(text), BODY_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return NULL;
	json_set_string(json, "id", id);
	return task_from_json(json, "", &t, NULL) < 0 ? NULL : t;
}

/* --- what a host has, and what a task wants ----------------------- */

static void
add(char ***list, const char *kind, const char *name)
{
	cleanup_free char *word = xasprintf("%s%s", kind, name);

	if (task_want_is(word) && !strv_has(strv_const(*list), word))
		strv_add(list, word);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **
hosts_words(const struct hosts_facts *facts)
{
	char **list = NULL;
	int64_t gib = facts->memory / ((int64_t)1024 * 1024 * 1024);

	add(&list, "host:", facts->host);
	for (char *const *s = facts->agents; s != NULL && *s != NULL; s++)
		add(&list, "agent:", *s);
	for (const char *const *s = facts->boxes; s != NULL && *s != NULL; s++)
		add(&list, "sandbox:", *s);
	for (const char *const *s = facts->more; s != NULL && *s != NULL; s++)
		add(&list, "", *s);
	for (int64_t n = 1; n <= gib && n <= 65536; n *= 2) {
		cleanup_free char *number = xasprintf("%" PRId64, n);

		add(&list, "memory:", number);
	}
	if (list != NULL)
		qsort(list, strv_count(list), sizeof *list, compare);
	return list;
}

char **
share_wants(const struct task *task)
{
	char **list = NULL;

	for (char *const *s = task->launch.wants; s != NULL && *s != NULL; s++)
		add(&list, "", *s);
	if (task->sandbox != NULL)
		add(&list, "sandbox:", task->sandbox);
	if (task->launch.agent != NULL)
		add(&list, "agent:", task->launch.agent);
	if (task_is_spawned(task)) /* its tools: goals are on */
		add(&list, "", HOSTS_TEAM);
	return list;
}

bool
share_stays(const struct task *task)
{
	return task->step != TASK_WAITING || task->conversation != NULL ||
	    task->from != NULL ||
	    (task_is_spawned(task) && task->attempt.has_spawned);
}
