/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "auto.h"
#include "child.h"
#include "core.h"
#include "counters.h"
#include "emit.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "eyes-report.h"
#include "eyes-spans.h"
#include "eyes-stream.h"
#include "heartbeat.h"
#include "http-request.h"
#include "http-server.h"
#include "life.h"
#include "loop.h"
#include "metrics-state.h"
#include "metrics-text.h"
#include "page-assets.h"
#include "persist.h"
#include "proctree.h"
#include "relay.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "source.h"
#include "task.h"
#include "team-floor.h"
#include "view-doc.h"
#include "view-row.h"
#include "view-state.h"
#include "web-files.h"
#include "work-span.h"
#include "workspace.h"

/* --- the last events ---------------------------------------------------- */

struct eyes_events {
	struct eyes_floor *eyes;
	struct json_object *list; /* an array of rows, oldest first; NULL =
				   * nobody has looked yet */
	int64_t count; /* ever */
};

static void
add(struct eyes_events *e, struct json_object *record)
{
	struct json_object *row = view_row_event(record, e->count + 1);

	if (row == NULL)
		return;
	e->count++;
	json_object_array_add(e->list, row);
	if (json_object_array_length(e->list) > VIEW_EVENTS_MAX)
		json_object_array_del_idx(e->list, 0, 1);
}

static void
events_on_event(const struct event *event, void *arg)
{
	struct eyes_events *e = arg;
	cleanup_json struct json_object *record = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	if (e->list == NULL)
		return;
	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	if (record != NULL)
		add(e, record);
	eyes_stream_changed(e->eyes->stream);
}

static struct eyes_events *
eyes_events_new(struct eyes_floor *eyes)
{
	struct eyes_events *e = xcalloc(1, sizeof *e);

	e->eyes = eyes;
	emit_subscribe(eyes->core, events_on_event, e);
	return e;
}

static void
eyes_events_free(struct eyes_events *e)
{
	if (e == NULL)
		return;
	emit_unsubscribe(e->eyes->core, events_on_event, e);
	json_object_put(e->list);
	free(e);
}

struct json_object *
eyes_events_list(struct eyes_events *e)
{
	struct json_object *list = json_object_new_array();

	if (e->list == NULL) {
		e->list = view_files_events(e->eyes->core->workspace);
		e->count = (int64_t)json_object_array_length(e->list);
	}
	for (size_t i = 0; i < json_object_array_length(e->list); i++)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(e->list, i)));
	return list;
}

void
eyes_events_forget(struct eyes_events *e)
{
	json_object_put(take_ptr(&e->list));
}

#define EYES_REPORT_PAGE_KEPT_MS     5000
#define EYES_REPORT_PAGE_DEADLINE_MS 60000
#define EYES_REPORT_PAGE_ASKERS_MAX  32
#define EYES_REPORT_PAGE_BYTES_MAX   (8 * 1024 * 1024)
#define EYES_WEB_BEAT_MS             15000

/*
 * A counter must never go back, not even if this daemon is killed now: so what
 * was counted is saved soon, and a span that goes on counts until the moment
 * that the next daemon would end it at (book_open_spans()), which is the last
 * heartbeat or the last time the state was saved.
 */
void
eyes_metrics_text(struct eyes_floor *eyes, struct buf *out)
{
	struct core *core = eyes->core;
	struct metrics m = { .version = LLMC_VERSION, .live = true };
	int64_t now = clock_wall_ms();

	metrics_state_fill(&core->state, core->settings, now, &m);
	m.beat_s = heartbeat_last_unix(core->heartbeat);
	eyes_spans_sum(
	    eyes->spans, m.beat_s > 0 ? m.beat_s * 1000 : now, m.uses);
	m.lag_ms = loop_lag_ms(core->loop);
	process_facts_read(&m.process);
	m.process.start_s = (double)eyes->started_ms / 1000;
	metrics_text(&m, out);
	if (m.beat_s == 0 || !persist_is_idle(core))
		persist_changed(core);
}

