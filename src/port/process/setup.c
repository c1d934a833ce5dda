/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "box.h"
#include "child.h"
#include "copy.h"
#include "git.h"
#include "id.h"
#include "identity.h"
#include "loop.h"
#include "orphans.h"
#include "place.h"
#include "setup.h"
#include "sibling.h"
#include "worker.h"
#include "workspace.h"

#define STAMP_MAX  8192
#define TAIL_BYTES 300 /* of the output of a failed command */
#define LOG_MAX    (1024 * 1024)
#define SHOWN_MAX  120 /* of what is shown of it while it runs */
#define WHEN_MAX   ((int64_t)256 * 1024 * 1024) /* of one file */
#define HASH_SIZE  17

struct setup {
	struct git *git;
	struct loop *loop;
	struct loop_call *start;
	struct copy *copy;
	struct child *run; /* a helper, or the command */
	char *root, *worktree, *stamp, *command;
	char **copy_files, **box, **when, **seed, **env;
	bool trusts_others, look_only;
	int64_t timeout_ms;
	char *mark; /* the first line of the stamp */
	char old[2][HASH_SIZE]; /* with which it was done; "" = it was not */
	char hash[2][HASH_SIZE]; /* of the files, before and after */
	char times[HASH_SIZE]; /* when the last of these was begun */
	size_t at; /* the next of the steps */
	int log; /* -1 = none */
	size_t logged;
	struct buf seeded; /* what the helper said about folders */
	struct buf line, shown; /* the last lines of its output */
	setup_fn *fn;
	void *arg;
};

/* Settings and worktree in one line. Each text is preceded by its length, so
 * that no two lists look the same; a folder that was created again has another
 * inode or another time of birth. NULL if there is no worktree. */
