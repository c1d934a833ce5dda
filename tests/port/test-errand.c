/* SPDX-License-Identifier: ISC */

#include "errand-world.h"

static void
expect(const char *command, int status, const char *out)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert(!run.result.lost);
	ck_assert(!run.result.timed_out);
	ck_assert(!run.result.cancelled);
	ck_assert(!run.result.cut);
	ck_assert_int_eq(run.result.status, status);
	ck_assert_str_eq(run.result.out.data, out);
	run_release(&run);
}

TEST(output_and_status_come_back)
{
	const char *dir = fresh_dir();
	struct errand_spec spec =
	    spec_for(dir, "echo out; echo err >&2; echo more; exit 3");
	ended_by(run_release) struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 3);
	ck_assert_str_eq(run.result.out.data, "out\nmore\n");
	ck_assert_str_eq(run.result.err.data, "err\n");
	ck_assert(!run.result.lost);
	ck_assert_int_ge(run.result.duration_ms, 0);
	ck_assert_int_lt(run.result.duration_ms, 10000);
}

/* It does not wait the whole second for leftover processes without need. */
TEST(a_short_one_takes_short)
{
	int64_t best = GUARD_MS;

	for (int i = 0; i < 10 && best >= 900; i++) {
		const char *dir = fresh_dir();
		struct errand_spec spec = spec_for(dir, "echo x");
		struct run run;

		run_start(&run, &spec);
		run_wait(&run);
		if (run.result.duration_ms < best)
			best = run.result.duration_ms;
		run_release(&run);
	}
	ck_assert_int_lt(best, 900);
}

TEST(exit_statuses_are_the_shells)
{
	expect("true", 0, "");
	expect("false", 1, "");
	expect("exit 255", 255, "");
	expect("no-such-program-anywhere", 127, "");
	expect("kill -KILL $$", 137, "");
	expect("kill -TERM $$", 143, "");
	expect("if", 2, "");
	expect("", 0, "");
}

TEST(the_command_is_not_quoted_into_anything)
{
	expect("printf '%s|' \"a b\" 'c\"d' $'e' '`f`' \\$g", 0,
	    "a b|c\"d|$e|`f`|$g|");
	expect("echo one\necho two # it's\n\necho '\n'", 0, "one\ntwo\n\n\n");
	expect("cat <<'X'\n$(false) \\ \" ' ; & | > \xc3\xa9\t*\nX\n", 0,
	    "$(false) \\ \" ' ; & | > \xc3\xa9\t*\n");
	expect("echo $# \"$*\" $0", 0, "0  /bin/sh\n");
	expect("-x", 2, "");
}

TEST(the_command_finds_an_ordinary_world)
{
	expect("cat; readlink /proc/self/fd/0", 0, "/dev/null\n");
	expect("umask 022; (umask)", 0, "0022\n");
	expect("trap", 0, "");
	expect("[ \"$(ps -o sid= -p $$)\" = \"$(ps -o pgid= -p $$)\" ]", 0, "");
	/* Signals 32 and above are used by the C library. */
	expect("grep SigIgn /proc/self/status | sed 's/.*\\(.\\{8\\}\\)$/\\1/; "
	       "s/^8/0/'",
	    0, "00000000\n");
	expect("ulimit -f", 0, "unlimited\n");
}

TEST(the_umask_of_the_command_is_ours)
{
	mode_t old = umask(027);

	expect("umask", 0, "0027\n");
	umask(old);
}

TEST(cwd_and_environment_are_as_told)
{
	const char *dir = fresh_dir();
	const char *const env[] = { "A=x y\n'\"$z", "PATH=/nowhere", "HOME",
		NULL };
	struct errand_spec spec =
	    spec_for(dir, "pwd; echo \"$A $PATH ${HOME-unset}\"");
	ended_by(run_release) struct run run;

	spec.cwd = "/usr";
	spec.env = env;
	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 0);
	ck_assert_str_eq(
	    run.result.out.data, "/usr\nx y\n'\"$z /nowhere unset\n");
}

TEST(a_missing_directory_is_126_with_words)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "true");
	struct run run;

	spec.cwd = "/no/such/directory";
	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 126);
	ck_assert(!run.result.lost);
	ck_assert_ptr_nonnull(strstr(run.result.err.data, "chdir"));
	run_release(&run);
	/* And the result stays the same. */
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 126);
	run_release(&run);
}

TEST(a_flood_is_cut_and_not_ended)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir,
	    "head -c 3000000 /dev/zero | tr '\\0' x; echo $? >&2; echo end; "
	    "head -c 200000 /dev/zero | tr '\\0' y >&2; exit 5");
	ended_by(run_release) struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.cut);
	ck_assert_int_eq(run.result.status, 5);
	ck_assert_uint_eq(run.result.out.len, ERRAND_OUT_MAX);
	ck_assert_uint_eq(run.result.err.len, ERRAND_ERR_MAX);
	ck_assert_int_eq(run.result.out.data[0], 'x');
	ck_assert_str_eq(run.result.out.data + ERRAND_OUT_MAX - 5, "xend\n");
	ck_assert_int_eq(strncmp(run.result.err.data, "0\nyy", 4), 0);
}

