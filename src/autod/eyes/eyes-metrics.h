/* SPDX-License-Identifier: ISC */

/* What is measured (metrics-text.h), for /metrics of the page and for the
 * method metrics.get. */
#ifndef EYES_METRICS_H
#define EYES_METRICS_H

struct buf;
struct eyes_floor;

void eyes_metrics_register(struct eyes_floor *eyes);

/* Appended. Made from memory: nothing is asked or waited for. */
void eyes_metrics_text(struct eyes_floor *eyes, struct buf *out);

#endif
