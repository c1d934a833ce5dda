/* SPDX-License-Identifier: ISC */

/* What is refused is refused with words, and what passes is passed in silence;
 * with fewer rules nothing is refused that passed before. */

#include "fuzz.h"
#include "command-guard.h"

static bool
is_foreign(int64_t pid, void *arg)
{
	(void)arg;
	return pid % 2 == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const scratch[] = { "/tmp", NULL };
	struct command_place place = { .rules = (1U << COMMAND_RULE_COUNT) - 1,
		.tree = "/r/.worktrees/adam",
		.home = "/home/me",
		.scratch = scratch,
		.is_foreign = is_foreign };
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_buf struct buf why = BUF_INIT, none = BUF_INIT;

	if (command_guard(text, &place, &why) != (why.len == 0))
		abort();
	place.rules = 0;
	if (!command_guard(text, &place, &none) || none.len > 0)
		abort();
	return 0;
}
