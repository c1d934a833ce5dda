/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "child.h"
#include "curl.h"
#include "forge-http.h"
#include "git-ask.h"
#include "http-request.h"
#include "loop.h"
#include "settings.h"
#include "workspace.h"

#define GH_MS     (30 * 1000)
#define TOKEN_MAX 4096

struct forge_http {
	struct loop *loop;
	const struct forge_place *place;
	char *token_file, *body_file;
	int tries; /* that failed in a row */
	int64_t write_ms; /* when the last write ended, monotonic; 0 = never */
	/* The request: */
	forge_fn *fn; /* NULL = none */
	void *arg;
	const char *method;
	struct buf url, body;
	bool writes;
	bool log; /* not JSON, and perhaps elsewhere */
	bool elsewhere; /* asked there, without the token */
	char *known;
	struct buf token; /* cleared when it is over */
	struct loop_timer *timer;
	struct child *gh;
	struct curl *curl;
	struct err why;
};

static void
clear_token(struct forge_http *http)
{
	explicit_bzero(http->token.data, http->token.len);
	buf_truncate(&http->token, 0);
}

static void
hide_token(const struct forge_http *http, char *words)
{
	while (http->token.len > 0 &&
	    (words = strstr(words, http->token.data)) != NULL)
		memset(words, '*', http->token.len);
}

/* The owner may send the next one, or free it, in its callback. */
static void
finish(struct forge_http *http, struct forge_answer *answer)
{
	forge_fn *fn = http->fn;

	http->tries = answer->verdict == FORGE_AGAIN ? http->tries + 1 : 0;
	if (http->writes)
		http->write_ms = clock_mono_ms();
	hide_token(http, http->why.msg);
	clear_token(http);
	http->fn = NULL;
	answer->words = http->why.msg;
	fn(answer, http->arg);
}

/* There was no answer. Without a token, there can be none. */
static void
finish_failed(struct forge_http *http)
{
	finish(http,
	    &(struct forge_answer){
		.verdict = http->token.len > 0 ? FORGE_AGAIN : FORGE_REFUSED,
		.tag = "",
		.wait_ms =
		    forge_wait_ms(http->tries, -1, 0, clock_wall_ms()) });
}

static void
on_curl(const struct http_answer *answer, const struct err *err, void *arg);

static void fail_soon(struct forge_http *http);

/* Logs are elsewhere, which is followed once; that server gets no token. */
static bool
follow(struct forge_http *http, const struct http_answer *answer)
{
	cleanup_free char *url = NULL;

	if (!http->log || http->elsewhere || answer->location == NULL ||
	    answer->status < 300 || answer->status > 399)
		return false;
	url = xstrndup(answer->location, answer->location_len);
	if (!forge_is_private(url))
		return false;
	http->elsewhere = true;
	if (curl_start(http->loop,
		&(struct http_request){ .method = "GET",
		    .url = url,
		    .accept = "*/*",
		    .tail = true },
		http->body_file, NULL, NULL, on_curl, http, &http->curl,
		&http->why) < 0)
		fail_soon(http);
	return true;
}

