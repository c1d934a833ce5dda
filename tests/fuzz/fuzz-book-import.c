/* SPDX-License-Identifier: ISC */

/* Any document is either refused with a message, or its records and events
 * come through the gate of the book, where a second time changes nothing. */

#include "fuzz.h"
#include "book-private.h"

static int
take_record(const struct book_record *record, void *arg, struct err *err)
{
	struct book_body once, twice;
	int r = book_body_init(&once, record->kind, record->goal_id, record->id,
	    record->body, err);

	(void)arg;
	if (r < 0)
		return r;
	if (book_body_init(&twice, record->kind, record->goal_id, record->id,
		once.text.data, NULL) != 0 ||
	    strcmp(once.text.data, twice.text.data) != 0)
		abort();
	book_body_release(&once);
	book_body_release(&twice);
	return 0;
}

static int
take_event(const struct book_event *event, void *arg, struct err *err)
{
	struct book_entry once, twice;
	int r = book_entry_init(&once, event, err);

	(void)arg;
	if (r < 0)
		return r;
	if (book_entry_init(&twice, &once.event, NULL) != 0 ||
	    strcmp(once.event.type, twice.event.type) != 0)
		abort();
	if (once.event.data != NULL &&
	    strcmp(once.event.data, twice.event.data) != 0)
		abort();
	book_entry_release(&once);
	book_entry_release(&twice);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct book_sink sink = { take_record, take_event, NULL };
	struct err err = { 0, "" };
	int r = book_import_parse((const char *)data, size, &sink, &err);

	if (r < 0 && err.msg[0] == '\0')
		abort();
	return 0;
}
