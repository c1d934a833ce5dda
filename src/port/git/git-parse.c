/* SPDX-License-Identifier: ISC */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "git-parse.h"
#include "mem.h"

static const char heads[] = "refs/heads/";

void
git_records_init(struct git_records *records, const char *out, size_t len)
{
	records->at = out;
	records->end = out + len;
}

const char *
git_records_next(struct git_records *records)
{
	const char *record = records->at;

	if (record >= records->end)
		return NULL;
	records->at += strnlen(record, (size_t)(records->end - record)) + 1;
	return record;
}

/* Behind n blanks, NULL when there are fewer. */
static const char *
skip_fields(const char *s, int n)
{
	for (; s != NULL && n > 0; n--) {
		s = strchr(s, ' ');
		if (s != NULL)
			s++;
	}
	return s;
}

/* Copy the word at s; false when it is none or too long. */
static bool
copy_word(const char *s, char *out, size_t size)
{
	size_t len;

	if (s == NULL)
		return false;
	len = strcspn(s, " ");
	if (len == 0 || len >= size)
		return false;
	memcpy(out, s, len);
	out[len] = '\0';
	return true;
}

static bool
status_header(const char *record, struct git_status_entry *entry)
{
	static const char oid[] = "# branch.oid ", head[] = "# branch.head ";

	if (strncmp(record, oid, strlen(oid)) == 0) {
		entry->kind = GIT_STATUS_HEAD;
		entry->text = record + strlen(oid);
		if (strcmp(entry->text, "(initial)") == 0)
			entry->text = "";
		return true;
	}
	if (strncmp(record, head, strlen(head)) == 0) {
		entry->kind = GIT_STATUS_BRANCH;
		entry->text = record + strlen(head);
		if (strcmp(entry->text, "(detached)") == 0)
			entry->text = "";
		return true;
	}
	return false;
}

static bool
status_changed(const char *record, struct git_status_entry *entry)
{
	entry->kind = GIT_STATUS_CHANGED;
	entry->text = skip_fields(record, 8);
	return entry->text != NULL &&
	    copy_word(skip_fields(record, 6), entry->head_id,
		sizeof entry->head_id) &&
	    copy_word(skip_fields(record, 7), entry->index_id,
		sizeof entry->index_id);
}

bool
git_status_next(struct git_records *records, struct git_status_entry *ret_entry)
{
	struct git_status_entry entry = { 0 };
	const char *record;
	bool good;

	while ((record = git_records_next(records)) != NULL) {
		switch (record[0]) {
		case '#':
			good = status_header(record, &entry);
			break;
		case '1':
			good = status_changed(record, &entry);
			break;
		case 'u':
			entry.kind = GIT_STATUS_UNMERGED;
			entry.text = skip_fields(record, 10);
			good = entry.text != NULL;
			break;
		case '?':
			entry.kind = GIT_STATUS_UNTRACKED;
			entry.text = skip_fields(record, 1);
			good = entry.text != NULL;
			break;
		default:
			good = false;
		}
		if (good) {
			*ret_entry = entry;
			return true;
		}
	}
	return false;
}

static void
tree_attribute(struct git_tree *tree, const char *record)
{
	static const char branch[] = "branch ";

	if (strncmp(record, branch, strlen(branch)) == 0 &&
	    tree->branch == NULL)
		tree->branch = xstrdup(record + strlen(branch));
	else if (strcmp(record, "locked") == 0)
		tree->locked = true;
	else if (strncmp(record, "locked ", 7) == 0) {
		tree->locked = true;
		tree->unfinished = strcmp(record + 7, "initializing") == 0;
	}
}

void
git_trees_parse(struct git_trees *trees, const char *out, size_t len)
{
	static const char worktree[] = "worktree ";
	struct git_records records;
	const char *record;

	git_trees_release(trees);
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		if (strncmp(record, worktree, strlen(worktree)) == 0) {
			trees->v = xreallocarray(
			    trees->v, trees->count + 1, sizeof *trees->v);
			trees->v[trees->count++] = (struct git_tree){
				.path = xstrdup(record + strlen(worktree))
			};
		} else if (trees->count > 0) {
			tree_attribute(&trees->v[trees->count - 1], record);
		}
	}
}

void
git_trees_release(struct git_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++) {
		free(trees->v[i].path);
		free(trees->v[i].branch);
	}
	free(trees->v);
	memset(trees, 0, sizeof *trees);
}

/* Without links; of a place that is not there, its folder without links. */
static char *
real_path(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *parent = NULL, *folder = NULL;
	const char *slash = strrchr(path, '/');

	if (real != NULL)
		return take_ptr(&real);
	if (slash == NULL || slash == path)
		return xstrdup(path);
	folder = xstrndup(path, (size_t)(slash - path));
	parent = real_path(folder);
	return xasprintf("%s%s", strcmp(parent, "/") == 0 ? "" : parent, slash);
}

bool
git_same_path(const char *a, const char *b)
{
	cleanup_free char *real_a = NULL, *real_b = NULL;

	if (strcmp(a, b) == 0)
		return true;
	real_a = real_path(a);
	real_b = real_path(b);
	return strcmp(real_a, real_b) == 0;
}

const struct git_tree *
git_trees_at(const struct git_trees *trees, const char *dir)
{
	for (size_t i = 0; i < trees->count; i++)
		if (git_same_path(trees->v[i].path, dir))
			return &trees->v[i];
	return NULL;
}

const struct git_tree *
git_trees_on(const struct git_trees *trees, const char *branch,
    const struct git_tree *after)
{
	size_t i = after != NULL ? (size_t)(after - trees->v) + 1 : 0;

	for (; i < trees->count; i++) {
		const char *ref = trees->v[i].branch;

		if (ref != NULL && strncmp(ref, heads, strlen(heads)) == 0 &&
		    strcmp(ref + strlen(heads), branch) == 0)
			return &trees->v[i];
	}
	return NULL;
}

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
	const char *status = skip_fields(record, 4);

	if (record[0] != ':' || status == NULL || status[0] == '\0')
		return false;
	change->status = status[0];
	return copy_word(
		   skip_fields(record, 1), change->mode, sizeof change->mode) &&
	    copy_word(skip_fields(record, 3), change->id, sizeof change->id);
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
