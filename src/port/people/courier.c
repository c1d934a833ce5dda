/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "channel.h"
#include "claims.h"
#include "clock.h"
#include "courier.h"
#include "deliver.h"
#include "errtext.h"
#include "id.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "outbox-record.h"
#include "outbox.h"
#include "strv.h"
#include "unsaved.h"

#define RECENT_MAX 64 /* failures that are merged */
#define HELD_MS    (5 * 1000) /* until others send what we hold back */
#define CONTEST_MS 1000 /* another process has the channel or the entry */
#define TROUBLE_MS (60 * 1000) /* after a failure of the disk */

/* A failure that was told of a short time ago. */
struct recent {
	LIST_ENTRY(recent) link;
	struct courier *courier;
	char *signature;
	enum escalation_level level;
	struct loop_timer *pause;
	struct outbox_record *held; /* until it is over; NULL = nothing */
	bool unwritten;
};

struct sending {
	LIST_ENTRY(sending) link;
	struct courier *courier;
	struct claim *claim;
	struct channel channel; /* a copy: the settings may change */
	int lock;
	struct delivery_try *try;
};

struct courier {
	struct loop *loop;
	char *dir, *root, *program;
	struct channel_list channels;
	LIST_HEAD(recents, recent) recents;
	struct claims claims;
	LIST_HEAD(sendings, sending) sendings;
	struct unsaved unsaved;
	struct loop_timer *timer;
	struct loop_call *look, *write;
	int64_t next_ms; /* of a look: how long to wait for the next one */
	void (*idle)(void *arg);
	void *idle_arg;
};

static void on_look(void *arg);
static void on_write(void *arg);

