/* SPDX-License-Identifier: ISC */

/*
 * The power goes off at any moment: after every write of SQLite to the files of
 * a book, with what was not synced there, lost, or there by half. Every commit
 * that was answered is in the book, and none is there by half.
 */
#include "book-world.h"
#include "book-private.h"

#define COMMITS 60

/* --- what is written ----------------------------------------------------- */

enum op_kind {
	OP_WRITE,
	OP_TRUNCATE,
	OP_SYNC,
	OP_DELETE,
	OP_COMMITTED /* at is its number */
};

enum {
	DATABASE,
	LOG,
	FILES
};

struct op {
	enum op_kind kind;
	int file;
	int64_t at;
	char *bytes;
	size_t len;
};

static struct op *ops;
static size_t op_count;
static bool recording;

static void
record(enum op_kind kind, int file, int64_t at, const void *bytes, size_t len)
{
	struct op *op;

	if (!recording || file == FILES)
		return;
	ops = xreallocarray(ops, op_count + 1, sizeof *ops);
	op = &ops[op_count++];
	*op = (struct op){ kind, file, at, NULL, len };
	if (bytes != NULL) {
		op->bytes = xmalloc(len);
		memcpy(op->bytes, bytes, len);
	}
}

static int
file_of(const char *path)
{
	size_t len = path != NULL ? strlen(path) : 0;

	if (len > 3 && strcmp(path + len - 3, ".db") == 0)
		return DATABASE;
	return len > 4 && strcmp(path + len - 4, "-wal") == 0 ? LOG : FILES;
}

/* --- a file system of SQLite that records -------------------------------- */

struct recorded {
	sqlite3_file base;
	int file;
	sqlite3_file *real; /* behind this */
};

#define REAL(f)    (((struct recorded *)(f))->real)
#define FILE_OF(f) (((struct recorded *)(f))->file)

static int
on_close(sqlite3_file *f)
{
	return REAL(f)->pMethods->xClose(REAL(f));
}

static int
on_read(sqlite3_file *f, void *bytes, int len, sqlite3_int64 at)
{
	return REAL(f)->pMethods->xRead(REAL(f), bytes, len, at);
}

static int
on_write(sqlite3_file *f, const void *bytes, int len, sqlite3_int64 at)
{
	record(OP_WRITE, FILE_OF(f), at, bytes, (size_t)len);
	return REAL(f)->pMethods->xWrite(REAL(f), bytes, len, at);
}

static int
on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	record(OP_TRUNCATE, FILE_OF(f), size, NULL, 0);
	return REAL(f)->pMethods->xTruncate(REAL(f), size);
}

static int
on_sync(sqlite3_file *f, int flags)
{
	record(OP_SYNC, FILE_OF(f), 0, NULL, 0);
	return REAL(f)->pMethods->xSync(REAL(f), flags);
}

static int
on_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return REAL(f)->pMethods->xFileSize(REAL(f), size);
}

static int
on_lock(sqlite3_file *f, int level)
{
	return REAL(f)->pMethods->xLock(REAL(f), level);
}

static int
on_unlock(sqlite3_file *f, int level)
{
	return REAL(f)->pMethods->xUnlock(REAL(f), level);
}

static int
on_check_lock(sqlite3_file *f, int *held)
{
	return REAL(f)->pMethods->xCheckReservedLock(REAL(f), held);
}

static int
on_control(sqlite3_file *f, int op, void *arg)
{
	return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}

static int
on_sector(sqlite3_file *f)
{
	return REAL(f)->pMethods->xSectorSize(REAL(f));
}

static int
on_device(sqlite3_file *f)
{
	return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static int
on_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, ret);
}

static int
on_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
	return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}

