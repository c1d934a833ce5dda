/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "contract.h"
#include "taskfile.h"
#include "work-record.h"

#define BLANKS     " \t\r\n"
#define BOM        "\xef\xbb\xbf"
#define COMMIT_MIN 7 /* digits, as git abbreviates */
#define PRIORITY   "Priority:"
#define LANDED     "Landed before:"
#define CONTRACT   "Verification:"
#define MAKER      "Added by:"
#define RESULT     "Result:"
#define RECOVERY   "Recovery:"
#define AGENT      "Agent:"
#define WANTS      "Wants:"

/* The value of the line at text, if it begins with that key. */
static char *
value_of(const char *text, const char *key)
{
	size_t len = strcspn(text, "\n"), skip = strlen(key);

	if (strncasecmp(text, key, skip) != 0)
		return NULL;
	while (skip < len && strchr(BLANKS, text[skip]) != NULL)
		skip++;
	while (len > skip && strchr(BLANKS, text[len - 1]) != NULL)
		len--;
	return xstrndup(text + skip, len - skip);
}

/* The lines of a head. Each reader gets what follows the key, and says whether
 * it is one. */

static bool
read_priority(char *value, struct task_head *head)
{
	for (char *c = value; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	return priority_parse(value, &head->priority);
}

static bool
read_commit(char *value, struct task_head *head)
{
	size_t len = strlen(value);

	if (len < COMMIT_MIN || len >= TASK_HEAD_COMMIT_SIZE ||
	    strspn(value, "0123456789abcdefABCDEF") != len)
		return false;
	memcpy(head->commit, value, len + 1);
	return true;
}

/* One that is too long fills the room, and is refused by
 * task_head_contract(). */
static bool
read_contract(char *value, struct task_head *head)
{
	if (*value != '{')
		return false;
	strlcpy(head->contract, value, sizeof head->contract);
	return true;
}

/* "NAME (MODE)". */
static bool
read_maker(char *value, struct task_head *head)
{
	char *open = strstr(value, " (");
	size_t len = strlen(value);

	if (open == NULL || value[len - 1] != ')')
		return false;
	value[len - 1] = *open = '\0';
	if (!text_is_name(value) || strlen(value) >= TASK_HEAD_MAKER_SIZE ||
	    !box_mode_parse(open + 2, &head->sandbox))
		return false;
	strlcpy(head->maker, value, sizeof head->maker);
	return true;
}

static bool
read_result(char *value, struct task_head *head)
{
	head->report = strcasecmp(value, "report") == 0;
	return head->report;
}

static bool
read_recovery(char *value, struct task_head *head)
{
	unsigned found;

	/* The first two are about workers that a person drives. */
	if (!word_find(recovery_policy_words, value, &found) ||
	    found < RECOVERY_REPLAN)
		return false;
	head->recovery = recovery_policy_words[found];
	return true;
}

static bool
read_agent(char *value, struct task_head *head)
{
	if (!text_is_name(value) || strlen(value) >= sizeof head->agent)
		return false;
	strlcpy(head->agent, value, sizeof head->agent);
	return true;
}

bool
task_want_is(const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = strlen(word);

	return len > 0 && len <= TASK_WANT_MAX &&
	    strchr(letters, word[0]) != NULL &&
	    strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789._:+-") == len;
}

bool
task_wants_read(const char *text, char ***ret_words)
{
	cleanup_strv char **words = NULL;

	for (;;) {
		cleanup_free char *word = NULL;

		text += strspn(text, BLANKS ",");
		if (*text == '\0')
			break;
		word = xstrndup(text, strcspn(text, BLANKS ","));
		if (!task_want_is(word) || strv_count(words) == TASK_WANTS_MAX)
			return false;
		text += strlen(word);
		if (!strv_has(strv_const(words), word))
			strv_add(&words, word);
	}
	*ret_words = take_ptr(&words);
	return true;
}

static bool
read_wants(char *value, struct task_head *head)
{
	cleanup_strv char **words = NULL;

	if (strlen(value) >= sizeof head->wants ||
	    !task_wants_read(value, &words) || words == NULL)
		return false;
	for (size_t i = 0; words[i] != NULL; i++) {
		strlcat(head->wants, i > 0 ? " " : "", sizeof head->wants);
		strlcat(head->wants, words[i], sizeof head->wants);
	}
	return true;
}

static const struct {
	const char *key;
	bool (*read)(char *value, struct task_head *head);
} head_lines[] = {
	{ PRIORITY, read_priority },
	{ LANDED, read_commit },
	{ CONTRACT, read_contract },
	{ MAKER, read_maker },
	{ AGENT, read_agent },
	{ RESULT, read_result },
	{ RECOVERY, read_recovery },
	{ WANTS, read_wants },
};

const char *
task_head_read(const char *text, struct task_head *ret_head)
{
	const char *at = text;
	unsigned seen = 0; /* each line counts once */
	size_t i;

	*ret_head = (struct task_head){ .priority = PRIORITY_NORMAL };
	if (text_begins(at, BOM))
		at += strlen(BOM);
	at += strspn(at, BLANKS);
	for (;;) {
		for (i = 0; i < nitems(head_lines); i++) {
			cleanup_free char *value = (seen & 1u << i) == 0 ?
			    value_of(at, head_lines[i].key) :
			    NULL;

			if (value != NULL &&
			    head_lines[i].read(value, ret_head))
				break;
		}
		if (i == nitems(head_lines))
			return seen != 0 ? at + strspn(at, BLANKS) : text;
		seen |= 1u << i;
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
}

void
task_head_write(
    const struct task_head *head, const char *prompt, struct buf *out)
{
	size_t before = out->len;
	struct task_head own;

	/* A prompt that begins like a head must not be taken for one. */
	if (head->priority != PRIORITY_NORMAL ||
	    task_head_read(prompt, &own) != prompt)
		buf_addf(out, PRIORITY " %s\n", priority_name(head->priority));
	/* Before what may be long: who reads the order of tasks reads the
	 * beginning only. */
	if (head->maker[0] != '\0')
		buf_addf(out, MAKER " %s (%s)\n", head->maker,
		    box_mode_name(head->sandbox));
	if (head->commit[0] != '\0')
		buf_addf(out, LANDED " %s\n", head->commit);
	if (head->contract[0] != '\0')
		buf_addf(out, CONTRACT " %s\n", head->contract);
	if (head->agent[0] != '\0')
		buf_addf(out, AGENT " %s\n", head->agent);
	if (head->report)
		buf_adds(out, RESULT " report\n");
	if (head->recovery != NULL)
		buf_addf(out, RECOVERY " %s\n", head->recovery);
	if (head->wants[0] != '\0')
		buf_addf(out, WANTS " %s\n", head->wants);
	if (out->len > before)
		buf_addc(out, '\n');
	buf_adds(out, prompt);
}

int
task_head_contract(const struct task_head *head,
    struct json_object **ret_contract, struct err *err)
{
	if (head->contract[0] == '\0')
		return 0;
	if (strlen(head->contract) == TASK_HEAD_CONTRACT_SIZE - 1)
		return err_set(err, -EINVAL,
		    "Verification: longer than %d bytes",
		    TASK_HEAD_CONTRACT_SIZE - 2);
	return contract_from_text(
	    head->contract, "Verification", ret_contract, err);
}

int
task_head_set_contract(
    struct task_head *head, struct json_object *contract, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (contract != NULL)
		json_print(contract, false, &text);
	if (text.len >= TASK_HEAD_CONTRACT_SIZE - 1)
		return err_set(err, -E2BIG,
		    "its contract is too long for the head of a task");
	strlcpy(head->contract, text.data, sizeof head->contract);
	return 0;
}

#define FAILED_KEY "llmc_failed"
#define LANDED_KEY "llmc_landed"

static const char *const status_words[] = {
	[TASKFILE_PENDING] = "pending",
	[TASKFILE_IN_PROGRESS] = "in_progress",
	[TASKFILE_COMPLETED] = "completed",
};

_Static_assert(
    nitems(status_words) == TASKFILE_STATUS_COUNT, "every status has its word");

void
taskfile_free(struct taskfile *task)
{
	if (task == NULL)
		return;
	free(task->id);
	free(task->subject);
	free(task->description);
	free(task->owner);
	free(task->label);
	free(task->failed);
	free(task->landed);
	strv_free(task->blocked_by);
	json_object_put(task->json);
	free(task);
}

static void
cleanup_task(struct taskfile **task)
{
	taskfile_free(*task);
}

static int
parse_text(
    struct json_object *json, const char *key, char **ret, struct err *err)
{
	const char *value = NULL;
	int r;

	r = json_get_string(json, "", key, &value, err);
	if (r == -ENOENT)
		return err_set(err, -EINVAL, "%s: is missing", key);
	if (r < 0)
		return r;
	*ret = xstrdup(value);
	return 0;
}

static int
parse_status(
    struct json_object *json, enum taskfile_status *ret_status, struct err *err)
{
	const char *word = "";
	int r;

	r = json_get_string(json, "", "status", &word, err);
	if (r == -ENOENT)
		return err_set(err, -EINVAL, "status: is missing");
	if (r < 0)
		return r;
	for (size_t i = 0; i < nitems(status_words); i++) {
		if (strcmp(word, status_words[i]) == 0) {
			*ret_status = (enum taskfile_status)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL,
	    "status: \"%.40s\" is none of pending, in_progress, completed",
	    word);
}

/* An optional array of strings; NULL if it is missing. */
static int
check_ids(struct json_object *json, const char *key,
    struct json_object **ret_array, struct err *err)
{
	struct json_object *array = NULL, *id;
	int r;

	r = json_get_array(json, "", key, &array, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		id = json_object_array_get_idx(array, i);
		if (!json_object_is_type(id, json_type_string))
			return err_set(err, -EINVAL,
			    "%s[%zu]: expected a string, found %s", key, i,
			    json_type_words(id));
	}
	if (ret_array != NULL)
		*ret_array = array;
	return 0;
}

/* An empty string counts as missing. */
static int
parse_optional(
    struct json_object *json, const char *key, char **ret, struct err *err)
{
	const char *value = NULL;
	int r;

	r = json_get_string(json, "", key, &value, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (*value != '\0')
		*ret = xstrdup(value);
	return 0;
}

/* Other programs keep their own data there: ignore whatever does not have our
 * format. */
static enum priority
parse_priority(struct json_object *metadata)
{
	struct json_object *value = json_member(metadata, "priority");
	enum priority priority = PRIORITY_NORMAL;

	if (json_object_is_type(value, json_type_int))
		return priority_from_number(json_object_get_int64(value));
	priority_parse(json_string_or(metadata, "priority", ""), &priority);
	return priority;
}

static int
parse_metadata(struct taskfile *task, struct err *err)
{
	struct json_object *metadata = json_member(task->json, "metadata");
	struct json_object *contract;

	task->priority = PRIORITY_NORMAL;
	if (!json_object_is_type(metadata, json_type_object))
		return 0;
	task->priority = parse_priority(metadata);
	parse_optional(metadata, "label", &task->label, NULL);
	parse_optional(metadata, FAILED_KEY, &task->failed, NULL);
	parse_optional(metadata, LANDED_KEY, &task->landed, NULL);
	contract = json_member(metadata, "verification");
	if (!json_object_is_type(contract, json_type_object))
		return 0;
	task->contract = contract;
	return contract_validate(contract, "metadata.verification", err);
}

int
taskfile_parse(
    const char *bytes, size_t len, struct taskfile **ret_task, struct err *err)
{
	__attribute__((cleanup(cleanup_task))) struct taskfile *task =
	    xcalloc(1, sizeof *task);
	struct json_object *ids = NULL;
	int r;

	r = json_parse(bytes, len, TASKFILE_SIZE_MAX, &task->json, err);
	if (r == 0 && !json_object_is_type(task->json, json_type_object))
		r = err_set(err, -EINVAL, "expected an object, found %s",
		    json_type_words(task->json));
	if (r == 0)
		r = parse_text(task->json, "id", &task->id, err);
	if (r == 0 && *task->id == '\0')
		r = err_set(err, -EINVAL, "id: is empty");
	if (r == 0)
		r = parse_text(task->json, "subject", &task->subject, err);
	if (r == 0)
		r = parse_text(
		    task->json, "description", &task->description, err);
	if (r == 0)
		r = parse_status(task->json, &task->status, err);
	if (r == 0)
		r = parse_optional(task->json, "owner", &task->owner, err);
	if (r == 0)
		r = check_ids(task->json, "blocks", NULL, err);
	if (r == 0)
		r = check_ids(task->json, "blockedBy", &ids, err);
	if (r < 0)
		return r;
	task->blocked_by = strv_from_json(ids);
	r = parse_metadata(task, err);
	if (r < 0)
		return r;
	*ret_task = take_ptr(&task);
	return 0;
}

struct taskfile *
taskfile_stand_in(const char *id)
{
	struct taskfile *task = xcalloc(1, sizeof *task);

	task->id = xstrdup(id);
	task->subject = xstrdup("");
	task->description = xstrdup("");
	task->status = TASKFILE_IN_PROGRESS;
	task->priority = PRIORITY_NORMAL;
	task->blocked_by = xcalloc(1, sizeof *task->blocked_by);
	return task;
}

static bool
is_completed(const char *id, struct taskfile *const *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(all[i]->id, id) == 0)
			return all[i]->status == TASKFILE_COMPLETED;
	}
	return false;
}

bool
taskfile_eligible(
    const struct taskfile *task, struct taskfile *const *all, size_t count)
{
	if (task->status != TASKFILE_PENDING || task->owner != NULL ||
	    task->failed != NULL)
		return false;
	for (char **id = task->blocked_by; *id != NULL; id++) {
		if (!is_completed(*id, all, count))
			return false;
	}
	return true;
}

/* --- circles ---------------------------------------------------------- */

/* Follows the blockers of a task, and their blockers. */
struct walk {
	const struct taskfile **by_id; /* sorted */
	size_t count;
	const struct taskfile **queue; /* tasks reached, in that order */
	size_t *from; /* index in queue of the task that it blocks */
	bool *seen; /* indexed like by_id */
	size_t end; /* of queue */
};

static int
compare_by_id(const void *a, const void *b)
{
	const struct taskfile *const *one = a, *const *other = b;

	return strcmp((*one)->id, (*other)->id);
}

static int
compare_with_id(const void *id, const void *task)
{
	const struct taskfile *const *one = task;

	return strcmp(id, (*one)->id);
}

static void
walk_init(struct walk *walk, struct taskfile *const *all, size_t count)
{
	bool sorted = true;

	walk->count = count;
	walk->by_id = xcalloc(count + 1, sizeof(struct taskfile *));
	for (size_t i = 0; i < count; i++) {
		walk->by_id[i] = all[i];
		if (i > 0 && strcmp(all[i - 1]->id, all[i]->id) > 0)
			sorted = false;
	}
	if (!sorted)
		qsort(walk->by_id, count, sizeof(struct taskfile *),
		    compare_by_id);
	walk->queue = xcalloc(count + 1, sizeof(struct taskfile *));
	walk->from = xcalloc(count + 1, sizeof *walk->from);
	walk->seen = xcalloc(count + 1, sizeof *walk->seen);
	walk->end = 0;
}

/* Index in by_id, or count. */
static size_t
walk_find(const struct walk *walk, const char *id)
{
	const struct taskfile **found = bsearch(id, walk->by_id, walk->count,
	    sizeof(struct taskfile *), compare_with_id);

	return found == NULL ? walk->count : (size_t)(found - walk->by_id);
}

/* Queue the blockers of queue[at]; true if the first task is among them. */
static bool
walk_step(struct walk *walk, size_t at)
{
	size_t found;

	for (char **id = walk->queue[at]->blocked_by; *id != NULL; id++) {
		if (strcmp(*id, walk->queue[0]->id) == 0)
			return true;
		found = walk_find(walk, *id);
		if (found == walk->count || walk->seen[found] ||
		    walk->by_id[found]->status == TASKFILE_COMPLETED)
			continue;
		walk->seen[found] = true;
		walk->queue[walk->end] = walk->by_id[found];
		walk->from[walk->end++] = at;
	}
	return false;
}

static bool
walk_circle(struct walk *walk, const struct taskfile *task, struct buf *words)
{
	size_t own = walk_find(walk, task->id);

	walk->queue[walk->end++] = task;
	if (own < walk->count)
		walk->seen[own] = true;
	for (size_t at = 0; at < walk->end; at++) {
		if (walk_step(walk, at)) {
			cleanup_free size_t *path =
			    xcalloc(walk->end + 1, sizeof *path);
			size_t steps = 0;

			for (size_t i = at; i != 0; i = walk->from[i])
				path[steps++] = i;
			buf_addf(
			    words, "waits for itself: %s", walk->queue[0]->id);
			while (steps > 0)
				buf_addf(words, " -> %s",
				    walk->queue[path[--steps]]->id);
			buf_addf(words, " -> %s", walk->queue[0]->id);
			return true;
		}
	}
	return false;
}

bool
taskfile_broken(const struct taskfile *task, struct taskfile *const *all,
    size_t count, struct buf *words)
{
	struct walk walk;
	bool broken = false;

	if (task->blocked_by[0] == NULL || task->status == TASKFILE_COMPLETED)
		return false;
	walk_init(&walk, all, count);
	for (char **id = task->blocked_by; *id != NULL && !broken; id++) {
		if (strcmp(*id, task->id) == 0 ||
		    walk_find(&walk, *id) < walk.count)
			continue;
		buf_addf(words, "waits for %s, which does not exist", *id);
		broken = true;
	}
	if (!broken)
		broken = walk_circle(&walk, task, words);
	free(walk.by_id);
	free(walk.queue);
	free(walk.from);
	free(walk.seen);
	return broken;
}

/* --- the next one ----------------------------------------------------- */

static bool
is_label_used(const char *label, struct taskfile *const *all, size_t count,
    const char *const *active)
{
	if (label == NULL)
		return false;
	for (; active != NULL && *active != NULL; active++) {
		if (strcmp(*active, label) == 0)
			return true;
	}
	for (size_t i = 0; i < count; i++) {
		if (all[i]->status == TASKFILE_IN_PROGRESS &&
		    all[i]->owner != NULL && text_is(all[i]->label, label))
			return true;
	}
	return false;
}

int
taskfile_compare_ids(const char *a, const char *b)
{
	int64_t one = 0, other = 0;

	if (text_parse_int(a, INT64_MIN, INT64_MAX, &one) &&
	    text_parse_int(b, INT64_MIN, INT64_MAX, &other) && one != other)
		return one < other ? -1 : 1;
	return strcmp(a, b);
}

/* Does it come before another, if their labels make no difference? */
static bool
comes_before(const struct taskfile *task, const struct taskfile *other)
{
	int order = priority_compare(task->priority, other->priority);

	return order != 0 ? order < 0 :
			    taskfile_compare_ids(task->id, other->id) < 0;
}

const struct taskfile *
taskfile_select(
    struct taskfile *const *all, size_t count, const char *const *active)
{
	const struct taskfile *best = NULL, *task;
	bool used, best_used = false;

	for (size_t i = 0; i < count; i++) {
		task = all[i];
		if (!taskfile_eligible(task, all, count))
			continue;
		used = is_label_used(task->label, all, count, active);
		if (best == NULL || (best_used && !used) ||
		    (used == best_used && comes_before(task, best))) {
			best = task;
			best_used = used;
		}
	}
	return best;
}

/* --- out -------------------------------------------------------------- */

/* An object, also if there was none or another value before. */
static struct json_object *
writable_metadata(struct json_object *json)
{
	struct json_object *metadata = json_member(json, "metadata");

	if (!json_object_is_type(metadata, json_type_object)) {
		metadata = json_object_new_object();
		json_set(json, "metadata", metadata);
	}
	return metadata;
}

static void
write_failed(struct json_object *json, const char *failed)
{
	struct json_object *metadata = json_member(json, "metadata");

	if (failed != NULL)
		json_set_string(writable_metadata(json), FAILED_KEY,
		    *failed == '\0' ? "failed" : failed);
	else if (json_object_is_type(metadata, json_type_object))
		json_object_object_del(metadata, FAILED_KEY);
}

static struct json_object *
copy_json(const struct taskfile *task)
{
	struct json_object *json = NULL;

	if (json_object_deep_copy(task->json, &json, NULL) == -1)
		fatalx("out of memory: a task file");
	return json;
}

void
taskfile_write(const struct taskfile *task, enum taskfile_status status,
    const char *owner, const char *failed, struct buf *out)
{
	cleanup_json struct json_object *json = copy_json(task);

	json_set_string(json, "status", status_words[status]);
	if (owner != NULL)
		json_set_string(json, "owner", owner);
	else
		json_object_object_del(json, "owner");
	write_failed(json, failed);
	json_print(json, true, out);
}

void
taskfile_write_priority(
    const struct taskfile *task, enum priority priority, struct buf *out)
{
	cleanup_json struct json_object *json = copy_json(task);

	json_set_int(
	    writable_metadata(json), "priority", priority_to_number(priority));
	json_print(json, true, out);
}

void
taskfile_write_again(
    const struct taskfile *task, const char *commit, struct buf *out)
{
	cleanup_json struct json_object *json = copy_json(task);

	json_set_string(json, "status", status_words[TASKFILE_PENDING]);
	json_object_object_del(json, "owner");
	write_failed(json, NULL);
	if (commit != NULL)
		json_set_string(writable_metadata(json), LANDED_KEY, commit);
	json_print(json, true, out);
}

void
taskfile_text(const struct taskfile *task, struct buf *out)
{
	buf_adds(out, task->subject);
	if (*task->subject != '\0' && *task->description != '\0')
		buf_adds(out, "\n\n");
	buf_adds(out, task->description);
}
