/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "cli-private.h"
#include "loop.h"
#include "top.h"

#define CTRL_Z     0x1a
#define ROWS       24 /* where the terminal does not say */
#define COLUMNS    80
#define LEAVE_MS   200 /* for a terminal that does not read, in all */
#define INPUT_SIZE 4096

/* The alternate screen; text in the last column stays there; a paste is marked
 * as one; no cursor. */
#define ENTER "\033[?1049h\033[?7l\033[?2004h\033[?25l"
/* Where there is no alternate screen, the last frame stays above the cursor. */
#define LEAVE "\033[0m\033[?2004l\033[?7h\033[?25h\033[999;1H\033[?1049l"

/* A crash leaves no time for more than this. */
static struct {
	volatile sig_atomic_t taken;
	int fd;
	struct termios before;
} held = { .fd = -1 };

static const int crashes[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV,
	SIGSYS };
static struct sigaction crash_actions[nitems(crashes)]; /* before ours */

struct screen {
	struct loop *loop;
	const struct screen_fns *fns;
	void *arg;
	int fd; /* our own, so that only we see that it does not block */
	enum grid_colours colours;
	struct loop_watch *readable, *writable;
	struct loop_signal *on_winch, *on_stop, *on_continue;
	struct loop_timer *timer; /* for the rest of a key */
	struct key_input keys;
	struct grid *shown; /* when all is written; NULL = unknown */
	struct grid *next; /* to be shown then; NULL = none */
	struct buf out; /* not written yet */
};

bool
screen_possible(const char *term)
{
	return isatty(STDOUT_FILENO) && term != NULL && term[0] != '\0' &&
	    strcmp(term, "dumb") != 0;
}

enum grid_colours
screen_colours(bool wanted, const char *term, const char *colorterm)
{
	if (!wanted || term == NULL || text_begins(term, "vt"))
		return GRID_COLOURS_NONE;
	if (colorterm != NULL &&
	    (strcmp(colorterm, "truecolor") == 0 ||
		strcmp(colorterm, "24bit") == 0))
		return GRID_COLOURS_TRUE;
	if (strstr(term, "256color") != NULL)
		return GRID_COLOURS_256;
	return GRID_COLOURS_16;
}

/* --- given back ------------------------------------------------------ */

/* Only calls that a signal handler may make. */
static void
give_back(void)
{
	const char *rest = LEAVE;
	size_t len = sizeof LEAVE - 1;
	struct pollfd ready = { .fd = held.fd, .events = POLLOUT };
	ssize_t n;

	if (!held.taken)
		return;
	held.taken = 0;
	while (len > 0) {
		n = write(held.fd, rest, len);
		if (n > 0) {
			rest += n;
			len -= (size_t)n;
		} else if (errno != EINTR &&
		    (errno != EAGAIN || poll(&ready, 1, LEAVE_MS) <= 0)) {
			break;
		}
	}
	tcsetattr(held.fd, TCSANOW, &held.before);
}

/* What would have happened without us comes next. */
static void
on_crash(int signo)
{
	give_back();
	for (size_t i = 0; i < nitems(crashes); i++)
		if (crashes[i] == signo)
			sigaction(signo, &crash_actions[i], NULL);
	raise(signo);
}

static void
watch_crashes(void)
{
	struct sigaction action = { .sa_handler = on_crash,
		.sa_flags = SA_NODEFER };
	static bool done;

	if (done)
		return;
	done = true;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < nitems(crashes); i++)
		sigaction(crashes[i], &action, &crash_actions[i]);
	atexit(give_back);
	log_on_fatal(give_back); /* what it says is to be read */
}

/* --- output ---------------------------------------------------------- */

static void draw(struct screen *s);

static void
on_writable(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	draw(arg);
}

static void
lose(struct screen *s)
{
	loop_watch_free(take_ptr(&s->readable));
	loop_watch_free(take_ptr(&s->writable));
	buf_clear(&s->out);
	s->fns->on_gone(s->arg);
}

/* True: all of it is written. */
static bool
push(struct screen *s)
{
	ssize_t n;

	while (s->out.len > 0) {
		n = write(s->fd, s->out.data, s->out.len);
		if (n > 0) {
			buf_consume(&s->out, (size_t)n);
		} else if (errno == EAGAIN) {
			if (s->writable == NULL)
				s->writable = loop_watch_new(
				    s->loop, s->fd, LOOP_WRITE, on_writable, s);
			return false;
		} else if (errno != EINTR) {
			lose(s);
			return false;
		}
	}
	loop_watch_free(take_ptr(&s->writable));
	return true;
}

static void
draw(struct screen *s)
{
	while (held.taken && push(s) && s->next != NULL) {
		grid_draw(s->shown, s->next, s->colours, &s->out);
		grid_free(s->shown);
		s->shown = take_ptr(&s->next);
	}
}

void
screen_show(struct screen *s, struct grid *frame)
{
	grid_free(s->next);
	s->next = frame;
	draw(s);
}

