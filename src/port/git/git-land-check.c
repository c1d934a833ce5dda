/* SPDX-License-Identifier: ISC */

/* Does a checkout block a landing? Nothing is run and nothing changed here. */
#include "base.h"

#include <sys/stat.h>

#include "git-private.h"

#define NAMES_MAX 5 /* files named in a message */

static const char gitlink_mode[] = "160000";

void
git_land_check_init(
    struct git_land_check *check, const char *tree, bool overlap)
{
	memset(check, 0, sizeof *check);
	check->tree = tree;
	check->overlap = overlap;
	buf_init(&check->in_way);
	buf_init(&check->foreign);
	buf_init(&check->suspects);
}

void
git_land_check_release(struct git_land_check *check)
{
	git_changes_release(&check->changes);
	free(check->branch);
	buf_release(&check->in_way);
	buf_release(&check->foreign);
	buf_release(&check->suspects);
}

static void
blame(struct git_land_check *check, const char *path)
{
	buf_add(&check->in_way, path, strlen(path) + 1);
	check->in_way_count++;
}

void
git_land_check_blame_all(
    struct git_land_check *check, const char *out, size_t len)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, out, len);
	while ((path = git_records_next(&records)) != NULL)
		blame(check, path);
}

/* As it is staged, it is the user's own. */
static void
blame_staged(struct git_land_check *check, const char *path)
{
	blame(check, path);
	buf_add(&check->foreign, path, strlen(path) + 1);
}

/* A row with mode 0 removes the path. */
static void
suspect(struct git_land_check *check, const struct git_change *change)
{
	bool gone = change->status == 'D';

	buf_addf(
	    &check->suspects, "%s %s\t", gone ? "0" : change->mode, change->id);
	buf_add(&check->suspects, change->path, strlen(change->path) + 1);
}

static bool
exists(const struct git_land_check *check, const char *path, struct stat *st)
{
	cleanup_free char *full = file_join(check->tree, path);

	return lstat(full, st) == 0;
}

/* Does the landing touch something above the path? */
static bool
touched_above(const struct git_land_check *check, const char *path)
{
	cleanup_free char *folder = xstrdup(path);
	char *slash;

	while ((slash = strrchr(folder, '/')) != NULL) {
		*slash = '\0';
		if (git_changes_find(&check->changes, folder) != NULL)
			return true;
	}
	return false;
}

/* A tracked file with changes, staged or not. */
static void
judge_changed(
    struct git_land_check *check, const struct git_status_entry *entry)
{
	const struct git_change *change =
	    git_changes_find(&check->changes, entry->text);
	struct stat st;

	/* Its own commits are its own affair; only what is staged counts. */
	if (entry->submodule && strcmp(entry->index_id, entry->head_id) == 0)
		return;
	if (change == NULL) {
		if (!check->overlap || touched_above(check, entry->text) ||
		    git_changes_below(&check->changes, entry->text))
			blame(check, entry->text);
		return;
	}
	/* What is staged must be the old or the landed version, not the user's
	 * own. */
	if (strcmp(entry->index_id, entry->head_id) != 0 &&
	    strcmp(entry->index_id, change->id) != 0)
		blame_staged(check, entry->text);
	else if (change->status == 'D' && exists(check, entry->text, &st))
		blame(check, entry->text);
	else
		suspect(check, change);
}

/* The first folder above the path that is something else, NULL = none. From the
 * top down: below a link to a folder the rest would look fine. The caller
 * frees. */
static char *
find_obstacle(const struct git_land_check *check, const char *path)
{
	cleanup_free char *folder = xstrdup(path);
	struct stat st;

	for (char *slash = strchr(folder, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!exists(check, folder, &st))
			return NULL;
		if (!S_ISDIR(st.st_mode))
			return take_ptr(&folder);
		*slash = '/';
	}
	return NULL;
}

/* Is there a file where the landing needs a folder, which it does not remove?
 */
static bool
blocked_above(struct git_land_check *check, const char *path)
{
	cleanup_free char *obstacle = find_obstacle(check, path);

	if (obstacle == NULL)
		return false;
	if (git_changes_find(&check->changes, obstacle) == NULL)
		blame(check, obstacle);
	return true;
}

/* A folder that becomes a file: git removes it with all that is in it, also
 * what is ignored and repositories. Nothing may be there but what the landing
 * removes. False: the first other file is blamed. */
static bool
judge_folder(struct git_land_check *check, const char *path)
{
	cleanup_free char *full = file_join(check->tree, path);
	cleanup_dir DIR *stream = opendir(full);
	const struct git_change *change;
	const char *entry;
	struct stat st;
	bool fine = true;

	while (fine && (entry = dir_next(stream)) != NULL) {
		cleanup_free char *name = xasprintf("%s/%s", path, entry);

		if (exists(check, name, &st) && S_ISDIR(st.st_mode)) {
			fine = judge_folder(check, name);
			continue;
		}
		change = git_changes_find(&check->changes, name);
		fine = change != NULL && change->status == 'D';
		if (!fine)
			blame(check, name);
	}
	return fine;
}

/* A new file of the landing: is something there that git does not know? */
static void
judge_added(struct git_land_check *check, const struct git_change *change)
{
	struct stat st;

	if (blocked_above(check, change->path) ||
	    !exists(check, change->path, &st))
		return;
	if (!S_ISDIR(st.st_mode))
		suspect(check, change);
	else if (strcmp(change->mode, gitlink_mode) != 0)
		judge_folder(check, change->path);
}

