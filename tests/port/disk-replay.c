/* SPDX-License-Identifier: ISC */

#include <dirent.h>

#include "disk-replay.h"
#include "diskrecord.h"

#define LOG_MAX   (256 * 1024 * 1024)
#define FILE_MAX  (16 * 1024 * 1024)
#define NODES_MAX 4096
#define NO_FILE   SIZE_MAX
#define BEFORE    1600000000

/* What a file has in it: pointers into the log, or into `kept`. */
struct content {
	const char *data;
	size_t len;
};

struct file {
	uint64_t ino; /* a number may come again, for another file */
	mode_t mode;
	struct content before; /* the recording; data NULL = did not exist */
	struct content now, on_disk; /* while it is replayed */
};

struct node {
	const char *path;
	size_t file; /* NO_FILE = a folder */
	mode_t mode;
};

struct record {
	enum disk_op op;
	size_t file; /* NO_FILE = none */
	char *path, *path2;
	struct content data;
	bool on_disk; /* while it is replayed */
};

struct disk {
	char *root;
	struct buf log;
	char **kept; /* contents before the recording */
	size_t kept_count;
	struct file *files;
	size_t file_count;
	struct node before[NODES_MAX], now[NODES_MAX];
	size_t before_count, now_count;
	struct record *records;
	size_t record_count;
	char *last[DISK_LOSS_COUNT]; /* what was built */
};

/* --- before the recording --------------------------------------------- */

static size_t
add_file(struct disk *disk, uint64_t ino, mode_t mode)
{
	disk->files = xreallocarray(
	    disk->files, disk->file_count + 1, sizeof *disk->files);
	disk->files[disk->file_count] =
	    (struct file){ .ino = ino, .mode = mode };
	return disk->file_count++;
}

static char *
keep(struct disk *disk, char *text)
{
	disk->kept =
	    xreallocarray(disk->kept, disk->kept_count + 1, sizeof *disk->kept);
	return disk->kept[disk->kept_count++] = text;
}

static void
scan_file(struct disk *disk, struct node *node, const struct stat *st)
{
	struct buf text = BUF_INIT;
	struct file *file;

	node->file = add_file(disk, st->st_ino, st->st_mode & 0777);
	file = &disk->files[node->file];
	ck_assert_int_eq(file_read(node->path, FILE_MAX, &text, NULL), 0);
	file->before.len = text.len;
	file->before.data = keep(disk, buf_take(&text));
}

static void
scan(struct disk *disk, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		struct node *node = &disk->before[disk->before_count];

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		node->path = keep(disk, file_join(path, entry->d_name));
		ck_assert_int_eq(lstat(node->path, &st), 0);
		ck_assert(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
		node->mode = st.st_mode & 0777;
		node->file = NO_FILE;
		ck_assert_uint_lt(++disk->before_count, NODES_MAX);
		if (S_ISDIR(st.st_mode))
			scan(disk, node->path);
		else
			scan_file(disk, node, &st);
	}
	closedir(dir);
}

struct disk *
disk_new(const char *root)
{
	struct disk *disk = xcalloc(1, sizeof *disk);

	disk->root = xstrdup(root);
	buf_init(&disk->log);
	scan(disk, root);
	return disk;
}

void
disk_free(struct disk *disk)
{
	for (size_t i = 0; i < disk->kept_count; i++)
		free(disk->kept[i]);
	for (size_t i = 0; i < DISK_LOSS_COUNT; i++)
		free(disk->last[i]);
	free(disk->kept);
	free(disk->files);
	free(disk->records);
	free(disk->root);
	buf_release(&disk->log);
	free(disk);
}

/* --- the records ------------------------------------------------------ */

static size_t
find_file(const struct disk *disk, uint64_t ino)
{
	for (size_t i = disk->file_count; i-- > 0;)
		if (disk->files[i].ino == ino)
			return i;
	return NO_FILE;
}

