/* SPDX-License-Identifier: ISC */

#include <dlfcn.h>
#include <poll.h>
#include <sys/resource.h>

#include "child-world.h"

static bool read_fails; /* the next one */

/* In the place of libc's: the program's own come first. */
ssize_t
read(int fd, void *bytes, size_t len)
{
	ssize_t (*real)(int, void *, size_t);

	if (read_fails) {
		read_fails = false;
		errno = EIO;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "read");
	return real(fd, bytes, len);
}

CHILD_TEST(reports_status_and_both_streams)
{
	cleanup_child_result struct child_result r;

	child_world_shell("echo out; echo err >&2; exit 3", &r);
	ck_assert(r.exited);
	ck_assert_int_eq(r.status, 3);
	ck_assert(!child_succeeded(&r));
	ck_assert_str_eq(r.out.head.data, "out\n");
	ck_assert_str_eq(r.err.head.data, "err\n");
	ck_assert_uint_eq(r.out.total, 4);
}

CHILD_TEST(streams_can_be_merged)
{
	struct child_spec spec = { .shell = "echo a; echo b >&2; echo c",
		.merge_stderr = true };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "a\nb\nc\n");
	ck_assert_str_eq(r.err.head.data, "");
}

CHILD_TEST(arguments_are_not_interpreted)
{
	const char *const argv[] = { "printf", "%s|", "a b", "$HOME", "", "'",
		NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "a b|$HOME||'|");
}

CHILD_TEST(a_missing_program_is_a_start_error)
{
	const char *const argv[] = { "no-such-program-anywhere", NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	ck_assert_int_eq(child_run(&spec, &r, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "no-such-program-anywhere"));
	ck_assert_str_eq(r.start_step, "exec");
	child_result_describe(&r, &words);
	ck_assert_ptr_nonnull(strstr(words.data, "could not be started"));
}

CHILD_TEST(a_missing_directory_is_a_start_error)
{
	struct child_spec spec = { .shell = "true", .cwd = "/no/such/dir" };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), -ENOENT);
	ck_assert_str_eq(r.start_step, "chdir");
}

CHILD_TEST(no_program_is_refused)
{
	const char *const argv[] = { NULL };
	struct child_spec none = { 0 }, empty = { .argv = argv };
	struct child_spec both = { .argv = argv, .shell = "true" };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&none, &r, NULL), -EINVAL);
	ck_assert_int_eq(child_run(&empty, &r, NULL), -EINVAL);
	ck_assert_int_eq(child_run(&both, &r, NULL), -EINVAL);
}

CHILD_TEST(cwd_and_environment_edits)
{
	const char *const env[] = { "A_SET=first", "A_SET=second", "A_GONE",
		NULL };
	struct child_spec spec = {
		.shell = "pwd; echo $A_SET ${A_GONE-unset} $A_KEPT",
		.cwd = "/usr",
		.env = env,
	};
	cleanup_child_result struct child_result r;

	setenv("A_GONE", "x", 1);
	setenv("A_KEPT", "kept", 1);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "/usr\nsecond unset kept\n");
	unsetenv("A_GONE");
	unsetenv("A_KEPT");
}

CHILD_TEST(the_edited_path_is_searched)
{
	const char *const argv[] = { "only-here", NULL };
	cleanup_free char *path = xasprintf("PATH=%s", unit_scratch());
	const char *const env[] = { path, NULL };
	struct child_spec spec = { .argv = argv, .env = env };
	cleanup_child_result struct child_result r;
	static const char script[] = "#!/bin/sh\necho found\n";

	ck_assert_int_eq(file_replace(unit_path("only-here"), script,
			     sizeof script - 1, 0755, NULL),
	    0);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "found\n");
}

CHILD_TEST(input_of_any_size_arrives)
{
	size_t len = 3 * 1024 * 1024;
	cleanup_free char *bytes = xmalloc(len);
	struct child_spec spec = {
		.shell = "wc -c; printf done", .input = bytes, .input_len = len
	};
	cleanup_child_result struct child_result r;

	memset(bytes, 'x', len);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "3145728\ndone");
}

CHILD_TEST(input_nobody_reads_does_not_hang)
{
	size_t len = 1024 * 1024;
	cleanup_free char *bytes = xcalloc(1, len);
	struct child_spec spec = {
		.shell = "exit 4", .input = bytes, .input_len = len
	};
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_int_eq(r.status, 4);
}

