/* SPDX-License-Identifier: ISC */

/* The text by which a session gets its mail. Pure. */
#ifndef MAIL_TEXT_H
#define MAIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct mail;

/* Bounds in bytes: one text for a session, and the body of one piece in it,
 * about. */
#define MAIL_TEXT_MAX 16384
#define MAIL_PART_MAX 8192

/* Append the text, in the order of the list, with ids and how to answer.
 * Returns how many of them are in it: at least one. A body that is too long is
 * cut, with words on how to read the rest. What a sender wrote cannot look like
 * the words around it. */
size_t mail_text(struct mail *const *mails, size_t count, struct buf *out);

/* Is the mail with this id in the text? And the ids of all that are, owned by
 * the caller, NULL = none. */
bool mail_text_has(const char *text, const char *id);
char **mail_text_ids(const char *text);

#endif
