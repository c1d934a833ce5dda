/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "worker.h"

#define ID    "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
#define OTHER "00000000-4f89-11d3-9a0c-0305e82c3301"
#define HOME  "/home/a b/.claude/projects"

TEST(id_is_a_uuid)
{
	static const char *const wrong[] = { "", "s1", "../../etc/passwd",
		"3f2504e0-4f89-11d3-9a0c-0305e82c330",
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301/",
		"3f2504e0-4f89-11d3-9a0c-0305e82c33010",
		"3f2504e0_4f89_11d3_9a0c_0305e82c3301",
		"xf2504e0-4f89-11d3-9a0c-0305e82c3301" };

	ck_assert(session_start_id_valid(ID));
	ck_assert(!session_start_id_valid(NULL));
	for (size_t i = 0; i < nitems(wrong); i++)
		ck_assert_msg(
		    !session_start_id_valid(wrong[i]), "%s", wrong[i]);
}

TEST(path_is_the_file_of_the_conversation)
{
	static const struct {
		const char *projects, *path;
		bool valid;
	} rows[] = {
		{ HOME, HOME "/-r--worktrees-adam/" ID ".jsonl", true },
		{ HOME "/", HOME "/p/" ID ".jsonl", true },
		{ "/home//a b/./.claude/projects", HOME "/p/" ID ".jsonl",
		    true },
		{ NULL, "/anywhere/" ID ".jsonl", true },
		/* Of another kind of agent, in a folder for each day. */
		{ HOME, HOME "/2026/11/18/rollout-2026-" ID ".jsonl", true },
		{ HOME, HOME "/11/18/rollout-2026-" ID ".jsonl", false },
		{ HOME, HOME "/2026/11/18/rollout-" OTHER ".jsonl", false },
		{ HOME, HOME "/2026/11/18/" ID ".jsonl", false },
		/* Another conversation, another file. */
		{ HOME, HOME "/p/" OTHER ".jsonl", false },
		{ HOME, HOME "/p/" ID ".json", false },
		{ HOME, HOME "/p/" ID ".jsonl.gz", false },
		{ HOME, HOME "/p/x" ID ".jsonl", false },
		/* Another place. */
		{ HOME, "/etc/passwd", false },
		{ HOME, "/tmp/p/" ID ".jsonl", false },
		{ HOME, HOME "-else/p/" ID ".jsonl", false },
		{ HOME, HOME "/" ID ".jsonl", false },
		{ HOME, HOME "/p/q/" ID ".jsonl", false },
		{ HOME, "/home/a b/.claude/" ID ".jsonl", false },
		/* Not where it seems to be. */
		{ HOME, HOME "/../projects/" ID ".jsonl", false },
		{ HOME, HOME "/../" ID ".jsonl", false },
		{ HOME, HOME "/./" ID ".jsonl", false },
		{ HOME, HOME "//p/" ID ".jsonl", false },
		{ HOME, HOME "/p/" ID ".jsonl/", false },
		{ HOME, "home/a b/.claude/projects/p/" ID ".jsonl", false },
		{ HOME, "", false },
		{ HOME, "/", false },
		{ HOME, NULL, false },
		{ NULL, "relative/" ID ".jsonl", false },
		{ NULL, "/a/../" ID ".jsonl", false },
		{ NULL, "/etc/passwd", false },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(session_start_path_valid(rows[i].projects, ID,
				  rows[i].path) == rows[i].valid,
		    "%zu: %s", i, rows[i].path);
	ck_assert(!session_start_path_valid(HOME, "s1", HOME "/p/s1.jsonl"));
}
