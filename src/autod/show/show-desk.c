/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "api.h"
#include "auto.h"
#include "book-history.h"
#include "child.h"
#include "core.h"
#include "emit.h"
#include "http-request.h"
#include "http-server.h"
#include "person.h"
#include "rpc.h"
#include "schema.h"
#include "serve.h"
#include "settings.h"
#include "show.h"
#include "sibling.h"
#include "state.h"
#include "task.h"
#include "tmux.h"
#include "view.h"
#include "workspace.h"

/* What the page may read: GET /api/NAME. */
static const struct {
	const char *name, *method;
} page_reads[] = {
	{ "review", "review.get" },
	{ "charts", "charts.get" },
	{ "replay", "replay.get" },
	{ "screen", "screen.get" },
};

/* What a person may do there, in work mode: POST /api/METHOD, with the
 * parameters as the body. The words, and the parameter that says whom it is
 * about, are for the event. */
static const struct page_change {
	const char *method, *words, *about;
} page_changes[] = {
	{ "answer", "answer", "ask" }, /* llmc answer knows how */
	{ "worker.pause", "pause", "worker" },
	{ "auto.resume", "resume", "worker" },
	{ "worker.accept", "accept", "worker" },
	{ "worker.reject", "send back the work of", "worker" },
	{ "landing.revert", "revert", "commit" },
	{ "task.add", "add the task", "text" },
	{ "task.retry", "retry", "task" },
	{ "task.drop", "drop", "task" },
	{ "task.abort", "abort", "task" },
	{ "task.priority", "change the priority of", "task" },
	{ "overseer.goal.create", "add the goal", "title" },
	{ "overseer.goal.pause", "pause the goal", "goal" },
	{ "overseer.goal.resume", "resume the goal", "goal" },
	{ "overseer.goal.cancel", "cancel the goal", "goal" },
};

#define ABOUT_MAX        80 /* bytes */
#define CLICK_ID_MIN     16 /* characters: nobody else has the same */
#define CODES_MAX        8
#define CODE_MS          ((int64_t)10 * 60 * 1000)
#define CLICKS_MAX       64 /* that are remembered */
#define CLICK_ANSWER_MAX 4096 /* bytes of an answer, for who asks again */

/* A POST, until so many others have come: the same one again, which a browser
 * or something on the way may send, is answered as before, and not done. */
struct click {
	struct show_desk *desk; /* NULL = it is freed */
	const struct page_change *change;
	char id[HTTP_BEARER_SIZE];
	struct buf body;
	char *about;
	struct http_exchange *exchange; /* NULL = it was answered */
	struct child *child; /* llmc answer; NULL = none */
	int status; /* 0 = it is being done */
	struct buf answer;
};

struct show_desk {
	struct show_floor *show;
	struct click *clicks[CLICKS_MAX];
	size_t next;
	struct {
		char code[WEB_TOKEN_CHARS + 1];
		int64_t until_ms; /* monotonic */
	} codes[CODES_MAX];
	size_t next_code;
	struct web_login logins[WEB_LOGINS_MAX]; /* the oldest first */
	size_t login_count;
};

static int
error_status(int code)
{
	switch (code) {
	case RPC_INVALID_PARAMS:
		return 400;
	case RPC_METHOD_NOT_FOUND:
	case API_UNKNOWN:
	case API_E_UNKNOWN:
	case API_E_NOT_FOUND:
		return 404;
	case API_REFUSED:
	case API_E_UNAUTHORIZED:
		return 403;
	case RPC_INTERNAL_ERROR:
		return 500;
	}
	/* It is not so now: the words say why. */
	return 409;
}

/* Returns the status. An error is its words, and its output below them. */
static int
answer_text(
    struct json_object *result, int code, const char *message, struct buf *out)
{
	const char *output = json_string_or(result, "output", NULL);

	if (message == NULL) {
		if (result != NULL)
			json_print(result, false, out);
		else
			buf_adds(out, "null");
		return 200;
	}
	buf_adds(out, message);
	if (output != NULL)
		buf_addf(out, "\n%s", output);
	return error_status(code);
}

/* What did not work is text, for people. */
static void
reply(struct http_exchange *exchange, int status, const struct buf *text)
{
	const struct web_content content = {
		.type = status == 200 ? web_path_type(WEB_API) :
					"text/plain; charset=utf-8",
		.len = text->len,
	};

	http_reply(exchange, status, &content, text->data);
}

