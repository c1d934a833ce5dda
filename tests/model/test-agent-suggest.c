/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "agent-card.h"

static void
add_list(struct buf *out, const char *key, struct json_object *list)
{
	buf_addf(out, "%s = ", key);
	json_print(list, false, out);
	buf_addc(out, '\n');
}

/* The fleet of a vector, as a config file. */
static void
add_fleet(struct buf *out, struct json_object *fleet)
{
	for (size_t i = 0; i < json_object_array_length(fleet); i++) {
		struct json_object *agent = json_object_array_get_idx(fleet, i);
		struct json_object *tags =
		    json_object_object_get(agent, "tags");

		buf_addf(out, "[agents.%s]\ndescription = \"%s\"\n",
		    json_string_or(agent, "id", ""),
		    json_string_or(agent, "description", ""));
		buf_addf(out, "cost_tier = \"%s\"\n",
		    json_string_or(agent, "cost", ""));
		if (tags != NULL)
			add_list(out, "tags", tags);
	}
}

static void
check_vector(struct json_object *row)
{
	struct json_object *order = json_object_object_get(row, "expect_order");
	struct json_object *tags = json_object_object_get(row, "matched_tags");
	cleanup_agent_suggestions struct agent_suggestions all = { 0 };
	cleanup_agent_cards struct agent_cards cards = { 0 };
	cleanup_buf struct buf text = BUF_INIT;
	struct settings_world w;

	add_fleet(&text, json_object_object_get(row, "fleet"));
	w = settings_world_parse(text.data);
	ck_assert_uint_eq(w.problems.count, 0);
	agent_cards_load(w.settings, &cards);
	agent_suggest(&cards,
	    &(struct agent_hint){ .task = json_string_or(row, "task", ""),
		.max_cost = COST_TIER_UNKNOWN },
	    &all);
	ck_assert_uint_eq(all.count, json_object_array_length(order));
	for (size_t i = 0; i < all.count; i++) {
		ck_assert_str_eq(all.list[i].card->name,
		    json_object_get_string(
			json_object_array_get_idx(order, i)));
		ck_assert_ptr_nonnull(all.list[i].reasons);
	}
	if (tags != NULL) {
		cleanup_json struct json_object *found =
		    strv_to_json(all.list[0].tags);

		ck_assert(json_object_equal(found, tags));
	}
	settings_world_cleanup(&w);
}

TEST(the_vectors_hold)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *routing, *rows;
	struct err err = { 0 };

	if (unit_vectors() == NULL)
		unit_skip("the vectors are absent: set LLMC_VECTORS");
	path =
	    xasprintf("%s/openclaw_progress_perf_routing.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &root, &err) == 0, "%s", err.msg);
	routing = json_object_object_get(root, "routing");
	ck_assert_int_eq(
	    json_int_or(routing, "min_term_len", 0), AGENT_TERM_MIN);
	rows = json_object_object_get(routing, "cost_order");
	for (unsigned i = 0; i < COST_TIER_UNKNOWN; i++)
		ck_assert_str_eq(cost_tier_words[i],
		    json_object_get_string(json_object_array_get_idx(rows, i)));
	rows = json_object_object_get(routing, "vectors");
	ck_assert_uint_ge(json_object_array_length(rows), 3);
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		check_vector(json_object_array_get_idx(rows, i));
}

#define FLEET                                                             \
	"[agents.coder]\ntags = [\"code\", \"c code\"]\ncost_tier = "     \
	"\"medium\"\ndescription = \"Writes the code for you\"\n"         \
	"[agents.reader]\ntags = [\"code-review\"]\ncost_tier = "         \
	"\"cheap\"\ndescription = \"Reads code and finds the bugs\"\n"    \
	"[agents.sage]\ntags = [\"design\"]\ncost_tier = \"expensive\"\n" \
	"[agents.other]\ndescription = \"Anything\"\n"

static const struct {
	const char *task, *tags;
	enum cost_tier max_cost;
	const char *order; /* the names, best first */
	const char *reason; /* the first one of the best */
} cases[] = {
	{ "write some code", NULL, COST_TIER_UNKNOWN, "coder reader sage other",
	    "tags: code" },
	/* A tag is found as a whole, its words in any spelling. */
	{ "a Code review, please", NULL, COST_TIER_UNKNOWN,
	    "reader coder sage other", "tags: code-review" },
	{ "encode the decoder", NULL, COST_TIER_UNKNOWN,
	    "reader coder sage other", "nothing in its card matches" },
	/* Words that are everywhere count for nothing. */
	{ "for the you and", NULL, COST_TIER_UNKNOWN, "reader coder sage other",
	    "nothing in its card matches" },
	/* What was asked for counts more than the task. */
	{ "write some code", "Design", COST_TIER_UNKNOWN,
	    "sage coder reader other", "tags: design" },
	{ "", "none", COST_TIER_UNKNOWN, "reader coder sage other",
	    "nothing in its card matches" },
	/* Who may cost more than that, is left out. */
	{ "design", NULL, COST_MEDIUM, "reader coder",
	    "nothing in its card matches" },
	{ "code", NULL, COST_CHEAP, "reader", "description: code" },
	{ "code", NULL, COST_FREE, "", NULL },
	{ "find bugs, bugs, bugs", NULL, COST_TIER_UNKNOWN,
	    "reader coder sage other", "description: bugs" },
};

TEST_ROWS(agents_are_ranked_with_reasons, nitems(cases))
{
	const char *const tags[] = { cases[_i].tags, NULL };
	cleanup_agent_suggestions struct agent_suggestions all = { 0 };
	cleanup_agent_cards struct agent_cards cards = { 0 };
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(FLEET);
	cleanup_buf struct buf order = BUF_INIT;

	agent_cards_load(w.settings, &cards);
	agent_suggest(&cards,
	    &(struct agent_hint){ .task = cases[_i].task,
		.tags = tags,
		.max_cost = cases[_i].max_cost },
	    &all);
	for (size_t i = 0; i < all.count; i++)
		buf_addf(
		    &order, "%s%s", i > 0 ? " " : "", all.list[i].card->name);
	ck_assert_str_eq(order.data, cases[_i].order);
	if (cases[_i].reason != NULL)
		ck_assert_str_eq(all.list[0].reasons[0], cases[_i].reason);
}

TEST(the_fleet_table_has_a_line_for_each_card)
{
	cleanup_settings_world struct settings_world
	    none = settings_world_parse(""),
	    w = settings_world_parse("[agents.coder]\n"
				     "description = \"Writes\\ncode\"\n"
				     "tags = [\"code\"]\ncost_tier = "
				     "\"cheap\"\ntypical_latency = \"5m\"\n"
				     "model = \"opus\"\ntools = "
				     "[\"Read\", \"Edit\"]\n"
				     "[agents.sage]\n");
	cleanup_buf struct buf text = BUF_INIT;

	fleet_table_add(none.settings, &text);
	ck_assert_uint_eq(text.len, 0);
	fleet_table_add(w.settings, &text);
	ck_assert_ptr_nonnull(strstr(text.data,
	    "\n- coder: Writes code; tags: code; cost: cheap; takes about 5m; "
	    "model: opus; tools: Read, Edit\n- sage\n"));
}
