/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "schema.h"
#include "update.h"
#include "word.h"

#define MAYBE  (SCHEMA_OPTIONAL | SCHEMA_NULLABLE)
#define ID_MAX 128

static const char *const statuses[] = { "in_progress", "blocked", "done",
	NULL };

static const struct schema_field item = {
	.type = SCHEMA_STRING,
	.max = UPDATE_TEXT_MAX,
};
static const struct schema items = { .fields = &item };

#define TEXT_FIELD(key, most)                                         \
	{                                                             \
		.name = (key), .type = SCHEMA_STRING, .flags = MAYBE, \
		.max = (most)                                         \
	}
#define LIST_FIELD(key)                                              \
	{                                                            \
		.name = (key), .type = SCHEMA_ARRAY, .flags = MAYBE, \
		.of = &items, .max = UPDATE_ITEMS_MAX                \
	}

static const struct schema_field evidence_fields[] = {
	LIST_FIELD("filesTouched"),
	LIST_FIELD("commandsRun"),
	LIST_FIELD("testsRun"),
	LIST_FIELD("commits"),
	LIST_FIELD("prs"),
	LIST_FIELD("issues"),
	LIST_FIELD("externalRefs"),
	{ 0 },
};
static const struct schema evidence = { .fields = evidence_fields };

static const struct schema_field decision_fields[] = {
	SCHEMA_IS("decision", STRING, NULL, .min = 1, .max = UPDATE_TEXT_MAX),
	TEXT_FIELD("rationale", UPDATE_TEXT_MAX),
	{ 0 },
};
static const struct schema decision = { .fields = decision_fields };
static const struct schema_field decision_forms[] = {
	SCHEMA_IS("a sentence", STRING, NULL, .min = 1, .max = UPDATE_TEXT_MAX),
	SCHEMA_IS("with its rationale", OBJECT, NULL, .of = &decision),
	{ 0 },
};
static const struct schema decision_form = { .fields = decision_forms };
static const struct schema_field decision_item = {
	.type = SCHEMA_ONE,
	.of = &decision_form,
};
static const struct schema decisions = { .fields = &decision_item };

static const struct schema_field update_fields[] = {
	TEXT_FIELD("goalId", ID_MAX),
	TEXT_FIELD("workNodeId", ID_MAX),
	{ .name = "status",
	    .type = SCHEMA_STRING,
	    .flags = MAYBE,
	    .choices = statuses },
	TEXT_FIELD("summary", UPDATE_SUMMARY_MAX),
	TEXT_FIELD("next", UPDATE_TEXT_MAX),
	LIST_FIELD("blockers"),
	{ .name = "evidence",
	    .type = SCHEMA_OBJECT,
	    .flags = MAYBE,
	    .of = &evidence },
	{ .name = "decisions",
	    .type = SCHEMA_ARRAY,
	    .flags = MAYBE,
	    .of = &decisions,
	    .max = UPDATE_ITEMS_MAX },
	LIST_FIELD("openQuestions"),
	{ 0 },
};
static const struct schema update_shape = { .fields = update_fields };
static const struct schema_field update_field = {
	.type = SCHEMA_OBJECT,
	.of = &update_shape,
};

/* The lists of strings of an update. */
static const struct list {
	const char *key;
	size_t offset;
	bool evidence; /* inside "evidence" */
} lists[] = {
	{ "blockers", offsetof(struct update, blockers), false },
	{ "openQuestions", offsetof(struct update, open_questions), false },
	{ "filesTouched", offsetof(struct update, files_touched), true },
	{ "commandsRun", offsetof(struct update, commands_run), true },
	{ "testsRun", offsetof(struct update, tests_run), true },
	{ "commits", offsetof(struct update, commits), true },
	{ "prs", offsetof(struct update, prs), true },
	{ "issues", offsetof(struct update, issues), true },
	{ "externalRefs", offsetof(struct update, external_refs), true },
};

static char ***
list_of(struct update *update, const struct list *list)
{
	return (char ***)(void *)((char *)update + list->offset);
}

static char **
list_get(const struct update *update, const struct list *list)
{
	return *(
	    char **const *)(const void *)((const char *)update + list->offset);
}

const char *
update_status_name(enum update_status status)
{
	return status == UPDATE_NONE ? "" : statuses[status - 1];
}

static char *
take_text(struct json_object *json, const char *key)
{
	const char *text = json_string_or(json, key, NULL);

	return text != NULL && text[0] != '\0' ? xstrdup(text) : NULL;
}

