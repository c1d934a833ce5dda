/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "child.h"
#include "cli-private.h"

/* Signals that main ignores, or that we ignore while another program has the
 * terminal. */
static const int terminal_signals[] = { SIGINT, SIGQUIT, SIGPIPE };

bool
terminal_here(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
	    tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool
terminal_knows(const char *cwd, const char *word)
{
	const char *const argv[] = { "/bin/sh", "-c",
		"command -v -- \"$1\" >/dev/null", "sh", word, NULL };
	struct child_spec spec = { .argv = argv, .cwd = cwd };
	cleanup_child_result struct child_result result;

	return child_run(&spec, &result, NULL) == 0 && child_succeeded(&result);
}

int
terminal_become(const char *const *argv, struct err *err)
{
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	signal(SIGPIPE, SIG_IGN);
	return err_errno(err, -errno, "%s", argv[0]);
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
terminal_run(const char *const *argv, struct err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before[nitems(terminal_signals)];
	posix_spawnattr_t attr;
	sigset_t defaults;
	pid_t pid;
	int r;

	sigemptyset(&defaults);
	for (size_t i = 0; i < nitems(terminal_signals); i++) {
		sigaddset(&defaults, terminal_signals[i]);
		sigaction(terminal_signals[i], &ignore, &before[i]);
	}
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(&pid, argv[0], NULL, &attr,
	    (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attr);
	r = r == 0 ? wait_for(pid) : -r;
	for (size_t i = 0; i < nitems(terminal_signals); i++)
		sigaction(terminal_signals[i], &before[i], NULL);
	return r < 0 ? err_errno(err, r, "%s", argv[0]) : r;
}

void
terminal_stop(bool group)
{
	signal(SIGTSTP, SIG_DFL);
	kill(group ? 0 : getpid(), SIGTSTP);
}

/* --- ask --------------------------------------------------------------- */

/* The first byte of the line that was typed; 0 = none was. */
static char
read_answer(void)
{
	char first = 0, c = 0;

	for (size_t n = 0; read(STDIN_FILENO, &c, 1) == 1; n++) {
		if (n == 0)
			first = c;
		if (c == '\n')
			break;
	}
	return first;
}

bool
ask_again(struct cli *cli, const char *question)
{
	char answer;

	if (cli->json || !terminal_here())
		return false;
	fprintf(stderr, "%s [Y/n] ", question);
	answer = read_answer();
	return answer != 0 && answer != 'n' && answer != 'N';
}

int
ask_confirm(struct cli *cli, bool yes, const char *fmt, ...)
{
	cleanup_free char *question = NULL;
	cleanup_buf struct buf shown = BUF_INIT;
	va_list ap;
	char answer;

	if (yes)
		return CLI_OK;
	va_start(ap, fmt);
	question = xvasprintf(fmt, ap);
	va_end(ap);
	if (cli->json || !terminal_here())
		return cli_fail(cli, "not_confirmed",
		    "%s There is no terminal to ask on; to confirm, add --yes",
		    question);
	text_add_visible(&shown, question, strlen(question), true);
	fprintf(stderr, "%s [y/N] ", shown.data);
	answer = read_answer();
	if (answer == 'y' || answer == 'Y')
		return CLI_OK;
	return cli_fail(
	    cli, "not_confirmed", "not confirmed; nothing was done");
}

/* --- progress ---------------------------------------------------------- */

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
