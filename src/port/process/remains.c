/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "procref.h"
#include "remains.h"
#include "workspace.h"

#define RECORD_MAX  (64 * 1024)
#define ENVIRON_MAX (4 * 1024 * 1024)
#define LOOK_MS     5
#define DEADLINE_MS 30000
#define PATIENCE_MS 6000 /* an inner process gives up a second earlier */
#define CGROUPS     "/sys/fs/cgroup/"
#define OURS        "llmc" /* in the name of every group of ours */

struct remains {
	struct loop *loop;
	struct loop_timer *timer;
	remains_fn *fn;
	void *arg;
	char *worker, *mark;
	char *cgroup; /* NULL: none */
	bool search; /* the record does not name everything */
	int64_t deadline_ms;
	int64_t patience_ms; /* until then the inner process ends the rest; 0 =
			      * it has had its time, or there is none */
	struct procref *list; /* what was killed and may not be gone */
	size_t count;
};

char *
remains_record(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *name = xasprintf("sessions/%s/keeper.json", worker);

	return workspace_path(workspace, name);
}

char *
remains_mark(const struct workspace *workspace, const char *worker)
{
	char hash[17];

	id_hash(workspace->root, hash, 16);
	return xasprintf("%s/%s", hash, worker);
}

char *
remains_mode(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *file = remains_record(workspace, worker);
	cleanup_json struct json_object *json = NULL;
	const char *mode;

	if (json_load(file, RECORD_MAX, &json, NULL) < 0)
		return NULL;
	mode = json_string_or(json, "mode", "");
	return mode[0] != '\0' ? xstrdup(mode) : NULL;
}

/* --- one process ------------------------------------------------------ */

static bool
has_entry(const struct buf *environment, const char *entry)
{
	size_t len = strlen(entry) + 1;
	const char *s = environment->data, *end = s + environment->len;

	for (; s != NULL && s < end; s = memchr(s, '\0', (size_t)(end - s))) {
		if (*s == '\0')
			s++;
		if ((size_t)(end - s) >= len && memcmp(s, entry, len) == 0)
			return true;
	}
	return false;
}

/* Does its environment say that it is this worker's? */
static bool
is_marked(pid_t pid, const char *mark)
{
	cleanup_free char *path = xasprintf("/proc/%d/environ", (int)pid);
	cleanup_free char *entry = xasprintf("LLMC_KEEPER=%s", mark);
	cleanup_buf struct buf environment = BUF_INIT;

	return file_read(path, ENVIRON_MAX, &environment, NULL) == 0 &&
	    has_entry(&environment, entry);
}

/* Kill it with this signal, 0 = it ends by itself, and wait for its end. The
 * pid was looked at before the reference was made, so it is looked at again.
 * One that is exiting has no environment any more; an init does not finish that
 * before its namespace is empty. */
static void
take(struct remains *r, struct procref *ref, int signo)
{
	int status;

	if (is_marked(ref->pid, r->mark)) {
		procref_signal(ref, signo);
	} else if (procref_ending(ref, &status) < 0) {
		procref_release(ref);
		return;
	}
	r->list = xreallocarray(r->list, r->count + 1, sizeof *r->list);
	r->list[r->count++] = *ref;
	*ref = (struct procref)PROCREF_INIT;
}

/* The inner process has had its time. */
static void
lose_patience(struct remains *r)
{
	if (r->patience_ms == 0 || clock_mono_ms() < r->patience_ms)
		return;
	r->patience_ms = 0;
	for (size_t i = 0; i < r->count; i++)
		procref_signal(&r->list[i], SIGKILL);
}

static void
drop_gone(struct remains *r)
{
	size_t left = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (procref_alive(&r->list[i]))
			r->list[left++] = r->list[i];
		else
			procref_release(&r->list[i]);
	}
	r->count = left;
}

/* --- the search ------------------------------------------------------- */

/* Only what may be ours is read: environments of others are refused anyway. */
static bool
is_of_our_user(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d", (int)pid);
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* A daemon that was started from inside a session has the mark too. */
static bool
is_above_us(pid_t pid)
{
	return pid == getpid() || pid == getppid();
}

static void
search(struct remains *r)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct procref ref = PROCREF_INIT;

		if (pid > 1 && !is_above_us(pid) && is_of_our_user(pid) &&
		    is_marked(pid, r->mark) && procref_set(&ref, pid) == 0)
			take(r, &ref, SIGKILL);
	}
	if (proc != NULL)
		closedir(proc);
}

/* --- the record ------------------------------------------------------- */

