/* SPDX-License-Identifier: ISC */

/*
 * The page on 127.0.0.1 (web.enabled, web.port): its files, the view as a
 * stream of server-sent events ("snapshot", then "change", as view.follow
 * sends them), and what programs read. The stream has a comment every
 * EYES_WEB_BEAT_MS, so that a page can tell a daemon that hangs from one that
 * has nothing to say. It opens and closes as the settings say; a port that is
 * taken is tried again at each patrol, and when llmc web asks.
 *
 * Its token lives as long as its listener. The overseer keeps both for the next
 * daemon; without one, each daemon has a new token and, with web.port 0, a new
 * port.
 *
 * Who gets what is decided in model/web-rules.h. Method web.get.
 */
#ifndef EYES_WEB_H
#define EYES_WEB_H

#define EYES_WEB_BEAT_MS 15000

struct eyes_floor;
struct eyes_web;

struct eyes_web *eyes_web_new(struct eyes_floor *eyes);
/* Before the stream is freed. */
void eyes_web_free(struct eyes_web *web);

/* Open or close it as the settings say. */
void eyes_web_settle(struct eyes_web *web);

/* The port that it listens on; 0 = it is not open. */
unsigned eyes_web_port(const struct eyes_web *web);

#endif