static void
on_curl(const struct http_answer *answer, const struct err *err, void *arg)
{
	struct forge_http *http = arg;
	cleanup_json struct json_object *json = NULL;
	struct forge_answer said = { .tag = "" };
	bool limited;

	http->curl = NULL;
	if (answer == NULL) {
		http->why = *err;
		finish_failed(http);
		return;
	}
	if (follow(http, answer))
		return;
	json_parse(
	    answer->body, answer->body_len, CURL_ANSWER_MAX, &json, NULL);
	limited = answer->retry_after_s >= 0 || answer->reset_unix > 0;
	said.status = answer->status;
	said.verdict = forge_judge(answer->status, limited);
	said.tag = answer->tag;
	said.json = json;
	if (said.verdict == FORGE_GOOD && http->log) {
		said.text = answer->body;
		said.text_len = answer->body_len;
	} else if (said.verdict == FORGE_GOOD && json == NULL &&
	    (!http->writes || answer->body_len > 0)) {
		said.verdict = FORGE_AGAIN;
		err_set(&http->why, -EBADMSG,
		    "the answer of the forge is not JSON; is forge.url that "
		    "of its API?");
	} else if (said.verdict != FORGE_GOOD) {
		cleanup_free char *words =
		    forge_line(json_string_or(json, "message", ""), 4096);

		/* A server may repeat the token in its words. */
		hide_token(http, words);
		err_set(&http->why, -EIO, "the forge answered %d%s%.150s%s",
		    answer->status, words[0] != '\0' ? ": " : "", words,
		    answer->status == 401 || answer->status == 403 ?
			"; check forge.token_file and what its token may do" :
			"");
	}
	if (said.verdict == FORGE_AGAIN)
		said.wait_ms = forge_wait_ms(http->tries, answer->retry_after_s,
		    answer->reset_unix, clock_wall_ms());
	finish(http, &said);
}

static void
on_failed(void *arg)
{
	struct forge_http *http = arg;

	loop_timer_free(take_ptr(&http->timer));
	finish_failed(http);
}

/* What could not begin ends from the loop, too. */
static void
fail_soon(struct forge_http *http)
{
	http->timer = loop_after(http->loop, 1, on_failed, http);
}

static void
ask(struct forge_http *http)
{
	bool github = http->place->dialect == FORGE_GITHUB;
	struct buf header = BUF_INIT;
	struct http_request request = { .method = http->method,
		.url = http->url.data,
		.accept = github ? "application/vnd.github+json" : NULL,
		.known = http->known,
		.tail = http->log };

	buf_addf(
	    &header, "%s %s", github ? "Bearer" : "token", http->token.data);
	request.authorization = header.data;
	if (curl_start(http->loop, &request, http->body_file, &http->body, NULL,
		on_curl, http, &http->curl, &http->why) < 0)
		fail_soon(http);
	explicit_bzero(header.data, header.len);
	buf_release(&header);
}

static void
on_gh(const struct child_result *result, void *arg)
{
	struct forge_http *http = arg;
	struct buf text = BUF_INIT;

	http->gh = NULL;
	if (!child_succeeded(result)) {
		err_set(&http->why, -ENOENT,
		    "forge.token_file is not set, and `gh auth token` has no "
		    "token");
		finish_failed(http);
		return;
	}
	buf_add(&text, result->out.head.data, result->out.head.len);
	if (curl_token_take(
		&text, "`gh auth token`", &http->token, &http->why) < 0)
		finish_failed(http);
	else
		ask(http);
	buf_release(&text);
}

static void
begin(void *arg)
{
	struct forge_http *http = arg;
	/* The token of another server is none of this one's business. */
	cleanup_free char *host = forge_place_host(http->place);
	const char *const argv[] = { "gh", "auth", "token", "--hostname", host,
		NULL };
	struct child_spec spec = {
		.argv = argv, .deadline_ms = GH_MS, .output_max = TOKEN_MAX
	};

	loop_timer_free(take_ptr(&http->timer));
	if (http->token_file == NULL) {
		if (child_spawn(http->loop, &spec, on_gh, http, &http->gh,
			&http->why) < 0)
			fail_soon(http);
	} else if (curl_token(http->token_file, &http->token, &http->why) < 0) {
		fail_soon(http);
	} else {
		ask(http);
	}
}

