/* SPDX-License-Identifier: ISC */

/* The process that writes for the overseer. */

#include "unit.h"

#include <sys/wait.h>

#include "loop.h"
#include "overseer-private.h"

static bool late; /* the reader is slower than the writer */

ssize_t __real_read(int fd, void *bytes, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len);

ssize_t
__wrap_read(int fd, void *bytes, size_t len)
{
	ssize_t n = __real_read(fd, bytes, len);
	siginfo_t info;
	int error = errno;

	if (late && n == -1)
		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	errno = error;
	return n;
}

TEST(a_writer_that_ends_while_it_is_looked_at_has_written)
{
	struct overseer_options options = { .json = false };
	struct overseer o = {
		.loop = loop_new(), .options = &options, .lock = -1
	};
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *file = NULL;
	size_t lines = 0;

	o.workspace.root = xstrdup(unit_scratch());
	o.workspace.dir = xstrdup(unit_path(".llmc"));
	ck_assert_int_eq(file_mkdirs(o.workspace.dir, 0700, NULL), 0);
	o.write = loop_call_new(o.loop, overseer_on_write_due, &o);
	ck_assert_int_eq(writer_open(&o, NULL), 0);
	late = true;
	for (int i = 0; i < 3; i++) {
		struct spiral_event event = { .kind = SPIRAL_REMEDY,
			.at_ms = i + 1,
			.words = xstrdup("repaired") };

		history_note(&o.history, &event);
		writer_finish(&o);
		ck_assert_uint_eq(o.history.unsaved, 0);
	}
	late = false;
	writer_close(&o);
	file = overseer_path(&o, "failures.jsonl");
	ck_assert_int_eq(file_read(file, 65536, &text, NULL), 0);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	ck_assert_uint_eq(lines, 3);
	loop_timer_free(o.rewrite);
	loop_call_free(o.write);
	history_release(&o.history);
	free(o.workspace.dir);
	free(o.workspace.root);
	loop_free(o.loop);
}
