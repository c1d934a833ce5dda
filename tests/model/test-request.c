/* SPDX-License-Identifier: ISC */

/* Questions of agents, by the public vectors. */
#include "unit.h"
#include "mail.h"

#define NOW 1000000000

static struct request_registry all;
static int made;

static struct request *
ask(const char *child, const char *parent, int64_t now_ms)
{
	struct request *r = request_new();

	r->id = xasprintf("R_%d", ++made);
	r->child = xstrdup(child);
	r->parent = xstrdup(parent);
	r->message = xstrdup("Which one?");
	r->created_ms = now_ms;
	r->deadline_ms = now_ms + request_timeout(0, false);
	request_registry_add(&all, r);
	return r;
}

static int
admits(const char *child, const char *parent, int64_t now_ms, const char *words)
{
	struct err err = { 0 };
	int recent = 0, r;

	for (size_t i = 0; i < all.count; i++)
		recent += strcmp(all.list[i]->child, child) == 0 &&
		    all.list[i]->created_ms > now_ms - REQUEST_RATE_MS;
	r = request_registry_admits(&all, child, parent, recent, &err);

	ck_assert_int_eq(r, words != NULL ? -EDQUOT : 0);
	if (words != NULL)
		ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
	return r;
}

static int
resolve(struct request *r, const char *response, int64_t now_ms)
{
	return request_resolve(r, response, "p", NULL, now_ms, NULL);
}

/* --- one function for each row ------------------------------------------ */

static void
row_fourth_pending_child(struct json_object *row)
{
	(void)row;
	for (int i = 0; i < 3; i++) {
		admits("c", "p", NOW, NULL);
		ask("c", "p", NOW);
	}
	admits("c", "p", NOW, "pending");
	admits("d", "p", NOW, NULL);
	ck_assert_uint_eq(request_registry_pending(&all, "c"), 3);
}

static void
row_21st_pending_parent(struct json_object *row)
{
	(void)row;
	for (int i = 0; i < 20; i++) {
		cleanup_free char *child = xasprintf("c%d", i);

		admits(child, "p", NOW, NULL);
		ask(child, "p", NOW);
	}
	admits("c20", "p", NOW, "pending");
	admits("c20", "q", NOW, NULL);
}

static void
five_resolved(void)
{
	for (int i = 0; i < 5; i++) {
		admits("c", "p", NOW, NULL);
		ck_assert_int_eq(resolve(ask("c", "p", NOW), "x", NOW), 0);
	}
}

static void
row_sixth_in_a_minute(struct json_object *row)
{
	(void)row;
	five_resolved();
	admits("c", "p", NOW, "rate limit");
	admits("d", "p", NOW, NULL);
}

static void
row_after_61s(struct json_object *row)
{
	(void)row;
	five_resolved();
	admits("c", "p", NOW + 61000, NULL);
}

static void
row_timeout(struct json_object *row)
{
	ck_assert_int_eq(
	    request_timeout(json_int_or(row, "timeout_ms", 0), false),
	    json_int_or(row, "expect_timeout_ms", -1));
}

static void
row_resolve_twice(struct json_object *row)
{
	struct request *r = ask("c", "p", NOW);

	(void)row;
	ck_assert_int_eq(resolve(r, "first", NOW), 0);
	ck_assert_int_eq(resolve(r, "second", NOW), -EALREADY);
	ck_assert_str_eq(r->response, "first");
}

static void
row_resolve_after_expiry(struct json_object *row)
{
	struct request *r = ask("c", "p", NOW);

	(void)row;
	ck_assert_int_eq(resolve(r, "late", r->deadline_ms), -ETIMEDOUT);
	ck_assert_int_eq(r->state, REQUEST_TIMEOUT);
	ck_assert_ptr_null(r->response);
}

static void
row_resolve_unknown(struct json_object *row)
{
	(void)row;
	ck_assert_ptr_null(request_registry_find(&all, "R_none"));
}

static void
row_dies(struct json_object *row)
{
	bool child = strcmp(json_string_or(row, "id", ""), "child-dies") == 0;
	enum request_state state = child ? REQUEST_CANCELLED : REQUEST_ORPHANED;
	struct request *r = ask("c", "p", NOW);

	request_end(r, state, NOW + 1);
	ck_assert(!request_is_open(r));
	ck_assert_int_eq(resolve(r, "x", NOW + 2), -ESTALE);
	ck_assert_int_eq(r->state, state);
	ck_assert_uint_eq(request_registry_pending(&all, "c"), 0);
	ck_assert_int_eq(request_registry_next(&all), 0);
}

static void
row_terminal_ttl(struct json_object *row)
{
	struct request *r = ask("c", "p", NOW);

	(void)row;
	ck_assert(request_is_kept(r, NOW + REQUEST_KEEP_MS * 2));
	ck_assert_int_eq(resolve(r, "x", NOW), 0);
	ck_assert(request_is_kept(r, NOW + REQUEST_KEEP_MS));
	ck_assert(!request_is_kept(r, NOW + REQUEST_KEEP_MS + 1));
}

