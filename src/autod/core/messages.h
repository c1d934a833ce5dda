/* SPDX-License-Identifier: ISC */

/*
 * The messages to people, in the book: a row each, with how far each channel is
 * with it. What is sent is committed first; what the overseer has told while
 * there was no daemon is filed here.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "courier.h"

struct core;

/* For people_new(). */
struct courier_store messages_store(struct core *core);

/* Send what an earlier daemon could not. */
void messages_begin(struct core *core);
/* File what the overseer has told since. */
void messages_file(struct core *core);

/* The folder outbox of the version before: read it into the book, with asks of
 * what nobody has seen; the caller commits. Then it is moved. */
void messages_import(struct core *core);
void messages_imported(const struct core *core);

#endif
