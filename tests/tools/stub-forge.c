/* SPDX-License-Identifier: ISC */

/*
 * A stub of a forge on 127.0.0.1, as much of GitHub or Gitea as llmc uses:
 *
 *   stub-forge --dialect github|gitea [--port N] [--with PID]
 *
 * Prints "PORT n" when it listens (port 0, the default, uses a free one), and
 * exits with the process PID. There is one repository, whatever its name. The
 * token of LOGIN is "tok-LOGIN". Pull requests are in stub-forge-pulls.c.
 *
 * A test speaks to it below /control, with JSON:
 *
 *   POST /control/user   {login, permission, type}
 *   POST /control/issue  {title, body, user, labels, by}: a new one; by: who
 *                        set the labels
 *   POST /control/edit   {number, by, ...}: what is given is changed
 *   POST /control/say    {number, user, body}: a comment
 *   POST /control/fault  {method, path, after, times, ...}: requests with this
 *                        method and this in their path, after so many of them;
 *                        what happens: {status, retry_after, reset, location},
 *                        {garbage},
 *                        {slow: ms}, {lost}: it is done, and not answered
 *   POST /control/repo   {path}: the bare repository that is behind it
 *   POST /control/rules  {queue}: merges go through a queue
 *   POST /control/ci     {name, needs, log, kind}: a check of every commit,
 *                        green if it has the file `needs` ("" = always), else
 *                        red with that log; kind "status": not a check run
 *   POST /control/check  {sha, name, state, log, kind}: one check of a commit;
 *                        state: running, success, failure, cancelled
 *   POST /control/review {number, user, state, body, comments: [{path, line,
 *                        body, over}]}; over: resolved, or outdated
 *   POST /control/pull   {number, do}: a person merges, closes or drafts it
 *   GET  /control/log    every request: {method, path, login, body, status}
 *   GET  /control/state  {issues, comments, events, pulls}
 */

#include "base.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <signal.h>
#include <sys/syscall.h>

#include "loop.h"
#include "stub-forge.h"

#define BODY_MAX (4 * 1024 * 1024)
#define PAGE_MAX 50

const char *
text_of(struct json_object *json, const char *key)
{
	return json_string_or(json, key, "");
}

struct json_object *
member(struct json_object *json, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(json, json_type_object))
		json_object_object_get_ex(json, key, &value);
	return value;
}

size_t
length(struct json_object *list)
{
	return list == NULL ? 0 : json_object_array_length(list);
}

struct json_object *
at(struct json_object *list, size_t i)
{
	return json_object_array_get_idx(list, i);
}

/* The one of a list whose member is this number. */
struct json_object *
numbered(struct json_object *list, const char *key, int64_t number)
{
	for (size_t i = 0; i < length(list); i++)
		if (json_int_or(at(list, i), key, 0) == number)
			return at(list, i);
	return NULL;
}

struct json_object *
user_json(const struct forge *forge, const char *login)
{
	struct json_object *user = json_object_new_object();
	struct json_object *known = member(forge->users, login);

	json_set_string(user, "login", login);
	json_set_string(user, "type", json_string_or(known, "type", "User"));
	return user;
}

static const char *
permission_of(const struct forge *forge, const char *login)
{
	return json_string_or(
	    member(forge->users, login), "permission", "none");
}

static bool
may_write(const struct forge *forge, const char *login)
{
	const char *permission = permission_of(forge, login);

	return strcmp(permission, "admin") == 0 ||
	    strcmp(permission, "write") == 0 ||
	    strcmp(permission, "owner") == 0;
}

/* --- issues ----------------------------------------------------------- */

static bool
has_label(struct json_object *issue, const char *name)
{
	struct json_object *labels = member(issue, "labels");

	for (size_t i = 0; i < length(labels); i++)
		if (strcmp(text_of(at(labels, i), "name"), name) == 0)
			return true;
	return false;
}

void
touch(struct forge *forge, struct json_object *issue)
{
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(issue, "updated_at", stamp);
	json_set_int(issue, "change", ++forge->ids);
}

static void
tell(struct forge *forge, struct json_object *issue, const char *label,
    const char *by)
{
	struct json_object *event = json_object_new_object();
	struct json_object *named = json_object_new_object();

	json_set_int(event, "id", ++forge->ids);
	json_set_int(event, "issue", json_int_or(issue, "number", 0));
	json_set_string(named, "name", label);
	json_set(event, "label", named);
	if (forge->gitea) {
		json_set_string(event, "type", "label");
		json_set_string(event, "body", "1");
		json_set(event, "user", user_json(forge, by));
	} else {
		json_set_string(event, "event", "labeled");
		json_set(event, "actor", user_json(forge, by));
	}
	json_object_array_add(forge->events, event);
}

