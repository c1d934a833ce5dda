/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "errand-files.h"
#include "errtext.h"
#include "file.h"
#include "lock.h"
#include "mem.h"
#include "text.h"

#define SMALL_MAX 32 /* of .pid and .status */

/* All files but the .json. */
static const char *const errand_suffixes[] = { ".pid", ".pid.tmp", ".status",
	".status.tmp", ".out", ".err", ".lock" };

char *
errand_files_path(const char *stem, const char *suffix)
{
	return xasprintf("%s%s", stem, suffix);
}

bool
errand_files_exists(const char *stem, const char *suffix)
{
	cleanup_free char *path = errand_files_path(stem, suffix);

	return file_exists(path);
}

bool
errand_files_is_name(const char *name)
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

	if (!errand_files_is_name(name))
		return err_set(err, -EINVAL,
		    "an errand's name may have only letters, digits, '-' and '_'");
	real = realpath(dir, NULL);
	if (real == NULL)
		return err_errno(err, -errno, "%s", dir);
	*ret_stem = file_join(real, name);
	return 0;
}

int
errand_files_number(
    const char *stem, const char *suffix, int64_t max, int64_t *ret)
{
	cleanup_free char *path = errand_files_path(stem, suffix);
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
	cleanup_free char *lock = errand_files_path(stem, ".lock");

	return lock_is_held(lock) != 0;
}

int
errand_files_remove_one(const char *stem, const char *suffix, struct err *err)
{
	cleanup_free char *path = errand_files_path(stem, suffix);

	if (unlink(path) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot remove %s", path);
	return 0;
}

int
errand_files_remove(const char *stem, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < nitems(errand_suffixes) && r == 0; i++)
		r = errand_files_remove_one(stem, errand_suffixes[i], err);
	return r;
}