static void
on_shm_barrier(sqlite3_file *f)
{
	REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static int
on_shm_unmap(sqlite3_file *f, int remove)
{
	return REAL(f)->pMethods->xShmUnmap(REAL(f), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = on_close,
	.xRead = on_read,
	.xWrite = on_write,
	.xTruncate = on_truncate,
	.xSync = on_sync,
	.xFileSize = on_size,
	.xLock = on_lock,
	.xUnlock = on_unlock,
	.xCheckReservedLock = on_check_lock,
	.xFileControl = on_control,
	.xSectorSize = on_sector,
	.xDeviceCharacteristics = on_device,
	.xShmMap = on_shm_map,
	.xShmLock = on_shm_lock,
	.xShmBarrier = on_shm_barrier,
	.xShmUnmap = on_shm_unmap,
};

static sqlite3_vfs *real_vfs, vfs;

static int
on_open(sqlite3_vfs *self, sqlite3_filename path, sqlite3_file *f, int flags,
    int *ret_flags)
{
	struct recorded *file = (struct recorded *)f;
	int rc;

	(void)self;
	file->file = file_of(path);
	file->real = (sqlite3_file *)(file + 1);
	rc = real_vfs->xOpen(real_vfs, path, file->real, flags, ret_flags);
	file->base.pMethods = rc == SQLITE_OK ? &methods : NULL;
	return rc;
}

static int
on_delete(sqlite3_vfs *self, const char *path, int sync)
{
	(void)self;
	record(OP_DELETE, file_of(path), 0, NULL, 0);
	return real_vfs->xDelete(real_vfs, path, sync);
}

static void
begin_recording(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "recorded";
	vfs.szOsFile = (int)sizeof(struct recorded) + real_vfs->szOsFile;
	vfs.xOpen = on_open;
	vfs.xDelete = on_delete;
	sqlite3_vfs_register(&vfs, 1);
	recording = true;
}

static void
end_recording(void)
{
	recording = false;
	sqlite3_vfs_register(real_vfs, 1);
	sqlite3_vfs_unregister(&vfs);
}

/* --- the run ------------------------------------------------------------- */

/* A record that counts, one of its own, an event. */
static void
commit_one(struct book_world *world, int n)
{
	char id[16], count[64];
	struct book_record records[] = {
		{ BOOK_GOAL, NULL, "G", count },
		{ BOOK_NODE, "G", id, "{\"status\":\"todo\"}" },
	};
	struct book_event event = { .type = "a", .goal_id = id };

	snprintf(id, sizeof id, "T%07d", n);
	snprintf(count, sizeof count, "{\"status\":\"active\",\"n\":%d}", n);
	ck_assert_int_eq(book_world_commit(world, records, 2, &event, 1), 0);
	record(OP_COMMITTED, DATABASE, n, NULL, 0);
}

static void
run(const char *path)
{
	struct book_world world;

	begin_recording();
	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	/* Every few commits, so that the log begins anew. */
	ck_assert_int_eq(
	    book_exec(world.book, "PRAGMA wal_autocheckpoint = 30", NULL), 0);
	for (int n = 0; n < COMMITS; n++)
		commit_one(&world, n);
	book_world_close(&world);
	end_recording();
}

/* --- the power cut ------------------------------------------------------- */

struct image {
	char *bytes;
	size_t len;
	bool exists;
};

static void
image_write(struct image *image, size_t at, const char *bytes, size_t len)
{
	if (image->bytes == NULL || at + len > image->len) {
		image->bytes = xreallocarray(image->bytes, 1, at + len);
		memset(image->bytes + image->len, 0, at + len - image->len);
		image->len = at + len;
	}
	memcpy(image->bytes + at, bytes, len);
	image->exists = true;
}

static void
image_apply(struct image *image, const struct op *op, bool by_half)
{
	switch (op->kind) {
	case OP_WRITE:
		image_write(image, (size_t)op->at, op->bytes,
		    by_half ? op->len / 2 : op->len);
		break;
	case OP_TRUNCATE:
		if ((size_t)op->at < image->len)
			image->len = (size_t)op->at;
		break;
	case OP_DELETE:
		image->len = 0;
		image->exists = false;
		break;
	case OP_SYNC:
	case OP_COMMITTED:
		break;
	}
}

static bool
is_synced(size_t i, size_t end)
{
	for (size_t j = i + 1; j < end; j++)
		if (ops[j].kind == OP_SYNC && ops[j].file == ops[i].file)
			return true;
	return false;
}

/* The files after the first `end` operations. dice NULL: all of it is there;
 * else what was not synced is there, lost or there by half. */
static void
make_images(const struct buf *before, size_t end, struct dice *dice,
    struct image *images)
{
	image_write(&images[DATABASE], 0, before->data, before->len);
	for (size_t i = 0; i < end; i++) {
		unsigned fate = dice != NULL && ops[i].kind == OP_WRITE &&
			!is_synced(i, end) ?
		    dice_below(dice, 3) :
		    0;

		if (fate != 1)
			image_apply(&images[ops[i].file], &ops[i], fate == 2);
	}
}

static void
place(const char *path, const struct image *image)
{
	int fd;

	if (!image->exists)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, image->bytes, image->len), 0);
	fd_close(fd);
}

