/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "loop.h"

#define RETRY_MS  100
#define FINISH_MS 200

#define LINE_COLUMNS (200 - 15) /* on a terminal, behind time and level */

static const char cut_line[] = "[lines are missing here: they were not read]\n";

void
outlet_attach(struct outlet *outlet, struct loop *loop)
{
	loop_timer_free(take_ptr(&outlet->retry));
	outlet->loop = loop;
}

static bool
is_regular(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* The descriptor to write to without waiting. One that cannot be opened again,
 * such as the terminal of another user, is only used when it has room. */
static int
open_again(struct outlet *outlet, const struct stat *st)
{
	char path[64];

	if (outlet->own >= 0 && outlet->dev == st->st_dev &&
	    outlet->ino == st->st_ino)
		return outlet->own;
	outlet->own = fd_close(outlet->own);
	snprintf(path, sizeof path, "/proc/self/fd/%d", outlet->fd);
	outlet->own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	outlet->dev = st->st_dev;
	outlet->ino = st->st_ino;
	return outlet->own;
}

static ssize_t
write_some(struct outlet *outlet, const char *text, size_t len)
{
	struct pollfd room = { .fd = outlet->fd, .events = POLLOUT };
	struct stat st;
	int fd;

	if (fstat(outlet->fd, &st) == -1)
		return -1;
	if (S_ISSOCK(st.st_mode))
		return send(outlet->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return write(outlet->fd, text, len);
	fd = open_again(outlet, &st);
	if (fd >= 0)
		return write(fd, text, len);
	errno = EAGAIN;
	return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) ?
	    write(outlet->fd, text, len) :
	    -1;
}

static void
on_retry(void *arg)
{
	outlet_flush(arg);
}

static void
retry_later(struct outlet *outlet)
{
	if (outlet->loop == NULL || outlet->hold)
		return;
	loop_timer_set(
	    &outlet->retry, outlet->loop, RETRY_MS, on_retry, outlet);
}

bool
outlet_flush(struct outlet *outlet)
{
	ssize_t n;

	if (outlet->hold)
		return outlet->queue.len == 0;
	while (outlet->queue.len > 0) {
		n = write_some(outlet, outlet->queue.data, outlet->queue.len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN) {
			retry_later(outlet);
			return false;
		}
		if (n <= 0) /* nothing would be written there */
			n = (ssize_t)outlet->queue.len;
		buf_consume(&outlet->queue, (size_t)n);
	}
	outlet->cut = false;
	buf_release(&outlet->queue);
	return true;
}

void
outlet_finish(struct outlet *outlet)
{
	for (int ms = 0; ms < FINISH_MS && !outlet_flush(outlet); ms += 10)
		poll(NULL, 0, 10); /* the one before found no room */
	outlet->own = fd_close(outlet->own);
	buf_release(&outlet->queue);
}

void
outlet_write(struct outlet *outlet, const char *text, size_t len)
{
	if (outlet->cut)
		return; /* after the line that says so */
	if (outlet->queue.len + len + sizeof cut_line > OUTLET_MAX &&
	    outlet->queue.len > 0) {
		outlet->cut = true;
		text = cut_line;
		len = strlen(cut_line);
	}
	buf_add(&outlet->queue, text, len);
	if (!loop_timer_pending(outlet->retry))
		outlet_flush(outlet);
}

/* --- regular files ---------------------------------------------------- */

void
outlet_hold(struct outlet *outlet, bool hold)
{
	outlet->hold = hold && is_regular(outlet->fd);
}

size_t
outlet_held(const struct outlet *outlet)
{
	return outlet->hold ? outlet->queue.len : 0;
}

int
outlet_write_held(struct outlet *outlet, size_t len)
{
	return file_write_all(outlet->fd, outlet->queue.data, len);
}

void
outlet_drop(struct outlet *outlet, size_t len)
{
	buf_consume(&outlet->queue, len);
	outlet->cut = false;
}

#define MESSAGE_MAX (32 * 1024)

static const struct {
	const char *name;
	const char *colour;
} log_levels[LOG_LEVEL_COUNT] = {
	[LOG_LEVEL_DEBUG] = { "DEBUG", "2" },
	[LOG_LEVEL_INFO] = { "INFO", "36" },
	[LOG_LEVEL_WARN] = { "WARN", "33" },
	[LOG_LEVEL_ERROR] = { "ERROR", "1;31" },
};

/* One log per process, so that the log functions need no argument for it. */
static struct {
	struct log_options options;
	char component[64];
	char *path;
	int fd;
	bool torn; /* the last write stopped inside a record */
	void (*on_fatal)(void); /* NULL = none */
	void (*on_held)(void *arg); /* NULL = records are not held */
	void *held_arg;
	struct buf held;
	size_t lost; /* records for which there was no room */
	struct outlet terminal;
} log_state = {
	.options = { .terminal = true, .level = LOG_LEVEL_WARN },
	.component = "llmc",
	.fd = -1,
	.held = BUF_INIT,
	.terminal = OUTLET_INIT(STDERR_FILENO),
};

const char *
log_level_name(enum log_level level)
{
	return log_levels[level].name;
}

bool
log_level_parse(const char *name, enum log_level *ret_level)
{
	for (size_t i = 0; i < LOG_LEVEL_COUNT; i++) {
		if (strcasecmp(name, log_levels[i].name) != 0)
			continue;
		*ret_level = (enum log_level)i;
		return true;
	}
	return false;
}

/* "info,autod=debug": a part that names our component overrides a general one;
 * among equals the last one wins. */
static void
log_filter(const char *filter, const char *component, enum log_level *level)
{
	cleanup_free char *copy = xstrdup(filter);
	char *rest = copy, *part, *value;
	bool named = false;
	enum log_level found;

	while ((part = strsep(&rest, ",")) != NULL) {
		value = strchr(part, '=');
		if (value != NULL) {
			*value++ = '\0';
			if (strcmp(part, component) == 0 &&
			    log_level_parse(value, &found)) {
				*level = found;
				named = true;
			}
		} else if (!named && log_level_parse(part, &found)) {
			*level = found;
		}
	}
}

static int
log_open_file(void)
{
	int mode = log_state.options.mode != 0 ? log_state.options.mode : 0600;
	int fd;

	if (log_state.path == NULL || log_state.fd != -1)
		return 0;
	fd = file_open(
	    log_state.path, O_WRONLY | O_APPEND | O_CREAT, (mode_t)mode);
	if (fd < 0)
		return fd;
	log_state.fd = fd;
	return 0;
}

int
log_open(const struct log_options *options)
{
	const char *filter = getenv("LLMC_LOG");

	log_close();
	log_state.options = *options;
	snprintf(log_state.component, sizeof log_state.component, "%s",
	    options->component != NULL ? options->component : "llmc");
	if (filter != NULL)
		log_filter(
		    filter, log_state.component, &log_state.options.level);
	if (options->path != NULL)
		log_state.path = xstrdup(options->path);
	return log_open_file();
}

void
log_close(void)
{
	outlet_finish(&log_state.terminal);
	log_state.fd = fd_close(log_state.fd);
	log_state.torn = false;
	buf_release(&log_state.held);
	log_state.on_held = NULL;
	free(take_ptr(&log_state.path));
}

void
log_mute(void)
{
	log_state.fd = -1;
	log_state.path = NULL;
	log_state.on_held = NULL;
	log_state.options.level = LOG_LEVEL_ERROR + 1;
}

bool
log_enabled(enum log_level level)
{
	return level >= log_state.options.level;
}

/* path.1 becomes path.2 and so on; the oldest is removed. */
static void
log_shift(const char *path, int keep)
{
	cleanup_free char *last = xasprintf("%s.%d", path, keep);

	if (keep < 1) {
		unlink(path);
		return;
	}
	unlink(last);
	for (int i = keep; i >= 1; i--) {
		cleanup_free char *to = xasprintf("%s.%d", path, i);
		cleanup_free char *from =
		    i > 1 ? xasprintf("%s.%d", path, i - 1) : xstrdup(path);

		rename(from, to);
	}
}

/* Another process may write and rotate the same file. The one that holds the
 * lock on the file at path rotates it; the others just open the new one. The
 * old descriptor is closed first, so that rotation works when none is free. */
static void
log_rotate(const struct stat *ours)
{
	struct stat st;

	if (ours->st_nlink > 0 && stat(log_state.path, &st) == 0 &&
	    st.st_ino == ours->st_ino && st.st_dev == ours->st_dev) {
		if (flock(log_state.fd, LOCK_EX | LOCK_NB) == -1)
			return;
		if (stat(log_state.path, &st) == 0 && st.st_ino == ours->st_ino)
			log_shift(log_state.path, log_state.options.keep);
	}
	log_state.fd = fd_close(log_state.fd);
	log_open_file();
}

static void
log_write_file(struct buf *line)
{
	struct stat st;
	ssize_t n;

	if (log_state.path == NULL || log_open_file() < 0)
		return;
	if (fstat(log_state.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_nlink == 0 ||
		(log_state.options.max_size > 0 && st.st_size > 0 &&
		    st.st_size + (off_t)line->len >
			log_state.options.max_size)))
		log_rotate(&st);
	if (log_state.fd == -1)
		return;
	if (log_state.torn)
		buf_splice(line, 0, 0, "\n", 1);
	do
		n = write(log_state.fd, line->data, line->len);
	while (n == -1 && errno == EINTR);
	if (n >= 0)
		log_state.torn = (size_t)n < line->len;
}

/* --- held records ------------------------------------------------------ */

void
log_attach(struct loop *loop)
{
	outlet_attach(&log_state.terminal, loop);
}

void
log_hold(void (*fn)(void *arg), void *arg)
{
	log_state.on_held = fn;
	log_state.held_arg = arg;
	if (fn != NULL || log_state.held.len == 0)
		return;
	log_write_file(&log_state.held);
	buf_release(&log_state.held);
}

size_t
log_held(void)
{
	return log_state.held.len;
}

/* In a child, which has no descriptors of its parent. */
bool
log_write_held(size_t len)
{
	cleanup_buf struct buf text = BUF_INIT;

	log_state.fd = -1;
	buf_add(&text, log_state.held.data, len);
	log_write_file(&text);
	return log_state.torn;
}

void
log_drop_held(size_t len, bool torn)
{
	size_t lost = log_state.lost;

	log_state.torn = torn;
	buf_consume(&log_state.held, len);
	log_state.lost = 0;
	if (lost > 0)
		log_info("%zu records are missing here: the disk did not take "
			 "them",
		    lost);
}

static void
log_add_fields(struct buf *line, const char *const *pairs)
{
	for (; pairs[0] != NULL; pairs += 2) {
		buf_addc(line, ',');
		text_add_json(line, pairs[0], strlen(pairs[0]));
		buf_addc(line, ':');
		text_add_json(line, pairs[1],
		    text_cut(pairs[1], strlen(pairs[1]), MESSAGE_MAX));
	}
}

static void
log_terminal(enum log_level level, int64_t now, const char *message, size_t len,
    const char *const *pairs)
{
	cleanup_buf struct buf line = BUF_INIT, words = BUF_INIT;
	time_t seconds = (time_t)(now / 1000);
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	buf_addf(&line, "%02d:%02d:%02d ", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (log_state.options.colour)
		buf_addf(&line, "\033[%sm%-5s\033[0m ",
		    log_levels[level].colour, log_levels[level].name);
	else
		buf_addf(&line, "%-5s ", log_levels[level].name);
	text_add_words(&words, message, len);
	for (; pairs[0] != NULL; pairs += 2) {
		buf_addf(&words, " %s=", pairs[0]);
		text_add_words(&words, pairs[1], strlen(pairs[1]));
	}
	/* The file has it whole; what an error says ends with what to do. */
	len = text_width_cut(words.data, words.len, LINE_COLUMNS);
	if (log_state.path != NULL && level < LOG_LEVEL_ERROR &&
	    len < words.len) {
		buf_truncate(&words,
		    text_width_cut(words.data, words.len, LINE_COLUMNS - 3));
		buf_adds(&words, "...");
	}
	buf_add(&line, words.data, words.len);
	buf_addc(&line, '\n');
	outlet_write(&log_state.terminal, line.data, line.len);
}

void
log_pairs(enum log_level level, const char *message, const char *const *pairs)
{
	cleanup_buf struct buf line = BUF_INIT;
	char stamp[CLOCK_STAMP_SIZE];
	int64_t now = clock_wall_ms();
	size_t len = text_cut(message, strlen(message), MESSAGE_MAX);
	int saved = errno;

	if (!log_enabled(level))
		return;
	if (log_state.path != NULL) {
		clock_format_stamp(now, stamp);
		buf_addf(&line,
		    "{\"timestamp\":\"%s\",\"level\":\"%s\",\"pid\":%d,"
		    "\"component\":",
		    stamp, log_levels[level].name, (int)getpid());
		text_add_json(
		    &line, log_state.component, strlen(log_state.component));
		buf_adds(&line, ",\"message\":");
		text_add_json(&line, message, len);
		log_add_fields(&line, pairs);
		buf_adds(&line, "}\n");
		if (log_state.on_held != NULL) {
			if (log_state.held.len + line.len > LOG_HELD_MAX)
				log_state.lost++;
			else
				buf_add(&log_state.held, line.data, line.len);
			log_state.on_held(log_state.held_arg);
		} else {
			log_write_file(&line);
		}
	}
	if (log_state.options.terminal)
		log_terminal(level, now, message, len, pairs);
	errno = saved;
}

__attribute__((format(printf, 2, 0))) static void
log_format(enum log_level level, const char *fmt, va_list ap)
{
	static const char *const none[] = { NULL };
	cleanup_buf struct buf message = BUF_INIT;
	int saved = errno;

	if (!log_enabled(level))
		return;
	buf_vaddf(&message, fmt, ap);
	log_pairs(level, message.data, none);
	errno = saved;
}

void
log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_DEBUG, fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_INFO, fmt, ap);
	va_end(ap);
}

void
log_warnx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_WARN, fmt, ap);
	va_end(ap);
}

void
log_errorx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_format(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
}

void
log_on_fatal(void (*fn)(void))
{
	log_state.on_fatal = fn;
}

void
log_fatal(const char *text)
{
	static const char *const fields[] = { "fatal", "true", NULL };

	if (log_state.on_fatal != NULL)
		log_state.on_fatal();
	log_state.options.terminal = true;
	log_hold(NULL, NULL);
	log_pairs(LOG_LEVEL_ERROR, text, fields);
}
