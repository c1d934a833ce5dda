/* SPDX-License-Identifier: ISC */

/*
 * A stub of the Messages API on 127.0.0.1, for the real Claude Code in tests:
 *
 *   stub-api [--port N] [--retry-after SECONDS] [--log FILE] [--with PID]
 *       [--usage FILE] [--rules FILE] [--headers FILE]
 *
 * Prints "PORT n" when it listens (port 0, the default, uses a free one), and
 * exits with the process PID. The log has one line per request: the answer,
 * what a person had said in which conversation so far, and the tools that it
 * had. The "model" runs the steps in the prompt (script.h). Nothing is kept
 * between requests: the conversation itself shows which steps are done, so that
 * a retry or a resumed session gets the same answer again. While FILE exists,
 * every answer claims to have used the tokens that its five numbers say
 * (stub.h). The rules are an array in JSON (stub.h), read for each request, for
 * prompts that a test cannot write itself; a missing file has none. Every
 * answer of a model has the headers in FILE ("name: value", one a line), read
 * for each: what the service says of the usage windows of an account. The line
 * "fail: STATUS UNTIL TEXT" is none: until that second of 1970 every request of
 * a model fails so, with these headers: an account at its limit, a login that
 * is refused.
 */

#include "base.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <sys/syscall.h>

#include "loop.h"
#include "script.h"
#include "stub.h"

#define CODEX_RESET_S 1200

#define BODY_MAX (64 * 1024 * 1024)

struct stub {
	struct loop *loop;
	int64_t port;
	int64_t retry_after;
	int64_t with; /* pid */
	const char *log;
	const char *usage;
	const char *rules;
	const char *headers;
};

/* An answer that is delayed. */
struct stub_reply {
	struct stub *stub;
	struct evhttp_request *request;
	struct json_object *body;
	struct script_action action;
	struct loop_timer *timer;
};

/* Logged when a request arrives, not when it is answered: some never are. */
static void
stub_log(const struct stub *stub, struct evhttp_request *request,
    struct json_object *body, const struct script_action *action)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf line = BUF_INIT;
	bool fails = action->kind == SCRIPT_DO_FAIL;

	if (stub->log == NULL)
		return;
	json_set_string(json, "path", evhttp_request_get_uri(request));
	json_set_int(json, "status",
	    fails                              ? action->status :
		action->kind == SCRIPT_DO_HANG ? 0 :
						 200);
	json_set_string(json, "answer",
	    fails                       ? action->text.data :
		action->command.len > 0 ? action->command.data :
					  action->say.data);
	json_set_string(json, "model", json_string_or(body, "model", ""));
	json_set_string(json, "conversation", stub_conversation(body));
	json_set(json, "prompts", stub_prompts(body));
	json_set(json, "servers", stub_tools(body, true, false));
	json_set_int(json, "served_bytes", stub_served_bytes(body));
	json_set(json, "tools", stub_tools(body, false, true));
	json_print(json, false, &line);
	buf_addc(&line, '\n');
	file_append(stub->log, line.data, line.len, 0600, false, NULL);
}

static void
stub_header(struct evhttp_request *request, const char *key, const char *value)
{
	evhttp_add_header(
	    evhttp_request_get_output_headers(request), key, value);
}

static void
stub_send_json(
    struct evhttp_request *request, int status, struct json_object *json)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct evbuffer *body = evbuffer_new();

	json_print(json, false, &text);
	evbuffer_add(body, text.data, text.len);
	stub_header(request, "Content-Type", "application/json");
	evhttp_send_reply(request, status, "", body);
	evbuffer_free(body);
}