static void
add_labels(struct forge *forge, struct json_object *issue,
    struct json_object *names, const char *by)
{
	for (size_t i = 0; i < length(names); i++) {
		const char *name = json_object_get_string(at(names, i));
		struct json_object *label = json_object_new_object();

		json_set_string(label, "name", name);
		if (has_label(issue, name)) {
			json_object_put(label);
			continue;
		}
		json_object_array_add(member(issue, "labels"), label);
		tell(forge, issue, name, by);
	}
	touch(forge, issue);
}

struct json_object *
new_issue(struct forge *forge, struct json_object *body)
{
	struct json_object *issue = json_object_new_object();
	int64_t number = (int64_t)length(forge->issues) + 1;
	cleanup_free char *url =
	    xasprintf("http://127.0.0.1:%d/me/work/issues/%" PRId64,
		(int)forge->port, number);

	json_set_int(issue, "id", ++forge->ids);
	json_set_int(issue, "number", number);
	json_set_string(issue, "title", text_of(body, "title"));
	json_set_string(issue, "body", text_of(body, "body"));
	json_set_string(issue, "state", "open");
	json_set_string(issue, "html_url", url);
	json_set(issue, "user", user_json(forge, text_of(body, "user")));
	json_set(issue, "labels", json_object_new_array());
	if (forge->gitea)
		json_set(issue, "pull_request", NULL);
	json_object_array_add(forge->issues, issue);
	add_labels(forge, issue, member(body, "labels"), text_of(body, "by"));
	return issue;
}

static struct json_object *
new_comment(
    struct forge *forge, int64_t issue, const char *login, const char *text)
{
	struct json_object *comment = json_object_new_object();

	json_set_int(comment, "id", ++forge->ids);
	json_set_int(comment, "issue", issue);
	json_set_string(comment, "body", text);
	json_set(comment, "user", user_json(forge, login));
	json_object_array_add(forge->comments, comment);
	touch(forge, numbered(forge->issues, "number", issue));
	return comment;
}

/* Those of a list with this issue; page by page, as a new list. */
struct json_object *
of_issue(const struct call *call, struct json_object *list, int64_t number)
{
	struct json_object *found = json_object_new_array();
	const char *page = evhttp_find_header(&call->query, "page");
	size_t skip =
	    page == NULL ? 0 : (size_t)(strtoll(page, NULL, 10) - 1) * PAGE_MAX;

	for (size_t i = 0; i < length(list); i++) {
		if (json_int_or(at(list, i), "issue", 0) != number)
			continue;
		if (skip > 0)
			skip--;
		else if (length(found) < PAGE_MAX)
			json_object_array_add(
			    found, json_object_get(at(list, i)));
	}
	return found;
}

static struct json_object *
open_issues(const struct call *call)
{
	const struct forge *forge = call->forge;
	struct json_object *found = json_object_new_array();
	const char *label = evhttp_find_header(&call->query, "labels");
	const char *page = evhttp_find_header(&call->query, "page");
	size_t skip =
	    page == NULL ? 0 : (size_t)(strtoll(page, NULL, 10) - 1) * PAGE_MAX;

	for (size_t i = 0; i < length(forge->issues); i++) {
		struct json_object *issue = at(forge->issues, i);

		if (strcmp(text_of(issue, "state"), "open") != 0 ||
		    (label != NULL && !has_label(issue, label)))
			continue;
		if (skip > 0)
			skip--;
		else if (length(found) < PAGE_MAX)
			json_object_array_add(found, json_object_get(issue));
	}
	return found;
}

/* --- what it answers -------------------------------------------------- */

void
answer(struct call *call, int status, struct json_object *json)
{
	call->status = status;
	call->answer = json;
}

void
refuse(struct call *call, int status, const char *words)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "message", words);
	answer(call, status, json);
}

/* Gitea, before 1.22, knows labels by their ids alone; of those that it does
 * not know it says nothing. GitHub makes what is not there. */
