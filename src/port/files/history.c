/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "event-table.h"
#include "event.h"
#include "history.h"
#include "jsonl.h"
#include "excerpt.h"
#include "task.h"
#include "workspace.h"

#define MANUAL_FILES      "manual_intervention_needed_*.txt"
#define HISTORY_LINES_MAX ((size_t)4 * HISTORY_MAX) /* then it is rewritten */

#define EVIDENCE_PROC_MAX ((size_t)64 * 1024)
#define EVIDENCE_EVENTS   5000 /* that are searched for a failed task */
#define EVIDENCE_SAME_MAX 99 /* folders of one second */

#define MEMBER(name) offsetof(struct evidence, name)

/* The parts: the name of each in the folder, and the file whose end it is
 * (NULL: made from several). */
static const struct evidence_part {
	size_t member;
	const char *name;
	const char *file; /* below .llmc */
	bool first; /* the next daemon replaces it */
} evidence_parts[] = {
	{ MEMBER(registration), "daemon.json", "daemon.json", true },
	{ MEMBER(heartbeat), "auto.heartbeat", "auto.heartbeat", true },
	{ MEMBER(failure), "failure.json", "failure.json", true },
	{ MEMBER(autod_log), "autod.log", "logs/autod.log", false },
	{ MEMBER(auto_log), "auto.log", "logs/auto.log", false },
	{ MEMBER(task_pool_log), "task_pool.log", "logs/task_pool.log", false },
	{ MEMBER(post_accept_log), "post_accept.log", "logs/post_accept.log",
	    false },
	{ MEMBER(standard_error), "stderr.txt", NULL, false },
	{ MEMBER(workers), "workers.txt", NULL, false },
	{ MEMBER(task_error), "task_error.txt", NULL, false },
	{ MEMBER(stack), "stack.txt", NULL, false },
};

static char *
history_path(const struct workspace *workspace)
{
	return workspace_path(workspace, "failures.jsonl");
}

/* Takes ownership of the strings; drops the oldest event if it is full. */
static void
history_push(struct history *history, struct spiral_event *event)
{
	if (history->count == HISTORY_MAX) {
		spiral_event_release(&history->events[0]);
		history->count--;
		memmove(history->events, history->events + 1,
		    history->count * sizeof *history->events);
	} else {
		history->events = xreallocarray(history->events,
		    history->count + 1, sizeof *history->events);
	}
	history->events[history->count++] = *event;
	memset(event, 0, sizeof *event);
}

static bool
history_read(struct json_object *record, void *arg)
{
	struct history *history = arg;
	struct spiral_event event = { 0 };

	if (spiral_event_from_json(record, &event, NULL) == 0)
		history_push(history, &event);
	return true;
}

int
history_load(const struct workspace *workspace, struct history *ret_history,
    struct err *err)
{
	cleanup_free char *path = history_path(workspace);
	struct history history = { 0 };
	/* Read all of them: lines that are not events must not count. */
	int r = jsonl_last(path, 0, history_read, &history, err);

	if (r < 0) {
		history_release(&history);
		return r;
	}
	*ret_history = history;
	return 0;
}

void
history_release(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		spiral_event_release(&history->events[i]);
	free(history->events);
	memset(history, 0, sizeof *history);
}

static void
history_print(const struct spiral_event *event, struct buf *out)
{
	cleanup_json struct json_object *json = spiral_event_to_json(event);

	json_print(json, false, out);
	buf_addc(out, '\n');
}

/* Does the file have more lines than are ever read? */
static bool
history_is_long(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t lines = 0;
	int r = file_read(path, JSONL_LOOK_MAX, &text, NULL);

	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return r == -EFBIG || lines > HISTORY_LINES_MAX;
}

/* From the file, not from memory, which may not have all of it. */
static int
history_rewrite(
    const struct workspace *workspace, const char *path, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct history history = { 0 };
	int r = history_load(workspace, &history, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < history.count; i++)
		history_print(&history.events[i], &text);
	history_release(&history);
	return file_replace(path, text.data, text.len, 0600, err);
}

