/* SPDX-License-Identifier: ISC */

/*
 * The messages of the overseer, in .llmc/overseer-messages.json: it has no
 * book, and tells people of a daemon that is dead. Only the overseer writes the
 * file. A daemon takes it over by renaming it, files the messages in the book
 * and removes it; a crash in between leaves one of the two files, and a message
 * that is filed already is known by its id. What is taken is the daemon's to
 * send.
 */
#ifndef MESSAGE_SPOOL_H
#define MESSAGE_SPOOL_H

#include "courier.h"

struct loop;
struct message;
struct message_spool;

#define MESSAGE_SPOOL_DONE_MAX \
	200 /* messages that were sent, kept for the daemon */

typedef void message_spool_fn(struct message *message, void *arg);

/* Read what an earlier overseer has left. */
struct message_spool *message_spool_new(struct loop *loop, const char *root);
/* What was not written yet is written. */
void message_spool_free(struct message_spool *spool);
struct courier_store message_spool_store(struct message_spool *spool);
/* fn gets each that waits, and owns it. */
void message_spool_waiting(
    const struct message_spool *spool, message_spool_fn *fn, void *arg);
/* fn is called with the id of each message that a daemon has taken. */
void message_spool_on_taken(struct message_spool *spool,
    void (*fn)(const char *id, void *arg), void *arg);

/* For the daemon: take the file, and give its messages to fn, which owns them.
 * True: they are to be saved, then call message_spool_taken(). */
bool message_spool_take(const char *root, message_spool_fn *fn, void *arg);
void message_spool_taken(const char *root);
/* Only read what is there. */
void message_spool_read(const char *root, message_spool_fn *fn, void *arg);

#endif
