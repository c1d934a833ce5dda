/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "auto.h"
#include "child.h"
#include "core.h"
#include "emit.h"
#include "show.h"
#include "http-request.h"
#include "http-server.h"
#include "life.h"
#include "loop.h"
#include "metrics.h"
#include "page-assets.h"
#include "persist.h"
#include "orphans.h"
#include "client.h"
#include "heartbeat.h"
#include "workspace.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "source.h"
#include "task.h"
#include "team-floor.h"
#include "version.h"
#include "view-state.h"
#include "view.h"

#define SHOW_REPORT_PAGE_KEPT_MS     5000
#define SHOW_REPORT_PAGE_DEADLINE_MS 60000
#define SHOW_REPORT_PAGE_ASKERS_MAX  32
#define SHOW_REPORT_PAGE_BYTES_MAX   (8 * 1024 * 1024)
#define SHOW_WEB_BEAT_MS             15000

/*
 * A counter must never go back, not even if this daemon is killed now: so what
 * was counted is saved soon, and a span that goes on counts until the moment
 * that the next daemon would end it at (book_open_spans()), which is the last
 * heartbeat or the last time the state was saved.
 */
void
show_metrics_text(struct show_floor *show, struct buf *out)
{
	struct core *core = show->core;
	struct metrics m = { .version = LLMC_VERSION, .live = true };
	int64_t now = clock_wall_ms();

	m.host = show_hosts_name(show->hosts);
	metrics_state_fill(&core->state, core->settings, now, &m);
	m.beat_s = heartbeat_last_unix(core->heartbeat);
	show_spans_sum(
	    show->spans, m.beat_s > 0 ? m.beat_s * 1000 : now, m.uses);
	m.lag_ms = loop_lag_ms(core->loop);
	process_facts_read(&m.process);
	m.process.start_s = (double)show->started_ms / 1000;
	metrics_text(&m, out);
	if (m.beat_s == 0 || !persist_is_idle(core))
		persist_changed(core);
}

static void
metrics_on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_floor *show = arg;
	struct json_object *result = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	(void)params;
	show_metrics_text(show, &text);
	json_set_string(result, "text", text.data);
	serve_reply(show->core, call, result);
}

struct show_report_page {
	struct show_floor *show;
	struct child *child; /* makes one; NULL = none is made */
	struct http_exchange *askers[SHOW_REPORT_PAGE_ASKERS_MAX];
	size_t asker_count;
	struct buf last; /* what was made last; empty = nothing */
	int64_t made_ms; /* monotonic */
};

static void
answer(const struct show_report_page *page, struct http_exchange *exchange)
{
	const struct web_content content = { .type = web_path_type(WEB_REPORT),
		.len = page->last.len };

	if (page->last.len > 0)
		http_reply(exchange, 200, &content, page->last.data);
	else
		http_refuse(exchange, 500);
}

static void
answer_all(struct show_report_page *page)
{
	while (page->asker_count > 0)
		answer(page, page->askers[--page->asker_count]);
}

