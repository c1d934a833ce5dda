/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "hook-event.h"
#include "schema.h"

const struct schema hook_event_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("event", STRING, "name of the hook in Claude Code"),
	    SCHEMA_IS("worker", STRING, "name of a worker"),
	    SCHEMA_IS("generation", INT,
		"number of the session's launch; events of older launches "
		"are ignored"),
	    SCHEMA_IS("id", STRING,
		"unique; an event that arrives twice counts once", .min = 1,
		.max = HOOK_EVENT_ID_MAX),
	    SCHEMA_IS("data", OBJECT, "what Claude Code gave the hook"),
	    SCHEMA_END,
	},
	.open = true,
};

static const struct {
	const char *event;
	enum hook_kind kind;
} kinds[] = {
	{ "SessionStart", HOOK_SESSION_START },
	{ "SessionEnd", HOOK_SESSION_END },
	{ "UserPromptSubmit", HOOK_PROMPT },
	{ "PreToolUse", HOOK_TOOL_BEGINS },
	{ "PostToolUse", HOOK_TOOL_ENDS },
	{ "PostToolUseFailure", HOOK_TOOL_ENDS },
	{ "PermissionDenied", HOOK_TOOL_ENDS },
	{ "Notification", HOOK_NOTIFICATION },
	{ "Stop", HOOK_STOP },
	{ "StopFailure", HOOK_STOP_FAILURE },
	{ "PreCompact", HOOK_COMPACT },
	{ HOOK_EVENT_TOOLS, HOOK_TOOLS },
	{ HOOK_EVENT_STATUS, HOOK_STATUS },
	{ HOOK_EVENT_READY, HOOK_READY },
	{ HOOK_EVENT_NAMED, HOOK_NAMED },
	{ "SubagentStop", HOOK_LIFE },
};

static enum hook_kind
kind_of(const char *event)
{
	for (size_t i = 0; i < nitems(kinds); i++)
		if (strcmp(kinds[i].event, event) == 0)
			return kinds[i].kind;
	return HOOK_UNKNOWN;
}

bool
hook_event_is_life(struct json_object *params)
{
	enum hook_kind kind = kind_of(json_string_or(params, "event", ""));

	return kind == HOOK_TOOL_BEGINS || kind == HOOK_TOOL_ENDS ||
	    kind == HOOK_STATUS || kind == HOOK_LIFE;
}

int
hook_event_read(
    struct json_object *params, struct hook_event *ret_event, struct err *err)
{
	const struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = &hook_event_schema };
	int r = schema_check(&whole, params, "params", err);

	if (r < 0)
		return r;
	*ret_event = (struct hook_event){
		.event = json_string_or(params, "event", ""),
		.worker = json_string_or(params, "worker", ""),
		.generation = (uint64_t)json_int_or(params, "generation", 0),
		.id = json_string_or(params, "id", ""),
		.data = json_member(params, "data"),
	};
	ret_event->kind = kind_of(ret_event->event);
	return 0;
}

/* --- the update in a reply ------------------------------------------- */

#define ID_MAX 128
#define MAYBE  .flags = (SCHEMA_OMIT_UNSET | SCHEMA_NULLABLE)

static const char *const statuses[] = {
	[UPDATE_IN_PROGRESS] = "in_progress",
	[UPDATE_BLOCKED] = "blocked",
	[UPDATE_DONE] = "done",
	[UPDATE_NONE] = NULL,
};

static char *
take_text(struct json_object *json, const char *key)
{
	const char *text = json_string_or(json, key, NULL);

	return text != NULL && text[0] != '\0' ? xstrdup(text) : NULL;
}

/* A decision is a sentence, or an object with its rationale. */

static int
decisions_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	struct update *update = member;
	size_t count = json_object_array_length(json);

	(void)at;
	(void)err;
	update->decisions = xcalloc(count + 1, sizeof *update->decisions);
	update->decision_count = count;
	for (size_t i = 0; i < count; i++) {
		struct json_object *one = json_object_array_get_idx(json, i);
		struct update_decision *into = &update->decisions[i];

		if (json_object_is_type(one, json_type_string)) {
			into->decision = xstrdup(json_object_get_string(one));
			continue;
		}
		into->decision = xstrdup(json_string_or(one, "decision", ""));
		into->rationale = take_text(one, "rationale");
	}
	return 0;
}