static void
take_named(struct remains *r, struct json_object *json, const char *pid,
    const char *start_time, int signo)
{
	struct procref ref = PROCREF_INIT;

	ref.pid = (pid_t)json_int_or(json, pid, 0);
	ref.start_time = (uint64_t)json_int_or(json, start_time, 0);
	snprintf(ref.boot_id, sizeof ref.boot_id, "%s",
	    json_string_or(json, "boot_id", ""));
	if (ref.pid > 1 && !is_above_us(ref.pid) && procref_open(&ref) == 0)
		take(r, &ref, signo);
}

/* A group that we may have made; the file could say anything. */
static bool
is_our_group(const char *path)
{
	const char *name = strrchr(path, '/');

	return strncmp(path, CGROUPS, strlen(CGROUPS)) == 0 &&
	    strstr(path, "..") == NULL && strstr(name, OURS) != NULL;
}

static void
read_record(struct remains *r, const char *file)
{
	cleanup_json struct json_object *json = NULL;
	const char *group;
	bool namespace;

	r->search = true;
	if (json_load(file, RECORD_MAX, &json, NULL) < 0 ||
	    json_int_or(json, "init", 0) <= 1)
		return;
	/* A namespace ends with its init, so that comes first: nothing is made
	 * in there any more. Elsewhere the inner process ends what has no mark
	 * either, when the keeper is gone. */
	namespace = strcmp(json_string_or(json, "mode", ""), "namespace") == 0;
	if (namespace)
		take_named(r, json, "init", "init_start_time", SIGKILL);
	take_named(r, json, "pid", "start_time", SIGKILL);
	if (!namespace)
		take_named(r, json, "init", "init_start_time", 0);
	group = json_string_or(json, "cgroup", "");
	if (is_our_group(group))
		r->cgroup = xstrdup(group);
	r->search = !namespace;
}

/* --- the group -------------------------------------------------------- */

/* Is the group gone? */
static bool
end_group(const struct remains *r)
{
	cleanup_free char *file = NULL;
	cleanup_fd int fd = -1;

	if (r->cgroup == NULL || rmdir(r->cgroup) == 0 || errno != EBUSY)
		return true;
	file = file_join(r->cgroup, "cgroup.kill");
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd == -1 || write(fd, "1", 1) == -1)
		return true; /* what is in it is found by its mark */
	return false;
}

/* --- all of it -------------------------------------------------------- */

static bool
is_over(struct remains *r)
{
	lose_patience(r);
	drop_gone(r);
	if (!end_group(r) || r->count > 0)
		return false;
	if (r->search)
		search(r);
	return r->count == 0;
}

static void
finish(struct remains *r, const struct err *err)
{
	remains_fn *fn = r->fn;
	void *arg = r->arg;

	remains_free(r);
	fn(err, arg);
}

static void
on_look(void *arg)
{
	struct remains *r = arg;
	struct err err = { 0 };

	if (is_over(r)) {
		finish(r, NULL);
		return;
	}
	if (clock_mono_ms() < r->deadline_ms) {
		loop_timer_restart(r->timer, LOOK_MS);
		return;
	}
	if (r->count > 0)
		err_set(&err, -ETIMEDOUT,
		    "process %d of an ended session of %s does not end; when "
		    "it has ended (see: ps -p %d), continue with: llmc reset "
		    "%s",
		    (int)r->list[0].pid, r->worker, (int)r->list[0].pid,
		    r->worker);
	else
		err_set(&err, -ETIMEDOUT,
		    "processes of an ended session of %s do not end (control "
		    "group %s); when they have, continue with: llmc reset %s",
		    r->worker, r->cgroup, r->worker);
	finish(r, &err);
}

struct remains *
remains_end(struct loop *loop, const struct workspace *workspace,
    const char *worker, remains_fn *fn, void *arg)
{
	struct remains *r = xcalloc(1, sizeof *r);
	cleanup_free char *record = remains_record(workspace, worker);

	r->loop = loop;
	r->fn = fn;
	r->arg = arg;
	r->worker = xstrdup(worker);
	r->mark = remains_mark(workspace, worker);
	r->deadline_ms = clock_mono_ms() + DEADLINE_MS;
	r->patience_ms = clock_mono_ms() + PATIENCE_MS;
	read_record(r, record);
	if (is_over(r)) {
		remains_free(r);
		return NULL;
	}
	r->timer = loop_after(loop, LOOK_MS, on_look, r);
	return r;
}

void
remains_free(struct remains *r)
{
	if (r == NULL)
		return;
	loop_timer_free(r->timer);
	for (size_t i = 0; i < r->count; i++)
		procref_release(&r->list[i]);
	free(r->list);
	free(r->worker);
	free(r->mark);
	free(r->cgroup);
	free(r);
}
