/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "id.h"
#include "loop.h"
#include "machine.h"
#include "metrics.h"
#include "orphans.h"
#include "procref.h"
#include "workspace.h"

#define ENVIRON_MAX ((size_t)4 * 1024 * 1024)
#define SLICE_BYTES ((size_t)1024 * 1024) /* read in one pass, about */

struct mark_search {
	TAILQ_ENTRY(mark_search) entry;
	struct scan *scan;
	char *entry_text; /* in the environment */
	bool begun; /* the reading of /proc is for it */
	void (*found)(pid_t pid, void *arg);
	void (*done)(void *arg);
	void *arg;
};

TAILQ_HEAD(searches, mark_search);

/* Of one loop, while a search runs. */
struct scan {
	LIST_ENTRY(scan) entry;
	struct loop *loop;
	struct loop_call *more;
	DIR *proc; /* NULL: not begun */
	bool ending; /* calls are being made: it stays */
	struct searches searches;
};

LIST_HEAD(scan_list, scan);

static struct scan_list scans = LIST_HEAD_INITIALIZER(scans);

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

static int
read_environment(pid_t pid, struct buf *out)
{
	cleanup_free char *path = xasprintf("/proc/%d/environ", (int)pid);

	return file_read(path, ENVIRON_MAX, out, NULL);
}

static char *
entry_for(const char *mark)
{
	return xasprintf("LLMC_KEEPER=%s", mark);
}

bool
mark_is_on(pid_t pid, const char *mark)
{
	cleanup_free char *entry = entry_for(mark);
	cleanup_buf struct buf environment = BUF_INIT;

	return read_environment(pid, &environment) == 0 &&
	    has_entry(&environment, entry);
}

/* Only what may be ours is read: environments of others are refused anyway. */
static bool
is_of_our_user(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d", (int)pid);
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* Returns the bytes that were read. */
static size_t
look_at(struct scan *scan, pid_t pid)
{
	cleanup_buf struct buf environment = BUF_INIT;
	struct mark_search *search;

	if (!is_of_our_user(pid) || read_environment(pid, &environment) < 0)
		return 0;
	TAILQ_FOREACH (search, &scan->searches, entry)
		if (search->begun &&
		    has_entry(&environment, search->entry_text))
			search->found(pid, search->arg);
	return environment.len;
}

/* --- all of them ------------------------------------------------------ */

static void
drop_if_idle(struct scan *scan)
{
	if (scan->ending || !TAILQ_EMPTY(&scan->searches))
		return;
	LIST_REMOVE(scan, entry);
	loop_call_free(scan->more);
	if (scan->proc != NULL)
		closedir(scan->proc);
	free(scan);
}

static struct mark_search *
first_begun(const struct scan *scan)
{
	struct mark_search *search;

	TAILQ_FOREACH (search, &scan->searches, entry)
		if (search->begun)
			return search;
	return NULL;
}

static void
begin(struct scan *scan)
{
	struct mark_search *search;

	scan->proc = opendir("/proc");
	TAILQ_FOREACH (search, &scan->searches, entry)
		search->begun = true;
}

/* /proc has been read. */
static void
end(struct scan *scan)
{
	struct mark_search *search;

	if (scan->proc != NULL)
		closedir(scan->proc);
	scan->proc = NULL;
	scan->ending = true;
	while ((search = first_begun(scan)) != NULL) {
		void (*done)(void *arg) = search->done;
		void *arg = search->arg;

		mark_search_free(search);
		done(arg);
	}
	scan->ending = false;
	if (!TAILQ_EMPTY(&scan->searches))
		loop_call_request(scan->more);
	drop_if_idle(scan);
}

static void
read_more(void *arg)
{
	struct scan *scan = arg;
	struct dirent *entry;
	size_t bytes = 0;
	int count = 0;

	if (scan->proc == NULL)
		begin(scan);
	while (scan->proc != NULL && count < MARK_SEARCH_SLICE &&
	    bytes < SLICE_BYTES) {
		pid_t pid;

		entry = readdir(scan->proc);
		if (entry == NULL)
			break;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 1)
			continue;
		count++;
		bytes += look_at(scan, pid);
	}
	if (count < MARK_SEARCH_SLICE && bytes < SLICE_BYTES)
		end(scan);
	else
		loop_call_request(scan->more);
}

