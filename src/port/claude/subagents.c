/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "loop.h"
#include "mem.h"
#include "subagents.h"
#include "transcript-open.h"
#include "watch.h"

#define FILES     "agent-*.jsonl"
#define ENDING    ".jsonl"
#define FILES_MAX 1000
#define LONGEST   ((size_t)1024 * 1024)

struct agent_file {
	char *name;
	off_t offset; /* read so far: the beginning of a line */
	bool cut; /* in the middle of a line that is too long */
};

struct subagents {
	struct loop *loop;
	subagents_fn *fn;
	void *arg;
	char *parent; /* of the conversation */
	char *folder; /* in it */
	const char *watched; /* one of these two, or NULL */
	struct watch *watch;
	struct loop_call *call; /* reads on */
	struct agent_file *files;
	size_t count;
};

static struct agent_file *
file_of(struct subagents *s, const char *name)
{
	struct agent_file *file;

	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->files[i].name, name) == 0)
			return &s->files[i];
	if (s->count == FILES_MAX)
		return NULL;
	s->files = xreallocarray(s->files, s->count + 1, sizeof *s->files);
	file = &s->files[s->count++];
	*file = (struct agent_file){ .name = xstrdup(name) };
	return file;
}

static void
tell_lines(struct subagents *s, struct agent_file *file, char *text, size_t len)
{
	char *end = text + len, *newline;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		*newline = '\0';
		if (!file->cut)
			s->fn(text, (size_t)(newline - text), s->arg);
		file->cut = false;
	}
}

/* Returns true if there may be more. */
static bool
read_some(struct subagents *s, int dir, struct agent_file *file)
{
	cleanup_fd int fd = openat(dir, file->name,
	    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	cleanup_buf struct buf text = BUF_INIT;
	const char *last;
	struct stat st;
	size_t whole;
	ssize_t n;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return false;
	buf_reserve(&text, LONGEST);
	n = pread(fd, text.data, LONGEST, file->offset);
	if (n <= 0)
		return false;
	last = memrchr(text.data, '\n', (size_t)n);
	if (last == NULL && (size_t)n < LONGEST)
		return false; /* it is still being written */
	whole = last == NULL ? (size_t)n : (size_t)(last - text.data) + 1;
	file->offset += (off_t)whole;
	if (last == NULL)
		file->cut = true;
	else
		tell_lines(s, file, text.data, whole);
	return true;
}

static DIR *
open_folder(const char *path)
{
	cleanup_fd int fd = transcript_open_folder(path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir != NULL)
		take_fd(&fd);
	return dir;
}

static void
scan(struct subagents *s)
{
	DIR *dir = open_folder(s->folder);
	const struct dirent *entry;
	struct agent_file *file;
	struct stat st;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (fnmatch(FILES, entry->d_name, 0) != 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st,
			AT_SYMLINK_NOFOLLOW) == -1 ||
		    !S_ISREG(st.st_mode) ||
		    (file = file_of(s, entry->d_name)) == NULL ||
		    st.st_size <= file->offset)
			continue;
		if (read_some(s, dirfd(dir), file)) {
			loop_call_request(s->call);
			break;
		}
	}
	closedir(dir);
}

static void
on_changed(void *arg)
{
	subagents_look(arg);
	scan(arg);
}

/* Something may have been made between the look and the watch: look again. */
void
subagents_look(struct subagents *s)
{
	for (;;) {
		const char *want =
		    file_is_dir(s->parent) ? s->folder : s->parent;

		if (want == s->watched)
			return;
		watch_free(take_ptr(&s->watch));
		s->watched = NULL;
		if (watch_new(s->loop, want, on_changed, s, &s->watch, NULL) <
		    0)
			return;
		s->watched = want;
		loop_call_request(s->call);
	}
}

struct subagents *
subagents_new(
    struct loop *loop, const char *transcript, subagents_fn *fn, void *arg)
{
	struct subagents *s = xcalloc(1, sizeof *s);
	size_t len = strlen(transcript), ending = strlen(ENDING);

	if (len > ending && strcmp(transcript + len - ending, ENDING) == 0)
		len -= ending;
	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->parent = xstrndup(transcript, len);
	s->folder = xasprintf("%s/subagents", s->parent);
	s->call = loop_call_new(loop, on_changed, s);
	subagents_look(s);
	return s;
}

void
subagents_free(struct subagents *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->files[i].name);
	free(s->files);
	watch_free(s->watch);
	loop_call_free(s->call);
	free(s->parent);
	free(s->folder);
	free(s);
}
