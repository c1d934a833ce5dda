/* SPDX-License-Identifier: ISC */

/*
 * The only place that reads the clock.
 *
 * Durations come from the monotonic clock; times for people and file names come
 * from the wall clock. Rules (model/) never call this: they get `now` as an
 * argument. Tests and the loop's virtual mode set their own time.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timespec;

int64_t clock_mono_us(void); /* microseconds since an arbitrary fixed point */
int64_t clock_mono_ms(void);
int64_t clock_boot_ms(void); /* the same, and counts while the machine sleeps */
int64_t clock_machine_ms(void); /* the same, but of the machine even where a
				 * test has set another clock */
int64_t clock_wall_ms(void); /* milliseconds since 1970, UTC */

/* A file timestamp from the kernel, on the same scale as clock_wall_ms(). */
int64_t clock_file_ms(const struct timespec *at);

/* LLMC_TIME_SCALE=N makes both clocks run N times as fast as the machine's, for
 * tests: every interval, timeout and backoff of a program gets shorter by the
 * same factor, and programs with the same N agree on the time. These convert a
 * duration to kernel time, rounded up, for code that waits without the loop. */
int64_t clock_kernel_us(int64_t us);
int64_t clock_kernel_ms(int64_t ms);
/* The other way, for how long another program may take, which runs no faster.
 */
int64_t clock_of_kernel_ms(int64_t ms);

/* Virtual time: both clocks stand still until advanced. Starts at the given
 * times; clock_virtual_end() returns to the machine's clocks. */
void clock_virtual_begin(int64_t mono_ms, int64_t wall_ms);
void clock_virtual_advance(int64_t ms);
bool clock_is_virtual(void);
void clock_virtual_end(void);

/* "2026-01-31T08:15:30.123Z". Any int64 gives a well-formed string. */
#define CLOCK_STAMP_SIZE 88 /* room for any int in every field */
void clock_format_stamp(int64_t wall_ms, char out[CLOCK_STAMP_SIZE]);

/* "20260131T081530Z", for file names. */
void clock_format_compact(int64_t wall_ms, char out[CLOCK_STAMP_SIZE]);

#endif
