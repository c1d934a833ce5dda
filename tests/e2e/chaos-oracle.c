/* SPDX-License-Identifier: ISC */

#include <dirent.h>

#include "chaos.h"
#include "filed.h"
#include "fleet.h"

#define READ_MAX (64 * 1024 * 1024)
#define LOOKS    40 /* attempts to read a folder while files move */
#define LOOK_MS  25

static const struct {
	const char *name;
	enum chaos_place place;
} places[] = {
	/* In the order in which a task moves, latest first: a task that moves
	 * meanwhile is missed, not seen twice; then the folder is read
	 * again. */
	{ "done", CHAOS_DONE },
	{ "failed", CHAOS_FAILED },
	{ "doing", CHAOS_DOING },
	{ "todo", CHAOS_TODO },
};

const char *
chaos_task_name(int number)
{
	return e2e_path("task-%04d", number);
}

static bool says(struct buf *problem, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool
says(struct buf *problem, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	buf_adds(problem, words);
	return false;
}

/* The output of a program; not kept, since there is a lot of it. */
static int
ask(const char *const *argv, struct buf *out)
{
	struct child_spec spec = { .argv = argv,
		.cwd = fleet_root(),
		.env = e2e_edits(),
		.output_max = READ_MAX };
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	child_output_text(&result.out, out);
	return result.exited ? result.status : -1;
}

static void
ask_git(const char *const *argv, struct buf *out)
{
	int status = ask(argv, out);

	ck_assert_msg(status == 0, "git %s: status %d", argv[1], status);
}

/* The number in a name such as task-0007.txt, 0 for other names. */
static int
task_number(const char *name)
{
	int number = 0;

	if (sscanf(name, "task-%d", &number) != 1 || number < 1 ||
	    number > CHAOS_TASKS_MAX)
		return 0;
	return number;
}

/* --- the source of the tasks ------------------------------------------ */

static void
look_into(struct chaos_view *view, const char *name, enum chaos_place place)
{
	cleanup_free char *path =
	    xasprintf("%s/.llmc/tasks/%s", fleet_root(), name);
	DIR *dir = opendir(path);
	struct dirent *entry;
	int number;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		number = task_number(entry->d_name);
		if (number > 0 && strstr(entry->d_name, ".why") == NULL)
			view->places[number] |= place;
	}
	closedir(dir);
}

static bool
see_folder(struct chaos_view *view, struct buf *problem)
{
	memset(view->places, 0, sizeof view->places);
	for (size_t i = 0; i < nitems(places); i++)
		look_into(view, places[i].name, places[i].place);
	for (int i = 1; i <= view->given; i++) {
		unsigned place = view->places[i];

		view->failed[i] = place == CHAOS_FAILED;
		if (place == 0 || (place & (place - 1)) != 0)
			return says(problem, "%s is %s of the folders",
			    chaos_task_name(i),
			    place == 0 ? "in none" : "in several");
	}
	return true;
}

static bool
check_folder(struct chaos_view *view, struct buf *problem)
{
	for (int i = 0; i < LOOKS; i++) {
		buf_clear(problem);
		if (see_folder(view, problem))
			return true;
		poll(NULL, 0, LOOK_MS); /* it may have been moving */
	}
	return false;
}

/* The number in the title of the record of an ended task. */
static void
see_failure(struct chaos_view *view, struct json_object *json)
{
	const char *outcome = json_string_or(json, "outcome", "landed");
	int number = task_number(json_string_or(json, "title", ""));

	if (number > 0 && strcmp(outcome, "landed") != 0)
		view->failed[number] = json_string_or(json, "reason", "")[0] ?
		    1 :
		    -1; /* without a reason */
}

static bool
check_pool(struct chaos_view *view, struct buf *problem)
{
	cleanup_free char *handed = xasprintf("%s/pool/handed", unit_scratch());
	cleanup_json struct json_object *filed = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	char *at, *line;
	int number;

	memset(view->handed, 0, sizeof view->handed);
	file_read(handed, READ_MAX, &text, NULL);
	for (at = text.data; (line = strsep(&at, "\n")) != NULL;) {
		number = task_number(line);
		if (number > 0 && ++view->handed[number] > 1)
			return says(problem, "the pool gave %s twice", line);
	}
	filed = filed_tasks(fleet_root());
	for (size_t i = 0; filed != NULL && i < json_object_array_length(filed);
	     i++)
		see_failure(view, json_object_array_get_idx(filed, i));
	return true;
}