static void
refuse(struct http_exchange *exchange, int status, const char *words)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, words);
	reply(exchange, status, &text);
}

/* --- reads ------------------------------------------------------------ */

static void
on_read(struct json_object *result, int code, const char *message, void *arg)
{
	cleanup_buf struct buf text = BUF_INIT;
	int status = answer_text(result, code, message, &text);

	reply(arg, status, &text);
}

/* A query has texts only: what the method takes says what they mean. */
static int
set_param(struct json_object *params, const struct schema *schema,
    const char *name, const char *value)
{
	const struct schema_field *f = schema->fields;
	const char *problem = NULL;
	long long number;

	while (f->name != NULL && strcmp(f->name, name) != 0)
		f++;
	if (f->name == NULL || json_object_object_get_ex(params, name, NULL))
		return -EINVAL;
	if (f->type == SCHEMA_INT) {
		number = strtonum(value, INT64_MIN, INT64_MAX, &problem);
		if (problem != NULL)
			return -EINVAL;
		json_set_int(params, name, number);
	} else if (f->type == SCHEMA_BOOL)
		json_set_bool(params, name, strcmp(value, "true") == 0);
	else
		json_set_string(params, name, value);
	return 0;
}

void
show_desk_read(struct show_floor *show, struct http_exchange *exchange,
    const struct http_head *request)
{
	const char *name = request->target + sizeof WEB_API_PREFIX - 1;
	size_t len = strcspn(name, "?");
	const char *query = name[len] == '?' ? name + len + 1 : "";
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_buf struct buf key = BUF_INIT, value = BUF_INIT;
	const struct api_method *method = NULL;
	int r;

	for (size_t i = 0; i < nitems(page_reads); i++)
		if (strlen(page_reads[i].name) == len &&
		    memcmp(page_reads[i].name, name, len) == 0)
			method = api_find(page_reads[i].method);
	if (method == NULL) {
		http_refuse(exchange, 404);
		return;
	}
	while ((r = web_query_next(&query, &key, &value)) == 1)
		if (set_param(params, method->params, key.data, value.data) <
		    0) {
			r = -EINVAL;
			break;
		}
	if (r < 0)
		http_refuse(exchange, 400);
	else
		serve_person(
		    show->core, method->name, params, on_read, exchange);
}

/* --- changes ---------------------------------------------------------- */

static void
click_free(struct click *click)
{
	if (click == NULL)
		return;
	if (click->child != NULL)
		child_abandon(click->child);
	free(click->about);
	buf_release(&click->body);
	buf_release(&click->answer);
	free(click);
}

/* It is done, or refused: text is what the page is told. */
static void
click_end(struct click *click, int status, const struct buf *text)
{
	struct show_desk *desk = click->desk;
	cleanup_buf struct buf words = BUF_INIT;

	if (click->exchange != NULL)
		reply(take_ptr(&click->exchange), status, text);
	click->status = status;
	if (desk == NULL) { /* the daemon ends */
		click_free(click);
		return;
	}
	if (text->len <= CLICK_ANSWER_MAX)
		buf_add(&click->answer, text->data, text->len);
	else
		buf_adds(&click->answer, status == 200 ? "{}" : "It failed.");
	if (status != 200)
		return;
	buf_adds(&words, click->change->words);
	if (click->about != NULL)
		buf_addf(&words, " %s", click->about);
	EMIT(desk->show->core, EVENT_WEB_DONE, .text = words.data);
}

static void
on_done(struct json_object *result, int code, const char *message, void *arg)
{
	cleanup_buf struct buf text = BUF_INIT;
	int status = answer_text(result, code, message, &text);

	click_end(arg, status, &text);
}

/* llmc answer says what it did, or why it could not. */
static void
on_answered(const struct child_result *result, void *arg)
{
	struct click *click = arg;
	bool done = child_succeeded(result);
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf said = BUF_INIT, text = BUF_INIT;

	click->child = NULL;
	child_output_text(done ? &result->out : &result->err, &said);
	while (said.len > 0 && said.data[said.len - 1] == '\n')
		buf_truncate(&said, said.len - 1);
	if (done) {
		json_set_string(json, "message", said.data);
		json_print(json, false, &text);
	} else if (said.len > 0)
		buf_adds(&text, said.data);
	else
		child_result_describe(result, &text);
	click_end(click, done ? 200 : 409, &text);
}

