/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <ftw.h>
#include <sys/statvfs.h>

#include "unit.h"

/* Check does not support skipped tests: a skipped test fails with a message
 * that starts with this, and check's output is rewritten on its way out. */
#define SKIP "SKIP: "

/* A test may take so many times as long on a busy machine. */
#define BUSY           3
#define BUSY_TIMES     "3"
#define PROGRAM_S      400 /* meson gives a program as many */
#define TIMES_VARIABLE "CK_TIMEOUT_MULTIPLIER" /* of check */
#define GUARD_MS       900 /* of each second, for a wait */
#define LOOK_MS        10

#ifdef __aarch64__
/* A hook of the sanitizer, called at the end of every process. Its search for
 * leaks takes seconds here, even in a program that does nothing; valgrind finds
 * them instead. */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return 1;
}
#endif

#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

/* The same for the programs that a test runs. */
static void
without_leak_search(void)
{
#if SANITIZED && defined(__aarch64__)
	const char *options = getenv("ASAN_OPTIONS");
	cleanup_free char *edited =
	    xasprintf("%s:detect_leaks=0", options != NULL ? options : "");

	setenv("ASAN_OPTIONS", edited, 1);
#endif
}

void
unit_int_eq(intmax_t x, intmax_t y, const char *x_text, const char *y_text,
    const char *file, int line)
{
	if (x == y)
		_mark_point(file, line);
	else
		_ck_assert_failed(file, line, "Assertion failed",
		    "Assertion '%s == %s' failed: %s == %jd, %s == %jd", x_text,
		    y_text, x_text, x, y_text, y);
}

void
unit_uint_eq(uintmax_t x, uintmax_t y, const char *x_text, const char *y_text,
    const char *file, int line)
{
	if (x == y)
		_mark_point(file, line);
	else
		_ck_assert_failed(file, line, "Assertion failed",
		    "Assertion '%s == %s' failed: %s == %ju, %s == %ju", x_text,
		    y_text, x_text, x, y_text, y);
}

void
unit_str_eq(const char *x, const char *y, const char *x_text,
    const char *y_text, const char *file, int line)
{
	/* As check has it, no string is equal to NULL, not even NULL. */
	if (x != NULL && y != NULL && strcmp(x, y) == 0) {
		_mark_point(file, line);
		return;
	}
	_ck_assert_failed(file, line, "Assertion failed",
	    "Assertion '%s == %s' failed: %s == %s%s%s, %s == %s%s%s", x_text,
	    y_text, x_text, x != NULL ? "\"" : "", x != NULL ? x : "(null)",
	    x != NULL ? "\"" : "", y_text, y != NULL ? "\"" : "",
	    y != NULL ? y : "(null)", y != NULL ? "\"" : "");
}

static struct scratch {
	pid_t owner;
	char *path;
	struct scratch *inherited; /* of the parent, whose paths are in use */
} * scratch;

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
	struct scratch *mine = scratch;

	if (mine == NULL || mine->owner != getpid())
		return;
	nftw(mine->path, unit_unlock_one, 16, FTW_PHYS);
	nftw(mine->path, unit_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	scratch = mine->inherited;
	free(mine->path);
	free(mine);
}

/* Memory, if there is enough of it: on a disk, most tests spend most of their
 * time waiting for syncs. */
static const char *
scratch_parent(void)
{
	static const char memory[] = "/dev/shm";
	const char *wanted = getenv("TMPDIR");
	struct statvfs fs;

	if (wanted != NULL)
		return wanted;
	if (statvfs(memory, &fs) == 0 && (fs.f_flag & ST_NOEXEC) == 0 &&
	    (uint64_t)fs.f_bavail * fs.f_frsize >= (uint64_t)2 << 30 &&
	    access(memory, W_OK) == 0)
		return memory;
	return "/tmp";
}

const char *
unit_scratch(void)
{
	struct scratch *mine;

	/* check forks for each test: every process gets its own directory. */
	if (scratch != NULL && scratch->owner == getpid())
		return scratch->path;
	mine = xcalloc(1, sizeof *mine);
	mine->owner = getpid();
	mine->path = xasprintf("%s/llmc-unit-XXXXXX", scratch_parent());
	mine->inherited = scratch;
	scratch = mine;
	if (mkdtemp(mine->path) == NULL) {
		perror(mine->path);
		exit(99);
	}
	atexit(unit_remove_scratch);
	return mine->path;
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

void
unit_git_settings(void)
{
	static const char text[] = "[maintenance]\n\tauto = false\n"
				   "[receive]\n\tautogc = false\n";
	const char *path = unit_path("gitconfig");
	FILE *file = fopen(path, "we");

	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
		perror(path);
		exit(99);
	}
	setenv("GIT_CONFIG_SYSTEM", path, 1);
}

