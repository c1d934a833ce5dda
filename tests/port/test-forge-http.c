/* SPDX-License-Identifier: ISC */

/* Requests to a forge, with a stub of one: what reaches it, and its faults. */
#include "forge-stand.h"
#include "forge-http.h"
#include "loop.h"
#include "pull.h"
#include "schema.h"

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
	char words[256], tag[128], text[256];
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
	snprintf(s->text, sizeof s->text, "%.*s", (int)answer->text_len,
	    answer->text != NULL ? answer->text : "");
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

/* --- a pull request ------------------------------------------------------- */

static void
sh(const char *command)
{
	cleanup_child_result struct child_result result;

	child_result_init(&result);
	ck_assert_int_eq(child_run(&(struct child_spec){ .shell = command,
				       .cwd = unit_scratch() },
			     &result, NULL),
	    0);
	ck_assert_msg(child_succeeded(&result), "%s", command);
}

/* Everything that a look asks for, with the floor's own rule. */
static void
look(struct scene *s, struct pull_look *look, struct pull_row *row, int64_t now)
{
	struct forge_request request;

	pull_look_begin(look, row);
	while (pull_look_request(look, row, &request)) {
		ask(s, &request, pull_look_tag(look));
		ck_assert_int_ne(s->verdict, FORGE_AGAIN);
		ck_assert_int_eq(
		    pull_look_answer(look, row, "me", s->verdict, s->json,
			s->text[0] != '\0' ? s->text : NULL, strlen(s->text),
			s->tag, NULL),
		    0);
	}
	pull_row_looked(row, look, "me/work", "NONCE", now);
}

