/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper-private.h"

static void keeper_inner_go(const struct keeper *keeper);

static const char *const mode_words[KEEPER_MODE_COUNT] = {
	[KEEPER_NAMESPACE] = "namespace",
	[KEEPER_CGROUP] = "cgroup",
	[KEEPER_SCOPE] = "scope",
	[KEEPER_REAPER] = "reaper",
	[KEEPER_BOX] = "box",
};

const char *
keeper_mode_word(enum keeper_mode mode)
{
	return mode_words[mode];
}

/* Like fork(2); the child is the init of a new pid namespace, with its own
 * mounts, and for users other than root in a new user namespace. Negative
 * errno. */
static pid_t
keeper_namespace_fork(void)
{
	unsigned long flags = CLONE_NEWPID | CLONE_NEWNS;
	long pid;

	if (geteuid() != 0)
		flags |= CLONE_NEWUSER;
	/* The C library's clone() wants another stack. */
	pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	return pid == -1 ? -errno : (pid_t)pid;
}

static int
write_file(pid_t child, const char *name, const char *text)
{
	char path[64];
	int fd, r = 0;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)child, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	if (write(fd, text, strlen(text)) == -1)
		r = -errno;
	close(fd);
	return r;
}

/* By the parent: the child keeps its user and group ids. */
static int
keeper_namespace_map(pid_t child)
{
	char uids[64], gids[64];
	int r;

	if (geteuid() == 0)
		return 0;
	snprintf(uids, sizeof uids, "%u %u 1\n", geteuid(), geteuid());
	snprintf(gids, sizeof gids, "%u %u 1\n", getegid(), getegid());
	r = write_file(child, "setgroups", "deny");
	if (r == 0)
		r = write_file(child, "uid_map", uids);
	if (r == 0)
		r = write_file(child, "gid_map", gids);
	return r;
}

/* By the child, afterwards. */
static int
keeper_namespace_mount(void)
{
	/* Mounts of the machine still arrive; ours do not get out. */
	if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) == -1)
		return -errno;
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		NULL) == -1)
		return -errno;
	return 0;
}

/* The ends of the two pipes. The inner process closes the keeper's, so that it
 * reads an end of file when the keeper is gone. */
static int go_read = -1, go_write = -1; /* keeper to inner: one byte a step */
static int said_read = -1, said_write = -1; /* inner to keeper: an errno */

static void
close_pipes(void)
{
	int *const ends[] = { &go_read, &go_write, &said_read, &said_write };

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		if (*ends[i] >= 0)
			close(*ends[i]);
		*ends[i] = -1;
	}
}

static int
open_pipes(void)
{
	int go[2], said[2];

	if (pipe2(go, O_CLOEXEC) == -1)
		return -errno;
	go_read = go[0];
	go_write = go[1];
	if (pipe2(said, O_CLOEXEC) == -1) {
		close_pipes();
		return -EMFILE;
	}
	said_read = said[0];
	said_write = said[1];
	return 0;
}

/* --- in the inner process -------------------------------------------- */

static void
wait_for_keeper(const struct keeper *keeper)
{
	char byte;

	if (read(go_read, &byte, 1) == 1)
		return;
	/* It is gone, or has failed. */
	keeper_cgroup_leave();
	keeper_cgroup_remove(keeper);
	_exit(KEEPER_FAILED);
}

static int
prepare(const struct keeper *keeper)
{
	bool namespace = keeper->mode == KEEPER_NAMESPACE;
	int r = 0;

	/* The end of an init ends its namespace. Elsewhere we must do it. */
	if (prctl(PR_SET_PDEATHSIG, namespace ? SIGKILL : KEEPER_ORPHANED) ==
	    -1)
		return -errno;
	if (namespace)
		return keeper_namespace_mount();
	if (keeper->mode == KEEPER_SCOPE)
		r = keeper_scope_check();
	return r == 0 ? keeper_reaper_begin() : r;
}

static _Noreturn void
inner(struct keeper *keeper)
{
	int r;

	close(go_write);
	close(said_read);
	wait_for_keeper(keeper);
	r = prepare(keeper);
	if (write(said_write, &r, sizeof r) != sizeof r)
		_exit(KEEPER_FAILED);
	wait_for_keeper(keeper);
	keeper->go = go_read;
	keeper->said = said_write;
	keeper_program_run(keeper);
}

/* --- in the keeper ---------------------------------------------------- */

