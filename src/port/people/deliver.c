/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "channel.h"
#include "child.h"
#include "curl.h"
#include "deliver.h"
#include "http-request.h"
#include "issue-dialog.h"
#include "kept.h"
#include "loop.h"
#include "message.h"

#define OUTPUT_MAX 4096

struct delivery_try {
	struct loop *loop;
	char *dir, *root;
	const struct channel *channel;
	const struct message *record;
	deliver_fn *done;
	void *arg;
	struct child *child; /* at most one of these three */
	struct curl *curl;
	struct loop_timer *soon; /* what ended before anything was started */
	enum delivery_state state; /* then */
	struct err why;
	struct issue_dialog dialog;
};

static void
try_free(struct delivery_try *try)
{
	loop_timer_free(try->soon);
	free(try->dir);
	free(try->root);
	free(try);
}

static void
finish(struct delivery_try *try, const struct deliver_result *result)
{
	try->done(result, try->arg);
	try_free(try);
}

static void
sent(struct delivery_try *try, const char *ref)
{
	finish(try,
	    &(struct deliver_result){
		.state = DELIVERY_SENT, .ref = ref, .retry_after_ms = -1 });
}

static void
failed(struct delivery_try *try, const char *reason, int64_t retry_after_ms)
{
	finish(try,
	    &(struct deliver_result){ .state = DELIVERY_WAITING,
		.reason = reason,
		.retry_after_ms = retry_after_ms });
}

static void
on_soon(void *arg)
{
	struct delivery_try *try = arg;

	finish(try,
	    &(struct deliver_result){ .state = try->state,
		.reason = try->why.msg,
		.retry_after_ms = -1 });
}

/* It ended before it began; the caller gets to know from the loop. */
static void
end_soon(struct delivery_try *try, enum delivery_state state)
{
	try->state = state;
	try->soon = loop_after(try->loop, 1, on_soon, try);
}

/* --- programs --------------------------------------------------------- */

static void
on_program(const struct child_result *result, void *arg)
{
	struct delivery_try *try = arg;
	cleanup_buf struct buf how = BUF_INIT, said = BUF_INIT;

	try->child = NULL;
	if (child_succeeded(result)) {
		sent(try, NULL);
		return;
	}
	if (result->start_error == -ENOENT &&
	    try->channel->type == CHANNEL_DESKTOP) {
		finish(try,
		    &(struct deliver_result){ .state = DELIVERY_SKIPPED,
			.reason = "notify-send is not installed",
			.retry_after_ms = -1 });
		return;
	}
	child_output_text(&result->err, &said);
	child_result_describe(result, &how);
	if (said.len > 0)
		buf_addf(&how, ": %s", said.data);
	failed(try, how.data, -1);
}

static void
run(struct delivery_try *try, const char *const *argv, const struct buf *input)
{
	const char *hide = try->channel->token_env;
	const char *env[] = { hide, NULL };
	struct child_spec spec = { .argv = argv,
		.env = hide[0] != '\0' ? env : NULL,
		.input = input != NULL ? input->data : NULL,
		.input_len = input != NULL ? input->len : 0,
		.deadline_ms = DELIVER_COMMAND_MS,
		.output_max = OUTPUT_MAX };

	if (child_spawn(
		try->loop, &spec, on_program, try, &try->child, &try->why) < 0)
		end_soon(try, DELIVERY_WAITING);
}

bool
deliver_has_desktop(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *bus =
	    runtime != NULL ? xasprintf("%s/bus", runtime) : NULL;

	return (getenv("DISPLAY") != NULL ||
		   getenv("WAYLAND_DISPLAY") != NULL) &&
	    (getenv("DBUS_SESSION_BUS_ADDRESS") != NULL ||
		(bus != NULL && file_exists(bus)));
}

static void
start_desktop(struct delivery_try *try)
{
	cleanup_buf struct buf title = BUF_INIT, text = BUF_INIT;
	const char *argv[] = { "notify-send", "--app-name=llmc", "--urgency",
		message_urgency(try->record), "--", NULL, NULL, NULL };

	if (!deliver_has_desktop()) {
		err_set(&try->why, -ENXIO, "there is no desktop session");
		end_soon(try, DELIVERY_SKIPPED);
		return;
	}
	message_desktop(try->record, &title, &text);
	argv[5] = title.data;
	argv[6] = text.data;
	run(try, argv, NULL);
}

static void
start_command(struct delivery_try *try)
{
	cleanup_strv char **argv =
	    kept_shell(try->channel->command, KEPT_ALONE);
	cleanup_buf struct buf text = BUF_INIT;

	message_webhook(try->record, CHANNEL_JSON, &text);
	buf_addc(&text, '\n');
	run(try, strv_const(argv), &text);
}

/* --- HTTP, by the program curl ---------------------------------------- */

char *
deliver_token_path(const struct channel *channel, const char *root)
{
	return channel->token_file[0] != '\0' ?
	    file_join(root, channel->token_file) :
	    NULL;
}

int
deliver_token(const struct channel *channel, const char *root, struct buf *out,
    struct err *err)
{
	cleanup_free char *path = deliver_token_path(channel, root);
	const char *value;
	struct buf text = BUF_INIT;
	int r;

