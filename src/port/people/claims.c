/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "mem.h"
#include "outbox.h"

struct claim *
claims_find(const struct claims *claims, const char *id)
{
	struct claim *claim;

	LIST_FOREACH (claim, claims, link)
		if (strcmp(claim->entry->id, id) == 0)
			return claim;
	return NULL;
}

int
claims_take(struct claims *claims, const char *dir, const char *id,
    struct claim **ret_claim)
{
	struct claim *claim = claims_find(claims, id);
	struct outbox_entry *entry = NULL;
	int r = claim != NULL ? 0 : outbox_claim(dir, id, &entry, NULL);

	if (r < 0)
		return r;
	if (claim == NULL) {
		claim = xcalloc(1, sizeof *claim);
		claim->entry = entry;
		LIST_INSERT_HEAD(claims, claim, link);
	}
	*ret_claim = claim;
	return 0;
}

void
claim_release(struct claim *claim)
{
	if (claim->sendings > 0)
		return;
	LIST_REMOVE(claim, link);
	outbox_release(claim->entry);
	free(claim);
}
