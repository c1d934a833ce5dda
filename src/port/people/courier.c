/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "channel.h"
#include "courier.h"
#include "deliver.h"
#include "loop.h"

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
