/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <sys/ioctl.h>

#include "keeper-world.h"

struct keeper_world w;

#define GUARD_MS 20000
#define FAILED   125 /* of the keeper: this mode is not to be had */

const char *const keeper_world_modes[] = { "namespace", "cgroup", "scope",
	"reaper", "box" };

static const char *
keeper_program(void)
{
	const char *program = getenv("KEEPER_BIN");

	ck_assert_msg(
	    program != NULL, "KEEPER_BIN is not set: run through meson");
	return program;
}

/* Become the keeper. */
static _Noreturn void
become(const char *script, const char *scratch)
{
	const char *argv[48] = { keeper_program(), "--mode", w.mode, "--mark",
		w.mark, "--record", w.record };
	/* Its own /dev would hide scratch files below /dev/shm. */
	const char *const boxed[] = { "bwrap", "--bind", "/", "/", "--dev",
		"/dev", "--bind", scratch, scratch, "--proc", "/proc",
		"--unshare-user-try", "--unshare-pid", "--die-with-parent",
		"--as-pid-1", "--", keeper_program(), "--init", "10", "--" };
	size_t count = 7;

	setenv("LLMC_KEEPER", w.mark, 1); /* as llmc pane does */
	if (w.terminal)
		argv[count++] = "--terminal";
	argv[count++] = "--";
	if (strcmp(w.mode, "box") == 0)
		for (size_t i = 0; i < nitems(boxed); i++)
			argv[count++] = boxed[i];
	argv[count++] = "sh";
	argv[count++] = "-c";
	argv[count++] = script;
	argv[count] = NULL;
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(FAILED);
}

static void
start_piped(const char *script)
{
	const char *scratch = unit_scratch(); /* a child has another */
	int in[2], out[2];

	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	w.keeper = fork();
	if (w.keeper == 0) {
		setpgid(0, 0);
		dup2(in[0], 0);
		dup2(out[1], 1);
		become(script, scratch);
	}
	close(in[0]);
	close(out[1]);
	w.in = in[1];
	w.out = out[0];
}

static void
start_at_terminal(const char *script)
{
	const char *scratch = unit_scratch();
	char name[64];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	ck_assert_int_eq(ptsname_r(master, name, sizeof name), 0);
	w.keeper = fork();
	if (w.keeper == 0) {
		int tty;

		setsid();
		tty = open(name, O_RDWR);
		ioctl(tty, TIOCSCTTY, 0);
		dup2(tty, 0);
		dup2(tty, 1);
		dup2(tty, 2);
		if (tty > 2)
			close(tty);
		become(script, scratch);
	}
	w.in = w.out = master;
}

/* Is this mode to be had here? Seen with a program that does nothing. */
static void
skip_if_impossible(const char *mode)
{
	w = (struct keeper_world){ .mode = mode, .in = -1, .out = -1 };
	w.record = xstrdup(unit_path("probe.json"));
	snprintf(w.mark, sizeof w.mark, "probe-%d", (int)getpid());
	start_piped("exit 0");
	if (keeper_world_status() != 0) {
		keeper_world_end();
		unit_skip("this machine does not have this mode");
	}
	keeper_world_end();
}

void
keeper_world_begin_as(const char *mode, bool terminal, const char *script,
    const char *mark, const char *record)
{
	keeper_world_end();
	unit_at_end(keeper_world_end);
	w.in = w.out = -1;
	skip_if_impossible(mode);
	/* The tests may run under nohup(1), and a shell cannot trap a signal
	 * that was ignored when it began. */
	signal(SIGHUP, SIG_DFL);
	w.mode = mode;
	w.terminal = terminal;
	buf_init(&w.text);
	snprintf(w.mark, sizeof w.mark, "%s", mark);
	w.record = xstrdup(record);
	unlink(w.record);
	if (terminal)
		start_at_terminal(script);
	else
		start_piped(script);
	ck_assert_int_gt(w.keeper, 0);
}

void
keeper_world_begin(const char *mode, bool terminal, const char *script)
{
	static int number;
	char mark[64];

	snprintf(mark, sizeof mark, "test \"%d\"/%d", (int)getpid(), ++number);
	keeper_world_begin_as(
	    mode, terminal, script, mark, unit_path("keeper.json"));
}

