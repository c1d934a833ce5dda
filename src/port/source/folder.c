/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "id.h"
#include "prompt.h"
#include "source-private.h"
#include "taskfile.h"

#define WHY_SUFFIX  ".why"
#define NOTE_SUFFIX ".by"
#define NOTE_MAX    4096
#define NOTE_HASH   16
#define NAME_TRIES  10000

/* Cleaning removes bytes (CR, control characters), but at most half of a text.
 */
#define READ_MAX (2 * (size_t)PROMPT_MAX)
#define SKEW_MS  1000 /* further in the future: set by another clock */
#define BOM      "\xef\xbb\xbf"

static const char *const places[] = {
	[FOLDER_TODO] = "todo",
	[FOLDER_DOING] = "doing",
	[FOLDER_DONE] = "done",
	[FOLDER_FAILED] = "failed",
	[FOLDER_TRASH] = "trash",
};

_Static_assert(
    nitems(places) == FOLDER_PLACE_COUNT, "every place has its name");

const char *
folder_place_name(enum folder_place place)
{
	return places[place];
}

char *
folder_path(const char *where, enum folder_place place, const char *name)
{
	return xasprintf("%s/%s/%s", where, places[place], name);
}

char *
folder_why_path(const char *where, enum folder_place place, const char *name)
{
	return xasprintf("%s/%s/%s" WHY_SUFFIX, where, places[place], name);
}