void
history_note(struct history *history, struct spiral_event *event)
{
	history_push(history, event);
	if (history->unsaved < history->count)
		history->unsaved++;
}

int
history_save(
    const struct workspace *workspace, struct history *history, struct err *err)
{
	cleanup_free char *path = history_path(workspace);
	struct err words = { 0 };

	if (history->unsaved == 0)
		return 0;
	while (history->unsaved > 0) {
		cleanup_buf struct buf line = BUF_INIT;
		int r;

		history_print(
		    &history->events[history->count - history->unsaved], &line);
		r = file_append(path, line.data, line.len, 0600, true, err);
		if (r < 0)
			return r;
		history->unsaved--;
	}
	/* The event is on the disk; if the file stays too long, the next call
	 * tries again. */
	if (history_is_long(path) &&
	    history_rewrite(workspace, path, &words) < 0)
		log_debug("%s", words.msg);
	return 0;
}

/* Not glob(3): the path of a repository may hold characters of patterns. */
char *
history_manual_file(const struct workspace *workspace)
{
	cleanup_free char *first = NULL;
	cleanup_dir DIR *dir = opendir(workspace->dir);
	const char *name;

	while ((name = dir_next(dir)) != NULL)
		if (fnmatch(MANUAL_FILES, name, 0) == 0 &&
		    (first == NULL || strcmp(first, name) >= 0))
			xstrset(&first, name);
	return first != NULL ? workspace_path(workspace, first) : NULL;
}

int
history_add(const struct workspace *workspace, struct history *history,
    struct spiral_event *event, struct err *err)
{
	history_note(history, event);
	return history_save(workspace, history, err);
}

static char **
evidence_text(struct evidence *evidence, const struct evidence_part *part)
{
	return (char **)(void *)((char *)evidence + part->member);
}

static int
evidence_read_end(int fd, off_t from, off_t to, struct buf *text)
{
	struct stat st;
	bool cut;
	size_t len;
	ssize_t n = 1;

	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return -EINVAL;
	if (to > st.st_size)
		to = st.st_size;
	cut = to - from > (off_t)EVIDENCE_PART_MAX;
	if (cut)
		from = to - (off_t)EVIDENCE_PART_MAX;
	len = to > from ? (size_t)(to - from) : 0;
	buf_reserve(text, len);
	while (n != 0 && text->len < len) {
		n = pread(fd, text->data + text->len, len - text->len,
		    from + (off_t)text->len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		buf_grew(text, (size_t)n);
	}
	if (cut) { /* the first line is incomplete */
		const char *end = memchr(text->data, '\n', text->len);

		if (end != NULL)
			buf_consume(text, (size_t)(end + 1 - text->data));
	}
	return 0;
}

/* The end of that part of a file, or NULL; the caller frees. */
static char *
evidence_end_of(const char *path, off_t from, off_t to)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd =
	    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t kept = 0;

	if (fd == -1 || evidence_read_end(fd, from, to, &text) < 0)
		return NULL;
	/* A NUL would end the text early; a log has some after a crash of
	 * the machine. */
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] != '\0')
			text.data[kept++] = text.data[i];
	}
	buf_truncate(&text, kept);
	/* A copy: the buffer may have room for far more. */
	return text.len > 0 ? xstrndup(text.data, text.len) : NULL;
}

/* What the workers were doing at the last heartbeat. */
static char *
evidence_workers(const struct evidence *evidence)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_json struct json_object *beat = NULL;
	struct json_object *lines = NULL;

	if (evidence->heartbeat == NULL ||
	    json_parse(evidence->heartbeat, strlen(evidence->heartbeat),
		EVIDENCE_PART_MAX, &beat, NULL) < 0 ||
	    json_get_array(beat, "", "workers", &lines, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < json_object_array_length(lines); i++)
		buf_addf(&out, "%s\n",
		    json_object_get_string(
			json_object_array_get_idx(lines, i)));
	return out.len > 0 ? buf_take(&out) : NULL;
}

