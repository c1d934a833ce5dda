/* SPDX-License-Identifier: ISC */

#include "files-world.h"

struct source_world *
files_world_open(const char *name)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, unit_path(name), "us");

	ck_assert_int_eq(file_mkdirs(world->options.where, 0700, NULL), 0);
	source_world_reopen(world);
	return world;
}

struct source_world *
files_world_open_other(struct source_world *world)
{
	struct source_world *other =
	    source_world_new(SOURCE_FILES, world->options.where, "them");

	source_world_reopen(other);
	return other;
}

void
files_world_put_text(
    struct source_world *world, const char *id, const char *text)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", world->options.where, id);

	source_world_put(path, text, SOURCE_WORLD_OLD_MS);
}

void
files_world_put(struct source_world *world, const char *id, const char *status,
    const char *more)
{
	cleanup_free char *text = xasprintf(
	    "{\"id\":\"%s\",\"subject\":\"Subject %s\",\"description\":\"Do "
	    "it.\",\"status\":\"%s\",\"blocks\":[]%s}",
	    id, id, status, more);

	files_world_put_text(world, id, text);
}

struct json_object *
files_world_load(struct source_world *world, const char *id)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", world->options.where, id);
	struct json_object *json = NULL;
	struct err err = { 0, "" };

	ck_assert_msg(json_load(path, 65536, &json, &err) == 0, "%s", err.msg);
	return json;
}

void
files_world_expect(struct source_world *world, const char *id,
    const char *status, const char *owner)
{
	cleanup_json struct json_object *json = files_world_load(world, id);

	ck_assert_str_eq(json_string_or(json, "status", ""), status);
	ck_assert_pstr_eq(json_string_or(json, "owner", NULL), owner);
}
