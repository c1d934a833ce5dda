/* SPDX-License-Identifier: ISC */

/*
 * How a turn that is running is told of what is due. A warning or another
 * approach is added to what the session reads after its next tool. If no tool
 * ends, the turn is interrupted: for another approach after a slice, for a
 * warning after three. Another approach that did not help by the next slice
 * interrupts, too. Pure.
 */
#ifndef TELLING_H
#define TELLING_H

#include <stdbool.h>
#include <stdint.h>

#include "intervene.h"

enum telling {
	TELLING_NOTHING,
	TELLING_CONTEXT, /* with the next tool that ends */
	TELLING_INTERRUPT
};

/* due: the highest that is due, for waited_ms. */
enum telling
telling_now(enum intervention due, int64_t waited_ms, int64_t slice_ms);

/* It was told as context, and there was a slice since then: is it to be said
 * again, with an interruption? */
bool telling_again(
    enum intervention level, enum severity before, enum severity after);

#endif
