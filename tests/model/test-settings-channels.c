/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "channel.h"

#define HEAD "[people.channels.x]\n"

TEST(a_channel_has_what_the_file_says)
{
	cleanup_settings_world struct settings_world w = settings_world_parse(
	    "[people.channels.ops]\ntype = \"gitea\"\n"
	    "url = \"https://git.example/\"\nrepo = \"a/b.c\"\n"
	    "token_file = \"~/t\"\nlevels = [\"info\", \"emergency\"]\n"
	    "[people.channels.desk]\ntype = \"desktop\"\nenabled = false\n");
	const struct channel_list *list = settings_channels(w.settings);
	const struct channel *c = channel_find(list, "ops");

	ck_assert(!w.problems.fatal);
	ck_assert_uint_eq(w.problems.count, 0);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(c->type, CHANNEL_GITEA);
	ck_assert_str_eq(c->url, "https://git.example/");
	ck_assert_str_eq(c->repo, "a/b.c");
	ck_assert_str_eq(c->token_file, "/home/me/t");
	ck_assert_uint_eq(
	    c->levels, (1u << ESCALATION_INFO) | (1u << ESCALATION_EMERGENCY));
	ck_assert(c->levels_given && c->enabled);
	ck_assert(!channel_find(list, "desk")->enabled);
	ck_assert_ptr_null(channel_find(list, "none"));
}

static const struct {
	const char *text, *words;
} wrong[] = {
	{ HEAD "url = \"https://a\"\n", "people.channels.x: type is missing" },
	{ HEAD "type = \"mail\"\n", "people.channels.x.type: expected one of" },
	{ HEAD "type = \"webhook\"\n", "url is missing" },
	{ HEAD "type = \"webhook\"\nurl = \"ftp://a\"\n",
	    "people.channels.x.url: expected a URL" },
	{ HEAD "type = \"webhook\"\nurl = \"https://a b\"\n", "a URL" },
	{ HEAD "type = \"webhook\"\nurl = \"https://a\\nproxy=b\"\n", "a URL" },
	{ HEAD "type = \"gitea\"\nurl = \"https://a\"\ntoken_env = \"T\"\n",
	    "repo is missing" },
	{ HEAD "type = \"github\"\nrepo = \"a/b\"\n",
	    "token_file or token_env is missing" },
	{ HEAD "type = \"github\"\nrepo = \"a/../b\"\n", "a repository" },
	{ HEAD "type = \"github\"\nrepo = \"a\"\n", "a repository" },
	{ HEAD "type = \"command\"\n", "command is missing" },
	{ HEAD "type = \"desktop\"\nlevel = [\"info\"]\n",
	    "people.channels.x.level: no such setting; did you mean "
	    "\"levels\"?" },
	{ HEAD "type = \"desktop\"\nlevels = [\"loud\"]\n",
	    "a list of any of" },
	{ "[people.channels]\nx = 1\n", "expected a table" },
	{ "[people.channels.\"X Y\"]\ntype = \"desktop\"\n",
	    "not a valid name" },
};

TEST_ROWS(what_is_wrong_is_named, nitems(wrong))
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(wrong[_i].text);

	ck_assert(w.problems.fatal);
	ck_assert_msg(strstr(w.problems.list[0].text, wrong[_i].words) != NULL,
	    "%s", w.problems.list[0].text);
	ck_assert_uint_gt(w.problems.list[0].line, 0);
	ck_assert_uint_eq(settings_channels(w.settings)->count, 0);
}

/* The table of channels by level, and what is not sent by default. */
static const struct {
	const char *intervention, *severity;
	enum escalation_level level;
	bool desktop, issue, webhook;
} rows[] = {
	{ "log", "low", ESCALATION_INFO, false, false, false },
	{ "warn", "medium", ESCALATION_WARNING, false, false, false },
	{ "redirect", "high", ESCALATION_WARNING, true, false, false },
	{ "redirect", "critical", ESCALATION_CRITICAL, true, true, true },
	{ "restart", "high", ESCALATION_WARNING, true, false, false },
	{ "restart", "critical", ESCALATION_CRITICAL, true, true, true },
	{ "retry", "high", ESCALATION_WARNING, true, false, false },
	{ "retry", "critical", ESCALATION_CRITICAL, true, true, true },
	{ "pause", "high", ESCALATION_CRITICAL, true, true, true },
	{ "abort", "critical", ESCALATION_EMERGENCY, true, true, true },
};