static char *
make_mark(const struct setup_spec *spec)
{
	cleanup_buf struct buf all = BUF_INIT;
	struct statx st = { 0 };
	char hash[HASH_SIZE];

	if (statx(AT_FDCWD, spec->worktree, 0, STATX_INO | STATX_BTIME, &st) ==
	    -1)
		return NULL;
	for (const char *const *f = spec->copy_files; f != NULL && *f != NULL;
	     f++)
		buf_addf(&all, "%zu:%s", strlen(*f), *f);
	buf_addf(&all, "/%zu:%s/", strlen(spec->command), spec->command);
	id_hash(all.data, hash, HASH_SIZE - 1);
	return xasprintf("%s %x:%x:%llu %lld.%09u", hash, st.stx_dev_major,
	    st.stx_dev_minor, (unsigned long long)st.stx_ino,
	    (long long)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
}

/* --- the files with whose contents it is done --------------------------- */

/* Of their times and sizes: as long as it is the same, so are they. */
static void
hash_times(const char *tree, const char *const *when, char ret_hash[HASH_SIZE])
{
	cleanup_buf struct buf all = BUF_INIT;

	for (; when != NULL && *when != NULL; when++) {
		cleanup_free char *path = file_join(tree, *when);
		struct stat st = { 0 };

		if (lstat(path, &st) == -1)
			memset(&st, 0, sizeof st);
		buf_addf(&all, "%zu:%s %llu %lld %lld.%09ld %lld.%09ld\n",
		    strlen(*when), *when, (unsigned long long)st.st_ino,
		    (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		    st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
		    st.st_ctim.tv_nsec);
	}
	id_hash(all.data, ret_hash, HASH_SIZE - 1);
}

/* Of their names and contents; one that is not there, or no file, has none.
 * Waits: for helpers. */
static void
hash_contents(
    const char *tree, const char *const *when, char ret_hash[HASH_SIZE])
{
	static char bytes[128 * 1024];
	cleanup_buf struct buf all = BUF_INIT;

	for (; when != NULL && *when != NULL; when++) {
		cleanup_free char *path = file_join(tree, *when);
		cleanup_fd int fd =
		    open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
		int64_t size = 0;
		struct stat st;
		ssize_t n;

		if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
			buf_addf(&all, "%zu:%s none\n", strlen(*when), *when);
			continue;
		}
		while (size < WHEN_MAX &&
		    (n = read(fd, bytes, sizeof bytes)) > 0) {
			for (ssize_t i = 0; i < n; i++)
				sum = (sum ^ (unsigned char)bytes[i]) *
				    UINT64_C(0x100000001b3);
			size += n;
		}
		buf_addf(&all, "%zu:%s %lld %016llx\n", strlen(*when), *when,
		    (long long)size, (unsigned long long)sum);
	}
	id_hash(all.data, ret_hash, HASH_SIZE - 1);
}

/* --- the stamp ------------------------------------------------------------ */

struct stamp {
	struct buf text;
	char *mark;
	char *hash[2], *times, *tree; /* NULL = it is damaged */
};

/* A line with the mark; one with the hashes of contents before and after, and
 * of times; the worktree. */
static bool
stamp_read(const char *path, struct stamp *ret)
{
	char *rest;

	*ret = (struct stamp){ .text = BUF_INIT };
	if (file_read(path, STAMP_MAX, &ret->text, NULL) < 0)
		return false;
	rest = ret->text.data;
	ret->mark = strsep(&rest, "\n");
	ret->hash[0] = strsep(&rest, " ");
	ret->hash[1] = strsep(&rest, " ");
	ret->times = strsep(&rest, "\n");
	ret->tree = rest;
	if (rest == NULL)
		ret->hash[0] = ret->hash[1] = ret->times = NULL;
	else if (*rest != '\0')
		rest[strlen(rest) - 1] = '\0'; /* its end of line */
	return true;
}

bool
setup_is_due(const struct setup_spec *spec)
{
	cleanup_free char *mark = NULL;
	char times[HASH_SIZE];
	struct stamp stamp;
	bool due = true;

	if ((spec->copy_files == NULL || spec->copy_files[0] == NULL) &&
	    *spec->command == '\0')
		return false;
	if (stamp_read(spec->stamp, &stamp)) {
		mark = make_mark(spec);
		hash_times(spec->worktree, spec->when, times);
		due = !text_is(mark, stamp.mark) ||
		    (spec->when != NULL && spec->when[0] != NULL &&
			!text_is(stamp.times, times));
	}
	buf_release(&stamp.text);
	return due;
}

enum {
	STEP_LOOK,
	STEP_COPY,
	STEP_COMMAND,
	STEP_AFTER,
	STEP_STAMP
};

static void setup_advance(void *arg);

static void
setup_finish(struct setup *setup, const struct err *err)
{
	setup->fn(err, setup->arg); /* may free it */
}

static void
copy_done(const struct err *err, void *arg)
{
	struct setup *setup = arg;

	if (err != NULL)
		setup_finish(setup, err);
	else
		setup_advance(setup);
}

/* --- the helper: what is the case, and folders -------------------------- */

/* Words about what it does, for the log and for those who look. */
static void
say(const char *bytes, size_t len, void *arg)
{
	struct setup *setup = arg;
	size_t room = LOG_MAX - setup->logged;
	size_t fits = len < room ? len : room;

	if (setup->log >= 0 && file_write_all(setup->log, bytes, fits) < 0)
		setup->log = fd_close(setup->log);
	setup->logged += fits;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != '\n' && bytes[i] != '\r') {
			if (setup->line.len < SHOWN_MAX)
				buf_addc(&setup->line, bytes[i]);
		} else if (setup->line.len > 0) {
			/* It is shown until the next one has ended. */
			buf_clear(&setup->shown);
			text_add_visible(&setup->shown, setup->line.data,
			    setup->line.len, false);
			buf_clear(&setup->line);
		}
	}
}

