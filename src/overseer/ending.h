/* SPDX-License-Identifier: ISC */

/* The end of the overseer: what is told to whom, and what must not outlive
 * it. */
#ifndef ENDING_H
#define ENDING_H

struct overseer;

/* End with this exit status; why: words for one that needs a person. Sessions
 * that a dead daemon left are ended first. */
void ending_begin(struct overseer *o, int status, const char *why);
/* Ctrl-C; the second one is for those in a hurry. */
void ending_on_signal(int signo, void *arg);

#endif