static int
last_committed(size_t end)
{
	int last = -1;

	for (size_t i = 0; i < end; i++)
		if (ops[i].kind == OP_COMMITTED)
			last = (int)ops[i].at;
	return last;
}

/* Nodes, events and the number in the goal must agree. */
static void
expect_whole(const char *path, int least, size_t end)
{
	struct book_world world = { 0 };
	int64_t nodes = -1, n = -1;

	/* A look syncs nothing, which is faster. */
	buf_init(&world.text);
	if (end % 10 == 0)
		book_open(path, &world.book, &world.err);
	else
		book_look(path, &world.book, &world.err);
	ck_assert_msg(world.err.code == 0, "after %zu: %s", end, world.err.msg);
	book_get_int(world.book, "SELECT count(*) FROM nodes AS r", NULL, 0,
	    &nodes, NULL);
	book_world_events(&world, (struct book_filter){ .newest_first = true });
	ck_assert_int_eq((int64_t)world.events, nodes);
	ck_assert_int_eq(world.first_seq, nodes);
	ck_assert_int_eq(book_world_read(&world, BOOK_GOAL, "G", NULL), 0);
	if (world.records > 0)
		n = strtoll(strstr(world.text.data, "\"n\":") + 4, NULL, 10);
	ck_assert_msg(n >= least && n + 1 == nodes,
	    "after %zu: %lld of %lld, at least %d", end, (long long)n,
	    (long long)nodes, least);
	book_world_close(&world);
}

static void
cut_after(const struct buf *before, size_t end, struct dice *dice)
{
	static const char *path, *log;
	struct image images[FILES] = { 0 };

	if (path == NULL) {
		path = unit_path("cut.db");
		log = unit_path("cut.db-wal");
	}
	book_files_remove(path);
	make_images(before, end, dice, images);
	place(path, &images[DATABASE]);
	place(log, &images[LOG]);
	expect_whole(path, last_committed(end), end);
	for (int i = 0; i < FILES; i++)
		free(images[i].bytes);
}

const int unit_timeout = 240; /* seconds, each */

TEST(power_cut_after_any_write_loses_no_commit)
{
	const char *path = unit_path("llmc.db");
	cleanup_buf struct buf before = BUF_INIT;
	struct dice dice = { 23 };
	struct book_world world;
	size_t checkpoints = 0;

	book_world_open(&world, path);
	book_world_close(&world);
	ck_assert_int_eq(file_read(path, 1 << 26, &before, NULL), 0);
	run(path);
	for (size_t i = 0; i < op_count; i++)
		checkpoints +=
		    ops[i].kind == OP_SYNC && ops[i].file == DATABASE;
	ck_assert_uint_gt(checkpoints, 5);
	for (size_t end = 0; end <= op_count; end++) {
		cut_after(&before, end, NULL);
		cut_after(&before, end, &dice);
	}
}