/* --- git -------------------------------------------------------------- */

struct seen_commit {
	int number; /* in the list, newest first */
	int tasks; /* number of tasks whose files it has */
	bool first; /* has no parent */
};

static bool
commit_is_one_task(const struct seen_commit *commit, struct buf *problem)
{
	if (commit->number == 0 || commit->first || commit->tasks == 1)
		return true;
	return says(
	    problem, "a commit has the files of %d tasks", commit->tasks);
}

/* "\1ID PARENTS", followed by the names of its files. */
static bool
see_commit(struct chaos_view *view, struct seen_commit *commit, char *line,
    bool *known, struct buf *problem)
{
	const char *id = line + 1, *parents;

	if (!commit_is_one_task(commit, problem))
		return false;
	line[strcspn(line, "\t")] = '\0';
	parents = id + strlen(id) + 1;
	*known = *known || view->head == NULL || strcmp(id, view->head) == 0;
	commit->first = parents[0] == '\0';
	commit->tasks = 0;
	commit->number++;
	if (strchr(parents, ' ') != NULL)
		return says(problem, "%s has two parents", id);
	return true;
}

static bool
check_history(struct chaos_view *view, struct buf *problem)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct seen_commit commit = { 0 };
	bool known = false;
	const char *head = NULL;
	int number;

	memset(view->landed, 0, sizeof view->landed);
	ask_git((const char *[]){ "git", "log", "--format=%x01%H%x09%P",
		    "--name-only", "main", NULL },
	    &text);
	for (char *at = text.data, *line; (line = strsep(&at, "\n")) != NULL;) {
		if (line[0] == '\1') {
			if (!see_commit(view, &commit, line, &known, problem))
				return false;
			if (head == NULL)
				head = e2e_path("%s", line + 1);
		} else if ((number = task_number(line)) > 0) {
			commit.tasks++;
			if (++view->landed[number] > 1)
				return says(problem, "%s landed twice", line);
		}
	}
	if (!known)
		return says(problem, "main does not go on from %s", view->head);
	view->head = head;
	return commit_is_one_task(&commit, problem);
}

/* --- tmux and /proc ---------------------------------------------------- */

size_t
chaos_panes(
    const struct chaos_view *view, struct chaos_pane panes[CHAOS_PANES_MAX])
{
	const char *const argv[] = { "tmux", "-L", view->socket, "list-panes",
		"-a", "-F", "#{session_name} #{pane_pid}", NULL };
	cleanup_buf struct buf text = BUF_INIT;
	size_t count = 0;
	int pid;

	if (ask(argv, &text) != 0)
		return 0;
	for (char *at = text.data, *line; (line = strsep(&at, "\n")) != NULL;) {
		struct chaos_pane *pane = &panes[count];

		if (count == CHAOS_PANES_MAX ||
		    sscanf(line, "%63s %d", pane->session, &pid) != 2)
			continue;
		pane->pid = pid;
		count++;
	}
	return count;
}

static bool
check_sessions(const struct chaos_view *view, struct buf *problem)
{
	struct chaos_pane panes[CHAOS_PANES_MAX];
	size_t count = chaos_panes(view, panes);
	int number;

	for (size_t i = 0; i < count; i++)
		if (sscanf(panes[i].session, "llmc-auto-%d", &number) != 1 ||
		    number < 1 || number > view->workers)
			return says(
			    problem, "a stray session: %s", panes[i].session);
	return true;
}

/* The working directory of a process; false if it does not belong to the
 * fleet. */
static bool
works_in_fleet(const char *pid, char path[4096])
{
	cleanup_free char *link = xasprintf("/proc/%s/cwd", pid);
	size_t len = strlen(fleet_root());
	ssize_t n = readlink(link, path, 4095);

	if (n <= 0)
		return false;
	path[n] = '\0';
	return strncmp(path, fleet_root(), len) == 0 &&
	    (path[len] == '\0' || path[len] == '/' || path[len] == ' ');
}

static void
describe_process(const char *pid, const char *cwd, struct buf *out)
{
	cleanup_free char *file = xasprintf("/proc/%s/cmdline", pid);
	cleanup_buf struct buf text = BUF_INIT;

	file_read(file, 4096, &text, NULL);
	for (size_t i = 0; i + 1 < text.len; i++)
		if (text.data[i] == '\0')
			text.data[i] = ' ';
	buf_addf(out, "%s in %s: %.200s; ", pid, cwd, text.data);
}

