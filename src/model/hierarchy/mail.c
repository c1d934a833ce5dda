/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "mail.h"
#include "mem.h"
#include "record.h"
#include "task-run.h"
#include "text.h"

const char *const mail_kind_words[MAIL_KIND_COUNT + 1] = {
	[MAIL_INFO] = "info",
	[MAIL_INSTRUCTION] = "instruction",
	[MAIL_ALERT] = "alert",
};

const char *const mail_state_words[MAIL_STATE_COUNT + 1] = {
	[MAIL_OPEN] = "open",
	[MAIL_DONE] = "done",
	[MAIL_CLOSED] = "closed",
};

const struct mail_pace mail_pace = { .again_ms = 300000, .again_max = 5 };

#define FIELD(key, member, ...)                                            \
	RECORD_FIELD(struct mail, key, member, .flags = RECORD_OMIT_UNSET, \
	    ##__VA_ARGS__)
#define META(key, member)                             \
	RECORD_FIELD(struct mail_meta, (key), member, \
	    .flags = RECORD_OMIT_UNSET, .size = 0)

/* The body and the meta are read and written by hand. */
static const struct schema_field fields[] = {
	RECORD_FIELD(struct mail, "id", id, .flags = RECORD_REQUIRED),
	FIELD("goalId", goal),
	RECORD_FIELD(struct mail, "status", state, .words = mail_state_words),
	RECORD_FIELD(struct mail, "actor", to, .flags = RECORD_REQUIRED),
	RECORD_FIELD(struct mail, "ts", created_ms, .flags = RECORD_CLAMP),
	RECORD_FIELD(struct mail, "sender", from, .flags = RECORD_REQUIRED),
	FIELD("sender_worker", from_worker),
	FIELD("to_worker", to_worker),
	RECORD_FIELD(struct mail, "subject", subject, .flags = RECORD_REQUIRED),
	RECORD_FIELD(struct mail, "kind", kind, .words = mail_kind_words),
	RECORD_FIELD(struct mail, "ack_required", ack_required),
	FIELD("reply_to", reply_to),
	FIELD("delivered", delivered),
	FIELD("delivered_ms", delivered_ms),
	FIELD("read_ms", read_ms),
	FIELD("acked_ms", acked_ms),
	FIELD("closed_ms", closed_ms),
	FIELD("alerted", alerted),
	FIELD("read_call", read_call),
};

static const struct schema_field meta_fields[] = {
	META("epic_id", epic_id),
	META("plan_id", plan_id),
	META("version", version),
	META("source", source),
	META("reason", reason),
	META("trace_id", trace_id),
	META("workspace_id", workspace_id),
	META("priority", priority),
};

struct mail *
mail_new(void)
{
	return xcalloc(1, sizeof(struct mail));
}

void
mail_free(struct mail *mail)
{
	if (mail == NULL)
		return;
	record_release(fields, nitems(fields), mail);
	record_release(meta_fields, nitems(meta_fields), &mail->meta);
	free(mail->body);
	json_object_put(mail->data);
	free(mail);
}

struct mail *
mail_copy(const struct mail *mail)
{
	struct mail *copy = mail_new();

	record_copy(fields, nitems(fields), mail, copy);
	record_copy(meta_fields, nitems(meta_fields), &mail->meta, &copy->meta);
	copy->body = xstrdup(mail->body);
	copy->data = json_object_get(mail->data);
	return copy;
}

void
mail_set_meta(struct mail *mail, struct json_object *meta)
{
	record_from_json(
	    meta_fields, nitems(meta_fields), meta, "meta", &mail->meta, NULL);
}

void
mail_set_data(struct mail *mail, struct json_object *data)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(data, true, &text);
	free(mail->body);
	mail->body = buf_take(&text);
	json_object_put(mail->data);
	mail->data = json_object_get(data);
}

struct json_object *
mail_to_json(const struct mail *mail)
{
	struct json_object *json = json_object_new_object();
	struct json_object *meta = json_object_new_object();

	record_to_json(fields, nitems(fields), mail, json);
	if (mail->data != NULL)
		json_set(json, "body", json_object_get(mail->data));
	else
		json_set_string(json, "body", mail->body);
	record_to_json(meta_fields, nitems(meta_fields), &mail->meta, meta);
	if (json_object_object_length(meta) > 0)
		json_set(json, "meta", meta);
	else
		json_object_put(meta);
	return json;
}

static int
read_body(struct mail *mail, struct json_object *json, const char *at,
    struct err *err)
{
	struct json_object *body = NULL;
	const char *text = NULL;
	int r;

	json_object_object_get_ex(json, "body", &body);
	if (json_object_is_type(body, json_type_object)) {
		mail_set_data(mail, body);
		return 0;
	}
	r = json_get_string(json, at, "body", &text, err);
	if (r == 0)
		mail->body = xstrdup(text);
	return r;
}

