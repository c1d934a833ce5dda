/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "loop.h"
#include "moment.h"
#include "overseer-private.h"
#include "people.h"

/* The same, and wait until it is on the disk, WRITER_WAIT_MS at most. */
#define WRITER_WAIT_MS 1000

/* One for the process, like its standard output. */
static struct outlet output = OUTLET_INIT(STDOUT_FILENO);

static void
print_json(struct json_object *json)
{
	cleanup_json struct json_object *owned = json;
	cleanup_buf struct buf text = BUF_INIT;

	json_print(owned, false, &text);
	buf_addc(&text, '\n');
	outlet_write(&output, text.data, text.len);
}

void
console_print(
    const struct overseer *o, enum console_colour colour, const char *line)
{
	static const struct {
		const char *sgr, *kind;
	} colours[] = {
		[CONSOLE_PLAIN] = { "", "info" },
		[CONSOLE_RED] = { "\033[31m", "bad" },
		[CONSOLE_GREEN] = { "\033[32m", "good" },
		[CONSOLE_YELLOW] = { "\033[33m", "warning" },
	};
	bool coloured = colour != CONSOLE_PLAIN && isatty(STDOUT_FILENO);
	cleanup_buf struct buf time = BUF_INIT, text = BUF_INIT;
	struct json_object *json;

	moment_add(&time, clock_wall_ms());
	if (o->options->json) {
		json = json_object_new_object();
		json_set_string(json, "time", time.data);
		json_set_string(json, "kind", colours[colour].kind);
		json_set_string(json, "message", line);
		print_json(json);
		return;
	}
	buf_addf(&text, "%s %s%s%s\n", time.data,
	    coloured ? colours[colour].sgr : "", line,
	    coloured ? "\033[0m" : "");
	outlet_write(&output, text.data, text.len);
}

void
console_error(const char *text)
{
	struct outlet errors = OUTLET_INIT(STDERR_FILENO);

	outlet_write(&errors, text, strlen(text));
	outlet_finish(&errors);
}

void
console_fail(const struct overseer *o, const char *words)
{
	cleanup_buf struct buf safe = BUF_INIT;
	struct json_object *json, *error;

	if (o->options->json) {
		error = json_object_new_object();
		json_set_string(error, "code", "failed");
		json_set_string(error, "message", words);
		json = json_object_new_object();
		json_set(json, "error", error);
		print_json(json);
		return;
	}
	buf_adds(&safe, "overseer: ");
	text_add_words(&safe, words, strlen(words));
	buf_addc(&safe, '\n');
	console_error(safe.data);
}

void
console_say(
    struct overseer *o, enum console_colour colour, const char *fmt, ...)
{
	cleanup_free char *words = NULL, *line = NULL, *status = NULL;
	cleanup_buf struct buf safe = BUF_INIT, dated = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	text_add_visible(&safe, words, strlen(words), true);
	line = buf_take(&safe);
	console_print(o, colour, line);
	moment_add(&dated, clock_wall_ms());
	buf_addf(&dated, " %s", line);
	free(o->run.events[0]);
	memmove(&o->run.events[0], &o->run.events[1],
	    (OVERSEER_EVENTS - 1) * sizeof o->run.events[0]);
	o->run.events[OVERSEER_EVENTS - 1] = xstrdup(dated.data);
	log_info("%s", line);
	status = xasprintf("STATUS=%.*s", (int)strcspn(line, "\n"), line);
	notify_service(status);
}

/* --- what waits -------------------------------------------------------- */

/* Is it a file on the disk of the project, which may hang with it? */
static bool
shares_disk(const struct overseer *o)
{
	struct stat out, root;

	return fstat(STDOUT_FILENO, &out) == 0 &&
	    stat(o->workspace.dir, &root) == 0 && out.st_dev == root.st_dev;
}

/* Supervision has begun: a stopped terminal must not stop it, nor a disk that
 * hangs. What goes to a file on the same disk waits for another process
 * (writer.c), as in log.h. false: it ends. */
static void
console_hold(struct overseer *o, bool hold)
{
	outlet_hold(&output, hold && shares_disk(o));
	outlet_attach(&output, hold ? o->loop : NULL);
	if (!hold)
		outlet_finish(&output);
}

#define LOOK_MS  1000 /* at a process that does not come to an end */
#define RETRY_MS 1000 /* a disk that is full may not stay so */
#define DIR_SIZE 4096

/* What it has done, in memory that it shares with us. That and what it says it
 * with exist from the beginning: when it matters there may be no descriptors.
 */