static struct json_object *
label_names(const struct forge *forge, struct json_object *wanted)
{
	struct json_object *names = json_object_new_array();

	if (!forge->gitea)
		json_object_put(names);
	for (size_t i = 0; forge->gitea && i < length(wanted); i++) {
		struct json_object *label = numbered(
		    forge->labels, "id", json_object_get_int64(at(wanted, i)));

		if (label != NULL)
			json_object_array_add(
			    names, json_object_get(member(label, "name")));
	}
	return forge->gitea ? names : json_object_get(wanted);
}

static void
serve_labels(struct call *call)
{
	struct forge *forge = call->forge;

	if (strcmp(call->method, "POST") == 0) {
		json_set_int(call->body, "id", ++forge->ids);
		json_object_array_add(
		    forge->labels, json_object_get(call->body));
		answer(call, 201, json_object_get(call->body));
	} else {
		answer(call, 200, json_object_get(forge->labels));
	}
}

static void
serve_issue(struct call *call, struct json_object *issue, const char *rest)
{
	struct forge *forge = call->forge;
	int64_t number = json_int_or(issue, "number", 0);
	bool posts = strcmp(call->method, "POST") == 0;

	if (strcmp(rest, "") == 0 && strcmp(call->method, "PATCH") == 0) {
		json_object_object_foreach(call->body, key, value)
		    json_set(issue, key, json_object_get(value));
		touch(forge, issue);
		answer(call, forge->gitea ? 201 : 200, json_object_get(issue));
	} else if (strcmp(rest, "") == 0) {
		answer(call, 200, json_object_get(issue));
	} else if (strcmp(rest, "/comments") == 0 && posts) {
		answer(call, 201,
		    json_object_get(new_comment(forge, number, call->login,
			text_of(call->body, "body"))));
	} else if (strcmp(rest, "/comments") == 0) {
		answer(call, 200, of_issue(call, forge->comments, number));
	} else if (strcmp(rest, forge->gitea ? "/timeline" : "/events") == 0) {
		answer(call, 200, of_issue(call, forge->events, number));
	} else if (strcmp(rest, "/labels") == 0 && posts) {
		struct json_object *names =
		    label_names(forge, member(call->body, "labels"));

		add_labels(forge, issue, names, call->login);
		json_object_put(names);
		answer(call, 200, json_object_get(member(issue, "labels")));
	} else {
		refuse(call, 404, "Not Found");
	}
}

static void
serve_permission(struct call *call, const char *login)
{
	struct forge *forge = call->forge;
	struct json_object *json;

	/* Gitea tells it to those only who administrate the repository. */
	if (forge->gitea && strcmp(login, call->login) != 0 &&
	    strcmp(permission_of(forge, call->login), "admin") != 0) {
		refuse(call, 403, "Only admins can query all permissions");
		return;
	}
	json = json_object_new_object();
	json_set_string(json, "permission", permission_of(forge, login));
	json_set(json, "user", user_json(forge, login));
	answer(call, 200, json);
}

static struct json_object *
repo_json(struct call *call)
{
	struct json_object *json = json_object_new_object(),
			   *rights = json_object_new_object();

	json_set_bool(rights, "pull", true);
	json_set_bool(rights, "push", may_write(call->forge, call->login));
	json_set(json, "permissions", rights);
	json_set_bool(json, "has_issues", true);
	json_set_bool(json, "archived", false);
	return json;
}

static void
serve_comment(struct call *call, int64_t id)
{
	struct json_object *comment = numbered(call->forge->comments, "id", id);

	if (comment == NULL || strcmp(call->method, "PATCH") != 0) {
		refuse(call, 404, "Not Found");
		return;
	}
	json_set_string(comment, "body", text_of(call->body, "body"));
	answer(call, 200, json_object_get(comment));
}

/* The path without the beginning; NULL = it has another one. */
const char *
below(const char *path, const char *start)
{
	size_t len = strlen(start);

	return strncmp(path, start, len) == 0 ? path + len : NULL;
}

static void
serve_repo(struct call *call, const char *path)
{
	struct forge *forge = call->forge;
	struct json_object *issue;
	const char *rest;
	char *end;

	if (strcmp(call->method, "GET") != 0 &&
	    !may_write(forge, call->login)) {
		refuse(call, 403, "Must have write access");
	} else if (path[0] == '\0') {
		answer(call, 200, repo_json(call));
	} else if (strcmp(path, "/issues") == 0) {
		answer(call, 200, open_issues(call));
	} else if (strcmp(path, "/labels") == 0) {
		serve_labels(call);
	} else if (serve_pulls(call, path)) {
		;
	} else if ((rest = below(path, "/issues/comments/")) != NULL) {
		serve_comment(call, strtoll(rest, NULL, 10));
	} else if ((rest = below(path, "/issues/")) != NULL) {
		issue =
		    numbered(forge->issues, "number", strtoll(rest, &end, 10));
		if (issue == NULL)
			refuse(call, 404, "Not Found");
		else
			serve_issue(call, issue, end);
	} else if ((rest = below(path, "/collaborators/")) != NULL) {
		cleanup_free char *login = xstrndup(rest, strcspn(rest, "/"));

		serve_permission(call, login);
	} else {
		refuse(call, 404, "Not Found");
	}
}

