/* SPDX-License-Identifier: ISC */

/*
 * Takes messages to people through the channels: at least once, each channel by
 * itself and one message at a time, again after a failure, not too many in a
 * minute (channel_rest_ms). Waiting messages are in memory; the owner stores
 * them with their progress, and gives them to the next courier.
 *
 * The first event of a failure is sent at once; those that follow it within
 * COURIER_PAUSE_MS become one message at its end.
 */
#ifndef COURIER_H
#define COURIER_H

#include "id.h"
#include "message.h"

struct channel_list;
struct courier;
struct escalation;
struct loop;

#define COURIER_PAUSE_MS    (60 * 1000)
#define COURIER_WAITING_MAX 500 /* messages; then the oldest is given up */

/* Where messages are kept. */
struct courier_store {
	/* As it is now; message->done: it need not be given to the next one. */
	void (*save)(const struct message *message, void *arg);
	/* Call fn, later or at once, when all that was saved is on the disk. */
	void (*then)(
	    void *owner, void (*fn)(void *arg), void *fn_arg, void *arg);
	/* Do not call what this owner waits for. */
	void (*forget)(const void *owner, void *arg);
	/* Is there a message of the event? */
	bool (*knows)(const char *event, void *arg);
	void *arg;
};

/* The strings and the store are copied. */
struct courier *courier_new(struct loop *loop, const char *root,
    const char *program, const struct courier_store *store);
void courier_free(struct courier *courier);

/* The channels from now on; copied. Without any, nothing is done. */
void
courier_channels(struct courier *courier, const struct channel_list *channels);

/* One that was saved before, and is to be sent; takes it. */
void courier_take(struct courier *courier, struct message *message);
/* Another process sends that one, if we do not just now. */
void courier_leave(struct courier *courier, const char *id);

/* Nothing if no channel takes it. An event is sent once, across processes and
 * crashes. */
void courier_put(struct courier *courier, const struct escalation *what);

/* The program ends: what waits for the end of a pause is sent now. */
void courier_hurry(struct courier *courier);
/* Is something being sent? */
bool courier_is_busy(const struct courier *courier);
/* Called whenever the last of it has ended. */
void
courier_on_idle(struct courier *courier, void (*idle)(void *arg), void *arg);

#endif
