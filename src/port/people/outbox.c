/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "outbox.h"
#include "strv.h"

#define WAITS       ".json"
#define TOLD        ".told"
#define MESSAGE_MAX (1 << 20)

static char *
path_of(const char *dir, const char *id, const char *suffix)
{
	return xasprintf("%s/%s%s", dir, id, suffix);
}

static bool
ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && strcmp(name + len - n, suffix) == 0;
}

bool
outbox_has(const char *dir, const char *id)
{
	cleanup_free char *waits = path_of(dir, id, WAITS);
	cleanup_free char *told = path_of(dir, id, TOLD);

	return access(waits, F_OK) == 0 || access(told, F_OK) == 0;
}

int
outbox_put(const char *dir, const char *id, struct json_object *message,
    struct err *err)
{
	cleanup_free char *path = path_of(dir, id, WAITS);
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_mkdirs(dir, 0700, err);

	json_print(message, false, &text);
	return r < 0 ? r : file_replace(path, text.data, text.len, 0600, err);
}

/* A receipt is there before the message may be seen. */
int
outbox_told(const char *dir, const char *id, struct err *err)
{
	cleanup_free char *waits = path_of(dir, id, WAITS);
	cleanup_free char *told = path_of(dir, id, TOLD);
	int r;

	if (rename(waits, told) == 0)
		return 0;
	r = file_mkdirs(dir, 0700, err);
	return r < 0 ? r : file_replace(told, "", 0, 0600, err);
}

static void
read_one(const char *dir, const char *name, outbox_fn *fn, void *arg)
{
	cleanup_free char *path = path_of(dir, name, "");
	cleanup_free char *id = xstrndup(name, strlen(name) - strlen(WAITS));
	cleanup_json struct json_object *message = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, MESSAGE_MAX, &text, NULL) == 0 &&
	    json_parse(text.data, text.len, MESSAGE_MAX, &message, NULL) == 0)
		fn(id, message, arg);
}

static void
remove_old(const char *dir, const char *name)
{
	cleanup_free char *path = path_of(dir, name, "");
	struct stat st;

	if (stat(path, &st) == 0 &&
	    clock_wall_ms() - (int64_t)st.st_mtime * 1000 > OUTBOX_KEEP_MS)
		unlink(path);
}

void
outbox_each(const char *dir, outbox_fn *fn, void *arg)
{
	cleanup_strv char **names = NULL;
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (d == NULL)
		return;
	while ((entry = readdir(d)) != NULL)
		strv_add(&names, entry->d_name);
	closedir(d);
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		if (ends_with(names[i], WAITS))
			read_one(dir, names[i], fn, arg);
		else if (ends_with(names[i], TOLD))
			remove_old(dir, names[i]);
	}
}