TEST(output_of_just_the_bound_is_whole)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "head -c 1048576 /dev/zero");
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert(!run.result.cut);
	ck_assert_uint_eq(run.result.out.len, ERRAND_OUT_MAX);
	run_release(&run);
	ck_assert_int_eq(errand_forget(dir, "e", NULL), 0);
	spec.command = "head -c 1048577 /dev/zero";
	run_start(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.cut);
	ck_assert_uint_eq(run.result.out.len, ERRAND_OUT_MAX);
	run_release(&run);
}

TEST(its_files_are_ours_alone)
{
	static const char *const suffixes[] = { ".lock", ".pid", ".out", ".err",
		".status", ".json" };
	mode_t old = umask(0);
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "echo x; echo y >&2");
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	run_release(&run);
	umask(old);
	for (size_t i = 0; i < nitems(suffixes); i++) {
		cleanup_free char *path = file_of(dir, suffixes[i]);
		struct stat st;

		ck_assert_msg(stat(path, &st) == 0, "%s", path);
		ck_assert_msg((st.st_mode & 07777) == 0600, "%s", path);
	}
}

TEST(the_lock_is_held_while_it_runs_and_by_us_not)
{
	const char *dir = fresh_dir(), *on = fresh_fifo(), *go = fresh_fifo();
	cleanup_free char *command =
	    xasprintf("echo >'%s'; read x <'%s'", on, go);
	cleanup_free char *lock = file_of(dir, ".lock");
	struct errand_spec spec = spec_for(dir, command);
	ended_by(run_release) struct run run;

	run_start(&run, &spec);
	free(fifo_hear(on));
	ck_assert_int_eq(lock_is_held(lock), 1);
	ck_assert_int_eq(errand_forget(dir, "e", NULL), -EBUSY);
	ck_assert(has_file(dir, ".json"));
	fifo_say(go);
	run_wait(&run);
	ck_assert_int_eq(lock_is_held(lock), 0);
}

TEST(a_second_start_is_refused_until_it_is_forgotten)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "echo first");
	struct errand *other = NULL;
	struct err err = { 0 };
	struct run run;

	run_start(&run, &spec);
	ck_assert_int_eq(
	    errand_start(run.loop, &spec, run_done, &run, &other, &err),
	    -EEXIST);
	ck_assert_ptr_null(other);
	ck_assert_ptr_nonnull(strstr(err.msg, dir));
	run_wait(&run);
	ck_assert_int_eq(
	    errand_start(run.loop, &spec, run_done, &run, &other, NULL),
	    -EEXIST);
	run_release(&run);
	ck_assert_int_eq(errand_forget(dir, "e", &err), 0);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing is left */
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(errand_forget(dir, "e", NULL), 0);
	spec.command = "true";
	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_str_eq(run.result.out.data, "");
	run_release(&run);
}

/* A record without the rest would be one that must still be started. */
TEST(one_that_is_half_forgotten_is_not_found)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "true");
	cleanup_free char *out = file_of(dir, ".out");
	char name[64];
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	remove_file(dir, ".out");
	ck_assert_int_eq(mkdir(out, 0700), 0);
	ck_assert_int_lt(errand_forget(dir, "e", NULL), 0);
	ck_assert(!errand_find(dir, name, sizeof name));
	run_release(&run);
}

TEST(leftovers_without_a_record_are_no_errand)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "echo old; exit 1");
	struct errand *none = NULL;
	struct run run;
	char name[64] = "";

	run_start(&run, &spec);
	run_wait(&run);
	run_release(&run);
	remove_file(dir, ".json"); /* errand_forget() died halfway */
	ck_assert(!errand_find(dir, name, sizeof name));
	run_init(&run);
	ck_assert_int_eq(
	    errand_adopt(run.loop, &spec, run_done, &run, &none, NULL),
	    -ENOENT);
	run_release(&run);
	spec.command = "true";
	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 0);
	ck_assert_str_eq(run.result.out.data, "");
	run_release(&run);
}

TEST(a_record_that_makes_no_sense_is_told)
{
	static const char *const bad[] = { "", "{", "[]", "{}",
		"{\"command\":1,\"started_unix_ms\":1}",
		"{\"command\":\"true\"}",
		"{\"command\":\"true\",\"started_unix_ms\":-1}" };
	const char *dir = fresh_dir();
	cleanup_free char *path = file_of(dir, ".json");
	struct errand_spec spec = spec_for(dir, NULL);
	struct errand *none = NULL;
	ended_by(run_release) struct run run;

	run_init(&run);
	for (size_t i = 0; i < nitems(bad); i++) {
		struct err err = { 0 };

		ck_assert_int_eq(
		    file_replace(path, bad[i], strlen(bad[i]), 0600, NULL), 0);
		ck_assert_int_eq(
		    errand_adopt(run.loop, &spec, run_done, &run, &none, &err),
		    -EINVAL);
		ck_assert_str_ne(err.msg, "");
	}
	ck_assert_ptr_null(none);
	ck_assert_int_eq(errand_forget(dir, "e", NULL), 0);
}

