/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "loop.h"
#include "mark-search.h"
#include "mem.h"

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

/* Of one loop, while somebody asks. */
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
