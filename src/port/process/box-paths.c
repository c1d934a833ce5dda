/* SPDX-License-Identifier: ISC */

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "box-paths.h"
#include "buf.h"
#include "file.h"
#include "mem.h"
#include "sibling.h"
#include "strv.h"

#define CONFIG_MAX   (1024 * 1024)
#define INCLUDES_MAX 8 /* files inside each other */

void
box_paths_release(struct box_paths *paths)
{
	strv_clear(&paths->hidden);
	strv_clear(&paths->shown);
}

/* Is path this folder, or inside it? */
static bool
is_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0' || folder[len - 1] == '/');
}

static bool
is_hidden(const struct box_paths *p, const char *path)
{
	for (char **h = p->hidden; h != NULL && *h != NULL; h++)
		if (is_within(path, *h))
			return true;
	return false;
}

static bool
holds_hidden(const struct box_paths *p, const char *path)
{
	for (char **h = p->hidden; h != NULL && *h != NULL; h++)
		if (is_within(*h, path))
			return true;
	return false;
}

static void
add_shown(struct box_paths *p, const char *path)
{
	if (!is_hidden(p, path) || holds_hidden(p, path))
		return;
	for (char **s = p->shown; s != NULL && *s != NULL; s++)
		if (strcmp(*s, path) == 0)
			return;
	strv_add(&p->shown, path);
}

bool
box_paths_hide(struct box_paths *p, const char *folder)
{
	char *real = realpath(folder, NULL);

	if (real == NULL)
		return false;
	strv_take(&p->hidden, real);
	return true;
}

void
box_paths_show(struct box_paths *p, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *upper = xstrdup(path), *lower = xstrdup(path);
	cleanup_free char *folder = NULL, *here = NULL;

	if (real == NULL)
		return;
	add_shown(p, real);
	/* The path itself, with the links in its folders followed. */
	folder = realpath(dirname(upper), NULL);
	if (folder == NULL)
		return;
	here = file_join(folder, basename(lower));
	if (strcmp(here, real) != 0)
		add_shown(p, here);
}

void
box_paths_show_program(struct box_paths *p, const char *name)
{
	cleanup_free char *path = sibling_program(name), *real = NULL;
	char *modules;

	if (path == NULL)
		return;
	box_paths_show(p, path);
	real = realpath(path, NULL);
	modules = real != NULL ? strstr(real, "/node_modules/") : NULL;
	if (modules == NULL)
		return;
	modules[strlen("/node_modules")] = '\0';
	box_paths_show(p, real);
}

void
box_paths_show_search(struct box_paths *p, const char *except)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = xstrdup(path != NULL ? path : "");
	char *rest = copy;
	const char *dir;

	while ((dir = strsep(&rest, ":")) != NULL) {
		cleanup_free char *real =
		    dir[0] == '/' ? realpath(dir, NULL) : NULL;

		if (real != NULL && !is_within(real, except))
			box_paths_show(p, dir);
	}
}

/* --- git ------------------------------------------------------------- */

static void
show_config(struct box_paths *p, const char *file, const char *home, int depth);

/* The value of "path = VALUE", without quotes and space around it; NULL if the
 * line is another one. Changes the line. */
static char *
path_value(char *line)
{
	char *end;

	line += strspn(line, " \t");
	if (strncasecmp(line, "path", 4) != 0)
		return NULL;
	line += 4;
	line += strspn(line, " \t");
	if (*line++ != '=')
		return NULL;
	line += strspn(line, " \t\"");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r\"", end[-1]) != NULL)
		end--;
	*end = '\0';
	return line;
}

static void
show_include(struct box_paths *p, const char *value, const char *file,
    const char *home, int depth)
{
	cleanup_free char *copy = xstrdup(file), *path = NULL;

	if (value[0] == '~' && value[1] == '/')
		path = file_join(home, value + 2);
	else
		path = file_join(dirname(copy), value);
	show_config(p, path, home, depth + 1);
}

static void
show_config(struct box_paths *p, const char *file, const char *home, int depth)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *line, *value;
	bool including = false;

	if (depth > INCLUDES_MAX ||
	    file_read(file, CONFIG_MAX, &text, NULL) < 0)
		return;
	box_paths_show(p, file);
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		if (line[0] == '[')
			including = strncasecmp(line, "[include", 8) == 0;
		else if (including && (value = path_value(line)) != NULL)
			show_include(p, value, file, home, depth);
	}
}

static void
show_alternates(struct box_paths *p, const char *git_dir)
{
	cleanup_free char *objects = file_join(git_dir, "objects");
	cleanup_free char *file = file_join(objects, "info/alternates");
	cleanup_buf struct buf text = BUF_INIT;
	char *rest;
	const char *line;

	if (file_read(file, CONFIG_MAX, &text, NULL) < 0)
		return;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0' && line[0] != '#') {
			cleanup_free char *path = file_join(objects, line);

			box_paths_show(p, path);
		}
}

void
box_paths_show_git(struct box_paths *p, const char *home, const char *git_dir)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	cleanup_free char *plain = file_join(home, ".gitconfig");
	cleanup_free char *folder = xdg != NULL && xdg[0] == '/' ?
	    file_join(xdg, "git") :
	    file_join(home, ".config/git");
	cleanup_free char *config = file_join(folder, "config");
	cleanup_free char *ignore = file_join(folder, "ignore");
	cleanup_free char *attributes = file_join(folder, "attributes");

	show_config(p, plain, home, 0);
	show_config(p, config, home, 0);
	/* Not the folder: git keeps passwords in it, too. */
	box_paths_show(p, ignore);
	box_paths_show(p, attributes);
	show_alternates(p, git_dir);
}

void
box_paths_show_machine(struct box_paths *p)
{
	static const char *const variables[] = { "NODE_EXTRA_CA_CERTS",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO" };

	box_paths_show(p, "/etc/resolv.conf");
	/* The programs of NixOS. */
	box_paths_show(p, "/run/current-system");
	for (size_t i = 0; i < nitems(variables); i++) {
		const char *path = getenv(variables[i]);

		if (path != NULL && path[0] == '/')
			box_paths_show(p, path);
	}
}
