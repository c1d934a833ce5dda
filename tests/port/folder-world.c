/* SPDX-License-Identifier: ISC */

#include "folder-world.h"

struct source_world *
folder_world_open(const char *name)
{
	struct source_world *world =
	    source_world_new(SOURCE_FOLDER, unit_path(name), "us");

	source_world_reopen(world);
	return world;
}

char *
folder_world_path(struct source_world *world, const char *name)
{
	return file_join(world->options.where, name);
}

void
folder_world_put(struct source_world *world, const char *name, const char *text)
{
	cleanup_free char *path = folder_world_path(world, name);

	source_world_put(path, text, SOURCE_WORLD_OLD_MS);
}

void
folder_world_expect(struct source_world *world, const char *wanted)
{
	static const char *const places[] = { "todo", "doing", "done", "failed",
		"trash" };
	cleanup_buf struct buf found = BUF_INIT;

	for (size_t i = 0; i < nitems(places); i++) {
		cleanup_free char *path = folder_world_path(world, places[i]);
		cleanup_free char *names = source_world_names(path);

		if (*names != '\0')
			buf_addf(&found, "%s%s: %s", found.len > 0 ? "; " : "",
			    places[i], names);
	}
	ck_assert_str_eq(found.data, wanted);
}

void
folder_world_expect_text(
    struct source_world *world, const char *name, const char *wanted)
{
	cleanup_free char *path = folder_world_path(world, name);
	cleanup_free char *text = source_world_read(path);

	ck_assert_str_eq(text, wanted);
}
