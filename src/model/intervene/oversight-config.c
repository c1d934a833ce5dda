/* SPDX-License-Identifier: ISC */

#include "oversight-config.h"

#include "settings.h"
#include "word.h"

void
oversight_config_read(
    const struct settings *settings, struct oversight_config *ret_config)
{
	const char *const *list;
	unsigned profile = PROFILE_DEFAULT;
	size_t count;

	word_find(thresholds_profile_words,
	    settings_string(settings, "oversight.profile"), &profile);
	*ret_config = (struct oversight_config){
		.enabled = settings_bool(settings, "oversight.enabled"),
		.profile = (enum thresholds_profile)profile,
		.slice_ms = settings_duration(settings, "oversight.slice"),
		.slice_tools =
		    (int)settings_int(settings, "oversight.slice_tools"),
		.expected_iterations =
		    settings_int(settings, "oversight.expected_iterations"),
		.auto_escalate =
		    settings_bool(settings, "oversight.auto_escalate") &&
		    profile != PROFILE_EXPLORATORY,
		.abort_on_regression =
		    settings_bool(settings, "oversight.abort_on_regression") ||
		    profile == PROFILE_CI,
	};
	if (ret_config->expected_iterations == 0)
		ret_config->expected_iterations = -1;
	thresholds_init(&ret_config->thresholds, ret_config->profile);
	count = settings_list(settings, "oversight.thresholds", &list);
	for (size_t i = 0; i < count; i++)
		thresholds_set(&ret_config->thresholds, list[i], NULL);
}