int
unit_times(int whole)
{
	int part = SANITIZED ? 50 : 10;

	return getenv("UNIT_WHOLE") != NULL ? whole : (whole + part - 1) / part;
}

const char *
unit_vectors(void)
{
	const char *path = getenv("LLMC_VECTORS");

	return path != NULL ? path : UNIT_VECTORS;
}

void
unit_hurry(int times)
{
	cleanup_free char *text = xasprintf("%d", times);

	setenv("LLMC_TIME_SCALE", text, 1);
}

void
unit_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	fflush(stdout);
	exit(0);
}

/* --- waiting ----------------------------------------------------------- */

static int64_t began; /* machine's time; 0 = not known */
static double seconds; /* of unit_set_timeout() */

static double
test_seconds(void)
{
	if (seconds > 0)
		return seconds;
	return &unit_timeout != NULL ? unit_timeout : 60;
}

void
unit_set_timeout(TCase *tc, double of_each)
{
	seconds = of_each;
	tcase_set_timeout(tc, of_each);
}

int64_t
unit_guard_ms(void)
{
	const char *times = getenv(TIMES_VARIABLE);
	double whole = test_seconds();
	int64_t left;

	if (began == 0)
		began = clock_machine_ms();
	if (times != NULL && strcmp(times, BUSY_TIMES) != 0)
		whole *= strtod(times, NULL);
	else if (whole < PROGRAM_S) /* then meson ends the program */
		whole = whole * BUSY < PROGRAM_S ? whole * BUSY : PROGRAM_S;
	left = began + (int64_t)(whole * GUARD_MS) - clock_machine_ms();
	return clock_of_kernel_ms(left > 0 ? left : 0);
}

bool
unit_is_late(void)
{
	return unit_guard_ms() == 0;
}

void
unit_wait_on(const char *what, const char *(*known)(void))
{
	if (unit_is_late())
		ck_abort_msg("waited in vain for %s: %s", what,
		    known != NULL ? known() : "");
	poll(NULL, 0, LOOK_MS); /* for other programs */
}

static void (*at_end[16])(void);
static size_t end_count;

void
unit_at_end(void (*end)(void))
{
	for (size_t i = 0; i < end_count; i++)
		if (at_end[i] == end)
			return;
	ck_assert_uint_lt(end_count, nitems(at_end));
	at_end[end_count++] = end;
}

static void
before_test(void)
{
	began = clock_machine_ms();
}

static void
after_test(void)
{
	while (end_count > 0)
		at_end[--end_count]();
	if (unit_after != NULL)
		unit_after();
	/* Without a process of its own, the next test begins with nothing. */
	if (strcmp(getenv("CK_FORK") != NULL ? getenv("CK_FORK") : "", "no") ==
	    0)
		unit_remove_scratch();
}

void
unit_case(Suite *suite, const char *name, const TTest *const *tests)
{
	TCase *tc = tcase_create(name);

	tcase_set_tags(tc, name);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, after_test);
	for (; *tests != NULL; tests++)
		tcase_add_test(tc, *tests);
	suite_add_tcase(suite, tc);
}

void
unit_rows(Suite *suite, const TTest *test, size_t count)
{
	TCase *tc = tcase_create(test->name);

	tcase_set_tags(tc, test->name);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, after_test);
	tcase_add_loop_test(tc, test, 0, (int)count);
	suite_add_tcase(suite, tc);
}

void
unit_skip(const char *why)
{
	unit_remove_scratch(); /* check exits without atexit() */
	ck_abort_msg(SKIP "%s", why);
}

struct relay {
	int from;
	int to;
};

/* "not ok 3 - a_test: SKIP: why" becomes "ok 3 - a_test # SKIP why". */
static void
relay_line(const struct relay *relay, const char *line, size_t len)
{
	static const char was[] = ": " SKIP, is[] = " # SKIP ", bad[] = "not ";
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;

	buf_add(&text, line, len);
	at = strstr(text.data, was);
	if (at != NULL && strncmp(text.data, bad, strlen(bad)) == 0) {
		buf_splice(&text, (size_t)(at - text.data), strlen(was), is,
		    strlen(is));
		buf_consume(&text, strlen(bad));
	}
	file_write_all(relay->to, text.data, text.len);
}

/* Relay the output line by line, up to the plan, which is check's last line.
 * (Not up to end of file: a program that a test left running may still hold the
 * pipe open.) */
