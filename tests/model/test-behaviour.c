/* SPDX-License-Identifier: ISC */

/* All detectors together: vectors, documents, steady progress. */

#include "behaviour-scene.h"
#include "behaviour.h"
#include "iteration.h"
#include "schema.h"
#include "thresholds.h"

#define found(words) ck_assert_str_eq(scene_found(), words)

/* --- vectors --------------------------------------------------------- */

/* The detector that a case is about; NULL = all. */
static const char *
detector_of(struct json_object *vector)
{
	static const struct {
		const char *method, *type;
	} names[] = { { "detectStuck", "stuck" },
		{ "detectOscillation", "oscillation" },
		{ "detectDeviation", "deviation" },
		{ "detectResourceBurn", "resource_burn" },
		{ "detectRegression", "regression" } };
	const char *method = json_string_or(vector, "method", NULL);

	for (size_t i = 0; method != NULL && i < nitems(names); i++)
		if (strcmp(method, names[i].method) == 0)
			return names[i].type;
	return NULL;
}

static struct json_object *
of_type(struct json_object *list, const char *type)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *d = json_object_array_get_idx(list, i);

		if (type == NULL ||
		    strcmp(json_string_or(d, "type", ""), type) == 0)
			return d;
	}
	return NULL;
}

static void
assert_evidence(struct json_object *wanted, struct json_object *got)
{
	json_object_object_foreach(wanted, key, value)
	{
		ck_assert_msg(
		    json_object_equal(value, json_object_object_get(got, key)),
		    "%s", key);
	}
}

static void
assert_expected(const char *id, struct json_object *got,
    struct json_object *expected, const char *detector)
{
	struct json_object *evidence;

	if (json_object_array_length(expected) == 0)
		ck_assert_msg(of_type(got, detector) == NULL, "%s: %s", id,
		    json_object_to_json_string(got));
	for (size_t i = 0; i < json_object_array_length(expected); i++) {
		struct json_object *want =
		    json_object_array_get_idx(expected, i);
		struct json_object *d =
		    of_type(got, json_string_or(want, "type", ""));

		ck_assert_msg(d != NULL &&
			strcmp(json_string_or(d, "severity", ""),
			    json_string_or(want, "severity", "")) == 0,
		    "%s: %s", id, json_object_to_json_string(got));
		if (json_object_object_get_ex(want, "evidence", &evidence))
			assert_evidence(
			    evidence, json_object_object_get(d, "evidence"));
	}
}

TEST(vectors_hold)
{
	cleanup_free char *path =
	    xasprintf("%s/oversight.json", unit_vectors());
	cleanup_json struct json_object *file = NULL;
	struct json_object *list;
	struct thresholds t, defaults;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(json_get_array(file, "", "vectors", &list, NULL), 0);
	ck_assert_uint_gt(json_object_array_length(list), 20);
	thresholds_init(&t, PROFILE_DEFAULT);
	memcpy(&defaults, &t, sizeof t);
	ck_assert_int_eq(
	    thresholds_merge(
		&t, json_object_object_get(file, "defaults"), "defaults", NULL),
	    0);
	ck_assert_mem_eq(&defaults, &t, sizeof t);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		cleanup_json struct json_object *got = NULL;
		const char *id = json_string_or(row, "id", "?");
		struct err err = { 0 };

		ck_assert_msg(
		    behaviour_check(&t, json_object_object_get(row, "history"),
			&got, NULL, &err) == 0,
		    "%s: %s", id, err.msg);
		ck_assert_msg(
		    schema_check(&detections_shape, got, id, &err) == 0, "%s",
		    err.msg);
		assert_expected(id, got, json_object_object_get(row, "expect"),
		    detector_of(row));
	}
}

/* --- documents ------------------------------------------------------- */

static int
check_text(const char *text, struct json_object **ret, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	struct thresholds t;

	thresholds_init(&t, PROFILE_DEFAULT);
	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &json, NULL), 0);
	return behaviour_check(&t, json, ret, NULL, err);
}