struct outcome {
	bool registered, torn;
	int saved; /* lines of the history */
	char evidence[DIR_SIZE]; /* folder, "" = none */
	char words[512]; /* of what failed, "" = nothing */
};

struct writer {
	pid_t pid; /* 0 = no writer */
	int64_t began_ms;
	int done; /* an eventfd: it has ended its work */
	struct outcome *outcome;
	struct loop_watch *watch;
	struct loop_timer *look;
	bool again; /* there is more to write */
	bool is_reported; /* that the disk hangs */
	/* What it was given. */
	bool registers;
	size_t log_len, out_len, unsaved;
	char *stamp;
};

static void
on_held(void *arg)
{
	struct overseer *o = arg;

	loop_call_request(o->write);
}

/* --- in the process that writes ---------------------------------------- */

static _Noreturn void
be_writer(struct overseer *o, const struct writer *w, pid_t parent)
{
	const uint64_t one = 1;
	int done;
	struct stat st;
	int null;
	struct outcome *out;
	struct err err = { 0 };

	/* What thaws later must not overwrite what another has written. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* Nothing that ours held may be held by one that hangs: locks,
	 * sockets, pipes. A regular file stays: it may be what is written
	 * to. */
	done = w->done;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
			dup2(null, fd);
	dup2(done, 3);
	close_range(4, ~0U, 0);
	out = w->outcome;
	if (w->log_len > 0)
		out->torn = log_write_held(w->log_len);
	if (w->out_len > 0)
		outlet_write_held(&output, w->out_len);
	/* Before who is who: a failure that is over must be remembered. */
	history_save(&o->workspace, &o->history, &err);
	out->saved = (int)(w->unsaved - o->history.unsaved);
	if (w->registers)
		out->registered = overseer_write_registration(o, &err) == 0;
	if (w->stamp != NULL &&
	    evidence_save(
		&o->workspace, w->stamp, &o->failure.evidence, &err) == 0 &&
	    o->failure.evidence.dir != NULL)
		snprintf(out->evidence, sizeof out->evidence, "%s",
		    o->failure.evidence.dir);
	snprintf(out->words, sizeof out->words, "%s", err.msg);
	_exit(write(3, &one, sizeof one) == sizeof one ? 0 : 1);
}

/* --- ours --------------------------------------------------------------- */

static void
on_write_due(void *arg)
{
	writer_begin(arg);
}

/* ok: it has done its work; else it is gone. */
static void
take_outcome(struct overseer *o, bool ok)
{
	struct writer *w = o->writer;
	const struct outcome *out = w->outcome;

	w->pid = 0;
	loop_timer_free(take_ptr(&w->look));
	if (ok) {
		log_drop_held(w->log_len, out->torn);
		outlet_drop(&output, w->out_len);
		o->history.unsaved -= (size_t)out->saved;
		if (out->words[0] != '\0')
			log_info("%s", out->words);
		/* Is it still the evidence of the same failure? */
		if (w->stamp != NULL && out->evidence[0] != '\0' &&
		    o->failure.evidence_saved == w->stamp)
			xstrset(&o->failure.evidence.dir, out->evidence);
	}
	if (o->failure.evidence_saved == w->stamp)
		o->failure.evidence_saved = NULL;
	free(take_ptr(&w->stamp));
	if (w->registers && !(ok && out->registered))
		o->changed = true;
	if (w->is_reported) {
		w->is_reported = false;
		console_say(o, CONSOLE_GREEN, "The disk answers again.");
	}
	loop_timer_free(take_ptr(&o->rewrite));
	if (w->again)
		loop_call_request(o->write);
	else if (o->changed || o->history.unsaved > 0)
		o->rewrite = loop_after(o->loop, RETRY_MS, on_write_due, o);
	w->again = false;
}

/* True: the writer has ended. Asked in this order: it says that it is done
 * before it exits. */
static bool
look(struct overseer *o)
{
	struct writer *w = o->writer;
	siginfo_t info = { 0 };
	uint64_t count;
	bool gone;

	if (w->pid == 0)
		return true;
	gone = waitid(P_PID, (id_t)w->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT) == -1 ||
	    info.si_pid != 0;
	if (read(w->done, &count, sizeof count) == sizeof count)
		take_outcome(o, true);
	else if (gone)
		take_outcome(o, false);
	else
		return false;
	return true;
}