CHILD_TEST(a_flood_keeps_head_and_tail)
{
	struct child_spec spec = {
		.shell = "echo first; i=0; while [ $i -lt 5000 ]; do "
			 "echo 'a line of thirty characters...'; i=$((i+1)); "
			 "done; echo last",
		.output_max = 1000,
	};
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_uint_eq(r.out.total, 6 + 5000 * 31 + 5);
	ck_assert_uint_eq(r.out.head.len, 500);
	ck_assert_uint_eq(r.out.tail.len, 500);
	ck_assert(strncmp(r.out.head.data, "first\n", 6) == 0);
	ck_assert_str_eq(r.out.tail.data + 495, "last\n");
	child_output_text(&r.out, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "bytes omitted"));
}

static void
note_room(const struct child_result *result, void *arg)
{
	*(size_t *)arg = result->out.tail.cap;
}

/* What it has printed is not in memory until it ends. */
CHILD_TEST(a_flood_is_cut_while_it_comes)
{
	struct child_spec spec = {
		.shell = "head -c 4000000 /dev/zero",
		.output_max = 1000,
	};
	struct loop *loop = loop_new();
	size_t room = 0;

	ck_assert_int_eq(
	    child_spawn(loop, &spec, note_room, &room, NULL, NULL), 0);
	loop_run(loop);
	ck_assert_uint_lt(room, 1000000);
	loop_free(loop);
}

CHILD_TEST(no_descriptor_leaks_either_way)
{
	cleanup_child_result struct child_result r;
	int before, after;

	before = open("/dev/null", O_RDONLY); /* inheritable on purpose */
	child_world_shell("ls /proc/self/fd | wc -l", &r);
	/* 0, 1, 2 and the one that ls opens. */
	ck_assert_str_eq(r.out.head.data, "4\n");
	close(before);
	after = open("/dev/null", O_RDONLY);
	ck_assert_int_eq(before, after);
	close(after);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

CHILD_TEST(many_at_once)
{
	struct child_spec spec = { .shell = "echo x" };
	struct child_waiter w = { .loop = loop_new() };

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(child_spawn(w.loop, &spec, child_world_done,
				     &w, NULL, NULL),
		    0);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 100);
	loop_free(w.loop);
}

CHILD_TEST(no_process_to_be_had_is_an_error)
{
	struct child_spec spec = { .shell = "true" };
	struct rlimit old, none;
	struct child_result r;
	struct err err = { 0 };
	int fd, code;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	fd = open("/dev/null", O_RDONLY);
	close(fd);
	none = old;
	none.rlim_cur = (rlim_t)fd + 6; /* not enough for all the pipes */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	{
		struct loop *loop = loop_new();

		code = child_spawn(
		    loop, &spec, child_world_done, NULL, NULL, &err);
		loop_free(loop);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(code, -EMFILE);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot start a process"));
	/* And it works again, with nothing left open. */
	child_world_shell("true", &r);
	child_result_release(&r);
	ck_assert_int_eq(open("/dev/null", O_RDONLY), fd);
	close(fd);
}

CHILD_TEST(works_with_standard_descriptors_closed)
{
	cleanup_child_result struct child_result r;
	int in = dup(0), out = dup(1), error = dup(2);

	close(0);
	close(1);
	close(2);
	child_world_shell("cat; echo out; echo err >&2", &r);
	dup2(in, 0);
	dup2(out, 1);
	dup2(error, 2);
	close(in);
	close(out);
	close(error);
	ck_assert_str_eq(r.out.head.data, "out\n");
	ck_assert_str_eq(r.err.head.data, "err\n");
}

CHILD_TEST(signals_are_as_on_a_fresh_start)
{
	cleanup_child_result struct child_result r;
	/* The loop ignores SIGPIPE; a child must not inherit that. 32 and 33
	 * are reserved by glibc and cannot be reset. */
	const unsigned long long reserved = 3ull << 31;
	const char *p;
	char *end;

	child_world_shell("grep -E '^Sig(Blk|Ign):' /proc/self/status | "
			  "awk '{print $2}'",
	    &r);
	for (p = r.out.head.data; *p != '\0'; p = end + 1)
		ck_assert_uint_eq(strtoull(p, &end, 16) & ~reserved, 0);
}

CHILD_TEST(a_descriptor_can_be_its_standard_input)
{
	const char *path = unit_path("input");
	struct child_spec spec = { .shell = "cat; ls /proc/self/fd | wc -l" };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(file_replace(path, "text\n", 5, 0600, NULL), 0);
	spec.stdin_fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_gt(spec.stdin_fd, 2);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "text\n4\n");
	/* It is the same open file: the child has read it, and it is still open
	 * here. */
	ck_assert_int_eq(lseek(spec.stdin_fd, 0, SEEK_CUR), 5);
	close(spec.stdin_fd);
}

