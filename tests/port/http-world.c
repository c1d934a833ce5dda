/* SPDX-License-Identifier: ISC */

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "courier.h"
#include "http-world.h"
#include "message.h"
#include "people.h"
#include "settings.h"

#define PATIENCE_MS (60 * 1000)
#define BODY_MAX    (1 << 20)

/* --- a small tracker of issues ---------------------------------------- */

static struct json_object *
numbered(struct json_object *list, struct json_object *body, const char *key)
{
	struct json_object *one = json_object_new_object();

	json_object_object_foreach(body, name, value)
	    json_set(one, name, json_object_get(value));
	json_set_int(one, "id", 100 + (int64_t)json_object_array_length(list));
	if (key != NULL)
		json_set_int(
		    one, key, 1 + (int64_t)json_object_array_length(list));
	json_object_array_add(list, one);
	return one;
}

static bool
ends(const char *text, const char *end)
{
	size_t len = strlen(text), want = strlen(end);

	return len >= want && strcmp(text + len - want, end) == 0;
}

/* What it answers, borrowed; lists have one page. */
static struct json_object *
tracker(struct http_world *w, const char *method, const char *path,
    struct json_object *body)
{
	bool posts = strcmp(method, "POST") == 0;
	struct json_object *one;

	if (ends(path, "/labels"))
		return posts ? numbered(w->labels, body, NULL) : w->labels;
	if (ends(path, "/comments"))
		return posts ? numbered(w->comments, body, NULL) : w->comments;
	if (strcmp(method, "PATCH") == 0) {
		one = json_object_array_get_idx(w->issues, 0);
		json_set_string(
		    one, "state", json_string_or(body, "state", ""));
		return one;
	}
	if (!ends(path, "/issues"))
		return NULL;
	if (!posts)
		return w->issues;
	one = numbered(w->issues, body, "number");
	json_set_string(one, "state", "open");
	return one;
}

/* --- the server ------------------------------------------------------- */

static struct http_seen *
note(struct http_world *w, struct evhttp_request *request)
{
	struct http_seen *seen = &w->seen[w->count];
	struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	struct evbuffer *input = evhttp_request_get_input_buffer(request);
	const char *value;
	size_t len = evbuffer_get_length(input);

	ck_assert_uint_lt(w->count, HTTP_SEEN_MAX);
	w->count++;
	seen->method = xstrdup(
	    evhttp_request_get_command(request) == EVHTTP_REQ_POST ? "POST" :
		evhttp_request_get_command(request) == EVHTTP_REQ_PATCH ?
								     "PATCH" :
								     "GET");
	seen->uri = xstrdup(evhttp_request_get_uri(request));
	value = evhttp_find_header(headers, "Authorization");
	seen->authorization = value != NULL ? xstrdup(value) : NULL;
	value = evhttp_find_header(headers, "Idempotency-Key");
	seen->key = value != NULL ? xstrdup(value) : NULL;
	if (len > 0)
		ck_assert_int_eq(
		    json_parse((const char *)evbuffer_pullup(input, -1), len,
			BODY_MAX, &seen->body, NULL),
		    0);
	return seen;
}

static void
reply(struct evhttp_request *request, int status, const char *text)
{
	struct evbuffer *out = evbuffer_new();

	evbuffer_add(out, text, strlen(text));
	evhttp_send_reply(request, status, "X", out);
	evbuffer_free(out);
}

static void
answer_well(struct http_world *w, struct evhttp_request *request,
    const struct http_seen *seen)
{
	cleanup_free char *path = xstrndup(seen->uri, strcspn(seen->uri, "?"));
	struct json_object *json = tracker(w, seen->method, path, seen->body);
	cleanup_buf struct buf text = BUF_INIT;

	if (json != NULL)
		json_print(json, false, &text);
	reply(
	    request, strcmp(seen->method, "POST") == 0 ? 201 : 200, text.data);
}

static void
reply_echo(struct evhttp_request *request, const struct http_seen *seen)
{
	cleanup_free char *text =
	    xasprintf("{\"message\": \"bad: %s\"}", seen->authorization);

	reply(request, 401, text);
}

