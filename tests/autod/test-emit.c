/* SPDX-License-Identifier: ISC */

/* Who gets which events in which order: subscribers in this process, auto.log,
 * and followers on the socket. */
#include "floor-world.h"

#include <sys/socket.h>

#include "emit.h"

static void
tell(struct core *core, const char *reason)
{
	emit(core,
	    &(struct event){ .kind = EVENT_QUARANTINE, .reason = reason });
}

/* --- subscribers ------------------------------------------------------ */

struct bench {
	struct core core;
	struct buf trace;
};

/* Records its letter and the event; does its trick once. */
struct listener {
	struct bench *bench;
	char letter;
	void (*trick)(struct listener *listener);
	struct listener *other; /* used by the trick */
};

static void
on_event(const struct event *event, void *arg)
{
	struct listener *listener = arg;
	void (*trick)(struct listener *) = listener->trick;

	buf_addf(
	    &listener->bench->trace, "%c:%s ", listener->letter, event->reason);
	listener->trick = NULL;
	if (trick != NULL)
		trick(listener);
}

static void
subscribe(struct listener *listener)
{
	emit_subscribe(&listener->bench->core, on_event, listener);
}

static void
unsubscribe(struct listener *listener)
{
	emit_unsubscribe(&listener->bench->core, on_event, listener);
}

static void
subscribe_other(struct listener *listener)
{
	subscribe(listener->other);
}

static void
unsubscribe_other(struct listener *listener)
{
	unsubscribe(listener->other);
}

static void
tell_second(struct listener *listener)
{
	tell(&listener->bench->core, "2");
}

static void
expect(struct bench *bench, const char *trace)
{
	ck_assert_str_eq(bench->trace.data, trace);
	buf_clear(&bench->trace);
}

static void
bench_begin(struct bench *bench)
{
	memset(bench, 0, sizeof *bench);
	buf_init(&bench->trace);
	bench->core.emitter = emitter_new();
}

static void
bench_end(struct bench *bench)
{
	emitter_free(bench->core.emitter);
	buf_release(&bench->trace);
}

TEST(in_the_order_of_subscription)
{
	struct bench bench;
	struct listener a = { &bench, 'a', NULL, NULL },
			b = { &bench, 'b', NULL, NULL },
			c = { &bench, 'c', NULL, NULL };

	bench_begin(&bench);
	tell(&bench.core, "0"); /* no subscriber */
	subscribe(&b);
	subscribe(&a);
	subscribe(&c);
	tell(&bench.core, "1");
	expect(&bench, "b:1 a:1 c:1 ");
	unsubscribe(&a);
	tell(&bench.core, "2");
	expect(&bench, "b:2 c:2 ");
	subscribe(&a);
	tell(&bench.core, "3");
	expect(&bench, "b:3 c:3 a:3 ");
	bench_end(&bench);
}

TEST(somebody_comes_during_an_event)
{
	struct bench bench;
	struct listener c = { &bench, 'c', NULL, NULL },
			b = { &bench, 'b', NULL, NULL },
			a = { &bench, 'a', subscribe_other, &c };

	bench_begin(&bench);
	subscribe(&a);
	subscribe(&b);
	tell(&bench.core, "1");
	expect(&bench, "a:1 b:1 c:1 ");
	tell(&bench.core, "2");
	expect(&bench, "a:2 b:2 c:2 ");
	bench_end(&bench);
}

/* The current subscriber, an earlier one, or a later one. */
TEST_ROWS(somebody_goes_during_an_event, 3)
{
	static const char *const first[] = { "a:1 b:1 c:1 ", "a:1 b:1 c:1 ",
		"a:1 b:1 " };
	static const char *const then[] = { "b:2 c:2 ", "a:2 c:2 ",
		"a:2 b:2 " };
	struct bench bench;
	struct listener all[] = { { &bench, 'a', NULL, NULL },
		{ &bench, 'b', NULL, NULL }, { &bench, 'c', NULL, NULL } };

	bench_begin(&bench);
	all[1].trick = unsubscribe_other;
	all[1].other = &all[_i];
	for (size_t i = 0; i < nitems(all); i++)
		subscribe(&all[i]);
	tell(&bench.core, "1");
	expect(&bench, first[_i]);
	tell(&bench.core, "2");
	expect(&bench, then[_i]);
	bench_end(&bench);
}

