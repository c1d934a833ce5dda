/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "channel.h"
#include "child.h"
#include "courier.h"
#include "http-request.h"
#include "curl.h"
#include "issue-dialog.h"
#include "loop.h"
#include "message.h"
#include "sibling.h"

#define RECENT_MAX 64 /* failures that are merged */
#define LOOK_MAX_MS                                              \
	(60 * 60 * (int64_t)1000) /* between looks at what waits \
				   */

/* A failure that was reported a short time ago. */
struct recent {
	LIST_ENTRY(recent) link;
	char *signature;
	enum escalation_level level;
	int64_t until_ms; /* the end of the pause */
	char held[ID_ULID_SIZE]; /* the message at its end; "" = none */
};

struct item {
	TAILQ_ENTRY(item) link;
	struct message *message;
	int sendings;
	bool unsaved;
	bool at_once; /* a command need not wait until it is saved */
};

struct sending {
	LIST_ENTRY(sending) link;
	struct courier *courier;
	struct item *item;
	struct channel channel; /* a copy: the settings may change */
	struct delivery_try *try; /* NULL: not before it is saved */
	bool left; /* then not at all */
};

/* How much of its share a channel has used up. */
struct share {
	LIST_ENTRY(share) link;
	char *channel;
	int64_t paid_ms;
};

struct courier {
	struct loop *loop;
	char *dir, *root, *program;
	struct courier_store store;
	struct channel_list channels;
	TAILQ_HEAD(items, item) items; /* the oldest first */
	LIST_HEAD(recents, recent) recents;
	LIST_HEAD(sendings, sending) sendings;
	LIST_HEAD(shares, share) shares;
	struct loop_timer *timer;
	struct loop_call *look;
	int64_t next_ms; /* of a look: how long to wait for the next one */
	void (*idle)(void *arg);
	void *idle_arg;
};

static void on_look(void *arg);

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

static void deliver_cancel(struct delivery_try *try);

struct courier *
courier_new(struct loop *loop, const char *root, const char *program,
    const struct courier_store *store)
{
	struct courier *c = xcalloc(1, sizeof *c);

	c->loop = loop;
	c->root = xstrdup(root);
	c->dir = xasprintf("%s/.llmc", root);
	c->program = xstrdup(program);
	c->store = *store;
	TAILQ_INIT(&c->items);
	c->look = loop_call_new(loop, on_look, c);
	return c;
}

bool
courier_is_busy(const struct courier *c)
{
	return !LIST_EMPTY(&c->sendings);
}

void
courier_on_idle(struct courier *c, void (*idle)(void *arg), void *arg)
{
	c->idle = idle;
	c->idle_arg = arg;
}

static void
look_soon(struct courier *c)
{
	if (c->channels.count > 0)
		loop_call_request(c->look);
}

void
courier_channels(struct courier *c, const struct channel_list *channels)
{
	channel_list_release(&c->channels);
	channel_list_copy(channels, &c->channels);
	look_soon(c);
}

/* --- what waits ------------------------------------------------------- */

static struct item *
find(const struct courier *c, const char *id)
{
	struct item *item;

	TAILQ_FOREACH (item, &c->items, link)
		if (strcmp(item->message->id, id) == 0)
			return item;
	return NULL;
}

static void
save(struct courier *c, struct item *item)
{
	item->message->done = message_is_done(item->message);
	if (!item->unsaved)
		c->store.save(item->message, c->store.arg);
}

static void
item_free(struct courier *c, struct item *item)
{
	TAILQ_REMOVE(&c->items, item, link);
	message_free(item->message);
	free(item);
}

/* A channel that is down for long must not delay new messages to others: the
 * oldest message that is not being sent is given up. */
static void
make_room(struct courier *c)
{
	struct item *item, *oldest = NULL;
	size_t count = 0;

	TAILQ_FOREACH (item, &c->items, link) {
		count++;
		if (oldest == NULL && item->sendings == 0)
			oldest = item;
	}
	if (count < COURIER_WAITING_MAX || oldest == NULL)
		return;
	message_end(oldest->message, DELIVERY_FAILED, "too many messages wait");
	save(c, oldest);
	item_free(c, oldest);
}

static struct item *
add(struct courier *c, struct message *message)
{
	struct item *item = xcalloc(1, sizeof *item);

	make_room(c);
	item->message = message;
	TAILQ_INSERT_TAIL(&c->items, item, link);
	look_soon(c);
	return item;
}

void
courier_take(struct courier *c, struct message *message)
{
	struct item *item = find(c, message->id);

	if (item != NULL && message_learn(item->message, message))
		save(c, item);
	if (item != NULL || message_is_done(message))
		message_free(message);
	else
		add(c, message);
}

