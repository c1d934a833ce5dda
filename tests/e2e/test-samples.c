/* SPDX-License-Identifier: ISC */

/* The first evening with a project as people have them. */
#include "fleet.h"
#include "samples.h"

const int unit_timeout = 120; /* seconds, each */

TEST(node_with_a_lock_file_and_a_port)
{
	sample_story(SAMPLE_NODE, fleet_begin);
}

TEST(python_with_a_database)
{
	sample_story(SAMPLE_PYTHON, fleet_begin);
}

TEST(c_with_meson)
{
	sample_story(SAMPLE_MESON, fleet_begin);
}

TEST(a_repository_with_a_submodule)
{
	sample_story(SAMPLE_SUBMODULE, fleet_begin);
}
