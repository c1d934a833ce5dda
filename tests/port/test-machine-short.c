/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "machine.h"
#include "quota.h"

TEST(what_the_kernel_says_is_read_or_not_known)
{
	static const struct {
		const char *text;
		int percent;
	} pressures[] = { { "some avg10=12.30 avg60=0.00 avg300=0.00 total=1\n"
			    "full avg10=41.99 avg60=0.00 avg300=0.00 total=0\n",
			      41 },
		{ "some avg10=99.00 avg60=0.00 avg300=0.00 total=1\n", -1 },
		{ "full avg10=", -1 }, { "full avg10=x", -1 },
		{ "full avg10=101.0", -1 }, { "", -1 } };
	static const struct {
		const char *text;
		int64_t bytes;
	} memories[] = { { "MemTotal: 9 kB\nMemAvailable:   2048 kB\n",
			     2 << 20 },
		{ "MemAvailable: 99999999999999999999 kB", -1 },
		{ "MemAvailable: -5 kB", -1 }, { "MemFree: 7 kB", -1 },
		{ "MemAvailable:", -1 } };
	struct machine m;

	for (size_t i = 0; i < nitems(pressures); i++)
		ck_assert_int_eq(machine_pressure(pressures[i].text, "full"),
		    pressures[i].percent);
	ck_assert_int_eq(machine_pressure(pressures[0].text, "some"), 12);
	for (size_t i = 0; i < nitems(memories); i++)
		ck_assert_int_eq(
		    machine_memory(memories[i].text), memories[i].bytes);
	machine_read(unit_scratch(), &m);
	ck_assert_int_gt(m.memory_free, 0);
	ck_assert_int_gt(m.disk_free, 0);
	ck_assert_int_gt(m.cpus, 0);
	machine_read("/proc", &m); /* which has no size */
	ck_assert_int_eq(m.disk_free, -1);
	machine_read("/nonexistent/folder", &m);
	ck_assert_int_eq(m.disk_free, -1);
}
