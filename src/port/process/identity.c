/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "api.h"
#include "identity.h"
#include "procref.h"
#include "state.h"
#include "worker.h"
#include "workspace.h"

#define ENVIRON_MAX ((size_t)4 * 1024 * 1024)
#define TRIES_MAX   16 /* parents that end while they are looked at */

struct entry {
	struct ancestor self;
	pid_t parent;
};

static int
open_file(const char *proc, const char *dir, long number, const char *name)
{
	cleanup_free char *path =
	    xasprintf("%s/%s%ld%s", proc, dir, number, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd == -1 ? -errno : fd;
}

/* One read returns a whole line of /proc. */
static int
read_line(int fd, char *line, size_t size)
{
	ssize_t n;

	do
		n = read(fd, line, size - 1);
	while (n == -1 && errno == EINTR);
	if (n <= 0)
		return n == -1 ? -errno : -ESRCH;
	line[n] = '\0';
	return 0;
}

/* The name in field 2 may contain anything, but there is no parenthesis after
 * it. */
static int
read_stat(const char *proc, pid_t pid, struct entry *ret_entry)
{
	cleanup_fd int fd = open_file(proc, "", (long)pid, "/stat");
	struct entry entry = { .self.pid = pid };
	unsigned long long start;
	const char *end;
	char line[1024];

	if (fd < 0 || read_line(fd, line, sizeof line) < 0)
		return -ESRCH;
	end = strrchr(line, ')');
	/* Fields 4 and 22. */
	if (end == NULL ||
	    sscanf(end + 1,
		" %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		" %*s %*s %*s %*s %*s %llu",
		&entry.parent, &start) != 2)
		return -ESRCH;
	entry.self.start_time = start;
	*ret_entry = entry;
	return 0;
}

/* Is it this child's parent? If its parent is another one by now, that is
 * *ret_parent. Negative errno if the child has ended. */
static int
read_parent(const char *proc, const struct ancestor *child, pid_t parent,
    pid_t *ret_parent)
{
	struct entry now;

	if (read_stat(proc, child->pid, &now) < 0 ||
	    now.self.start_time != child->start_time)
		return -ESRCH;
	*ret_parent = now.parent;
	return now.parent == parent;
}

int
ancestry_read(
    const char *proc, pid_t pid, struct ancestor *ret_list, size_t max)
{
	struct entry entry;
	size_t count = 0;
	bool found;
	int r, tries = 0;

	while (pid > 0) {
		const struct ancestor *child =
		    count > 0 ? &ret_list[count - 1] : NULL;

		found = read_stat(proc, pid, &entry) == 0;
		if (!found && child == NULL)
			return -ESRCH;
		if (found &&
		    (child == NULL ||
			entry.self.start_time <= child->start_time)) {
			if (count == max)
				return -ELOOP;
			ret_list[count++] = entry.self;
			pid = entry.parent;
			continue;
		}
		r = read_parent(proc, child, pid, &pid);
		if (r < 0)
			return r;
		if (r > 0 && !found)
			break; /* hidden: another user's */
		if (r > 0 || ++tries > TRIES_MAX)
			return -ESTALE;
	}
	return (int)count;
}

/* The environment that a process was started with, as the kernel kept it;
 * appended. Negative errno: it cannot be read. */
static int
ancestry_environment(const char *proc, pid_t pid, struct buf *environment)
{
	cleanup_fd int fd = open_file(proc, "", (long)pid, "/environ");
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		buf_reserve(environment, 65536);
		n = read(fd, environment->data + environment->len, 65536);
		if (n > 0)
			buf_grew(environment, (size_t)n);
	} while (n > 0 && environment->len < ENVIRON_MAX);
	return n == -1 ? -errno : 0;
}