TEST(an_array_and_an_object_with_history_are_the_same)
{
#define TWICE                                      \
	"[{\"analysis\":{\"testsPassing\":true}}," \
	"{\"analysis\":{\"testsPassing\":false}}]"
	cleanup_json struct json_object *bare = NULL, *whole = NULL;

	ck_assert_int_eq(check_text(TWICE, &bare, NULL), 0);
	ck_assert_int_eq(
	    check_text("{\"history\":" TWICE "}", &whole, NULL), 0);
	ck_assert_uint_eq(json_object_array_length(bare), 1);
	ck_assert(json_object_equal(bare, whole));
}

TEST(thresholds_of_the_document_are_merged_key_by_key)
{
	cleanup_json struct json_object *got = NULL;

	ck_assert_int_eq(
	    check_text("{\"history\":" TWICE ",\"thresholds\":"
		       "{\"regression\":{\"testPassToFail\":false},"
		       "\"stuck\":{\"sameErrorCount\":4.0}}}",
		&got, NULL),
	    0);
	ck_assert_uint_eq(json_object_array_length(got), 0);
}

TEST(nothing_is_known_of_an_iteration_that_is_null)
{
	cleanup_json struct json_object *got = NULL;

	ck_assert_int_eq(
	    check_text("[{\"analysis\":{\"testsPassing\":true}},null,"
		       "{\"analysis\":{\"testsPassing\":false}},null]",
		&got, NULL),
	    0);
	ck_assert_uint_eq(json_object_array_length(got), 1);
}

TEST_ROWS(a_wrong_document_is_refused_with_the_path, 12)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "{}", "\"history\"" },
		{ "{\"history\":[],\"treshold\":1}", "treshold" },
		{ "{\"history\":[3]}", "history[0]: expected an object" },
		{ "{\"history\":[],\"thresholds\":{\"stuk\":{}}}",
		    "thresholds.stuk: no such threshold; did you mean "
		    "\"stuck\"?" },
		{ "{\"history\":[],\"thresholds\":{\"stuck\":"
		  "{\"sameErrorCount\":2.5}}}",
		    "thresholds.stuck.sameErrorCount: expected an integer" },
		{ "[{\"analysis\":{\"coveragePercent\":\"a\"}}]",
		    "[0].analysis.coveragePercent: expected a number" },
		{ "[{\"analysis\":{\"testsPassing\":1}}]", "testsPassing" },
		{ "[{\"cost\":-1}]", "[0].cost: expected a number from 0" },
		{ "[{\"cost\":1e300}]", "[0].cost: expected a number from 0" },
		{ "[{\"analysis\":{\"blockers\":[1]}}]", "analysis.blockers" },
		{ "[{\"blobs\":{\"a\":1}}]", "[0].blobs" },
		{ "{\"history\":[],\"thresholds\":{\"stuck\":{\"x\":1}}}",
		    "thresholds.stuck.x: no such threshold" },
	};
	struct json_object *got = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(check_text(rows[_i].text, &got, &err), -EINVAL);
	ck_assert_ptr_null(got);
	ck_assert_msg(strstr(err.msg, rows[_i].message) != NULL, "%s", err.msg);
}

TEST(a_detection_has_all_its_parts)
{
	struct json_object *d, *part;

	scene_begin(NULL);
	scene_add("{'analysis':{'testsPassing':true}}");
	scene_add("{'analysis':{'testsPassing':false}}");
	d = scene_detection("regression");
	ck_assert_str_ne(json_string_or(d, "message", ""), "");
	ck_assert_int_eq(json_get_object(d, "", "evidence", &part, NULL), 0);
	ck_assert_int_gt(json_object_object_length(part), 0);
	ck_assert_int_eq(
	    json_get_array(d, "", "recommendations", &part, NULL), 0);
	ck_assert_uint_gt(json_object_array_length(part), 1);
}

/* --- steady progress ------------------------------------------------- */

static uint64_t
dice(uint64_t *seed, uint64_t sides)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % sides;
}

