/* SPDX-License-Identifier: ISC */

/*
 * What repo.seed_from saves: bench-seed BUILD. A first setup installs 50,000
 * files the way a package manager does it from its cache (check, unpack,
 * package by package); the second one has them cloned or copied.
 */
#include "bench.h"

#include "copy.h"

/* In the scratch folder: the cache of 500 packages with 100 files each. */
static const char make_cache[] =
    "mkdir p && cd p && for i in $(seq 100); do head -c 2048 "
    "/dev/urandom >$i.js; done && cd .. && mkdir cache && tar czf cache/1.tgz p "
    "&& for i in $(seq 2 500); do cp cache/1.tgz "
    "cache/$i.tgz; done && (cd cache && sha512sum *.tgz >sums)";

static const char install[] =
    "for i in $(seq 500); do (cd cache && grep \" $i.tgz\" "
    "sums | sha512sum --quiet -c) && mkdir -p one/deps/$i && tar xzf "
    "cache/$i.tgz -C one/deps/$i; done; mkdir two";

int
main(void)
{
	cleanup_free char *scratch = bench_scratch();
	cleanup_free char *one = file_join(scratch, "one");
	cleanup_free char *two = file_join(scratch, "two");
	struct table *table = bench_table("seed_from, 50,000 files");
	struct seed_result result;
	struct err err = { 0 };
	int64_t began, first, second;

	bench_run(scratch,
	    (const char *const[]){ "/bin/sh", "-c", make_cache, NULL });
	began = clock_mono_ms();
	bench_run(
	    scratch, (const char *const[]){ "/bin/sh", "-c", install, NULL });
	first = clock_mono_ms() - began;
	bench_run(scratch, (const char *const[]){ "sync", "-f", ".", NULL });
	began = clock_mono_ms();
	bench_must(seed_folder(one, two, "deps", INT64_MAX, &result, &err),
	    "seed", &err);
	second = clock_mono_ms() - began;
	bench_report(table, "the first setup", (double)first, 0, "ms", NULL);
	bench_report(table, "the second one", (double)second, (double)first / 5,
	    "ms", result.cloned > 0 ? "cloned" : "copied: no reflinks here");
	bench_print(table);
	bench_remove(scratch);
	return 0;
}
