/* SPDX-License-Identifier: ISC */

/*
 * What a person wrote into a diff: lines that begin with ">" below the line of
 * the diff that they are about. Or a list of "PATH:LINE: TEXT". Pure.
 *
 * Above the line with ">8", if there is one, stands what is to be said about
 * the work as a whole. Below it, or without it everywhere, a line is one of the
 * diff, a comment, empty, or begins with "#"; anything else is an error, so
 * that nothing that was written is lost.
 */
#ifndef COMMENT_FILE_H
#define COMMENT_FILE_H

struct buf;
struct err;
struct json_object;

/* The end of the text about the whole, as a line of its own. */
extern const char comment_file_end[];
/* The lines that say how to comment, each with "# " before it. */
extern const char comment_file_help[];

/* text: what is said about the whole is appended. ret_list: an array of
 * {file, line, side, code, text}, as worker.reject takes it; the caller owns
 * it. A comment below the first lines of a file is about the file and has no
 * line. side is "old" for a line that is removed; code is the line itself,
 * which a list does not have. -EINVAL with the number of the line in the
 * message. */
int comment_file_read(const char *bytes, size_t len, struct buf *text,
    struct json_object **ret_list, struct err *err);

#endif