/* What is the same in all turns of a history. */
struct manner {
	int turns;
	bool rated; /* the percentage is known each time */
	bool blobs;
	bool same_error;
	bool red_first;
};

static void
add_files(struct buf *text, const struct manner *m, int n, uint64_t *seed)
{
	bool both = dice(seed, 2) == 0;
	char first = m->blobs || dice(seed, 2) == 0 ? 'a' : 'b';

	buf_addf(text, ",'artifactsModified':['src/%c'%s]}", first,
	    both ? ",'src/c'" : "");
	if (m->blobs)
		buf_addf(text, ",'blobs':{'src/a':'%d'}", n);
}

static void
add_words(struct buf *text, int n, uint64_t *seed)
{
	static const char *const topics[] = { "login", "session", "password",
		"token" };
	static const char *const hollow[] = { "Completed part 3 of the work",
		"Good progress, now the next step of the task", "Fixed 2", "" };

	if (dice(seed, 4) == 0)
		buf_addf(text, ",'learnings':'%s'", hollow[dice(seed, 4)]);
	else if (dice(seed, 3) > 0) {
		buf_addf(text, ",'learnings':'Wrote part %d of the %s code", n,
		    topics[dice(seed, 4)]);
		buf_addf(text, ", and checked the %s'", topics[dice(seed, 4)]);
	}
}

static void
add_results(struct buf *text, const struct manner *m, int n, uint64_t *seed)
{
	static const char *const errors[] = { "null pointer", "timeout",
		"bad request" };

	if (m->same_error)
		buf_adds(text, ",'failureClass':'the same'");
	else if (dice(seed, 2) == 0)
		buf_addf(text, ",'failureClass':'%s'", errors[dice(seed, 3)]);
	if (m->rated || (m->turns < 40 && dice(seed, 4) > 0))
		buf_addf(text, ",'completionPercentage':%.2f",
		    0.8 + n * (m->rated ? 2.0 : 99.0 / m->turns));
	if (dice(seed, 2) == 0)
		buf_addf(text, ",'testsPassing':%s",
		    m->red_first && n < m->turns / 2 ? "false" : "true");
	if (dice(seed, 2) == 0)
		buf_addf(text, ",'coveragePercent':%.1f",
		    40 + 0.5 * n - (double)dice(seed, 8));
	else if (dice(seed, 2) == 0)
		buf_adds(text, ",'coveragePercent':null");
}

/* Any history in which the task moves on is silent: new content, no error
 * again and again without progress, quality that does not fall, on the
 * objective, within the budget. Anything may be unknown. */
TEST_ROWS(detectors_are_silent_on_steady_progress, 500)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct manner m = { .turns = 5 + (int)dice(&seed, 40) };

	/* Without contents, or with the same error, progress must be known. */
	m.blobs = dice(&seed, 2) == 0;
	m.same_error = dice(&seed, 4) == 0;
	m.rated = !m.blobs || m.same_error || dice(&seed, 2) == 0;
	m.red_first = dice(&seed, 3) == 0 && m.rated;
	scene_begin(NULL);
	for (int n = 1; n <= m.turns; n++) {
		cleanup_buf struct buf text = BUF_INIT;

		buf_addf(&text,
		    "{'treeHash':'t%d','scope':['src'],'cost':0.%d,"
		    "'context':{'maxIterations':%d,'estimatedCost':%d,"
		    "'objective':'Fix login session password and token of "
		    "the service'},'analysis':{'blockers':[]",
		    n, (int)dice(&seed, 9), m.turns, m.turns);
		add_results(&text, &m, n, &seed);
		add_words(&text, n, &seed);
		add_files(&text, &m, n, &seed);
		buf_adds(&text, "}");
		scene_add("%s", text.data);
		ck_assert_msg(scene_found()[0] == '\0',
		    "seed %d, iteration %d of %d: %s\n%s", _i, n, m.turns,
		    scene_found(), text.data);
	}
}

/* --- the order of things --------------------------------------------- */