void
git_land_check_status(struct git_land_check *check, const char *out, size_t len)
{
	cleanup_free const char **known = NULL;
	struct git_status_entry entry;
	struct git_records records;
	size_t count = 0, cap = 0;

	git_records_init(&records, out, len);
	while (git_status_next(&records, &entry)) {
		if (entry.kind == GIT_STATUS_HEAD)
			strlcpy(check->head, entry.text, sizeof check->head);
		else if (entry.kind == GIT_STATUS_BRANCH)
			xstrset(&check->branch, entry.text);
		else if (entry.kind == GIT_STATUS_UNMERGED)
			blame_staged(check, entry.text);
		if (entry.kind != GIT_STATUS_CHANGED)
			continue;
		judge_changed(check, &entry);
		if (count == cap) {
			cap = cap == 0 ? 16 : cap * 2;
			known = xreallocarray(known, cap, sizeof *known);
		}
		known[count++] = entry.text;
	}
	/* Files that are in the index are judged by the index only. */
	if (count > 0)
		qsort(known, count, sizeof *known, strv_order);
	for (size_t i = 0; i < check->changes.count; i++) {
		const struct git_change *change = &check->changes.v[i];

		/* A submodule becomes a file. */
		if (change->status == 'T' &&
		    strcmp(change->old_mode, gitlink_mode) == 0)
			judge_folder(check, change->path);
		if (change->status != 'A' ||
		    (count > 0 &&
			bsearch(&change->path, known, count, sizeof *known,
			    strv_order) != NULL))
			continue;
		judge_added(check, change);
	}
}

static bool
is_listed(const struct buf *paths, const char *wanted)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, paths->data, paths->len);
	while ((path = git_records_next(&records)) != NULL)
		if (strcmp(path, wanted) == 0)
			return true;
	return false;
}

/* A git that failed or was killed had removed the file to write the other
 * version. With the row of the other version, the next one writes it. */
static bool
is_removed(const struct git_land_check *check, const char *path)
{
	cleanup_free char *obstacle = find_obstacle(check, path);
	struct stat st;

	return obstacle == NULL && !exists(check, path, &st);
}

char *
git_land_check_leftover(
    const struct git_land_check *check, const struct git_change *change)
{
	cleanup_free char *obstacle = NULL;
	struct stat st;

	if (!is_listed(&check->in_way, change->path) ||
	    is_listed(&check->foreign, change->path))
		return NULL;
	obstacle = find_obstacle(check, change->path);
	if (obstacle != NULL || !exists(check, change->path, &st) ||
	    !S_ISREG(st.st_mode))
		return NULL;
	return file_join(check->tree, change->path);
}

/* The id does not matter. */
static void
add_removal(
    const struct git_land_check *check, struct buf *out, const char *path)
{
	buf_addf(out, "0 %s\t", check->head);
	buf_add(out, path, strlen(path) + 1);
}

void
git_land_check_unstage(const struct git_land_check *check, struct buf *out)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, check->foreign.data, check->foreign.len);
	while ((path = git_records_next(&records)) != NULL)
		add_removal(check, out, path);
}

static void
add_own_row(struct git_land_check *check, const char *path)
{
	const struct git_change *change =
	    git_changes_find(&check->changes, path);
	bool none = change != NULL && change->status == 'A';
	bool staged = is_listed(&check->foreign, path);

	if (change == NULL && staged) /* nothing moves with unmerged ones */
		add_removal(check, &check->suspects, path);
	if (change == NULL)
		return;
	if (!staged && is_removed(check, path)) {
		if (change->status == 'D') /* was there until just now */
			suspect(check, change);
		return;
	}
	buf_addf(&check->suspects, "%s %s\t", none ? "0" : change->old_mode,
	    change->old_id);
	buf_add(&check->suspects, path, strlen(path) + 1);
}

void
git_land_check_forgive(struct git_land_check *check)
{
	cleanup_buf struct buf rows = BUF_INIT;
	struct git_records records;
	const char *record;

	buf_add(&rows, check->suspects.data, check->suspects.len);
	buf_clear(&check->suspects);
	git_records_init(&records, rows.data, rows.len);
	while ((record = git_records_next(&records)) != NULL) {
		const char *tab = strchr(record, '\t');

		if (tab != NULL &&
		    (!is_listed(&check->in_way, tab + 1) ||
			is_removed(check, tab + 1)))
			buf_add(&check->suspects, record, strlen(record) + 1);
	}
	git_records_init(&records, check->in_way.data, check->in_way.len);
	while ((record = git_records_next(&records)) != NULL)
		add_own_row(check, record);
}

void
git_land_check_describe(const struct git_land_check *check, struct buf *out)
{
	struct git_records records;
	const char *path, *before = "";
	int told = 0;

	buf_addf(out, "%zu %s the landing in %s: ", check->in_way_count,
	    check->in_way_count == 1 ? "file blocks" : "files block",
	    check->tree);
	git_records_init(&records, check->in_way.data, check->in_way.len);
	while ((path = git_records_next(&records)) != NULL) {
		buf_adds(out, before);
		if (told++ == NAMES_MAX) {
			buf_adds(out, "...");
			break;
		}
		text_add_visible(out, path, strlen(path), false);
		before = ", ";
	}
}