static int
let_prepare(struct keeper *keeper)
{
	int r = 0, said;

	if (keeper->mode == KEEPER_NAMESPACE)
		r = keeper_namespace_map(keeper->inner);
	if (r == 0 && keeper->cgroup != NULL)
		r = keeper_cgroup_add(keeper, keeper->inner);
	if (r < 0)
		return r;
	keeper_inner_go(keeper);
	if (read(said_read, &said, sizeof said) != sizeof said)
		return -ECHILD;
	return said;
}

/* Start it in the mode keeper->mode and let it prepare; sets keeper->inner.
 * Negative errno: this mode is not to be had here, and nothing is left. */
static int
keeper_inner_start(struct keeper *keeper)
{
	int r = open_pipes();

	if (r < 0)
		return r;
	keeper->inner =
	    keeper->mode == KEEPER_NAMESPACE ? keeper_namespace_fork() : fork();
	if (keeper->inner == 0)
		inner(keeper);
	if (keeper->inner < 0) {
		r = keeper->inner == -1 ? -errno : keeper->inner;
		close_pipes();
		return r;
	}
	close(said_write);
	close(go_read);
	said_write = go_read = -1;
	r = let_prepare(keeper);
	if (r < 0) {
		close_pipes();
		kill(keeper->inner, SIGKILL);
		waitpid(keeper->inner, NULL, 0);
		keeper->inner = 0;
	}
	return r;
}

/* Let it start the program. */
static void
keeper_inner_go(const struct keeper *keeper)
{
	(void)keeper;
	if (write(go_write, "", 1) == -1)
		return; /* it is gone, which we shall see */
}

static bool
keeper_inner_hear(int *ret_number)
{
	return read(said_read, ret_number, sizeof *ret_number) ==
	    sizeof *ret_number;
}

static struct {
	char text[8192];
	size_t len;
} record;

static __attribute__((format(printf, 1, 2))) void
add(const char *fmt, ...)
{
	size_t room = sizeof record.text - record.len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(record.text + record.len, room, fmt, ap);
	va_end(ap);
	/* Full: stays full, and is refused at the end. */
	record.len += n < 0 || (size_t)n >= room ? room : (size_t)n;
}

static void
add_string(const char *name, const char *value)
{
	if (value == NULL)
		return;
	add(",\"%s\":\"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c < ' ')
			add("\\u%04x", c);
		else
			add("%s%c", c == '"' || c == '\\' ? "\\" : "", c);
	}
	add("\"");
}

static void
add_boot_id(void)
{
	char id[64];

	if (keeper_proc_read("/proc/sys/kernel/random/boot_id", id, sizeof id) <
	    0)
		return;
	id[strcspn(id, "\n")] = '\0';
	add_string("boot_id", id);
}