void
courier_leave(struct courier *c, const char *id)
{
	struct item *item = find(c, id);
	struct sending *s;

	LIST_FOREACH (s, &c->sendings, link)
		s->left = s->left || s->item == item;
	if (item != NULL && item->sendings == 0)
		item_free(c, item);
}

/* --- new ones --------------------------------------------------------- */

static void
recent_free(struct recent *r)
{
	LIST_REMOVE(r, link);
	free(r->signature);
	free(r);
}

/* One that is over is forgotten; if there was a message at its end, that began
 * the next pause. */
static struct recent *
recent_find(struct courier *c, const struct escalation *what, int64_t now)
{
	struct recent *r, *next, *found = NULL;

	for (r = LIST_FIRST(&c->recents); r != NULL; r = next) {
		next = LIST_NEXT(r, link);
		if (now >= r->until_ms && r->held[0] != '\0') {
			r->until_ms += COURIER_PAUSE_MS;
			r->held[0] = '\0';
		}
		if (now >= r->until_ms)
			recent_free(r);
		else if (r->level == what->level &&
		    strcmp(r->signature, what->signature) == 0)
			found = r;
	}
	return found;
}

/* False: no channel takes it. */
static bool
put(struct courier *c, const struct escalation *what, int64_t wait_ms,
    char ret_id[ID_ULID_SIZE])
{
	int64_t now = clock_wall_ms();
	char stamp[CLOCK_STAMP_SIZE];
	struct message *message;
	struct item *item;

	id_ulid(now, ret_id);
	clock_format_stamp(now, stamp);
	message = message_new(what, &c->channels, ret_id, stamp, c->root,
	    c->program, wait_ms > 0 ? now + wait_ms : 0);
	if (message == NULL)
		return false;
	item = add(c, message);
	item->unsaved = what->unsaved;
	item->at_once = what->unsaved || what->event == NULL;
	save(c, item);
	return true;
}

static bool
is_begun(const struct message *message)
{
	for (size_t i = 0; i < message->delivery_count; i++)
		if (message->deliveries[i].attempts > 0)
			return true;
	return false;
}

void
courier_put(struct courier *c, const struct escalation *what)
{
	int64_t now = clock_mono_ms();
	struct recent *r = recent_find(c, what, now);
	struct item *held = r != NULL ? find(c, r->held) : NULL;
	char id[ID_ULID_SIZE];

	if (what->event != NULL) {
		if (!c->store.knows(what->event, c->store.arg))
			put(c, what, 0, id);
	} else if (held != NULL && !is_begun(held->message)) {
		message_add(held->message, what);
		save(c, held);
	} else if (!put(c, what, r != NULL ? r->until_ms - now : 0, id)) {
		return;
	} else if (r != NULL) {
		strlcpy(r->held, id, sizeof r->held);
	} else {
		size_t count = 0;

		LIST_FOREACH (r, &c->recents, link)
			count++;
		if (count >= RECENT_MAX)
			return;
		r = xcalloc(1, sizeof *r);
		r->signature = xstrdup(what->signature);
		r->level = what->level;
		r->until_ms = now + COURIER_PAUSE_MS;
		LIST_INSERT_HEAD(&c->recents, r, link);
	}
}

/* --- sending ---------------------------------------------------------- */

static void
look_again_in(struct courier *c, int64_t ms)
{
	if (ms < c->next_ms)
		c->next_ms = ms;
}

static void
sending_free(struct sending *s)
{
	LIST_REMOVE(s, link);
	channel_release(&s->channel);
	s->item->sendings--;
	free(s);
}

static void
on_delivered(const struct deliver_result *result, void *arg)
{
	struct sending *s = arg;
	struct courier *c = s->courier;
	struct item *item = s->item;
	struct delivery *d = message_delivery(item->message, s->channel.name);

	if (result->state == DELIVERY_WAITING) {
		delivery_failed(
		    d, result->reason, result->retry_after_ms, clock_wall_ms());
		log_info("people.channels.%s: try %d of %s failed: %s",
		    s->channel.name, d->attempts, item->message->id,
		    d->reason != NULL ? d->reason : "");
	} else {
		delivery_end(d, result->state, result->reason, result->ref);
	}
	sending_free(s);
	save(c, item);
	if (item->message->done && item->sendings == 0)
		item_free(c, item);
	if (LIST_EMPTY(&c->sendings)) {
		on_look(c);
		if (LIST_EMPTY(&c->sendings) && c->idle != NULL)
			c->idle(c->idle_arg);
	} else {
		loop_call_request(c->look);
	}
}

static void
on_saved(void *arg)
{
	struct sending *s = arg;
	struct courier *c = s->courier;
	struct item *item = s->item;

	if (s->left) {
		sending_free(s);
		if (item->sendings == 0)
			item_free(c, item);
		return;
	}
	s->try = deliver_start(c->loop, c->dir, c->root, &s->channel,
	    item->message, on_delivered, s);
}

