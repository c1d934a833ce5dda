/* SPDX-License-Identifier: ISC */

/* [oversight] as values, with what follows from its profile. */
#ifndef OVERSIGHT_CONFIG_H
#define OVERSIGHT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "thresholds.h"

struct settings;

struct oversight_config {
	bool enabled;
	enum thresholds_profile profile;
	struct thresholds thresholds;
	int64_t slice_ms;
	int slice_tools;
	int64_t expected_iterations; /* -1 = not known */
	bool auto_escalate; /* tell people of a pause */
	bool abort_on_regression;
};

void oversight_config_read(
    const struct settings *settings, struct oversight_config *ret_config);

#endif
