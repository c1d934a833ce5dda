/* SPDX-License-Identifier: ISC */

/* Why a box could not be made: what bubblewrap prints, in words that say what
 * to do. Pure. */
#ifndef BOX_FAULT_H
#define BOX_FAULT_H

struct box_fault {
	const char *cause; /* a sentence without a full stop */
	const char *fix; /* what to type or to change */
};

/* The fault behind this text: standard error of bwrap, or the words of a
 * program that could not be started. There is always one; an unknown text gets
 * a general answer. */
const struct box_fault *box_fault_find(const char *text);

#endif