static void
serve_api(struct call *call)
{
	const char *rest = below(call->path, "/repos/");

	if (below(call->path, "/blob/") != NULL) {
		serve_blob(call);
	} else if (call->login[0] == '\0') {
		refuse(call, 401, "Bad credentials");
	} else if (strcmp(call->path, "/graphql") == 0) {
		serve_graphql(call);
	} else if (strcmp(call->path, "/user") == 0) {
		answer(call, 200, user_json(call->forge, call->login));
	} else if (rest != NULL && strchr(rest, '/') != NULL) {
		rest = strchr(rest, '/') + 1;
		serve_repo(call, rest + strcspn(rest, "/"));
	} else {
		refuse(call, 404, "Not Found");
	}
}

/* --- /control --------------------------------------------------------- */

static void
control_edit(struct call *call)
{
	struct forge *forge = call->forge;
	struct json_object *issue = numbered(
	    forge->issues, "number", json_int_or(call->body, "number", 0));

	json_object_object_foreach(call->body, key, value)
	{
		if (strcmp(key, "labels") == 0)
			json_set(issue, key, json_object_new_array());
		else if (strcmp(key, "by") != 0)
			json_set(issue, key, json_object_get(value));
	}
	add_labels(forge, issue, member(call->body, "labels"),
	    text_of(call->body, "by"));
	answer(call, 200, json_object_get(issue));
}

static void
control(struct call *call, const char *what)
{
	struct forge *forge = call->forge;
	struct json_object *body = call->body;

	if (strcmp(what, "log") == 0) {
		answer(call, 200, json_object_get(forge->log));
	} else if (control_pulls(call, what)) {
		;
	} else if (strcmp(what, "state") == 0) {
		answer(call, 200, json_object_new_object());
		json_set(call->answer, "pulls", all_pulls(forge));
		json_set(
		    call->answer, "issues", json_object_get(forge->issues));
		json_set(
		    call->answer, "comments", json_object_get(forge->comments));
		json_set(
		    call->answer, "events", json_object_get(forge->events));
	} else if (strcmp(what, "user") == 0) {
		json_set(forge->users, text_of(body, "login"),
		    json_object_get(body));
		answer(call, 200, json_object_get(body));
	} else if (strcmp(what, "issue") == 0) {
		answer(call, 200, json_object_get(new_issue(forge, body)));
	} else if (strcmp(what, "edit") == 0) {
		control_edit(call);
	} else if (strcmp(what, "say") == 0) {
		answer(call, 200,
		    json_object_get(
			new_comment(forge, json_int_or(body, "number", 0),
			    text_of(body, "user"), text_of(body, "body"))));
	} else if (strcmp(what, "fault") == 0) {
		json_object_array_add(forge->faults, json_object_get(body));
		answer(call, 200, json_object_get(body));
	} else {
		refuse(call, 404, "no such control");
	}
}

/* The fault that this request meets, owned by the caller; NULL = none. */
static struct json_object *
find_fault(const struct call *call)
{
	struct json_object *faults = call->forge->faults;

	for (size_t i = 0; i < length(faults); i++) {
		struct json_object *fault = at(faults, i);
		int64_t after = json_int_or(fault, "after", 0);
		int64_t times = json_int_or(fault, "times", 1);

		if (times <= 0 ||
		    strstr(call->path, text_of(fault, "path")) == NULL ||
		    strcmp(json_string_or(fault, "method", call->method),
			call->method) != 0)
			continue;
		if (after > 0) {
			json_set_int(fault, "after", after - 1);
			continue;
		}
		json_set_int(fault, "times", times - 1);
		return json_object_get(fault);
	}
	return NULL;
}

/* --- requests --------------------------------------------------------- */

static void
call_free(struct call *call)
{
	loop_timer_free(call->timer);
	free(call->path);
	evhttp_clear_headers(&call->query);
	json_object_put(call->body);
	json_object_put(call->answer);
	json_object_put(call->fault);
	free(call->text);
	free(call);
}