static void
stub_send_error(struct evhttp_request *request, int status, const char *words,
    int64_t retry_after, struct json_object *asked)
{
	bool codex = json_bool_or(asked, "codex", false);
	cleanup_json struct json_object *json = json_object_new_object();
	struct json_object *error = json_object_new_object();
	char seconds[24];

	/* Codex has a word of its own for the limit of an account. */
	json_set_string(error, "type",
	    codex && status == 429 ? "usage_limit_reached" :
				     script_error(status)->type);
	if (codex)
		json_set_int(
		    error, "resets_at", clock_wall_ms() / 1000 + CODEX_RESET_S);
	json_set_string(error, "message", words);
	json_set_string(json, "type", "error");
	json_set(json, "error", error);
	if (json_bool_or(asked, "gemini", false))
		stub_gemini_error(error, status);
	else if (status == 429) {
		snprintf(
		    seconds, sizeof(seconds), "%lld", (long long)retry_after);
		stub_header(request, "retry-after", seconds);
	}
	stub_send_json(request, status, json);
}

static void
stub_send_stream(struct evhttp_request *request, struct json_object *message,
    bool codex, bool gemini)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct evbuffer *chunk = evbuffer_new();

	if (codex) {
		stub_codex_stream(message, &text);
	} else if (gemini) {
		buf_adds(&text, "data: ");
		json_print(message, false, &text);
		buf_adds(&text, "\r\n\r\n");
	} else
		stub_stream(message, &text);
	stub_header(request, "Content-Type", "text/event-stream");
	stub_header(request, "Cache-Control", "no-cache");
	evhttp_send_reply_start(request, 200, "OK");
	evbuffer_add(chunk, text.data, text.len);
	evhttp_send_reply_chunk(request, chunk);
	evhttp_send_reply_end(request);
	evbuffer_free(chunk);
}

/* ---- an answer */

static void
stub_reply_free(struct stub_reply *reply)
{
	loop_timer_free(reply->timer);
	json_object_put(reply->body);
	script_action_release(&reply->action);
	free(reply);
}

/* The client did not wait; the request is freed with its connection. */
static void
stub_reply_lost(struct evhttp_connection *connection, void *arg)
{
	(void)connection;
	stub_reply_free(arg);
}

/* Returns false if nobody says how much. */
static bool
stub_read_usage(const struct stub *stub, int64_t usage[STUB_TOKENS])
{
	cleanup_buf struct buf text = BUF_INIT;
	char *at;

	if (stub->usage == NULL ||
	    file_read(stub->usage, BODY_MAX, &text, NULL) < 0)
		return false;
	at = text.data;
	for (int i = 0; i < STUB_TOKENS; i++)
		usage[i] = strtoll(at, &at, 10);
	return true;
}

/* "fail: 429 1766502000 Too much": false if it is over. */
static bool
stub_refuses(char *value, struct script_action *action)
{
	char *at;
	int status = (int)strtol(value, &at, 10);
	int64_t until = strtoll(at, &at, 10);

	if (clock_wall_ms() / 1000 >= until)
		return false;
	action->kind = SCRIPT_DO_FAIL;
	action->status = status;
	action->number = until - clock_wall_ms() / 1000;
	buf_clear(&action->text);
	buf_adds(&action->text, at + strspn(at, " "));
	return true;
}

/* Add the headers to the answer, or (NULL) find out whether it fails. */
static void
stub_headers(const struct stub *stub, struct evhttp_request *request,
    struct script_action *action)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *line;

	if (stub->headers == NULL ||
	    file_read(stub->headers, BODY_MAX, &text, NULL) < 0)
		return;
	for (rest = text.data; (line = strsep(&rest, "\n")) != NULL;) {
		char *value = strstr(line, ": ");

		if (value == NULL)
			continue;
		*value = '\0';
		if (strcmp(line, "fail") != 0 && request != NULL)
			stub_header(request, line, value + 2);
		else if (strcmp(line, "fail") == 0 && request == NULL)
			stub_refuses(value + 2, action);
	}
}

