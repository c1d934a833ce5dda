/* SPDX-License-Identifier: ISC */

/*
 * All layers at once, with default settings, on top of teamrun.h: six small
 * tasks land; then a goal of which only the title is known gets a plan, and its
 * task spawns four agents. One only reports, one is blocked until a person
 * answers, one fails its check until a fresh session goes on, one is fine. The
 * daemon is killed three times. What the commands say of it must be true, and
 * said once.
 */
#ifndef TOGETHER_H
#define TOGETHER_H

#include "unit.h"

/* The settings; the fleet has begun. */
void together_begin(void);
void together_story(void);

#endif
