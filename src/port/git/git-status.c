/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "git-records.h"
#include "git-status.h"

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