static void
on_made(const struct child_result *result, void *arg)
{
	struct show_report_page *page = arg;
	cleanup_buf struct buf how = BUF_INIT;

	page->child = NULL;
	page->made_ms = clock_mono_ms();
	if (result->out.total > SHOW_REPORT_PAGE_BYTES_MAX)
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
show_report_page_serve(
    struct show_report_page *page, struct http_exchange *exchange)
{
	if (page->child == NULL && page->last.len > 0 &&
	    clock_mono_ms() - page->made_ms < SHOW_REPORT_PAGE_KEPT_MS) {
		answer(page, exchange);
		return;
	}
	if (page->asker_count == SHOW_REPORT_PAGE_ASKERS_MAX) {
		http_refuse(exchange, 503);
		return;
	}
	page->askers[page->asker_count++] = exchange;
	if (page->child == NULL) {
		const struct core *core = page->show->core;
		const char *const argv[] = { core->llmc, "--root",
			core->workspace->root, "report", "--json", NULL };
		const struct child_spec spec = {
			.argv = argv,
			.cwd = core->workspace->root,
			.deadline_ms = SHOW_REPORT_PAGE_DEADLINE_MS,
			.output_max = SHOW_REPORT_PAGE_BYTES_MAX,
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
show_report_page_release(struct show_report_page *page)
{
	if (page->child != NULL)
		child_abandon(page->child);
	buf_release(&page->last);
	answer_all(page);
}

#define SAVE_MS  2000
#define MOVE_MS  5000 /* for our own port to become free */
#define AGAIN_MS 100

/* A page that follows the view. */
struct visitor {
	LIST_ENTRY(visitor) entry;
	struct show_web *web;
	struct http_exchange *exchange;
	struct show_follower *follower;
	char page[WEB_TOKEN_CHARS + 1]; /* that its POSTs name */
};

LIST_HEAD(visitors, visitor);
LIST_HEAD(scrapes, scrape);

struct show_web {
	struct show_floor *show;
	struct http_server *server; /* NULL = it is not open */
	struct visitors visitors;
	struct scrapes scrapes;
	struct loop_timer *beat; /* while there are visitors */
	struct show_report_page report;
	char *address; /* that the server listens on */
	char token[WEB_TOKEN_CHARS + 1];
	char *reason; /* why it cannot be opened; NULL = nothing is wrong */
	struct loop_timer *again; /* its port is not free yet */
	int64_t moved_ms; /* monotonic: since when; 0 = it does not move */
	bool asked; /* the overseer, for the listener of an earlier daemon */
	bool untold; /* the overseer does not know what it shall keep */
	bool works; /* the pages that are open know that they can work */
};

/* --- the view, as a stream ------------------------------------------- */

static void
visitor_end(struct visitor *visitor)
{
	struct show_web *web = visitor->web;

	LIST_REMOVE(visitor, entry);
	if (LIST_EMPTY(&web->visitors))
		loop_timer_free(take_ptr(&web->beat));
	show_stream_leave(visitor->follower);
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
	    &text, ": beat %" PRId64 "\n\n", clock_kernel_ms(SHOW_WEB_BEAT_MS));
	http_stream_send(visitor->exchange, text.data, text.len);
}

static void
on_beat(void *arg)
{
	struct show_web *web = arg;
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
serve_view(struct show_web *web, struct http_exchange *exchange)
{
	const struct web_content content = { .type = web_path_type(WEB_VIEW),
		.endless = true };
	struct visitor *visitor = xcalloc(1, sizeof *visitor);
	cleanup_buf struct buf text = BUF_INIT;

	visitor->web = web;
	visitor->exchange = exchange;
	if (http_stream_begin(exchange, &content, on_gone, visitor) < 0) {
		free(visitor);
		return;
	}
	LIST_INSERT_HEAD(&web->visitors, visitor, entry);
	if (web->beat == NULL)
		web->beat = loop_every(
		    web->show->core->loop, SHOW_WEB_BEAT_MS, on_beat, web);
	send_beat(visitor);
	web_files_new_token(visitor->page);
	web->works = show_desk_works(web->show->desk);
	buf_addf(&text,
	    "event: desk\ndata: {\"mode\":\"%s\",\"page\":\"%s\"}\n\n",
	    web->works ? "work" : "view", visitor->page);
	http_stream_send(exchange, text.data, text.len);
	visitor->follower =
	    show_stream_follow(web->show->stream, on_body, visitor);
}

/* --- everything else ------------------------------------------------- */

/* Metrics that are sent when they are saved: a counter would go back if the
 * daemon were killed before. Not for long: they are sent also if nothing can be
 * saved. */
struct scrape {
	LIST_ENTRY(scrape) entry;
	struct show_web *web;
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
	persist_forget(scrape->web->show->core, scrape);
	loop_timer_free(scrape->timer);
	buf_release(&scrape->text);
	LIST_REMOVE(scrape, entry);
	free(scrape);
}

static void
serve_metrics(struct show_web *web, struct http_exchange *exchange)
{
	struct core *core = web->show->core;
	struct scrape *scrape = xcalloc(1, sizeof *scrape);

	scrape->web = web;
	scrape->exchange = exchange;
	show_metrics_text(web->show, &scrape->text);
	LIST_INSERT_HEAD(&web->scrapes, scrape, entry);
	if (persist_is_idle(core)) {
		on_saved(scrape);
		return;
	}
	scrape->timer = loop_after(core->loop, SAVE_MS, on_saved, scrape);
	persist_then(core, scrape, on_saved, scrape);
}

static void
serve_asset(struct http_exchange *exchange, enum web_path path, bool gzip)
{
	const struct page_asset *asset = &page_assets[path];
	const struct web_content content = { .type = web_path_type(path),
		.len = gzip ? asset->gzip_len : asset->plain_len,
		.gzip = gzip };

	http_reply(exchange, 200, &content,
	    (const char *)(gzip ? asset->gzip : asset->plain));
}

/* A change comes from a page that follows the view: no other knows its name,
 * not even one with the token or the cookie. */
static void
serve_change(struct show_web *web, struct http_exchange *exchange,
    const struct http_head *request)
{
	static const char words[] =
	    "this page has lost the daemon meanwhile: try it again\n";
	const struct web_content content = {
		.type = "text/plain; charset=utf-8", .len = sizeof words - 1
	};
	const struct visitor *visitor;

	LIST_FOREACH (visitor, &web->visitors, entry)
		if (web_token_equal(request->page, visitor->page)) {
			show_desk_change(web->show->desk, exchange, request);
			return;
		}
	http_reply(exchange, 403, &content, words);
}

static void
on_request(
    struct http_exchange *exchange, const struct http_head *request, void *arg)
{
	const struct web_content nothing = { 0 };
	struct show_web *web = arg;
	enum web_path path = WEB_PATH_COUNT;
	const struct web_rules rules = { .port = http_server_port(web->server),
		.token = web->token,
		.origin =
		    settings_string(web->show->core->settings, "web.origin"),
		.is_session = show_desk_knows,
		.arg = web->show->desk };
	int status = web_decide(request, &rules, &path);

	if (status != 200)
		http_refuse(exchange, status);
	else if (path < PAGE_ASSET_COUNT)
		serve_asset(exchange, path, request->gzip);
	else if (path == WEB_ICON)
		http_reply(exchange, 204, &nothing, "");
	else if (path == WEB_VIEW)
		serve_view(web, exchange);
	else if (path == WEB_METRICS)
		serve_metrics(web, exchange);
	else if (path == WEB_LOGIN)
		show_desk_login(web->show->desk, exchange);
	else if (path == WEB_API && request->method == HTTP_POST)
		serve_change(web, exchange, request);
	else if (path == WEB_API)
		show_desk_read(web->show, exchange, request);
	else
		show_report_page_serve(&web->report, exchange);
}

/* --- open and closed ------------------------------------------------- */

static void
web_close(struct show_web *web)
{
	struct visitor *visitor;

	while ((visitor = LIST_FIRST(&web->visitors)) != NULL)
		visitor_end(visitor);
	web->untold = web->untold || web->server != NULL;
	http_server_free(take_ptr(&web->server));
}

/* Takes the listener. A token lives as long as its listener. */
static int
web_serve(struct show_web *web, int listener, const char *address,
    const char *token, struct err *err)
{
	struct core *core = web->show->core;
	struct http_server *server;
	int r = web_files_put_token(core->workspace, token, err);

	if (r < 0) {
		fd_close(listener);
		return r;
	}
	server = http_server_new(
	    core->loop, listener, address, on_request, web, err);
	if (server == NULL)
		return err->code;
	web_close(web);
	web->server = server;
	xstrset(&web->address, address);
	web->untold = true;
	memcpy(web->token, token, WEB_TOKEN_CHARS);
	return 0;
}

static bool
is_loopback(const char *address)
{
	return strcmp(address, WEB_LOOPBACK) == 0;
}

/* With a new token: another process may have had the port, and been sent the
 * last one by a page that was still open. */
static int
web_open(
    struct show_web *web, const char *address, unsigned port, struct err *err)
{
	const struct settings *settings = web->show->core->settings;
	char token[WEB_TOKEN_CHARS + 1];
	int fd = web_may_listen(
	    address, settings_string(settings, "web.origin"), err);

	if (fd == 0)
		fd = http_listen(address, port, err);
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
	return web_serve(web, fd, address, token, err);
}

static void
web_say_open(struct show_web *web)
{
	cleanup_free char *where =
	    xasprintf("%s:%u", web->address, show_web_port(web));

	xstrset(&web->reason, NULL);
	emit(web->show->core,
	    &(struct event){ .kind = EVENT_WEB_OPEN, .text = where });
}

/* Go on with the listener of the daemon before us, once, if it is the one that
 * is wanted. The overseer still has it. */
static void
web_inherit(struct show_web *web, bool enabled, unsigned port)
{
	static const size_t skip = sizeof WEB_KEEP - 1;
	const struct core_options *options = web->show->core->options;
	int channel = options->restart.kept != 0 ? options->restart.kept :
						   options->overseer;
	int r;
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
	    http_listens(fd, WEB_LOOPBACK, &found, NULL) < 0 ||
	    (port != 0 && port != found) ||
	    web_serve(web, take_fd(&fd), WEB_LOOPBACK, text + skip, &err) < 0)
		return;
	web->untold = false;
	web_say_open(web);
}

/* For the next program of this process. */
static void
web_hand_on(struct show_web *web, int channel)
{
	char text[FD_CHANNEL_TEXT_SIZE];

	if (web->server == NULL || !is_loopback(web->address))
		return;
	snprintf(text, sizeof text, WEB_KEEP "%s", web->token);
	fd_channel_send(channel, text, http_server_listener(web->server));
}

/* The overseer keeps the listener, and its token, for the next daemon; not one
 * that others can reach. */
static void
web_tell(struct show_web *web)
{
	int channel = web->show->core->options->overseer;
	char text[FD_CHANNEL_TEXT_SIZE] = WEB_DROP;
	int fd = -1;

	if (!web->untold || channel == 0)
		return;
	if (web->server != NULL && is_loopback(web->address)) {
		snprintf(text, sizeof text, WEB_KEEP "%s", web->token);
		fd = http_server_listener(web->server);
	}
	web->untold = fd_channel_send(channel, text, fd) == -EAGAIN;
}

static void show_web_settle(struct show_web *web);

static void
on_again(void *arg)
{
	struct show_web *web = arg;

	loop_timer_free(take_ptr(&web->again));
	show_web_settle(web);
}

static void
web_try(struct show_web *web, const char *address, unsigned port)
{
	struct err err = { 0, "" };
	int r;

	/* On the same port of another address, our own old listener is in the
	 * way, and so is the overseer's copy of it until it has been told. */
	if (port != 0 && port == show_web_port(web)) {
		web_close(web);
		web_tell(web);
		web->moved_ms = clock_mono_ms();
	}
	r = web_open(web, address, port, &err);
	loop_timer_free(take_ptr(&web->again));
	if (r == 0) {
		web->moved_ms = 0;
		web_say_open(web);
		return;
	}
	/* The old address is not what the settings say. */
	web_close(web);
	if (r == -EADDRINUSE && web->moved_ms != 0 &&
	    clock_mono_ms() - web->moved_ms < MOVE_MS) {
		web->again =
		    loop_after(web->show->core->loop, AGAIN_MS, on_again, web);
		free(web->reason);
		web->reason =
		    xasprintf("the page moves to %s:%u; try again in a moment",
			address, port);
		return;
	}
	if (web->reason != NULL && strcmp(web->reason, err.msg) == 0)
		return;
	xstrset(&web->reason, err.msg);
	emit(web->show->core,
	    &(struct event){ .kind = EVENT_WEB_FAILED, .reason = web->reason });
}

/* Open or close it as the settings say. */
static void
show_web_settle(struct show_web *web)
{
	const struct settings *settings = web->show->core->settings;
	bool enabled = settings_bool(settings, "web.enabled");
	unsigned port = (unsigned)settings_int(settings, "web.port");
	const char *address = settings_string(settings, "web.listen");
	const char *origin = settings_string(settings, "web.origin");
	struct visitor *visitor;

	if (web->show->core->options->oneshot)
		return;
	web_inherit(web, enabled && is_loopback(address), port);
	if (!enabled) {
		web_close(web);
		xstrset(&web->reason, NULL);
		show_desk_forget(web->show->desk);
	} else if (web->server == NULL || strcmp(address, web->address) != 0 ||
	    web_may_listen(address, origin, NULL) < 0 ||
	    (port != 0 && port != http_server_port(web->server))) {
		web_try(web, address, port);
	}
	/* They come back at once, and learn what they may do now. */
	if (web->works != show_desk_works(web->show->desk))
		while ((visitor = LIST_FIRST(&web->visitors)) != NULL)
			visitor_end(visitor);
	web_tell(web);
}

unsigned
show_web_port(const struct show_web *web)
{
	return web->server != NULL ? http_server_port(web->server) : 0;
}

/* --- for llmc web ---------------------------------------------------- */

static void
web_on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_web *web = arg;
	const struct settings *settings = web->show->core->settings;
	struct json_object *result = json_object_new_object();
	const char *origin = settings_string(settings, "web.origin");
	char code[WEB_TOKEN_CHARS + 1];

	/* It is wanted now: do not wait for the next patrol. */
	show_web_settle(web);
	json_set_bool(
	    result, "enabled", settings_bool(settings, "web.enabled"));
	json_set_string(
	    result, "listen", settings_string(settings, "web.listen"));
	json_set_string(result, "origin", origin);
	json_set_string(result, "mode", settings_string(settings, "web.mode"));
	if (json_bool_or(params, "code", false) && *origin != '\0' &&
	    web->server != NULL) {
		show_desk_code(web->show->desk, code);
		json_set_string(result, "code", code);
	}
	if (web->server != NULL)
		json_set_int(result, "port", show_web_port(web));
	if (web->reason != NULL)
		json_set_string(result, "reason", web->reason);
	server_reply(call, result);
}

static void
floor_on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_SETTINGS_READ)
		show_web_settle(arg);
}

