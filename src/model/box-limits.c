/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "box-limits.h"
#include "buf.h"
#include "mem.h"
#include "settings-form.h"
#include "settings.h"
#include "strv.h"
#include "text.h"

const struct box_limit_row box_limit_rows[BOX_LIMIT_COUNT] = {
	[BOX_LIMIT_MEMORY] = { "memory_max", "memory", "memory.max", "max",
	    "MemoryMax" },
	[BOX_LIMIT_TASKS] = { "tasks_max", "pids", "pids.max", "max",
	    "TasksMax" },
	[BOX_LIMIT_CPU] = { "cpu_weight", "cpu", "cpu.weight", "100",
	    "CPUWeight" },
};

static int64_t
value_at(const struct settings *settings, const char *path, enum box_limit kind)
{
	return kind == BOX_LIMIT_MEMORY ?
	    settings_form_bytes(settings_string(settings, path)) :
	    settings_int(settings, path);
}

void
box_limits_of(const struct settings *settings, const char *worker,
    struct box_limits *ret_limits)
{
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		cleanup_buf struct buf path = BUF_INIT;

		settings_worker_path(
		    settings, worker, box_limit_rows[i].key, &path);
		ret_limits->values[i] = value_at(settings, path.data, i);
	}
}

unsigned
box_limits_wanted(const struct box_limits *limits)
{
	unsigned set = 0;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++)
		if (limits->values[i] > 0)
			set |= 1u << i;
	return set;
}

unsigned
box_limits_wanted_by_any(const struct settings *settings)
{
	const char *const *names;
	size_t count = settings_workers(settings, &names);
	struct box_limits limits;
	unsigned set = 0;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		cleanup_free char *path =
		    xasprintf("defaults.%s", box_limit_rows[i].key);

		if (value_at(settings, path, i) > 0)
			set |= 1u << i;
	}
	for (size_t i = 0; i < count; i++) {
		box_limits_of(settings, names[i], &limits);
		set |= box_limits_wanted(&limits);
	}
	return set;
}

static bool
has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		size_t found;

		list += strspn(list, " \n");
		found = strcspn(list, " \n");
		if (found == 0)
			return false;
		if (found == len && strncmp(list, word, len) == 0)
			return true;
		list += found;
	}
}

unsigned
box_limits_available(const char *controllers)
{
	unsigned set = 0;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++)
		if (has_word(controllers, box_limit_rows[i].controller))
			set |= 1u << i;
	return set;
}

void
box_limits_describe(unsigned set, struct buf *out)
{
	bool first = true;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		if ((set & 1u << i) == 0)
			continue;
		set &= ~(1u << i);
		if (!first)
			buf_adds(out, set == 0 ? " and " : ", ");
		buf_adds(out, box_limit_rows[i].key);
		first = false;
	}
}

char **
box_limits_scope(const struct box_limits *limits, const char *systemd_run,
    const char *unit, bool as_root)
{
	char **argv = NULL;

	strv_add(&argv, systemd_run);
	if (!as_root)
		strv_add(&argv, "--user");
	strv_add(&argv, "--scope");
	strv_add(&argv, "--quiet");
	strv_add(&argv, "--collect");
	strv_take(&argv, xasprintf("--unit=%s", unit));
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		if (limits->values[i] <= 0)
			continue;
		strv_add(&argv, "-p");
		strv_take(&argv,
		    xasprintf("%s=%lld", box_limit_rows[i].property,
			(long long)limits->values[i]));
	}
	strv_add(&argv, "--");
	return argv;
}

int64_t
box_limits_oom_kills(const char *memory_events)
{
	static const char name[] = "oom_kill ";
	const char *line = memory_events;
	int64_t count;

	while (line != NULL && strncmp(line, name, sizeof name - 1) != 0) {
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	if (line != NULL) {
		cleanup_free char *number = xstrndup(line + sizeof name - 1,
		    strcspn(line + sizeof name - 1, "\n"));

		if (text_parse_int(number, 0, INT64_MAX, &count))
			return count;
	}
	return -1;
}

void
box_limits_describe_oom(int64_t memory_max, struct buf *out)
{
	buf_addf(out,
	    "the kernel killed a process of it, because its memory reached "
	    "memory_max (%lld MiB)",
	    (long long)(memory_max / 1024 / 1024));
}