static void
metrics_on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct eyes_floor *eyes = arg;
	struct json_object *result = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	(void)params;
	eyes_metrics_text(eyes, &text);
	json_set_string(result, "text", text.data);
	serve_reply(eyes->core, call, result);
}

struct eyes_report_page {
	struct eyes_floor *eyes;
	struct child *child; /* makes one; NULL = none is made */
	struct http_exchange *askers[EYES_REPORT_PAGE_ASKERS_MAX];
	size_t asker_count;
	struct buf last; /* what was made last; empty = nothing */
	int64_t made_ms; /* monotonic */
};

static void
answer(const struct eyes_report_page *page, struct http_exchange *exchange)
{
	const struct web_content content = { .type = web_path_type(WEB_REPORT),
		.len = page->last.len };

	if (page->last.len > 0)
		http_reply(exchange, 200, &content, page->last.data);
	else
		http_refuse(exchange, 500);
}

static void
answer_all(struct eyes_report_page *page)
{
	while (page->asker_count > 0)
		answer(page, page->askers[--page->asker_count]);
}

static void
on_made(const struct child_result *result, void *arg)
{
	struct eyes_report_page *page = arg;
	cleanup_buf struct buf how = BUF_INIT;

	page->child = NULL;
	page->made_ms = clock_mono_ms();
	if (result->out.total > EYES_REPORT_PAGE_BYTES_MAX)
		log_info(
		    "the report is too long for the page; use llmc report");
	else if (!child_succeeded(result)) {
		child_result_describe(result, &how);
		buf_adds(&how, ": ");
		child_output_text(&result->err, &how);
		log_info("llmc report for the page: %s", how.data);
	} else
		child_output_text(&result->out, &page->last);
	answer_all(page);
}

/* Answers now or later. */
static void
eyes_report_page_serve(
    struct eyes_report_page *page, struct http_exchange *exchange)
{
	if (page->child == NULL && page->last.len > 0 &&
	    clock_mono_ms() - page->made_ms < EYES_REPORT_PAGE_KEPT_MS) {
		answer(page, exchange);
		return;
	}
	if (page->asker_count == EYES_REPORT_PAGE_ASKERS_MAX) {
		http_refuse(exchange, 503);
		return;
	}
	page->askers[page->asker_count++] = exchange;
	if (page->child == NULL) {
		const struct core *core = page->eyes->core;
		const char *const argv[] = { core->llmc, "--root",
			core->workspace->root, "report", "--json", NULL };
		const struct child_spec spec = {
			.argv = argv,
			.cwd = core->workspace->root,
			.deadline_ms = EYES_REPORT_PAGE_DEADLINE_MS,
			.output_max = EYES_REPORT_PAGE_BYTES_MAX,
		};
		struct err err = { 0 };

		buf_release(&page->last);
		if (child_spawn(core->loop, &spec, on_made, page, &page->child,
			&err) == 0)
			return;
		log_info("llmc report for the page: %s", err.msg);
		answer_all(page);
	}
}

/* Ends the exchanges that wait. */
static void
eyes_report_page_free(struct eyes_report_page *page)
{
	if (page == NULL)
		return;
	if (page->child != NULL)
		child_abandon(page->child);
	buf_release(&page->last);
	answer_all(page);
	free(page);
}

#define SAVE_MS 2000

/* A page that follows the view. */
struct visitor {
	LIST_ENTRY(visitor) entry;
	struct eyes_web *web;
	struct http_exchange *exchange;
	struct eyes_follower *follower;
};

LIST_HEAD(visitors, visitor);
LIST_HEAD(scrapes, scrape);

struct eyes_web {
	struct eyes_floor *eyes;
	struct http_server *server; /* NULL = it is not open */
	struct visitors visitors;
	struct scrapes scrapes;
	struct loop_timer *beat; /* while there are visitors */
	struct eyes_report_page *report;
	char token[WEB_TOKEN_CHARS + 1];
	char *reason; /* why it cannot be opened; NULL = nothing is wrong */
	bool asked; /* the overseer, for the listener of an earlier daemon */
	bool untold; /* the overseer does not know what it shall keep */
};

