/* SPDX-License-Identifier: ISC */

/* [oversight] as values, with what follows from its profile. */
#ifndef OVERSIGHT_CONFIG_H
#define OVERSIGHT_CONFIG_H

#include "thresholds.h"

struct settings;

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
	int64_t slice_ms;
	int slice_tools;
	int64_t expected_iterations; /* -1 = not known */
};

void oversight_config_read(
    const struct settings *settings, struct oversight_config *ret_config);

#endif
