/* SPDX-License-Identifier: ISC */

/* What is done about a verdict (model/spiral). */
#ifndef RESPOND_H
#define RESPOND_H

#include "repair.h"
#include "spiral.h"

struct overseer;

void respond_verdict(
    struct overseer *o, enum health_verdict verdict, const char *words);

/* Read what is left of the evidence, if anything is: the start of the next
 * daemon did not wait for it. */
void respond_read_evidence(struct overseer *o);

/* The daemon's process is gone. */
void respond_ended(struct overseer *o);

/* An earlier overseer was dealing with a failure, which we have read. */
void respond_resume(struct overseer *o);

/* A repair ended; cost is in millionths of a dollar. */
void respond_repaired(struct overseer *o, enum repair_outcome outcome,
    const char *words, int64_t took_ms, int64_t cost, const char *log);

/* End with this exit status; why: words for one that needs a person. Sessions
 * that a dead daemon left are ended first. */
void ending_begin(struct overseer *o, int status, const char *why);

/* Ctrl-C; the second one is for those in a hurry. */
void ending_on_signal(int signo, void *arg);

#endif
