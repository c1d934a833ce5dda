/* SPDX-License-Identifier: ISC */

/* The terminal of a person: programs that need it, or are left behind without
 * one, questions, texts written in an editor, and the whole screen. */
#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>

#include "child.h"
#include "cli-private.h"
#include "comment-file.h"
#include "loop.h"
#include "prompt.h"
#include "top.h"

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

/* Stop as Ctrl-Z does, alone or with our whole group of processes; returns when
 * we go on, or at once where no shell could continue us. SIGTSTP then has its
 * default action. */
static void
terminal_stop(bool group)
{
	signal(SIGTSTP, SIG_DFL);
	kill(group ? 0 : getpid(), SIGTSTP);
}

/* --- programs that are left behind ------------------------------------- */

#define WORDS_MAX 4096

int
detach_start(struct cli *cli, char *const *argv, const char *log, int *ret_fd,
    struct err *err)
{
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_child_result struct child_result result = { 0 };
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

/* One line is part of the message; more follow it. */
int
detach_fail(struct cli *cli, const char *who, const char *log, off_t from)
{
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };
	bool one;
	cleanup_fd int fd = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char bytes[WORDS_MAX];
	ssize_t n = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, from);

	/* What it wrote there. */
	if (n > 0)
		text_add_utf8(&words, bytes, (size_t)n);
	while (words.len > 0 && words.data[words.len - 1] == '\n')
		buf_truncate(&words, words.len - 1);
	one = strchr(words.data, '\n') == NULL;
	err_set(&err, -EIO, "%s did not start%s%s", who,
	    words.len == 0 ? "; see: llmc log daemon" :
		one        ? ": " :
			     "; it said:",
	    one ? words.data : "");
	if (!one)
		buf_addc(&words, '\n');
	return cli_fail_output(cli, "failed", &err, one ? NULL : words.data);
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

#define DRAFT_FILE_MAX (64 * 1024 * 1024) /* with a diff below the text */

static const char draft_end_words[] =
    "# Everything below the line above is ignored.\n";

static bool
is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static int
too_long(struct cli *cli, const char *what)
{
	return cli_fail(cli, "too_long", "%s is longer than 1 MiB", what);
}

int
draft_check(struct cli *cli, const struct draft *draft, const char *what)
{
	if (memchr(draft->text.data, '\0', draft->text.len) != NULL)
		return cli_fail(cli, "bad_text",
		    "%s contains a NUL byte; a prompt is text", what);
	return CLI_OK;
}

/* Read everything, up to the limit. Negative errno. */
static int
read_all(int fd, size_t max, struct buf *out)
{
	ssize_t n;

	do {
		buf_reserve(out, 65536);
		n = read(fd, out->data + out->len, 65536);
		if (n > 0)
			buf_grew(out, (size_t)n);
	} while ((n > 0 || (n == -1 && errno == EINTR)) && out->len <= max);
	return n == -1 ? -errno : 0;
}

int
draft_read(struct cli *cli, const char *path, struct draft *draft)
{
	bool is_input = strcmp(path, "-") == 0;
	const char *what = is_input ? "standard input" : path;
	int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	size_t max = draft->with_diff ? DRAFT_FILE_MAX : PROMPT_MAX;
	int r = fd == -1 ? -errno : read_all(fd, max, &draft->text);

	if (!is_input)
		fd_close(fd);
	if (r < 0)
		return cli_fail(cli, "io", "%s: %s", what, strerror(-r));
	if (draft->text.len > max)
		return too_long(cli, what);
	r = draft_check(cli, draft, what);
	if (r == CLI_OK && is_blank(draft->text.data))
		return cli_fail(cli, "empty", "%s is empty", what);
	return r;
}

/* NULL = none is set. */
static const char *
chosen_editor(void)
{
	const char *const values[] = { getenv("VISUAL"), getenv("EDITOR") };

	for (size_t i = 0; i < nitems(values); i++)
		if (values[i] != NULL && values[i][0] != '\0')
			return values[i];
	return NULL;
}

/* Through the shell, as git does it: the variable may hold arguments. */
int
draft_editor(struct cli *cli, const char *file, const char *not_done)
{
	const char *chosen = chosen_editor();
	const char *editor = chosen != NULL ? chosen : "vi";
	cleanup_free char *script = xasprintf("%s \"$1\"", editor);
	const char *const argv[] = { "/bin/sh", "-c", script, "sh", file,
		NULL };
	struct err err = { 0 };
	int r = terminal_run(argv, &err);

	if (r < 0)
		return cli_fail_err(cli, "failed", &err);
	if (r > 0)
		return cli_fail(cli, "failed",
		    "the editor %s exited with status %d; %s", editor, r,
		    not_done);
	return CLI_OK;
}

