/* SPDX-License-Identifier: ISC */

/* What an agent says about how far its work is, and how often it may. Pure. */
#ifndef PROGRESS_REPORT_H
#define PROGRESS_REPORT_H

struct err;
struct json_object;

#define PROGRESS_EVERY_MS    30000
#define PROGRESS_COUNT_MAX   100 /* of a run */
#define PROGRESS_PHASE_MAX   1024 /* bytes */
#define PROGRESS_METRICS_MAX 50
#define PROGRESS_NAME_MAX    64
#define PROGRESS_VALUE_MAX   256

extern const char *const progress_level_words[]; /* "L0_operational", ... */

/* {"phase", "percentComplete", "level", "metrics"}, only what was said, and the
 * level: the first unless it was said. -EINVAL with what is wrong. The caller
 * owns *ret_report. */
int progress_report_from_args(
    struct json_object *args, struct json_object **ret_report, struct err *err);

/* What the record of its run keeps: without the metrics, with "updatedAt". The
 * caller owns it. */
struct json_object *
progress_report_latest(struct json_object *report, int64_t now_ms);
/* The percentage of what the record keeps; NAN = not known. */
double progress_report_percent(struct json_object *latest);

enum progress_rate {
	PROGRESS_ACCEPTED,
	PROGRESS_TOO_SOON,
	PROGRESS_USED_UP
};

/* May a run that has sent `count` reports, the last one at last_ms, send
 * another? *ret_wait_ms: how long until it may, if it is too soon. A last_ms
 * that is still to come does not make it wait. */
enum progress_rate progress_report_rate(
    int count, int64_t last_ms, int64_t now_ms, int64_t *ret_wait_ms);

#endif