TEST_ROWS(each_intervention_goes_to_its_channels, nitems(rows))
{
	struct escalation what = { .intervention = rows[_i].intervention };
	struct channel desktop = { .type = CHANNEL_DESKTOP, .enabled = true };
	struct channel issue = { .type = CHANNEL_GITEA, .enabled = true };
	struct channel hook = { .type = CHANNEL_WEBHOOK, .enabled = true };
	struct channel all = {
		.enabled = true, .levels = 0xf, .levels_given = true
	};

	ck_assert(escalation_of_intervention(
	    rows[_i].intervention, rows[_i].severity, &what.level));
	ck_assert_int_eq(what.level, rows[_i].level);
	desktop.levels = channel_default_levels(CHANNEL_DESKTOP);
	issue.levels = channel_default_levels(CHANNEL_GITEA);
	hook.levels = channel_default_levels(CHANNEL_WEBHOOK);
	ck_assert(channel_takes(&desktop, &what) == rows[_i].desktop);
	ck_assert(channel_takes(&issue, &what) == rows[_i].issue);
	ck_assert(channel_takes(&hook, &what) == rows[_i].webhook);
	ck_assert(channel_takes(&all, &what));
	all.enabled = false;
	ck_assert(!channel_takes(&all, &what));
}

TEST(what_a_person_has_done_is_no_alert)
{
	const struct notice own = { .class = NOTICE_TASK,
		.informs = true,
		.why = "aborted by a person",
		.task = "t1" };
	struct channel all = { .enabled = true, .levels_given = true };
	struct escalation what;
	struct buf buf = BUF_INIT;

	escalation_of_notice(&own, &buf, &what);
	ck_assert_int_eq(what.level, ESCALATION_INFO);
	for (int i = 0; i < CHANNEL_TYPE_COUNT; i++) {
		all.levels = channel_default_levels((enum channel_type)i);
		ck_assert(!channel_takes(&all, &what));
	}
	buf_release(&buf);
}

TEST(an_unknown_intervention_has_no_level)
{
	enum escalation_level level;

	ck_assert(!escalation_of_intervention("shout", NULL, &level));
}

TEST(a_channel_sends_a_few_at_once_and_then_one_at_a_time)
{
	int64_t now = 1000000, paid = 0;

	for (int i = 0; i < CHANNEL_BURST; i++)
		ck_assert_int_eq(channel_rest_ms(paid, now, &paid), 0);
	ck_assert_int_eq(channel_rest_ms(paid, now, &paid), CHANNEL_EACH_MS);
	now += CHANNEL_EACH_MS - 1;
	ck_assert_int_eq(channel_rest_ms(paid, now, &paid), 1);
	ck_assert_int_eq(channel_rest_ms(paid, now + 1, &paid), 0);
	/* The clock was set back by a year, or the file holds nonsense. */
	ck_assert_int_eq(channel_rest_ms(INT64_MAX, 0, &paid), 0);
	ck_assert_int_eq(paid, CHANNEL_EACH_MS);
}

static const struct {
	const char *url;
	bool private;
} urls[] = {
	{ "https://example.org/x", true },
	{ "", true }, /* the public API of GitHub */
	{ "http://localhost:3000/", true },
	{ "http://127.0.0.1", true },
	{ "http://me@[::1]:80/x", true },
	{ "HTTP://example.org/", false },
	{ "http://localhost.example.org/", false },
	{ "http://localhost@example.org/", false },
	{ "http://example.org/@localhost", false },
	{ "http://127.0.0.1.example.org", false },
};

TEST_ROWS(what_everybody_on_the_way_can_read_is_known, nitems(urls))
{
	cleanup_free char *url = xstrdup(urls[_i].url);
	struct channel channel = { .url = url };

	ck_assert_int_eq(channel_is_private(&channel), urls[_i].private);
}