static void
relay_run(const struct relay *relay)
{
	cleanup_buf struct buf text = BUF_INIT;
	bool plan = false;
	char piece[4096], *end;
	ssize_t n;

	while (!plan && (n = read(relay->from, piece, sizeof piece)) > 0) {
		buf_add(&text, piece, (size_t)n);
		while ((end = memchr(text.data, '\n', text.len)) != NULL) {
			size_t len = (size_t)(end - text.data) + 1;

			plan = plan || strncmp(text.data, "1..", 3) == 0;
			relay_line(relay, text.data, len);
			buf_consume(&text, len);
		}
	}
}

static int
count_failed(SRunner *runner)
{
	TestResult **results = srunner_failures(runner);
	int count = 0;

	for (int i = 0; i < srunner_ntests_failed(runner); i++)
		if (strncmp(tr_msg(results[i]), SKIP, strlen(SKIP)) != 0)
			count++;
	free(results);
	return count;
}

static void
need(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	exit(99);
}

static struct unit_test *tests;
static size_t test_count;

void
unit_add(const struct unit_test *test)
{
	tests = xreallocarray(tests, test_count + 1, sizeof *tests);
	tests[test_count++] = *test;
}

static int
compare_lines(const void *a, const void *b)
{
	const struct unit_test *x = a, *y = b;
	int files = strcmp(x->test->file, y->test->file);

	return files != 0 ? files : x->test->line - y->test->line;
}

bool
unit_is_mine(void)
{
	static int next;
	const char *part = getenv("UNIT_PART");
	int nr = 0, of = 1;

	if (part != NULL)
		need(sscanf(part, "%d/%d", &nr, &of) == 2, "UNIT_PART");
	return next++ % of == nr;
}

static Suite *
make_suite(void)
{
	Suite *suite = suite_create(program_invocation_short_name);
	const char *mode = getenv("CK_FORK");
	bool forks = mode == NULL || strcmp(mode, "no") != 0;

	if (unit_begin != NULL)
		unit_begin();
	qsort(tests, test_count, sizeof *tests, compare_lines);
	for (size_t i = 0; i < test_count; i++) {
		const struct unit_test *test = &tests[i];
		TCase *tc;

		/* Without a process of its own it would end all. */
		if ((test->status != 0 && !forks) || !unit_is_mine())
			continue;
		tc = tcase_create(test->test->name);
		tcase_set_tags(tc, test->test->name);
		tcase_set_timeout(tc, test_seconds());
		tcase_add_checked_fixture(tc, before_test, after_test);
		tcase_add_checked_fixture(tc,
		    test->before != NULL ? test->before : unit_before, NULL);
		tcase_add_loop_exit_test(
		    tc, test->test, test->status, 0, test->rows);
		suite_add_tcase(suite, tc);
	}
	free(tests);
	if (unit_more != NULL)
		unit_more(suite);
	return suite;
}

/* Those that CK_INCLUDE_TAGS names, each by its name: none may be missing. */
static void
find_named(Suite *suite)
{
	const char *names = getenv("CK_INCLUDE_TAGS");
	cleanup_free char *copy = xstrdup(names != NULL ? names : "");
	char *rest = copy, *name;

	while ((name = strsep(&rest, " ")) != NULL)
		if (*name != '\0' && !suite_tcase(suite, name)) {
			fprintf(stderr, "there is no test %s\n", name);
			exit(99);
		}
}

static int
run_tests(void)
{
	Suite *suite = unit_suite != NULL ? unit_suite() : make_suite();
	SRunner *runner = srunner_create(suite);
	int failed;

	find_named(suite);

	if (unit_once != NULL)
		unit_once();
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = count_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

/* The relay is a process, not a thread: check forks, and a fork of a process
 * with threads can inherit a locked allocator. */
int
main(void)
{
	struct relay relay = { .to = STDOUT_FILENO };
	int ends[2], status = 0;
	pid_t pid;

	without_leak_search();
	setenv(TIMES_VARIABLE, BUSY_TIMES, 0);
	need(pipe2(ends, O_CLOEXEC) == 0, "pipe");
	relay.from = ends[0];
	pid = fork();
	need(pid != -1, "fork");
	if (pid == 0) {
		need(dup2(ends[1], STDOUT_FILENO) != -1, "stdout");
		close(ends[0]);
		close(ends[1]);
		return run_tests();
	}
	close(ends[1]);
	relay_run(&relay);
	need(waitpid(pid, &status, 0) == pid, "wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