static void
stub_reply_send(void *arg)
{
	struct stub_reply *reply = arg;
	const struct script_action *action = &reply->action;
	cleanup_json struct json_object *message = NULL;
	bool gemini = json_bool_or(reply->body, "gemini", false);
	int64_t usage[STUB_TOKENS];

	evhttp_connection_set_closecb(
	    evhttp_request_get_connection(reply->request), NULL, NULL);
	stub_headers(reply->stub, reply->request, NULL);
	if (action->kind == SCRIPT_DO_FAIL) {
		stub_send_error(reply->request, action->status,
		    action->text.data,
		    action->number > 0 ? action->number :
					 reply->stub->retry_after,
		    reply->body);
		stub_reply_free(reply);
		return;
	}
	message = stub_message(reply->body, action,
	    stub_read_usage(reply->stub, usage) ? usage : NULL);
	if (gemini) {
		struct json_object *own = stub_gemini_answer(message);

		json_object_put(message);
		message = own;
	}
	if (json_bool_or(reply->body, "stream", false))
		stub_send_stream(reply->request, message,
		    json_bool_or(reply->body, "codex", false), gemini);
	else
		stub_send_json(reply->request, 200, message);
	stub_reply_free(reply);
}

/* The caller owns them. */
static struct json_object *
stub_read_rules(const struct stub *stub)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *rules = NULL;

	if (stub->rules != NULL &&
	    file_read(stub->rules, BODY_MAX, &text, NULL) == 0)
		json_parse(text.data, text.len, BODY_MAX, &rules, NULL);
	return json_object_is_type(rules, json_type_array) ?
	    rules :
	    json_object_new_array();
}

static void
stub_messages(
    struct stub *stub, struct evhttp_request *request, struct json_object *body)
{
	cleanup_json struct json_object *rules = stub_read_rules(stub);
	struct stub_reply *reply = xcalloc(1, sizeof(*reply));

	reply->stub = stub;
	reply->request = request;
	reply->body = json_object_get(body);
	reply->action = (struct script_action)SCRIPT_ACTION_INIT;
	stub_plan(body, rules, &reply->action);
	stub_headers(stub, NULL, &reply->action);
	stub_log(stub, request, body, &reply->action);
	evhttp_connection_set_closecb(
	    evhttp_request_get_connection(request), stub_reply_lost, reply);
	if (reply->action.kind == SCRIPT_DO_HANG)
		return;
	reply->timer = loop_after(
	    stub->loop, reply->action.delay_ms, stub_reply_send, reply);
}

/* ---- requests */

static int
stub_read_body(struct evhttp_request *request, struct json_object **ret_body)
{
	struct evbuffer *input = evhttp_request_get_input_buffer(request);
	size_t len = evbuffer_get_length(input);

	return json_parse((const char *)evbuffer_pullup(input, -1), len,
	    BODY_MAX, ret_body, NULL);
}

static void
stub_request(struct evhttp_request *request, void *arg)
{
	struct stub *stub = arg;
	const char *path =
	    evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
	cleanup_json struct json_object *body = NULL;
	cleanup_json struct json_object *count = NULL;

	if (evhttp_request_get_command(request) != EVHTTP_REQ_POST) {
		evhttp_send_reply(request, 200, "OK", NULL);
	} else if (stub_read_body(request, &body) < 0) {
		stub_send_error(request, 400, "the body is not JSON", 0, NULL);
	} else if (strcmp(path, "/v1/messages") == 0) {
		stub_messages(stub, request, body);
	} else if (strcmp(path, "/v1/responses") == 0) {
		count = stub_codex_request(body);
		stub_messages(stub, request, count);
	} else if (strstr(path, "enerateContent") != NULL) {
		count = stub_gemini_request(path, body);
		stub_messages(stub, request, count);
	} else if (strcmp(path, "/v1/messages/count_tokens") == 0) {
		count = json_object_new_object();
		json_set_int(count, "input_tokens", stub_tokens(body));
		stub_send_json(request, 200, count);
	} else {
		stub_send_error(request, 404, "no such endpoint", 0, NULL);
	}
}

