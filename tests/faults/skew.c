/* SPDX-License-Identifier: ISC */

/*
 * Preloaded into the programs of a host: its wall clock is wrong by so many
 * seconds as LLMC_SKEW says. Other clocks are right. Used by
 * tests/e2e/test-hosts*.c.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long
skew(void)
{
	const char *text = getenv("LLMC_SKEW");

	return text != NULL ? strtol(text, NULL, 10) : 0;
}

int
clock_gettime(clockid_t id, struct timespec *at)
{
	long r = syscall(SYS_clock_gettime, id, at);

	if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		at->tv_sec += skew();
	return (int)r;
}

int
gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	at->tv_sec = now.tv_sec;
	at->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *at)
{
	struct timespec now = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	if (at != NULL)
		*at = now.tv_sec;
	return now.tv_sec;
}