static bool
is_pane(const struct chaos_pane *panes, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (panes[i].pid == pid)
			return true;
	return false;
}

static pid_t
server_pid(const struct chaos_view *view)
{
	const char *const argv[] = { "tmux", "-L", view->socket,
		"display-message", "-p", "#{pid}", NULL };
	cleanup_buf struct buf text = BUF_INIT;

	return ask(argv, &text) == 0 ? (pid_t)strtol(text.data, NULL, 10) : 0;
}

/* Of the daemon it is the shell of autorun.c that waits for it. */
static pid_t
parent_of(pid_t pid)
{
	cleanup_free char *file = xasprintf("/proc/%d/stat", (int)pid);
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;

	if (pid <= 0 || file_read(file, 4096, &text, NULL) < 0)
		return 0;
	at = strrchr(text.data, ')'); /* then the state, then the parent */
	return at != NULL ? (pid_t)strtol(at + 3, NULL, 10) : 0;
}

static bool
boxed(void)
{
	return strcmp(e2e_sandbox(), "off") != 0;
}

/* A pane has a keeper, the inner process of it, the agent below that, and its
 * server of tools; in a sandbox, bubblewrap is between them, twice. */
static bool
is_in_pane(const struct chaos_pane *panes, size_t count, pid_t pid)
{
	int most = boxed() ? 5 : 3;

	for (int i = 0; i <= most; i++, pid = parent_of(pid))
		if (is_pane(panes, count, pid))
			return true;
	return false;
}

/* Every process below the root must be the daemon, tmux, or in a pane. */
static bool
check_processes(
    const struct chaos_view *view, pid_t daemon, struct buf *problem)
{
	struct chaos_pane panes[CHAOS_PANES_MAX];
	size_t count = chaos_panes(view, panes);
	pid_t server = server_pid(view), parent = parent_of(daemon);
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char cwd[4096];

	ck_assert_ptr_nonnull(proc);
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != daemon && pid != parent &&
		    pid != server && works_in_fleet(entry->d_name, cwd) &&
		    !is_in_pane(panes, count, pid))
			describe_process(entry->d_name, cwd, problem);
	}
	closedir(proc);
	return problem->len == 0;
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
chaos_descriptors(pid_t pid, struct buf *out)
{
	cleanup_free char *path = xasprintf("/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	char *lines[512], target[4096];
	struct dirent *entry;
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL && count < nitems(lines)) {
		cleanup_free char *link =
		    xasprintf("%s/%s", path, entry->d_name);
		ssize_t n = readlink(link, target, sizeof target - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		/* Ignore the numbers of sockets and pipes. */
		if (target[0] != '/')
			target[strcspn(target, "[")] = '\0';
		lines[count++] = xstrdup(target);
	}
	closedir(dir);
	qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < count; i++) {
		buf_addf(out, "%s\n", lines[i]);
		free(lines[i]);
	}
}

/* --- invariants ------------------------------------------------------- */

/* The folder was read before git: a task that is done has landed, at any
 * time. */
static bool
check_agreement(const struct chaos_view *view, struct buf *problem)
{
	for (int i = 1; i <= view->tasks; i++) {
		if (view->landed[i] > 0 && view->failed[i] != 0)
			return says(problem, "%s has landed and is told failed",
			    chaos_task_name(i));
		if (view->places[i] == CHAOS_DONE && view->landed[i] == 0)
			return says(problem, "%s is done and has not landed",
			    chaos_task_name(i));
		if (view->source == CHAOS_COMMAND && view->landed[i] > 0 &&
		    view->handed[i] == 0)
			return says(problem, "%s landed and was never given",
			    chaos_task_name(i));
	}
	return true;
}

bool
chaos_check(struct chaos_view *view, struct buf *problem)
{
	return (view->source == CHAOS_FOLDER ? check_folder(view, problem) :
					       check_pool(view, problem)) &&
	    check_history(view, problem) && check_agreement(view, problem) &&
	    check_sessions(view, problem);
}

bool
chaos_has_settled(const struct chaos_view *view, int number)
{
	return view->source == CHAOS_FOLDER ?
	    (view->places[number] & (CHAOS_DONE | CHAOS_FAILED)) != 0 :
	    view->landed[number] > 0 || view->failed[number] != 0;
}