static struct show_web *
show_web_new(struct show_floor *show)
{
	struct show_web *web = xcalloc(1, sizeof *web);

	web->show = show;
	LIST_INIT(&web->visitors);
	LIST_INIT(&web->scrapes);
	web->report.show = show;
	serve_handle(show->core, "web.get", web_on_get, web);
	emit_subscribe(show->core, floor_on_event, web);
	return web;
}

/* Before the stream is freed. */
static void
show_web_free(struct show_web *web)
{
	if (web == NULL)
		return;
	emit_unsubscribe(web->show->core, floor_on_event, web);
	while (!LIST_EMPTY(&web->scrapes))
		on_saved(LIST_FIRST(&web->scrapes));
	show_report_page_release(&web->report);
	web_close(web);
	loop_timer_free(web->again);
	free(web->address);
	free(web->reason);
	free(web);
}

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
	struct show_floor *show = arg;
	struct state *state = &show->core->state;
	const struct event_row *row = event_row(event->kind);

	if (row->name == NULL)
		return;
	counters_event(&state->counters, row->name);
	if (event->kind == EVENT_TASK_FINISHED)
		count_task(state, event);
	else if (event->kind == EVENT_TASK_RETRY)
		counters_attempt_failed(&state->counters, event->reason);
	persist_note(show->core);
}

