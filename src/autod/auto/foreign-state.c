/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "failure.h"
#include "file.h"
#include "foreign-state.h"
#include "mem.h"
#include "workspace.h"

static void
raise_failure(struct core *core, const char *class, const char *reason)
{
	failure_raise(core,
	    &(struct failure){
		.class = class, .status = -1, .reason = reason });
}

/* How many of our workers are in the other state? */
static size_t
count_ours(const struct state *ours, const struct state *other)
{
	size_t count = 0;

	for (size_t i = 0; ours->auto_workers[i] != NULL; i++)
		count += state_find(other, ours->auto_workers[i]) != NULL;
	return count;
}

static void
judge(struct core *core, const struct state *other)
{
	const struct state *ours = &core->state;
	size_t found = count_ours(ours, other), wanted = 0;
	bool alien = strcmp(other->root_id, ours->root_id) != 0;
	cleanup_free char *reason = NULL;

	while (ours->auto_workers[wanted] != NULL)
		wanted++;
	if (alien || (wanted > 0 && found == 0)) {
		reason = xasprintf(
		    "state.json was overwritten by another program (it has %zu "
		    "of %zu auto workers%s); a test that uses LLMC_ROOT of "
		    "this repository does that. The state in memory was "
		    "written back",
		    found, wanted, alien ? ", and another root id" : "");
		raise_failure(core, "state_overwritten", reason);
	} else if (found < wanted) {
		reason = xasprintf(
		    "lacks %zu of %zu auto workers", wanted - found, wanted);
		emit(core,
		    &(struct event){
			.kind = EVENT_STATE_FOREIGN_LACKS, .reason = reason });
	} else {
		emit(core, &(struct event){ .kind = EVENT_STATE_FOREIGN });
	}
}

void
foreign_state_found(void *arg)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	cleanup_free char *file = workspace_path(core->workspace, "state.json");
	cleanup_free char *reason = NULL;
	cleanup_buf struct buf bytes = BUF_INIT;
	struct state other;
	struct err err = { 0 };
	int r = file_read(file, STATE_SIZE_MAX, &bytes, &err);

	if (!mode->begun || r == -ENOENT) {
		emit(core, &(struct event){ .kind = EVENT_STATE_FOREIGN });
		return;
	}
	if (r == 0)
		r = state_parse(
		    bytes.data, bytes.len, clock_wall_ms(), &other, &err);
	if (r < 0) {
		reason = xasprintf("state.json was damaged by another program "
				   "(%s); the state in memory was written back",
		    err.msg);
		raise_failure(core, "state_corrupt", reason);
		return;
	}
	judge(core, &other);
	state_release(&other);
}