/* --- the view, as a stream ------------------------------------------- */

static void
visitor_end(struct visitor *visitor)
{
	struct eyes_web *web = visitor->web;

	LIST_REMOVE(visitor, entry);
	if (LIST_EMPTY(&web->visitors))
		loop_timer_free(take_ptr(&web->beat));
	eyes_stream_leave(visitor->follower);
	http_stream_end(visitor->exchange);
	free(visitor);
}

/* A comment, which says when the next one comes. One that does not read is
 * dropped by the server, and on_gone() follows. */
static void
send_beat(struct visitor *visitor)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(
	    &text, ": beat %" PRId64 "\n\n", clock_kernel_ms(EYES_WEB_BEAT_MS));
	http_stream_send(visitor->exchange, text.data, text.len);
}

static void
on_beat(void *arg)
{
	struct eyes_web *web = arg;
	struct visitor *visitor;

	LIST_FOREACH (visitor, &web->visitors, entry)
		send_beat(visitor);
}

static void
on_gone(void *arg)
{
	visitor_end(arg);
}

/* One that does not read is dropped by the server, and on_gone() follows. */
static int
on_body(const char *what, struct json_object *body, void *arg)
{
	struct visitor *visitor = arg;
	cleanup_buf struct buf text = BUF_INIT;

	if (body == NULL) {
		visitor_end(visitor);
		return -EPIPE;
	}
	buf_addf(&text, "event: %s\ndata: ", what);
	json_print(body, false, &text);
	buf_adds(&text, "\n\n");
	return http_stream_send(visitor->exchange, text.data, text.len);
}

static void
serve_view(struct eyes_web *web, struct http_exchange *exchange)
{
	const struct web_content content = { .type = web_path_type(WEB_VIEW),
		.endless = true };
	struct visitor *visitor = xcalloc(1, sizeof *visitor);

	visitor->web = web;
	visitor->exchange = exchange;
	if (http_stream_begin(exchange, &content, on_gone, visitor) < 0) {
		free(visitor);
		return;
	}
	LIST_INSERT_HEAD(&web->visitors, visitor, entry);
	if (web->beat == NULL)
		web->beat = loop_every(
		    web->eyes->core->loop, EYES_WEB_BEAT_MS, on_beat, web);
	send_beat(visitor);
	visitor->follower =
	    eyes_stream_follow(web->eyes->stream, on_body, visitor);
}

/* --- everything else ------------------------------------------------- */

/* Metrics that are sent when they are saved: a counter would go back if the
 * daemon were killed before. Not for long: who watches is told also if nothing
 * can be saved. */
struct scrape {
	LIST_ENTRY(scrape) entry;
	struct eyes_web *web;
	struct http_exchange *exchange;
	struct loop_timer *timer;
	struct buf text;
};

static void
on_saved(void *arg)
{
	struct scrape *scrape = arg;
	const struct web_content content = { .type = web_path_type(WEB_METRICS),
		.len = scrape->text.len };

	http_reply(scrape->exchange, 200, &content, scrape->text.data);
	persist_forget(scrape->web->eyes->core, scrape);
	loop_timer_free(scrape->timer);
	buf_release(&scrape->text);
	LIST_REMOVE(scrape, entry);
	free(scrape);
}

static void
serve_metrics(struct eyes_web *web, struct http_exchange *exchange)
{
	struct core *core = web->eyes->core;
	struct scrape *scrape = xcalloc(1, sizeof *scrape);

	scrape->web = web;
	scrape->exchange = exchange;
	eyes_metrics_text(web->eyes, &scrape->text);
	LIST_INSERT_HEAD(&web->scrapes, scrape, entry);
	if (persist_is_idle(core)) {
		on_saved(scrape);
		return;
	}
	scrape->timer = loop_after(core->loop, SAVE_MS, on_saved, scrape);
	persist_then(core, scrape, on_saved, scrape);
}

