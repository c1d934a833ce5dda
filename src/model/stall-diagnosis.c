/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "stall-diagnosis.h"
#include "strv.h"
#include "word.h"

static const char *const names[] = { "nudge", "resend", "replan", "reassign",
	"escalate", NULL };

static const struct schema_field option = {
	.type = SCHEMA_STRING,
	.min = 1,
	.max = STALL_ADVICE_TEXT_MAX,
};
static const struct schema options = { .fields = &option };

static const struct schema_field action_fields[] = {
	SCHEMA_IS("type", STRING, NULL, .choices = names),
	SCHEMA_MAY("message", STRING, "of a nudge", .min = 1,
	    .max = STALL_ADVICE_TEXT_MAX),
	SCHEMA_MAY("question", STRING, "of an escalation", .min = 1,
	    .max = STALL_ADVICE_TEXT_MAX),
	SCHEMA_MAY("options", ARRAY, "of an escalation", .of = &options,
	    .max = STALL_ADVICE_OPTIONS),
	SCHEMA_MAY("reason", STRING, "of any other action", .min = 1,
	    .max = STALL_ADVICE_TEXT_MAX),
	{ 0 },
};
static const struct schema action_shape = { .fields = action_fields };
static const struct schema_field action_item = {
	.type = SCHEMA_OBJECT,
	.of = &action_shape,
};
static const struct schema actions = { .fields = &action_item };
static const struct schema_field root_fields[] = {
	SCHEMA_IS("actions", ARRAY, NULL, .of = &actions, .min = 1,
	    .max = STALL_ADVICE_MAX),
	{ 0 },
};
static const struct schema root_shape = { .fields = root_fields };
static const struct schema_field root_field = {
	.type = SCHEMA_OBJECT,
	.of = &root_shape,
};

/* Which key has the text of an action, and whether it must be there. */
static const struct {
	const char *key;
	bool required;
} texts[] = {
	[STALL_ADVICE_NUDGE] = { "message", true },
	[STALL_ADVICE_RESEND] = { "reason", false },
	[STALL_ADVICE_REPLAN] = { "reason", false },
	[STALL_ADVICE_REASSIGN] = { "reason", false },
	[STALL_ADVICE_ESCALATE] = { "question", true },
};

const char *
stall_advice_name(enum stall_advice advice)
{
	return names[advice];
}

static int
take_action(struct json_object *json, size_t index,
    struct stall_action_item *item, struct err *err)
{
	static const char *const keys[] = { "message", "question", "options",
		"reason" };
	unsigned type = 0;
	const char *key;

	word_find(names, json_string_or(json, "type", ""), &type);
	item->type = (enum stall_advice)type;
	key = texts[type].key;
	for (size_t i = 0; i < nitems(keys); i++)
		if (strcmp(keys[i], key) != 0 &&
		    json_object_object_get_ex(json, keys[i], NULL) &&
		    !(type == STALL_ADVICE_ESCALATE &&
			strcmp(keys[i], "options") == 0))
			return err_set(err, -EINVAL,
			    "actions[%zu].%s: an action of type \"%s\" has no "
			    "such key",
			    index, keys[i], names[type]);
	item->text = NULL;
	if (json_string_or(json, key, NULL) != NULL)
		item->text = xstrdup(json_string_or(json, key, ""));
	else if (texts[type].required)
		return err_set(err, -EINVAL,
		    "actions[%zu].%s: it is missing; an action of type \"%s\" "
		    "needs it",
		    index, key, names[type]);
	item->options = strv_from_json(json_object_object_get(json, "options"));
	return 0;
}

int
stall_diagnosis_from_json(
    struct json_object *json, struct stall_diagnosis *ret, struct err *err)
{
	struct stall_diagnosis found = { 0 };
	struct json_object *list;
	int r = schema_check(&root_field, json, "", err);

	if (r < 0)
		return r;
	list = json_object_object_get(json, "actions");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		r = take_action(json_object_array_get_idx(list, i), i,
		    &found.actions[found.count++], err);
		if (r < 0) {
			stall_diagnosis_release(&found);
			return r;
		}
	}
	*ret = found;
	return 0;
}

int
stall_diagnosis_parse(
    const char *text, size_t len, struct stall_diagnosis *ret, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_parse(text, len, STALL_ADVICE_SIZE_MAX, &json, err);

	return r < 0 ? r : stall_diagnosis_from_json(json, ret, err);
}

struct json_object *
stall_diagnosis_schema(void)
{
	return schema_print(&root_field);
}

void
stall_diagnosis_copy(
    const struct stall_diagnosis *diagnosis, struct stall_diagnosis *copy)
{
	*copy = *diagnosis;
	for (size_t i = 0; i < copy->count; i++) {
		struct stall_action_item *item = &copy->actions[i];

		item->text = item->text != NULL ? xstrdup(item->text) : NULL;
		item->options = item->options != NULL ?
		    strv_copy(strv_const(item->options)) :
		    NULL;
	}
}

void
stall_diagnosis_release(struct stall_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		free(diagnosis->actions[i].text);
		strv_free(diagnosis->actions[i].options);
	}
	*diagnosis = (struct stall_diagnosis){ 0 };
}
