/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <libgen.h>
#include <sys/stat.h>

#include "sibling.h"

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

/* path if it is a program, NULL (and path freed) if not. */
static char *
program_or_null(char *path)
{
	if (is_program(path))
		return path;
	free(path);
	return NULL;
}

static char *
find_on_path(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = xstrdup(path != NULL ? path : "");
	char *rest = copy, *dir, *found;

	while ((dir = strsep(&rest, ":")) != NULL) {
		found = dir[0] == '/' ? program_or_null(file_join(dir, name)) :
					NULL;
		if (found != NULL)
			return found;
	}
	return NULL;
}

char *
sibling_program(const char *name)
{
	return strchr(name, '/') != NULL ? program_or_null(xstrdup(name)) :
					   find_on_path(name);
}

/* In the build tree every program is in the folder of its sources. */
static char *
find_in_build(const char *dir, const char *name)
{
	cleanup_free char *up = xstrdup(dir);
	const char *folder = strcmp(name, "llmc") == 0 ? "cli" : name;

	return program_or_null(
	    xasprintf("%s/%s/%s", dirname(up), folder, name));
}

/* An installed tree may have been moved as a whole. */
static char *
find_in_libexec(const char *dir, const char *name)
{
	cleanup_free char *up = xstrdup(dir);

	return program_or_null(
	    xasprintf("%s/libexec/llmc/%s", dirname(up), name));
}

/* From there, llmc. */
static char *
find_in_bin(const char *dir, const char *name)
{
	return program_or_null(xasprintf("%s/../../bin/%s", dir, name));
}

char *
sibling_find(const char *name)
{
	char self[PATH_MAX] = "", *found;

	/* The folder is right even if the program was replaced since. */
	if (readlink("/proc/self/exe", self, sizeof self - 1) > 0) {
		const char *dir = dirname(self);

		found = program_or_null(file_join(dir, name));
		if (found == NULL)
			found = find_in_build(dir, name);
		if (found == NULL)
			found = find_in_libexec(dir, name);
		if (found == NULL)
			found = find_in_bin(dir, name);
		if (found != NULL)
			return found;
	}
	found = program_or_null(file_join(LLMC_LIBEXECDIR, name));
	return found != NULL ? found : find_on_path(name);
}