static void
stub_stop(int signo, void *arg)
{
	struct stub *stub = arg;

	(void)signo;
	loop_stop(stub->loop, 0);
}

static int
stub_listen(struct stub *stub, struct evhttp *http)
{
	struct evhttp_bound_socket *bound;
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	evhttp_set_max_body_size(http, BODY_MAX);
	evhttp_set_allowed_methods(
	    http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
	evhttp_set_gencb(http, stub_request, stub);
	bound = evhttp_bind_socket_with_handle(
	    http, "127.0.0.1", (unsigned short)stub->port);
	if (bound == NULL ||
	    getsockname(evhttp_bound_socket_get_fd(bound),
		(struct sockaddr *)&address, &len) == -1) {
		fputs("stub-api: cannot listen on 127.0.0.1\n", stderr);
		return -1;
	}
	printf("PORT %d\n", ntohs(address.sin_port));
	fflush(stdout);
	return 0;
}

static void
stub_alone(int fd, unsigned what, void *arg)
{
	struct stub *stub = arg;

	(void)fd;
	(void)what;
	loop_stop(stub->loop, 0);
}

/* Watch the process that this one must not outlive. */
static int
stub_accompany(struct stub *stub, struct loop_watch **ret_watch)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)stub->with, 0);

	if (fd == -1) {
		perror("stub-api: --with");
		return -1;
	}
	*ret_watch =
	    loop_watch_new(stub->loop, fd, LOOP_READ, stub_alone, stub);
	return 0;
}

static int
stub_options(struct stub *stub, int argc, char **argv)
{
	const struct {
		const char *flag;
		int64_t *number;
		int64_t max;
	} numbers[] = {
		{ "--port", &stub->port, 65535 },
		{ "--retry-after", &stub->retry_after, INT32_MAX },
		{ "--with", &stub->with, INT32_MAX },
	};

	for (int i = 1; i + 1 < argc; i += 2) {
		size_t n = 0;

		if (strcmp(argv[i], "--log") == 0) {
			stub->log = argv[i + 1];
			continue;
		}
		if (strcmp(argv[i], "--usage") == 0) {
			stub->usage = argv[i + 1];
			continue;
		}
		if (strcmp(argv[i], "--rules") == 0) {
			stub->rules = argv[i + 1];
			continue;
		}
		if (strcmp(argv[i], "--headers") == 0) {
			stub->headers = argv[i + 1];
			continue;
		}
		while (n < nitems(numbers) &&
		    strcmp(argv[i], numbers[n].flag) != 0)
			n++;
		if (n == nitems(numbers) ||
		    !text_parse_int(
			argv[i + 1], 0, numbers[n].max, numbers[n].number))
			return -1;
	}
	return argc % 2 == 1 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct stub stub = { .retry_after = 3600 };
	struct loop_signal *signals[2];
	struct loop_watch *watch = NULL;
	struct evhttp *http;
	int status = 1;

	if (stub_options(&stub, argc, argv) < 0) {
		fputs("usage: stub-api [--port N] [--retry-after SECONDS] "
		      "[--log FILE] [--with PID] [--usage FILE] "
		      "[--rules FILE] [--headers FILE]\n",
		    stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	stub.loop = loop_new();
	signals[0] = loop_signal_new(stub.loop, SIGTERM, stub_stop, &stub);
	signals[1] = loop_signal_new(stub.loop, SIGINT, stub_stop, &stub);
	http = evhttp_new(loop_event_base(stub.loop));
	if (http != NULL &&
	    (stub.with == 0 || stub_accompany(&stub, &watch) == 0) &&
	    stub_listen(&stub, http) == 0)
		status = loop_run(stub.loop);
	if (http != NULL)
		evhttp_free(http);
	loop_watch_free(watch);
	loop_signal_free(signals[0]);
	loop_signal_free(signals[1]);
	loop_free(stub.loop);
	return status;
}
