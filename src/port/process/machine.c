/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/statvfs.h>

#include "machine.h"
#include "quota.h"

#define FILE_MAX (64 * 1024)

int
machine_pressure(const char *text, const char *who)
{
	cleanup_free char *mark = xasprintf("%s avg10=", who);
	const char *at = strstr(text, mark);
	char *end;
	long percent;

	if (at == NULL)
		return -1;
	at += strlen(mark);
	percent = strtol(at, &end, 10);
	return end == at || percent < 0 || percent > 100 ? -1 : (int)percent;
}

int64_t
machine_memory(const char *text)
{
	static const char mark[] = "MemAvailable:";
	const char *at = strstr(text, mark);
	char *end;
	long long kib;

	if (at == NULL)
		return -1;
	at += strlen(mark);
	kib = strtoll(at, &end, 10);
	return end == at || kib < 0 || kib > INT64_MAX / 1024 ? -1 : kib * 1024;
}

static int
read_pressure(const char *path, const char *who)
{
	cleanup_buf struct buf text = BUF_INIT;

	return file_read(path, FILE_MAX, &text, NULL) < 0 ?
	    -1 :
	    machine_pressure(text.data, who);
}

void
machine_read(const char *dir, struct machine *ret_machine)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct statvfs disk;
	double load;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*ret_machine = (struct machine){
		.memory_free = -1,
		.disk_free = -1,
		.memory_full = read_pressure("/proc/pressure/memory", "full"),
		.cpu_some = read_pressure("/proc/pressure/cpu", "some"),
		.cpus = cpus > 0 ? (int)cpus : -1,
		.load = getloadavg(&load, 1) == 1 && load < 1e6 ?
		    (int)(load * 100) :
		    -1,
	};
	if (file_read("/proc/meminfo", FILE_MAX, &text, NULL) == 0)
		ret_machine->memory_free = machine_memory(text.data);
	/* Some file systems do not say how large they are. */
	if (statvfs(dir, &disk) == 0 && disk.f_blocks > 0 && disk.f_frsize > 0)
		ret_machine->disk_free =
		    (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
}
