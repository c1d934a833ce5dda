/* SPDX-License-Identifier: ISC */

/*
 * What llmc top does on a terminal, compared with its targets: bench-top BUILD.
 * A daemon with 100 sessions of the fake agent, and llmc top on a terminal of
 * our own that counts what comes.
 *
 * A wake-up is a voluntary context switch; a visible change is what arrives at
 * once.
 */
#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "bench.h"
#include "client.h"
#include "workspace.h"

#define WORKERS   100
#define EVENTS    40
#define IDLE_MS   20000
#define QUIET_MS  20 /* between two changes */
#define WAIT_MS   60000
#define GROW_MS   300000
#define STATE_MAX (16 * 1024 * 1024)

#define TARGET_WAKES  0
#define TARGET_SCREEN 100

struct top {
	char *llmc, *scratch, *repo;
	struct workspace workspace;
	int terminal;
	pid_t pid;
	struct table *table;
};

/* --- the daemon ------------------------------------------------------- */

/* What the daemon answers; the caller frees. */
static struct json_object *
ask(struct top *t, const char *method, const char *worker)
{
	cleanup_free char *socket = client_socket_path(&t->workspace);
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *result = NULL;
	struct err err = { 0 };

	if (worker != NULL)
		json_set_string(params, "worker", worker);
	bench_must(client_call(socket, method, params, WAIT_MS, true, &result,
		       NULL, &err),
	    method, &err);
	return result;
}

static int
count_idle(struct top *t)
{
	cleanup_json struct json_object *view = ask(t, "view.get", NULL);
	int count = 0;

	json_object_object_foreach(
	    json_object_object_get(view, "workers"), name, row)
	{
		(void)name;
		count += strcmp(json_string_or(row, "status", ""), "idle") == 0;
	}
	return count;
}

static void
grow(struct top *t)
{
	int64_t end;

	for (int i = 1; i <= WORKERS; i++) {
		cleanup_free char *name = xasprintf("w%03d", i);

		bench_run(
		    t->repo, (const char *[]){ t->llmc, "add", name, NULL });
	}
	end = clock_mono_ms() + GROW_MS;
	while (count_idle(t) < WORKERS) {
		bench_must(clock_mono_ms() > end ? -ETIMEDOUT : 0, "workers",
		    &(struct err){ 0 });
		poll(NULL, 0, 50); /* other programs */
	}
}

/* --- the terminal ----------------------------------------------------- */

static void
start_top(struct top *t)
{
	const char *argv[] = { t->llmc, "--root", t->repo, "top", NULL };
	struct winsize size = { .ws_row = 50, .ws_col = 160 };
	posix_spawn_file_actions_t files;
	int slave;

	t->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	bench_must(t->terminal < 0 || grantpt(t->terminal) < 0 ||
		    unlockpt(t->terminal) < 0 ?
		-errno :
		0,
	    "terminal", &(struct err){ 0 });
	slave = open(ptsname(t->terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	bench_must(
	    slave < 0 || ioctl(slave, TIOCSWINSZ, &size) < 0 ? -errno : 0,
	    "terminal", &(struct err){ 0 });
	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_adddup2(&files, slave, fd);
	bench_must(-posix_spawn(&t->pid, argv[0], &files, NULL,
		       (char *const *)(uintptr_t)argv, environ),
	    "llmc top", &(struct err){ 0 });
	posix_spawn_file_actions_destroy(&files);
	close(slave);
}

/* What comes within a time is added; false: nothing did. */
static bool
read_some(struct top *t, int64_t ms, struct buf *out)
{
	struct pollfd ready = { .fd = t->terminal, .events = POLLIN };
	char bytes[65536];
	ssize_t n;

	if (poll(&ready, 1, (int)ms) != 1)
		return false;
	n = read(t->terminal, bytes, sizeof bytes);
	bench_must(n > 0 ? 0 : -EIO, "llmc top has ended", &(struct err){ 0 });
	buf_add(out, bytes, (size_t)n);
	return true;
}

static void
wait_words(struct top *t, const char *words)
{
	int64_t end = clock_mono_ms() + WAIT_MS;
	cleanup_buf struct buf shown = BUF_INIT;

	while (memmem(shown.data, shown.len, words, strlen(words)) == NULL) {
		bench_must(clock_mono_ms() > end ? -ETIMEDOUT : 0, words,
		    &(struct err){ 0 });
		read_some(t, 1000, &shown);
	}
}

/* --- measurements ----------------------------------------------------- */

static double
wakes_of(pid_t pid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	cleanup_free char *path = xasprintf("/proc/%d/status", (int)pid);
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };
	const char *at;

	bench_must(file_read(path, STATE_MAX, &text, &err), path, &err);
	at = strstr(text.data, key);
	return at != NULL ? strtod(at + sizeof key - 1, NULL) : 0;
}

static void
measure_wakes(struct top *t)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *more = NULL;
	int64_t end;
	double wakes;
	int changes = 0;

	while (read_some(t, 500, &out)) /* until it is drawn */
		;
	wakes = wakes_of(t->pid);
	end = clock_mono_ms() + IDLE_MS;
	for (int64_t left; (left = end - clock_mono_ms()) > 0;) {
		if (!read_some(t, left, &out))
			break;
		changes++;
		while (read_some(t, QUIET_MS, &out))
			;
	}
	wakes = wakes_of(t->pid) - wakes;
	more = xasprintf("%.0f wake-ups for %d visible changes in %d s", wakes,
	    changes, IDLE_MS / 1000);
	bench_report(t->table, "llmc top: wake-ups between visible changes",
	    wakes > changes ? wakes - changes : 0, TARGET_WAKES, "", more);
}

