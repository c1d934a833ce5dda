/* SPDX-License-Identifier: ISC */

/* Any document is either refused with a message, or its records and events
 * come through the gate of the store, where a second time changes nothing. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "store-body.h"
#include "store-import.h"
#include "store-pool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
take_record(const struct store_change *record, void *arg, struct err *err)
{
	struct store_pool pool = STORE_POOL_INIT;
	struct store_columns columns;
	struct store_change once = *record, twice;
	int r = store_body_change(&once, &pool, &columns, err);

	(void)arg;
	if (r == 0) {
		twice = once;
		if (store_body_change(&twice, &pool, &columns, NULL) != 0 ||
		    strcmp(once.body, twice.body) != 0)
			abort();
	}
	store_pool_release(&pool);
	return r;
}

static int
take_event(const struct store_event *event, void *arg, struct err *err)
{
	struct store_pool pool = STORE_POOL_INIT;
	struct store_event once = *event, twice;
	int r = store_body_event(&once, &pool, err);

	(void)arg;
	if (r == 0) {
		twice = once;
		if (store_body_event(&twice, &pool, NULL) != 0 ||
		    strcmp(once.type, twice.type) != 0)
			abort();
		if (once.data != NULL && strcmp(once.data, twice.data) != 0)
			abort();
	}
	store_pool_release(&pool);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store_sink sink = { take_record, take_event, NULL };
	struct err err = { 0, "" };
	int r = store_import_parse((const char *)data, size, &sink, &err);

	if (r < 0 && err.msg[0] == '\0')
		abort();
	return 0;
}