/* From its branch to the merge, as a forge sees it. */
TEST_ROWS(a_pull_request_goes_its_way, 2)
{
	struct scene s;
	struct pull_look seen;
	struct pull pull = { 0 };
	struct pull_row *row;
	cleanup_buf struct buf text = BUF_INIT, head = BUF_INIT;
	int64_t now = clock_wall_ms();
	bool github = _i == 0;

	begin(&s, _i);
	sh("git init -q --bare -b main o.git && git clone -q o.git c "
	   "2>/dev/null && cd c && git config user.name x && git config "
	   "user.email x@x && git commit -q --allow-empty -m base && "
	   "git push -q origin HEAD:main && echo 1 >one && git add one && "
	   "git commit -qm one && git push -q origin HEAD:llmc/t17-make-one && "
	   "git rev-parse HEAD >../head");
	ck_assert_int_eq(file_read(unit_path("head"), 100, &head, NULL), 0);
	buf_truncate(&head, head.len - 1);
	forge_tell("repo", "{\"path\":\"%s\"}", unit_path("o.git"));
	forge_tell("ci",
	    "{\"name\":\"unit\",\"needs\":\"two\",\"log\":\"two is missing\"}");
	row = pull_row_new("t17", "Make one", "main", "k", head.data, "Text.");
	xstrset(&row->pushed, head.data);
	row->pushed_ms = now;
	pull_look_init(&seen, s.place.dialect);
	pull_row_text(row, &text);
	ask(&s,
	    &(struct forge_request){
		.what = FORGE_ASK_PULLS, .head = row->branch, .base = "main" },
	    NULL);
	ck_assert_int_eq(s.verdict, github ? FORGE_GOOD : FORGE_GONE);
	ask(&s,
	    &(struct forge_request){ .what = FORGE_MAKE_PULL,
		.title = github ? "Make one" : "WIP: Make one",
		.text = text.data,
		.head = row->branch,
		.base = "main",
		.draft = true },
	    NULL);
	ck_assert_int_eq(s.status, 201);
	ask(&s,
	    &(struct forge_request){
		.what = FORGE_ASK_PULLS, .head = row->branch, .base = "main" },
	    NULL);
	ck_assert_int_eq(pull_find(s.json, row, "me", &pull, NULL), 0);
	pull_row_made(row, &pull);
	pull_release(&pull);
	ck_assert(row->draft && row->number == 2);
	ck_assert_str_eq(row->described, row->head);

	/* Red: its log comes without a token. */
	look(&s, &seen, row, now);
	ck_assert_int_eq(row->verdict, PULL_RED);
	ck_assert_int_eq(row->turn, PULL_TURN_CHECKS);
	ck_assert_ptr_nonnull(strstr(row->turn_text, "two is missing"));
	pull_row_sent(row);
	forge_tell("review",
	    "{\"number\":2,\"user\":\"ann\",\"state\":\"%s\",\"body\":\"no\","
	    "\"comments\":[{\"path\":\"one\",\"line\":1,\"body\":\"why\"},"
	    "{\"path\":\"one\",\"line\":2,\"body\":\"old\",\"over\":true}]}",
	    github ? "CHANGES_REQUESTED" : "REQUEST_CHANGES");
	forge_tell("say", "{\"number\":2,\"user\":\"eve\",\"body\":\"evil\"}");

	/* Green, with remarks. */
	sh("cd c && echo 2 >two && git add two && git commit -q --amend -m "
	   "one && git push -qf origin HEAD:llmc/t17-make-one && git rev-parse "
	   "HEAD >../head");
	buf_truncate(&head, 0);
	ck_assert_int_eq(file_read(unit_path("head"), 100, &head, NULL), 0);
	buf_truncate(&head, head.len - 1);
	pull_row_worked(row, head.data, "Text.", NULL);
	xstrset(&row->pushed, head.data);
	row->pushed_ms = now;
	look(&s, &seen, row, now);
	ck_assert_int_eq(row->verdict, PULL_GREEN);
	ck_assert_int_eq(row->turn, PULL_TURN_REMARKS);
	ck_assert_ptr_nonnull(strstr(row->turn_text, "why"));
	ck_assert_ptr_null(strstr(row->turn_text, "old"));
	ck_assert_ptr_null(strstr(row->turn_text, "evil"));
	ck_assert(row->objected);
	pull_row_sent(row);
	pull_row_worked(row, head.data, "Text.", "Because.");
	look(&s, &seen, row, now);
	ck_assert_int_eq(row->turn, PULL_TURN_NONE);

	ask(&s,
	    &(struct forge_request){ .what = FORGE_READY_PULL,
		.number = 2,
		.node = row->node,
		.title = "Make one" },
	    NULL);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	ask(&s,
	    &(struct forge_request){ .what = FORGE_MERGE_PULL,
		.number = 2,
		.sha = "1111111111111111111111111111111111111111",
		.title = "Make one",
		.text = "Llmc-Task: t17" },
	    NULL);
	ck_assert_int_eq(s.status, 409);
	if (github) {
		forge_tell("rules", "{\"queue\":true}");
		ask(&s,
		    &(struct forge_request){ .what = FORGE_MERGE_PULL,
			.number = 2,
			.sha = row->head,
			.title = "Make one",
			.text = "" },
		    NULL);
		ck_assert_int_eq(s.status, 405);
		ck_assert(pull_row_merging(row, false, s.status, s.json,
		    s.place.dialect, s.words, now));
		forge_tell("rules", "{}");
		ask(&s,
		    &(struct forge_request){ .what = FORGE_QUEUE_PULL,
			.node = row->node,
			.sha = row->head },
		    NULL);
		ck_assert(!pull_row_merging(row, true, s.status, s.json,
		    s.place.dialect, s.words, now));
		ck_assert_int_eq(row->merge_tries, 1);
	}
	ask(&s,
	    &(struct forge_request){ .what = FORGE_MERGE_PULL,
		.number = 2,
		.sha = row->head,
		.title = "Make one (#2)",
		.text = "Llmc-Task: t17" },
	    NULL);
	ck_assert_int_eq(s.verdict, FORGE_GOOD);
	look(&s, &seen, row, now);
	ck_assert_int_eq(row->state, PULL_MERGED);
	ck_assert_uint_eq(strlen(row->commit), 40);
	sh("git -C o.git log -1 --format=%B main | grep -q 'Llmc-Task: t17' && "
	   "git -C o.git cat-file -e main:two");
	pull_look_release(&seen);
	schema_free(&pull_row_schema, row);
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

/* A log is elsewhere: what is read there, nobody reads on the way, and it is
 * not elsewhere again. */
TEST(a_log_is_followed_once_and_in_private)
{
	static const char fault[] =
	    "{\"path\":\"%s\",\"status\":302,\"location\":\"%s/blob/1\"}";
	const struct forge_request request = { .what = FORGE_ASK_LOG, .id = 1 };
	struct scene s;

	begin(&s, 0);
	forge_tell("fault", fault, "/logs", "http://example.invalid");
	ask(&s, &request, NULL);
	ck_assert_int_eq(s.status, 302);
	forge_tell("fault", fault, "/logs", s.place.api);
	forge_tell("fault", fault, "/blob", s.place.api);
	ask(&s, &request, NULL);
	ck_assert_int_eq(s.status, 302);
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
