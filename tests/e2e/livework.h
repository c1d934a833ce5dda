/* SPDX-License-Identifier: ISC */

/*
 * Histories of tests/vectors lived through by a daemon with all layers on: each
 * is a task, whose check says at the end of each turn what it said in the
 * history. The agent goes on; once oversight has told it something, it finds
 * another way. A healthy one must never be told anything, a sick one is, and
 * each lands.
 */
#ifndef LIVEWORK_H
#define LIVEWORK_H

/* The settings; the fleet has begun. */
void livework_begin(void);
/* So many of the healthy and of the sick ones, each step-th. */
void livework_story(size_t step, size_t healthy, size_t sick);

#endif
