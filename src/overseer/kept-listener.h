/* SPDX-License-Identifier: ISC */

/*
 * The listening socket of the page, kept from one daemon to the next: while
 * none runs, nobody else can listen at its port, and who connects waits. A
 * daemon hands it over with a text, which the next one gets with it.
 *
 * The daemon may send anything here: at most one socket is kept, nothing is
 * waited for, and what is not understood is ignored.
 */
#ifndef KEPT_LISTENER_H
#define KEPT_LISTENER_H

#include "fd-channel.h"

struct kept_listener {
	int fd; /* -1 = none */
	char text[FD_CHANNEL_TEXT_SIZE];
	int messages; /* of this daemon */
	int ignored; /* of them */
};

#define KEPT_LISTENER_INIT \
	{                  \
		.fd = -1   \
	}

/* A message of one that sends more than these is not read. */
#define KEPT_LISTENER_MESSAGES 1000

/* A daemon is about to start: put the socket, if there is one, into its
 * channel. */
void kept_listener_give(struct kept_listener *kept, int channel);

/* Read a message. 1: there may be more; 0: there is none now; negative: none
 * will come. */
int kept_listener_read(struct kept_listener *kept, int channel);
/* Read all that have come. */
void kept_listener_drain(struct kept_listener *kept, int channel);

void kept_listener_release(struct kept_listener *kept);

#endif