TEST(an_event_makes_another)
{
	struct bench bench;
	struct listener c = { &bench, 'c', NULL, NULL },
			b = { &bench, 'b', tell_second, NULL },
			a = { &bench, 'a', NULL, NULL };

	bench_begin(&bench);
	subscribe(&a);
	subscribe(&b);
	subscribe(&c);
	tell(&bench.core, "1");
	/* Subscribers before the one that emits, like the log, get them in
	 * order. */
	expect(&bench, "a:1 b:1 a:2 b:2 c:2 c:1 ");
	bench_end(&bench);
}

static void
tell_and_go(struct listener *listener)
{
	unsubscribe(listener);
	tell(&listener->bench->core, "2");
	unsubscribe(listener->other);
}

/* Subscribers are not freed while the list is in use. */
TEST(two_go_during_an_event_in_an_event)
{
	struct bench bench;
	struct listener c = { &bench, 'c', NULL, NULL },
			b = { &bench, 'b', tell_and_go, &c },
			a = { &bench, 'a', NULL, NULL };

	bench_begin(&bench);
	subscribe(&a);
	subscribe(&b);
	subscribe(&c);
	tell(&bench.core, "1");
	expect(&bench, "a:1 b:1 a:2 c:2 ");
	tell(&bench.core, "3");
	expect(&bench, "a:3 ");
	bench_end(&bench);
}

static void
let_time_pass(struct listener *listener)
{
	(void)listener;
	clock_virtual_advance(1234);
}

/* An event has one timestamp, however long it takes to report it. */
TEST(everybody_is_told_the_same)
{
	struct bench bench;
	struct listener slow = { &bench, 's', let_time_pass, NULL };
	struct workspace workspace = { .dir = xstrdup(unit_path("llmc")) };
	cleanup_free char *logs = file_join(workspace.dir, "logs");
	cleanup_free char *file = file_join(logs, "auto.log");
	cleanup_buf struct buf text = BUF_INIT;
	size_t half;

	ck_assert_int_eq(file_mkdirs(logs, 0755, NULL), 0);
	clock_virtual_begin(1000, 1700000000000);
	bench_begin(&bench);
	bench.core.workspace = &workspace;
	event_file_subscribe(&bench.core);
	subscribe(&slow);
	event_file_subscribe(&bench.core);
	tell(&bench.core, "1");
	ck_assert_int_eq(file_read(file, 4096, &text, NULL), 0);
	half = text.len / 2;
	ck_assert_uint_gt(half, 0);
	ck_assert_int_eq(memcmp(text.data, text.data + half, half), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "2023-11-14T22:13:20.000Z"));
	bench_end(&bench);
	clock_virtual_end();
	workspace_release(&workspace);
}

/* --- followers -------------------------------------------------------- */

struct follower {
	int fd;
	struct loop_watch *watch;
	struct buf text;
	bool over; /* hung up on */
};

static void
on_readable(int fd, unsigned what, void *arg)
{
	struct follower *f = arg;
	char bytes[65536];
	ssize_t n = recv(fd, bytes, sizeof bytes, 0);

	(void)what;
	if (n > 0) {
		buf_add(&f->text, bytes, (size_t)n);
	} else if (n == 0 || errno != EAGAIN) {
		f->over = true;
		loop_watch_free(take_ptr(&f->watch));
	}
}

static void
listen_to(struct follower *f)
{
	f->watch =
	    loop_watch_new(floor_world.loop, f->fd, LOOP_READ, on_readable, f);
}

static void
follow(struct follower *f, bool reads)
{
	*f = (struct follower){ .text = BUF_INIT };
	f->fd = floor_world_send("events.follow", "{}");
	if (reads)
		listen_to(f);
}

static void
follower_release(struct follower *f)
{
	loop_watch_free(f->watch);
	fd_close(f->fd);
	buf_release(&f->text);
}

/* The next line it receives, which must be a notification of that method;
 * returns its params, owned by the caller. */
static struct json_object *
next(struct follower *f, const char *method)
{
	cleanup_json struct json_object *line = NULL;
	size_t len;

	floor_world_until(memchr(f->text.data, '\n', f->text.len) != NULL);
	len = strcspn(f->text.data, "\n");
	ck_assert_int_eq(json_parse(f->text.data, len, len, &line, NULL), 0);
	buf_consume(&f->text, len + 1);
	ck_assert_str_eq(json_string_or(line, "method", ""), method);
	return json_object_get(json_object_object_get(line, "params"));
}