/* 0 = the channel may send now, and that is counted. */
static int64_t
rest(struct courier *c, const char *channel)
{
	struct share *share;

	LIST_FOREACH (share, &c->shares, link)
		if (strcmp(share->channel, channel) == 0)
			break;
	if (share == NULL) {
		share = xcalloc(1, sizeof *share);
		share->channel = xstrdup(channel);
		LIST_INSERT_HEAD(&c->shares, share, link);
	}
	return channel_rest_ms(
	    share->paid_ms, clock_wall_ms(), &share->paid_ms);
}

static void
try_send(struct courier *c, struct item *item, struct delivery *d)
{
	const struct channel *channel = channel_find(&c->channels, d->channel);
	struct sending *s;
	int64_t wait;

	if (channel == NULL || !channel->enabled) {
		delivery_end(d, DELIVERY_SKIPPED,
		    "the channel is not in the settings any more", NULL);
		save(c, item);
		return;
	}
	LIST_FOREACH (s, &c->sendings, link)
		if (strcmp(s->channel.name, d->channel) == 0)
			return;
	wait = rest(c, d->channel);
	if (wait > 0) {
		look_again_in(c, wait);
		return;
	}
	delivery_begin(d, clock_wall_ms());
	save(c, item);
	s = xcalloc(1, sizeof *s);
	s->courier = c;
	s->item = item;
	item->sendings++;
	channel_copy(channel, &s->channel);
	LIST_INSERT_HEAD(&c->sendings, s, link);
	/* A command needs no file, and tells of a disk that takes none. */
	if (channel->type == CHANNEL_COMMAND && item->at_once)
		on_saved(s);
	else
		c->store.then(c, on_saved, s, c->store.arg);
}

static void
on_look(void *arg)
{
	struct courier *c = arg;
	struct item *item, *next;

	c->next_ms = LOOK_MAX_MS;
	for (item = TAILQ_FIRST(&c->items); item != NULL; item = next) {
		next = TAILQ_NEXT(item, link);
		for (size_t i = 0; i < item->message->delivery_count; i++) {
			struct delivery *d = &item->message->deliveries[i];
			int64_t wait = delivery_wait_ms(d, clock_wall_ms());

			if (d->state != DELIVERY_WAITING)
				continue;
			if (wait > 0)
				look_again_in(c, wait);
			else
				try_send(c, item, d);
		}
		if (message_is_done(item->message) && item->sendings == 0)
			item_free(c, item);
	}
	loop_timer_free(take_ptr(&c->timer));
	if (!TAILQ_EMPTY(&c->items))
		c->timer = loop_after(c->loop, c->next_ms, on_look, c);
}

/* What was not saved yet is not begun. */
static void
take_back(struct courier *c)
{
	struct sending *s, *next;

	c->store.forget(c, c->store.arg);
	for (s = LIST_FIRST(&c->sendings); s != NULL; s = next) {
		next = LIST_NEXT(s, link);
		if (s->try != NULL)
			continue;
		message_delivery(s->item->message, s->channel.name)->next_ms =
		    0;
		save(c, s->item);
		sending_free(s);
	}
}

void
courier_hurry(struct courier *c)
{
	struct item *item;

	take_back(c);
	TAILQ_FOREACH (item, &c->items, link)
		if (!is_begun(item->message))
			for (size_t i = 0; i < item->message->delivery_count;
			     i++)
				item->message->deliveries[i].next_ms = 0;
	if (c->channels.count > 0)
		on_look(c);
}

void
courier_free(struct courier *c)
{
	struct recent *r;
	struct sending *s;
	struct share *share;
	struct item *item;

	if (c == NULL)
		return;
	take_back(c);
	while ((s = LIST_FIRST(&c->sendings)) != NULL) {
		deliver_cancel(s->try);
		sending_free(s);
	}
	while ((item = TAILQ_FIRST(&c->items)) != NULL)
		item_free(c, item);
	while ((r = LIST_FIRST(&c->recents)) != NULL)
		recent_free(r);
	while ((share = LIST_FIRST(&c->shares)) != NULL) {
		LIST_REMOVE(share, link);
		free(share->channel);
		free(share);
	}
	loop_timer_free(c->timer);
	loop_call_free(c->look);
	channel_list_release(&c->channels);
	free(c->dir);
	free(c->root);
	free(c->program);
	free(c);
}

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
	if (said.len > 0) {
		buf_adds(&how, ": ");
		text_add_words(&how, said.data, said.len);
	}
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

/* Give it up; done is not called. What has begun may still arrive. */
static void
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