int
folder_make(const char *where, struct err *err)
{
	for (size_t i = 0; i < nitems(places); i++) {
		cleanup_free char *path = file_join(where, places[i]);
		int r;

		r = file_mkdirs(path, 0755, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- names ------------------------------------------------------------ */

bool
folder_is_task(const char *name)
{
	static const char *const suffixes[] = { "~", ".tmp", ".swp",
		WHY_SUFFIX };

	if (*name == '\0' || *name == '.' || strchr(name, '/') != NULL)
		return false;
	for (size_t i = 0; i < nitems(suffixes); i++) {
		if (text_ends(name, suffixes[i]))
			return false;
	}
	return true;
}

struct arrival {
	char *name;
	struct timespec at; /* 0 if the order does not depend on it */
};

static int
compare_arrivals(const void *one, const void *other)
{
	const struct arrival *a = one, *b = other;

	if (a->at.tv_sec != b->at.tv_sec)
		return a->at.tv_sec > b->at.tv_sec ? -1 : 1;
	if (a->at.tv_nsec != b->at.tv_nsec)
		return a->at.tv_nsec > b->at.tv_nsec ? -1 : 1;
	return natural_compare(a->name, b->name);
}

/* ctime is when a file was moved here. */
static struct arrival *
read_arrivals(DIR *dir, bool stamps, size_t *ret_count)
{
	struct arrival *list = NULL;
	const char *name;
	size_t count = 0, cap = 0;
	struct stat st;

	while (dir != NULL && (name = dir_next(dir)) != NULL) {
		if (!folder_is_task(name))
			continue;
		if (count == cap) {
			cap = cap == 0 ? 64 : cap * 2;
			list = xreallocarray(list, cap, sizeof *list);
		}
		list[count] = (struct arrival){ .name = xstrdup(name) };
		if (stamps &&
		    fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			list[count].at = st.st_ctim;
		count++;
	}
	*ret_count = count;
	return list;
}

int
folder_names(const char *where, enum folder_place place, bool newest_first,
    char ***ret_names, struct err *err)
{
	cleanup_free char *path = file_join(where, places[place]);
	cleanup_dir DIR *dir = opendir(path);
	cleanup_free struct arrival *list = NULL;
	size_t count = 0;

	if (dir == NULL && errno != ENOENT)
		return err_errno(err, -errno, "%s", path);
	list = read_arrivals(dir, newest_first, &count);
	if (count > 0)
		qsort(list, count, sizeof *list, compare_arrivals);
	*ret_names = xcalloc(count + 1, sizeof **ret_names);
	for (size_t i = 0; i < count; i++)
		(*ret_names)[i] = list[i].name;
	return 0;
}

bool
folder_has(const char *where, enum folder_place place, const char *name)
{
	cleanup_free char *path = folder_path(where, place, name);

	return file_exists(path);
}

/* --- reading ---------------------------------------------------------- */

/* Is it open for writing? The kernel grants a lease for reading only if it is
 * not; where there are no leases, the answer is not known. */
static bool
has_writer(const char *path)
{
	cleanup_fd int fd =
	    open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	/* A process that opens it right now waits for us, and we would get
	 * SIGIO, which ends a process; SIGURG is ignored. */
	if (fd == -1 || fcntl(fd, F_SETSIG, SIGURG) == -1)
		return false;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == -1)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

bool
folder_is_settled(const char *where, enum folder_place place, const char *name)
{
	cleanup_free char *path = folder_path(where, place, name);
	struct stat st;
	int64_t age;

	if (lstat(path, &st) == -1 || !S_ISREG(st.st_mode))
		return true;
	age = clock_wall_ms() - clock_file_ms(&st.st_mtim);
	return (age >= SOURCE_SETTLED_MS || age < -SKEW_MS) &&
	    !has_writer(path);
}

static enum folder_reading
read_problem(int error, struct buf *words)
{
	if (error == -ENOENT)
		return FOLDER_GONE;
	if (source_base_is_shortage(error))
		return FOLDER_SHORTAGE;
	buf_addf(words, "%s", strerror(-error));
	return FOLDER_PROBLEM;
}

enum folder_reading
folder_read(const char *where, enum folder_place place, const char *name,
    struct task_head *head, struct buf *text, struct buf *words)
{
	cleanup_free char *path = folder_path(where, place, name);
	cleanup_buf struct buf raw = BUF_INIT;
	struct stat before, after;
	int r;

	if (lstat(path, &before) == -1)
		return read_problem(-errno, words);
	if (!S_ISREG(before.st_mode)) {
		buf_adds(words, "it is not a regular file");
		return FOLDER_PROBLEM;
	}
	/* It becomes the task's key, which goes into JSON. */
	if (!text_utf8_valid(name, strlen(name))) {
		buf_adds(words, "its name is not UTF-8");
		return FOLDER_PROBLEM;
	}
	r = file_read(path, READ_MAX, &raw, NULL);
	if (r == -EFBIG) {
		buf_adds(words, "it is longer than 1 MiB");
		return FOLDER_PROBLEM;
	}
	if (r < 0)
		return read_problem(r, words);
	if (lstat(path, &after) == -1)
		return read_problem(-errno, words);
	if (!file_is_same(&before, &after))
		return FOLDER_UNSETTLED;
	{
		cleanup_buf struct buf clean = BUF_INIT;
		cleanup_json struct json_object *contract = NULL;
		const char *s = raw.data, *prompt = "";
		size_t len = raw.len;
		struct err err = { 0 };

		if (len >= strlen(BOM) && memcmp(s, BOM, strlen(BOM)) == 0) {
			s += strlen(BOM);
			len -= strlen(BOM);
		}
		if (!text_utf8_valid(s, len) || memchr(s, '\0', len) != NULL) {
			buf_adds(words, "it is not valid UTF-8 text");
			return FOLDER_PROBLEM;
		}
		if (prompt_clean(s, len, &clean))
			prompt = task_head_read(clean.data, head);
		if (*prompt == '\0') {
			buf_adds(words,
			    len > PROMPT_MAX ? "it is longer than 1 MiB" :
					       "it is empty");
			return FOLDER_PROBLEM;
		}
		if (task_head_contract(head, &contract, &err) < 0) {
			buf_adds(words, err.msg);
			return FOLDER_PROBLEM;
		}
		buf_adds(text, prompt);
		return FOLDER_READ;
	}
}

/* --- moving ----------------------------------------------------------- */

static int
sync_dir_of(const char *path, struct err *err)
{
	cleanup_free char *dir =
	    xstrndup(path, (size_t)(strrchr(path, '/') - path));
	cleanup_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1 || fsync(fd) == -1)
		return err_errno(err, -errno, "%s", dir);
	return 0;
}

/* Rename without overwriting anything. */
static int
rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system cannot do it in one step. */
	if (file_exists(to))
		return -EEXIST;
	return rename(from, to) == -1 ? -errno : 0;
}

static int
move(const char *from, const char *to, struct err *err)
{
	int r = rename_new(from, to);

	if (r < 0)
		return err_errno(err, r, "cannot move %s to %s", from, to);
	r = sync_dir_of(to, err);
	return r < 0 ? r : sync_dir_of(from, err);
}

/* "fix.md" is followed by "fix-2.md". */
static char *
numbered_name(const char *name, int number)
{
	cleanup_free char *suffix = xasprintf("-%d", number);
	const char *dot = strrchr(name, '.');
	size_t len, room;

	if (number < 2)
		return xstrdup(name);
	if (dot == NULL || dot == name || strlen(dot) > 16)
		dot = name + strlen(name);
	len = (size_t)(dot - name);
	room = NAME_MAX - strlen(suffix) - strlen(dot);
	return xasprintf(
	    "%.*s%s%s", (int)text_cut(name, len, room), name, suffix, dot);
}

int
folder_move_in(const char *path, const char *where, enum folder_place to,
    const char *name, char **ret_name, struct err *err)
{
	int r = -EEXIST;

	for (int i = 1; i <= NAME_TRIES; i++) {
		cleanup_free char *other = numbered_name(name, i);
		cleanup_free char *target = folder_path(where, to, other);

		r = move(path, target, err);
		if (r == -EEXIST)
			continue;
		if (r == 0 && ret_name != NULL)
			*ret_name = take_ptr(&other);
		return r;
	}
	return r;
}

int
folder_move(const char *where, enum folder_place from, const char *name,
    enum folder_place to, char **ret_name, struct err *err)
{
	cleanup_free char *path = folder_path(where, from, name);

	return folder_move_in(path, where, to, name, ret_name, err);
}

int
folder_move_exact(const char *where, enum folder_place from,
    enum folder_place to, const char *name, struct err *err)
{
	cleanup_free char *path = folder_path(where, from, name);
	cleanup_free char *target = folder_path(where, to, name);

	return move(path, target, err);
}

/* --- notes ------------------------------------------------------------ */

/* A hash, because the name itself may be too long already. */
static char *
note_path(const char *where, const char *name)
{
	char hash[NOTE_HASH + 1];

	id_hash(name, hash, NOTE_HASH);
	return xasprintf(
	    "%s/%s/.%s" NOTE_SUFFIX, where, places[FOLDER_DOING], hash);
}

struct json_object *
folder_note_load(const char *where, const char *name)
{
	cleanup_free char *path = note_path(where, name);
	cleanup_json struct json_object *note = NULL;

	if (json_load(path, NOTE_MAX, &note, NULL) < 0 ||
	    strcmp(json_string_or(note, "task", ""), name) != 0)
		return NULL;
	return take_ptr(&note);
}

int
folder_note_save(const char *where, const char *name, const char *owner,
    const char *worker, struct err *err)
{
	cleanup_free char *path = note_path(where, name);
	cleanup_json struct json_object *note = json_object_new_object();

	json_set_string(note, "task", name);
	json_set_string(note, "owner", owner);
	if (worker != NULL)
		json_set_string(note, "worker", worker);
	return json_save(path, note, 0600, err);
}

void
folder_note_remove(const char *where, const char *name)
{
	cleanup_free char *path = note_path(where, name);

	unlink(path);
}

static bool
is_stale_note(const char *where, const char *path, const char *owner)
{
	cleanup_json struct json_object *note = NULL;

	return json_load(path, NOTE_MAX, &note, NULL) == 0 &&
	    strcmp(json_string_or(note, "owner", ""), owner) == 0 &&
	    !folder_has(where, FOLDER_DOING, json_string_or(note, "task", ""));
}

void
folder_notes_sweep(const char *where, const char *owner)
{
	cleanup_free char *folder = file_join(where, places[FOLDER_DOING]);
	cleanup_dir DIR *dir = opendir(folder);
	const char *name;

	while ((name = dir_next(dir)) != NULL) {
		cleanup_free char *path = file_join(folder, name);

		if (name[0] == '.' && text_ends(name, NOTE_SUFFIX) &&
		    is_stale_note(where, path, owner))
			unlink(path);
	}
}

#define HEAD_BYTES 512 /* a head is shorter */

struct folder_rank {
	char *name;
	struct stat st; /* of the file whose priority it is */
	bool settled; /* it can be known that the file has not changed */
	int rank; /* task_rank_of() */
};

void
folder_head_read(const char *path, struct task_head *ret_head)
{
	cleanup_fd int fd =
	    open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[HEAD_BYTES + 1];
	ssize_t len = fd == -1 ? -1 : read(fd, text, HEAD_BYTES);

	text[len < 0 ? 0 : len] = '\0';
	task_head_read(text, ret_head);
}

static int
read_rank(const char *path)
{
	struct task_head head;

	folder_head_read(path, &head);
	return task_rank_of(head.priority, head.maker[0] != '\0');
}

/* The rank that was remembered for this name, if the file is still the same.
 * *at goes through the remembered ones, in the order of the names. */
static const struct folder_rank *
recall(const struct folder_order *order, const char *name,
    const struct stat *st, size_t *at)
{
	const struct folder_rank *rank;
	int compared = -1;

	while (*at < order->count &&
	    (compared = natural_compare(order->at[*at].name, name)) < 0)
		(*at)++;
	if (*at == order->count || compared != 0)
		return NULL;
	rank = &order->at[*at];
	return rank->settled && file_is_same(&rank->st, st) ? rank : NULL;
}

static struct folder_rank
rank_of(const struct folder_order *order, const char *where, const char *name,
    size_t *at)
{
	cleanup_free char *path = folder_path(where, FOLDER_TODO, name);
	struct folder_rank rank = { .rank = PRIORITY_NORMAL };
	const struct folder_rank *known;

	rank.name = xstrdup(name);
	if (lstat(path, &rank.st) == -1 || !S_ISREG(rank.st.st_mode))
		return rank;
	known = recall(order, name, &rank.st, at);
	rank.settled = clock_wall_ms() - clock_file_ms(&rank.st.st_mtim) >=
	    SOURCE_SETTLED_MS;
	rank.rank = known != NULL ? known->rank : read_rank(path);
	return rank;
}

void
folder_order_sort(struct folder_order *order, const char *where, char **names)
{
	struct folder_order next = { .count = strv_count(names) };
	size_t at = 0, sorted = 0;

	next.at = xcalloc(next.count + 1, sizeof *next.at);
	for (size_t i = 0; i < next.count; i++)
		next.at[i] = rank_of(order, where, names[i], &at);
	folder_order_release(order);
	*order = next;
	for (int rank = 0; rank < TASK_RANKS; rank++)
		for (size_t i = 0; i < next.count; i++)
			if (next.at[i].rank == rank)
				xstrset(&names[sorted++], next.at[i].name);
}

void
folder_order_release(struct folder_order *order)
{
	for (size_t i = 0; i < order->count; i++)
		free(order->at[i].name);
	free(order->at);
	*order = (struct folder_order){ NULL, 0 };
}
