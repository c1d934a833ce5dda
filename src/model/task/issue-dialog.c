/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "channel.h"
#include "issue-dialog.h"
#include "message.h"

#define GITHUB_API "https://api.github.com"
#define GITEA_API  "/api/v1"
#define PAGE_SIZE  50 /* as much as Gitea gives by default */

static bool
is_github(const struct issue_dialog *d)
{
	return d->channel->type == CHANNEL_GITHUB;
}

void
issue_dialog_begin(struct issue_dialog *dialog, const struct channel *channel,
    const struct message *record)
{
	*dialog = (struct issue_dialog){
		.channel = channel, .record = record, .page = 1
	};
}

/* --- requests --------------------------------------------------------- */

static void
add_page(const struct issue_dialog *d, char before, struct buf *url)
{
	buf_addf(url, "%c%s=%d&page=%d", before,
	    is_github(d) ? "per_page" : "limit", PAGE_SIZE, d->page);
}

static struct json_object *
label_json(const struct issue_dialog *d)
{
	static const char *const colours[ESCALATION_LEVEL_COUNT] = { "c5def5",
		"fbca04", "d93f0b", "b60205" };
	struct json_object *json = json_object_new_object();
	const char *colour =
	    d->label == 1 ? colours[d->record->level] : "ededed";
	cleanup_free char *marked =
	    xasprintf("%s%s", is_github(d) ? "" : "#", colour);

	json_set_string(json, "name", message_label(d->record, d->label));
	json_set_string(json, "color", marked);
	return json;
}

static struct json_object *
issue_json(const struct issue_dialog *d)
{
	struct json_object *json = json_object_new_object();
	struct json_object *labels = json_object_new_array();
	cleanup_buf struct buf title = BUF_INIT, text = BUF_INIT;

	message_issue_title(d->record, &title);
	message_issue_body(d->record, &text);
	json_set_string(json, "title", title.data);
	json_set_string(json, "body", text.data);
	for (int i = 0; i < MESSAGE_LABELS; i++)
		json_object_array_add(labels,
		    is_github(d) ?
			json_object_new_string(message_label(d->record, i)) :
			json_object_new_int64(d->labels[i]));
	json_set(json, "labels", labels);
	return json;
}

static struct json_object *
comment_json(const struct issue_dialog *d)
{
	struct json_object *json = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	message_comment(d->record, &text);
	json_set_string(json, "body", text.data);
	return json;
}

static struct json_object *
reopen_json(void)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "state", "open");
	return json;
}

const char *
issue_dialog_request(
    const struct issue_dialog *d, struct buf *url, struct buf *body)
{
	cleanup_json struct json_object *json = NULL;
	const char *method = "GET";
	const struct channel *c = d->channel;
	const char *base = c->url[0] != '\0' ? c->url : GITHUB_API;
	size_t before = url->len;

	/* The repository in the API; the server of a Gitea may be named
	 * without it. */
	buf_adds(url, base);
	while (url->len > before && url->data[url->len - 1] == '/')
		buf_truncate(url, url->len - 1);
	if (!is_github(d) && strstr(url->data + before, GITEA_API) == NULL)
		buf_adds(url, GITEA_API);
	buf_addf(url, "/repos/%s", c->repo);
	switch (d->step) {
	case ISSUE_LABELS:
		buf_adds(url, "/labels");
		add_page(d, '?', url);
		break;
	case ISSUE_LABEL:
		buf_adds(url, "/labels");
		method = "POST";
		json = label_json(d);
		break;
	case ISSUE_FIND:
		buf_addf(url, "/issues?state=all&labels=llmc%s",
		    is_github(d) ? "" : "&type=issues");
		add_page(d, '&', url);
		break;
	case ISSUE_CREATE:
		buf_adds(url, "/issues");
		method = "POST";
		json = issue_json(d);
		break;
	case ISSUE_COMMENTS:
		buf_addf(url, "/issues/%" PRId64 "/comments", d->issue);
		add_page(d, '?', url);
		break;
	case ISSUE_COMMENT:
		buf_addf(url, "/issues/%" PRId64 "/comments", d->issue);
		method = "POST";
		json = comment_json(d);
		break;
	case ISSUE_REOPEN:
	case ISSUE_DONE:
		buf_addf(url, "/issues/%" PRId64, d->issue);
		method = "PATCH";
		json = reopen_json();
		break;
	}
	if (json != NULL)
		json_print(json, false, body);
	return method;
}

/* --- answers ---------------------------------------------------------- */

static int
garbage(struct err *err, const char *what)
{
	return err_set(err, -EBADMSG,
	    "the server's answer has no %s; is url that of its API?", what);
}

