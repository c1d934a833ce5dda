/* SPDX-License-Identifier: ISC */

/*
 * The top floor: what people see. It makes the view (view.h) of what the floors
 * below know, and gives it to those who look. What they change goes through the
 * methods of those floors.
 *
 *   show-stream.c   the view and its changes for those who follow it: view.get,
 *                   view.follow, the page
 *   show-floor.c    what is counted for metrics; what is measured; the page on
 *                   127.0.0.1; the report for it
 *   show-desk.c     what the page asks for beside the view, and what a person
 *                   does there: by the same methods that llmc calls;
 *                   replay.get, charts.get, screen.get
 *   show-hosts.c    the hosts of a fleet, as they are read
 *   show-report.c   how workers spend their time; reports to
 *                   people.report_command
 */
#ifndef SHOW_H
#define SHOW_H

#include "core.h"
#include "metrics.h"

struct auto_mode;
struct book;
struct buf;
struct show_desk;
struct show_follower;
struct show_hosts;
struct show_report;
struct show_spans;
struct show_stream;
struct show_web;
struct fleet;
struct hosts_floor;
struct http_exchange;
struct http_head;
struct json_object;
struct landings;
struct oversight_floor;
struct plan_floor;
struct settings;
struct state;
struct team_floor;

struct show_floor {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *mode;
	struct plan_floor *plan;
	struct oversight_floor *oversight; /* NULL = no oversight */
	struct team_floor *team;
	struct core_floor floor;
	int64_t started_ms; /* wall clock */
	struct show_hosts *hosts;
	struct show_spans *spans;
	struct show_stream *stream;
	struct show_desk *desk;
	struct show_web *web;
	struct show_report *report;
	struct show_replay *replay;
};

/* Registers itself as a floor, and its methods. oversight and hosts may be
 * NULL. */
struct show_floor *show_floor_new(struct team_floor *team,
    struct oversight_floor *oversight, struct hosts_floor *hosts);

/* Call before the floors below are freed. */
void show_floor_free(struct show_floor *show);

/* The port that the page listens on; 0 = it is not open. */
unsigned show_web_port(const struct show_web *web);

/* A GET of WEB_API_PREFIX NAME; it is answered now or later. */
void show_desk_read(struct show_floor *show, struct http_exchange *exchange,
    const struct http_head *request);

/* A POST of WEB_API_PREFIX METHOD, of a page that is open: what a person does
 * there, with the rights of one. Each is done once: see struct click. */
void show_desk_change(struct show_desk *desk, struct http_exchange *exchange,
    const struct http_head *request);
bool show_desk_works(const struct show_desk *desk); /* web.mode is work */

/* Logins at web.origin: a code, which is for one login within ten minutes, is
 * exchanged for the session that a cookie has. They are kept in a file over
 * restarts, until the page is turned off. */
void show_desk_code(struct show_desk *desk, char *ret_code);
void show_desk_login(struct show_desk *desk, struct http_exchange *exchange);
bool show_desk_knows(const char *session, void *desk);
void show_desk_forget(struct show_desk *desk);

struct show_desk *show_desk_new(struct show_floor *show);
/* After the server of the page. */
void show_desk_free(struct show_desk *desk);

/* Appended. Made from memory: nothing is asked or waited for. */
void show_metrics_text(struct show_floor *show, struct buf *out);

/* --- the view ---------------------------------------------------------- */

/*
 * A snapshot, then what changes: the first change soon, with what comes
 * together with it, and then at most every SHOW_PAUSE_MS. Nothing is computed
 * without a follower.
 */
#define SHOW_PAUSE_MS  50
#define SHOW_ENDED_MAX 200 /* rows of tasks that have ended */

/* Of all sections, or of those of a list of names (view_wants()). The caller
 * owns it. */
struct json_object *
show_snapshot(struct show_floor *show, struct json_object *sections);

/* The member "untold" of the view's head: since when, and why, no channel takes
 * what open asks tell; null = one does. book may be NULL. */
void show_untold_fill(struct book *book, const struct state *state,
    const struct settings *settings, int64_t now_ms, struct json_object *view);