/* Two people, or two pages, answer the same: the second one is told. */
static bool
is_being_answered(const struct show_desk *desk, const struct click *mine)
{
	for (size_t i = 0; i < CLICKS_MAX; i++) {
		const struct click *c = desk->clicks[i];

		if (c != NULL && c != mine && c->child != NULL &&
		    c->about != NULL && mine->about != NULL &&
		    strcmp(c->about, mine->about) == 0)
			return true;
	}
	return false;
}

static void
answer_ask(struct click *click, struct json_object *params)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	if (click->about == NULL)
		buf_adds(&text, "params.ask is missing");
	else if (is_being_answered(click->desk, click))
		buf_addf(&text, "%s is being answered by somebody else",
		    click->about);
	else if (person_answer(click->desk->show->core, params, on_answered,
		     click, &click->child, &err) < 0)
		buf_adds(&text, err.msg);
	if (text.len > 0)
		click_end(click, 409, &text);
}

/* A place for another one; NULL = all are being done. */
static struct click **
click_place(struct show_desk *desk)
{
	for (size_t i = 0; i < CLICKS_MAX; i++) {
		struct click **at = &desk->clicks[desk->next++ % CLICKS_MAX];

		if (*at != NULL && (*at)->status == 0)
			continue;
		click_free(take_ptr(at));
		return at;
	}
	return NULL;
}

static const struct page_change *
find_change(const char *method)
{
	for (size_t i = 0; i < nitems(page_changes); i++)
		if (strcmp(page_changes[i].method, method) == 0)
			return &page_changes[i];
	return NULL;
}

/* What a click is about, in a line of the log. */
static char *
about_of(struct json_object *params, const char *member)
{
	const char *text = json_string_or(params, member, NULL);
	cleanup_buf struct buf line = BUF_INIT;

	if (text == NULL || *text == '\0')
		return NULL;
	text_add_line(&line, text, text_cut(text, strlen(text), ABOUT_MAX));
	return xstrdup(line.data);
}

void
show_desk_change(struct show_desk *desk, struct http_exchange *exchange,
    const struct http_head *request)
{
	const struct page_change *change =
	    find_change(request->target + sizeof WEB_API_PREFIX - 1);
	cleanup_json struct json_object *params = NULL;
	struct click **at, *click;
	size_t len;
	const char *body = http_body(exchange, &len);

	if (!show_desk_works(desk)) {
		refuse(exchange, 403,
		    "the page only shows, as web.mode says; to work from it: "
		    "llmc config set web.mode work");
		return;
	}
	for (size_t i = 0; i < CLICKS_MAX; i++) {
		click = desk->clicks[i];
		if (click == NULL || strcmp(click->id, request->click) != 0)
			continue;
		if (click->change != change || click->body.len != len ||
		    memcmp(click->body.data, body, len) != 0)
			refuse(exchange, 409,
			    "the number of this request was used for another "
			    "one; send it with a number of its own");
		else if (click->status == 0)
			refuse(exchange, 409, "this is being done already");
		else
			reply(exchange, click->status, &click->answer);
		return;
	}
	if (change == NULL)
		http_refuse(exchange, 404);
	else if (strlen(request->click) < CLICK_ID_MIN ||
	    json_parse(body, len, HTTP_BODY_MAX, &params, NULL) < 0 ||
	    !json_object_is_type(params, json_type_object))
		http_refuse(exchange, 400);
	else if ((at = click_place(desk)) == NULL)
		refuse(exchange, 503,
		    "too much is being done from here; try again");
	else {
		click = xcalloc(1, sizeof *click);
		*at = click;
		click->desk = desk;
		click->change = change;
		strlcpy(click->id, request->click, sizeof click->id);
		buf_init(&click->body);
		buf_add(&click->body, body, len);
		click->about = about_of(params, change->about);
		click->exchange = exchange;
		buf_init(&click->answer);
		if (strcmp(change->method, "answer") == 0)
			answer_ask(click, params);
		else
			serve_person(desk->show->core, change->method, params,
			    on_done, click);
	}
}

/* --- logins ------------------------------------------------------------ */