static void
take_decisions(struct update *update, struct json_object *array)
{
	size_t count = array != NULL ? json_object_array_length(array) : 0;

	if (count == 0)
		return;
	update->decisions = xcalloc(count, sizeof *update->decisions);
	update->decision_count = count;
	for (size_t i = 0; i < count; i++) {
		struct json_object *one = json_object_array_get_idx(array, i);
		struct update_decision *into = &update->decisions[i];

		if (json_object_is_type(one, json_type_string)) {
			into->decision = xstrdup(json_object_get_string(one));
			continue;
		}
		into->decision = xstrdup(json_string_or(one, "decision", ""));
		into->rationale = take_text(one, "rationale");
	}
}

static bool
is_empty(const struct update *update)
{
	if (update->status != UPDATE_NONE || update->summary != NULL ||
	    update->next != NULL || update->decision_count > 0)
		return false;
	for (size_t i = 0; i < nitems(lists); i++)
		if (strv_count(list_get(update, &lists[i])) > 0)
			return false;
	return true;
}

int
update_from_json(struct json_object *json, const char *at,
    struct update **ret_update, struct err *err)
{
	cleanup_update struct update *update = NULL;
	struct json_object *inner;
	unsigned status;
	int r = schema_check(&update_field, json, at, err);

	if (r < 0)
		return r;
	update = xcalloc(1, sizeof *update);
	update->goal_id = take_text(json, "goalId");
	update->node_id = take_text(json, "workNodeId");
	update->summary = take_text(json, "summary");
	update->next = take_text(json, "next");
	if (word_find(statuses, json_string_or(json, "status", ""), &status))
		update->status = (enum update_status)(status + 1);
	inner = json_member(json, "evidence");
	for (size_t i = 0; i < nitems(lists); i++) {
		struct json_object *from = lists[i].evidence ? inner : json;

		*list_of(update, &lists[i]) = strv_from_json(
		    from != NULL ? json_member(from, lists[i].key) : NULL);
	}
	take_decisions(update, json_member(json, "decisions"));
	if (is_empty(update))
		return err_set(err, -EINVAL,
		    "%s: it says nothing; give at least a status and a "
		    "summary",
		    at);
	*ret_update = take_ptr(&update);
	return 0;
}

/* --- the block in a reply ------------------------------------------------- */

#define FENCE_LEAST 3
#define INDENT_MOST 3

