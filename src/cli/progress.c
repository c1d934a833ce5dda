/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

#define CLEAR "\r\033[K"

static struct {
	const char *what;
	volatile sig_atomic_t seconds, done, total;
	struct sigaction before;
} progress;

/* Only what a handler of a signal may call. */
static void
put(const char *text, size_t len)
{
	ssize_t n = write(STDERR_FILENO, text, len);

	(void)n;
}

static void
put_number(int number)
{
	char digits[16];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0 && at > 0);
	put(digits + at, sizeof digits - at);
}

static void
on_second(int signo)
{
	int saved = errno;

	(void)signo;
	progress.seconds++;
	put(CLEAR, strlen(CLEAR));
	put(progress.what, strlen(progress.what));
	put(": ", 2);
	if (progress.total > 0) {
		put_number(progress.done);
		put(" of ", 4);
		put_number(progress.total);
		put(", ", 2);
	}
	put_number(progress.seconds);
	put(" s", 2);
	errno = saved;
}

static void
set_timer(time_t seconds)
{
	const struct itimerval every = { { .tv_sec = seconds },
		{ .tv_sec = seconds } };

	setitimer(ITIMER_REAL, &every, NULL);
}

void
progress_begin(const struct cli *cli, const char *what)
{
	struct sigaction action = { .sa_handler = on_second,
		.sa_flags = SA_RESTART };

	if (cli->json || !isatty(STDERR_FILENO))
		return;
	progress.what = what;
	progress.seconds = 0;
	progress_count(0, 0);
	sigaction(SIGALRM, &action, &progress.before);
	set_timer(1);
}

void
progress_count(size_t done, size_t total)
{
	progress.done = (sig_atomic_t)done;
	progress.total = (sig_atomic_t)total;
}

void
progress_end(void)
{
	if (progress.what == NULL)
		return;
	set_timer(0);
	sigaction(SIGALRM, &progress.before, NULL);
	progress.what = NULL;
	if (progress.seconds > 0)
		put(CLEAR, strlen(CLEAR));
}
