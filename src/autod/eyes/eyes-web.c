/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "eyes-floor.h"
#include "eyes-metrics.h"
#include "eyes-report-page.h"
#include "eyes-stream.h"
#include "eyes-web.h"
#include "fd-channel.h"
#include "http-request.h"
#include "http-server.h"
#include "json.h"
#include "loop.h"
#include "loopback.h"
#include "mem.h"
#include "page-assets.h"
#include "persist.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "web-files.h"
#include "web-rules.h"

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

/* The overseer keeps the listener, and its token, for the next daemon. */
static void
web_tell_overseer(struct eyes_web *web)
{
	int channel = web->eyes->core->options->overseer;
	char text[FD_CHANNEL_TEXT_SIZE] = WEB_DROP;
	int fd = -1;

	if (!web->untold || channel == 0)
		return;
	if (web->server != NULL) {
		snprintf(text, sizeof text, WEB_KEEP "%s", web->token);
		fd = http_server_listener(web->server);
	}
	web->untold = fd_channel_send(channel, text, fd) == -EAGAIN;
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

void
eyes_web_settle(struct eyes_web *web)
{
	const struct settings *settings = web->eyes->core->settings;
	bool enabled = settings_bool(settings, "web.enabled");
	unsigned port = (unsigned)settings_int(settings, "web.port");

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
	web_tell_overseer(web);
}

unsigned
eyes_web_port(const struct eyes_web *web)
{
	return web->server != NULL ? http_server_port(web->server) : 0;
}

/* --- for llmc web ---------------------------------------------------- */

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
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
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_SETTINGS_READ)
		eyes_web_settle(arg);
}

struct eyes_web *
eyes_web_new(struct eyes_floor *eyes)
{
	struct eyes_web *web = xcalloc(1, sizeof *web);

	web->eyes = eyes;
	LIST_INIT(&web->visitors);
	LIST_INIT(&web->scrapes);
	web->report = eyes_report_page_new(eyes);
	serve_handle(eyes->core, "web.get", on_get, web);
	emit_subscribe(eyes->core, on_event, web);
	return web;
}

void
eyes_web_free(struct eyes_web *web)
{
	if (web == NULL)
		return;
	emit_unsubscribe(web->eyes->core, on_event, web);
	while (!LIST_EMPTY(&web->scrapes))
		on_saved(LIST_FIRST(&web->scrapes));
	eyes_report_page_free(web->report);
	web_close(web);
	free(web->reason);
	free(web);
}
