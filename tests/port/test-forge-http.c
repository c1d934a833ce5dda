/* SPDX-License-Identifier: ISC */

/* Requests to a forge, with a stub of one: what reaches it, and its faults. */
#include "forge-stand.h"
#include "forge-http.h"
#include "loop.h"

#define PATIENCE_MS (60 * 1000)

static const char *const dialects[] = { "github", "gitea" };

struct scene {
	struct loop *loop;
	struct forge_place place;
	struct forge_http *http;
	const char *token_file;
	/* The last answer: */
	bool over;
	enum forge_verdict verdict;
	int status;
	int64_t wait_ms;
	struct json_object *json;
	char words[256], tag[128];
};

static void
on_answer(const struct forge_answer *answer, void *arg)
{
	struct scene *s = arg;

	s->over = true;
	s->verdict = answer->verdict;
	s->status = answer->status;
	s->wait_ms = answer->wait_ms;
	json_object_put(s->json);
	s->json = json_object_get(answer->json);
	strlcpy(s->words, answer->words, sizeof s->words);
	strlcpy(s->tag, answer->tag, sizeof s->tag);
	loop_stop(s->loop, 0);
}

static void
on_patience(void *arg)
{
	loop_stop(arg, 1);
}

static void
ask(struct scene *s, const struct forge_request *request, const char *known)
{
	struct loop_timer *timer =
	    loop_after(s->loop, PATIENCE_MS, on_patience, s->loop);

	s->over = false;
	forge_http_send(s->http, request, known, on_answer, s);
	loop_run(s->loop);
	loop_timer_free(timer);
	ck_assert(s->over);
}

static void
begin(struct scene *s, int dialect)
{
	const char *url = forge_stand(dialects[dialect]);

	*s = (struct scene){ .loop = loop_new() };
	ck_assert_int_eq(forge_place_init(&s->place,
			     dialect == 0 ? FORGE_GITHUB : FORGE_GITEA, url,
			     "me/work", NULL, NULL),
	    0);
	s->token_file = unit_path("token");
	ck_assert_int_eq(
	    file_replace(s->token_file, "tok-me\n", 7, 0600, NULL), 0);
	s->http = forge_http_new(
	    s->loop, &s->place, s->token_file, unit_path("body"));
	forge_tell("user", "{\"login\":\"me\",\"permission\":\"admin\"}");
	forge_tell("user", "{\"login\":\"ann\",\"permission\":\"write\"}");
	forge_tell("issue",
	    "{\"title\":\"One\",\"body\":\"text\",\"user\":\"ann\","
	    "\"labels\":[\"llmc\"],\"by\":\"ann\"}");
}

static void
end(struct scene *s)
{
	forge_http_free(s->http);
	forge_place_release(&s->place);
	json_object_put(s->json);
	loop_free(s->loop);
	ck_assert(!file_exists(unit_path("body")));
}