	if (path != NULL)
		return curl_token(path, out, err);
	if (channel->token_env[0] == '\0')
		return 0;
	value = getenv(channel->token_env);
	if (value == NULL)
		return err_set(err, -ENOENT,
		    "the environment variable %s is not set",
		    channel->token_env);
	buf_adds(&text, value);
	r = curl_token_take(&text, channel->token_env, out, err);
	buf_release(&text);
	return r;
}

static void next_request(struct delivery_try *try);

static int64_t
retry_ms(const struct http_answer *answer)
{
	return answer->retry_after_s < 0 ? -1 : answer->retry_after_s * 1000;
}

static void
after_issue_step(struct delivery_try *try, const struct http_answer *answer)
{
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };
	char ref[32];

	json_parse(
	    answer->body, answer->body_len, CURL_ANSWER_MAX, &json, NULL);
	if (issue_dialog_answered(&try->dialog, answer->status, json, &err) <
	    0) {
		char *words = err.msg;
		struct buf token = BUF_INIT;

		/* A server may repeat the token in its words. */
		if (deliver_token(try->channel, try->root, &token, NULL) == 0 &&
		    token.len > 0)
			while ((words = strstr(words, token.data)) != NULL)
				memset(words, '*', token.len);
		explicit_bzero(token.data, token.len);
		buf_release(&token);
		failed(try, err.msg, retry_ms(answer));
	} else if (try->dialog.step == ISSUE_DONE) {
		snprintf(ref, sizeof ref, "#%" PRId64, try->dialog.issue);
		sent(try, ref);
	} else {
		next_request(try);
	}
}

static void
on_curl(const struct http_answer *answer, const struct err *err, void *arg)
{
	struct delivery_try *try = arg;

	try->curl = NULL;
	if (answer == NULL) {
		failed(try, err->msg, -1);
	} else if (try->channel->type == CHANNEL_WEBHOOK) {
		cleanup_free char *reason = NULL;

		if (answer->status >= 200 && answer->status <= 299) {
			sent(try, NULL);
			return;
		}
		reason = xasprintf("the server answered %d", answer->status);
		failed(try, reason, retry_ms(answer));
	} else {
		after_issue_step(try, answer);
	}
}

/* Ask; the request has what is the same for all of them added. */
static void
ask(struct delivery_try *try, const char *method, const struct buf *url,
    const struct buf *body)
{
	const struct channel *channel = try->channel;
	cleanup_free char *file = xasprintf(
	    "%s/%s-%s.body", try->dir, try->record->id, channel->name);
	struct buf token = BUF_INIT, header = BUF_INIT;
	struct http_request request = { .method = method,
		.url = url->data,
		.event_id = try->record->id,
		.accept = issue_dialog_accept(channel) };
	int r = deliver_token(channel, try->root, &token, &try->why);

	if (r == 0) {
		issue_dialog_authorization(channel, token.data, &header);
		if (token.len > 0)
			request.authorization = header.data;
		r = curl_start(try->loop, &request, file, body,
		    channel->token_env, on_curl, try, &try->curl, &try->why);
	}
	explicit_bzero(token.data, token.len);
	explicit_bzero(header.data, header.len);
	buf_release(&token);
	buf_release(&header);
	if (r < 0)
		end_soon(try, DELIVERY_WAITING);
}

static void
start_webhook(struct delivery_try *try)
{
	cleanup_buf struct buf url = BUF_INIT, body = BUF_INIT;

	const char *topic = strrchr(try->channel->url, '/');

	buf_adds(&url, try->channel->url);
	if (try->channel->format == CHANNEL_NTFY && topic != NULL) {
		buf_truncate(&url, (size_t)(topic - try->channel->url));
		message_ntfy(try->record, topic + 1, &body);
	} else
		message_webhook(try->record, try->channel->format, &body);
	ask(try, "POST", &url, &body);
}

static void
next_request(struct delivery_try *try)
{
	cleanup_buf struct buf url = BUF_INIT, body = BUF_INIT;
	const char *method = issue_dialog_request(&try->dialog, &url, &body);

	ask(try, method, &url, &body);
}

/* --- all of them ------------------------------------------------------ */

struct delivery_try *
deliver_start(struct loop *loop, const char *dir, const char *root,
    const struct channel *channel, const struct message *record,
    deliver_fn *done, void *arg)
{
	struct delivery_try *try = xcalloc(1, sizeof *try);

	*try = (struct delivery_try){ .loop = loop,
		.dir = xstrdup(dir),
		.root = xstrdup(root),
		.channel = channel,
		.record = record,
		.done = done,
		.arg = arg };
	switch (channel->type) {
	case CHANNEL_DESKTOP:
		start_desktop(try);
		break;
	case CHANNEL_WEBHOOK:
		start_webhook(try);
		break;
	case CHANNEL_GITEA:
	case CHANNEL_GITHUB:
		issue_dialog_begin(&try->dialog, channel, record);
		next_request(try);
		break;
	case CHANNEL_COMMAND:
	case CHANNEL_TYPE_COUNT:
		start_command(try);
		break;
	}
	return try;
}

void
deliver_cancel(struct delivery_try *try)
{
	if (try == NULL)
		return;
	if (try->child != NULL && try->channel->type == CHANNEL_COMMAND)
		child_release(try->child);
	else if (try->child != NULL)
		child_abandon(try->child);
	curl_abandon(try->curl);
	try_free(try);
}
