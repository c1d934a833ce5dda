/* SPDX-License-Identifier: ISC */

/* Whose process it is: a fake /proc for the parents, real processes for what
 * only the kernel knows. */

#include "identity.h"
#include "unit.h"
#include "workspace.h"

static void
fake_file(
    const char *proc, int pid, const char *name, const char *text, size_t len)
{
	cleanup_free char *dir = xasprintf("%s/%d", proc, pid);
	cleanup_free char *path = file_join(dir, name);

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(path, text, len, 0600, NULL), 0);
}

static void
fake(const char *proc, int pid, const char *name, int parent, int start)
{
	cleanup_free char *text =
	    xasprintf("%d (%s) S %d 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 "
		      "%d 1000 200 18446744073709551615\n",
		pid, name, parent, start);

	fake_file(proc, pid, "stat", text, strlen(text));
}

/* init, a shell of a person, the pane of adam with two generations below. */
static const char *
fake_proc(const char *name)
{
	const char *proc = unit_path(name);

	fake(proc, 1, "systemd", 0, 1);
	fake(proc, 10, "tmux: server", 1, 50);
	fake(proc, 20, "claude) S 1", 10, 100);
	fake(proc, 21, "sh", 20, 110);
	fake(proc, 22, "llmc", 21, 120);
	fake(proc, 30, "bash", 1, 40);
	fake(proc, 31, "llmc", 30, 130);
	return proc;
}

/* --- ancestry --------------------------------------------------------- */

TEST(parents_up_to_init)
{
	const char *proc = fake_proc("parents");
	static const int pids[] = { 22, 21, 20, 10, 1 };
	struct ancestor list[8];

	ck_assert_int_eq(ancestry_read(proc, 22, list, nitems(list)), 5);
	for (size_t i = 0; i < nitems(pids); i++)
		ck_assert_int_eq(list[i].pid, pids[i]);
	ck_assert_uint_eq(list[2].start_time, 100);
}

TEST(what_has_ended_has_no_parents)
{
	const char *proc = fake_proc("ended");
	struct ancestor list[8];

	ck_assert_int_eq(ancestry_read(proc, 99, list, 8), -ESRCH);
	ck_assert_int_eq(ancestry_read(proc, 0, list, 8), 0);
}

TEST(the_walk_is_bounded)
{
	const char *proc = fake_proc("bounded");
	struct ancestor list[8];

	ck_assert_int_eq(ancestry_read(proc, 22, list, 4), -ELOOP);
	/* Two that are each other's parent. */
	fake(proc, 40, "a", 41, 7);
	fake(proc, 41, "b", 40, 7);
	ck_assert_int_eq(ancestry_read(proc, 40, list, 8), -ELOOP);
}

TEST(a_hidden_parent_ends_the_walk)
{
	const char *proc = fake_proc("hidden");
	struct ancestor list[8];

	fake(proc, 50, "sh", 49, 10);
	ck_assert_int_eq(ancestry_read(proc, 50, list, 8), 1);
}

TEST(a_parent_is_older_than_its_child)
{
	const char *proc = fake_proc("older");
	struct ancestor list[8];

	fake(proc, 60, "new with an old number", 1, 500);
	fake(proc, 61, "sh", 60, 400);
	ck_assert_int_eq(ancestry_read(proc, 61, list, 8), -ESTALE);
}

TEST(real_processes_have_parents)
{
	struct ancestor list[ANCESTRY_MAX];
	int count = ancestry_read(ANCESTRY_PROC, getpid(), list, ANCESTRY_MAX);

	ck_assert_int_ge(count, 1);
	ck_assert_int_eq(list[0].pid, getpid());
	if (count > 1)
		ck_assert_int_eq(list[1].pid, getppid());
}

TEST(a_pidfd_tells_its_process)
{
	pid_t pid = fork();
	cleanup_fd int fd = -1;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	fd = procref_pidfd_open(pid);
	if (fd == -ENOSYS)
		unit_skip("no pidfds");
	ck_assert_int_eq(ancestry_pidfd(ANCESTRY_PROC, fd), pid);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(ancestry_pidfd(ANCESTRY_PROC, fd), -ESRCH);
	ck_assert_int_eq(ancestry_pidfd(ANCESTRY_PROC, 9999), -EBADF);
}

/* --- identity --------------------------------------------------------- */

static int
find(const char *proc, const struct identity_panes *panes, int pid, char **name)
{
	cleanup_free char *root = xstrdup(unit_path("the root"));
	const struct workspace workspace = { .root = root };

	free(take_ptr(name));
	return identity_find(proc, &workspace, panes, pid, -1, name);
}

TEST(descendants_of_a_pane_are_its_sessions)
{
	const char *proc = fake_proc("panes");
	struct identity_pane list[] = { { (char[]){ "adam" }, 20, 100 },
		{ (char[]){ "eve" }, 30, 39 } };
	const struct identity_panes panes = { .list = list, .count = 2 };
	cleanup_free char *name = NULL;

	ck_assert_int_eq(find(proc, &panes, 22, &name), 1);
	ck_assert_str_eq(name, "adam");
	ck_assert_int_eq(find(proc, &panes, 20, &name), 1);
	/* Its number belongs to a person's shell by now. */
	ck_assert_int_eq(find(proc, &panes, 31, &name), 0);
	ck_assert_int_eq(find(proc, &panes, 10, &name), 0);
	ck_assert_int_eq(find(proc, &panes, 99, &name), -ESRCH);
	ck_assert_int_eq(find(proc, &panes, 0, &name), -ESRCH);
}

