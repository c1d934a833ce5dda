/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "metrics.h"
#include "procref.h"
#include "proctree.h"

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
