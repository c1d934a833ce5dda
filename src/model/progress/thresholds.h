/* SPDX-License-Identifier: ISC */

/*
 * From where on work counts as pathological: one table of all thresholds, with
 * the values of each profile. Given ones are merged key by key over a profile.
 * Pure.
 */
#ifndef THRESHOLDS_H
#define THRESHOLDS_H

struct err;
struct json_object;

enum thresholds_profile {
	PROFILE_DEFAULT,
	PROFILE_STRICT,
	PROFILE_EXPLORATORY,
	PROFILE_CI,
	PROFILE_COUNT
};

extern const char *const thresholds_profile_words[];

#define THRESHOLDS_WINDOW_MAX 32 /* iterations that are looked back at */

struct thresholds {
	int same_error_count;
	int no_progress_iterations;
	int undo_redo_cycles;
	double file_churn;
	double objective_similarity;
	double scope_creep_ratio;
	double cost_multiplier;
	double iteration_multiplier;
	bool test_pass_to_fail;
	double coverage_drop;
};

/* Three times 0.1 is more than 0.3: what differs from a threshold by this
 * equals it. */
#define THRESHOLDS_ROUNDING 1e-9

void
thresholds_init(struct thresholds *thresholds, enum thresholds_profile profile);

/* {"stuck": {"sameErrorCount": 3}}: what is there and not null is set, all else
 * stays. -EINVAL for an unknown key, a wrong type or a value out of bounds;
 * nothing has changed then. */
int thresholds_merge(struct thresholds *thresholds, struct json_object *json,
    const char *at, struct err *err);

/* "stuck.sameErrorCount=3", as in the configuration. -EINVAL as above. */
int thresholds_set(
    struct thresholds *thresholds, const char *text, struct err *err);

#endif