static int
seed_one(const struct setup *setup, const char *path, int64_t until_ms)
{
	cleanup_free char *folder = xstrdup(setup->stamp);
	cleanup_strv char **from = NULL;
	char hash[HASH_SIZE];
	cleanup_dir DIR *list = NULL;
	const char *name;

	hash_contents(setup->root, strv_const(setup->when), hash);
	if (strcmp(hash, setup->hash[0]) == 0)
		strv_add(&from, setup->root);
	*strrchr(folder, '/') = '\0';
	list = setup->trusts_others ? opendir(folder) : NULL;
	while ((name = dir_next(list)) != NULL) {
		cleanup_free char *file = file_join(folder, name);
		struct stamp other;

		/* Nor those of check slots, and not its own. */
		if (strchr(name, '.') != NULL ||
		    strcmp(file, setup->stamp) == 0)
			continue;
		if (stamp_read(file, &other) && other.tree != NULL &&
		    (strcmp(other.hash[0], setup->hash[0]) == 0 ||
			strcmp(other.hash[1], setup->hash[0]) == 0))
			strv_add(&from, other.tree);
		buf_release(&other.text);
	}
	for (size_t i = 0; from != NULL && from[i] != NULL; i++) {
		int64_t began = clock_mono_ms();
		struct seed_result result;
		struct err err = { 0 };
		int r = seed_folder(
		    from[i], setup->worktree, path, until_ms, &result, &err);

		if (r == -EEXIST)
			return 0;
		if (r == -ENOENT)
			continue;
		if (r < 0)
			printf(
			    "seed_from: %s is not copied: %s\n", path, err.msg);
		else
			printf("seed_from: %zu files of %s %s from %s in %lld "
			       "ms\n",
			    result.files, path,
			    result.cloned > 0 ? "cloned" : "copied", from[i],
			    (long long)(clock_mono_ms() - began));
		return r;
	}
	printf("seed_from: no %s with the same lock files to copy\n", path);
	return 0;
}

/* In a helper: the hash of the files; and if it is to be done, the folders. A
 * folder that cannot be copied is left to the command. */
static int
look(void *arg)
{
	struct setup *setup = arg;
	cleanup_free char *mark = xasprintf("%s.seed", setup->stamp);
	int64_t until_ms = clock_mono_ms() + setup->timeout_ms / 2;
	bool killed = file_exists(mark);

	hash_contents(setup->worktree, strv_const(setup->when), setup->hash[0]);
	printf("%s\n", setup->hash[0]);
	if (strcmp(setup->hash[0], setup->old[0]) == 0 ||
	    strcmp(setup->hash[0], setup->old[1]) == 0 || setup->look_only ||
	    setup->at != STEP_LOOK + 1 || strv_count(setup->seed) == 0)
		return fflush(stdout) == 0 ? 0 : 1;
	/* What was begun and not ended is not whole. */
	for (char **path = setup->seed; killed && *path != NULL; path++)
		remove_tree_below(setup->worktree, *path);
	if (file_replace(mark, "", 0, 0600, NULL) < 0)
		return 1;
	for (char **path = setup->seed; *path != NULL; path++)
		seed_one(setup, *path, until_ms);
	unlink(mark);
	return fflush(stdout) == 0 ? 0 : 1;
}

static void
helper_done(const struct child_result *result, void *arg)
{
	struct setup *setup = arg;
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	char *hash = setup->hash[setup->at > STEP_LOOK + 1];
	struct err err;

	setup->run = NULL;
	child_output_text(&result->out, &text);
	if (!child_succeeded(result) || text.len < HASH_SIZE) {
		child_result_describe(result, &words);
		err_set(&err, -ECHILD, WORKER_SETUP_FAILED ": its helper %s",
		    words.data);
		setup_finish(setup, &err);
		return;
	}
	snprintf(hash, HASH_SIZE, "%s", text.data);
	if (setup->at == STEP_LOOK + 1 && setup->old[0][0] != '\0' &&
	    (strcmp(hash, setup->old[0]) == 0 ||
		strcmp(hash, setup->old[1]) == 0)) {
		/* Only their times are others. */
		memcpy(setup->hash, setup->old, sizeof setup->hash);
		setup->at = STEP_STAMP;
	} else if (setup->look_only) {
		err_set(&err, -ESTALE, "it has to be set up again");
		setup_finish(setup, &err);
		return;
	} else {
		buf_adds(&setup->seeded, text.data + HASH_SIZE);
	}
	setup_advance(setup);
}