void
show_desk_code(struct show_desk *desk, char *ret_code)
{
	size_t i = desk->next_code++ % CODES_MAX;

	web_files_new_token(desk->codes[i].code);
	desk->codes[i].until_ms = clock_mono_ms() + CODE_MS;
	memcpy(ret_code, desk->codes[i].code, WEB_TOKEN_CHARS + 1);
}

static bool
take_code(struct show_desk *desk, const char *given)
{
	for (size_t i = 0; i < CODES_MAX; i++)
		if (web_token_equal(given, desk->codes[i].code) &&
		    clock_mono_ms() < desk->codes[i].until_ms) {
			desk->codes[i].code[0] = '\0';
			return true;
		}
	return false;
}

bool
show_desk_knows(const char *session, void *arg)
{
	const struct show_desk *desk = arg;
	bool known = false;

	for (size_t i = 0; i < desk->login_count; i++)
		known |= web_token_equal(session, desk->logins[i].session) &&
		    clock_wall_ms() / 1000 < desk->logins[i].until_unix;
	return known;
}

/* One that cannot be kept would be gone with this daemon: it is refused. */
void
show_desk_login(struct show_desk *desk, struct http_exchange *exchange)
{
	struct web_login *login;
	cleanup_json struct json_object *params = NULL;
	struct web_content content = { .type = web_path_type(WEB_LOGIN),
		.len = 4 };
	struct err err = { 0 };
	size_t len;
	const char *body = http_body(exchange, &len);

	if (json_parse(body, len, HTTP_BODY_MAX, &params, NULL) < 0 ||
	    !take_code(desk, json_string_or(params, "code", ""))) {
		refuse(exchange, 401,
		    "this address was used already, or is too old; get "
		    "another one with: llmc web");
		return;
	}
	if (desk->login_count == WEB_LOGINS_MAX)
		memmove(desk->logins, desk->logins + 1,
		    --desk->login_count * sizeof *desk->logins);
	login = &desk->logins[desk->login_count++];
	web_files_new_token(login->session);
	login->until_unix = clock_wall_ms() / 1000 + WEB_SESSION_S;
	if (web_files_put_logins(desk->show->core->workspace, desk->logins,
		desk->login_count, &err) < 0) {
		desk->login_count--;
		refuse(exchange, 500, err.msg);
		return;
	}
	content.session = login->session;
	http_reply(exchange, 200, &content, "null");
	EMIT(desk->show->core, EVENT_WEB_DONE,
	    .text = "a login, which lasts 30 days");
}

void
show_desk_forget(struct show_desk *desk)
{
	memset(desk->codes, 0, sizeof desk->codes);
	if (desk->login_count == 0)
		return;
	desk->login_count = 0;
	web_files_put_logins(desk->show->core->workspace, NULL, 0, NULL);
}

bool
show_desk_works(const struct show_desk *desk)
{
	return strcmp(settings_string(desk->show->core->settings, "web.mode"),
		   "work") == 0;
}

struct show_desk *
show_desk_new(struct show_floor *show)
{
	struct show_desk *desk = xcalloc(1, sizeof *desk);

	desk->show = show;
	desk->login_count =
	    web_files_logins(show->core->workspace, desk->logins);
	return desk;
}

void
show_desk_free(struct show_desk *desk)
{
	if (desk == NULL)
		return;
	for (size_t i = 0; i < CLICKS_MAX; i++) {
		struct click *click = desk->clicks[i];

		if (click == NULL)
			continue;
		if (click->exchange != NULL)
			http_refuse(take_ptr(&click->exchange), 503);
		click->desk = NULL;
		/* What a floor does is still answered; llmc goes on alone. */
		if (click->child != NULL) {
			child_release(take_ptr(&click->child));
			click_free(click);
		} else if (click->status != 0)
			click_free(click);
	}
	free(desk);
}

/* --- replay.get, charts.get, screen.get --------------------------------- */

/* How the work on a task went: conversations are long files, so `llmc replay`
 * reads them, and its answer is passed on. The data of the pictures (charts.h):
 * `autod --look` reads the book for it. What is on a worker's screen now;
 * nothing is read while nobody asks. */

#define AT_ONCE_MAX 4
#define SCREENS_MAX 16
#define DEADLINE_MS 30000

/* What a child makes for a caller: the JSON that it prints. */
enum made {
	MADE_REPLAY,
	MADE_CHARTS,
	MADE_COUNT
};