static int
write_to(int fd)
{
	size_t done = 0;

	while (done < record.len) {
		ssize_t n = write(fd, record.text + done, record.len - done);

		if (n == -1)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

/* Replace the file that the keeper's options name, if they do. ended: nothing
 * of the program is left, and the kernel has killed so often for memory.
 * Negative errno. */
static int
keeper_record_write(const struct keeper *keeper, bool ended, long oom_kills)
{
	static char temporary[PATH_MAX];
	int n, fd, r;

	if (keeper->record == NULL)
		return 0;
	record.len = 0;
	add("{\"mode\":\"%s\",\"pid\":%d,\"start_time\":%llu",
	    keeper_mode_word(keeper->mode), (int)getpid(),
	    (unsigned long long)keeper_proc_start_time(getpid()));
	add(",\"init\":%d,\"init_start_time\":%llu", (int)keeper->inner,
	    (unsigned long long)keeper_proc_start_time(keeper->inner));
	add_boot_id();
	add_string("cgroup", keeper->cgroup);
	add_string("mark", keeper->mark);
	if (ended)
		add(",\"ended\":true,\"oom_kills\":%ld", oom_kills);
	add("}\n");
	n = snprintf(temporary, sizeof temporary, "%s.%d", keeper->record,
	    (int)getpid());
	if (record.len >= sizeof record.text || n < 0 ||
	    (size_t)n >= sizeof temporary)
		return -ENAMETOOLONG;
	fd = open(temporary,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -errno;
	r = write_to(fd);
	if (close(fd) == -1 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, keeper->record) == -1)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

#define HANGUP_SECONDS 2 /* for the program to end by itself */

/* What others may send to the program through us. SIGCONT follows a SIGTERM
 * that a stopped program could not act on. */
static const int passed_on[] = { SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2,
	SIGCONT, SIGHUP };

/* --- the start --------------------------------------------------------- */

static int
start_in(struct keeper *keeper, enum keeper_mode mode)
{
	const char *asked = keeper->cgroup;
	int r = 0;

	keeper->mode = mode;
	if (asked != NULL || mode == KEEPER_CGROUP)
		r = keeper_cgroup_make(keeper);
	if (r == 0) {
		r = keeper_inner_start(keeper);
		if (r < 0)
			keeper_cgroup_remove(keeper);
	}
	if (r < 0)
		keeper->cgroup = asked;
	return r;
}

static int
start(struct keeper *keeper)
{
	int r = -EINVAL;

	for (int i = 0; i < keeper->mode_count; i++) {
		r = start_in(keeper, keeper->modes[i]);
		if (r == 0)
			return 0;
	}
	if (keeper->cgroup != NULL) {
		keeper_say("%s cannot be used, so limits do not hold: %s",
		    keeper->cgroup, strerror(-r));
		keeper->cgroup = NULL;
		return start(keeper);
	}
	keeper_say("cannot keep %s (mode %s): %s; see: llmc doctor",
	    keeper->argv[0], keeper_mode_word(keeper->mode), strerror(-r));
	return r;
}

static int
save_record(struct keeper *keeper)
{
	int r = keeper_record_write(keeper, false, 0);

	if (r < 0)
		keeper_say("cannot write %s: %s", keeper->record, strerror(-r));
	return r;
}

/* --- the wait ---------------------------------------------------------- */

/* The terminal is gone. Only the keeper gets the signal: pass it on to the
 * program, once, and give it a little time. */
static void
hang_up(const struct keeper *keeper)
{
	static const struct itimerval grace = { .it_value.tv_sec =
						    HANGUP_SECONDS };
	static bool done;

	if (done)
		return;
	done = true;
	kill(keeper->inner, SIGHUP);
	setitimer(ITIMER_REAL, &grace, NULL);
}

/* Collect what has ended. True with the status when the inner process is among
 * it. */
static bool
collect(const struct keeper *keeper, int *ret_status)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != keeper->inner)
			continue;
		ended = true;
		*ret_status = status;
	}
	return ended;
}

static int
wait_for_end(const struct keeper *keeper)
{
	sigset_t wanted;
	int status = 0, signo;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGALRM);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(&wanted, passed_on[i]);
	for (;;) {
		signo = sigwaitinfo(&wanted, NULL);
		if (signo == SIGCHLD) {
			if (collect(keeper, &status))
				return status;
		} else if (signo == SIGALRM) {
			kill(keeper->inner, SIGKILL);
		} else if (signo == SIGHUP && keeper->terminal) {
			hang_up(keeper);
		} else if (signo > 0 && !keeper->command) {
			kill(keeper->inner, signo);
		}
	}
}

/* How the program ended: as the inner process, or as that says. */
static int
run(const struct keeper *keeper)
{
	int status, said;

	keeper_inner_go(keeper);
	if (!keeper->command)
		return wait_for_end(keeper);
	if (keeper_inner_hear(&said))
		keeper_command_resend();
	keeper_inner_go(keeper); /* from now on it gets them itself */
	status = wait_for_end(keeper);
	return keeper_inner_hear(&said) ? said : status;
}

int
keeper_outer_run(struct keeper *keeper)
{
	sigset_t all;
	int status = W_EXITCODE(KEEPER_FAILED, 0);
	long oom_kills;

	/* SIG_IGN would be inherited, and lose signals and zombies. */
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &keeper->mask);
	if (keeper->command && !keeper_command_begin(keeper))
		return KEEPER_FAILED;
	if (keeper_reaper_begin() < 0 || start(keeper) < 0)
		return KEEPER_FAILED;
	if (save_record(keeper) == 0) {
		status = run(keeper);
	} else {
		kill(keeper->inner, SIGKILL);
	}
	keeper_cgroup_kill();
	if (keeper_reaper_end_all()) {
		oom_kills = keeper_cgroup_oom_kills(keeper);
		keeper_cgroup_remove(keeper);
		keeper_record_write(keeper, true, oom_kills);
	} else {
		keeper_say("processes of %s are left: they cannot be ended",
		    keeper->argv[0]);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (keeper->command)
		keeper_command_die(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
