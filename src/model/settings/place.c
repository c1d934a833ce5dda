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

/* What is replaced, and by what; place NULL: it is only checked. */
static bool
expand(const char *text, const struct place *place, int port, struct buf *out)
{
	static const char *const names[] = { "index", "port", "worker",
		"tmpdir" };

	for (; *text != '\0'; text++) {
		size_t len = strcspn(text + 1, "}"), i = 0;

		if (*text != '{') {
			buf_addc(out, *text);
			continue;
		}
		if (text[1] == '{') {
			buf_addc(out, *++text);
			continue;
		}
		while (i < nitems(names) &&
		    (strlen(names[i]) != len ||
			strncmp(text + 1, names[i], len) != 0))
			i++;
		if (i == nitems(names) || text[len + 1] != '}')
			return false;
		if (place != NULL && i < 2)
			buf_addf(out, "%d", i == 0 ? place->index : port);
		else if (place != NULL)
			buf_adds(out, i == 2 ? place->worker : place->tmpdir);
		text += len + 1;
	}
	return true;
}

bool
place_fits(const char *text)
{
	cleanup_buf struct buf ignored = BUF_INIT;

	return expand(text, NULL, 0, &ignored);
}

void
place_env(
    const struct place *place, const struct settings *settings, char ***env)
{
	cleanup_buf struct buf path = BUF_INIT;
	int port = place_port(settings, place->index);
	const char *const *more;

	strv_take(env, xasprintf("LLMC_WORKER=%s", place->worker));
	strv_take(env, xasprintf("LLMC_INDEX=%d", place->index));
	strv_take(env, xasprintf("LLMC_PORT=%d", port));
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
		    expand(*more, place, port, &text))
			strv_add(env, text.data);
	}
}