static void
serve_asset(struct http_exchange *exchange, enum web_path path,
    enum page_asset_name name, bool gzip)
{
	const struct page_asset *asset = &page_assets[name];
	const struct web_content content = { .type = web_path_type(path),
		.len = gzip ? asset->gzip_len : asset->plain_len,
		.gzip = gzip };

	http_reply(exchange, 200, &content,
	    (const char *)(gzip ? asset->gzip : asset->plain));
}

static void
on_request(
    struct http_exchange *exchange, const struct http_head *request, void *arg)
{
	static const enum page_asset_name assets[] = {
		[WEB_INDEX] = PAGE_INDEX,
		[WEB_STYLE] = PAGE_STYLE,
		[WEB_SCRIPT] = PAGE_SCRIPT,
	};
	const struct web_content nothing = { 0 };
	struct eyes_web *web = arg;
	enum web_path path = WEB_PATH_COUNT;
	int status = web_decide(
	    request, http_server_port(web->server), web->token, &path);

	if (status != 200)
		http_refuse(exchange, status);
	else if (path <= WEB_SCRIPT)
		serve_asset(exchange, path, assets[path], request->gzip);
	else if (path == WEB_ICON)
		http_reply(exchange, 204, &nothing, "");
	else if (path == WEB_VIEW)
		serve_view(web, exchange);
	else if (path == WEB_METRICS)
		serve_metrics(web, exchange);
	else
		eyes_report_page_serve(web->report, exchange);
}

/* --- open and closed ------------------------------------------------- */

static void
web_close(struct eyes_web *web)
{
	struct visitor *visitor;

	while ((visitor = LIST_FIRST(&web->visitors)) != NULL)
		visitor_end(visitor);
	web->untold = web->untold || web->server != NULL;
	http_server_free(take_ptr(&web->server));
}

/* Takes the listener. A token lives as long as its listener. */
static int
web_serve(
    struct eyes_web *web, int listener, const char *token, struct err *err)
{
	struct core *core = web->eyes->core;
	struct http_server *server;
	int r = web_files_put_token(core->workspace, token, err);

	if (r < 0) {
		fd_close(listener);
		return r;
	}
	server = http_server_new(core->loop, listener, on_request, web, err);
	if (server == NULL)
		return err->code;
	web_close(web);
	web->server = server;
	web->untold = true;
	memcpy(web->token, token, WEB_TOKEN_CHARS);
	return 0;
}

/* With a new token: somebody else may have had the port, and been sent the
 * last one by a page that was still open. */
static int
web_open(struct eyes_web *web, unsigned port, struct err *err)
{
	char token[WEB_TOKEN_CHARS + 1];
	int fd = loopback_listen(port, err);

	if (fd == -EADDRINUSE || fd == -EACCES)
		return err_set(err, fd,
		    "the page cannot use port %u (web.port): it is %s; choose "
		    "another one: llmc config set web.port 0",
		    port,
		    fd == -EACCES ? "not allowed to us" :
				    "used by another program");
	if (fd < 0)
		return fd;
	web_files_new_token(token);
	return web_serve(web, fd, token, err);
}

static void
web_say_open(struct eyes_web *web)
{
	cleanup_free char *number = xasprintf("%u", eyes_web_port(web));

	xstrset(&web->reason, NULL);
	emit(web->eyes->core,
	    &(struct event){ .kind = EVENT_WEB_OPEN, .text = number });
}

/* Go on with the listener of the daemon before us, once, if it is the one that
 * is wanted. The overseer still has it. */
static void
web_inherit(struct eyes_web *web, bool enabled, unsigned port)
{
	static const size_t skip = sizeof WEB_KEEP - 1;
	int channel = web->eyes->core->options->overseer, r;
	char text[FD_CHANNEL_TEXT_SIZE] = "";
	cleanup_fd int fd = -1;
	struct err err = { 0, "" };
	unsigned found = 0;

	if (web->asked || channel == 0)
		return;
	web->asked = true;
	r = fd_channel_receive(channel, text, &fd);
	web->untold = r == 1 || r == -EBADMSG;
	if (r != 1 || !enabled || strncmp(text, WEB_KEEP, skip) != 0 ||
	    !web_token_valid(text + skip) ||
	    loopback_check(fd, &found, NULL) < 0 ||
	    (port != 0 && port != found) ||
	    web_serve(web, take_fd(&fd), text + skip, &err) < 0)
		return;
	web->untold = false;
	web_say_open(web);
}

