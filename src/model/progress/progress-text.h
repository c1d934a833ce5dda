/* SPDX-License-Identifier: ISC */

/* What a session and people are told of an intervention. Text of others in it
 * (errors, the objective) is cut, and shown without control characters. */
#ifndef PROGRESS_TEXT_H
#define PROGRESS_TEXT_H

struct buf;
struct detection;

/* For the next prompt, in front of it. */
void progress_warning(const struct detection *detection, struct buf *out);

/* The next prompt: another strategy, by type. objective may be NULL. */
void progress_redirection(
    const struct detection *detection, const char *objective, struct buf *out);

/* What the next session or worker must know: the finding, what the last one
 * said, and how it failed; the latter two may be NULL. */
void progress_learned(const struct detection *detection, const char *last_words,
    const char *failure, struct buf *out);

/* Why the worker is held or its task ended, in one line. */
void progress_reason(const struct detection *detection, struct buf *out);

#endif