static void
add_record(struct disk *disk, const struct record *record)
{
	disk->records = xreallocarray(
	    disk->records, disk->record_count + 1, sizeof *disk->records);
	disk->records[disk->record_count++] = *record;
}

static void
add_create(struct disk *disk, uint64_t ino, char *path)
{
	struct record create = { .op = DISK_CREATE, .path = path };

	create.file = add_file(disk, ino, 0644);
	add_record(disk, &create);
}

static void
read_record(struct disk *disk, const struct diskrecord *head, const char *at)
{
	struct record record = { .op = (enum disk_op)head->op,
		.file = NO_FILE };

	record.path = keep(disk, xstrndup(at, head->path_len));
	at += head->path_len;
	record.path2 = keep(disk, xstrndup(at, head->path2_len));
	record.data = (struct content){ at + head->path2_len, head->data_len };
	if (record.op == DISK_CREATE) {
		add_create(disk, head->ino, record.path);
		return;
	}
	if (head->ino != 0)
		record.file = find_file(disk, head->ino);
	if (record.file == NO_FILE && record.op == DISK_WRITE) {
		/* stdio has created it. */
		add_create(disk, head->ino, record.path);
		record.file = find_file(disk, head->ino);
	}
	add_record(disk, &record);
}

size_t
disk_load(struct disk *disk, const char *log)
{
	const char *at, *end;

	ck_assert_int_eq(file_read(log, LOG_MAX, &disk->log, NULL), 0);
	end = disk->log.data + disk->log.len;
	for (at = disk->log.data; at < end;) {
		struct diskrecord head;

		memcpy(&head, at, sizeof head);
		at += sizeof head;
		read_record(disk, &head, at);
		at += head.path_len + head.path2_len + head.data_len;
	}
	ck_assert_ptr_eq(at, end);
	return disk->record_count;
}

bool
disk_has_made(const struct disk *disk, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (disk->records[i].op == DISK_MKDIR &&
		    strcmp(disk->records[i].path, path) == 0)
			return true;
	return false;
}

const char *
disk_describe(const struct disk *disk, size_t count)
{
	static char text[PATH_MAX + 64];
	const struct record *record;

	if (count == 0)
		return "nothing";
	record = &disk->records[count - 1];
	snprintf(text, sizeof text, "%zu: %c %s %s", count, (char)record->op,
	    record->path, record->path2 != NULL ? record->path2 : "");
	return text;
}

/* --- the power cut ---------------------------------------------------- */

static struct node *
find_node(struct disk *disk, const char *path)
{
	for (size_t i = 0; i < disk->now_count; i++)
		if (strcmp(disk->now[i].path, path) == 0)
			return &disk->now[i];
	return NULL;
}

static void
remove_node(struct disk *disk, const char *path)
{
	struct node *node = find_node(disk, path);

	if (node != NULL)
		*node = disk->now[--disk->now_count];
}

static void
put_node(struct disk *disk, const char *path, size_t file)
{
	remove_node(disk, path);
	disk->now[disk->now_count] =
	    (struct node){ .path = path, .file = file, .mode = 0755 };
	ck_assert_uint_lt(++disk->now_count, NODES_MAX);
}

static bool
is_in(const char *path, const char *folder)
{
	const char *slash = strrchr(path, '/');
	size_t len = strlen(folder);

	return slash != NULL && (size_t)(slash - path) == len &&
	    strncmp(path, folder, len) == 0;
}

/* Everything before record i is on disk, or what is in that folder. */
static void
sync_names(struct disk *disk, size_t i, const char *folder)
{
	while (i-- > 0) {
		struct record *record = &disk->records[i];
		const char *path =
		    record->op == DISK_RENAME ? record->path2 : record->path;

		if (folder == NULL || is_in(path, folder))
			record->on_disk = true;
	}
}