void
screen_forget(struct screen *s)
{
	grid_free(take_ptr(&s->shown));
}

/* --- input ----------------------------------------------------------- */

static void
stop(struct screen *s, bool group)
{
	screen_leave(s);
	terminal_stop(group);
	screen_enter(s);
	s->fns->on_size(s->arg);
}

static void
on_key(uint32_t key, bool pasted, void *arg)
{
	struct screen *s = arg;

	if (key != CTRL_Z)
		s->fns->on_key(key, pasted, s->arg);
	else
		stop(s, true);
}

static void
on_rest_missing(void *arg)
{
	struct screen *s = arg;

	loop_timer_free(take_ptr(&s->timer));
	key_input_timeout(&s->keys, on_key, s);
}

static void
on_readable(int fd, unsigned what, void *arg)
{
	struct screen *s = arg;
	char bytes[INPUT_SIZE];
	ssize_t n = read(fd, bytes, sizeof bytes);
	int64_t ms;

	(void)what;
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) {
		lose(s);
		return;
	}
	loop_timer_free(take_ptr(&s->timer));
	if (n > 0)
		key_input_feed(&s->keys, bytes, (size_t)n, on_key, s);
	ms = key_input_wait_ms(&s->keys);
	if (ms > 0)
		s->timer = loop_after(s->loop, ms, on_rest_missing, s);
}

static void
occupy(struct screen *s)
{
	struct termios raw = held.before;

	cfmakeraw(&raw);
	tcsetattr(s->fd, TCSANOW, &raw);
	buf_adds(&s->out, ENTER);
	screen_forget(s);
	draw(s);
}

static void
on_winch(int signo, void *arg)
{
	struct screen *s = arg;

	(void)signo;
	/* What a terminal does with its contents then is its own matter. */
	screen_forget(s);
	s->fns->on_size(s->arg);
}

static void
on_stop(int signo, void *arg)
{
	(void)signo;
	stop(arg, false);
}

/* Others may have used the terminal meanwhile, also after a SIGSTOP. */
static void
on_continue(int signo, void *arg)
{
	struct screen *s = arg;

	(void)signo;
	if (!held.taken)
		return;
	occupy(s);
	s->fns->on_size(s->arg);
}

void
screen_size(const struct screen *s, int *ret_rows, int *ret_columns)
{
	struct winsize size = { 0 };

	if (ioctl(s->fd, TIOCGWINSZ, &size) == -1)
		size.ws_row = size.ws_col = 0;
	*ret_rows = size.ws_row > 0 ? size.ws_row : ROWS;
	*ret_columns = size.ws_col > 0 ? size.ws_col : COLUMNS;
}

/* --- lifetime -------------------------------------------------------- */

void
screen_leave(struct screen *s)
{
	loop_watch_free(take_ptr(&s->readable));
	loop_watch_free(take_ptr(&s->writable));
	loop_timer_free(take_ptr(&s->timer));
	loop_signal_free(take_ptr(&s->on_stop)); /* Ctrl-Z in the other one */
	s->keys = (struct key_input)KEY_INPUT_INIT;
	buf_clear(&s->out);
	give_back();
}

void
screen_enter(struct screen *s)
{
	if (held.taken || tcgetattr(s->fd, &held.before) == -1)
		return;
	held.fd = s->fd;
	held.taken = 1;
	watch_crashes();
	s->on_stop = loop_signal_new(s->loop, SIGTSTP, on_stop, s);
	s->readable = loop_watch_new(s->loop, s->fd, LOOP_READ, on_readable, s);
	occupy(s);
}

/* By its own name too: su leaves a terminal that may not be opened by that of
 * the device. */
static int
open_terminal(void)
{
	const int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	int fd = open("/proc/self/fd/1", flags);

	return fd >= 0 ? fd : open("/dev/tty", flags);
}

int
screen_new(struct loop *loop, enum grid_colours colours,
    const struct screen_fns *fns, void *arg, struct screen **ret_screen,
    struct err *err)
{
	struct termios now;
	struct screen *s;
	int fd = open_terminal();

	if (fd < 0 || tcgetattr(fd, &now) == -1) {
		err_errno(err, -errno, "the terminal");
		fd_close(fd);
		return err->code;
	}
	s = xcalloc(1, sizeof *s);
	s->loop = loop;
	s->fns = fns;
	s->arg = arg;
	s->fd = fd;
	s->colours = colours;
	buf_init(&s->out);
	s->on_winch = loop_signal_new(loop, SIGWINCH, on_winch, s);
	s->on_continue = loop_signal_new(loop, SIGCONT, on_continue, s);
	screen_enter(s);
	*ret_screen = s;
	return 0;
}

void
screen_free(struct screen *s)
{
	if (s == NULL)
		return;
	screen_leave(s);
	loop_signal_free(s->on_winch);
	loop_signal_free(s->on_continue);
	grid_free(s->shown);
	grid_free(s->next);
	buf_release(&s->out);
	fd_close(s->fd);
	held.fd = -1;
	free(s);
}