static void
row_store(struct json_object *row)
{
	static const char *const texts[] = { "{}", "[]", "{\"version\":1}",
		"{\"version\":2,\"id\":\"R\",\"child\":\"c\",\"actor\":\"p\","
		"\"state\":\"pending\",\"ts\":1,\"deadline\":2}",
		"{\"version\":1,\"id\":\"R\",\"child\":\"c\",\"actor\":\"p\","
		"\"state\":\"lost\",\"ts\":1,\"deadline\":2}" };

	(void)row;
	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(texts[i]);
		struct request *r = NULL;

		ck_assert_int_eq(
		    request_from_json(json, "", &r, NULL), -EINVAL);
	}
	ck_assert_int_lt(
	    request_from_json(NULL, "", &(struct request *){ NULL }, NULL), 0);
	ck_assert_uint_eq(all.count, 0);
}

static const struct {
	const char *id;
	void (*fn)(struct json_object *row);
} rows[] = {
	{ "fourth-pending-child", row_fourth_pending_child },
	{ "21st-pending-parent", row_21st_pending_parent },
	{ "sixth-in-a-minute", row_sixth_in_a_minute },
	{ "after-61s", row_after_61s },
	{ "timeout-clamped-low", row_timeout },
	{ "timeout-clamped-high", row_timeout },
	{ "resolve-twice", row_resolve_twice },
	{ "resolve-after-expiry", row_resolve_after_expiry },
	{ "resolve-unknown", row_resolve_unknown },
	{ "child-dies", row_dies },
	{ "parent-dies", row_dies },
	{ "terminal-ttl", row_terminal_ttl },
	{ "store-unknown-version", row_store },
	{ "store-corrupt", row_store },
	{ "store-missing", row_store },
};

static void
run_row(struct json_object *row)
{
	const char *id = json_string_or(row, "id", "");

	for (size_t i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].id, id) == 0) {
			rows[i].fn(row);
			request_registry_release(&all);
			return;
		}
	ck_abort_msg("there is no test of %s", id);
}

TEST(every_row_of_the_vectors_holds)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *list, *limits, *states;
	cleanup_free char *path = NULL;

	path = file_join(unit_vectors(), "openclaw_requests.json");
	ck_assert_int_eq(json_load(path, 1 << 20, &json, NULL), 0);
	ck_assert_int_eq(json_get_array(json, "", "vectors", &list, NULL), 0);
	ck_assert_uint_eq(json_object_array_length(list), nitems(rows));
	for (size_t i = 0; i < json_object_array_length(list); i++)
		run_row(json_object_array_get_idx(list, i));
	ck_assert_int_eq(json_get_object(json, "", "limits", &limits, NULL), 0);
	ck_assert_int_eq(
	    json_int_or(limits, "pending_per_child", 0), REQUEST_CHILD_MAX);
	ck_assert_int_eq(
	    json_int_or(limits, "pending_per_parent", 0), REQUEST_PARENT_MAX);
	ck_assert_int_eq(
	    json_int_or(limits, "rate_per_child_per_min", 0), REQUEST_RATE_MAX);
	ck_assert_int_eq(json_int_or(limits, "default_timeout_ms", 0),
	    request_timeout(0, false));
	ck_assert_int_eq(
	    json_int_or(limits, "terminal_ttl_ms", 0), REQUEST_KEEP_MS);
	/* There is no sweep: the timer is set for each deadline, which is no
	 * later. */
	ask("c", "p", NOW);
	ck_assert_int_lt(request_registry_next(&all),
	    NOW + request_timeout(0, false) +
		json_int_or(limits, "sweep_ms", 0));
	request_registry_release(&all);
	ck_assert_int_eq(json_int_or(limits, "min_timeout_ms", 0),
	    request_timeout(1, false));
	ck_assert_int_eq(json_int_or(limits, "max_timeout_ms", 0),
	    request_timeout(INT64_MAX, false));
	/* Nobody may be there: a person is waited for the longest. */
	ck_assert_int_eq(
	    json_int_or(limits, "max_timeout_ms", 0), request_timeout(0, true));
	ck_assert_int_eq(request_timeout(60000, true), 60000);
	ck_assert_int_eq(json_get_array(json, "", "states", &states, NULL), 0);
	for (size_t i = 0; i < REQUEST_STATE_COUNT; i++)
		ck_assert_str_eq(json_object_get_string(
				     json_object_array_get_idx(states, i)),
		    request_state_words[i]);
}

TEST(a_question_survives_the_store)
{
	struct request *r = ask("c", "p", NOW), *copy = NULL;
	cleanup_json struct json_object *json = NULL, *again = NULL;
	struct err err = { 0 };

	strv_add(&r->options, "yes");
	ck_assert_int_eq(resolve(r, "yes", NOW + 1), 0);
	json = request_to_json(r);
	ck_assert_str_eq(json_string_or(json, "status", ""), "resolved");
	ck_assert_msg(
	    request_from_json(json, "", &copy, &err) == 0, "%s", err.msg);
	again = request_to_json(copy);
	ck_assert(json_object_equal(json, again));
	request_free(copy);
	request_registry_release(&all);
}