static struct json_object *
decisions_to_json(const void *member)
{
	const struct update *update = member;
	struct json_object *array =
	    update->decision_count > 0 ? json_object_new_array() : NULL;

	for (size_t i = 0; i < update->decision_count; i++) {
		struct json_object *one = json_object_new_object();

		json_set_string(one, "decision", update->decisions[i].decision);
		if (update->decisions[i].rationale != NULL)
			json_set_string(
			    one, "rationale", update->decisions[i].rationale);
		json_object_array_add(array, one);
	}
	return array;
}

static void
decisions_release(void *member)
{
	struct update *update = member;

	for (size_t i = 0; i < update->decision_count; i++) {
		free(update->decisions[i].decision);
		free(update->decisions[i].rationale);
	}
	free(take_ptr(&update->decisions));
	update->decision_count = 0;
}

static const struct schema_own decisions_own = {
	.to_json = decisions_to_json,
	.from_json = decisions_from_json,
	.release = decisions_release,
};

static const struct schema_field decision_fields[] = {
	SCHEMA_IS("decision", STRING, NULL, .min = 1, .max = UPDATE_TEXT_MAX),
	{ .name = "rationale",
	    .type = SCHEMA_STRING,
	    .flags = SCHEMA_OPTIONAL | SCHEMA_NULLABLE,
	    .max = UPDATE_TEXT_MAX },
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

#define TEXT(key, member, most) \
	SCHEMA_FIELD(struct update, key, member, MAYBE, .size = (most))
#define LIST(owner, key, member)                                         \
	SCHEMA_FIELD(owner, key, member, MAYBE, .max = UPDATE_ITEMS_MAX, \
	    .size = UPDATE_TEXT_MAX)
#define PROOF(key, member) LIST(struct plan_evidence, key, member)

static const struct schema_field evidence_fields[] = {
	PROOF("filesTouched", files_touched),
	PROOF("commandsRun", commands_run),
	PROOF("testsRun", tests_run),
	PROOF("commits", commits),
	PROOF("prs", prs),
	PROOF("issues", issues),
	PROOF("externalRefs", external_refs),
};
static const struct schema evidence =
    SCHEMA_OF(struct plan_evidence, evidence_fields);

static const struct schema_field update_fields[] = {
	TEXT("goalId", goal_id, ID_MAX),
	TEXT("workNodeId", node_id, ID_MAX),
	SCHEMA_FIELD(struct update, "status", status, MAYBE, .words = statuses),
	TEXT("summary", summary, UPDATE_SUMMARY_MAX),
	TEXT("next", next, UPDATE_TEXT_MAX),
	LIST(struct update, "blockers", blockers),
	LIST(struct update, "openQuestions", open_questions),
	SCHEMA_PART(
	    struct update, "evidence", STRUCT, evidence, evidence, MAYBE),
	{ .name = "decisions",
	    .is_member = true,
	    .type = SCHEMA_ARRAY,
	    MAYBE,
	    .of = &decisions,
	    .max = UPDATE_ITEMS_MAX,
	    .own = &decisions_own },
};
static const struct schema update_schema = SCHEMA_OF(struct update,
    update_fields, .blank = &(const struct update){ .status = UPDATE_NONE });
static const struct schema_field update_field = {
	.type = SCHEMA_OBJECT,
	.of = &update_schema,
};

const char *
update_status_name(enum update_status status)
{
	return status == UPDATE_NONE ? "" : statuses[status];
}

int
update_from_json(struct json_object *json, const char *at,
    struct update **ret_update, struct err *err)
{
	cleanup_update struct update *update = NULL;
	int r = schema_check(&update_field, json, at, err);

	if (r < 0)
		return r;
	update = schema_make(&update_schema, json, at, err);
	if (update == NULL)
		return -EINVAL;
	/* An empty text is none. */
	for (size_t i = 0; i < nitems(update_fields); i++)
		if (update_fields[i].type == SCHEMA_STRING) {
			char **text = (char **)(void *)((char *)update +
			    update_fields[i].offset);

			if (*text != NULL && **text == '\0')
				xstrset(text, NULL);
		}
	if (update->status == UPDATE_NONE && update->summary == NULL &&
	    update->next == NULL && update->decision_count == 0 &&
	    strv_count(update->blockers) == 0 &&
	    strv_count(update->open_questions) == 0 &&
	    !plan_evidence_any(&update->evidence))
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
	return schema_json(&update_schema, update);
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
	schema_free(&update_schema, update);
}

void
update_cleanup(struct update **update)
{
	update_free(*update);
}