static void
on_request(struct evhttp_request *request, void *arg)
{
	struct http_world *w = arg;
	struct http_seen *seen = note(w, request);

	if (w->on_seen != NULL)
		w->on_seen(w, seen);
	if (w->dropped || w->mood == HTTP_HANGS) {
		evhttp_request_own(request);
		seen->unanswered = request;
		return;
	}
	if (w->mood == HTTP_429)
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "Retry-After", "120");
	if (w->mood == HTTP_REDIRECT)
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "Location", "/elsewhere");
	switch (w->mood) {
	case HTTP_500:
		reply(request, 500, "oops");
		break;
	case HTTP_429:
		reply(request, 429, "{\"message\": \"slow down\"}");
		break;
	case HTTP_HTML:
		reply(request, 200, "<html>hello</html>");
		break;
	case HTTP_REDIRECT:
		reply(request, 302, "");
		break;
	case HTTP_ECHOES:
		reply_echo(request, seen);
		break;
	case HTTP_DENIES:
		reply(request, 401, "{\"message\": \"who are you?\"}");
		break;
	default:
		answer_well(w, request, seen);
	}
}

static void
on_raw(int fd, unsigned what, void *arg)
{
	static const char half[] = "HTTP/1.1 200 OK\r\nContent-Length: "
				   "1000\r\n\r\n{\"id\": 1, ";
	static const char endless[] = "HTTP/1.1 200 OK\r\nContent-Length: "
				      "99999999999\r\n\r\n";
	const struct http_world *w = arg;
	const char *words = w->mood == HTTP_HALF ? half :
	    w->mood == HTTP_ENDLESS              ? endless :
	    w->mood == HTTP_CLOSES               ? "" :
						   "SSH-2.0-not-http\r\n\r\n";
	cleanup_fd int peer = accept(fd, NULL, NULL);

	(void)what;
	if (peer >= 0)
		file_write_all(peer, words, strlen(words));
}

