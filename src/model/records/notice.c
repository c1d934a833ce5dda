/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "notice.h"

#define EARLIER_MAX  10
#define SENTENCE_MAX 200 /* bytes of one of them */

const char *const notice_names[NOTICE_CLASS_COUNT] = { "failure", "repair",
	"login", "worker", "task", "review", "budget", "limit", "outage",
	"branch", "check", "checkout", "push", "settings", "state", "goal",
	"end", NULL };

static const char *const words[NOTICE_CLASS_COUNT] = {
	[NOTICE_FAILURE] = "llmc has stopped because of a failure",
	[NOTICE_REPAIR] = "the overseer repairs a failure",
	[NOTICE_LOGIN] = "Claude Code needs a person",
	[NOTICE_WORKER] = "a worker waits for a person",
	[NOTICE_TASK] = "a task has failed",
	[NOTICE_REVIEW] = "work waits for a review",
	[NOTICE_BUDGET] = "a budget is reached",
	[NOTICE_LIMIT] = "a usage limit is waited for",
	[NOTICE_OUTAGE] = "the service cannot be reached",
	[NOTICE_BRANCH] = "work cannot land on the branch",
	[NOTICE_CHECK] = "the check of the landing branch is flaky",
	[NOTICE_CHECKOUT] = "uncommitted changes hold up the landings",
	[NOTICE_PUSH] = "a push failed",
	[NOTICE_SETTINGS] = "the settings are not valid",
	[NOTICE_STATE] = "the state was damaged",
	[NOTICE_GOAL] = "a goal needs a person, or is reached",
	[NOTICE_END] = "the run has ended",
};

const char *notice_name(enum notice_class class)
{
	return class == NOTICE_NONE ? NULL : notice_names[class - 1];
}

const char *
notice_title(const struct notice *n)
{
	return n->what != NULL ? n->what : words[n->class];
}

struct json_object *
notice_json(const struct notice *n, const char *root, const char *program,
    const char *timestamp)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "timestamp", timestamp);
	json_set_string(json, "root", root);
	json_set_string(json, "program", program);
	json_set_string(json, "class", notice_name(n->class));
	json_set_string(json, "what", notice_title(n));
	json_set_string(json, "why", n->why);
	json_set_string(json, "worker", n->worker);
	json_set_string(json, "task", n->task);
	json_set(json, "exit_status",
	    n->exit_status != 0 ? json_object_new_int(n->exit_status) : NULL);
	json_set_string(json, "failure", n->failure);
	json_set_string(json, "evidence", n->evidence);
	json_set_int(json, "count", 1);
	json_set(json, "earlier", json_object_new_array());
	return json;
}

struct json_object *
notice_merge(struct json_object *older, struct json_object *newer)
{
	struct json_object *list = json_object_object_get(older, "earlier");
	int64_t count = json_int_or(older, "count", 1) + 1;

	if (json_object_array_length(list) < EARLIER_MAX) {
		const char *why = json_string_or(older, "why", "");
		size_t len = strcspn(why, "\n");

		/* The first line of why. */
		len = text_cut(why, len, SENTENCE_MAX);
		json_object_array_add(
		    list, json_object_new_string_len(why, (int)len));
	}
	json_set_int(newer, "count", count);
	json_set(newer, "earlier", json_object_get(list));
	json_object_put(older);
	return newer;
}