static const struct {
	size_t most; /* bytes */
	const char *before, *after; /* why it failed stands in between */
	bool says; /* on its standard error, why */
	const char *busy, *ended;
	enum api_error ended_code;
} makes[MADE_COUNT] = {
	[MADE_REPLAY] = { RPC_LINE_MAX, "llmc replay ",
	    "; try it in a terminal", false,
	    "4 others are being read; try again in a moment",
	    "the daemon is stopping", API_BUSY },
	[MADE_CHARTS] = { (size_t)8 * 1024 * 1024, "the charts were not made: ",
	    "", true, "charts are being made; try again in a moment",
	    "the daemon ended before the charts were made", API_FAILED },
};

struct made_call {
	LIST_ENTRY(made_call) entry;
	struct show_replay *replay;
	enum made what;
	struct server_call *call;
	struct child *child;
};

/* A call that waits for tmux. */
struct screen_call {
	LIST_ENTRY(screen_call) entry;
	struct show_replay *replay;
	struct server_call *call;
	char *worker;
};

struct show_replay {
	struct show_floor *show;
	struct core *core;
	LIST_HEAD(screen_calls, screen_call) screens;
	int screen_count;
	LIST_HEAD(made_calls, made_call) calls;
	int counts[MADE_COUNT];
};

static void
made_free(struct made_call *c)
{
	LIST_REMOVE(c, entry);
	c->replay->counts[c->what]--;
	free(c);
}

static void
on_made(const struct child_result *result, void *arg)
{
	struct made_call *c = arg;
	cleanup_buf struct buf text = BUF_INIT, why = BUF_INIT;
	struct json_object *answer = NULL;
	size_t most = makes[c->what].most;
	struct err err = { 0 };

	child_output_text(&result->out, &text);
	if (!child_succeeded(result) || result->out.total > most) {
		child_result_describe(result, &why);
		if (makes[c->what].says) {
			buf_adds(&why, ": ");
			child_output_text(&result->err, &why);
		}
	} else if (json_parse(text.data, text.len, most, &answer, &err) < 0) {
		buf_adds(&why, err.msg);
	}
	if (answer != NULL)
		serve_show(c->call, answer);
	else
		serve_refuse(c->call, API_FAILED, "%s%s%s",
		    makes[c->what].before, why.data, makes[c->what].after);
	made_free(c);
}

/* The call is answered when the program has ended. */
static void
make(struct show_replay *replay, enum made what, struct server_call *call,
    const char *const *argv, const struct buf *input)
{
	struct core *core = replay->core;
	struct child_spec spec = { .argv = argv,
		.cwd = core->workspace->root,
		.deadline_ms = DEADLINE_MS,
		.output_max = makes[what].most };
	struct made_call *c;
	struct err err = { 0 };

	if (input != NULL) {
		spec.input = input->data;
		spec.input_len = input->len;
	}
	if (replay->counts[what] == AT_ONCE_MAX) {
		serve_refuse(call, API_BUSY, "%s", makes[what].busy);
		return;
	}
	c = xcalloc(1, sizeof *c);
	c->replay = replay;
	c->what = what;
	c->call = call;
	LIST_INSERT_HEAD(&replay->calls, c, entry);
	replay->counts[what]++;
	if (child_spawn(core->loop, &spec, on_made, c, &c->child, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		made_free(c);
	}
}

static void
on_replay_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_replay *replay = arg;
	struct core *core = replay->core;
	const char *name = json_string_or(params, "task", "");
	bool known = state_find(&core->state, name) != NULL ||
	    state_task(&core->state, name) != NULL;
	cleanup_free char *from =
	    xasprintf("%" PRId64, json_int_or(params, "from", 0));
	const char *const argv[] = { core->llmc, "--root",
		core->workspace->root, "--json", "replay", name, "--from", from,
		NULL };

	if (!known) {
		struct task *filed = book_find_task(core->book, name);

		known = filed != NULL;
		task_free(filed);
	}
	if (known)
		make(replay, MADE_REPLAY, call, argv, NULL);
	else
		serve_refuse(call, API_UNKNOWN,
		    "there is no task %s; see: llmc task list", name);
}