static bool
evidence_is_failed(struct json_object *record, void *arg)
{
	struct json_object **failed = arg, *event = NULL;
	enum task_outcome outcome = OUTCOME_NONE;

	if (json_get_object(record, "", "event", &event, NULL) == 0 &&
	    strcmp(json_string_or(event, "type", ""),
		event_row(EVENT_TASK_FINISHED)->name) == 0 &&
	    task_outcome_parse(
		json_string_or(event, "outcome", ""), &outcome) &&
	    (outcome == OUTCOME_FAILED || outcome == OUTCOME_DEAD_LETTER)) {
		json_object_put(*failed);
		*failed = json_object_get(event);
	}
	return true;
}

static void
evidence_add_member(struct buf *out, const char *before,
    struct json_object *record, const char *key, bool keep_newlines)
{
	const char *text = json_string_or(record, key, "");

	if (*text == '\0')
		return;
	buf_adds(out, before);
	text_add_visible(out, text,
	    text_cut(text, strlen(text), EVIDENCE_PART_MAX / 8), keep_newlines);
}

static char *
evidence_task_error(const struct workspace *workspace)
{
	cleanup_free char *file = workspace_path(workspace, "logs/auto.log");
	cleanup_json struct json_object *failed = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	jsonl_last(file, EVIDENCE_EVENTS, evidence_is_failed, &failed, NULL);
	if (failed == NULL)
		return NULL;
	evidence_add_member(&out, "task ", failed, "task", false);
	evidence_add_member(&out, " ", failed, "outcome", false);
	evidence_add_member(&out, ": ", failed, "title", false);
	evidence_add_member(&out, "\n", failed, "reason", true);
	buf_addc(&out, '\n');
	return buf_take(&out);
}

/* One file of /proc/<pid>, appended as "label: text". */
static void
evidence_add_proc(
    struct buf *out, pid_t pid, const char *name, const char *label)
{
	cleanup_free char *path = xasprintf("/proc/%d/%s", (int)pid, name);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, EVIDENCE_PROC_MAX, &text, NULL) < 0)
		return;
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	if (text.len > 0)
		buf_addf(out, "%s%s\n", label, text.data);
}

/* Only the line of status that has the state of the process. */
static void
evidence_add_state(struct buf *out, pid_t pid)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *line;

	evidence_add_proc(&text, pid, "status", "\n");
	line = strstr(text.data, "\nState:");
	if (line != NULL)
		buf_addf(out, "%.*s\n", (int)strcspn(line + 1, "\n"), line + 1);
}

static char *
evidence_stack(pid_t pid)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (pid <= 0)
		return NULL;
	evidence_add_state(&out, pid);
	evidence_add_proc(&out, pid, "wchan", "wchan: ");
	evidence_add_proc(&out, pid, "syscall", "syscall: ");
	evidence_add_proc(&out, pid, "stack", "stack:\n");
	return out.len > 0 ? buf_take(&out) : NULL;
}

