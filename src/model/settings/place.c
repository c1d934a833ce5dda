/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "place.h"
#include "settings.h"

bool
place_is_slot(int index)
{
	return index >= PLACE_SLOTS && index <= PLACE_POST_ACCEPT;
}

int
place_lowest(const int *taken, size_t count)
{
	int index = 0;
	size_t i = 0;

	do {
		index++;
		for (i = 0; i < count && taken[i] != index; i++)
			continue;
	} while (
	    index < PLACE_INDEX_MAX && (i < count || place_is_slot(index)));
	return index;
}

int
place_port(const struct settings *settings, int index)
{
	return (int)settings_int(settings, "repo.port_base") +
	    PLACE_PORTS * index;
}

void
place_env(
    const struct place *place, const struct settings *settings, char ***env)
{
	cleanup_buf struct buf path = BUF_INIT;
	cleanup_free char *index = xasprintf("%d", place->index);
	cleanup_free char *port =
	    xasprintf("%d", place_port(settings, place->index));
	const char *const values[FORM_VALUES] = { index, port, place->worker,
		place->tmpdir };
	const char *const *more;

	strv_take(env, xasprintf("LLMC_WORKER=%s", place->worker));
	strv_take(env, xasprintf("LLMC_INDEX=%s", index));
	strv_take(env, xasprintf("LLMC_PORT=%s", port));
	strv_take(env, xasprintf("LLMC_TMPDIR=%s", place->tmpdir));
	/* A slot serves all workers. */
	if (place_is_slot(place->index))
		buf_adds(&path, "defaults.env");
	else
		settings_worker_path(settings, place->worker, "env", &path);
	settings_list(settings, path.data, &more);
	for (; *more != NULL; more++) {
		cleanup_buf struct buf text = BUF_INIT;

		/* A name alone is passed on by others: box-plan.h. */
		if (strchr(*more, '=') != NULL &&
		    settings_form_expand(*more, values, &text))
			strv_add(env, text.data);
	}
}