/* autod --look has what only this daemon knows on its standard input. */
static void
on_charts_get(void *arg, struct server_call *call, struct json_object *params)
{
	static const char *const sections[] = { "head", "workers", "tasks",
		"budget" };
	struct show_replay *replay = arg;
	cleanup_free char *autod = sibling_find("autod");
	const char *const argv[] = { autod, "--root",
		replay->core->workspace->root, "--look", "charts", NULL };
	cleanup_json struct json_object *asked = json_object_new_object();
	cleanup_json struct json_object *list = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;

	if (autod == NULL) {
		serve_refuse(call, API_FAILED,
		    "cannot find autod; install it with: make install");
		return;
	}
	for (size_t i = 0; i < nitems(sections); i++)
		json_object_array_add(
		    list, json_object_new_string(sections[i]));
	view_pick(
	    asked, params, (const char *const[]){ "to_ms", "worker", NULL });
	if (json_object_object_get_ex(params, "from_ms", NULL))
		json_set_int(
		    asked, "since_ms", json_int_or(params, "from_ms", 0));
	json_set_bool(asked, "active", replay->show->mode->active);
	json_set_int(asked, "now_ms", clock_wall_ms());
	json_set(asked, "view", show_snapshot(replay->show, list));
	json_print(asked, false, &text);
	make(replay, MADE_CHARTS, call, argv, &text);
}

/* --- the screen --------------------------------------------------------- */

static void
screen_free(struct screen_call *c)
{
	LIST_REMOVE(c, entry);
	c->replay->screen_count--;
	free(c->worker);
	free(c);
}

static void
on_screen(const char *text, const struct err *err, void *arg)
{
	struct screen_call *c = arg;
	const struct worker *w = state_find(&c->replay->core->state, c->worker);
	cleanup_buf struct buf shown = BUF_INIT;
	struct json_object *answer;

	if (err != NULL || w == NULL) {
		serve_refuse(c->call, API_STATUS, "%s has no screen now%s%s",
		    c->worker, err != NULL ? ": " : "",
		    err != NULL ? err->msg : "");
	} else {
		text_add_visible(&shown, text, strlen(text), true);
		answer = json_object_new_object();
		json_set_string(answer, "worker", w->name);
		json_set_string(
		    answer, "status", worker_status_name(w->status));
		json_set_string(answer, "task", w->task);
		json_set_string(answer, "text", shown.data);
		serve_show(c->call, answer);
	}
	screen_free(c);
}

static void
on_screen_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_replay *replay = arg;
	const char *name = json_string_or(params, "worker", "");
	struct agent *agent = fleet_find(replay->show->fleet, name);
	struct screen_call *c;

	if (agent == NULL) {
		fleet_refuse_unknown(replay->show->fleet, call, name);
		return;
	}
	if (agent->session == NULL) {
		serve_refuse(call, API_STATUS, "%s is %s, and has no screen",
		    name, worker_status_name(agent->worker->status));
		return;
	}
	if (replay->screen_count >= SCREENS_MAX) {
		serve_refuse(call, API_BUSY,
		    "%d others look at screens just now; try again in a moment",
		    SCREENS_MAX);
		return;
	}
	c = xcalloc(1, sizeof *c);
	c->replay = replay;
	c->call = call;
	c->worker = xstrdup(name);
	LIST_INSERT_HEAD(&replay->screens, c, entry);
	replay->screen_count++;
	tmux_capture(
	    replay->core->tmux, session_name(agent->session), 0, on_screen, c);
}

struct show_replay *
show_replay_new(struct show_floor *show)
{
	struct show_replay *replay = xcalloc(1, sizeof *replay);

	replay->show = show;
	replay->core = show->core;
	LIST_INIT(&replay->screens);
	LIST_INIT(&replay->calls);
	serve_handle(show->core, "screen.get", on_screen_get, replay);
	serve_handle(show->core, "replay.get", on_replay_get, replay);
	serve_handle(show->core, "charts.get", on_charts_get, replay);
	return replay;
}

void
show_replay_free(struct show_replay *replay)
{
	struct screen_call *screen;
	struct made_call *c;

	if (replay == NULL)
		return;
	while ((screen = LIST_FIRST(&replay->screens)) != NULL) {
		tmux_forget(replay->core->tmux, screen);
		serve_refuse(screen->call, API_BUSY, "the daemon is stopping");
		screen_free(screen);
	}
	while ((c = LIST_FIRST(&replay->calls)) != NULL) {
		child_abandon(c->child);
		serve_refuse(c->call, makes[c->what].ended_code, "%s",
		    makes[c->what].ended);
		made_free(c);
	}
	free(replay);
}