/* Our own folders begin with a digit: the year. */
static int
evidence_is_folder(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

static int
evidence_is_file(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	    strcmp(entry->d_name, "..") != 0;
}

/* Does not descend: we create no folders inside, so others are not ours. */
static void
evidence_remove(int parent, const char *name)
{
	cleanup_fd int fd = openat(
	    parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent **files = NULL;
	int count = -1;

	if (fd != -1)
		count = scandirat(fd, ".", &files, evidence_is_file, NULL);
	for (int i = 0; i < count; i++) {
		unlinkat(fd, files[i]->d_name, 0);
		free(files[i]);
	}
	free(files);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Leave `keep` of them. Names begin with the time, so they sort by age. */
static void
evidence_prune(const char *parent, int keep)
{
	cleanup_fd int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **folders = NULL;
	int count = -1;

	if (fd != -1)
		count =
		    scandirat(fd, ".", &folders, evidence_is_folder, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < count - keep)
			evidence_remove(fd, folders[i]->d_name);
		free(folders[i]);
	}
	free(folders);
}

/* A second failure in the same second gets a folder of its own. */
static int
evidence_make_dir(const char *parent, const char *stamp, char **ret_dir)
{
	if (mkdir(parent, 0700) == -1 && errno != EEXIST)
		return -errno;
	for (int i = 1; i <= EVIDENCE_SAME_MAX; i++) {
		cleanup_free char *dir = i == 1 ?
		    xasprintf("%s/%s", parent, stamp) :
		    xasprintf("%s/%s-%02d", parent, stamp, i);

		if (mkdir(dir, 0700) == 0) {
			*ret_dir = take_ptr(&dir);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Without keys and passwords: an agent may read it, or a person may pass it on.
 * Not synced: that would block the loop, and after a power cut there is another
 * failure to examine. */
static int
evidence_write(const char *dir, const char *name, const char *text)
{
	cleanup_buf struct buf masked = BUF_INIT;
	cleanup_free char *path = file_join(dir, name);
	cleanup_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd == -1)
		return -errno;
	remedy_mask(text, strlen(text), &masked);
	r = file_write_all(fd, masked.data, masked.len);
	if (r < 0)
		unlink(path);
	return r;
}

/* Write the folder with as many parts as the disk has room for; without any, no
 * folder stays. */
static int
evidence_keep(const struct workspace *workspace, const char *stamp,
    struct evidence *evidence)
{
	cleanup_free char *parent = workspace_path(workspace, "evidence");
	cleanup_free char *dir = NULL;
	size_t kept = 0;
	int r, failed = 0;

	/* Remove the old ones first: the disk may be full. */
	evidence_prune(parent, EVIDENCE_KEEP - 1);
	r = evidence_make_dir(parent, stamp, &dir);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nitems(evidence_parts); i++) {
		const struct evidence_part *part = &evidence_parts[i];
		const char *text = *evidence_text(evidence, part);

		if (text == NULL)
			continue;
		r = evidence_write(dir, part->name, text);
		if (r < 0)
			failed = r;
		else
			kept++;
	}
	if (kept == 0 && failed < 0) {
		rmdir(dir);
		return failed;
	}
	evidence->dir = take_ptr(&dir);
	return 0;
}

static void
evidence_read_parts(
    const struct workspace *workspace, bool first, struct evidence *evidence)
{
	for (size_t i = 0; i < nitems(evidence_parts); i++) {
		const struct evidence_part *part = &evidence_parts[i];
		cleanup_free char *path = NULL;

		if (part->file == NULL || part->first != first)
			continue;
		path = workspace_path(workspace, part->file);
		*evidence_text(evidence, part) =
		    evidence_end_of(path, 0, INT64_MAX);
	}
}

void
evidence_read_first(
    const struct workspace *workspace, pid_t pid, struct evidence *ret_evidence)
{
	*ret_evidence = (struct evidence){ .stack = evidence_stack(pid) };
	evidence_read_parts(workspace, true, ret_evidence);
}

void
evidence_read_rest(const struct workspace *workspace, const char *said_file,
    int64_t from, int64_t to, struct evidence *evidence)
{
	evidence_read_parts(workspace, false, evidence);
	if (said_file != NULL)
		evidence->standard_error = evidence_end_of(said_file, from, to);
	evidence->workers = evidence_workers(evidence);
	evidence->task_error = evidence_task_error(workspace);
}

int
evidence_save(const struct workspace *workspace, const char *stamp,
    struct evidence *evidence, struct err *err)
{
	int r = evidence_keep(workspace, stamp, evidence);

	if (r < 0)
		return err_errno(
		    err, r, "cannot save the evidence in %s", workspace->dir);
	return 0;
}

void
evidence_release(struct evidence *evidence)
{
	for (size_t i = 0; i < nitems(evidence_parts); i++)
		free(*evidence_text(evidence, &evidence_parts[i]));
	free(evidence->dir);
	memset(evidence, 0, sizeof *evidence);
}
