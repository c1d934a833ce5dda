/* SPDX-License-Identifier: ISC */

/* This host and the shared book: who it is, one question at a time, and whether
 * what it holds is certain. */

#include "base.h"
#include "emit.h"
#include "hosts-private.h"
#include "loop.h"
#include "persist.h"
#include "schema.h"

#define BARRED_MS ((int64_t)60 * 1000)

/* --- who this host is --------------------------------------------- */

static const struct schema_field self_fields[] = {
	SCHEMA_FIELD(struct hosts_self, "host", host),
	SCHEMA_FIELD(struct hosts_self, "boot", boot),
	SCHEMA_FIELD(struct hosts_self, "next", next),
	SCHEMA_FIELD(struct hosts_self, "identity", identity),
};
static const struct schema self_schema =
    SCHEMA_OF(struct hosts_self, self_fields);
static const char *const self_keys[] = { "host", NULL };
static const struct book_table self_table = {
	.name = "host_self",
	.fields = self_fields,
	.count = nitems(self_fields),
	.keys = self_keys,
};

static bool
on_self(struct book_row *row, void *arg)
{
	struct hosts_floor *floor = arg;

	book_read(floor->core->book, &self_table, row, &floor->self, NULL);
	return true;
}

int
hosts_self_load(struct hosts_floor *floor, struct err *err)
{
	struct book *book = floor->core->book;
	int r = book_add_table(book, &self_table, err);

	if (r == 0)
		r = book_query(book,
		    "SELECT host_self.* FROM host_self WHERE host_self.host = $1",
		    BOOK_VALUES(BOOK_T(floor->host)), on_self, floor, err);
	if (r < 0)
		return r;
	xstrset(&floor->self.host, floor->host);
	return 0;
}

void
hosts_renew_boot(struct hosts_floor *floor)
{
	char boot[ID_UUID_SIZE];

	id_uuid(boot);
	xstrset(&floor->self.next, boot);
	book_put(floor->core->book, &self_table, &floor->self);
}

void
hosts_know_server(struct hosts_floor *floor)
{
	xstrset(&floor->self.identity, shared_identity(floor->shared));
	book_put(floor->core->book, &self_table, &floor->self);
}

void
hosts_boot_told(struct hosts_floor *floor)
{
	strlcpy(floor->boot, floor->self.next, sizeof floor->boot);
	xstrset(&floor->self.boot, floor->self.next);
	xstrset(&floor->self.next, NULL);
	book_put(floor->core->book, &self_table, &floor->self);
}

void
hosts_self_release(struct hosts_floor *floor)
{
	schema_release(&self_schema, &floor->self);
}

/* --- one thing at a time ------------------------------------------ */

void
hosts_look(struct hosts_floor *floor)
{
	loop_call_request(floor->look);
}

void
hosts_ask(struct hosts_floor *floor, const struct shared_call *calls,
    size_t count, shared_fn *fn)
{
	floor->busy = true;
	shared_ask(floor->shared, calls, count, HOSTS_ANSWER_MS, fn, floor);
}

static void
on_saved(void *arg)
{
	struct hosts_floor *floor = arg;

	floor->busy = false;
	hosts_look(floor);
}

void
hosts_done(struct hosts_floor *floor)
{
	persist_then(floor->core, floor, on_saved, floor);
}

void
hosts_tell_away(
    struct hosts_floor *floor, enum event_kind kind, const char *words)
{
	xstrset(&floor->words, words);
	if (!floor->away)
		emit(floor->core,
		    &(struct event){ .kind = kind, .reason = words });
	floor->away = true;
}

bool
hosts_answered(struct hosts_floor *floor, const struct shared_answer *answer)
{
	int64_t now = clock_boot_ms();

	if (answer->verdict == SHARED_DONE) {
		if (floor->away)
			EMIT(
			    floor->core, EVENT_HOSTS_BACK, .text = floor->host);
		floor->away = false;
		floor->tries = 0;
		free(take_ptr(&floor->words));
		return true;
	}
	floor->unsure = true;
	hosts_tell_away(floor,
	    answer->verdict == SHARED_AWAY ? EVENT_HOSTS_AWAY :
					     EVENT_HOSTS_REFUSED,
	    answer->words != NULL ? answer->words : "no answer");
	floor->rest_ms = now +
	    (answer->verdict == SHARED_AWAY ?
		    hosts_away_ms(floor->tries++, arc4random()) :
		    BARRED_MS);
	return false;
}

bool
hosts_sure(const struct hosts_floor *floor)
{
	return floor->up && !floor->unsure &&
	    hosts_lease_sure(floor->asked_ms, clock_boot_ms());
}