TEST_ROWS(everything_that_is_asked_is_answered, 2)
{
	struct scene s;
	struct forge_issues issues = { 0 };
	struct forge_issue issue;
	cleanup_free char *who = NULL;
	bool more = false, set = false;
	int64_t id;

	begin(&s, _i);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_USER }, NULL);
	ck_assert_str_eq(forge_login(s.json), "me");
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_ISSUES }, NULL);
	ck_assert_int_eq(forge_issues_read(s.json, &issues, NULL), 0);
	ck_assert_uint_eq(issues.count, 1);
	ck_assert_str_eq(issues.list[0].title, "One");
	ck_assert_ptr_null(forge_issue_unfit(&issues.list[0]));
	forge_issues_release(&issues);
	ask(&s,
	    &(struct forge_request){ .what = FORGE_ASK_EVENTS, .number = 1 },
	    NULL);
	who = forge_labeller(s.json, s.place.dialect, &more, &set);
	ck_assert_str_eq(who, "ann");
	ask(&s,
	    &(struct forge_request){
		.what = FORGE_ASK_PERMISSION, .login = "ann" },
	    NULL);
	ck_assert(forge_may_write(s.json));
	ask(&s,
	    &(struct forge_request){
		.what = FORGE_ADD_COMMENT, .number = 1, .text = "<!-- m -->" },
	    NULL);
	id = forge_made_id(s.json);
	ck_assert_int_gt(id, 0);
	ask(&s,
	    &(struct forge_request){ .what = FORGE_ASK_COMMENTS, .number = 1 },
	    NULL);
	ck_assert_int_eq(
	    forge_comment_find(s.json, "me", "<!-- m", &more, NULL), id);
	ask(&s,
	    &(struct forge_request){
		.what = FORGE_EDIT_COMMENT, .id = id, .text = "other" },
	    NULL);
	ck_assert_str_eq(json_string_or(s.json, "body", ""), "other");
	ask(&s,
	    &(struct forge_request){
		.what = FORGE_MAKE_LABEL, .text = FORGE_FAILED },
	    NULL);
	id = forge_made_id(s.json);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_LABELS }, NULL);
	ck_assert_int_eq(forge_label_find(s.json, FORGE_FAILED, &more), id);
	ask(&s,
	    &(struct forge_request){ .what = FORGE_ADD_LABEL,
		.number = 1,
		.id = s.place.dialect == FORGE_GITEA ? id : 0,
		.text = FORGE_FAILED },
	    NULL);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	ck_assert_int_ne(forge_label_find(s.json, FORGE_FAILED, &more), 0);
	ask(&s, &(struct forge_request){ .what = FORGE_CLOSE, .number = 1 },
	    NULL);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_ISSUE, .number = 1 },
	    NULL);
	ck_assert_int_eq(forge_issue_read(s.json, &issue, NULL), 0);
	ck_assert(!issue.open && issue.failed);
	forge_issue_release(&issue);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_ISSUE, .number = 9 },
	    NULL);
	ck_assert_int_eq(s.verdict, FORGE_GONE);
	end(&s);
}

TEST(what_is_known_is_not_sent_again)
{
	struct scene s;
	char tag[128];

	begin(&s, 0);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_ISSUES }, NULL);
	strlcpy(tag, s.tag, sizeof tag);
	ck_assert_str_ne(tag, "");
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_ISSUES }, tag);
	ck_assert_int_eq(s.verdict, FORGE_SAME);
	forge_tell("edit", "{\"number\":1,\"title\":\"Two\"}");
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_ISSUES }, tag);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	end(&s);
}

static const struct {
	const char *fault;
	enum forge_verdict verdict;
	int status;
	int64_t wait_ms; /* at least; 0 = none */
} faults[] = {
	{ "\"status\":403,\"retry_after\":7", FORGE_AGAIN, 403, 7000 },
	{ "\"status\":403,\"reset\":99999999999", FORGE_AGAIN, 403, 3600000 },
	{ "\"status\":403", FORGE_REFUSED, 403, 0 },
	{ "\"status\":405", FORGE_REFUSED, 405, 0 },
	{ "\"status\":409", FORGE_AGAIN, 409, 5000 },
	{ "\"status\":422", FORGE_REFUSED, 422, 0 },
	{ "\"status\":502", FORGE_AGAIN, 502, 5000 },
	{ "\"garbage\":true", FORGE_AGAIN, 200, 5000 },
	{ "\"lost\":true", FORGE_AGAIN, 0, 5000 },
	{ "\"slow\":300", FORGE_GOOD, 200, 0 },
};

TEST_ROWS(each_fault_has_its_verdict, nitems(faults))
{
	struct scene s;
	const struct forge_request request = { .what = FORGE_ASK_ISSUE,
		.number = 1 };

	begin(&s, _i % 2);
	forge_tell("fault", "{\"path\":\"/issues\",%s}", faults[_i].fault);
	ask(&s, &request, NULL);
	ck_assert_int_eq(s.verdict, faults[_i].verdict);
	ck_assert_int_eq(s.status, faults[_i].status);
	ck_assert_int_ge(s.wait_ms, faults[_i].wait_ms);
	ck_assert_int_eq(s.wait_ms > 0, faults[_i].wait_ms > 0);
	ck_assert_int_eq(s.words[0] == '\0', s.verdict == FORGE_GOOD);
	ask(&s, &request, NULL);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	end(&s);
}

