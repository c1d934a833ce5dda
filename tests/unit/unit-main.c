/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "unit.h"

#if defined(__aarch64__)
/* The sanitizer's question at the end of every process. Its search for leaks
 * takes seconds there, also of a program that does nothing; valgrind looks for
 * them instead. */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return 1;
}
#endif

static char *scratch;
static pid_t scratch_owner;

static int
unit_remove_one(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_DNR)
		chmod(path, 0700);
	return remove(path);
}

static int
unit_unlock_one(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_D || type == FTW_DNR)
		chmod(path, st->st_mode | 0700);
	return 0;
}

static void
unit_remove_scratch(void)
{
	if (scratch == NULL || scratch_owner != getpid())
		return;
	nftw(scratch, unit_unlock_one, 16, FTW_PHYS);
	nftw(scratch, unit_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(take_ptr(&scratch));
}

const char *
unit_scratch(void)
{
	const char *base = getenv("TMPDIR");

	/* check forks each test: every process gets a directory of its own. */
	if (scratch != NULL && scratch_owner == getpid())
		return scratch;
	scratch = xasprintf("%s/llmc-unit-XXXXXX", base ? base : "/tmp");
	scratch_owner = getpid();
	if (mkdtemp(scratch) == NULL) {
		perror(scratch);
		exit(99);
	}
	atexit(unit_remove_scratch);
	return scratch;
}

const char *
unit_path(const char *name)
{
	static char *kept[4096];
	static size_t count;

	if (count == nitems(kept)) {
		fputs("unit_path: too many paths in one test\n", stderr);
		exit(99);
	}
	kept[count] = xasprintf("%s/%s", unit_scratch(), name);
	return kept[count++];
}

const char *
unit_vectors(void)
{
	const char *path = getenv("LLMC_VECTORS");
	struct stat st;

	if (path == NULL || stat(path, &st) == -1 || !S_ISDIR(st.st_mode))
		return NULL;
	return path;
}

void
unit_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	fflush(stdout);
	exit(0);
}

void
unit_case(Suite *suite, const char *name, const TTest *const *tests)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 60);
	for (; *tests != NULL; tests++)
		tcase_add_test(tc, *tests);
	suite_add_tcase(suite, tc);
}

int
main(void)
{
	SRunner *runner = srunner_create(unit_suite());
	int failed;

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
