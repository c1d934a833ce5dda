/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errand-files.h"
#include "errand.h"
#include "errtext.h"
#include "file.h"
#include "lock.h"
#include "mem.h"
#include "text.h"

#define SMALL_MAX 32 /* of .pid and .status */

/* All but the .json. */
static const char *const errand_suffixes[] = { ".pid", ".pid.tmp", ".status",
	".status.tmp", ".out", ".err", ".lock" };

char *
errand_file_path(const char *stem, const char *suffix)
{
	return xasprintf("%s%s", stem, suffix);
}

bool
errand_file_exists(const char *stem, const char *suffix)
{
	cleanup_free char *path = errand_file_path(stem, suffix);

	return file_exists(path);
}

static bool
name_is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";

	return *name != '\0' && name[strspn(name, letters)] == '\0';
}

int
errand_files_stem(
    const char *dir, const char *name, char **ret_stem, struct err *err)
{
	cleanup_free char *real = NULL;

	if (!name_is_valid(name))
		return err_set(err, -EINVAL,
		    "an errand's name has letters, digits, '-' and '_'");
	real = realpath(dir, NULL);
	if (real == NULL)
		return err_errno(err, -errno, "%s", dir);
	*ret_stem = file_join(real, name);
	return 0;
}

int
errand_file_number(
    const char *stem, const char *suffix, int64_t max, int64_t *ret)
{
	cleanup_free char *path = errand_file_path(stem, suffix);
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(path, SMALL_MAX, &text, NULL);

	if (r < 0)
		return r;
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	return text_parse_int(text.data, 0, max, ret) ? 0 : -EINVAL;
}

bool
errand_files_held(const char *stem)
{
	cleanup_free char *lock = errand_file_path(stem, ".lock");

	return lock_is_held(lock) != 0;
}

int
errand_file_remove(const char *stem, const char *suffix, struct err *err)
{
	cleanup_free char *path = errand_file_path(stem, suffix);

	if (unlink(path) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot remove %s", path);
	return 0;
}

int
errand_files_remove(const char *stem, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < nitems(errand_suffixes) && r == 0; i++)
		r = errand_file_remove(stem, errand_suffixes[i], err);
	return r;
}

int
errand_forget(const char *dir, const char *name, struct err *err)
{
	cleanup_free char *stem = NULL;
	bool held;
	int r = errand_files_stem(dir, name, &stem, err);

	if (r < 0)
		return r;
	held = errand_files_held(stem);
	if (held && !errand_file_exists(stem, ".status"))
		return err_set(err, -EBUSY, "the errand %s still runs", stem);
	/* The .json first: without the others it would be one to be started. */
	r = errand_file_remove(stem, ERRAND_JSON, err);
	return r < 0 ? r : errand_files_remove(stem, err);
}

bool
errand_find(const char *dir, char *name, size_t size)
{
	const size_t suffix_len = sizeof ERRAND_JSON - 1;
	const struct dirent *entry;
	DIR *stream = opendir(dir);
	bool found = false;

	while (stream != NULL && (entry = readdir(stream)) != NULL) {
		char found_name[sizeof entry->d_name];
		size_t len = strlen(entry->d_name);

		if (len <= suffix_len ||
		    strcmp(entry->d_name + len - suffix_len, ERRAND_JSON) != 0)
			continue;
		len -= suffix_len;
		snprintf(found_name, sizeof found_name, "%.*s", (int)len,
		    entry->d_name);
		if (!name_is_valid(found_name) || len >= size ||
		    (found && strcmp(found_name, name) > 0))
			continue;
		snprintf(name, size, "%s", found_name);
		found = true;
	}
	if (stream != NULL)
		closedir(stream);
	return found;
}