bool
chaos_all_settled(const struct chaos_view *view)
{
	for (int i = 1; i <= view->tasks; i++)
		if (!chaos_has_settled(view, i))
			return false;
	return true;
}

/* The command printed nothing. */
static bool
is_silent(const char *what, const char *const *argv, struct buf *problem)
{
	cleanup_buf struct buf text = BUF_INIT;
	int status = ask(argv, &text);

	if (status == 0 && text.len == 0)
		return true;
	return says(problem, "%s: status %d: %s", what, status, text.data);
}

/* The lock of git's own housekeeping is left by an agent's commit that was
 * killed with its agent. It is in nobody's way: git goes on without
 * housekeeping. */
static bool
check_locks(struct buf *problem)
{
	return is_silent("locks of git",
	    (const char *[]){ "find", ".git", "-name", "*.lock", "!", "-name",
		"maintenance.lock", "-type", "f", NULL },
	    problem);
}

static bool
check_worktree(int number, struct buf *problem)
{
	const char *dir = fleet_worktree(e2e_path("auto-%d", number));
	const char *range = e2e_path("main..llmc/auto-%d", number);
	cleanup_buf struct buf branch = BUF_INIT;

	if (!is_silent(dir,
		(const char *[]){
		    "git", "-C", dir, "status", "--porcelain", NULL },
		problem) ||
	    !is_silent(dir, (const char *[]){ "git", "rev-list", range, NULL },
		problem))
		return false;
	/* In a sandbox HEAD is detached, and the branch follows it. */
	if (boxed())
		return is_silent(dir,
		    (const char *[]){ "git", "-C", dir, "rev-list",
			e2e_path("HEAD...refs/heads/llmc/auto-%d", number),
			NULL },
		    problem);
	ask((const char *[]){ "git", "-C", dir, "symbolic-ref", "HEAD", NULL },
	    &branch);
	if (strstr(branch.data, e2e_path("/llmc/auto-%d\n", number)) == NULL)
		return says(problem, "%s is on %s", dir, branch.data);
	return true;
}

static bool
check_repository(const struct chaos_view *view, struct buf *problem)
{
	for (int i = 1; i <= view->workers; i++)
		if (!check_worktree(i, problem))
			return false;
	return check_locks(problem) &&
	    is_silent("the checkout",
		(const char *[]){ "git", "status", "--porcelain", NULL },
		problem) &&
	    is_silent("worktrees",
		(const char *[]){ "sh", "-c",
		    e2e_path("git worktree list --porcelain | awk '"
			     "/^worktree / { own = /%s/ } "
			     "/^(locked|prunable)/ || (/^detached/ && !own)'",
			boxed() ? "\\/\\.(llmc\\/checks|worktrees)\\/" :
				  "\\/\\.llmc\\/checks\\/"),
		    NULL },
		problem);
}

bool
chaos_check_quiet(
    const struct chaos_view *view, pid_t daemon, struct buf *problem)
{
	struct chaos_pane panes[CHAOS_PANES_MAX];
	size_t count = chaos_panes(view, panes);

	if ((int)count != view->workers)
		return says(
		    problem, "%zu sessions, not %d", count, view->workers);
	return check_processes(view, daemon, problem) &&
	    check_repository(view, problem);
}

bool
chaos_check_ended(const struct chaos_view *view, struct buf *problem)
{
	struct chaos_pane panes[CHAOS_PANES_MAX];

	if (chaos_panes(view, panes) != 0)
		return says(problem, "sessions are left");
	for (int i = 1; i <= view->tasks; i++) {
		if (view->failed[i] < 0)
			return says(problem, "%s failed without a word",
			    chaos_task_name(i));
		if (view->source == CHAOS_FOLDER && view->failed[i] != 0 &&
		    e2e_read(e2e_path("%s/.llmc/tasks/failed/%s.md.why",
			fleet_root(), chaos_task_name(i)))[0] == '\0')
			return says(problem, "%s failed for no reason",
			    chaos_task_name(i));
	}
	return check_processes(view, 0, problem) &&
	    check_repository(view, problem) &&
	    is_silent("fsck",
		(const char *[]){
		    "git", "fsck", "--no-dangling", "--no-progress", NULL },
		problem);
}
