/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "errtext.h"
#include "file.h"
#include "heartbeat.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "root-guard.h"
#include "settings.h"
#include "stall.h"
#include "workspace.h"

#define BEATS         3 /* per overseer.heartbeat_timeout: two may be late */
#define MOST_MS       5000
#define QUIET_MS      16000 /* while little happens: it wakes the machine */
#define QUIET_PASS_MS 1000 /* of the loop, at least: that is quiet */
#define SPARE_MS      8000 /* such a beat may be late by, at least */

struct heartbeat {
	struct core *core;
	struct loop_timer *timer;
	uint64_t sequence;
	uint64_t passes; /* of the loop, at the last beat */
	int64_t beat_ms; /* when that was */
	bool quiet; /* little had happened before it */
	int64_t last_unix;
	int failure; /* of the last beat, 0 = none */
};

/* What the daemon is doing, in one word, in case it looks stuck. */
static const char *
phase(const struct core *core)
{
	const struct core_floor *floor;

	if (core->stopping)
		return "stopping";
	for (size_t i = core->floor_count; i-- > 0;) {
		floor = core->floors[i];
		if (floor->phase != NULL)
			return floor->phase(floor->self);
	}
	return "idle";
}

static int64_t
sign_ms(const struct core *core)
{
	int64_t latest = 0, ms;

	for (size_t i = 0; i < core->floor_count; i++) {
		const struct core_floor *floor = core->floors[i];

		ms = floor->sign_ms != NULL ? floor->sign_ms(floor->self) : 0;
		if (ms > latest)
			latest = ms;
	}
	return latest;
}

static int64_t
rss_kb(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	long long size = 0, resident = 0;

	if (file_read("/proc/self/statm", 4096, &text, NULL) < 0 ||
	    sscanf(text.data, "%lld %lld", &size, &resident) != 2)
		return 0;
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int64_t
period_ms(const struct core *core, bool quiet)
{
	int64_t timeout =
	    settings_duration(core->settings, "overseer.heartbeat_timeout");
	int64_t look = stall_look_ms(
	    settings_duration(core->settings, "overseer.stall_timeout"));
	int64_t ms = timeout / BEATS, most = MOST_MS;

	if (quiet && timeout - SPARE_MS > ms) {
		ms = timeout - SPARE_MS;
		most = QUIET_MS;
	}
	if (ms > look)
		ms = look;
	return ms > most ? most : ms;
}

/* Has the loop hardly been woken since the last beat? Then what the work before
 * needed goes back to the kernel. */
static bool
is_quiet(struct heartbeat *h)
{
	uint64_t passes = loop_passes(h->core->loop);
	int64_t now = clock_mono_ms();
	bool quiet =
	    (int64_t)(passes - h->passes) * QUIET_PASS_MS <= now - h->beat_ms;

	h->passes = passes;
	h->beat_ms = now;
	if (quiet && !h->quiet)
		malloc_trim(0);
	h->quiet = quiet;
	return quiet;
}

/* File systems sync a file when it replaces another, which is most of the cost
 * of a beat and not needed here; so exchange the two. */
static int
put_in_place(const char *fresh, const char *file)
{
	if (renameat2(AT_FDCWD, fresh, AT_FDCWD, file, RENAME_EXCHANGE) == 0) {
		unlink(fresh);
		return 0;
	}
	return rename(fresh, file);
}

/* Not synced: after a crash of the machine there is no daemon anyway. */
static void
beat(void *arg)
{
	struct heartbeat *h = arg;
	struct core *core = h->core;
	int64_t now_unix = clock_wall_ms() / 1000;
	cleanup_free char *file =
	    workspace_path(core->workspace, "auto.heartbeat");
	cleanup_free char *fresh = xasprintf("%s.new", file);
	cleanup_free char *text = xasprintf(
	    "{\"timestamp_unix\":%lld,"
	    "\"instance_id\":\"%s\",\"sequence\":%llu,\"lag_ms\":%lld,"
	    "\"phase\":\"%s\",\"rss_kb\":%lld,\"monotonic_ms\":%lld,"
	    "\"sign_monotonic_ms\":%lld}\n",
	    (long long)now_unix, core->instance,
	    (unsigned long long)++h->sequence,
	    (long long)loop_lag_ms(core->loop), phase(core),
	    (long long)rss_kb(), (long long)clock_mono_ms(),
	    (long long)sign_ms(core));
	cleanup_fd int fd = -1;
	int r;

	loop_lag_reset(core->loop);
	if (h->timer != NULL)
		loop_timer_restart(h->timer, period_ms(core, is_quiet(h)));
	if (!root_guard_holds(core))
		return;
	unlink(fresh); /* whatever it is: it is made anew */
	fd = file_open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600);
	r = fd < 0 ? fd : file_write_all(fd, text, strlen(text));
	if (r == 0 && put_in_place(fresh, file) == -1)
		r = -errno;
	if (r == 0)
		h->last_unix = now_unix;
	else if (h->failure != r)
		log_info("%s cannot be written: %s", fresh,
		    r == -EEXIST ? file_strerror(-EISDIR) : file_strerror(r));
	h->failure = r;
}

void
heartbeat_beat(struct heartbeat *h)
{
	if (h != NULL && h->quiet)
		beat(h);
}

int64_t
heartbeat_last_unix(const struct heartbeat *h)
{
	return h != NULL ? h->last_unix : 0;
}

struct heartbeat *
heartbeat_new(struct core *core)
{
	struct heartbeat *h = xcalloc(1, sizeof *h);

	h->core = core;
	h->passes = loop_passes(core->loop);
	h->beat_ms = clock_mono_ms();
	beat(h);
	h->timer = loop_after(core->loop, period_ms(core, false), beat, h);
	return h;
}

void
heartbeat_free(struct heartbeat *h)
{
	cleanup_free char *file = NULL;

	if (h == NULL)
		return;
	file = workspace_path(h->core->workspace, "auto.heartbeat");
	if (!h->core->evicted)
		unlink(file);
	loop_timer_free(h->timer);
	free(h);
}
