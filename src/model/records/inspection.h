/* SPDX-License-Identifier: ISC */

/*
 * Is the work of a worker still what a person has seen? Compared before it is
 * accepted, rejected or picked; the sentence says what is different.
 */
#ifndef INSPECTION_H
#define INSPECTION_H

struct buf;

/* All strings are borrowed. */
struct inspection {
	const char *worker;
	const char *worktree;
	/* What is expected. */
	const char *seen; /* commit id, may be shortened */
	bool reviewed; /* llmc review showed it; else the caller found it */
	const char *branch; /* that must be checked out, NULL = any or none */
	bool clean; /* without uncommitted changes */
	/* What is there. */
	const char *head; /* "" = no commit */
	const char *checked_out; /* branch, "" = none */
	bool rebasing;
	int dirty; /* files with uncommitted changes */
	/* What has happened since `seen`, for the sentence: see
	 * git_since_read(). */
	bool known;
	int commits;
	const char *const *files;
	size_t file_count;
	const char *const *uncommitted;
	size_t uncommitted_count;
};

/* Could it be a commit id: 7 to 64 hexadecimal digits, lower case? */
bool inspection_is_id(const char *text);

/* Is everything as expected? */
bool inspection_holds(const struct inspection *inspection);

/* Append the sentence for one that does not hold. Names of files are made safe
 * for a terminal; at most INSPECTION_NAMES of each kind are listed. */
#define INSPECTION_NAMES 5
void inspection_sentence(const struct inspection *inspection, struct buf *out);

#endif