TEST(waits_grow_while_the_forge_is_away)
{
	struct scene s;
	const struct forge_request request = { .what = FORGE_ASK_USER };
	int64_t first;

	begin(&s, 0);
	forge_tell("fault", "{\"path\":\"/user\",\"times\":2,\"status\":500}");
	ask(&s, &request, NULL);
	first = s.wait_ms;
	ask(&s, &request, NULL);
	ck_assert_int_eq(s.wait_ms, 2 * first);
	ask(&s, &request, NULL);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	end(&s);
}

TEST(writes_are_a_second_apart)
{
	struct scene s;
	int64_t before = clock_mono_ms();

	begin(&s, 1);
	for (int i = 0; i < 3; i++)
		ask(&s,
		    &(struct forge_request){
			.what = FORGE_ADD_COMMENT, .number = 1, .text = "x" },
		    NULL);
	ck_assert_int_ge(clock_mono_ms() - before, 2 * FORGE_WRITE_MS);
	end(&s);
}

TEST(a_token_that_others_can_read_is_not_used)
{
	struct scene s;

	begin(&s, 0);

	chmod(s.token_file, 0644);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_USER }, NULL);
	ck_assert_int_eq(s.verdict, FORGE_REFUSED);
	ck_assert_ptr_nonnull(strstr(s.words, "chmod 600"));
	ck_assert_int_eq(forge_count("GET", "/user"), 0);
	chmod(s.token_file, 0600);
	ck_assert_int_eq(
	    file_replace(s.token_file, "wrong\n", 6, 0600, NULL), 0);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_USER }, NULL);
	ck_assert_int_eq(s.verdict, FORGE_REFUSED);
	ck_assert_ptr_nonnull(strstr(s.words, "forge.token_file"));
	end(&s);
}

TEST(gh_is_asked_where_no_file_is_set)
{
	struct scene s;
	/* Only the token of that server is asked for. */
	static const char script[] =
	    "#!/bin/sh\n"
	    "case \"$*\" in 'auth token --hostname 127.0.0.1:'*) "
	    "echo tok-me;; esac\n";
	cleanup_free char *path =
	    xasprintf("%s:%s", unit_scratch(), getenv("PATH"));

	begin(&s, 0);
	ck_assert_int_eq(
	    file_replace(unit_path("gh"), script, strlen(script), 0755, NULL),
	    0);
	setenv("PATH", path, 1);
	forge_http_free(s.http);
	s.http = forge_http_new(s.loop, &s.place, NULL, unit_path("body"));
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_USER }, NULL);
	ck_assert_str_eq(forge_login(s.json), "me");
	unlink(unit_path("gh"));
	ck_assert_int_eq(file_replace(unit_path("gh"), "#!/bin/sh\nexit 1\n",
			     17, 0755, NULL),
	    0);
	ask(&s, &(struct forge_request){ .what = FORGE_ASK_USER }, NULL);
	ck_assert_int_eq(s.verdict, FORGE_REFUSED);
	ck_assert_ptr_nonnull(strstr(s.words, "gh auth token"));
	end(&s);
}

TEST(a_request_can_be_given_up)
{
	struct scene s;
	struct loop_timer *timer;

	begin(&s, 0);
	forge_tell("fault", "{\"path\":\"/user\",\"slow\":60000}");
	forge_http_send(s.http,
	    &(struct forge_request){ .what = FORGE_ASK_USER }, NULL, on_answer,
	    &s);
	timer = loop_after(s.loop, 300, on_patience, s.loop);
	loop_run(s.loop);
	loop_timer_free(timer);
	end(&s);
	ck_assert(!s.over);
}
