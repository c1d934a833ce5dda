/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "mem.h"
#include "plan-survey.h"
#include "settings.h"
#include "strv.h"
#include "text.h"

#define NAMES_MAX   80 /* of the top level */
#define README_MAX  3000 /* bytes */
#define DEPTH_MAX   4 /* folders in folders */
#define ENTRIES_MAX 5000 /* that are looked at */
#define KINDS_MAX   40 /* of files */
#define KINDS_SHOWN 6
#define KIND_LEN    8 /* of a name's ending */

struct kind {
	char ending[KIND_LEN + 1];
	int count;
};

struct survey {
	struct kind kinds[KINDS_MAX];
	size_t count;
	int entries; /* looked at so far */
};

static void
count_file(struct survey *s, const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t i;

	if (dot == NULL || dot == name || dot[1] == '\0' ||
	    strlen(dot + 1) > KIND_LEN)
		return;
	for (i = 0; i < s->count; i++)
		if (strcmp(s->kinds[i].ending, dot + 1) == 0)
			break;
	if (i == KINDS_MAX)
		return;
	if (i == s->count)
		strlcpy(s->kinds[s->count++].ending, dot + 1, KIND_LEN + 1);
	s->kinds[i].count++;
}

/* Folders of llmc and git begin with a dot; the others have what was built or
 * comes from elsewhere. */
static bool
is_skipped(const char *name)
{
	static const char *const skipped[] = { "node_modules", "target",
		"build", "dist", "vendor", "venv", "__pycache__", NULL };

	if (name[0] == '.')
		return true;
	for (size_t i = 0; skipped[i] != NULL; i++)
		if (strcmp(name, skipped[i]) == 0)
			return true;
	return false;
}

/* names: NULL = not wanted. */
static void
look(struct survey *s, const char *path, int depth, char ***names)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && s->entries < ENTRIES_MAX &&
	    (entry = readdir(dir)) != NULL) {
		bool folder = entry->d_type == DT_DIR;
		cleanup_free char *name = NULL;

		if (is_skipped(entry->d_name))
			continue;
		s->entries++;
		name = xasprintf("%s%s", entry->d_name, folder ? "/" : "");
		if (names != NULL)
			strv_add(names, name);
		if (entry->d_type == DT_REG)
			count_file(s, entry->d_name);
		if (folder && depth < DEPTH_MAX) {
			cleanup_free char *below =
			    xasprintf("%s/%s", path, entry->d_name);

			look(s, below, depth + 1, NULL);
		}
	}
	if (dir != NULL)
		closedir(dir);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
by_count(const void *a, const void *b)
{
	const struct kind *one = a, *other = b;

	return one->count != other->count ? other->count - one->count :
					    strcmp(one->ending, other->ending);
}

static void
add_readme(const char *root, char *const *names, struct buf *out)
{
	for (; names != NULL && *names != NULL; names++) {
		cleanup_free char *path = xasprintf("%s/%s", root, *names);
		cleanup_buf struct buf text = BUF_INIT;

		if (strncasecmp(*names, "readme", 6) != 0 ||
		    file_read(path, 1 << 20, &text, NULL) < 0)
			continue;
		buf_addf(out, "%s begins:\n", *names);
		text_add_utf8(
		    out, text.data, text_cut(text.data, text.len, README_MAX));
		buf_addc(out, '\n');
		return;
	}
}

void
plan_survey(const char *root, const struct settings *settings, struct buf *out)
{
	static const char *const commands[] = { "auto.check_command",
		"oversight.test_command" };
	struct survey s = { .count = 0 };
	cleanup_strv char **names = NULL;
	size_t count;

	look(&s, root, 0, &names);
	count = strv_count(names);
	if (count > 0)
		qsort(names, count, sizeof *names, by_name);
	buf_adds(out, "Top level:");
	for (size_t i = 0; i < count && i < NAMES_MAX; i++)
		buf_addf(out, " %s", names[i]);
	if (count > NAMES_MAX)
		buf_addf(out, " and %zu more", count - NAMES_MAX);
	qsort(s.kinds, s.count, sizeof s.kinds[0], by_count);
	buf_adds(out, "\nFiles by kind:");
	for (size_t i = 0; i < s.count && i < KINDS_SHOWN; i++)
		buf_addf(out, "%s %d .%s", i > 0 ? "," : "", s.kinds[i].count,
		    s.kinds[i].ending);
	buf_addc(out, '\n');
	for (size_t i = 0; i < nitems(commands); i++)
		if (settings_string(settings, commands[i])[0] != '\0')
			buf_addf(out, "Work on it is checked with: %s\n",
			    settings_string(settings, commands[i]));
	add_readme(root, names, out);
}