static void
web_try(struct eyes_web *web, unsigned port)
{
	struct err err = { 0, "" };

	if (web_open(web, port, &err) == 0) {
		web_say_open(web);
		return;
	}
	/* The old address is not what the settings say. */
	web_close(web);
	if (web->reason != NULL && strcmp(web->reason, err.msg) == 0)
		return;
	xstrset(&web->reason, err.msg);
	emit(web->eyes->core,
	    &(struct event){ .kind = EVENT_WEB_FAILED, .reason = web->reason });
}

/* Open or close it as the settings say. */
static void
eyes_web_settle(struct eyes_web *web)
{
	const struct settings *settings = web->eyes->core->settings;
	bool enabled = settings_bool(settings, "web.enabled");
	unsigned port = (unsigned)settings_int(settings, "web.port");
	int channel;
	char text[FD_CHANNEL_TEXT_SIZE] = WEB_DROP;
	int fd = -1;

	if (web->eyes->core->options->oneshot)
		return;
	web_inherit(web, enabled, port);
	if (!enabled) {
		web_close(web);
		xstrset(&web->reason, NULL);
	} else if (web->server == NULL ||
	    (port != 0 && port != http_server_port(web->server))) {
		web_try(web, port);
	}
	/* The overseer keeps the listener, and its token, for the next
	 * daemon. */
	channel = web->eyes->core->options->overseer;
	if (!web->untold || channel == 0)
		return;
	if (web->server != NULL) {
		snprintf(text, sizeof text, WEB_KEEP "%s", web->token);
		fd = http_server_listener(web->server);
	}
	web->untold = fd_channel_send(channel, text, fd) == -EAGAIN;
}

unsigned
eyes_web_port(const struct eyes_web *web)
{
	return web->server != NULL ? http_server_port(web->server) : 0;
}

/* --- for llmc web ---------------------------------------------------- */

static void
web_on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct eyes_web *web = arg;
	struct json_object *result = json_object_new_object();

	(void)params;
	/* Somebody wants it: do not wait for the next patrol. */
	eyes_web_settle(web);
	json_set_bool(result, "enabled",
	    settings_bool(web->eyes->core->settings, "web.enabled"));
	if (web->server != NULL)
		json_set_int(result, "port", eyes_web_port(web));
	if (web->reason != NULL)
		json_set_string(result, "reason", web->reason);
	server_reply(call, result);
}

static void
floor_on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_SETTINGS_READ)
		eyes_web_settle(arg);
}

static struct eyes_web *
eyes_web_new(struct eyes_floor *eyes)
{
	struct eyes_web *web = xcalloc(1, sizeof *web);

	web->eyes = eyes;
	LIST_INIT(&web->visitors);
	LIST_INIT(&web->scrapes);
	web->report = xcalloc(1, sizeof *web->report);
	web->report->eyes = eyes;
	serve_handle(eyes->core, "web.get", web_on_get, web);
	emit_subscribe(eyes->core, floor_on_event, web);
	return web;
}

/* Before the stream is freed. */
static void
eyes_web_free(struct eyes_web *web)
{
	if (web == NULL)
		return;
	emit_unsubscribe(web->eyes->core, floor_on_event, web);
	while (!LIST_EMPTY(&web->scrapes))
		on_saved(LIST_FIRST(&web->scrapes));
	eyes_report_page_free(web->report);
	web_close(web);
	free(web->reason);
	free(web);
}

/* --- what is counted --------------------------------------------------- */