/* Its keeper has that in its environment, whatever is below. */
TEST(commands_on_the_files_of_a_worker_are_no_people)
{
	const char *proc = fake_proc("command");
	const struct workspace ws = { .root = (char *)(uintptr_t) "/the root" };
	const struct identity_panes none = { 0 };
	cleanup_free char *entry = identity_command("/the root");
	cleanup_free char *other = identity_command("/another root");
	cleanup_free char *name = NULL;

	fake_file(proc, 30, "environ", other, strlen(other) + 1);
	ck_assert_int_eq(identity_find(proc, &ws, &none, 31, -1, &name), 0);
	fake_file(proc, 30, "environ", entry, strlen(entry) + 1);
	ck_assert_int_eq(identity_find(proc, &ws, &none, 31, -1, &name), 1);
	ck_assert_str_eq(name, "a setup or check command");
}

static void
fake_environment(const char *proc, int pid, const char *root, const char *who)
{
	cleanup_free char *text =
	    xasprintf("PATH=/bin%cLLMC_ROOT=%s%cLLMC_WORKER=%s%cLLMC_AGENT=1%c",
		'\1', root, '\1', who, '\1', '\1');
	size_t len = strlen(text);

	for (char *c = text; *c != '\0'; c++)
		if (*c == '\1')
			*c = '\0';
	fake_file(proc, pid, "environ", text, len);
}

TEST(the_outermost_environment_counts)
{
	const char *proc = fake_proc("environment");
	const struct identity_panes none = { 0 };
	cleanup_free char *name = NULL;

	fake_environment(proc, 22, unit_path("the root"), "overseer");
	ck_assert_int_eq(find(proc, &none, 22, &name), 1);
	ck_assert_str_eq(name, "overseer");
	fake_environment(proc, 20, unit_path("the root"), "adam");
	ck_assert_int_eq(find(proc, &none, 22, &name), 1);
	ck_assert_str_eq(name, "adam");
	/* An agent of another repository is a person here. */
	fake_environment(proc, 30, "/another/root", "adam");
	ck_assert_int_eq(find(proc, &none, 31, &name), 0);
}

static void
write_file(
    const struct workspace *workspace, const char *name, const char *text)
{
	cleanup_free char *path = workspace_path(workspace, name);

	ck_assert_int_eq(file_mkdirs(workspace->dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

/* In place, which nobody does, and with the old time: not noticed. */
static void
overwrite(const char *path, const char *begin)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(pwrite(fd, begin, strlen(begin), 0), strlen(begin));
	ck_assert_int_eq(
	    futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
}

TEST(a_file_is_read_again_when_it_has_changed)
{
	cleanup_free char *root = xstrdup(unit_path("again"));
	cleanup_free char *dir = file_join(root, ".llmc");
	cleanup_free char *path = file_join(dir, "overseer.json");
	const struct workspace workspace = { .root = root, .dir = dir };
	struct identity_panes panes = { 0 };
	struct identity_files files = { 0 };
	struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *text = NULL;

	identity_add_repair(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 0);
	ck_assert_int_eq(procref_set_self(&self), 0);
	json = procref_to_json(&self);
	procref_release(&self);
	text =
	    xasprintf("{\"repair_pane\":%s}", json_object_to_json_string(json));
	write_file(&workspace, "overseer.json", text);
	identity_add_repair(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 1);
	overwrite(path, "no");
	identity_add_repair(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 2);
	write_file(&workspace, "overseer.json", "{}");
	identity_add_repair(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 2);
	/* What could not be read is read again even so. */
	text[0] = 'x';
	write_file(&workspace, "overseer.json", text);
	identity_add_repair(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 2);
	overwrite(path, "{");
	identity_add_repair(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 3);
	identity_files_release(&files);
	identity_release(&panes);
}

TEST(panes_are_read_from_the_files)
{
	cleanup_free char *root = xstrdup(unit_path("files"));
	cleanup_free char *dir = file_join(root, ".llmc");
	const struct workspace workspace = { .root = root, .dir = dir };
	struct identity_panes panes = { 0 };
	struct identity_files files = { 0 };
	ended_by(procref_release) struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *text = NULL, *name = NULL;

	identity_add_all(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 0);
	ck_assert_int_eq(identity_own(&workspace, &name), 0);
	ck_assert_int_eq(procref_set_self(&self), 0);
	json = procref_to_json(&self);
	text = xasprintf("{\"panes\":{\"adam\":%s,\"eve\":null,\"odd\":3,"
			 "\"old\":{\"pid\":%d,\"start_time\":1,"
			 "\"boot_id\":"
			 "\"00000000-0000-0000-0000-000000000000\"}}}",
	    json_object_to_json_string(json), (int)getpid());
	write_file(&workspace, "panes.json", text);
	ck_assert_int_eq(identity_own(&workspace, &name), 1);
	ck_assert_str_eq(name, "adam");
	identity_add_all(&panes, &workspace, &files);
	ck_assert_uint_eq(panes.count, 1);
	identity_files_release(&files);
	identity_release(&panes);
	write_file(&workspace, "panes.json", "{");
	free(take_ptr(&text));
	text =
	    xasprintf("{\"repair_pane\":%s}", json_object_to_json_string(json));
	write_file(&workspace, "overseer.json", text);
	free(take_ptr(&name));
	ck_assert_int_eq(identity_own(&workspace, &name), 1);
	ck_assert_str_eq(name, "overseer");
}
