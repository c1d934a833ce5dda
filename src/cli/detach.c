/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "detach.h"
#include "errtext.h"
#include "mem.h"
#include "text.h"

#define WORDS_MAX 4096

int
detach_start(struct cli *cli, char *const *argv, const char *log, int *ret_fd,
    struct err *err)
{
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_child_result struct child_result result;
	struct child_spec spec = { .cwd = cli->workspace.root, .detach = true };
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return err_errno(err, -errno, "pipe");
	buf_adds(&command, "exec");
	for (; *argv != NULL; argv++) {
		buf_addc(&command, ' ');
		text_add_shell(&command, *argv);
	}
	buf_adds(&command, " >/dev/null 2>>");
	text_add_shell(&command, log);
	spec.shell = command.data;
	spec.stdin_fd = ends[0];
	r = child_run(&spec, &result, err);
	if (r == 0 && !child_succeeded(&result))
		r = err_set(err, -EIO, "it cannot be started");
	fd_close(ends[0]);
	if (r < 0)
		fd_close(ends[1]);
	else
		*ret_fd = ends[1];
	return r;
}

/* What it wrote there. */
static void
read_words(const char *log, off_t from, struct buf *out)
{
	cleanup_fd int fd = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char bytes[WORDS_MAX];
	ssize_t n = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, from);

	if (n > 0)
		text_add_utf8(out, bytes, (size_t)n);
	while (out->len > 0 && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
}

/* One line is part of the message; more follow it. */
int
detach_fail(struct cli *cli, const char *who, const char *log, off_t from)
{
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };
	bool one;

	read_words(log, from, &words);
	one = strchr(words.data, '\n') == NULL;
	err_set(&err, -EIO, "%s did not start%s%s", who,
	    words.len == 0 ? "; see: llmc logs" :
		one        ? ": " :
			     "; it said:",
	    one ? words.data : "");
	if (!one)
		buf_addc(&words, '\n');
	return cli_fail_output(cli, "failed", &err, one ? NULL : words.data);
}