/* --- the object ------------------------------------------------------- */

static struct scan *
scan_of(struct loop *loop)
{
	struct scan *scan;

	LIST_FOREACH (scan, &scans, entry)
		if (scan->loop == loop)
			return scan;
	scan = xcalloc(1, sizeof *scan);
	scan->loop = loop;
	scan->more = loop_call_new(loop, read_more, scan);
	TAILQ_INIT(&scan->searches);
	LIST_INSERT_HEAD(&scans, scan, entry);
	return scan;
}

struct mark_search *
mark_search_new(struct loop *loop, const char *mark,
    void (*found)(pid_t pid, void *arg), void (*done)(void *arg), void *arg)
{
	struct mark_search *search = xcalloc(1, sizeof *search);

	search->scan = scan_of(loop);
	search->entry_text = entry_for(mark);
	search->found = found;
	search->done = done;
	search->arg = arg;
	TAILQ_INSERT_TAIL(&search->scan->searches, search, entry);
	loop_call_request(search->scan->more);
	return search;
}

void
mark_search_free(struct mark_search *search)
{
	struct scan *scan;

	if (search == NULL)
		return;
	scan = search->scan;
	TAILQ_REMOVE(&scan->searches, search, entry);
	free(search->entry_text);
	free(search);
	drop_if_idle(scan);
}

#define RECORD_MAX  (64 * 1024)
#define LOOK_MS     5
#define DEADLINE_MS 30000
#define PATIENCE_MS 6000 /* an inner process gives up a second earlier */
#define CGROUPS     "/sys/fs/cgroup/"
#define OURS        "llmc" /* in the name of every group of ours */

struct orphans {
	struct loop *loop;
	struct loop_timer *timer;
	orphans_fn *fn;
	void *arg;
	char *worker, *mark;
	char *file; /* the record */
	struct json_object *json; /* what it says */
	char *cgroup; /* NULL: none */
	bool unknown; /* the record does not name everything: search */
	struct mark_search *search; /* NULL: none is under way */
	bool found; /* by this search */
	int64_t deadline_ms;
	int64_t patience_ms; /* until then the inner process ends the rest; 0 =
			      * it has had its time, or there is none */
	struct procref *list; /* what was killed and may not be gone */
	size_t count;
};

char *
orphans_record(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *name = xasprintf("sessions/%s/keeper.json", worker);

	return workspace_path(workspace, name);
}

char *
orphans_mark(const struct workspace *workspace, const char *worker)
{
	char hash[17];

	id_hash(workspace->root, hash, 16);
	return xasprintf("%s/%s", hash, worker);
}

char *
orphans_mode(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *file = orphans_record(workspace, worker);
	cleanup_json struct json_object *json = NULL;
	const char *mode;

	if (json_load(file, RECORD_MAX, &json, NULL) < 0)
		return NULL;
	mode = json_string_or(json, "mode", "");
	return mode[0] != '\0' ? xstrdup(mode) : NULL;
}

int64_t
orphans_oom_kills(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *file = orphans_record(workspace, worker);
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, RECORD_MAX, &json, NULL) < 0)
		return 0;
	return json_int_or(json, "oom_kills", 0);
}

void
orphans_expect(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *file = orphans_record(workspace, worker);

	unlink(file);
}

/* --- one process ------------------------------------------------------ */

/* Kill it with this signal, 0 = it ends by itself, and wait for its end. The
 * pid was looked at before the reference was made, so it is looked at again.
 * One that is exiting has no environment any more; an init does not finish that
 * before its namespace is empty. */
