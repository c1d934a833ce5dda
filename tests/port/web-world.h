/* SPDX-License-Identifier: ISC */

/*
 * The HTTP server in a process of its own, and clients that wait (with those of
 * proxy-world.h). It serves by path: "/" and "/later" (from a timer) say hello,
 * "/echo" says what was posted,
 * "/long" much more, "/ticks" is a stream of lines, "/flood" one that sends as
 * fast as it may, "/large" one whose first message is large, "/brief" one that
 * ends. What it finds out it writes to a pipe: "gone", "full", "hundred"
 * messages sent.
 */
#ifndef WEB_WORLD_H
#define WEB_WORLD_H

#include "unit.h"

#include <sys/resource.h>

struct http_exchange;
struct http_head;
struct web_content;

#define WEB_LONG (8 * 1024 * 1024) /* bytes of "/long" */

extern unsigned web_port;
extern const struct web_content web_stream_type;

/* descriptors: its limit of them, 0 = ours. hurry: time passes ten times as
 * fast for it. */
void web_begin_with(rlim_t descriptors, bool hurry);
void web_begin(void);
void web_end(void);

/* What it does with a request. */
void web_serve(
    struct http_exchange *exchange, const struct http_head *request, void *arg);

/* Connected, and asked for that. */
int web_get(const char *target);
/* The head begins with that. */
void web_expect(int fd, const char *status);
/* The whole answer begins with that, and ends with that. */
void web_expect_all(int fd, const char *first, const char *last);
/* The server has reported that. */
void web_expect_report(const char *word);

#endif