static void
go(struct issue_dialog *d, enum issue_step step)
{
	d->step = step;
	d->page = 1;
}

/* The label that is to be made next, or on to the issues. */
static void
next_label(struct issue_dialog *d)
{
	for (d->label = 0; d->label < MESSAGE_LABELS; d->label++) {
		if (d->labels[d->label] == 0) {
			go(d, ISSUE_LABEL);
			return;
		}
	}
	go(d, ISSUE_FIND);
}

static bool
is_full(struct json_object *list)
{
	return json_object_array_length(list) >= PAGE_SIZE;
}

/* GitHub takes names, but they have ids too. */
static void
see_labels(struct issue_dialog *d, struct json_object *list)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *name = json_string_or(one, "name", "");

		for (int k = 0; k < MESSAGE_LABELS; k++)
			if (strcasecmp(name, message_label(d->record, k)) == 0)
				d->labels[k] = json_int_or(one, "id", 0);
	}
	if (is_full(list) && d->page < ISSUE_PAGES_MAX)
		d->page++;
	else
		next_label(d);
}

static void
see_issues(struct issue_dialog *d, struct json_object *list)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *body = json_string_or(one, "body", "");

		if (!message_has_marker(body, d->record->signature) ||
		    json_int_or(one, "number", 0) <= 0)
			continue;
		d->issue = json_int_or(one, "number", 0);
		d->comments = json_int_or(one, "comments", 0);
		d->closed =
		    strcmp(json_string_or(one, "state", ""), "closed") == 0;
		go(d,
		    message_has_event(body, d->record) ? ISSUE_DONE :
			d->comments == 0               ? ISSUE_COMMENT :
							 ISSUE_COMMENTS);
		return;
	}
	if (is_full(list) && d->page < ISSUE_PAGES_MAX)
		d->page++;
	else
		go(d, ISSUE_CREATE);
}

static void
after_comment(struct issue_dialog *d)
{
	go(d, d->closed ? ISSUE_REOPEN : ISSUE_DONE);
}

/* Gitea gives them all at once, whatever page is asked for. */
static void
see_comments(struct issue_dialog *d, struct json_object *list)
{
	size_t count = json_object_array_length(list);

	for (size_t i = 0; i < count; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);

		if (message_has_event(
			json_string_or(one, "body", ""), d->record)) {
			after_comment(d);
			return;
		}
	}
	if (is_github(d) && is_full(list) && d->page < ISSUE_PAGES_MAX)
		d->page++;
	else
		go(d, ISSUE_COMMENT);
}

int
issue_dialog_answered(struct issue_dialog *d, int status,
    struct json_object *json, struct err *err)
{
	if (status < 200 || status > 299) {
		const char *words = json_string_or(json, "message", "");
		const char *help = status == 401 || status == 403 ?
		    "; check the token and what it may do" :
		    status == 404 ? "; check url, repo and token" :
				    "";

		return err_set(err, status == 429 ? -EAGAIN : -EIO,
		    "the server answered %d%s%.200s%s", status,
		    words[0] != '\0' ? ": " : "", words, help);
	}
	switch (d->step) {
	case ISSUE_LABELS:
	case ISSUE_FIND:
	case ISSUE_COMMENTS:
		if (!json_object_is_type(json, json_type_array))
			return garbage(err, "list");
		if (d->step == ISSUE_LABELS)
			see_labels(d, json);
		else if (d->step == ISSUE_FIND)
			see_issues(d, json);
		else
			see_comments(d, json);
		return 0;
	case ISSUE_LABEL:
		d->labels[d->label] = json_int_or(json, "id", 0);
		if (d->labels[d->label] <= 0)
			return garbage(err, "id of the label");
		next_label(d);
		return 0;
	case ISSUE_CREATE:
		d->issue = json_int_or(json, "number", 0);
		if (d->issue <= 0)
			return garbage(err, "number of the issue");
		go(d, ISSUE_DONE);
		return 0;
	case ISSUE_COMMENT:
		if (json_int_or(json, "id", 0) <= 0)
			return garbage(err, "id of the comment");
		after_comment(d);
		return 0;
	case ISSUE_REOPEN:
	case ISSUE_DONE:
		go(d, ISSUE_DONE);
		return 0;
	}
	return 0;
}

void
issue_dialog_authorization(
    const struct channel *channel, const char *token, struct buf *out)
{
	buf_addf(out, "%s %s",
	    channel->type == CHANNEL_GITEA ? "token" : "Bearer", token);
}

const char *
issue_dialog_accept(const struct channel *channel)
{
	return channel->type == CHANNEL_GITHUB ? "application/vnd.github+json" :
						 "application/json";
}