/* A history with something of everything, one prefix of it after the other. */
#define WILD                                                                  \
	"{\"blobs\":{\"a\":\"1\"},\"analysis\":{\"failureClass\":\"x\","      \
	"\"completionPercentage\":10,\"testsPassing\":true}},"                \
	"{\"analysis\":{\"testsPassing\":false,\"failureClass\":\"x\","       \
	"\"completionPercentage\":10},\"blobs\":{\"a\":\"2\"}},"              \
	"{\"blobs\":{\"a\":\"1\"},\"analysis\":{\"completionPercentage\":10," \
	"\"failureClass\":\"x\",\"coveragePercent\":50}},"                    \
	"{\"analysis\":{\"coveragePercent\":30,\"failureClass\":\"x\"},"      \
	"\"context\":{\"maxIterations\":1},\"blobs\":{\"a\":\"2\"}}"

TEST(the_order_of_members_does_not_matter)
{
#define TURNED                                                                \
	"{\"analysis\":{\"testsPassing\":true,\"completionPercentage\":10,"   \
	"\"failureClass\":\"x\"},\"blobs\":{\"a\":\"1\"}},"                   \
	"{\"blobs\":{\"a\":\"2\"},\"analysis\":{\"completionPercentage\":10," \
	"\"failureClass\":\"x\",\"testsPassing\":false}},"                    \
	"{\"analysis\":{\"coveragePercent\":50,\"failureClass\":\"x\","       \
	"\"completionPercentage\":10},\"blobs\":{\"a\":\"1\"}},"              \
	"{\"blobs\":{\"a\":\"2\"},\"context\":{\"maxIterations\":1},"         \
	"\"analysis\":{\"failureClass\":\"x\",\"coveragePercent\":30}}"
	cleanup_json struct json_object *one = NULL, *other = NULL;

	ck_assert_int_eq(check_text("[" WILD "]", &one, NULL), 0);
	ck_assert_int_eq(
	    check_text(
		"{\"thresholds\":{},\"history\":[" TURNED "]}", &other, NULL),
	    0);
	ck_assert_uint_eq(json_object_array_length(one), 3);
	ck_assert(json_object_equal(one, other));
}

TEST(each_iteration_is_judged_as_the_history_up_to_it)
{
	cleanup_json struct json_object *history = NULL;
	cleanup_behaviour struct behaviour *b = NULL;
	struct thresholds t;

	thresholds_init(&t, PROFILE_DEFAULT);
	b = behaviour_new(&t);
	ck_assert_int_eq(
	    json_parse("[" WILD "," WILD "]", strlen("[" WILD "," WILD "]"),
		1 << 20, &history, NULL),
	    0);
	for (size_t i = 0; i < json_object_array_length(history); i++) {
		cleanup_json struct json_object *prefix =
		    json_object_new_array();
		cleanup_json struct json_object *whole = NULL, *next = NULL;
		cleanup_iteration struct iteration *it = NULL;

		for (size_t k = 0; k <= i; k++)
			json_object_array_add(prefix,
			    json_object_get(
				json_object_array_get_idx(history, k)));
		ck_assert_int_eq(
		    behaviour_check(&t, prefix, &whole, NULL, NULL), 0);
		ck_assert_int_eq(
		    iteration_from_json(json_object_array_get_idx(history, i),
			"", (int64_t)i + 1, &it, NULL),
		    0);
		behaviour_add(b, it);
		next = behaviour_to_json(b);
		ck_assert(json_object_equal(whole, next));
	}
}

TEST(nothing_is_found_where_nothing_is_known)
{
	scene_begin(NULL);
	for (int i = 0; i < 200; i++) {
		scene_add("{}");
		found("");
	}
}

TEST(the_state_does_not_depend_on_what_left_the_windows)
{
	scene_begin(NULL);
	for (int i = 0; i < 5000; i++)
		scene_add("{'analysis':{'artifactsModified':['f%d'],"
			  "'failureClass':'kind %c'}}",
		    i, 'a' + i % 7);
	found("");
	scene_repeat(
	    5, "{'analysis':{'failureClass':'z','completionPercentage':9}}");
	found("stuck critical");
}
