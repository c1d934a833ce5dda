/* SPDX-License-Identifier: ISC */

/*
 * Takes what people are told of to the outbox, and what is due in the outbox
 * through the channels: at least once, each channel by itself and one message
 * at a time, again after a failure, not too many in a minute (channel_rest_ms).
 * What another process has left in the outbox, alive or dead, is sent too.
 *
 * The first event of a failure is sent at once; those that follow it within
 * COURIER_PAUSE_MS become one message at its end.
 */
#ifndef COURIER_H
#define COURIER_H

#include <stdbool.h>

#include "id.h"
#include "outbox-record.h"

struct channel_list;
struct courier;
struct escalation;
struct loop;

#define COURIER_PAUSE_MS (60 * 1000)
#define COURIER_LOOK_MS  (60 * 1000) /* between looks at the outbox */

/* Both strings are copied. */
struct courier *
courier_new(struct loop *loop, const char *root, const char *program);
/* What was not sent stays in the outbox. */
void courier_free(struct courier *courier);

/* The channels from now on; copied. Without any, nothing is done. */
void
courier_channels(struct courier *courier, const struct channel_list *channels);

/* Nothing if no channel takes it. */
void courier_put(struct courier *courier, const struct escalation *what);

/* An event that is told once, whichever process does it and whenever it dies:
 * it gets a record of its own. False: there is one already, or nobody gets it.
 * Running the command, if it is to be run, is the caller's business. */
bool courier_put_once(struct courier *courier, const struct escalation *what,
    char ret_id[ID_ULID_SIZE]);
/* What has become of the command of that record: told before it is run, so
 * that it is run once. False: another process has the record, try again. */
bool courier_end_command(struct courier *courier, const char *id,
    enum outbox_state state, const char *reason);

/* The program ends: what waits for the end of a pause is sent now. */
void courier_hurry(struct courier *courier);
/* Is something being sent? idle is called whenever nothing is any more. */
bool courier_is_busy(const struct courier *courier);
void
courier_on_idle(struct courier *courier, void (*idle)(void *arg), void *arg);

#endif
