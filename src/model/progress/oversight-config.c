/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "oversight-config.h"

#include "settings.h"
#include "word.h"

const char *const oversight_mode_words[] = {
	[OVERSIGHT_OFF] = "off",
	[OVERSIGHT_OBSERVE] = "observe",
	[OVERSIGHT_ACT] = "act",
	NULL,
};

void
oversight_config_read(
    const struct settings *settings, struct oversight_config *ret_config)
{
	const char *const *list;
	unsigned profile = PROFILE_DEFAULT, mode = OVERSIGHT_ACT;
	size_t count;

	word_find(oversight_mode_words,
	    settings_string(settings, "oversight.mode"), &mode);
	word_find(thresholds_profile_words,
	    settings_string(settings, "oversight.profile"), &profile);
	*ret_config = (struct oversight_config){
		.mode = (enum oversight_mode)mode,
		.profile = (enum thresholds_profile)profile,
		.slice_ms = settings_duration(settings, "oversight.slice"),
		.slice_tools =
		    (int)settings_int(settings, "oversight.slice_tools"),
		.expected_iterations =
		    settings_int(settings, "oversight.expected_iterations"),
	};
	if (ret_config->expected_iterations == 0)
		ret_config->expected_iterations = -1;
	thresholds_init(&ret_config->thresholds, ret_config->profile);
	count = settings_list(settings, "oversight.thresholds", &list);
	for (size_t i = 0; i < count; i++)
		thresholds_set(&ret_config->thresholds, list[i], NULL);
}