/* Its next event has this reason. */
static void
hears(struct follower *f, const char *reason)
{
	cleanup_json struct json_object *record = next(f, "event");
	struct json_object *event = json_object_object_get(record, "event");

	ck_assert_str_eq(json_string_or(event, "reason", ""), reason);
}

static int64_t
offset_of(struct follower *f)
{
	cleanup_json struct json_object *params = next(f, "following");

	return json_int_or(params, "offset", -1);
}

static char *
log_file(void)
{
	return workspace_path(&floor_world.workspace, "logs/auto.log");
}

static void
live(void)
{
	floor_world_begin(NULL);
	floor_world_live();
	floor_world_settle();
}

TEST(what_the_file_has_is_told)
{
	struct follower f;
	cleanup_free char *file = NULL, *line = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *record;
	int64_t offset;

	live();
	file = log_file();
	tell(floor_world.core, "before");
	follow(&f, true);
	offset = offset_of(&f);
	tell(floor_world.core, "after");
	emit(floor_world.core, &(struct event){ .kind = EVENT_SETTINGS_READ });
	tell(floor_world.core, "the end");
	record = next(&f, "event");
	ck_assert_int_eq(file_read(file, 1 << 20, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "before"));
	ck_assert_int_lt(offset, (int64_t)text.len);
	buf_consume(&text, (size_t)offset);
	/* The first line after that offset, byte for byte. */
	line = xasprintf("%s\n",
	    json_object_to_json_string_ext(record, JSON_C_TO_STRING_PLAIN));
	ck_assert_int_eq(strncmp(text.data, line, strlen(line)), 0);
	json_object_put(record);
	/* An event without a record in the file is not sent either. */
	hears(&f, "the end");
	follower_release(&f);
	floor_world_end();
}

/* A folder where the file should be. */
TEST(a_file_that_cannot_be_written_harms_nobody)
{
	struct bench bench;
	struct listener last = { &bench, 'z', NULL, NULL };
	struct follower f;
	cleanup_free char *file = NULL;

	live();
	file = log_file();
	ck_assert_int_eq(mkdir(file, 0755), 0);
	buf_init(&bench.trace);
	emit_subscribe(floor_world.core, on_event, &last);
	follow(&f, true);
	offset_of(&f);
	tell(floor_world.core, "1");
	tell(floor_world.core, "2");
	hears(&f, "1");
	hears(&f, "2");
	expect(&bench, "z:1 z:2 ");
	follower_release(&f);
	floor_world_end();
	buf_release(&bench.trace);
}

/* A follower that does not read is disconnected; the other one gets
 * everything. */
TEST(a_slow_follower_is_dropped)
{
	struct follower slow, f;
	cleanup_free char *large = xmalloc(100001);

	memset(large, 'x', 100000);
	large[100000] = '\0';
	live();
	follow(&slow, false);
	follow(&f, true);
	offset_of(&f);
	for (int i = 0; i < 30; i++) {
		tell(floor_world.core, large);
		hears(&f, large);
	}
	tell(floor_world.core, "still here");
	hears(&f, "still here");
	listen_to(&slow);
	floor_world_until(slow.over);
	ck_assert_uint_lt(slow.text.len, 30 * strlen(large));
	ck_assert_ptr_null(strstr(slow.text.data, "still here"));
	tell(floor_world.core, "and on");
	hears(&f, "and on");
	follower_release(&slow);
	follower_release(&f);
	floor_world_end();
}

/* An event that is too long for a line is skipped; no follower is dropped for
 * it. */
TEST(an_event_too_long_for_a_line)
{
	const size_t len = 5 * 1024 * 1024;
	struct follower f;
	cleanup_free char *large = xmalloc(len + 1);

	memset(large, 'x', len);
	large[len] = '\0';
	live();
	follow(&f, true);
	offset_of(&f);
	tell(floor_world.core, large);
	tell(floor_world.core, "short");
	hears(&f, "short");
	follower_release(&f);
	floor_world_end();
}

TEST(followers_go_and_come)
{
	struct follower first, second;

	live();
	follow(&first, true);
	offset_of(&first);
	follower_release(&first);
	tell(floor_world.core, "to nobody"); /* its end is not known yet */
	follow(&second, true);
	offset_of(&second);
	tell(floor_world.core, "1");
	hears(&second, "1");
	/* The daemon stops: the call is answered, then the connection is
	 * closed. */
	floor_world_close();
	floor_world_until(second.over);
	ck_assert_ptr_nonnull(strstr(second.text.data, "\"result\":null"));
	follower_release(&second);
	floor_world_end();
}
