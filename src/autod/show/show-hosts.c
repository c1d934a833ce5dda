/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "hosts-floor.h"
#include "loop.h"
#include "shared.h"
#include "show.h"
#include "view.h"

#define KEEP_MS     2000 /* what others posted is not older than that */
#define SOON_MS     150 /* a caller waits so long for it */
#define DEADLINE_MS 10000
#define WAITING_MAX 64

/* A host, as it was read last. */
struct known {
	char *host, *state, *version, *ssh;
	struct buf can; /* its words */
	int64_t slots, seen_ms, lease_ms;
	struct json_object *part;
};

struct waiting {
	void (*fn)(void *arg);
	void *arg;
};

struct show_hosts {
	struct loop *loop;
	struct hosts_floor *floor; /* NULL = no fleet */
	show_hosts_fn *on_read;
	void *arg;

	struct known *known;
	size_t count;
	int64_t read_ms; /* monotonic; 0 = never */
	bool reading;
	struct loop_timer *again; /* for those who follow */
	struct waiting waiting[WAITING_MAX];
	size_t waiting_count;
	struct loop_timer *late; /* those who wait are answered */
};

static void read_hosts(struct show_hosts *h);

/* NULL = there is no fleet, or it has not begun. */
static struct shared *
book_of(const struct show_hosts *h)
{
	return hosts_floor_shared(h->floor);
}

struct show_hosts *
show_hosts_new(struct loop *loop, struct hosts_floor *floor,
    show_hosts_fn *on_read, void *arg)
{
	struct show_hosts *h = xcalloc(1, sizeof *h);

	h->loop = loop;
	h->floor = floor;
	h->on_read = on_read;
	h->arg = arg;
	return h;
}

static void
forget(struct show_hosts *h)
{
	for (size_t i = 0; i < h->count; i++) {
		struct known *k = &h->known[i];

		free(k->host);
		free(k->state);
		free(k->version);
		free(k->ssh);
		buf_release(&k->can);
		json_object_put(k->part);
	}
	free(take_ptr(&h->known));
	h->count = 0;
}

static void
answer(struct show_hosts *h)
{
	loop_timer_free(take_ptr(&h->late));
	while (h->waiting_count > 0) {
		struct waiting w = h->waiting[--h->waiting_count];

		w.fn(w.arg);
	}
}

void
show_hosts_free(struct show_hosts *h)
{
	if (h == NULL)
		return;
	if (book_of(h) != NULL)
		shared_forget(book_of(h), h);
	answer(h);
	loop_timer_free(h->again);
	forget(h);
	free(h);
}

const char *
show_hosts_name(const struct show_hosts *h)
{
	return hosts_floor_name(h->floor);
}

/* --- what the others posted ------------------------------------------- */

/* Times of the database are told as ages, and shown by our clock. */
static void
take_host(struct known *k, const struct shared_rows *rows, size_t i,
    const struct shared_rows *cans)
{
	int64_t now = clock_wall_ms(), left = shared_int(rows, i, "lease_left");
	const char *state = shared_text(rows, i, "state");
	const char *view = shared_text(rows, i, "view");
	bool up = strcmp(state, "up") == 0;

	k->host = xstrdup(shared_text(rows, i, "host"));
	k->state = xstrdup(up && left < 0                  ? "lost" :
		up && shared_int(rows, i, "draining") != 0 ? "drain" :
							     state);
	xstrset(&k->version, shared_text(rows, i, "version"));
	xstrset(&k->ssh, shared_text(rows, i, "ssh"));
	k->slots = shared_int(rows, i, "slots");
	if (strcmp(state, "new") != 0) {
		k->seen_ms = now - shared_int(rows, i, "seen_ago");
		k->lease_ms = now + left;
	}
	if (view != NULL)
		json_parse(
		    view, strlen(view), 2 * SHOW_PART_MAX, &k->part, NULL);
	if (!json_object_is_type(k->part, json_type_object))
		json_object_put(take_ptr(&k->part));
	for (size_t n = 0; n < cans->count; n++)
		if (strcmp(shared_text(cans, n, "host"), k->host) == 0)
			buf_addf(&k->can, "%s%s", k->can.len > 0 ? " " : "",
			    shared_text(cans, n, "word"));
}

static void
on_again(void *arg)
{
	struct show_hosts *h = arg;

	loop_timer_free(take_ptr(&h->again));
	read_hosts(h);
}

static void
on_hosts(const struct shared_answer *a, void *arg)
{
	struct show_hosts *h = arg;
	bool goes_on;

	h->reading = false;
	h->read_ms = clock_mono_ms();
	if (a->verdict == SHARED_DONE) {
		const struct shared_rows *rows = &a->of[0];

		forget(h);
		h->known = xcalloc(rows->count + 1, sizeof *h->known);
		for (; h->count < rows->count; h->count++)
			take_host(
			    &h->known[h->count], rows, h->count, &a->of[1]);
	}
	goes_on = h->on_read(a->verdict == SHARED_DONE, h->arg);
	answer(h);
	if (goes_on && h->again == NULL)
		h->again = loop_after(h->loop, KEEP_MS, on_again, h);
}

static void
read_hosts(struct show_hosts *h)
{
	const struct shared_call calls[] = { SHARED_CALL0(SHARED_HOSTS),
		SHARED_CALL0(SHARED_HOST_CANS) };

	if (book_of(h) == NULL || h->reading)
		return;
	h->reading = true;
	shared_ask(book_of(h), calls, nitems(calls), DEADLINE_MS, on_hosts, h);
}

static bool
is_fresh(const struct show_hosts *h)
{
	return book_of(h) == NULL ||
	    (h->read_ms != 0 && clock_mono_ms() - h->read_ms < KEEP_MS);
}

static void
on_late(void *arg)
{
	answer(arg);
}

bool
show_hosts_wait(struct show_hosts *h, void (*fn)(void *arg), void *arg)
{
	if (is_fresh(h) || h->waiting_count == WAITING_MAX)
		return false;
	h->waiting[h->waiting_count++] = (struct waiting){ fn, arg };
	if (h->late == NULL)
		h->late = loop_after(h->loop, SOON_MS, on_late, h);
	read_hosts(h);
	return true;
}

void
show_hosts_fill(struct show_hosts *h, bool followed, struct json_object *view)
{
	const char *name = hosts_floor_name(h->floor);
	bool found = false;

	if (book_of(h) == NULL)
		return;
	if (followed && !is_fresh(h))
		read_hosts(h);
	/* This host first: what is in the view is its own until then. */
	for (size_t i = 0; i < 2 * h->count; i++) {
		bool first = i < h->count;
		const struct known *k = &h->known[first ? i : i - h->count];
		bool here = strcmp(k->host, name) == 0;

		if (here != first)
			continue;
		found = found || here;
		view_hosts_add(view,
		    &(struct view_host){ .host = k->host,
			.state = k->state,
			.version = k->version,
			.ssh = k->ssh,
			.can = k->can.data,
			.here = here,
			.slots = k->slots,
			.seen_ms = k->seen_ms / 1000 * 1000,
			.lease_ms = k->lease_ms / 1000 * 1000,
			.part = k->part });
	}
	if (!found) /* the shared book was not read yet, or does not know us */
		view_hosts_add(view,
		    &(struct view_host){
			.host = name, .state = "new", .here = true });
	json_set_string(
	    view_of(view, "head"), "fleet_away", hosts_floor_words(h->floor));
}