static int
make_file(struct cli *cli, const char *kind, const char *initial,
    const char *below, struct draft *draft, struct err *err)
{
	cleanup_free char *dir = workspace_path(&cli->workspace, "drafts");
	cleanup_free char *name = xasprintf("%s-%ld.md", kind, (long)getpid());
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	draft->file = file_join(dir, name);
	if (initial != NULL)
		buf_adds(&text, initial);
	else
		buf_addf(&text, "\n%s\n%s", comment_file_end, draft_end_words);
	if (below != NULL)
		buf_adds(&text, below);
	return file_replace(draft->file, text.data, text.len, 0600, err);
}

/* Its file is there. keep: it holds what was typed before. */
static int
edit_file(struct cli *cli, struct draft *draft, bool keep)
{
	struct err err = { 0 };
	int status = draft_editor(cli, draft->file, "nothing was sent");
	struct buf *text;
	size_t len;
	const char *p;

	buf_clear(&draft->text);
	if (status == CLI_OK &&
	    file_read(draft->file, DRAFT_FILE_MAX, &draft->text, &err) < 0)
		status = cli_fail_err(cli, "io", &err);
	if (status == CLI_OK && draft_check(cli, draft, "the text") != CLI_OK)
		return CLI_FAILED; /* and the file is kept */
	/* Up to the line that ends the text, wherever the person left it. */
	text = &draft->text;
	len = strlen(comment_file_end);
	p = draft->with_diff ? NULL : text->data;
	while (p != NULL && strncmp(p, comment_file_end, len) != 0) {
		p = strchr(p, '\n');
		if (p != NULL)
			p++;
	}
	if (p != NULL)
		buf_truncate(text, (size_t)(p - text->data));
	if (status == CLI_OK && is_blank(draft->text.data))
		status = cli_fail(
		    cli, "empty", "the text is empty; nothing was sent");
	if (status == CLI_OK && !draft->with_diff &&
	    draft->text.len > PROMPT_MAX)
		return too_long(cli, "the text"); /* and the file is kept */
	if (status != CLI_OK && !keep) {
		unlink(draft->file);
		free(take_ptr(&draft->file));
	}
	return status;
}

static int
edit(struct cli *cli, const char *kind, const char *initial, const char *below,
    struct draft *draft)
{
	struct err err = { 0 };

	if (make_file(cli, kind, initial, below, draft, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	return edit_file(cli, draft, false);
}

int
draft_fill(struct cli *cli, const char *typed, const char *kind,
    const char *below, struct draft *draft)
{
	if (typed == NULL && (!terminal_here() || cli->json))
		return cli_fail(cli, "no_terminal",
		    "there is no terminal for an editor; give the text on the "
		    "command line");
	if (typed == NULL)
		return edit(cli, kind, NULL, below, draft);
	if (strcmp(typed, "-") == 0)
		return draft_read(cli, "-", draft);
	if (is_blank(typed))
		return cli_fail(cli, "empty", "the text is empty");
	buf_adds(&draft->text, typed);
	return CLI_OK;
}

int
draft_edit(struct cli *cli, const char *text, const char *kind,
    const char *option, struct draft *draft)
{
	if (cli->json)
		return cli_fail(cli, "no_terminal",
		    "there is no editor with --json; give the text with %s "
		    "FILE",
		    option);
	if (!terminal_here() && chosen_editor() == NULL)
		return cli_fail(cli, "no_terminal",
		    "there is no terminal for an editor; set EDITOR to one "
		    "that needs none, or give the text with %s FILE",
		    option);
	return edit(cli, kind, text, NULL, draft);
}

int
draft_again(struct cli *cli, struct draft *draft)
{
	return edit_file(cli, draft, true);
}

int
draft_end(struct cli *cli, struct draft *draft, int status)
{
	if (draft->file != NULL && status == CLI_OK)
		unlink(draft->file);
	else if (draft->file != NULL)
		cli_warn(cli, "your text is saved in %s", draft->file);
	free(take_ptr(&draft->file));
	buf_release(&draft->text);
	return status;
}

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
