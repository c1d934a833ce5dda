/* SPDX-License-Identifier: ISC */

/* The number, the ports and the variables of a worker's place. */
#include "settings-world.h"

#include "place.h"

TEST(a_worker_gets_the_lowest_number_that_is_free)
{
	int many[PLACE_SLOTS - 1];

	ck_assert_int_eq(place_lowest(NULL, 0), 1);
	ck_assert_int_eq(place_lowest((int[]){ 1, 2, 3 }, 3), 4);
	ck_assert_int_eq(place_lowest((int[]){ 3, 1 }, 2), 2);
	ck_assert_int_eq(place_lowest((int[]){ 0, 0 }, 2), 1);
	/* None of a slot. */
	for (size_t i = 0; i < nitems(many); i++)
		many[i] = (int)i + 1;
	ck_assert_int_eq(
	    place_lowest(many, nitems(many)), PLACE_POST_ACCEPT + 1);
}

/* One variable of the environment that a place has. */
static const char *
variable(const struct place *place, const char *text, const char *name)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(text);
	cleanup_strv char **env = NULL;
	size_t len = strlen(name);

	place_env(place, w.settings, &env);
	for (size_t i = strv_count(env); i-- > 0;)
		if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
			return settings_world_keep(xstrdup(env[i] + len + 1));
	return NULL;
}

TEST(variables_tell_places_apart)
{
	static const struct place eve = { "eve", 3, "/r/.llmc/tmp/eve" },
				  slot = { "check-2", PLACE_SLOTS + 2, "/t" };
	static const char settings[] =
	    "[repo]\nport_base = 5000\n[defaults]\nenv = [\"EDITOR\", "
	    "\"DB=app_{index}\", \"A={worker}:{port}/{{x}}\", "
	    "\"T={tmpdir}/s\"]\n[workers.eve]\nenv = [\"DB=eve\", "
	    "\"LLMC_PORT=80\"]\n";
	static const struct place other = { "bob", 1, "/b" };
	static const struct {
		const struct place *place;
		const char *name, *value;
	} rows[] = {
		{ &other, "LLMC_WORKER", "bob" },
		{ &other, "LLMC_INDEX", "1" },
		{ &other, "LLMC_PORT", "5020" },
		{ &other, "LLMC_TMPDIR", "/b" },
		{ &other, "DB", "app_1" },
		{ &other, "A", "bob:5020/{x}}" },
		{ &other, "T", "/b/s" },
		{ &other, "EDITOR", NULL },
		/* Its own list replaces that of all. */
		{ &eve, "DB", "eve" },
		{ &eve, "T", NULL },
		{ &eve, "LLMC_PORT", "80" },
		{ &slot, "LLMC_PORT", "9040" },
		{ &slot, "DB", "app_202" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		const char *value =
		    variable(rows[i].place, settings, rows[i].name);

		ck_assert_msg(rows[i].value == NULL ?
			value == NULL :
			value != NULL && strcmp(value, rows[i].value) == 0,
		    "%zu: %s", i, value != NULL ? value : "none");
	}
	ck_assert_str_eq(
	    variable(&other, "", "LLMC_PORT"), "20020"); /* the default */
}
