/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "guard.h"

#define NOW 1000000

static struct reservation *
reserve(const char *actor, const char *path)
{
	struct reservation *r = reservation_new();

	r->id = reservation_id(actor, path);
	r->actor = xstrdup(actor);
	r->path = xstrdup(path);
	r->created_ms = NOW;
	r->until_ms = NOW + 1000;
	return r;
}

TEST(it_keeps_others_from_the_path_until_then)
{
	struct reservation *r = reserve("a", "src/api");

	ck_assert(reservation_blocks(r, "b", "src/api", NOW));
	ck_assert(reservation_blocks(r, "b", "src/api/x.c", NOW));
	ck_assert(reservation_blocks(r, "b", "src", NOW));
	ck_assert(reservation_blocks(r, "b", "", NOW));
	ck_assert(!reservation_blocks(r, "b", "src/apis", NOW));
	ck_assert(!reservation_blocks(r, "a", "src/api", NOW));
	ck_assert(!reservation_blocks(r, "b", "src/api", NOW + 1000));
	r->ended = true;
	ck_assert(!reservation_blocks(r, "b", "src/api", NOW));
	reservation_free(r);
}

TEST(paths_of_a_call_are_shortened_and_stay_inside)
{
	static const struct {
		const char *paths, *want; /* NULL = refused */
	} table[] = {
		{ "[\"src\"]", "src" },
		{ "[\"src/a\",\"src\",\"./src/\",\"docs\"]", "docs src" },
		{ "[\"src2\",\"src\"]", "src src2" },
		{ "[\".\",\"a\"]", "" },
		{ "[\"a/../b\"]", "b" },
		{ "[\"/etc\"]", NULL },
		{ "[\"a\",\"../b\"]", NULL },
		{ "[\"a/../../b\"]", NULL },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(table[i].paths);
		cleanup_strv char **paths = NULL;
		cleanup_free char *joined = xstrdup("");
		struct err err = { 0 };
		int r = reservation_paths(json, &paths, &err);

		ck_assert_int_eq(r, table[i].want == NULL ? -EINVAL : 0);
		if (r < 0)
			continue;
		for (size_t k = 0; paths[k] != NULL; k++) {
			char *more = xasprintf(
			    "%s%s%s", joined, k > 0 ? " " : "", paths[k]);

			free(joined);
			joined = more;
		}
		ck_assert_str_eq(joined, table[i].want);
	}
}

TEST(it_survives_the_store)
{
	struct reservation *r = reserve("a", ""), *copy = NULL;
	cleanup_json struct json_object *json = NULL, *bad = NULL;

	r->worker = xstrdup("adam");
	json = reservation_to_json(r);
	ck_assert_str_eq(json_string_or(json, "status", ""), "open");
	ck_assert_int_eq(reservation_from_json(json, "", &copy, NULL), 0);
	ck_assert_str_eq(copy->path, "");
	ck_assert_int_eq(copy->until_ms, NOW + 1000);
	ck_assert(reservation_holds(copy, NOW));
	bad = json_tokener_parse("{\"id\":\"V\"}");
	ck_assert_int_lt(reservation_from_json(bad, "", &copy, NULL), 0);
	reservation_free(copy);
	reservation_free(r);
}

TEST(its_id_is_made_of_agent_and_path)
{
	cleanup_free char *a = reservation_id("a", "p");
	cleanup_free char *same = reservation_id("a", "p");
	cleanup_free char *b = reservation_id("b", "p");
	cleanup_free char *q = reservation_id("a", "q");

	ck_assert_str_eq(a, same);
	ck_assert_str_ne(a, b);
	ck_assert_str_ne(a, q);
}