/* --- the floor ------------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct show_floor *show = self;
	struct err err = { 0 };

	if (!show->core->options->oneshot &&
	    roots_note(show->core->workspace->root, &err) < 0)
		log_debug("llmc web --all does not list this: %s", err.msg);
	show_spans_begin(show->spans);
	show_web_settle(show->web);
	show_report_begin(show->report);
	life_floor_begun(show->core);
}

static void
floor_patrol(void *self, bool all)
{
	struct show_floor *show = self;

	(void)all;
	show_spans_patrol(show->spans);
	show_stream_patrol(show->stream);
	show_web_settle(show->web);
	show_report_patrol(show->report);
}

static void
floor_hand_on(void *self, int channel)
{
	struct show_floor *show = self;

	web_hand_on(show->web, channel);
}

static void
floor_close(void *self, bool now)
{
	struct show_floor *show = self;

	(void)now;
	show_spans_close(show->spans);
	show_report_close(show->report);
}

struct show_floor *
show_floor_new(struct team_floor *team, struct oversight_floor *oversight,
    struct hosts_floor *hosts)
{
	struct show_floor *show = xcalloc(1, sizeof *show);

	show->core = team->core;
	show->fleet = team->fleet;
	show->landings = team->mode->landings;
	show->mode = team->mode;
	show->plan = team->plan;
	show->team = team;
	show->oversight = oversight;
	show->floor = (struct core_floor){
		.self = show,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.hand_on = floor_hand_on,
		.close = floor_close,
	};
	show->started_ms = clock_wall_ms();
	core_add_floor(show->core, &show->floor);
	emit_subscribe(show->core, counters_on_event, show);
	serve_handle(show->core, "metrics.get", metrics_on_get, show);
	show->spans = show_spans_new(show);
	show->stream = show_stream_new(show, hosts);
	show->hosts = show_hosts_new(
	    show->core->loop, hosts, show_stream_on_hosts, show->stream);
	show->desk = show_desk_new(show);
	show->web = show_web_new(show);
	show->report = show_report_new(show);
	show->replay = show_replay_new(show);
	return show;
}

void
show_floor_free(struct show_floor *show)
{
	if (show == NULL)
		return;
	show_replay_free(show->replay);
	show_report_free(show->report);
	show_web_free(show->web);
	show_desk_free(show->desk);
	show_hosts_free(show->hosts);
	show_stream_free(show->stream);
	show_spans_free(show->spans);
	emit_unsubscribe(show->core, counters_on_event, show);
	free(show);
}