int
mail_from_json(struct json_object *json, const char *at, struct mail **ret_mail,
    struct err *err)
{
	struct json_object *meta = NULL;
	struct mail *mail;
	int r;

	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object", at);
	mail = mail_new();
	r = record_from_json(fields, nitems(fields), json, at, mail, err);
	if (r == 0)
		r = read_body(mail, json, at, err);
	if (r == 0 && json_object_object_get_ex(json, "meta", &meta) &&
	    meta != NULL) {
		r = json_get_object(json, at, "meta", &meta, err);
		if (r == 0)
			r = record_from_json(meta_fields, nitems(meta_fields),
			    meta, "meta", &mail->meta, err);
	}
	if (r < 0) {
		mail_free(mail);
		return r == -ENOENT ? -EINVAL : r;
	}
	*ret_mail = mail;
	return 0;
}

static int
check_text(const char *text, const char *name, size_t max, struct err *err)
{
	if (text == NULL || text[0] == '\0')
		return err_set(err, -EINVAL, "%s: is empty", name);
	if (strlen(text) > max)
		return err_set(err, -E2BIG,
		    "%s: %zu bytes, at most %zu are sent; put the rest into a "
		    "file and send its path",
		    name, strlen(text), max);
	return 0;
}

int
mail_check(const struct mail *mail, struct err *err)
{
	int r = check_text(mail->from, "sender", MAIL_ACTOR_MAX, err);

	if (r == 0)
		r = check_text(mail->to, "to", MAIL_ACTOR_MAX, err);
	if (r == 0)
		r = check_text(mail->subject, "subject", MAIL_SUBJECT_MAX, err);
	if (r == 0)
		r = check_text(mail->body, "body", MAIL_BODY_MAX, err);
	if (r == 0 && strpbrk(mail->subject, "\r\n") != NULL)
		r = err_set(err, -EINVAL, "subject: must be one line");
	return r;
}

/* The sender is a part of it: nobody can make the id of another's mail. */
char *
mail_id(const char *from, const char *key)
{
	char sender[9], rest[17];

	id_hash(from, sender, 8);
	id_hash(key, rest, 16);
	return xasprintf("M_%c%s%s",
	    strcmp(from, ACTOR_OVERSEER) == 0 ? 's' : 'a', sender, rest);
}

/* --- when ---------------------------------------------------------------- */

bool
mail_is_new(const struct mail *mail)
{
	return mail->state == MAIL_OPEN && mail->delivered == 0;
}

/* A moment that is still to come is long ago: the clock was wrong then. */
static bool
has_passed(int64_t since_ms, int64_t wait_ms, int64_t now_ms)
{
	return now_ms < since_ms || now_ms - since_ms >= wait_ms;
}

bool
mail_is_due(
    const struct mail *mail, const struct mail_pace *pace, int64_t now_ms)
{
	if (mail_is_new(mail))
		return true;
	return mail->state == MAIL_OPEN && mail->ack_required &&
	    mail->delivered <= pace->again_max &&
	    has_passed(mail->delivered_ms, pace->again_ms, now_ms);
}

bool
mail_is_ignored(
    const struct mail *mail, const struct mail_pace *pace, int64_t now_ms)
{
	return mail->state == MAIL_OPEN && mail->ack_required &&
	    !mail->alerted && mail->delivered > pace->again_max &&
	    has_passed(mail->delivered_ms, pace->again_ms, now_ms);
}

bool
mail_is_of_plan(const struct mail *mail)
{
	return strcmp(mail->from, ACTOR_OVERSEER) == 0 &&
	    strncmp(mail->subject, "plan.", strlen("plan.")) == 0;
}

static int
rank(const struct mail *mail)
{
	static const int ranks[MAIL_KIND_COUNT] = {
		[MAIL_ALERT] = 1,
		[MAIL_INSTRUCTION] = 2,
		[MAIL_INFO] = 3,
	};

	if (mail_is_of_plan(mail))
		return 0;
	return ranks[mail->kind];
}

int
mail_compare(const struct mail *a, const struct mail *b)
{
	if (rank(a) != rank(b))
		return rank(a) < rank(b) ? -1 : 1;
	if (a->created_ms != b->created_ms)
		return a->created_ms < b->created_ms ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* --- what happened to it -------------------------------------------------- */

static void
settle(struct mail *mail)
{
	if (mail->state == MAIL_OPEN && mail->delivered > 0 &&
	    (!mail->ack_required || mail->acked_ms != 0))
		mail->state = MAIL_DONE;
}

void
mail_delivered(struct mail *mail, int64_t now_ms)
{
	mail->delivered++;
	mail->delivered_ms = now_ms;
	settle(mail);
}

void
mail_read(struct mail *mail, int64_t now_ms)
{
	if (mail->read_ms == 0)
		mail->read_ms = now_ms;
	if (mail->delivered == 0)
		mail_delivered(mail, now_ms);
}

void
mail_acked(struct mail *mail, int64_t now_ms)
{
	if (mail->acked_ms == 0)
		mail->acked_ms = now_ms;
	mail_read(mail, now_ms);
	settle(mail);
}

void
mail_close(struct mail *mail, int64_t now_ms)
{
	if (mail->state != MAIL_OPEN)
		return;
	mail->state = MAIL_CLOSED;
	mail->closed_ms = now_ms;
}
