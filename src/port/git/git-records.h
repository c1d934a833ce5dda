/* SPDX-License-Identifier: ISC */

/* Reads what git prints for programs (-z), one record at a time. Records point
 * into the text. Private to the git-*.c files. */
#ifndef GIT_RECORDS_H
#define GIT_RECORDS_H

/* NUL terminated records, one after the other; NULL = no more. */
struct git_records {
	const char *at, *end;
};
void git_records_init(struct git_records *records, const char *out, size_t len);
const char *git_records_next(struct git_records *records);

/* The text after n blanks of a record, NULL if there are fewer. */
const char *git_records_skip(const char *s, int n);

/* Copy the word at s; false if there is none or it is too long. */
bool git_records_word(const char *s, char *out, size_t size);

#endif