static int
helper_begin(struct setup *setup, struct err *err)
{
	const struct child_spec spec = { .call = look,
		.call_arg = setup,
		.deadline_ms = setup->timeout_ms };
	int r;

	/* Before they are read: what changes meanwhile is looked at again. */
	hash_times(setup->worktree, strv_const(setup->when), setup->times);
	r = child_spawn(
	    setup->loop, &spec, helper_done, setup, &setup->run, err);
	return r < 0 ? err_prefix(err, WORKER_SETUP_FAILED) : 1;
}

static int
step_look(struct setup *setup, struct err *err)
{
	return strv_count(setup->when) + strv_count(setup->seed) > 0 ?
	    helper_begin(setup, err) :
	    0;
}

/* --- copies and the command --------------------------------------------- */

static int
step_copy(struct setup *setup, struct err *err)
{
	cleanup_free char *log = xasprintf("%s.log", setup->stamp);

	(void)err;
	/* Whoever is killed from here on has not done it. */
	unlink(setup->stamp);
	setup->log =
	    file_open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	say(setup->seeded.data, setup->seeded.len, setup);
	if (setup->copy_files[0] == NULL)
		return 0;
	setup->copy = copy_begin(setup->git, setup->worktree,
	    strv_const(setup->copy_files), copy_done, setup);
	return 1;
}

/* The end of the output on one line, which usually says what is wrong. */
static void
add_tail(struct buf *out, const struct child_output *output)
{
	cleanup_buf struct buf text = BUF_INIT, line = BUF_INIT;
	size_t skip;

	child_output_text(output, &text);
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (strchr(" \t\r\n", c) == NULL || c == '\0')
			buf_addc(&line, c);
		else if (line.len > 0 && line.data[line.len - 1] != ' ')
			buf_addc(&line, ' ');
	}
	skip = line.len > TAIL_BYTES ? line.len - TAIL_BYTES : 0;
	/* Not from the middle of a character. */
	while (skip > 0 && skip < line.len && (line.data[skip] & 0xc0) == 0x80)
		skip++;
	if (line.len > 0 && line.data[line.len - 1] == ' ')
		buf_truncate(&line, line.len - 1);
	if (line.len == 0)
		return;
	buf_adds(out, skip > 0 ? ": ..." : ": ");
	text_add_visible(out, line.data + skip, line.len - skip, false);
}

static void
command_done(const struct child_result *result, void *arg)
{
	struct setup *setup = arg;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	setup->run = NULL;
	if (child_succeeded(result)) {
		setup_advance(setup);
		return;
	}
	if (result->start_error < 0) {
		err_errno(&err, result->start_error,
		    WORKER_SETUP_FAILED " cannot be started in %s",
		    setup->worktree);
	} else {
		child_result_describe(result, &words);
		add_tail(&words, &result->out);
		err_set(&err, -ECHILD, WORKER_SETUP_FAILED " %s", words.data);
	}
	setup_finish(setup, &err);
}

static int
step_command(struct setup *setup, struct err *err)
{
	cleanup_free char *whose = identity_command(setup->root);
	/* It must find the worktree's repository, whatever our environment. */
	const char *const own[] = { "GIT_DIR", "GIT_WORK_TREE",
		"GIT_INDEX_FILE", whose, NULL };
	cleanup_strv char **env = strv_copy(own);
	cleanup_free char *command =
	    box_shell(strv_const(setup->box), setup->command);
	cleanup_strv char **argv = kept_shell(command, 0);
	struct child_spec spec = { .argv = strv_const(argv),
		.cwd = setup->worktree,
		.said = say,
		.deadline_ms = setup->timeout_ms,
		.merge_stderr = true };
	int r;

	if (*setup->command == '\0')
		return 0;
	strv_add_all(&env, strv_const(setup->env));
	spec.env = strv_const(env);
	r = child_spawn(
	    setup->loop, &spec, command_done, setup, &setup->run, err);
	if (r < 0)
		return err_prefix(err, WORKER_SETUP_FAILED);
	return 1;
}

/* A command may write one of the files itself (npm install): with both contents
 * it is done. */
static int
step_after(struct setup *setup, struct err *err)
{
	return strv_count(setup->when) > 0 ? helper_begin(setup, err) : 0;
}

