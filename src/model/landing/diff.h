/* SPDX-License-Identifier: ISC */

/*
 * Reads what `git diff` prints, for people who review it: files, hunks, lines
 * with their numbers, and which words of a changed line are new. Any bytes are
 * accepted; what does not belong to a diff is skipped. Pure, and its cost is
 * bounded by the limits.
 */
#ifndef DIFF_H
#define DIFF_H

#include "buf.h"

struct json_object;

/* --- a line at a time -------------------------------------------------- */

enum diff_event {
	DIFF_OTHER, /* not a line of a diff */
	DIFF_FILE, /* "diff --git": the next file begins */
	DIFF_HEAD, /* about the file: its names, its mode */
	DIFF_HUNK, /* "@@ -1,3 +1,4 @@" */
	DIFF_SAME, /* these are the lines of a hunk */
	DIFF_ADDED,
	DIFF_REMOVED,
	DIFF_NOTE /* "\ No newline at end of file" */
};

struct diff_reader {
	/* Of the file: its name, and the one it had before, if that was another
	 * one. Bytes of the name, not made visible. */
	struct buf path, old_path;
	bool named; /* by more than its first line */
	bool added, deleted, renamed, copied, binary;
	char old_mode[8], mode[8]; /* "" = it has not changed */
	/* Of the hunk: its lines that have not come yet. */
	int64_t old_left, new_left;
	/* Of the line: its numbers; 0 = it is not on that side. */
	int64_t old, new;
	int64_t next_old, next_new;
};

void diff_reader_init(struct diff_reader *reader);
void diff_reader_release(struct diff_reader *reader);
/* The next line, without its newline. */
enum diff_event
diff_reader_line(struct diff_reader *reader, const char *line, size_t len);

/* --- words -------------------------------------------------------------- */

#define DIFF_MARKS_MAX 16

/* Parts of a line, counted in UTF-16 units, as a browser does. */
struct diff_marks {
	size_t count;
	struct {
		int from, to;
	} v[DIFF_MARKS_MAX];
};

/* What is different between two lines, by words. False: they have too little in
 * common for that to help, or are too long. */
bool diff_words(const char *old, const char *new, struct diff_marks *ret_old,
    struct diff_marks *ret_new);

/* --- the whole ---------------------------------------------------------- */

/* "c", "hash", "markup" or "none": how comments look in it, by its name. */
extern const char *const diff_languages[];
const char *diff_language(const char *path);

extern const char *const diff_statuses[];

struct diff_limits {
	const char *file; /* only this one, as far as it fits; NULL = all */
	int64_t file_lines; /* a longer one is left out */
	int64_t lines, bytes, files; /* of all */
};

/* For a first look, and for one file. */
extern const struct diff_limits diff_first_look, diff_one_file;

/* An array of files, as in diff_file_schema; the caller owns it. ret_more: the
 * number of files that are not in it. */
struct json_object *diff_read(const char *bytes, size_t len,
    const struct diff_limits *limits, int64_t *ret_more);

extern const struct schema diff_file_schema;

#endif