TEST(what_cannot_be_is_refused_and_leaves_nothing)
{
	static const char *const names[] = { "", ".", "a/b", "a.b", "a b",
		"\xc3\xa9" };
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, NULL);
	struct errand *none = NULL;
	ended_by(run_release) struct run run;

	run_init(&run);
	ck_assert_int_eq(
	    errand_start(run.loop, &spec, run_done, &run, &none, NULL),
	    -EINVAL);
	spec.command = "true";
	spec.deadline_ms = 0;
	ck_assert_int_eq(
	    errand_start(run.loop, &spec, run_done, &run, &none, NULL),
	    -EINVAL);
	spec.deadline_ms = 1000;
	for (size_t i = 0; i < nitems(names); i++) {
		spec.name = names[i];
		ck_assert_int_eq(
		    errand_start(run.loop, &spec, run_done, &run, &none, NULL),
		    -EINVAL);
		ck_assert_int_eq(errand_forget(dir, names[i], NULL), -EINVAL);
	}
	spec.name = "e";
	ck_assert_int_eq(
	    errand_adopt(run.loop, &spec, run_done, &run, &none, NULL),
	    -ENOENT);
	spec.dir = unit_path("not-there");
	ck_assert_int_eq(
	    errand_start(run.loop, &spec, run_done, &run, &none, NULL),
	    -ENOENT);
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_ptr_null(none);
}

TEST(find_names_one_and_then_the_next)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "true");
	static const char *const names[] = { "b", "A-long_name-2", "a", "ab" };
	static const char *const order[] = { "A-long_name-2", "a", "ab", "b" };
	cleanup_free char *stray = NULL;
	char name[64] = "", small[2] = "";
	struct run run;

	ck_assert(!errand_find(dir, name, sizeof name));
	ck_assert(!errand_find(unit_path("not-there"), name, sizeof name));
	for (size_t i = 0; i < nitems(names); i++) {
		spec.name = names[i];
		run_start(&run, &spec);
		run_wait(&run);
		run_release(&run);
	}
	stray = file_join(dir, "A.b.json");
	ck_assert_int_eq(file_replace(stray, "{}", 2, 0600, NULL), 0);
	/* A name that does not fit is not returned truncated. */
	ck_assert(errand_find(dir, small, sizeof small));
	ck_assert_str_eq(small, "a");
	for (size_t i = 0; i < nitems(order); i++) {
		ck_assert(errand_find(dir, name, sizeof name));
		ck_assert_str_eq(name, order[i]);
		ck_assert_int_eq(errand_forget(dir, name, NULL), 0);
	}
	ck_assert(!errand_find(dir, name, sizeof name));
}

static void
free_in_fn(const struct errand_result *result, void *arg)
{
	struct run *run = arg;

	run_done(result, arg);
	errand_free(take_ptr(&run->errand));
	ck_assert_str_eq(result->out.data, "x\n");
	ck_assert_int_eq(errand_forget(unit_path("free-in-fn"), "e", NULL), 0);
}

TEST(it_can_be_freed_and_forgotten_in_fn)
{
	const char *dir = unit_path("free-in-fn");
	struct errand_spec spec = spec_for(dir, "echo x");
	struct run run;

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	run_init(&run);
	ck_assert_int_eq(
	    errand_start(run.loop, &spec, free_in_fn, &run, &run.errand, NULL),
	    0);
	run_wait(&run);
	run_release(&run);
	run_start(&run, &spec);
	run_wait(&run);
	run_release(&run);
	run_init(&run);
	ck_assert_int_eq(
	    errand_adopt(run.loop, &spec, free_in_fn, &run, &run.errand, NULL),
	    0);
	run_wait(&run);
	run_release(&run);
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST(several_run_at_once)
{
	const char *dir = fresh_dir();
	struct run runs[8];

	for (size_t i = 0; i < nitems(runs); i++) {
		cleanup_free char *name = xasprintf("n%zu", i);
		cleanup_free char *command = xasprintf("echo %zu", i);
		struct errand_spec spec = spec_for(dir, command);

		spec.name = name;
		run_start(&runs[i], &spec);
	}
	for (size_t i = 0; i < nitems(runs); i++) {
		cleanup_free char *text = xasprintf("%zu\n", i);

		run_wait(&runs[i]);
		ck_assert_str_eq(runs[i].result.out.data, text);
		run_release(&runs[i]);
	}
}