void
keeper_world_end(void)
{
	if (w.mode == NULL)
		return;
	if (w.keeper > 0) {
		kill(w.keeper, SIGKILL);
		waitpid(w.keeper, NULL, 0);
	}
	if (w.in >= 0)
		close(w.in);
	if (w.out >= 0 && w.out != w.in)
		close(w.out);
	buf_release(&w.text);
	free(w.record);
	w = (struct keeper_world){ 0 };
}

void
keeper_world_expect(const char *text)
{
	int64_t end = clock_mono_ms() + GUARD_MS;
	char part[512];
	ssize_t n;

	while (w.text.len == 0 || strstr(w.text.data, text) == NULL) {
		struct pollfd ready = { .fd = w.out, .events = POLLIN };

		ck_assert_msg(poll(&ready, 1, (int)(end - clock_mono_ms())) > 0,
		    "no \"%s\" in: %s", text, w.text.data);
		n = read(w.out, part, sizeof part);
		ck_assert_msg(
		    n > 0, "ended without \"%s\": %s", text, w.text.data);
		buf_add(&w.text, part, (size_t)n);
	}
}

void
keeper_world_type(const char *text)
{
	ck_assert_int_eq(write(w.in, text, strlen(text)), strlen(text));
}

int
keeper_world_status(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(w.keeper, &status, WNOHANG)) == 0) {
		ck_assert_msg(!unit_is_late(), "the keeper stays");
		poll(NULL, 0, 2);
	}
	ck_assert_int_eq(pid, w.keeper);
	w.keeper = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/* --- what it started --------------------------------------------------- */

static bool
is_alive(const char *pid)
{
	cleanup_free char *path = xasprintf("/proc/%s/stat", pid);
	cleanup_buf struct buf text = BUF_INIT;
	const char *end;

	if (file_read(path, 4096, &text, NULL) < 0 || text.len == 0)
		return false;
	end = strrchr(text.data, ')');
	return end != NULL && strchr("ZX", end[2]) == NULL;
}

static bool
is_marked(const char *pid, const char *mark)
{
	cleanup_free char *path = xasprintf("/proc/%s/environ", pid);
	cleanup_free char *entry = xasprintf("LLMC_KEEPER=%s", mark);
	cleanup_buf struct buf text = BUF_INIT;

	return file_read(path, 1 << 20, &text, NULL) == 0 && text.len > 0 &&
	    memmem(text.data, text.len, entry, strlen(entry) + 1) != NULL;
}

int
keeper_world_marked(void)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const char *pid;
	int count = 0;

	ck_assert_ptr_nonnull(proc);
	while ((pid = dir_next(proc)) != NULL)
		if (pid[0] >= '1' && pid[0] <= '9' && is_marked(pid, w.mark) &&
		    is_alive(pid))
			count++;
	return count;
}

static void
until(int least, int most)
{
	int count;

	while ((count = keeper_world_marked()) < least || count > most) {
		ck_assert_msg(!unit_is_late(),
		    "%s: %d processes, wanted %d to %d", w.mode, count, least,
		    most);
		poll(NULL, 0, 5); /* processes of another */
	}
}

void
keeper_world_until_marked(int count)
{
	until(count, 1000);
}

void
keeper_world_until_gone(void)
{
	until(0, 0);
}

pid_t
keeper_world_inner(void)
{
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(json_load(w.record, 8192, &json, NULL), 0);
	return (pid_t)json_int_or(json, "init", 0);
}

char *
keeper_world_group(void)
{
	cleanup_json struct json_object *json = NULL;
	const char *group;

	ck_assert_int_eq(json_load(w.record, 8192, &json, NULL), 0);
	group = json_string_or(json, "cgroup", "");
	return group[0] != '\0' ? xstrdup(group) : NULL;
}

pid_t
keeper_world_program(void)
{
	int inner = (int)keeper_world_inner();
	cleanup_free char *path =
	    xasprintf("/proc/%d/task/%d/children", inner, inner);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 4096, &text, NULL) < 0)
		unit_skip("this kernel does not list children");
	ck_assert_uint_gt(text.len, 0);
	return (pid_t)strtol(text.data, NULL, 10);
}