CHILD_TEST(a_descriptor_can_be_its_output_and_another_be_given)
{
	const char *path = unit_path("output");
	struct child_spec spec = { .shell = "echo out; echo err >&2; cat <&9; "
					    "ls /proc/self/fd | wc -l" };
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf text = BUF_INIT;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(write(ends[1], "given\n", 6), 6);
	ck_assert_int_eq(close(ends[1]), 0);
	spec.extra_fd = ends[0];
	spec.output_fd =
	    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_gt(spec.output_fd, 2);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_uint_eq(r.out.total + r.err.total, 0);
	ck_assert_int_eq(file_read(path, 100, &text, NULL), 0);
	/* Three, that of ls itself, and the one that was given. */
	ck_assert_str_eq(text.data, "out\nerr\ngiven\n5\n");
	ck_assert_int_eq(close(spec.output_fd), 0);
	ck_assert_int_eq(close(ends[0]), 0);
}

CHILD_TEST(two_standard_inputs_or_a_closed_one_are_refused)
{
	struct child_spec both = {
		.shell = "cat", .input = "x", .input_len = 1, .stdin_fd = 1
	};
	struct child_spec closed = { .shell = "cat", .stdin_fd = 900 };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&both, &r, NULL), -EINVAL);
	ck_assert_int_eq(child_run(&closed, &r, NULL), -EBADF);
}

static int
say(void *arg)
{
	const int *fd = arg;

	if (write(STDOUT_FILENO, "here", 4) != 4)
		return 1;
	return fcntl(*fd, F_GETFD) == -1 && errno == EBADF ? 7 : 2;
}

CHILD_TEST(a_function_runs_in_a_copy_without_our_descriptors)
{
	int fd = open("/dev/null", O_RDONLY);
	struct child_spec spec = { .call = say, .call_arg = &fd };
	cleanup_child_result struct child_result r;

	ck_assert_int_ge(fd, 3);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(r.exited);
	ck_assert_int_eq(r.status, 7);
	ck_assert_str_eq(r.out.head.data, "here");
	ck_assert_int_eq(close(fd), 0);
}

static int
stay(void *arg)
{
	(void)arg;
	while (pause() == -1)
		continue;
	return 0;
}

/* The copy has the other end of the pipe. */
CHILD_TEST(a_copy_dies_with_us)
{
	struct child_spec spec = { .call = stay };
	int ends[2], status;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	spec.extra_fd = ends[1];
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		child_spawn(loop_new(), &spec, NULL, NULL, NULL, NULL);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(close(ends[1]), 0);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0);
	ck_assert_int_eq(close(ends[0]), 0);
}

CHILD_TEST(a_copy_that_does_not_answer_is_ended)
{
	struct child_spec spec = { .call = stay };
	cleanup_child_result struct child_result r;

	read_fails = true;
	ck_assert_int_eq(child_run(&spec, &r, NULL), -EIO);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* A grandchild that ignores SIGTERM has the other end of the pipe. */
static int
outlast(void *arg)
{
	struct child_spec spec = { .shell = "trap '' TERM; sleep 600 & wait",
		.in_group = true,
		.deadline_ms = 200,
		.grace_ms = 200 };
	struct pollfd end = { .events = POLLIN };
	cleanup_child_result struct child_result r;
	int ends[2];

	(void)arg;
	if (pipe(ends) == -1)
		return 1;
	spec.extra_fd = ends[1];
	child_run(&spec, &r, NULL);
	close(ends[1]);
	end.fd = ends[0];
	return r.timed_out && poll(&end, 1, 10000) == 1 ? 7 : 2;
}

CHILD_TEST(what_is_ended_in_the_group_of_a_copy_takes_its_children_along)
{
	struct child_spec spec = { .call = outlast };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_int_eq(r.status, 7);
}