static void
count_task(struct state *state, const struct event *event)
{
	const struct task *task =
	    event->task != NULL ? state_task(state, event->task) : NULL;
	int64_t took = task != NULL ? event->at_ms - task->created_ms : 0;

	if (event->outcome == NULL)
		return;
	counters_task(&state->counters, event->outcome, took > 0 ? took : 0);
	if (strcmp(event->outcome, task_outcome_name(OUTCOME_FAILED)) == 0 ||
	    strcmp(event->outcome, task_outcome_name(OUTCOME_DEAD_LETTER)) == 0)
		counters_attempt_failed(&state->counters, event->reason);
}

static void
counters_on_event(const struct event *event, void *arg)
{
	struct eyes_floor *eyes = arg;
	struct state *state = &eyes->core->state;
	const struct event_row *row = event_row(event->kind);

	if (row->name == NULL)
		return;
	counters_event(&state->counters, row->name);
	if (event->kind == EVENT_TASK_FINISHED)
		count_task(state, event);
	else if (event->kind == EVENT_TASK_RETRY)
		counters_attempt_failed(&state->counters, event->reason);
	persist_note(eyes->core);
}

void
eyes_counters_span(struct eyes_floor *eyes, const struct work_span *span)
{
	counters_work(&eyes->core->state.counters, work_use_words[span->use],
	    span->to_ms - span->from_ms);
	persist_note(eyes->core);
}

/* --- the floor ------------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct eyes_floor *eyes = self;

	eyes_spans_begin(eyes->spans);
	eyes_web_settle(eyes->web);
	eyes_report_begin(eyes->report);
	life_floor_begun(eyes->core);
}

static void
floor_patrol(void *self, bool all)
{
	struct eyes_floor *eyes = self;

	(void)all;
	eyes_spans_patrol(eyes->spans);
	eyes_stream_patrol(eyes->stream);
	eyes_history_patrol(eyes->history);
	eyes_web_settle(eyes->web);
	eyes_report_patrol(eyes->report);
}

static void
floor_close(void *self, bool now)
{
	struct eyes_floor *eyes = self;

	(void)now;
	eyes_spans_close(eyes->spans);
	eyes_report_close(eyes->report);
}

struct eyes_floor *
eyes_floor_new(struct team_floor *team, struct oversight_floor *oversight)
{
	struct eyes_floor *eyes = xcalloc(1, sizeof *eyes);

	eyes->core = team->core;
	eyes->fleet = team->fleet;
	eyes->landings = team->mode->landings;
	eyes->mode = team->mode;
	eyes->plan = team->plan;
	eyes->team = team;
	eyes->oversight = oversight;
	eyes->floor = (struct core_floor){
		.self = eyes,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.close = floor_close,
	};
	eyes->started_ms = clock_wall_ms();
	core_add_floor(eyes->core, &eyes->floor);
	eyes->events = eyes_events_new(eyes);
	eyes->files = view_files_new(eyes->core->workspace);
	eyes->history = eyes_history_new(eyes);
	eyes->kept = view_kept_new();
	eyes->todo = source_todo_new();
	emit_subscribe(eyes->core, counters_on_event, eyes);
	serve_handle(eyes->core, "metrics.get", metrics_on_get, eyes);
	eyes->spans = eyes_spans_new(eyes);
	eyes->stream = eyes_stream_new(eyes);
	eyes->web = eyes_web_new(eyes);
	eyes->report = eyes_report_new(eyes);
	return eyes;
}

void
eyes_floor_free(struct eyes_floor *eyes)
{
	if (eyes == NULL)
		return;
	eyes_report_free(eyes->report);
	eyes_web_free(eyes->web);
	eyes_stream_free(eyes->stream);
	eyes_spans_free(eyes->spans);
	emit_unsubscribe(eyes->core, counters_on_event, eyes);
	eyes_goals_release(&eyes->goals);
	view_kept_free(eyes->kept);
	source_todo_free(eyes->todo);
	view_files_free(eyes->files);
	eyes_history_free(eyes->history);
	eyes_events_free(eyes->events);
	free(eyes);
}
