/* SPDX-License-Identifier: ISC */

/*
 * Tells people what happened, through the channels of the settings (courier.h),
 * for the overseer from a file of its own, and tells the service manager.
 */
#ifndef PEOPLE_H
#define PEOPLE_H

#include "courier.h"
#include "notice.h"

struct channel_list;
struct courier_store;
struct escalation;
struct loop;
struct message;
struct message_spool;
struct people;
struct settings;

#define PEOPLE_END_MS (5 * 1000) /* for what is being sent when we end */

/* program: who tells. Both strings are copied. store: where messages are kept
 * until they are sent; NULL = in the spool (people.h). */
struct people *people_new(struct loop *loop, const char *root,
    const char *program, const struct courier_store *store);
/* At the end of a program: tells what waits, and runs the loop until the
 * channels have it, PEOPLE_END_MS at most. What they have not got by then is
 * kept. True: there was something to wait for. */
bool people_free(struct people *people);

/* The channels of the settings; and the desktop where there is one, unless a
 * channel for it is described. The caller releases the list. */
void people_channels(const struct settings *settings, struct channel_list *ret);

/* Is there a way to tell a person who is away: a channel, or a
 * desktop? */
bool people_reaches(const struct settings *settings);

/* The settings at the start, and whenever they change. */
void people_settings(struct people *people, const struct settings *settings);

/* Send what an earlier process could not, once; takes the message. */
void people_take(struct people *people, struct message *message);

enum people_saved {
	PEOPLE_SAVED, /* a file, or the book, has it before it is sent */
	PEOPLE_UNSAVED, /* no file can be written: by commands alone */
};

/* To the channels that take its level. A notice with an id is sent once, across
 * processes and crashes. Never blocks; the result is only logged. */
void people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice, enum people_saved saved);

/* The same with all that is known of it. */
void people_escalate(struct people *people, const struct settings *settings,
    const struct escalation *what);

/*
 * The messages of the overseer, in .llmc/overseer-messages.json: it has no
 * book, and tells people of a daemon that is dead. Only the overseer writes the
 * file. A daemon takes it over by renaming it, files the messages in the book
 * and removes it; a crash in between leaves one of the two files, and a message
 * that is filed already is known by its id. What is taken is the daemon's to
 * send.
 */

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

/* Notifications to the service manager that may have started us: the protocol
 * of sd_notify(3). */

/* Send "READY=1", "STATUS=...", "WATCHDOG=1", "STOPPING=1" to NOTIFY_SOCKET
 * (path, or abstract with '@'); nothing when that is not set. Never blocks. */
void notify_service(const char *state);
/* How often WATCHDOG=1 is wanted, in ms: half of WATCHDOG_USEC when
 * WATCHDOG_PID is ours or not set; 0 = not at all. */
int64_t notify_watchdog_ms(void);

#endif
