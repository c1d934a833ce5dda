/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-changes.h"
#include "git-records.h"

static int
change_compare(const void *a, const void *b)
{
	const struct git_change *left = a, *right = b;

	return strcmp(left->path, right->path);
}

/* ":old-mode new-mode old-id new-id S" */
static bool
change_parse(const char *record, struct git_change *change)
{
	const char *status = git_records_skip(record, 4);

	if (record[0] != ':' || status == NULL || status[0] == '\0')
		return false;
	change->status = status[0];
	return git_records_word(
		   record + 1, change->old_mode, sizeof change->old_mode) &&
	    git_records_word(git_records_skip(record, 1), change->mode,
		sizeof change->mode) &&
	    git_records_word(git_records_skip(record, 2), change->old_id,
		sizeof change->old_id) &&
	    git_records_word(
		git_records_skip(record, 3), change->id, sizeof change->id);
}

void
git_changes_parse(struct git_changes *changes, const char *out, size_t len)
{
	struct git_records records;
	const char *record;
	size_t cap = 0;

	git_changes_release(changes);
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		struct git_change change = { 0 };

		if (!change_parse(record, &change))
			continue;
		change.path = git_records_next(&records);
		if (change.path == NULL)
			break;
		if (changes->count == cap) {
			cap = cap == 0 ? 16 : cap * 2;
			changes->v =
			    xreallocarray(changes->v, cap, sizeof *changes->v);
		}
		changes->v[changes->count++] = change;
	}
	if (changes->count > 0)
		qsort(changes->v, changes->count, sizeof *changes->v,
		    change_compare);
}

void
git_changes_release(struct git_changes *changes)
{
	free(changes->v);
	memset(changes, 0, sizeof *changes);
}

const struct git_change *
git_changes_find(const struct git_changes *changes, const char *path)
{
	struct git_change key = { .path = path };

	if (changes->count == 0)
		return NULL;
	return bsearch(&key, changes->v, changes->count, sizeof *changes->v,
	    change_compare);
}

bool
git_changes_below(const struct git_changes *changes, const char *path)
{
	cleanup_free char *folder = xasprintf("%s/", path);
	size_t low = 0, high = changes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(changes->v[middle].path, folder) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < changes->count &&
	    strncmp(changes->v[low].path, folder, strlen(folder)) == 0;
}