/* From the call that makes the daemon do something to the terminal: more than
 * the time from its event. */
static void
measure_screen(struct top *t)
{
	cleanup_free char *more = NULL;
	double times[EVENTS];

	for (int i = 0; i < EVENTS; i++) {
		int64_t start = clock_mono_us();

		json_object_put(ask(
		    t, i % 2 == 0 ? "worker.pause" : "auto.resume", "w002"));
		wait_words(t, i % 2 == 0 ? "paused" : "idle");
		times[i] = (double)(clock_mono_us() - start) / 1000;
		for (cleanup_buf struct buf rest = BUF_INIT;
		     read_some(t, 200, &rest);)
			;
	}
	bench_sort(times, EVENTS);
	more = xasprintf("median %.2f ms", times[EVENTS / 2]);
	bench_report(t->table,
	    "an event of 100 workers until it is on the screen",
	    times[EVENTS - 1], TARGET_SCREEN, "ms", more);
}

/* --- setting up ------------------------------------------------------- */

static void
begin(struct top *t, const char *build)
{
	cleanup_free char *agent =
	    bench_built(build, "tests/tools/fake-claude");
	struct err err = { 0 };

	setenv("TERM", "xterm-256color", 1);
	bench_repo(t->repo);
	bench_init(t->repo, t->llmc, agent);
	bench_must(workspace_at(t->repo, &t->workspace, &err), t->repo, &err);
	bench_run(t->repo, (const char *[]){ t->llmc, "up", "--detach", NULL });
	grow(t);
}

static void
end(struct top *t)
{
	kill(t->pid, SIGTERM);
	waitpid(t->pid, NULL, 0);
	close(t->terminal);
	bench_run(t->repo, (const char *[]){ t->llmc, "down", NULL });
	bench_remove(t->scratch);
	workspace_release(&t->workspace);
	free(t->llmc);
	free(t->repo);
	free(t->scratch);
}

int
main(int argc, char **argv)
{
	cleanup_free char *build = realpath(argc > 1 ? argv[1] : ".", NULL);
	struct top t = { 0 };

	bench_must(build == NULL ? -errno : 0, argv[1], &(struct err){ 0 });
	t.scratch = bench_scratch();
	t.llmc = bench_built(build, "src/cli/llmc");
	t.repo = file_join(t.scratch, "repo");
	t.table = bench_table("WHAT");
	begin(&t, build);
	start_top(&t);
	wait_words(&t, "[live]");
	measure_screen(&t);
	measure_wakes(&t);
	bench_print(t.table);
	end(&t);
	return 0;
}