static void
on_gone(struct evhttp_connection *connection, void *arg)
{
	(void)connection;
	call_free(arg);
}

static void
header(struct call *call, const char *key, const char *value)
{
	evhttp_add_header(
	    evhttp_request_get_output_headers(call->request), key, value);
}

static void
number_header(struct call *call, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, value);
	header(call, key, text);
}

/* GitHub's lists say whether they have changed. */
static void
add_etag(struct call *call, const struct buf *text)
{
	const char *known = evhttp_find_header(
	    evhttp_request_get_input_headers(call->request), "If-None-Match");
	uint64_t hash = 5381;
	char tag[32];

	if (call->forge->gitea || strcmp(call->method, "GET") != 0 ||
	    call->status != 200)
		return;
	for (size_t i = 0; i < text->len; i++)
		hash = hash * 33 + (unsigned char)text->data[i];
	snprintf(tag, sizeof tag, "W/\"%016" PRIx64 "\"", hash);
	header(call, "ETag", tag);
	if (known != NULL && strcmp(known, tag) == 0)
		call->status = 304;
}

static void
send_answer(void *arg)
{
	struct call *call = arg;
	struct evbuffer *out = evbuffer_new();
	cleanup_buf struct buf text = BUF_INIT;

	evhttp_connection_set_closecb(
	    evhttp_request_get_connection(call->request), NULL, NULL);
	if (json_bool_or(call->fault, "garbage", false))
		buf_adds(&text, "<html>[{\"number\": \"");
	else if (call->text != NULL)
		buf_adds(&text, call->text);
	else if (call->answer != NULL)
		json_print(call->answer, false, &text);
	header(call, "Content-Type", "application/json");
	add_etag(call, &text);
	if (call->status != 304)
		evbuffer_add(out, text.data, text.len);
	evhttp_send_reply(call->request, call->status, "", out);
	evbuffer_free(out);
	call_free(call);
}

static void
note(struct call *call)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "method", call->method);
	json_set_string(row, "path", call->path);
	json_set_string(row, "uri", evhttp_request_get_uri(call->request));
	json_set_string(row, "login", call->login);
	json_set(row, "body", json_object_get(call->body));
	json_set_int(row, "status", call->status);
	json_set_bool(row, "lost", json_bool_or(call->fault, "lost", false));
	json_object_array_add(call->forge->log, row);
}

static void
serve(struct call *call)
{
	int64_t status;

	call->fault = find_fault(call);
	status = json_int_or(call->fault, "status", 0);
	if (status != 0)
		refuse(call, (int)status, "a fault that the test wants");
	else
		serve_api(call);
	if (text_of(call->fault, "location")[0] != '\0')
		header(call, "Location", text_of(call->fault, "location"));
	if (json_int_or(call->fault, "retry_after", -1) >= 0)
		number_header(call, "Retry-After",
		    json_int_or(call->fault, "retry_after", 0));
	if (json_int_or(call->fault, "reset", -1) >= 0) {
		header(call, "X-RateLimit-Remaining", "0");
		number_header(call, "X-RateLimit-Reset",
		    json_int_or(call->fault, "reset", 0));
	}
	note(call);
}

static void
on_request(struct evhttp_request *request, void *arg)
{
	static const struct {
		enum evhttp_cmd_type type;
		const char *name;
	} methods[] = {
		{ EVHTTP_REQ_GET, "GET" },
		{ EVHTTP_REQ_POST, "POST" },
		{ EVHTTP_REQ_PATCH, "PATCH" },
		{ EVHTTP_REQ_PUT, "PUT" },
		{ EVHTTP_REQ_DELETE, "DELETE" },
	};
	struct forge *forge = arg;
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	struct evbuffer *input = evhttp_request_get_input_buffer(request);
	const char *path = evhttp_uri_get_path(uri), *token, *rest;
	const char *query = evhttp_uri_get_query(uri);
	size_t len = evbuffer_get_length(input);
	struct call *call = xcalloc(1, sizeof *call);

	call->forge = forge;
	call->request = request;
	call->method = "?";
	for (size_t i = 0; i < nitems(methods); i++)
		if (methods[i].type == evhttp_request_get_command(request))
			call->method = methods[i].name;
	evhttp_parse_query_str(query == NULL ? "" : query, &call->query);
	if (len > 0)
		json_parse((const char *)evbuffer_pullup(input, -1), len,
		    BODY_MAX, &call->body, NULL);
	token = evhttp_find_header(
	    evhttp_request_get_input_headers(request), "Authorization");
	token = token == NULL ?
	    NULL :
	    below(token, forge->gitea ? "token tok-" : "Bearer tok-");
	call->login = token == NULL ? "" : token;
	rest = below(path, forge->gitea ? "/api/v1" : "");
	call->path = xstrdup(rest == NULL ? path : rest);
	rest = below(path, "/control/");
	if (rest != NULL)
		control(call, rest);
	else
		serve(call);
	if (json_bool_or(call->fault, "lost", false)) {
		evhttp_connection_free(evhttp_request_get_connection(request));
		call_free(call);
		return;
	}
	evhttp_connection_set_closecb(
	    evhttp_request_get_connection(request), on_gone, call);
	if (json_int_or(call->fault, "slow", 0) == 0)
		send_answer(call);
	else
		call->timer = loop_after(forge->loop,
		    json_int_or(call->fault, "slow", 0), send_answer, call);
}