static void
take(struct orphans *r, struct procref *ref, int signo)
{
	int status;

	if (mark_is_on(ref->pid, r->mark)) {
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
lose_patience(struct orphans *r)
{
	if (r->patience_ms == 0 || clock_mono_ms() < r->patience_ms)
		return;
	r->patience_ms = 0;
	for (size_t i = 0; i < r->count; i++)
		procref_signal(&r->list[i], SIGKILL);
}

/* A daemon that was started from inside a session has the mark too. */
static bool
is_above_us(pid_t pid)
{
	return pid == getpid() || pid == getppid();
}

/* --- the record ------------------------------------------------------- */

static void
take_named(
    struct orphans *r, const char *pid, const char *start_time, int signo)
{
	struct json_object *json = r->json;
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

	return text_begins(path, CGROUPS) && strstr(path, "..") == NULL &&
	    strstr(name, OURS) != NULL;
}

static void
read_record(struct orphans *r)
{
	bool namespace;

	r->unknown = true;
	if (json_load(r->file, RECORD_MAX, &r->json, NULL) < 0)
		return;
	/* Nothing was left: no process remains, and another task may have a
	 * group of that name by now. */
	if (json_bool_or(r->json, "ended", false)) {
		r->unknown = false;
		return;
	}
	if (json_int_or(r->json, "init", 0) <= 1)
		return;
	/* A namespace ends with its init, so that comes first: nothing is made
	 * in there any more. Elsewhere the inner process ends what has no mark
	 * either, when the keeper is gone. */
	namespace =
	    strcmp(json_string_or(r->json, "mode", ""), "namespace") == 0;
	if (namespace)
		take_named(r, "init", "init_start_time", SIGKILL);
	take_named(r, "pid", "start_time", SIGKILL);
	if (!namespace)
		take_named(r, "init", "init_start_time", 0);
	if (is_our_group(json_string_or(r->json, "cgroup", "")))
		r->cgroup = xstrdup(json_string_or(r->json, "cgroup", ""));
	r->unknown = !namespace;
}

/* So that the search is not repeated. It need not reach the disk: a damaged
 * record is not believed. */
static void
write_ended(struct orphans *r)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;

	if (json_bool_or(r->json, "ended", false))
		return;
	if (!json_object_is_type(r->json, json_type_object)) {
		json_object_put(r->json);
		r->json = json_object_new_object();
	}
	json_set_bool(r->json, "ended", true);
	json_print(r->json, false, &text);
	fd =
	    file_open(r->file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		file_write_all(fd, text.data, text.len);
}

/* --- the group -------------------------------------------------------- */

/* Is the group gone? */
static bool
end_group(const struct orphans *r)
{
	cleanup_free char *file = NULL;
	cleanup_fd int fd = -1;
	int64_t kills;

	if (r->cgroup == NULL)
		return true;
	kills = cgroup_oom_kills(r->cgroup);
	if (kills > 0)
		json_set_int(r->json, "oom_kills", kills);
	if (rmdir(r->cgroup) == 0 || errno != EBUSY)
		return true;
	file = file_join(r->cgroup, "cgroup.kill");
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd == -1 || write(fd, "1", 1) == -1)
		return true; /* what is in it is found by its mark */
	return false;
}

/* --- all of it -------------------------------------------------------- */

static void
on_found(pid_t pid, void *arg)
{
	struct orphans *r = arg;
	struct procref ref = PROCREF_INIT;

	if (is_above_us(pid) || procref_set(&ref, pid) < 0)
		return;
	r->found = true;
	take(r, &ref, SIGKILL);
}

static void on_searched(void *arg);

/* Is nothing left? What the record names is gone before the rest is searched
 * for: it cannot make anything any more. */
static bool
is_over(struct orphans *r)
{
	size_t left = 0;

	lose_patience(r);
	for (size_t i = 0; i < r->count; i++) {
		if (procref_alive(&r->list[i]))
			r->list[left++] = r->list[i];
		else
			procref_release(&r->list[i]);
	}
	r->count = left;
	if (!end_group(r) || r->count > 0)
		return false;
	if (!r->unknown) {
		write_ended(r);
		return true;
	}
	if (r->search == NULL)
		r->search =
		    mark_search_new(r->loop, r->mark, on_found, on_searched, r);
	return false;
}

static void
finish(struct orphans *r, const struct err *err)
{
	orphans_fn *fn = r->fn;
	void *arg = r->arg;

	orphans_free(r);
	fn(err, arg);
}

static void
give_up(struct orphans *r)
{
	struct err err = { 0 };

	if (r->count > 0)
		err_set(&err, -ETIMEDOUT,
		    "process %d of an ended session of %s does not end; when "
		    "it has ended (see: ps -p %d), continue with: llmc reset "
		    "%s",
		    (int)r->list[0].pid, r->worker, (int)r->list[0].pid,
		    r->worker);
	else
		err_set(&err, -ETIMEDOUT,
		    "processes of an ended session of %s do not end (%s%s); "
		    "when they have, continue with: llmc reset %s",
		    r->worker,
		    r->cgroup != NULL ? "control group " : "new ones appear",
		    r->cgroup != NULL ? r->cgroup : "", r->worker);
	finish(r, &err);
}

static void
on_look(void *arg)
{
	struct orphans *r = arg;

	if (is_over(r))
		finish(r, NULL);
	else if (clock_mono_ms() < r->deadline_ms || r->search != NULL)
		loop_timer_restart(r->timer, LOOK_MS);
	else
		give_up(r);
}

/* A search that finds nothing is the last one. */
static void
on_searched(void *arg)
{
	struct orphans *r = arg;

	r->search = NULL;
	r->unknown = r->found;
	r->found = false;
	if (r->unknown && clock_mono_ms() >= r->deadline_ms)
		give_up(r);
	else
		on_look(r);
}

struct orphans *
orphans_end(struct loop *loop, const struct workspace *workspace,
    const char *worker, orphans_fn *fn, void *arg)
{
	struct orphans *r = xcalloc(1, sizeof *r);

	r->loop = loop;
	r->fn = fn;
	r->arg = arg;
	r->worker = xstrdup(worker);
	r->mark = orphans_mark(workspace, worker);
	r->file = orphans_record(workspace, worker);
	r->deadline_ms = clock_mono_ms() + DEADLINE_MS;
	r->patience_ms = clock_mono_ms() + PATIENCE_MS;
	read_record(r);
	if (is_over(r)) {
		orphans_free(r);
		return NULL;
	}
	r->timer = loop_after(loop, LOOK_MS, on_look, r);
	return r;
}

void
orphans_free(struct orphans *r)
{
	if (r == NULL)
		return;
	loop_timer_free(r->timer);
	mark_search_free(r->search);
	for (size_t i = 0; i < r->count; i++)
		procref_release(&r->list[i]);
	free(r->list);
	free(r->worker);
	free(r->mark);
	free(r->file);
	json_object_put(r->json);
	free(r->cgroup);
	free(r);
}

static void
read_memory(struct metrics_process *facts)
{
	cleanup_buf struct buf text = BUF_INIT;
	long long size = 0, resident = 0;
	int64_t page = sysconf(_SC_PAGESIZE);

	if (file_read("/proc/self/statm", 4096, &text, NULL) < 0 ||
	    sscanf(text.data, "%lld %lld", &size, &resident) != 2)
		return;
	facts->virtual = size * page;
	facts->resident = resident * page;
}

static double
seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

void
process_facts_read(struct metrics_process *facts)
{
	struct rusage usage;
	struct rlimit limit;
	cleanup_dir DIR *d = opendir("/proc/self/fd");

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		facts->cpu_s =
		    seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		facts->max_fds = (int64_t)limit.rlim_cur;
	read_memory(facts);
	/* Without the one that it is read with. */
	while (dir_next(d) != NULL)
		facts->open_fds++;
	facts->open_fds -= d != NULL;
}

#define NOT_FOUND SIZE_MAX

struct process {
	pid_t pid, parent;
	size_t up; /* index of the parent, NOT_FOUND = not in the snapshot */
	uint64_t start_time;
	uint64_t ticks;
};

struct proctree {
	struct process *all; /* sorted by pid */
	size_t count, cap;
	long hertz;
};

/* One line of /proc/PID/stat. The name in field 2 may contain anything, but
 * there is no parenthesis after it. */
static bool
parse_stat(const char *line, struct process *ret_process)
{
	struct process p = { .up = NOT_FOUND };
	const char *end = strrchr(line, ')');
	unsigned long long utime, stime, start;
	long long cutime, cstime;

	/* Fields 1, 4, 14 to 17 and 22. */
	if (end == NULL || sscanf(line, "%d (", &p.pid) != 1 ||
	    sscanf(end + 1,
		" %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		" %llu %llu %lld %lld %*s %*s %*s %*s %llu",
		&p.parent, &utime, &stime, &cutime, &cstime, &start) != 6)
		return false;
	p.start_time = start;
	p.ticks = utime + stime + (uint64_t)(cutime > 0 ? cutime : 0) +
	    (uint64_t)(cstime > 0 ? cstime : 0);
	*ret_process = p;
	return true;
}

/* One read returns the whole line, or nothing if the process has ended. */
static bool
read_stat(int proc, const char *name, struct process *ret_process)
{
	cleanup_fd int fd = -1;
	char path[64], line[1024];
	ssize_t n;

	snprintf(path, sizeof path, "%s/stat", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	do
		n = read(fd, line, sizeof line - 1);
	while (n == -1 && errno == EINTR);
	if (n <= 0)
		return false;
	line[n] = '\0';
	return parse_stat(line, ret_process);
}

static bool
is_pid(const char *name)
{
	int64_t pid;

	return text_parse_int(name, 1, INT_MAX, &pid);
}

static void
tree_add(struct proctree *tree, const struct process *process)
{
	if (tree->count == tree->cap) {
		tree->cap = tree->cap == 0 ? 256 : tree->cap * 2;
		tree->all =
		    xreallocarray(tree->all, tree->cap, sizeof *tree->all);
	}
	tree->all[tree->count++] = *process;
}

static int
compare_pids(const void *a, const void *b)
{
	const struct process *p = a, *q = b;

	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

static size_t
tree_find(const struct proctree *tree, pid_t pid)
{
	const struct process key = { .pid = pid };
	const struct process *found;

	if (tree->count == 0)
		return NOT_FOUND;
	found = bsearch(&key, tree->all, tree->count, sizeof key, compare_pids);
	return found == NULL ? NOT_FOUND : (size_t)(found - tree->all);
}

int
proctree_read(const char *proc, struct proctree **ret_tree, struct err *err)
{
	struct proctree *tree;
	struct process process;
	cleanup_dir DIR *dir = opendir(proc);
	const char *name;

	if (dir == NULL)
		return err_errno(err, -errno, "%s", proc);
	tree = xcalloc(1, sizeof *tree);
	tree->hertz = sysconf(_SC_CLK_TCK);
	while ((name = dir_next(dir)) != NULL)
		if (is_pid(name) && read_stat(dirfd(dir), name, &process))
			tree_add(tree, &process);
	if (tree->count > 0)
		qsort(tree->all, tree->count, sizeof *tree->all, compare_pids);
	for (size_t i = 0; i < tree->count; i++)
		tree->all[i].up = tree_find(tree, tree->all[i].parent);
	*ret_tree = tree;
	return 0;
}

void
proctree_free(struct proctree *tree)
{
	if (tree == NULL)
		return;
	free(tree->all);
	free(tree);
}

static size_t
tree_root(const struct proctree *tree, const struct procref *root)
{
	size_t at = root->pid > 0 ? tree_find(tree, root->pid) : NOT_FOUND;

	/* The pid may belong to another process by now. */
	if (at != NOT_FOUND && tree->all[at].start_time != root->start_time)
		return NOT_FOUND;
	return at;
}

/* Is it the root, or below it? A snapshot of changing processes may contain a
 * cycle. */
static bool
tree_below(const struct proctree *tree, size_t at, size_t root)
{
	for (size_t steps = 0; steps <= tree->count; steps++) {
		if (at == root)
			return true;
		if (at == NOT_FOUND)
			return false;
		at = tree->all[at].up;
	}
	return false;
}

int64_t
proctree_cpu_ms(const struct proctree *tree, const struct procref *root)
{
	size_t at = tree_root(tree, root);
	uint64_t ticks = 0;

	if (at == NOT_FOUND)
		return -ESRCH;
	for (size_t i = 0; i < tree->count; i++)
		if (tree_below(tree, i, at))
			ticks += tree->all[i].ticks;
	return (int64_t)(ticks * 1000 / (uint64_t)tree->hertz);
}