static int
listen_at(int *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

struct http_world *
http_world_new(void)
{
	struct http_world *w = xcalloc(1, sizeof *w);
	struct evhttp_bound_socket *bound;
	struct sockaddr_in address;
	socklen_t len = sizeof address;
	cleanup_free char *dir = NULL;

	w->loop = loop_new();
	w->root = xstrdup(unit_path("a root"));
	dir = xasprintf("%s/.llmc", w->root);
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	w->http = evhttp_new(loop_event_base(w->loop));
	evhttp_set_allowed_methods(
	    w->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH);
	evhttp_set_gencb(w->http, on_request, w);
	bound = evhttp_bind_socket_with_handle(w->http, "127.0.0.1", 0);
	ck_assert_ptr_nonnull(bound);
	ck_assert_int_eq(getsockname(evhttp_bound_socket_get_fd(bound),
			     (struct sockaddr *)&address, &len),
	    0);
	w->port = ntohs(address.sin_port);
	w->raw = listen_at(&w->raw_port);
	w->raw_watch = loop_watch_new(w->loop, w->raw, LOOP_READ, on_raw, w);
	close(listen_at(&w->no_port));
	w->labels = json_object_new_array();
	w->issues = json_object_new_array();
	w->comments = json_object_new_array();
	return w;
}

void
http_world_free(struct http_world *w)
{
	evhttp_free(w->http);
	for (size_t i = 0; i < w->count; i++) {
		if (w->seen[i].unanswered != NULL)
			evhttp_request_free(w->seen[i].unanswered);
		free(w->seen[i].method);
		free(w->seen[i].uri);
		free(w->seen[i].authorization);
		free(w->seen[i].key);
		json_object_put(w->seen[i].body);
	}
	loop_watch_free(w->raw_watch);
	close(w->raw);
	message_spool_free(w->spool);
	loop_free(w->loop);
	json_object_put(w->labels);
	json_object_put(w->issues);
	json_object_put(w->comments);
	free(w->root);
	free(w);
}

struct settings *
http_world_settings(
    const struct http_world *w, const char *type, const char *more)
{
	struct settings_facts facts = { .root = w->root };
	struct settings_problems problems;
	int port = w->mood == HTTP_REFUSES ? w->no_port :
	    w->mood >= HTTP_RAW            ? w->raw_port :
					     w->port;
	cleanup_free char *text =
	    xasprintf("[people.channels.x]\ntype = \"%s\"\n"
		      "url = \"http://127.0.0.1:%d/hook\"\n%s",
		type, port, more);
	struct settings *settings =
	    settings_parse(text, strlen(text), &facts, &problems);

	ck_assert_msg(!problems.fatal, "%s", problems.list[0].text);
	settings_problems_release(&problems);
	return settings;
}

/* --- waiting ---------------------------------------------------------- */

struct waiting {
	struct http_world *w;
	bool (*is_so)(void *arg);
	void *arg;
	int64_t until;
};

static void
on_look(void *arg)
{
	struct waiting *waiting = arg;

	if (waiting->is_so(waiting->arg) ||
	    clock_kernel_ms(clock_mono_ms()) > waiting->until)
		loop_stop(waiting->w->loop, 0);
}

void
http_world_until(struct http_world *w, bool (*is_so)(void *arg), void *arg)
{
	struct waiting waiting = { w, is_so, arg,
		clock_kernel_ms(clock_mono_ms()) + PATIENCE_MS };
	struct loop_timer *timer = loop_every(w->loop, 100, on_look, &waiting);

	if (!is_so(arg))
		loop_run(w->loop);
	loop_timer_free(timer);
	ck_assert(is_so(arg));
}

struct number {
	const struct http_world *w;
	size_t count;
};

static bool
has_seen(void *arg)
{
	const struct number *number = arg;

	return number->w->count >= number->count;
}

void
http_world_await(struct http_world *w, size_t count)
{
	struct number number = { w, count };

	http_world_until(w, has_seen, &number);
}

size_t
http_world_seen(const struct http_world *w, const char *method, const char *end)
{
	size_t count = 0;

	for (size_t i = 0; i < w->count; i++) {
		cleanup_free char *path =
		    xstrndup(w->seen[i].uri, strcspn(w->seen[i].uri, "?"));

		count +=
		    strcmp(w->seen[i].method, method) == 0 && ends(path, end);
	}
	return count;
}

/* --- messages --------------------------------------------------------- */

static void
on_waiting(struct message *message, void *arg)
{
	courier_take(arg, message);
}

static void
on_taken(const char *id, void *arg)
{
	courier_leave(arg, id);
}

struct courier *
http_world_courier(
    struct http_world *w, const struct settings *settings, const char *program)
{
	struct courier_store store;
	struct courier *courier;

	message_spool_free(w->spool);
	w->spool = message_spool_new(w->loop, w->root);
	store = message_spool_store(w->spool);
	courier = courier_new(w->loop, w->root, program, &store);
	courier_channels(courier, settings_channels(settings));
	message_spool_waiting(w->spool, on_waiting, courier);
	message_spool_on_taken(w->spool, on_taken, courier);
	return courier;
}

struct found {
	size_t waiting, done;
	struct message *last;
};

static void
on_message(struct message *message, void *arg)
{
	struct found *found = arg;

	if (message_is_done(message))
		found->done++;
	else
		found->waiting++;
	message_free(found->last);
	found->last = message;
}

static struct found
look(const struct http_world *w)
{
	struct found found = { 0 };

	message_spool_read(w->root, on_message, &found);
	return found;
}

size_t
http_world_waiting(const struct http_world *w)
{
	struct found found = look(w);

	message_free(found.last);
	return found.waiting;
}

size_t
http_world_done(const struct http_world *w)
{
	struct found found = look(w);

	message_free(found.last);
	return found.done;
}

char *
http_world_state(const struct http_world *w, int *ret_attempts,
    int64_t *ret_wait_ms, char **ret_reason)
{
	struct found found = look(w);
	const struct delivery *d;
	char *state;

	if (found.waiting + found.done != 1) {
		message_free(found.last);
		return xstrdup("");
	}
	d = &found.last->deliveries[0];
	state = xstrdup(delivery_state_words[d->state]);
	if (ret_attempts != NULL)
		*ret_attempts = d->attempts;
	if (ret_wait_ms != NULL)
		*ret_wait_ms = delivery_wait_ms(d, clock_wall_ms());
	if (ret_reason != NULL)
		*ret_reason = xstrdup(d->reason != NULL ? d->reason : "");
	message_free(found.last);
	return state;
}