/* hosts: of the fleet for which this host's part of the view (view_host_part())
 * is posted to the shared book when it has changed, NULL = none. */
struct show_stream *
show_stream_new(struct show_floor *show, struct hosts_floor *hosts);
/* Followers get the end. */
void show_stream_free(struct show_stream *stream);

/* Without a follower, what was kept for the next view only takes memory. Also
 * removes from the book what is kept no longer. */
void show_stream_patrol(struct show_stream *stream);

/* what: "snapshot" or "change"; body: {"seq": n, "view": ...} or {"seq": n,
 * "change": ...}, borrowed. Negative errno: it gets nothing any more, and
 * leaves later. NULL body ("end"): the stream is freed, and the follower must
 * leave in here. */
typedef int
show_follow_fn(const char *what, struct json_object *body, void *arg);

/* Follow; fn gets the snapshot before this returns. */
struct show_follower *
show_stream_follow(struct show_stream *stream, show_follow_fn *fn, void *arg);
void show_stream_leave(struct show_follower *follower);

/* For show_hosts_new(). */
bool show_stream_on_hosts(bool read, void *stream);

/* --- the hosts of a fleet ----------------------------------------------- */

/* Reads what the hosts have posted to the shared book, while somebody looks.
 * Without a fleet nothing is done, and the view is as it always was. */

#define SHOW_PART_MAX (64 * 1024) /* bytes: what a host posts */

/* They were read, or could not be. True: somebody follows the view, so they are
 * read again. */
typedef bool show_hosts_fn(bool read, void *arg);

/* floor: NULL = no fleet. */
struct show_hosts *show_hosts_new(struct loop *loop, struct hosts_floor *floor,
    show_hosts_fn *on_read, void *arg);
void show_hosts_free(struct show_hosts *hosts);

const char *show_hosts_name(const struct show_hosts *hosts); /* or NULL */

/* followed: what is too old is read again. */
void show_hosts_fill(
    struct show_hosts *hosts, bool followed, struct json_object *view);
/* What is known is too old: fn is called when it is not any more, or soon in
 * any case. False: it is fresh. */
bool
show_hosts_wait(struct show_hosts *hosts, void (*fn)(void *arg), void *arg);

/* --- how the workers spend their time ----------------------------------- */

/* A span (metrics.h) ends when its worker does something else, or the daemon
 * ends. Call it before anything has changed: what a daemon that was killed did
 * not record is recorded. */
struct show_spans *show_spans_new(struct show_floor *show);
void show_spans_free(struct show_spans *spans);

/* The floor begins; the patrol, which sees what no event tells; the end. */
void show_spans_begin(struct show_spans *spans);
void show_spans_patrol(struct show_spans *spans);
void show_spans_close(struct show_spans *spans);

/* Milliseconds of the spans that go on, added to uses[WORK_USE_COUNT]. */
void
show_spans_sum(const struct show_spans *spans, int64_t now_ms, int64_t *uses);

/* How a worker has spent its time since the daemon began, in its row of the
 * view: times {use: ms} of what has ended; time_use, time_from_ms of what goes
 * on, so that the row stays the same meanwhile. */
void show_spans_fill(
    struct show_spans *spans, const char *worker, struct json_object *row);

/* --- reports ------------------------------------------------------------ */

/*
 * Runs people.report_command with the report (llmc report) of each run when it
 * has ended, and of the last day at people.report_at. Each report is sent once:
 * what is owed is in .llmc/report.json until an errand (errand.h) for it is on
 * disk. The report of a run that was killed is sent by the next daemon.
 *
 * The errand makes the report and runs the command. The daemon does not wait
 * for it: it goes on when the daemon ends, and the next one looks at its
 * result. If it failed, a person is notified once. The files are in
 * .llmc/reports.
 */
struct show_replay *show_replay_new(struct show_floor *show);
void show_replay_free(struct show_replay *replay);

struct show_report *show_report_new(struct show_floor *show);
/* Commands that are still running go on. */
void show_report_free(struct show_report *report);

/* The floor begins; the patrol; the end of the daemon. */
void show_report_begin(struct show_report *report);
void show_report_patrol(struct show_report *report);
void show_report_close(struct show_report *report);

#endif
