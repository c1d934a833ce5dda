/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "tmux-world.h"

struct world world;

#define LOOK_MS 5

static void
guard_expired(void *arg)
{
	loop_stop(arg, 1);
}

static void
world_run(void)
{
	struct loop_timer *guard =
	    loop_after(world.loop, unit_guard_ms(), guard_expired, world.loop);
	int status = loop_run(world.loop);

	loop_timer_free(guard);
	ck_assert_msg(status == 0, "waited in vain");
}

static void
world_clean(void)
{
	free(world_tmux("kill-server", NULL));
}

/* A program that is killed, or exits early, cleans nothing up: somebody else
 * must. Where atexit(3) has run, it finds no server. */
static void
leave_guard(void)
{
	cleanup_free char *script =
	    xasprintf("exec >/dev/null 2>&1 </dev/null\n"
		      "tail --pid=%d -s 0.2 -f /dev/null\n"
		      "tmux -L " WORLD_SOCKET " kill-server\n"
		      "rm -rf -- \"$TMUX_TMPDIR\"",
		(int)getpid());
	struct child_spec spec = { .shell = script, .detach = true };
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	if (child_run(&spec, &result, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(99);
	}
}

void
unit_begin(void)
{
	setenv("TMUX_TMPDIR", unit_scratch(), 1);
	unsetenv("TMUX");
	unsetenv("TMUX_PANE");
	leave_guard();
	atexit(world_clean);
}

void
world_begin(const char *command)
{
	const char *home = unit_path("home");

	world_end(); /* left by a test that failed */
	unit_at_end(world_end);
	file_mkdirs(home, 0700, NULL);
	setenv("HOME", home, 1);
	world.loop = loop_new();
	world.options =
	    (struct tmux_options){ .command = command ? command : "tmux",
		    .socket = WORLD_SOCKET,
		    .config = unit_path("tmux.conf") };
	ck_assert_int_eq(
	    tmux_new(world.loop, &world.options, &world.tmux, NULL), 0);
}

void
world_end(void)
{
	tmux_free(world.tmux);
	loop_free(world.loop);
	world = (struct world){ 0 };
	world_clean();
}

void
world_wait(struct answer *answer)
{
	while (answer->count == 0)
		world_run();
	ck_assert_int_eq(answer->count, 1);
}

struct look {
	struct loop *loop;
	world_fn *fn;
	void *arg;
};

static void
look(void *arg)
{
	struct look *l = arg;

	if (l->fn(l->arg))
		loop_stop(l->loop, 0);
}

void
world_until(world_fn *fn, void *arg)
{
	struct look l = { world.loop, fn, arg };
	struct loop_timer *timer = loop_every(world.loop, LOOK_MS, look, &l);

	while (!fn(arg))
		world_run();
	loop_timer_free(timer);
}

static bool
file_there(void *arg)
{
	return file_exists(arg);
}

void
world_until_file(const char *path)
{
	cleanup_free char *copy = xstrdup(path);

	world_until(file_there, copy);
}

void
answer_begin(struct answer *answer)
{
	memset(answer, 0, sizeof *answer);
	buf_init(&answer->text);
}

void
answer_end(struct answer *answer)
{
	buf_release(&answer->text);
}

void
answer_done(const struct err *err, void *arg)
{
	struct answer *answer = arg;

	answer->count++;
	if (err != NULL) {
		ck_assert_int_lt(err->code, 0);
		ck_assert_str_ne(err->msg, "");
		answer->err = *err;
	}
	loop_stop(world.loop, 0);
}

void
answer_started(pid_t pid, const struct err *err, void *arg)
{
	struct answer *answer = arg;

	answer->pid = pid;
	ck_assert((pid > 0) == (err == NULL));
	answer_done(err, arg);
}

void
answer_text(const char *text, const struct err *err, void *arg)
{
	struct answer *answer = arg;

	ck_assert((text == NULL) == (err != NULL));
	if (text != NULL)
		buf_adds(&answer->text, text);
	answer_done(err, arg);
}

void
answer_list(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct answer *answer = arg;

	for (size_t i = 0; i < count; i++) {
		ck_assert((list[i].pane_pid == 0) == list[i].dead);
		buf_addf(&answer->text, "%s %s %s %" PRIu64 " %s\n",
		    list[i].name, list[i].role, list[i].worker,
		    list[i].generation, list[i].dead ? "dead" : "live");
		if (count == 1)
			answer->pid = list[i].pane_pid;
	}
	answer_done(err, arg);
}

int
world_start_session(const struct tmux_session *session, struct answer *answer)
{
	answer_begin(answer);
	tmux_start(world.tmux, session, answer_started, answer);
	ck_assert_int_eq(answer->count, 0);
	world_wait(answer);
	answer_end(answer);
	return answer->err.code;
}

int
world_start(const char *name, const char *shell, pid_t *ret_pid)
{
	const char *const argv[] = { "/bin/sh", "-c", shell, NULL };
	struct tmux_session session = { .name = name,
		.role = "worker",
		.generation = 1,
		.cwd = unit_scratch(),
		.argv = argv };
	struct answer answer;

	world_start_session(&session, &answer);
	if (ret_pid != NULL)
		*ret_pid = answer.pid;
	return answer.err.code;
}

int
world_paste(const char *name, const char *text, bool enter)
{
	struct answer answer;

	answer_begin(&answer);
	tmux_paste(world.tmux, name, text, enter, answer_done, &answer);
	world_wait(&answer);
	return answer.err.code;
}

int
world_keys(const char *name, const char *const *keys)
{
	struct answer answer;

	answer_begin(&answer);
	tmux_keys(world.tmux, name, keys, answer_done, &answer);
	world_wait(&answer);
	return answer.err.code;
}

int
world_kill(const char *name)
{
	struct answer answer;

	answer_begin(&answer);
	tmux_kill(world.tmux, name, answer_done, &answer);
	world_wait(&answer);
	return answer.err.code;
}

int
world_list(struct buf *out)
{
	struct answer answer;

	answer_begin(&answer);
	tmux_list(world.tmux, answer_list, &answer);
	world_wait(&answer);
	buf_clear(out);
	buf_adds(out, answer.text.data);
	answer_end(&answer);
	return answer.err.code;
}

int
world_capture(const char *name, int history, struct buf *out)
{
	struct answer answer;

	answer_begin(&answer);
	tmux_capture(world.tmux, name, history, answer_text, &answer);
	world_wait(&answer);
	buf_clear(out);
	buf_adds(out, answer.text.data);
	answer_end(&answer);
	return answer.err.code;
}

char *
world_tmux(const char *first, ...)
{
	const char *argv[32] = { "tmux", "-u", "-L", WORLD_SOCKET };
	struct child_spec spec = { .argv = argv, .deadline_ms = 20000 };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;
	size_t count = 4;
	va_list ap;

	va_start(ap, first);
	for (const char *w = first; w != NULL && count + 1 < nitems(argv);
	     w = va_arg(ap, const char *))
		argv[count++] = w;
	va_end(ap);
	child_run(&spec, &result, NULL);
	child_output_text(&result.out, &out);
	if (out.len > 0 && out.data[out.len - 1] == '\n')
		buf_truncate(&out, out.len - 1);
	return buf_take(&out);
}

pid_t
world_server(void)
{
	cleanup_free char *pid =
	    world_tmux("display-message", "-p", "#{pid}", NULL);

	return (pid_t)strtol(pid, NULL, 10);
}

const char *
world_script(const char *name, const char *text)
{
	const char *path = unit_path(name);
	cleanup_free char *script = xasprintf("#!/bin/sh\n%s\n", text);

	ck_assert_int_eq(
	    file_replace(path, script, strlen(script), 0700, NULL), 0);
	return path;
}

char *
world_file(const char *path)
{
	cleanup_buf struct buf buf = BUF_INIT;

	if (file_read(path, 16 * 1024 * 1024, &buf, NULL) < 0)
		return NULL;
	return buf_take(&buf);
}

char *
world_reader(const char *name, size_t len)
{
	return xasprintf("stty raw -echo; : >%s.ready; head -c %zu >%s; "
			 ": >%s.done; exec sleep 1000",
	    name, len, name, name);
}

void
world_start_reader(const char *session, const char *name, size_t len)
{
	cleanup_free char *reader = world_reader(name, len);
	cleanup_free char *ready = xasprintf("%s.ready", name);

	ck_assert_int_eq(world_start(session, reader, NULL), 0);
	world_until_file(unit_path(ready));
}

void
world_expect_bytes(const char *name, const void *bytes, size_t len)
{
	cleanup_free char *done = xasprintf("%s.done", name);
	cleanup_buf struct buf got = BUF_INIT;

	world_until_file(unit_path(done));
	ck_assert_int_eq(
	    file_read(unit_path(name), 16 * 1024 * 1024, &got, NULL), 0);
	ck_assert_uint_eq(got.len, len);
	ck_assert(memcmp(got.data, bytes, len) == 0);
}

static bool
process_gone(void *arg)
{
	return !procref_alive(arg);
}

void
world_until_gone(struct procref *ref)
{
	world_until(process_gone, ref);
}

static bool
pane_dead(void *arg)
{
	cleanup_free char *dead =
	    world_tmux("list-panes", "-t", arg, "-F", "#{pane_dead}", NULL);

	return strcmp(dead, "1") == 0;
}

void
world_until_dead(const char *pane)
{
	cleanup_free char *copy = xstrdup(pane);

	world_until(pane_dead, copy);
}