/* A variable's value in it; NULL = it has none. */
static const char *
ancestry_variable(const struct buf *environment, const char *name)
{
	const char *at = environment->data, *end = at + environment->len;
	size_t len = strlen(name);

	for (; at < end; at += strlen(at) + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return at + len + 1;
	return NULL;
}

pid_t
ancestry_pidfd(const char *proc, int pidfd)
{
	cleanup_fd int fd = open_file(proc, "self/fdinfo/", pidfd, "");
	char text[1024];
	const char *line;
	int pid;

	if (fd < 0 || read_line(fd, text, sizeof text) < 0)
		return -EBADF;
	line = strstr(text, "\nPid:");
	if (line == NULL || sscanf(line, "\nPid: %d", &pid) != 1)
		return -EBADF;
	return pid == -1 ? -ESRCH : pid;
}

#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define COMMAND        "LLMC_COMMAND"

/* --- the panes -------------------------------------------------------- */

static const char *
boot_id(struct identity_panes *panes)
{
	struct procref self = PROCREF_INIT;

	if (panes->boot == NULL && procref_set_self(&self) == 0) {
		panes->boot = xstrdup(self.boot_id);
		procref_release(&self);
	}
	return panes->boot != NULL ? panes->boot : "";
}

void
identity_add(
    struct identity_panes *panes, const char *name, struct json_object *pane)
{
	struct procref ref = PROCREF_INIT;

	if (!json_object_is_type(pane, json_type_object) ||
	    procref_from_json(&ref, pane, NULL) < 0 ||
	    strcmp(ref.boot_id, boot_id(panes)) != 0)
		return;
	panes->list =
	    xreallocarray(panes->list, panes->count + 1, sizeof *panes->list);
	panes->list[panes->count++] = (struct identity_pane){
		.name = xstrdup(name),
		.pid = ref.pid,
		.start_time = ref.start_time,
	};
}

static void
forget(struct identity_file *file)
{
	json_object_put(file->member);
	*file = (struct identity_file){ 0 };
}

/* True if it is what we know; else we know nothing. Files are replaced, never
 * written in place. */
static bool
is_known(const char *path, struct identity_file *file)
{
	struct identity_file now = { 0 };
	struct stat st;

	if (stat(path, &st) == 0)
		now = (struct identity_file){ .dev = st.st_dev,
			.ino = st.st_ino,
			.size = st.st_size,
			.changed_s = st.st_mtim.tv_sec,
			.changed_ns = st.st_mtim.tv_nsec };
	if (now.ino == file->ino && now.dev == file->dev &&
	    now.size == file->size && now.changed_s == file->changed_s &&
	    now.changed_ns == file->changed_ns)
		return true;
	forget(file);
	*file = now;
	return false;
}

static struct json_object *
load(const struct workspace *workspace, const char *name, const char *key,
    struct identity_file *file)
{
	cleanup_free char *path = workspace_path(workspace, name);
	cleanup_json struct json_object *json = NULL;
	struct json_object *member = NULL;

	if (is_known(path, file))
		return file->member;
	if (json_load(path, FILE_BYTES_MAX, &json, NULL) == 0 &&
	    json_object_is_type(json, json_type_object)) {
		json_object_object_get_ex(json, key, &member);
		file->member = json_object_get(member);
	} else {
		forget(file); /* it may work the next time */
	}
	return file->member;
}

void
identity_files_release(struct identity_files *files)
{
	forget(&files->overseer);
	forget(&files->panes);
}

void
identity_add_repair(struct identity_panes *panes,
    const struct workspace *workspace, struct identity_files *files)
{
	identity_add(panes, CALLER_REPAIR,
	    load(workspace, "overseer.json", "repair_pane", &files->overseer));
}

void
identity_panes_text(const struct state *state, struct buf *out)
{
	cleanup_json struct json_object *json = json_object_new_object();
	struct json_object *panes = json_object_new_object();

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		if (w->session.pane != NULL)
			json_set(
			    panes, w->name, json_object_get(w->session.pane));
	}
	json_set(json, "panes", panes);
	json_print(json, false, out);
	buf_addc(out, '\n');
}

void
identity_add_all(struct identity_panes *panes,
    const struct workspace *workspace, struct identity_files *files)
{
	struct json_object *workers =
	    load(workspace, IDENTITY_PANES, "panes", &files->panes);
	struct json_object_iter i;

	if (json_object_is_type(workers, json_type_object)) {
		json_object_object_foreachC(workers, i)
		{
			identity_add(panes, i.key, i.val);
		}
	}
	identity_add_repair(panes, workspace, files);
}

void
identity_release(struct identity_panes *panes)
{
	for (size_t i = 0; i < panes->count; i++)
		free(panes->list[i].name);
	free(panes->list);
	free(panes->boot);
	*panes = (struct identity_panes){ 0 };
}

/* --- the process ------------------------------------------------------ */

static const char *
find_pane(const struct identity_panes *panes, const struct ancestor *who)
{
	for (size_t i = 0; i < panes->count; i++)
		if (panes->list[i].pid == who->pid &&
		    panes->list[i].start_time == who->start_time)
			return panes->list[i].name;
	return NULL;
}

char *
identity_command(const char *root)
{
	return xasprintf(COMMAND "=%s", root);
}

/* By the environment that it was started with; NULL = no agent of this root. */
static char *
find_agent(const char *proc, const struct workspace *workspace, pid_t pid)
{
	cleanup_buf struct buf environment = BUF_INIT;
	const char *root, *name;

	if (ancestry_environment(proc, pid, &environment) < 0)
		return NULL;
	/* A command that the daemon runs on a worker's files. */
	root = ancestry_variable(&environment, COMMAND);
	if (text_is(root, workspace->root))
		return xstrdup("a setup or check command");
	root = ancestry_variable(&environment, "LLMC_ROOT");
	if (ancestry_variable(&environment, "LLMC_AGENT") == NULL ||
	    !text_is(root, workspace->root))
		return NULL;
	name = ancestry_variable(&environment, "LLMC_WORKER");
	return xstrdup(name != NULL ? name : "an agent");
}

int
identity_find(const char *proc, const struct workspace *workspace,
    const struct identity_panes *panes, pid_t pid, int pidfd, char **ret_name)
{
	struct ancestor list[ANCESTRY_MAX];
	char *name = NULL;
	int count;

	count = ancestry_read(proc, pid, list, ANCESTRY_MAX);
	/* Was the number still its own? */
	if (pidfd >= 0 && ancestry_pidfd(proc, pidfd) != pid)
		return -ESRCH;
	if (count <= 0)
		return count < 0 ? count : -ESRCH;
	for (int i = count - 1; i >= 0; i--) {
		const char *found = find_pane(panes, &list[i]);

		if (found != NULL) {
			*ret_name = xstrdup(found);
			return 1;
		}
	}
	for (int i = count - 1; i >= 0 && name == NULL; i--)
		name = find_agent(proc, workspace, list[i].pid);
	if (name == NULL)
		return 0;
	*ret_name = name;
	return 1;
}

int
identity_own(const struct workspace *workspace, char **ret_name)
{
	struct identity_panes panes = { 0 };
	struct identity_files files = { 0 };
	int r;

	identity_add_all(&panes, workspace, &files);
	identity_files_release(&files);
	r = identity_find(
	    ANCESTRY_PROC, workspace, &panes, getpid(), -1, ret_name);
	identity_release(&panes);
	return r;
}