static int
step_stamp(struct setup *setup, struct err *err)
{
	cleanup_free char *text = xasprintf("%s\n%s %s %s\n%s\n", setup->mark,
	    setup->hash[0], setup->hash[1], setup->times, setup->worktree);

	return file_replace(setup->stamp, text, strlen(text), 0600, err);
}

/* 0 = done, continue with the next; 1 = setup_advance() is called when it is
 * done. */
typedef int setup_step_fn(struct setup *setup, struct err *err);

static setup_step_fn *const steps[] = {
	[STEP_LOOK] = step_look,
	[STEP_COPY] = step_copy,
	[STEP_COMMAND] = step_command,
	[STEP_AFTER] = step_after,
	[STEP_STAMP] = step_stamp,
};

static void
setup_advance(void *arg)
{
	struct setup *setup = arg;
	struct err err = { 0 };
	int r = 0;

	if (setup->mark == NULL)
		r = err_set(
		    &err, -ENOENT, "there is no worktree %s", setup->worktree);
	while (r == 0 && setup->at < nitems(steps))
		r = steps[setup->at++](setup, &err);
	if (r <= 0)
		setup_finish(setup, r < 0 ? &err : NULL);
}

struct setup *
setup_begin(const struct setup_spec *spec, setup_fn *fn, void *arg)
{
	struct setup *setup = xcalloc(1, sizeof *setup);
	struct stamp stamp;

	setup->log = -1;
	buf_init(&setup->seeded);
	buf_init(&setup->line);
	buf_init(&setup->shown);
	setup->when = spec->when != NULL ? strv_copy(spec->when) : NULL;
	setup->seed = spec->seed != NULL ? strv_copy(spec->seed) : NULL;
	setup->env = spec->env != NULL ? strv_copy(spec->env) : NULL;
	setup->trusts_others = spec->trusts_others;
	setup->look_only = spec->look_only;
	setup->copy_files = strv_copy(spec->copy_files);
	if (spec->box != NULL)
		setup->box = strv_copy(spec->box);
	setup->git = spec->git;
	setup->loop = git_loop(spec->git);
	setup->root = xstrdup(git_root(spec->git));
	setup->worktree = xstrdup(spec->worktree);
	setup->stamp = xstrdup(spec->stamp);
	setup->command = xstrdup(spec->command);
	setup->timeout_ms = spec->timeout_ms;
	setup->fn = fn;
	setup->arg = arg;
	/* Now: a worktree that is created again meanwhile is due again. */
	setup->mark = make_mark(spec);
	if (stamp_read(spec->stamp, &stamp) && stamp.tree != NULL &&
	    strv_count(setup->when) > 0 && text_is(setup->mark, stamp.mark))
		for (int i = 0; i < 2; i++)
			snprintf(setup->old[i], HASH_SIZE, "%s", stamp.hash[i]);
	buf_release(&stamp.text);
	setup->start = loop_call_new(setup->loop, setup_advance, setup);
	loop_call_request(setup->start);
	return setup;
}

void
setup_free(struct setup *setup)
{
	if (setup == NULL)
		return;
	copy_free(setup->copy);
	if (setup->run != NULL)
		child_abandon(setup->run);
	fd_close(setup->log);
	buf_release(&setup->seeded);
	buf_release(&setup->line);
	buf_release(&setup->shown);
	strv_free(setup->when);
	strv_free(setup->seed);
	strv_free(setup->env);
	loop_call_free(setup->start);
	strv_free(setup->copy_files);
	strv_free(setup->box);
	free(setup->root);
	free(setup->worktree);
	free(setup->stamp);
	free(setup->command);
	free(setup->mark);
	free(setup);
}

const char *
setup_progress(const struct setup *setup)
{
	return setup->shown.data;
}

char *
workplace_tmpdir(const struct workspace *workspace, int index)
{
	cleanup_free char *name = xasprintf("tmp/%d", index);

	return workspace_path(workspace, name);
}

int
workplace_make(const struct workspace *workspace,
    const struct settings *settings, const char *name, int index,
    struct workplace *ret_place, struct err *err)
{
	struct workplace made = { .tmpdir =
				      workplace_tmpdir(workspace, index) };
	int r = file_mkdirs(made.tmpdir, 0700, err);