/* A line that is a fence: how long it is, and what follows. */
struct fence {
	char mark;
	size_t count;
	const char *info;
	size_t info_len;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
fence_read(const char *line, size_t len, struct fence *ret)
{
	size_t i = 0, start;

	while (i < len && i < INDENT_MOST && line[i] == ' ')
		i++;
	start = i;
	if (i == len || (line[i] != '`' && line[i] != '~'))
		return false;
	ret->mark = line[i];
	while (i < len && line[i] == ret->mark)
		i++;
	ret->count = i - start;
	while (i < len && is_blank(line[i]))
		i++;
	while (len > i && is_blank(line[len - 1]))
		len--;
	ret->info = line + i;
	ret->info_len = len - i;
	/* "```x```" is code inside a line. */
	return ret->count >= FENCE_LEAST &&
	    (ret->mark != '`' || memchr(ret->info, '`', ret->info_len) == NULL);
}

static bool
is_marked(const struct fence *fence, const char *language)
{
	size_t len = strlen(language);

	return fence->info_len >= len &&
	    strncasecmp(fence->info, language, len) == 0 &&
	    (fence->info_len == len || is_blank(fence->info[len]));
}

/* The last block marked `language` (in any case) whose content contains `word`:
 * *ret_start and *ret_len are its content. A block begins with a line of at
 * least three backquotes (or tildes) and ends with a line of at least as many,
 * or with the text. */
static bool
last_block(const char *text, size_t len, const char *language, const char *word,
    const char **ret_start, size_t *ret_len)
{
	const char *end = text + len, *line = text, *content = NULL, *next;
	struct fence open = { 0 }, fence;
	bool found = false;

	while (line < end || content != NULL) {
		const char *stop = line < end ?
		    memchr(line, '\n', (size_t)(end - line)) :
		    NULL;
		size_t line_len;
		bool is_fence;

		next = stop != NULL ? stop + 1 : end;
		line_len = (size_t)((stop != NULL ? stop : end) - line);
		is_fence = fence_read(line, line_len, &fence);
		if (content == NULL && is_fence) {
			open = fence;
			content = next;
		} else if (content != NULL &&
		    (line == end ||
			(is_fence && fence.info_len == 0 &&
			    fence.mark == open.mark &&
			    fence.count >= open.count))) {
			size_t size = (size_t)(line - content);

			if (is_marked(&open, language) &&
			    memmem(content, size, word, strlen(word)) != NULL) {
				*ret_start = content;
				*ret_len = size;
				found = true;
			}
			content = NULL;
		}
		line = next;
	}
	return found;
}

int
update_find(
    const char *text, size_t len, struct update **ret_update, struct err *err)
{
	static const struct schema_field root_fields[] = {
		{ .name = UPDATE_KEY, .type = SCHEMA_OBJECT },
		{ 0 },
	};
	static const struct schema root_shape = { .fields = root_fields };
	static const struct schema_field root_field = {
		.type = SCHEMA_OBJECT,
		.of = &root_shape,
	};
	cleanup_json struct json_object *root = NULL;
	const char *block;
	size_t size;
	int r;

	if (text == NULL ||
	    !last_block(text, len, "json", "\"" UPDATE_KEY "\"", &block, &size))
		return err_set(err, -ENOENT,
		    "the reply has no block marked json with the key "
		    "\"" UPDATE_KEY "\"");
	r = json_parse(block, size, UPDATE_BLOCK_MAX, &root, err);
	if (r < 0)
		return r;
	r = schema_check(&root_field, root, "", err);
	if (r < 0)
		return r;
	return update_from_json(
	    json_member(root, UPDATE_KEY), UPDATE_KEY, ret_update, err);
}

struct json_object *
update_to_json(const struct update *update)
{
	struct json_object *json = json_object_new_object();
	struct json_object *inner = json_object_new_object();
	struct json_object *array;

	if (update->goal_id != NULL)
		json_set_string(json, "goalId", update->goal_id);
	if (update->node_id != NULL)
		json_set_string(json, "workNodeId", update->node_id);
	if (update->status != UPDATE_NONE)
		json_set_string(
		    json, "status", update_status_name(update->status));
	if (update->summary != NULL)
		json_set_string(json, "summary", update->summary);
	if (update->next != NULL)
		json_set_string(json, "next", update->next);
	for (size_t i = 0; i < nitems(lists); i++) {
		char **list = list_get(update, &lists[i]);

		if (strv_count(list) > 0)
			json_set(lists[i].evidence ? inner : json, lists[i].key,
			    strv_to_json(list));
	}
	if (json_object_object_length(inner) > 0)
		json_set(json, "evidence", inner);
	else
		json_object_put(inner);
	if (update->decision_count == 0)
		return json;
	array = json_object_new_array();
	for (size_t i = 0; i < update->decision_count; i++) {
		struct json_object *one = json_object_new_object();

		json_set_string(one, "decision", update->decisions[i].decision);
		if (update->decisions[i].rationale != NULL)
			json_set_string(
			    one, "rationale", update->decisions[i].rationale);
		json_object_array_add(array, one);
	}
	json_set(json, "decisions", array);
	return json;
}

static int
bind_id(char **id, const char *wanted, const char *key, struct err *err)
{
	if (*id == NULL)
		*id = wanted != NULL ? xstrdup(wanted) : NULL;
	else if (!text_is(wanted, *id))
		return err_set(err, -EINVAL,
		    UPDATE_KEY ".%s: \"%s\" is not what this session works "
			       "on; write \"%s\", or leave it out",
		    key, *id, wanted != NULL ? wanted : "");
	return 0;
}

int
update_bind(struct update *update, const char *goal_id, const char *node_id,
    struct err *err)
{
	int r = bind_id(&update->goal_id, goal_id, "goalId", err);

	return r < 0 ? r :
		       bind_id(&update->node_id, node_id, "workNodeId", err);
}

void
update_free(struct update *update)
{
	if (update == NULL)
		return;
	free(update->goal_id);
	free(update->node_id);
	free(update->summary);
	free(update->next);
	for (size_t i = 0; i < nitems(lists); i++)
		strv_clear(list_of(update, &lists[i]));
	for (size_t i = 0; i < update->decision_count; i++) {
		free(update->decisions[i].decision);
		free(update->decisions[i].rationale);
	}
	free(update->decisions);
	update->decisions = NULL;
	update->decision_count = 0;
	free(update);
}

void
update_cleanup(struct update **update)
{
	update_free(*update);
}
