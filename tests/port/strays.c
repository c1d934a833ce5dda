/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>
#include <poll.h>

#include "strays.h"

#define TEXT_MAX ((size_t)1024 * 1024)

static bool
has_text(const char *pid, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("/proc/%s/%s", pid, name);
	cleanup_buf struct buf all = BUF_INIT;

	return file_read(path, TEXT_MAX, &all, NULL) == 0 &&
	    memmem(all.data, all.len, text, strlen(text)) != NULL;
}

int
strays_count(const char *text, pid_t *ret_pid)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const char *name;
	int count = 0;

	while ((name = dir_next(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(name, NULL, 10);

		if (pid <= 0 || pid == getpid() ||
		    (!has_text(name, "cmdline", text) &&
			!has_text(name, "environ", text)))
			continue;
		if (ret_pid != NULL && (count == 0 || pid > *ret_pid))
			*ret_pid = pid;
		count++;
	}
	return count;
}

bool
strays_become(const char *text, int count, int ms)
{
	int64_t end = clock_mono_ms() + ms;

	while (strays_count(text, NULL) != count) {
		if (clock_mono_ms() > end)
			return false;
		poll(NULL, 0, 5);
	}
	return true;
}