	if (r < 0) {
		workplace_release(&made);
		return r;
	}
	place_env(
	    &(struct place){
		.worker = name, .index = index, .tmpdir = made.tmpdir },
	    settings, &made.env);
	*ret_place = made;
	return 0;
}

void
workplace_release(struct workplace *place)
{
	free(take_ptr(&place->tmpdir));
	strv_clear(&place->env);
}

int
workplace_busy_port(const struct settings *settings, int index)
{
	int first = place_port(settings, index);

	for (int port = first; port < first + PLACE_PORTS; port++) {
		cleanup_fd int fd =
		    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in at = { .sin_family = AF_INET,
			.sin_port = htons((uint16_t)port),
			.sin_addr.s_addr = htonl(INADDR_ANY) };
		int on = 1;

		/* Connections that have ended block no port. */
		if (fd != -1 &&
		    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ==
			0 &&
		    bind(fd, (struct sockaddr *)&at, sizeof at) == -1 &&
		    errno == EADDRINUSE)
			return port;
	}
	return 0;
}

/* --- who listens --------------------------------------------------------- */

#define TABLE_MAX   ((size_t)16 * 1024 * 1024)
#define SOCKETS_MAX 4096 /* of one process */

/* The inodes of a process' sockets. */
static size_t
sockets_of(const char *proc, unsigned long long *list, size_t max)
{
	cleanup_free char *folder = file_join(proc, "fd");
	cleanup_dir DIR *dir = opendir(folder);
	const char *name;
	size_t count = 0;

	while (count < max && (name = dir_next(dir)) != NULL) {
		char text[64];
		ssize_t n = readlinkat(dirfd(dir), name, text, sizeof text - 1);

		text[n > 0 ? n : 0] = '\0';
		if (sscanf(text, "socket:[%llu]", &list[count]) == 1)
			count++;
	}
	return count;
}

/* Those of them that listen, by a table of the process' own network: "0:
 * 0100007F:4E34 00000000:0000 0A ... INODE". */
static void
add_listeners(const char *proc, const char *table, pid_t pid,
    const unsigned long long *sockets, size_t count, struct json_object *list)
{
	cleanup_free char *path = file_join(proc, table);
	cleanup_free char *name_file = file_join(proc, "comm");
	cleanup_buf struct buf text = BUF_INIT, name = BUF_INIT;
	char *rest, *line;

	if (file_read(path, TABLE_MAX, &text, NULL) < 0)
		return;
	file_read(name_file, 64, &name, NULL);
	buf_truncate(&name, strcspn(name.data, "\n"));
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		unsigned long long inode;
		unsigned port, state;
		size_t i = 0;

		if (sscanf(line,
			"%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s "
			"%*s %*d %*d %llu",
			&port, &state, &inode) != 3 ||
		    state != 0x0a) /* TCP_LISTEN */
			continue;
		while (i < count && sockets[i] != inode)
			i++;
		if (i < count) {
			struct json_object *row = json_object_new_object();

			json_set_int(row, "port", port);
			json_set_int(row, "pid", pid);
			json_set_string(row, "program", name.data);
			json_object_array_add(list, row);
		}
	}
}

struct json_object *
workplace_listeners(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *mark = orphans_mark(workspace, worker);
	cleanup_free unsigned long long *sockets =
	    xcalloc(SOCKETS_MAX, sizeof *sockets);
	struct json_object *list = json_object_new_array();
	cleanup_dir DIR *dir = opendir("/proc");
	const char *name;

	while ((name = dir_next(dir)) != NULL) {
		cleanup_free char *proc = NULL;
		int64_t pid;
		size_t count;

		if (!text_parse_int(name, 1, INT32_MAX, &pid) ||
		    !mark_is_on((pid_t)pid, mark))
			continue;
		proc = file_join("/proc", name);
		count = sockets_of(proc, sockets, SOCKETS_MAX);
		if (count == 0)
			continue;
		add_listeners(
		    proc, "net/tcp", (pid_t)pid, sockets, count, list);
		add_listeners(
		    proc, "net/tcp6", (pid_t)pid, sockets, count, list);
	}
	return list;
}
