/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "errtext.h"
#include "log.h"
#include "outbox-record.h"
#include "outbox.h"
#include "unsaved.h"

bool
unsaved_try(const char *dir, const struct outbox_record *record)
{
	struct err err = { 0 };

	if (outbox_add(dir, record, &err) == 0)
		return true;
	log_info("a message to people is not saved: %s", err.msg);
	return false;
}

void
unsaved_put(struct unsaved *u, const char *dir, struct outbox_record *record)
{
	if (unsaved_try(dir, record) || u->count == UNSAVED_MAX)
		outbox_record_free(record);
	else
		u->list[u->count++] = record;
}

void
unsaved_flush(struct unsaved *u, const char *dir)
{
	size_t done = 0;

	while (done < u->count && unsaved_try(dir, u->list[done]))
		outbox_record_free(u->list[done++]);
	u->count -= done;
	memmove(
	    u->list, u->list + done, u->count * sizeof(struct outbox_record *));
}

struct outbox_record *
unsaved_find(const struct unsaved *u, const char *id, const char *event)
{
	for (size_t i = 0; i < u->count; i++) {
		struct outbox_record *record = u->list[i];

		if ((id != NULL && strcmp(record->id, id) == 0) ||
		    (event != NULL && record->event != NULL &&
			strcmp(record->event, event) == 0))
			return record;
	}
	return NULL;
}

void
unsaved_release(struct unsaved *u)
{
	while (u->count > 0)
		outbox_record_free(u->list[--u->count]);
}
