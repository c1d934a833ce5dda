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

/* --- oversight config --------------------------------------------------- */

/* [oversight] as values, with what follows from its profile. */

enum oversight_mode {
	OVERSIGHT_OFF,
	OVERSIGHT_OBSERVE, /* record what would be done */
	OVERSIGHT_ACT
};

extern const char *const oversight_mode_words[];

struct oversight_config {
	enum oversight_mode mode;
	enum thresholds_profile profile;
	struct thresholds thresholds;
};

/* The coverage in percent that a test command printed: of its last line that
 * begins with "total" or "coverage" and ends with a percentage. NAN = there is
 * none from 0 to 100. */
double coverage_find(const char *output);

/* The longest wait for a step that surely ends before the overseer's timeout:
 * three quarters of it. */
int64_t silence_longest_ms(int64_t overseer_ms);

#endif