static void
on_done(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

static void
on_look(void *arg)
{
	struct overseer *o = arg;
	struct writer *w = o->writer;

	if (look(o))
		return;
	loop_timer_restart(w->look, LOOK_MS);
	if (w->is_reported || !writer_is_stuck(o))
		return;
	w->is_reported = true;
	console_say(o, CONSOLE_RED,
	    "The disk of %s does not answer: nothing is written to it. "
	    "Supervision goes on.",
	    o->workspace.root);
}

static bool
has_work(const struct overseer *o)
{
	return log_held() > 0 || outlet_held(&output) > 0 || o->changed ||
	    o->history.unsaved > 0 || o->failure.evidence_stamp != NULL;
}

/* True: it has ended. */
static bool
await(struct overseer *o, int64_t until_ms)
{
	struct pollfd done = { .fd = o->writer->done, .events = POLLIN };
	int64_t left;

	while (!look(o)) {
		left = until_ms - clock_machine_ms();
		if (left <= 0)
			return false;
		poll(&done, 1, (int)left);
	}
	return true;
}

void
writer_begin(struct overseer *o)
{
	struct writer *w = o->writer;
	sigset_t all, before;
	pid_t parent = getpid();
	bool owns;

	if (w == NULL || !has_work(o))
		return;
	if (w->pid != 0) {
		w->again = true;
		return;
	}
	/* Who is who only where it is ours: it may be another's folder by
	 * now. */
	owns = overseer_owns_root(o);
	memset(w->outcome, 0, sizeof *w->outcome);
	w->log_len = log_held();
	w->out_len = outlet_held(&output);
	w->registers = owns && o->changed;
	w->unsaved = owns ? o->history.unsaved : 0;
	free(take_ptr(&w->stamp));
	if (owns) {
		w->stamp = take_ptr(&o->failure.evidence_stamp);
		o->failure.evidence_saved = w->stamp;
	}
	o->changed = false;
	if (!owns) {
		o->history.unsaved = 0;
		free(take_ptr(&o->failure.evidence_stamp));
	}
	/* A handler must not run there: it would write to what is not open. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	w->pid = fork();
	if (w->pid == 0)
		be_writer(o, w, parent);
	sigprocmask(SIG_SETMASK, &before, NULL);
	w->began_ms = clock_machine_ms();
	if (w->pid == -1) {
		take_outcome(o, false);
		return;
	}
	w->look = loop_after(o->loop, LOOK_MS, on_look, o);
	if (clock_is_virtual())
		await(o, clock_machine_ms() + WRITER_WAIT_MS);
}

void
writer_finish(struct overseer *o)
{
	int64_t until = clock_machine_ms() + WRITER_WAIT_MS;

	if (o->writer == NULL)
		return;
	if (!writer_is_stuck(o) && await(o, until)) {
		writer_begin(o);
		await(o, until);
	} else {
		writer_begin(o);
	}
}

bool
writer_is_stuck(const struct overseer *o)
{
	const struct writer *w = o->writer;

	return w != NULL && w->pid != 0 &&
	    (w->is_reported ||
		clock_machine_ms() - w->began_ms >= WRITER_WAIT_MS);
}

int
writer_open(struct overseer *o, struct err *err)
{
	struct writer *w = xcalloc(1, sizeof *w);

	w->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->outcome = mmap(NULL, sizeof *w->outcome, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w->done == -1 || w->outcome == MAP_FAILED) {
		fd_close(w->done);
		free(w);
		return err_errno(err, -errno, "cannot begin to write");
	}
	w->watch = loop_watch_new(o->loop, w->done, LOOP_READ, on_done, o);
	o->write = loop_call_new(o->loop, on_write_due, o);
	o->writer = w;
	log_hold(on_held, o);
	console_hold(o, true);
	return 0;
}

static void
on_lost(void *arg)
{
	(void)arg;
}

/* What a disk that hangs has not taken is lost, and so is what follows. */
void
writer_close(struct overseer *o)
{
	struct writer *w = o->writer;
	bool stuck;

	if (w == NULL)
		return;
	writer_finish(o);
	stuck = w->pid != 0;
	o->writer = NULL;
	if (stuck)
		outlet_drop(&output, outlet_held(&output));
	log_hold(stuck ? on_lost : NULL, NULL);
	console_hold(o, false);
	loop_timer_free(take_ptr(&w->look));
	loop_watch_free(w->watch);
	fd_close(w->done);
	munmap(w->outcome, sizeof *w->outcome);
	free(w->stamp);
	free(w);
}

void
overseer_tell(struct overseer *o, const struct notice *notice)
{
	writer_finish(o);
	people_tell(o->people, o->settings, notice,
	    writer_is_stuck(o) ? PEOPLE_UNSAVED : PEOPLE_SAVED);
}
