/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper-proc.h"
#include "keeper-record.h"
#include "keeper.h"

static struct {
	char text[8192];
	size_t len;
} record;

static __attribute__((format(printf, 1, 2))) void
add(const char *fmt, ...)
{
	size_t room = sizeof record.text - record.len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(record.text + record.len, room, fmt, ap);
	va_end(ap);
	/* Full: stays full, and is refused at the end. */
	record.len += n < 0 || (size_t)n >= room ? room : (size_t)n;
}

static void
add_string(const char *name, const char *value)
{
	if (value == NULL)
		return;
	add(",\"%s\":\"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c < ' ')
			add("\\u%04x", c);
		else
			add("%s%c", c == '"' || c == '\\' ? "\\" : "", c);
	}
	add("\"");
}

static void
add_boot_id(void)
{
	char id[64];

	if (keeper_proc_read("/proc/sys/kernel/random/boot_id", id, sizeof id) <
	    0)
		return;
	id[strcspn(id, "\n")] = '\0';
	add_string("boot_id", id);
}

static int
write_to(int fd)
{
	size_t done = 0;

	while (done < record.len) {
		ssize_t n = write(fd, record.text + done, record.len - done);

		if (n == -1)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

int
keeper_record_write(const struct keeper *keeper, bool ended, long oom_kills)
{
	static char temporary[PATH_MAX];
	int n, fd, r;

	if (keeper->record == NULL)
		return 0;
	record.len = 0;
	add("{\"mode\":\"%s\",\"pid\":%d,\"start_time\":%llu",
	    keeper_mode_word(keeper->mode), (int)getpid(),
	    (unsigned long long)keeper_proc_start_time(getpid()));
	add(",\"init\":%d,\"init_start_time\":%llu", (int)keeper->inner,
	    (unsigned long long)keeper_proc_start_time(keeper->inner));
	add_boot_id();
	add_string("cgroup", keeper->cgroup);
	add_string("mark", keeper->mark);
	if (ended)
		add(",\"ended\":true,\"oom_kills\":%ld", oom_kills);
	add("}\n");
	n = snprintf(temporary, sizeof temporary, "%s.%d", keeper->record,
	    (int)getpid());
	if (record.len >= sizeof record.text || n < 0 ||
	    (size_t)n >= sizeof temporary)
		return -ENAMETOOLONG;
	fd = open(temporary,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -errno;
	r = write_to(fd);
	if (close(fd) == -1 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, keeper->record) == -1)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}
