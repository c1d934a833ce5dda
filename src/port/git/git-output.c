/* SPDX-License-Identifier: ISC */

/* How what git prints is read: records, changes, a status, worktrees. Nothing
 * is asked here. */
#include "base.h"

#include "git-private.h"

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

const char *
git_records_skip(const char *s, int n)
{
	for (; s != NULL && n > 0; n--) {
		s = strchr(s, ' ');
		if (s != NULL)
			s++;
	}
	return s;
}

bool
git_records_word(const char *s, char *out, size_t size)
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

/* --- changes ------------------------------------------------------------ */

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

/* --- lists -------------------------------------------------------------- */

void
git_list_add(struct git_list *list, const char *text)
{
	if (list->count == list->cap) {
		list->cap = list->cap == 0 ? 16 : list->cap * 2;
		list->v = xreallocarray(list->v, list->cap, sizeof *list->v);
	}
	list->v[list->count++] = text;
}

void
git_list_remove(struct git_list *list, const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->v[i], text) != 0)
			list->v[kept++] = list->v[i];
	list->count = kept;
}

void
git_list_release(struct git_list *list)
{
	free(list->v);
	memset(list, 0, sizeof *list);
}

/* --- what git status prints ----------------------------------------------- */

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
	entry->text = git_records_skip(record, 8);
	entry->staged = entry->text != NULL && record[2] != '.';
	entry->unstaged = entry->text != NULL && record[3] != '.';
	entry->submodule =
	    entry->text != NULL && git_records_skip(record, 2)[0] == 'S';
	return entry->text != NULL &&
	    git_records_word(git_records_skip(record, 6), entry->head_id,
		sizeof entry->head_id) &&
	    git_records_word(git_records_skip(record, 7), entry->index_id,
		sizeof entry->index_id);
}

bool
git_status_next(struct git_records *records, struct git_status_entry *ret_entry)
{
	const char *record;
	bool good;

	while ((record = git_records_next(records)) != NULL) {
		struct git_status_entry entry = { 0 };

		switch (record[0]) {
		case '#':
			good = status_header(record, &entry);
			break;
		case '1':
			good = status_changed(record, &entry);
			break;
		case 'u':
			entry.kind = GIT_STATUS_UNMERGED;
			entry.text = git_records_skip(record, 10);
			good = entry.text != NULL;
			break;
		case '?':
			entry.kind = GIT_STATUS_UNTRACKED;
			entry.text = git_records_skip(record, 1);
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

/* --- worktrees ---------------------------------------------------------- */

void
git_trees_parse(struct git_trees *trees, const char *out, size_t len)
{
	static const char worktree[] = "worktree ";
	struct git_records records;
	const char *record;

	git_trees_release(trees);
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		if (text_begins(record, worktree)) {
			trees->v = xreallocarray(
			    trees->v, trees->count + 1, sizeof *trees->v);
			trees->v[trees->count++] = (struct git_tree){
				.path = xstrdup(record + strlen(worktree))
			};
		} else if (trees->count > 0) {
			struct git_tree *tree = &trees->v[trees->count - 1];
			static const char branch[] = "branch ";

			if (text_begins(record, branch) && tree->branch == NULL)
				tree->branch = xstrdup(record + strlen(branch));
			else if (strcmp(record, "locked") == 0)
				tree->locked = true;
			else if (text_begins(record, "locked ")) {
				tree->locked = true;
				tree->unfinished =
				    strcmp(record + 7, "initializing") == 0;
			}
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

/* Resolve links; if the path does not exist, only those of its folder. */
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
git_trees_same_path(const char *a, const char *b)
{
	cleanup_free char *real_a = NULL, *real_b = NULL;

	if (strcmp(a, b) == 0)
		return true;
	real_a = real_path(a);
	real_b = real_path(b);
	return strcmp(real_a, real_b) == 0;
}

const struct git_tree *
git_trees_on(const struct git_trees *trees, const char *branch,
    const struct git_tree *after)
{
	static const char heads[] = "refs/heads/";
	size_t i = after != NULL ? (size_t)(after - trees->v) + 1 : 0;

	for (; i < trees->count; i++) {
		const char *ref = trees->v[i].branch;

		if (ref != NULL && text_begins(ref, heads) &&
		    strcmp(ref + strlen(heads), branch) == 0)
			return &trees->v[i];
	}
	return NULL;
}
