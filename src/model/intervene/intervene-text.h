/* SPDX-License-Identifier: ISC */

/* What a session and people are told of an intervention. Text of others in it
 * (errors, the objective) is cut, and shown without control characters. */
#ifndef INTERVENE_TEXT_H
#define INTERVENE_TEXT_H

struct buf;
struct detection;

/* For the next prompt, in front of it. */
void intervene_warning(const struct detection *detection, struct buf *out);

/* The next prompt: another strategy, by type. objective may be NULL. */
void intervene_redirection(
    const struct detection *detection, const char *objective, struct buf *out);

/* Why the worker is held or its task ended, in one line. */
void intervene_reason(const struct detection *detection, struct buf *out);

#endif