void
forge_http_send(struct forge_http *http, const struct forge_request *request,
    const char *known, forge_fn *fn, void *arg)
{
	int64_t rest = 0;

	if (http->fn != NULL)
		fatalx("a second request to a forge at the same time");
	http->fn = fn;
	http->arg = arg;
	http->why = (struct err){ 0 };
	xstrset(&http->known, known);
	buf_truncate(&http->url, 0);
	buf_truncate(&http->body, 0);
	http->method =
	    forge_request(http->place, request, &http->url, &http->body);
	http->writes = forge_ask_writes(request->what);
	http->log = request->what == FORGE_ASK_LOG;
	http->elsewhere = false;
	if (http->writes && http->write_ms != 0)
		rest = http->write_ms + FORGE_WRITE_MS - clock_mono_ms();
	http->timer = loop_after(http->loop, rest > 0 ? rest : 0, begin, http);
}

struct forge_http *
forge_http_new(struct loop *loop, const struct forge_place *place,
    const char *token_file, const char *body_file)
{
	struct forge_http *http = xcalloc(1, sizeof *http);

	*http = (struct forge_http){ .loop = loop,
		.place = place,
		.token_file = token_file == NULL ? NULL : xstrdup(token_file),
		.body_file = xstrdup(body_file),
		.url = BUF_INIT,
		.body = BUF_INIT,
		.token = BUF_INIT };
	return http;
}

void
forge_http_free(struct forge_http *http)
{
	if (http == NULL)
		return;
	if (http->gh != NULL)
		child_abandon(http->gh);
	curl_abandon(http->curl);
	loop_timer_free(http->timer);
	clear_token(http);
	buf_release(&http->token);
	buf_release(&http->url);
	buf_release(&http->body);
	free(http->known);
	free(http->token_file);
	free(http->body_file);
	free(http);
}

/* --- before work begins -------------------------------------------------- */

/* Is there one? It is not shown. */
static int
find_token(const struct workspace *ws, const struct settings *settings,
    const struct forge_place *place, struct err *err)
{
	const char *set = settings_string(settings, "forge.token_file");
	cleanup_free char *file =
	    set[0] != '\0' ? workspace_resolve(ws, set) : NULL;
	struct buf token = BUF_INIT;
	int r;

	if (file == NULL && place->dialect == FORGE_GITHUB) {
		cleanup_free char *host = forge_place_host(place);
		const char *const argv[] = { "gh", "auth", "token",
			"--hostname", host, NULL };
		struct child_spec spec = { .argv = argv,
			.deadline_ms = 10 * 1000 };
		cleanup_child_result struct child_result result;

		/* Does `gh` have a token? It is not shown. */
		if (child_run(&spec, &result, NULL) == 0 &&
		    child_succeeded(&result))
			return 0;
		return err_set(err, -ENOENT,
		    "forge.token_file is not set, and `gh auth token` has no token "
		    "for %s",
		    host);
	}
	if (file == NULL)
		return err_set(err, -EINVAL, "forge.token_file is not set");
	r = curl_token(file, &token, err);
	explicit_bzero(token.data, token.len);
	buf_release(&token);
	return r;
}

int
forge_find(const struct workspace *ws, const struct settings *settings,
    struct forge_place *ret_place, struct err *err)
{
	static const char *const args[] = { "remote", "get-url", "origin",
		NULL };
	const char *kind = settings_string(settings, "forge.kind");
	cleanup_buf struct buf origin = BUF_INIT;
	enum forge_dialect dialect;
	int r;

	if (git_ask(ws->root, args, &origin, NULL) != 0)
		return err_set(err, -ENOENT,
		    "issues are claimed, and pull requests made, at the remote "
		    "origin, which this repository does not have");
	dialect = forge_dialect_of(
	    settings_string(settings, "auto.source"), kind, origin.data);
	if (dialect == FORGE_NONE)
		return err_set(err, -EINVAL,
		    "auto.land is pull-request, and it is not known what "
		    "origin is: set forge.kind to github or gitea");
	r = forge_place_init(ret_place, dialect,
	    settings_string(settings, "forge.url"),
	    settings_string(settings, "forge.repo"), origin.data, err);
	return r < 0 ? r : find_token(ws, settings, ret_place, err);
}
