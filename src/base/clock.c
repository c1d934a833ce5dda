/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <time.h>

#define SCALE_MAX 1000

static struct {
	bool on;
	int64_t mono_ms, wall_ms;
} clock_virtual;

/* How much faster our clocks run than the machine's. */
static int64_t
clock_scale(void)
{
	static int64_t scale;
	const char *text;

	if (scale == 0) {
		text = getenv("LLMC_TIME_SCALE");
		if (text != NULL)
			scale = strtonum(text, 1, SCALE_MAX, NULL);
		if (scale == 0)
			scale = 1;
	}
	return scale;
}

static int64_t
clock_read_us(clockid_t id)
{
	struct timespec ts;

	/* Cannot fail: both clocks exist on every Linux. */
	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
clock_mono_us(void)
{
	if (clock_virtual.on)
		return clock_virtual.mono_ms * 1000;
	return clock_read_us(CLOCK_MONOTONIC) * clock_scale();
}

int64_t
clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

int64_t
clock_boot_ms(void)
{
	if (clock_virtual.on)
		return clock_virtual.mono_ms;
	return clock_read_us(CLOCK_BOOTTIME) * clock_scale() / 1000;
}

int64_t
clock_machine_ms(void)
{
	return clock_read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t
clock_wall_ms(void)
{
	if (clock_virtual.on)
		return clock_virtual.wall_ms;
	/* Both clocks agreed with the machine's when it booted. */
	return (clock_read_us(CLOCK_REALTIME) +
		   clock_read_us(CLOCK_MONOTONIC) * (clock_scale() - 1)) /
	    1000;
}

int64_t
clock_file_ms(const struct timespec *at)
{
	int64_t us = (int64_t)at->tv_sec * 1000000 + at->tv_nsec / 1000;
	int64_t booted;

	if (clock_scale() > 1) {
		booted = clock_read_us(CLOCK_REALTIME) -
		    clock_read_us(CLOCK_MONOTONIC);
		us += (us - booted) * (clock_scale() - 1);
	}
	return us / 1000;
}

int64_t
clock_kernel_us(int64_t us)
{
	return (us + clock_scale() - 1) / clock_scale();
}

int64_t
clock_kernel_ms(int64_t ms)
{
	return (ms + clock_scale() - 1) / clock_scale();
}

int64_t
clock_of_kernel_ms(int64_t ms)
{
	return ms * clock_scale();
}

void
clock_virtual_begin(int64_t mono_ms, int64_t wall_ms)
{
	clock_virtual.on = true;
	clock_virtual.mono_ms = mono_ms;
	clock_virtual.wall_ms = wall_ms;
}

void
clock_virtual_advance(int64_t ms)
{
	clock_virtual.mono_ms += ms;
	clock_virtual.wall_ms += ms;
}

bool
clock_is_virtual(void)
{
	return clock_virtual.on;
}

void
clock_virtual_end(void)
{
	clock_virtual.on = false;
}

/* Broken-down UTC; a time outside the calendar becomes the epoch. Returns the
 * milliseconds within the second. */
static int
clock_break_down(int64_t wall_ms, struct tm *ret_tm)
{
	time_t seconds = (time_t)(wall_ms / 1000), epoch = 0;
	int ms = (int)(wall_ms % 1000);

	if (ms < 0) {
		ms += 1000;
		seconds--;
	}
	if (gmtime_r(&seconds, ret_tm) == NULL || ret_tm->tm_year < -1900 ||
	    ret_tm->tm_year > 8099) {
		gmtime_r(&epoch, ret_tm);
		ms = 0;
	}
	return ms;
}

void
clock_format_stamp(int64_t wall_ms, char out[CLOCK_STAMP_SIZE])
{
	struct tm tm;
	int ms = clock_break_down(wall_ms, &tm);

	snprintf(out, CLOCK_STAMP_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
	    tm.tm_sec, ms);
}

void
clock_format_compact(int64_t wall_ms, char out[CLOCK_STAMP_SIZE])
{
	struct tm tm;

	clock_break_down(wall_ms, &tm);
	snprintf(out, CLOCK_STAMP_SIZE, "%04d%02d%02dT%02d%02d%02dZ",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
	    tm.tm_sec);
}
