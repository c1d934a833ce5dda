/* SPDX-License-Identifier: ISC */

#include "settings-world.h"

const struct settings_facts settings_world_facts = { .root = "/home/me/project",
	.home = "/home/me",
	.default_branch = "trunk" };

static struct {
	char *list[8192];
	size_t count;
} kept;

static void
kept_free(void)
{
	while (kept.count > 0)
		free(kept.list[--kept.count]);
}

const char *
settings_world_keep(char *text)
{
	if (kept.count == 0)
		atexit(kept_free);
	ck_assert_uint_lt(kept.count, nitems(kept.list));
	return kept.list[kept.count++] = text;
}

void
settings_world_cleanup(struct settings_world *world)
{
	settings_free(world->settings);
	settings_problems_release(&world->problems);
}

struct settings_world
settings_world_parse(const char *text)
{
	struct settings_world p;

	p.settings = settings_parse(
	    text, strlen(text), &settings_world_facts, &p.problems);
	ck_assert_ptr_nonnull(p.settings);
	return p;
}

const char *
settings_world_one_key(const struct setting *row, const char *value)
{
	const char *dot = strrchr(row->path, '.');

	return settings_world_keep(xasprintf("[%.*s]\n%s = %s\n",
	    (int)(dot - row->path), row->path, dot + 1, value));
}

const char *
settings_world_value(const struct settings *settings, const char *path)
{
	cleanup_json struct json_object *json = NULL;
	struct buf text = BUF_INIT;

	ck_assert(settings_value(settings, path, &json, NULL));
	json_print(json, false, &text);
	return settings_world_keep(buf_take(&text));
}
