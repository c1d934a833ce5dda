/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "metrics-text.h"
#include "process-facts.h"

static void
read_memory(struct metrics_process *facts)
{
	cleanup_buf struct buf text = BUF_INIT;
	long long size = 0, resident = 0;
	int64_t page = sysconf(_SC_PAGESIZE);

	if (file_read("/proc/self/statm", 4096, &text, NULL) < 0 ||
	    sscanf(text.data, "%lld %lld", &size, &resident) != 2)
		return;
	facts->virtual = size * page;
	facts->resident = resident * page;
}

/* Without the one that it is read with. */
static void
count_fds(struct metrics_process *facts)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (d == NULL)
		return;
	while ((entry = readdir(d)) != NULL)
		facts->open_fds += entry->d_name[0] != '.';
	facts->open_fds--;
	closedir(d);
}

static double
seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

void
process_facts_read(struct metrics_process *facts)
{
	struct rusage usage;
	struct rlimit limit;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		facts->cpu_s =
		    seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		facts->max_fds = (int64_t)limit.rlim_cur;
	read_memory(facts);
	count_fds(facts);
}
