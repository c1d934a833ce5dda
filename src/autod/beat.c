/* SPDX-License-Identifier: ISC */

/* The heartbeat, beaten by the loop itself: a stuck loop is a stale heart. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pilot.h"
#include "settings.h"
#include "source.h"
#include "workspace.h"

#define BEATS    3 /* in overseer.heartbeat_timeout: two may be late */
#define LEAST_MS 1000
#define MOST_MS  5000

/* What the daemon is at, in a word, for whoever wonders why it is quiet. */
static const char *
phase(const struct pilot *p)
{
	const struct daemon *d = p->daemon;

	if (d->stopping)
		return "stopping";
	if (p->post != NULL)
		return "post_accept";
	if (!TAILQ_EMPTY(&d->landings))
		return "landing";
	if (source_asking(p->source))
		return "asking";
	if (d->state.paused != NULL)
		return "paused";
	return supply_count(p, TASK_ASSIGNED) > 0 ? "working" : "idle";
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
period_ms(const struct pilot *p)
{
	int64_t ms = settings_duration(
			 p->daemon->settings, "overseer.heartbeat_timeout") /
	    BEATS;

	if (ms < LEAST_MS)
		return LEAST_MS;
	return ms > MOST_MS ? MOST_MS : ms;
}

/* File systems bring a file to the disk when it replaces another, which is
 * most of the cost of a beat, and needless here: so the two change places. */
static int
put_in_place(const char *fresh, const char *file)
{
	if (renameat2(AT_FDCWD, fresh, AT_FDCWD, file, RENAME_EXCHANGE) == 0) {
		unlink(fresh);
		return 0;
	}
	return rename(fresh, file);
}

/* Not synced to the disk: after a crash of the machine nobody beats. */
static void
beat(void *arg)
{
	struct pilot *p = arg;
	const struct daemon *d = p->daemon;
	cleanup_free char *file =
	    workspace_path(d->workspace, "auto.heartbeat");
	cleanup_free char *fresh = xasprintf("%s.new", file);
	cleanup_free char *text = xasprintf(
	    "{\"timestamp_unix\":%lld,"
	    "\"instance_id\":\"%s\",\"sequence\":%llu,\"lag_ms\":%lld,"
	    "\"phase\":\"%s\",\"rss_kb\":%lld,\"monotonic_ms\":%lld}\n",
	    (long long)(clock_wall_ms() / 1000), d->instance,
	    (unsigned long long)++p->beats, (long long)loop_lag_ms(d->loop),
	    phase(p), (long long)rss_kb(), (long long)clock_mono_ms());
	cleanup_fd int fd = -1;

	loop_lag_reset(d->loop);
	if (p->beat != NULL)
		loop_timer_restart(p->beat, period_ms(p));
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd == -1 || file_write_all(fd, text, strlen(text)) < 0 ||
	    put_in_place(fresh, file) == -1)
		log_debug("auto.heartbeat: not written");
}

void
beat_start(struct pilot *p)
{
	beat(p);
	p->beat = loop_after(p->daemon->loop, period_ms(p), beat, p);
}

void
beat_remove(const struct daemon *d)
{
	cleanup_free char *file =
	    workspace_path(d->workspace, "auto.heartbeat");

	unlink(file);
}
