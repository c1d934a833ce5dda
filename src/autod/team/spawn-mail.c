/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "log.h"
#include "mail-subject.h"
#include "mail.h"
#include "mem.h"
#include "plan-text.h"
#include "spawn-mail.h"
#include "task-run.h"
#include "team-floor.h"
#include "team-mail.h"

#define TASK_MAX  2048 /* bytes of a task; all of it is in its node */
#define WORDS_MAX 500 /* bytes of each reason of an answer that is too long */

/* With shorter tasks. */
static struct json_object *
shorten(struct json_object *body)
{
	struct json_object *copy = NULL, *list;

	json_object_deep_copy(body, &copy, NULL);
	list = json_object_object_get(copy, "requested_subagents");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		char *task = NULL;

		plan_cut(&task, json_string_or(one, "task", ""), TASK_MAX);
		json_set_string(one, "task", task);
		free(task);
	}
	return copy;
}

int
spawn_mail_request(
    const struct spawn_letter *l, struct json_object *body, struct err *err)
{
	cleanup_json struct json_object *data = shorten(body);
	cleanup_free char *id = NULL;
	cleanup_free char *subject =
	    mail_subject_make(SUBJECT_SPAWN_REQUEST, l->goal, l->node);
	const struct mail_draft draft = { .key = l->request,
		.from = l->actor,
		.from_worker = l->worker,
		.to = ACTOR_OVERSEER,
		.subject = subject,
		.data = data,
		.kind = MAIL_INSTRUCTION,
		.ack_required = true,
		.goal = l->stored ? l->goal : NULL,
		.told = true };
	int r = team_mail_post(l->floor, &draft, &id, err);

	if (r == 0)
		team_mail_settle(l->floor, id);
	return r;
}

/* Every text of the object, and of those in its lists. */
static void
cut_words(struct json_object *json)
{
	json_object_object_foreach(json, key, value)
	{
		char *words = NULL;

		if (json_object_is_type(value, json_type_array)) {
			size_t count = json_object_array_length(value);

			for (size_t i = 0; i < count; i++)
				cut_words(json_object_array_get_idx(value, i));
		} else if (json_object_is_type(value, json_type_string)) {
			plan_cut(
			    &words, json_object_get_string(value), WORDS_MAX);
			json_object_set_string(value, words);
			free(words);
		}
		(void)key;
	}
}

void
spawn_mail_answer(
    const struct spawn_letter *l, struct json_object *body, bool accepted)
{
	cleanup_free char *id = NULL;
	cleanup_free char *request = mail_id(l->actor, l->request);
	cleanup_free char *subject = mail_subject_make(
	    accepted ? SUBJECT_SPAWN_ACCEPTED : SUBJECT_SPAWN_DENIED, l->goal,
	    l->request);
	cleanup_json struct json_object *cut = NULL;
	struct mail_draft draft = { .key = l->request,
		.to = l->actor,
		.to_worker = l->worker,
		.subject = subject,
		.data = body,
		.reply_to = request,
		.goal = l->stored ? l->goal : NULL };
	struct err err = { 0 };
	int r = team_mail_post(l->floor, &draft, &id, &err);

	if (r == -E2BIG) {
		json_object_deep_copy(body, &cut, NULL);
		cut_words(cut);
		draft.data = cut;
		r = team_mail_post(l->floor, &draft, &id, &err);
	}
	if (r < 0)
		log_debug("%s: %s", l->request, err.msg);
	else if (l->told)
		team_mail_settle(l->floor, id);
}

char *
spawn_mail_answer_id(const char *request)
{
	return mail_id(ACTOR_OVERSEER, request);
}

char *
spawn_mail_request_id(struct json_object *params)
{
	const char *call = json_string_or(params, "call", "");
	char ulid[ID_ULID_SIZE], hash[17];
	cleanup_free char *key = NULL;

	if (*call == '\0') {
		id_ulid(clock_wall_ms(), ulid);
		return xasprintf("req_%s", ulid);
	}
	key = xasprintf("%s %s", json_string_or(params, "worker", ""), call);
	id_hash(key, hash, 16);
	return xasprintf("req_%s", hash);
}