struct courier *
courier_new(struct loop *loop, const char *root, const char *program)
{
	struct courier *c = xcalloc(1, sizeof *c);

	c->loop = loop;
	c->root = xstrdup(root);
	c->dir = xasprintf("%s/.llmc/outbox", root);
	c->program = xstrdup(program);
	c->look = loop_call_new(loop, on_look, c);
	c->write = loop_call_new(loop, on_write, c);
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

void
courier_channels(struct courier *c, const struct channel_list *channels)
{
	channel_list_release(&c->channels);
	channel_list_copy(channels, &c->channels);
	if (c->channels.count > 0)
		loop_call_request(c->look);
}

/* --- what was told of a short time ago -------------------------------- */

static void
recent_free(struct recent *r)
{
	LIST_REMOVE(r, link);
	loop_timer_free(r->pause);
	outbox_record_free(r->held);
	free(r->signature);
	free(r);
}

static struct recent *
recent_find(const struct courier *c, const struct escalation *what)
{
	struct recent *r;

	LIST_FOREACH (r, &c->recents, link)
		if (r->level == what->level &&
		    strcmp(r->signature, what->signature) == 0)
			return r;
	return NULL;
}

static size_t
recent_count(const struct courier *c)
{
	const struct recent *r;
	size_t count = 0;

	LIST_FOREACH (r, &c->recents, link)
		count++;
	return count;
}

static void
on_write(void *arg)
{
	struct courier *c = arg;
	struct recent *r = LIST_FIRST(&c->recents);

	for (; r != NULL; r = LIST_NEXT(r, link)) {
		if (r->held != NULL && r->unwritten)
			unsaved_try(c->dir, r->held);
		r->unwritten = false;
	}
}

/* Nobody else looks at it before HELD_MS later. */
static void
let_go(struct recent *r)
{
	struct outbox_record *held = r->held;

	for (size_t i = 0; i < held->delivery_count; i++)
		held->deliveries[i].next_ms = 0;
	unsaved_put(&r->courier->unsaved, r->courier->dir, take_ptr(&r->held));
	loop_call_request(r->courier->look);
}

static void
on_pause_over(void *arg)
{
	struct recent *r = arg;

	if (r->held == NULL) {
		recent_free(r);
		return;
	}
	let_go(r);
	loop_timer_restart(r->pause, COURIER_PAUSE_MS);
}

void
courier_hurry(struct courier *c)
{
	struct recent *r;

	LIST_FOREACH (r, &c->recents, link)
		if (r->held != NULL)
			let_go(r);
	if (c->channels.count > 0)
		on_look(c);
}

static struct outbox_record *
record_of(
    const struct courier *c, const struct escalation *what, int64_t wait_ms)
{
	int64_t now = clock_wall_ms();
	char id[ID_ULID_SIZE], stamp[CLOCK_STAMP_SIZE];

	id_ulid(now, id);
	clock_format_stamp(now, stamp);
	return outbox_record_new(what, &c->channels, id, stamp, c->root,
	    c->program, wait_ms > 0 ? now + wait_ms : 0);
}

static void
hold(struct courier *c, struct recent *r, const struct escalation *what)
{
	int64_t wait = loop_timer_remaining(r->pause, clock_mono_ms());

	if (r->held != NULL)
		outbox_record_again(r->held, what);
	else
		r->held = record_of(c, what, wait + HELD_MS);
	if (r->held == NULL)
		return;
	r->unwritten = true;
	loop_call_request(c->write);
}

/* False: nobody gets it. */
static bool
put_now(
    struct courier *c, const struct escalation *what, char ret_id[ID_ULID_SIZE])
{
	struct outbox_record *record = record_of(c, what, 0);

	if (record == NULL)
		return false;
	strlcpy(ret_id, record->id, ID_ULID_SIZE);
	unsaved_put(&c->unsaved, c->dir, record);
	if (c->channels.count > 0)
		loop_call_request(c->look);
	return true;
}

static bool
is_wanted(const struct courier *c, const struct escalation *what)
{
	for (size_t i = 0; i < c->channels.count; i++)
		if (channel_takes(&c->channels.rows[i], what))
			return true;
	return what->by_command;
}

bool
courier_put_once(
    struct courier *c, const struct escalation *what, char ret_id[ID_ULID_SIZE])
{
	return is_wanted(c, what) &&
	    unsaved_find(&c->unsaved, NULL, what->event) == NULL &&
	    !outbox_knows(c->dir, what->event) && put_now(c, what, ret_id);
}

void
courier_put(struct courier *c, const struct escalation *what)
{
	struct recent *r = recent_find(c, what);
	char id[ID_ULID_SIZE];

	if (r != NULL) {
		hold(c, r, what);
		return;
	}
	if (!put_now(c, what, id))
		return;
	if (recent_count(c) >= RECENT_MAX)
		return;
	r = xcalloc(1, sizeof *r);
	r->courier = c;
	r->signature = xstrdup(what->signature);
	r->level = what->level;
	r->pause = loop_after(c->loop, COURIER_PAUSE_MS, on_pause_over, r);
	LIST_INSERT_HEAD(&c->recents, r, link);
}

/* --- sending ---------------------------------------------------------- */

static bool
is_sending(const struct courier *c, const char *channel)
{
	const struct sending *s;

	LIST_FOREACH (s, &c->sendings, link)
		if (strcmp(s->channel.name, channel) == 0)
			return true;
	return false;
}

static void
look_again_in(struct courier *c, int64_t ms)
{
	if (ms < c->next_ms)
		c->next_ms = ms;
}

static bool
save(struct courier *c, struct claim *claim)
{
	struct err err = { 0 };

	if (outbox_save(claim->entry, &err) == 0)
		return true;
	log_info("the outbox cannot be written: %s", err.msg);
	look_again_in(c, TROUBLE_MS);
	return false;
}

static void
sending_free(struct sending *s)
{
	struct claim *claim = s->claim;

	LIST_REMOVE(s, link);
	fd_close(s->lock);
	channel_release(&s->channel);
	claim->sendings--;
	claim_release(claim);
	free(s);
}

static void
on_delivered(const struct deliver_result *result, void *arg)
{
	struct sending *s = arg;
	struct courier *c = s->courier;
	struct outbox_delivery *d =
	    outbox_record_delivery(s->claim->entry->record, s->channel.name);

	if (result->state == OUTBOX_WAITING) {
		outbox_delivery_failed(
		    d, result->reason, result->retry_after_ms, clock_wall_ms());
		log_info("people.channels.%s: try %d of %s failed: %s",
		    s->channel.name, d->attempts, s->claim->entry->id,
		    d->reason != NULL ? d->reason : "");
	} else {
		outbox_delivery_end(
		    d, result->state, result->reason, result->ref);
	}
	c->next_ms = COURIER_LOOK_MS;
	save(c, s->claim);
	sending_free(s);
	if (LIST_EMPTY(&c->sendings)) {
		on_look(c);
		if (LIST_EMPTY(&c->sendings) && c->idle != NULL)
			c->idle(c->idle_arg);
	} else {
		loop_call_request(c->look);
	}
}

/* The entry as ours; NULL = not now. */
static struct claim *
claim_take(struct courier *c, const char *id)
{
	struct claim *claim = NULL;

	if (claims_take(&c->claims, c->dir, id, &claim) == -EAGAIN)
		look_again_in(c, CONTEST_MS);
	return claim;
}

bool
courier_end_command(struct courier *c, const char *id, enum outbox_state state,
    const char *reason)
{
	const struct outbox_record *record =
	    unsaved_find(&c->unsaved, id, NULL);
	struct claim *claim = NULL;
	struct outbox_delivery *d;
	int r =
	    record != NULL ? 0 : claims_take(&c->claims, c->dir, id, &claim);

	if (r < 0)
		return r != -EAGAIN;
	if (claim != NULL)
		record = claim->entry->record;
	d = outbox_record_delivery(record, OUTBOX_COMMAND);
	if (d != NULL && d->state == OUTBOX_WAITING) {
		outbox_delivery_end(d, state, reason, NULL);
		if (claim != NULL)
			save(c, claim);
	}
	if (claim != NULL)
		claim_release(claim);
	return true;
}

/* Is it still to be sent, now that it is ours? */
static struct outbox_delivery *
due(const struct claim *claim, const char *channel)
{
	struct outbox_delivery *d =
	    outbox_record_delivery(claim->entry->record, channel);

	return d != NULL && d->state == OUTBOX_WAITING &&
		outbox_delivery_wait_ms(d, clock_wall_ms()) == 0 ?
	    d :
	    NULL;
}

static void
give_up(struct courier *c, const char *id, const char *channel)
{
	struct claim *claim = claim_take(c, id);
	struct outbox_delivery *d = claim != NULL ? due(claim, channel) : NULL;

	if (d != NULL) {
		outbox_delivery_end(d, OUTBOX_SKIPPED,
		    "the channel is not in the settings any more", NULL);
		save(c, claim);
	}
	if (claim != NULL)
		claim_release(claim);
}

static void
send(struct courier *c, const char *id, const struct channel *channel, int lock)
{
	struct claim *claim = claim_take(c, id);
	struct outbox_delivery *d =
	    claim != NULL ? due(claim, channel->name) : NULL;
	struct sending *s;

	if (d != NULL) /* on disk before it is done */
		outbox_delivery_begin(d, clock_wall_ms());
	if (d == NULL || !save(c, claim)) {
		fd_close(lock);
		if (claim != NULL)
			claim_release(claim);
		return;
	}
	s = xcalloc(1, sizeof *s);
	s->courier = c;
	s->claim = claim;
	s->lock = lock;
	outbox_channel_count(lock, clock_wall_ms());
	channel_copy(channel, &s->channel);
	claim->sendings++;
	LIST_INSERT_HEAD(&c->sendings, s, link);
	s->try = deliver_start(c->loop, c->dir, c->root, &s->channel,
	    claim->entry->record, on_delivered, s);
}

static void
try_send(struct courier *c, const char *id, const char *name)
{
	const struct channel *channel = channel_find(&c->channels, name);
	int64_t rest = CONTEST_MS;
	int lock;

	if (channel == NULL || !channel->enabled) {
		give_up(c, id, name);
		return;
	}
	if (is_sending(c, name))
		return;
	lock = outbox_channel_lock(c->dir, name, clock_wall_ms(), &rest);
	if (lock >= 0)
		send(c, id, channel, lock);
	else
		look_again_in(
		    c, lock == -EAGAIN || lock == -EBUSY ? rest : TROUBLE_MS);
}

/* --- the outbox ------------------------------------------------------- */

static bool
is_held(const struct courier *c, const char *id)
{
	const struct recent *r;

	LIST_FOREACH (r, &c->recents, link)
		if (r->held != NULL && strcmp(r->held->id, id) == 0)
			return true;
	return false;
}

static void
look_at(struct courier *c, const char *id)
{
	const struct claim *claim = claims_find(&c->claims, id);
	struct outbox_record *record = NULL;
	cleanup_strv char **names = NULL;
	int64_t wait;
	int r = 0;

	if (claim == NULL)
		r = outbox_load(c->dir, id, &record, NULL);
	if (r == -EINVAL) { /* claiming it puts it aside */
		struct claim *broken = claim_take(c, id);

		if (broken != NULL)
			claim_release(broken);
	}
	if (r < 0)
		return;
	for (size_t i = 0;; i++) {
		const struct outbox_record *seen =
		    claim != NULL ? claim->entry->record : record;
		const struct outbox_delivery *d;

		if (i >= seen->delivery_count)
			break;
		d = &seen->deliveries[i];
		if (d->state != OUTBOX_WAITING ||
		    strcmp(d->channel, OUTBOX_COMMAND) == 0)
			continue;
		wait = outbox_delivery_wait_ms(d, clock_wall_ms());
		if (wait > 0)
			look_again_in(c, wait);
		else
			strv_add(&names, d->channel);
	}
	outbox_record_free(record);
	for (size_t i = 0; names != NULL && names[i] != NULL; i++)
		try_send(c, id, names[i]);
}

static void
on_timer(void *arg)
{
	on_look(arg);
}

static void
on_look(void *arg)
{
	struct courier *c = arg;
	cleanup_strv char **list = NULL;

	unsaved_flush(&c->unsaved, c->dir);
	list = outbox_list(c->dir, false);
	c->next_ms = COURIER_LOOK_MS;
	for (size_t i = 0; list[i] != NULL; i++)
		if (!is_held(c, list[i]))
			look_at(c, list[i]);
	loop_timer_free(take_ptr(&c->timer));
	if (c->channels.count > 0)
		c->timer = loop_after(c->loop, c->next_ms, on_timer, c);
}

void
courier_free(struct courier *c)
{
	struct recent *r;
	struct sending *s;

	if (c == NULL)
		return;
	on_write(c);
	unsaved_flush(&c->unsaved, c->dir);
	unsaved_release(&c->unsaved);
	while ((s = LIST_FIRST(&c->sendings)) != NULL) {
		deliver_cancel(s->try);
		sending_free(s);
	}
	while ((r = LIST_FIRST(&c->recents)) != NULL)
		recent_free(r);
	loop_timer_free(c->timer);
	loop_call_free(c->look);
	loop_call_free(c->write);
	channel_list_release(&c->channels);
	free(c->dir);
	free(c->root);
	free(c->program);
	free(c);
}
