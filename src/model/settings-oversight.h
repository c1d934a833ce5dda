/* SPDX-License-Identifier: ISC */

/* The rows of [oversight]: a part of settings-table.c, and for it only. */
#ifndef SETTINGS_OVERSIGHT_H
#define SETTINGS_OVERSIGHT_H

#define SETTINGS_OVERSIGHT_ROWS                                                \
	{ .path = "oversight.mode",                                            \
		.type = SETTING_CHOICE,                                        \
		.fallback = "\"act\"",                                         \
		.choices = oversight_mode_words,                               \
		.help = "What is done where the work of auto workers goes "    \
			"in circles: act steps in, observe only records "      \
			"what it would do, off does not look." },              \
	    { .path = "oversight.profile",                                     \
		    .type = SETTING_CHOICE,                                    \
		    .fallback = "\"default\"",                                 \
		    .choices = thresholds_profile_words,                       \
		    .help = "How soon: default, strict (earlier), "            \
			    "exploratory (later), or ci (as soon as any "      \
			    "coverage is lost)." },                            \
	    { .path = "oversight.thresholds",                                  \
		    .type = SETTING_LIST,                                      \
		    .fallback = "[]",                                          \
		    .form = FORM_THRESHOLD,                                    \
		    .help = "Thresholds that differ from the profile, such "   \
			    "as stuck.sameErrorCount=4." },                    \
	    { .path = "oversight.slice",                                       \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"10m\"",                                     \
		    .min = 100,                                                \
		    .max = 24 * HOUR,                                          \
		    .help = "A longer turn is looked at in parts: one ends "   \
			    "after this time, or after "                       \
			    "oversight.slice_tools. The session is told of it" \
			    " after its next tool, or by an interruption if "  \
			    "no tool ends within a slice, or within three "    \
			    "for a warning." },                                \
	    { .path = "oversight.slice_tools",                                 \
		    .type = SETTING_INT,                                       \
		    .fallback = "30",                                          \
		    .min = 1,                                                  \
		    .max = 10000,                                              \
		    .help = "Tool calls after which a part of a long turn "    \
			    "ends at the latest." },                           \
	    { .path = "oversight.test_command",                                \
		    .type = SETTING_STRING,                                    \
		    .fallback = "\"\"",                                        \
		    .flags = SETTING_RUNS,                                     \
		    .help = "Shell command that tests the work at the end "    \
			    "of a turn, in the worktree and within "           \
			    "auto.check_timeout; empty means that the "        \
			    "results of landing checks are used." },           \
	    { .path = "oversight.coverage_pattern",                            \
		    .type = SETTING_STRING,                                    \
		    .form = FORM_COVERAGE,                                     \
		    .fallback = "\"\"",                                        \
		    .help = "Extended regular expression whose first group "   \
			    "is the coverage in percent, in the output of "    \
			    "the tests; empty means that coverage is not "     \
			    "known." },                                        \
	{                                                                      \
		.path = "oversight.expected_iterations", .type = SETTING_INT,  \
		.fallback = "0", .min = 0, .max = 1000000,                     \
		.help = "How many turns, or parts of long ones, a task "       \
			"should need; 0 means that the effort of a "           \
			"plan's node says so: a number, or xs (3), "           \
			"s (6), m (12), l (24), xl (48)."                      \
	}

#endif