/* What is where, and on disk, after the first records. */
static void
run(struct disk *disk, size_t count)
{
	for (size_t i = 0; i < disk->file_count; i++)
		disk->files[i].now = disk->files[i].on_disk =
		    disk->files[i].before;
	for (size_t i = 0; i < disk->record_count; i++)
		disk->records[i].on_disk = false;
	for (size_t i = 0; i < count; i++) {
		const struct record *record = &disk->records[i];
		struct file *file =
		    record->file != NO_FILE ? &disk->files[record->file] : NULL;

		if (record->op == DISK_WRITE && file != NULL)
			file->now = record->data;
		else if (record->op == DISK_SYNC && file != NULL)
			file->on_disk = file->now;
		else if (record->op == DISK_SYNC)
			sync_names(disk, i, record->path);
		if (record->op != DISK_SYNC_ALL)
			continue;
		sync_names(disk, i, NULL);
		for (size_t j = 0; j < disk->file_count; j++)
			disk->files[j].on_disk = disk->files[j].now;
	}
}

static void
apply(struct disk *disk, const struct record *record)
{
	switch (record->op) {
	case DISK_CREATE:
	case DISK_MKDIR:
	case DISK_LINK:
		put_node(disk, record->path, record->file);
		break;
	case DISK_RENAME:
		remove_node(disk, record->path);
		put_node(disk, record->path2, record->file);
		break;
	case DISK_REMOVE:
		remove_node(disk, record->path);
		break;
	case DISK_WRITE:
	case DISK_SYNC:
	case DISK_SYNC_ALL:
		break;
	}
}

static int
compare(const void *a, const void *b)
{
	return strcmp(
	    ((const struct node *)a)->path, ((const struct node *)b)->path);
}

/* All of it as one text, to see whether two are the same. */
static char *
list(const struct disk *disk)
{
	struct buf all = BUF_INIT;

	for (size_t i = 0; i < disk->now_count; i++) {
		const struct node *node = &disk->now[i];

		buf_addf(&all, "%s", node->path);
		if (node->file != NO_FILE)
			buf_addf(&all, " %zu %p %zu", node->file,
			    (const void *)disk->files[node->file].on_disk.data,
			    disk->files[node->file].on_disk.len);
		buf_addc(&all, '\n');
	}
	return buf_take(&all);
}

static void
empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		cleanup_free char *name = file_join(path, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		ck_assert_int_eq(lstat(name, &st), 0);
		if (S_ISDIR(st.st_mode))
			empty(name);
		ck_assert_int_eq(remove(name), 0);
	}
	closedir(dir);
}

/* A file whose folder is lost is lost, too. All are from before the last start
 * of this machine. */
static void
make(const struct disk *disk)
{
	static const struct timespec before[2] = { { .tv_sec = BEFORE },
		{ .tv_sec = BEFORE } };

	empty(disk->root);
	for (size_t i = 0; i < disk->now_count; i++) {
		const struct node *node = &disk->now[i];
		const struct file *file;
		FILE *out;

		if (node->file == NO_FILE) {
			(void)mkdir(node->path, node->mode);
			continue;
		}
		file = &disk->files[node->file];
		out = fopen(node->path, "we");
		if (out == NULL)
			continue;
		if (file->on_disk.len > 0)
			fwrite(file->on_disk.data, 1, file->on_disk.len, out);
		fclose(out);
		chmod(node->path, file->mode);
		utimensat(AT_FDCWD, node->path, before, 0);
	}
}

bool
disk_build(struct disk *disk, size_t count, enum disk_loss loss)
{
	char *all;

	run(disk, count);
	memcpy(disk->now, disk->before, sizeof disk->now);
	disk->now_count = disk->before_count;
	for (size_t i = 0; i < count; i++)
		if (loss == DISK_LOSES_DATA || disk->records[i].on_disk)
			apply(disk, &disk->records[i]);
	qsort(disk->now, disk->now_count, sizeof *disk->now, compare);
	all = list(disk);
	if (disk->last[loss] != NULL && strcmp(disk->last[loss], all) == 0) {
		free(all);
		return false;
	}
	free(disk->last[loss]);
	disk->last[loss] = all;
	make(disk);
	return true;
}
