/* SPDX-License-Identifier: ISC */

/* How it went, in one sentence that hides nothing. Pure. */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

struct json_object;

/* "good": all that ended has landed; "mixed"; "bad": nothing landed, or llmc
 * itself has failed; "nothing": nothing ended, and nothing is wrong. */
extern const char *const report_levels[];

/* Set "verdict" {level, words} of a report that has all its other members.
 * failure: words of a failure of the daemon that stands, or NULL. */
void report_verdict(struct json_object *report, const char *failure);

#endif
