/* SPDX-License-Identifier: ISC */

#include "errand-world.h"

void
run_init(struct run *run)
{
	memset(run, 0, sizeof *run);
	run->loop = loop_new();
	buf_init(&run->result.out);
	buf_init(&run->result.err);
}

void
run_release(struct run *run)
{
	errand_free(run->errand);
	loop_free(run->loop);
	buf_release(&run->result.out);
	buf_release(&run->result.err);
}

void
run_done(const struct errand_result *result, void *arg)
{
	struct run *run = arg;

	run->calls++;
	run->result = *result;
	buf_init(&run->result.out);
	buf_init(&run->result.err);
	buf_add(&run->result.out, result->out.data, result->out.len);
	buf_add(&run->result.err, result->err.data, result->err.len);
	loop_stop(run->loop, 0);
}

static void
run_too_long(void *arg)
{
	(void)arg;
	ck_abort_msg("the errand did not end");
}

void
run_wait(struct run *run)
{
	struct loop_timer *guard =
	    loop_after(run->loop, unit_guard_ms(), run_too_long, NULL);

	loop_run(run->loop);
	loop_timer_free(guard);
	ck_assert_int_eq(run->calls, 1);
}

const char *
fresh_dir(void)
{
	static int count;
	cleanup_free char *name = xasprintf("errands%d", count++);
	const char *path = unit_path(name);

	ck_assert_int_eq(mkdir(path, 0700), 0);
	return path;
}

struct errand_spec
spec_for(const char *dir, const char *command)
{
	return (struct errand_spec){ .dir = dir,
		.name = "e",
		.command = command,
		.deadline_ms = GUARD_MS };
}

void
run_start(struct run *run, const struct errand_spec *spec)
{
	struct err err = { 0 };

	run_init(run);
	ck_assert_msg(errand_start(run->loop, spec, run_done, run, &run->errand,
			  &err) == 0,
	    "%s", err.msg);
	ck_assert_int_eq(run->calls, 0);
}

void
run_adopt(struct run *run, const struct errand_spec *spec)
{
	struct err err = { 0 };

	run_init(run);
	ck_assert_msg(errand_adopt(run->loop, spec, run_done, run, &run->errand,
			  &err) == 0,
	    "%s", err.msg);
	ck_assert_int_eq(run->calls, 0);
}

char *
file_of(const char *dir, const char *suffix)
{
	return xasprintf("%s/e%s", dir, suffix);
}

bool
has_file(const char *dir, const char *suffix)
{
	cleanup_free char *path = file_of(dir, suffix);

	return file_exists(path);
}

void
remove_file(const char *dir, const char *suffix)
{
	cleanup_free char *path = file_of(dir, suffix);

	ck_assert_int_eq(unlink(path), 0);
}

char *
text_of(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(path, 1 << 21, &text, NULL), 0);
	return buf_take(&text);
}

const char *
fresh_fifo(void)
{
	static int count;
	cleanup_free char *name = xasprintf("fifo%d", count++);
	const char *path = unit_path(name);

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	return path;
}

char *
fifo_hear(const char *path)
{
	char line[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_gt(read(fd, line, sizeof line - 1), 0);
	close(fd);
	return xstrdup(line);
}

void
fifo_say(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(write(fd, "go\n", 3), 3);
	close(fd);
}

bool
gone_within(pid_t pid, int ms)
{
	struct procref ref = PROCREF_INIT;
	int64_t end = clock_mono_ms() + ms;
	bool gone = procref_set(&ref, pid) == -ESRCH;

	while (!gone && clock_mono_ms() < end) {
		poll(NULL, 0, 5);
		gone = !procref_alive(&ref);
	}
	procref_release(&ref);
	return gone;
}