/* --- the program ------------------------------------------------------ */

static void
on_signal(int signo, void *arg)
{
	(void)signo;
	loop_stop(arg, 0);
}

static void
on_alone(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	loop_stop(arg, 0);
}

static int
listen_on(struct forge *forge, struct evhttp *http)
{
	struct evhttp_bound_socket *bound;
	struct sockaddr_in address;
	socklen_t len = sizeof address;

	evhttp_set_max_body_size(http, BODY_MAX);
	evhttp_set_allowed_methods(http,
	    EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH |
		EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE);
	evhttp_set_gencb(http, on_request, forge);
	bound = evhttp_bind_socket_with_handle(
	    http, "127.0.0.1", (unsigned short)forge->port);
	if (bound == NULL ||
	    getsockname(evhttp_bound_socket_get_fd(bound),
		(struct sockaddr *)&address, &len) == -1) {
		fputs("stub-forge: cannot listen on 127.0.0.1\n", stderr);
		return -1;
	}
	forge->port = ntohs(address.sin_port);
	printf("PORT %d\n", (int)forge->port);
	fflush(stdout);
	return 0;
}

static int
read_options(struct forge *forge, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--dialect") == 0)
			forge->gitea = strcmp(argv[i + 1], "gitea") == 0;
		else if (strcmp(argv[i], "--port") != 0 &&
		    strcmp(argv[i], "--with") != 0)
			return -1;
		else if (!text_parse_int(argv[i + 1], 0, INT32_MAX,
			     argv[i][2] == 'p' ? &forge->port : &forge->with))
			return -1;
	}
	return argc % 2 == 1 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct forge forge = { .ids = 100 };
	struct json_object **const lists[] = { &forge.issues, &forge.comments,
		&forge.events, &forge.faults, &forge.log, &forge.labels,
		&forge.pulls, &forge.checks, &forge.ci, &forge.reviews,
		&forge.lines };
	struct loop_signal *signals[2];
	struct loop_watch *watch = NULL;
	struct evhttp *http;
	int status = 1, fd;

	if (read_options(&forge, argc, argv) < 0) {
		fputs("usage: stub-forge --dialect github|gitea [--port N] "
		      "[--with PID]\n",
		    stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	forge.users = json_object_new_object();
	for (size_t i = 0; i < nitems(lists); i++)
		*lists[i] = json_object_new_array();
	forge.loop = loop_new();
	signals[0] =
	    loop_signal_new(forge.loop, SIGTERM, on_signal, forge.loop);
	signals[1] = loop_signal_new(forge.loop, SIGINT, on_signal, forge.loop);
	if (forge.with != 0) {
		fd = (int)syscall(SYS_pidfd_open, (pid_t)forge.with, 0);
		if (fd == -1) {
			perror("stub-forge: --with");
			return 1;
		}
		watch = loop_watch_new(
		    forge.loop, fd, LOOP_READ, on_alone, forge.loop);
	}
	http = evhttp_new(loop_event_base(forge.loop));
	if (listen_on(&forge, http) == 0)
		status = loop_run(forge.loop);
	evhttp_free(http);
	loop_watch_free(watch);
	loop_signal_free(signals[0]);
	loop_signal_free(signals[1]);
	loop_free(forge.loop);
	json_object_put(forge.users);
	json_object_put(forge.rules);
	free(forge.repo);
	for (size_t i = 0; i < nitems(lists); i++)
		json_object_put(*lists[i]);
	return status;
}
