/* SPDX-License-Identifier: ISC */

/* A checksum in each page of a book. SQLite leaves the last bytes of a page
 * free (its "reserved bytes"), and a VFS below it fills them when the page is
 * written to the database, and compares them when it is read: a page that
 * differs by as little as a bit is SQLITE_CORRUPT, never another record. In
 * memory, and in the log, which has checksums of its own, they are 0; so a page
 * that another program has written back from the log has none until it is
 * written again.
 *
 * Nothing but the daemon writes to the database while it runs. Each write
 * remembers the page and the time of the file after it; if the time is another
 * one later, that page is read back, and unless it is what was written, nothing
 * is read from this file or written to it any more. */

#include "base.h"

#include <endian.h>
#include <sys/stat.h>

#include "book-private.h"

/* Bytes of the header of a database. */
#define HEADER_SIZE  100
#define AT_PAGE_SIZE 16
#define AT_RESERVED  20

#define WORDS  ((BOOK_PAGE_SIZE - BOOK_STAMP_SIZE) / 8)
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define UNDOES UINT64_C(0xf1de83e19937733d)
_Static_assert(FACTOR *UNDOES == 1, "a step can be undone");

/* An open database: behind what the VFS below needs for it. */
struct paged {
	sqlite3_io_methods methods; /* its own, but for two */
	const sqlite3_io_methods *below;
	const char *path; /* SQLite's own; NULL = it has no name */
	bool is_stamped;
	bool is_overwritten; /* by another program */
	struct stat stat; /* after our last write; st_ino 0 = not known */
	uint32_t page; /* that was written then, or the first, as it was read */
	uint64_t stamp; /* its checksum */
};

static sqlite3_vfs pages_vfs, *below_vfs;

static uint64_t
page_word(const unsigned char *page, size_t i)
{
	uint64_t word;

	memcpy(&word, page + i * sizeof word, sizeof word);
	return le64toh(word);
}

/* It can be undone, so no change of one word is lost. */
static uint64_t
stamp_step(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * FACTOR;
	return hash ^ hash >> 32;
}

/* A page in the place of another one is wrong too. */
static uint64_t
page_hash(const unsigned char *page, uint32_t number)
{
	uint64_t hash = number;

	for (size_t i = 0; i < WORDS; i++)
		hash = stamp_step(hash, page_word(page, i));
	return hash != 0 ? hash : 1; /* 0: it has none */
}

uint64_t
book_page_stamp(const unsigned char *page)
{
	return page_word(page, WORDS);
}

void
book_page_put_stamp(unsigned char *page, uint32_t number)
{
	uint64_t stamp = htole64(page_hash(page, number));

	memcpy(page + WORDS * sizeof stamp, &stamp, sizeof stamp);
}

bool
book_page_is_whole(const unsigned char *page, uint32_t number)
{
	uint64_t stamp = book_page_stamp(page);

	return stamp == 0 || stamp == page_hash(page, number);
}

/* From the checksum back to each word: which one it should be if all others
 * are right. */
bool
book_page_repair(unsigned char *page, uint32_t number)
{
	uint64_t hash = book_page_stamp(page), wanted[WORDS];

	if (__builtin_popcountll(hash ^ page_hash(page, number)) == 1) {
		book_page_put_stamp(page, number);
		return true;
	}
	for (size_t i = WORDS; i-- > 0; hash = wanted[i] ^ page_word(page, i))
		wanted[i] = (hash ^ hash >> 32) * UNDOES;
	hash = number;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t word = page_word(page, i);
		uint64_t right = wanted[i] ^ hash;

		if (__builtin_popcountll(word ^ right) == 1) {
			right = htole64(right);
			memcpy(page + i * sizeof right, &right, sizeof right);
			return true;
		}
		hash = stamp_step(hash, word);
	}
	return false;
}

bool
book_page_has_room(const unsigned char *header)
{
	return header[AT_PAGE_SIZE] == BOOK_PAGE_SIZE >> 8 &&
	    header[AT_PAGE_SIZE + 1] == 0 &&
	    header[AT_RESERVED] == BOOK_STAMP_SIZE;
}

/* --- the VFS ------------------------------------------------------------ */

static struct paged *
paged_of(sqlite3_file *file)
{
	return (struct paged *)(void *)((char *)file + below_vfs->szOsFile);
}

static int
read_page(sqlite3_file *file, uint32_t number, unsigned char *page)
{
	return paged_of(file)->below->xRead(file, page, BOOK_PAGE_SIZE,
	    (sqlite3_int64)(number - 1) * BOOK_PAGE_SIZE);
}

/* The file is as we want it: this page was just written, or read. */
static void
note_page(sqlite3_file *file, uint32_t number, const unsigned char *page)
{
	struct paged *paged = paged_of(file);

	paged->page = number;
	paged->stamp = book_page_stamp(page);
	if (paged->path == NULL || stat(paged->path, &paged->stat) == -1)
		paged->stat.st_ino = 0;
}

static void
note_first_page(sqlite3_file *file)
{
	unsigned char page[BOOK_PAGE_SIZE];

	paged_of(file)->stat.st_ino = 0;
	if (read_page(file, 1, page) == SQLITE_OK && book_page_has_room(page))
		note_page(file, 1, page);
}

static bool
is_blank(const unsigned char *page)
{
	return page[0] == 0 && memcmp(page, page + 1, BOOK_PAGE_SIZE - 1) == 0;
}

/* Did another program write to the file? One without a name, or with another
 * file in its place, is still ours. A page without a checksum is one that the
 * sqlite3 program has written back from the log. */
static bool
paged_is_ours(sqlite3_file *file)
{
	struct paged *paged = paged_of(file);
	const struct stat *old = &paged->stat;
	unsigned char page[BOOK_PAGE_SIZE];
	uint64_t stamp;
	struct stat st;

	if (paged->is_overwritten || old->st_ino == 0 ||
	    stat(paged->path, &st) == -1 || st.st_dev != old->st_dev ||
	    st.st_ino != old->st_ino ||
	    (st.st_size == old->st_size &&
		st.st_mtim.tv_sec == old->st_mtim.tv_sec &&
		st.st_mtim.tv_nsec == old->st_mtim.tv_nsec))
		return !paged->is_overwritten;
	if (st.st_size < old->st_size ||
	    read_page(file, paged->page, page) != SQLITE_OK) {
		paged->is_overwritten = true;
		return false;
	}
	stamp = book_page_stamp(page);
	paged->is_overwritten = (stamp != paged->stamp && stamp != 0) ||
	    !book_page_is_whole(page, paged->page) || is_blank(page);
	note_page(file, paged->page, page);
	return !paged->is_overwritten;
}

static int
paged_read(sqlite3_file *file, void *to, int amount, sqlite3_int64 at)
{
	struct paged *paged = paged_of(file);
	unsigned char page[BOOK_PAGE_SIZE];
	sqlite3_int64 first = at - at % BOOK_PAGE_SIZE;
	int rc;

	if (paged->is_overwritten) {
		sqlite3_log(SQLITE_CORRUPT, "it was overwritten");
		return SQLITE_CORRUPT;
	}
	/* The header is also read without a lock, while it may change. */
	if (!paged->is_stamped || amount <= HEADER_SIZE ||
	    at + amount > first + BOOK_PAGE_SIZE) {
		rc = paged->below->xRead(file, to, amount, at);
		if (rc == SQLITE_OK && at == 0 && amount >= HEADER_SIZE &&
		    book_page_has_room(to))
			paged->is_stamped = true;
		return rc;
	}
	rc = paged->below->xRead(file, page, sizeof page, first);
	if (rc == SQLITE_OK) {
		uint32_t number = (uint32_t)(first / BOOK_PAGE_SIZE) + 1;

		if (!book_page_is_whole(page, number)) {
			sqlite3_log(SQLITE_CORRUPT,
			    "page %u has another checksum", number);
			return SQLITE_CORRUPT;
		}
		memset(page + BOOK_PAGE_SIZE - BOOK_STAMP_SIZE, 0,
		    BOOK_STAMP_SIZE);
	}
	memcpy(to, page + at % BOOK_PAGE_SIZE, (size_t)amount);
	return rc;
}

static int
paged_write(sqlite3_file *file, const void *from, int amount, sqlite3_int64 at)
{
	struct paged *paged = paged_of(file);
	uint32_t number = (uint32_t)(at / BOOK_PAGE_SIZE) + 1;
	unsigned char page[BOOK_PAGE_SIZE];
	int rc;

	if (at == 0 && amount >= HEADER_SIZE && book_page_has_room(from))
		paged->is_stamped = true;
	if (!paged->is_stamped || amount != BOOK_PAGE_SIZE ||
	    at % BOOK_PAGE_SIZE != 0) {
		paged->stat.st_ino = 0;
		return paged->below->xWrite(file, from, amount, at);
	}
	if (!paged_is_ours(file))
		return SQLITE_IOERR_WRITE;
	memcpy(page, from, sizeof page);
	book_page_put_stamp(page, number);
	rc = paged->below->xWrite(file, page, amount, at);
	if (rc == SQLITE_OK)
		note_page(file, number, page);
	return rc;
}

static int
paged_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc;

	if (!paged_is_ours(file))
		return SQLITE_IOERR_TRUNCATE;
	rc = paged_of(file)->below->xTruncate(file, size);
	note_first_page(file);
	return rc;
}

static int
paged_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file,
    int flags, int *ret_flags)
{
	int rc = below_vfs->xOpen(below_vfs, path, file, flags, ret_flags);
	struct paged *paged = paged_of(file);

	(void)vfs;
	if (rc != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0)
		return rc;
	*paged = (struct paged){ .methods = *file->pMethods,
		.below = file->pMethods,
		.path = path };
	if (paged->methods.iVersion > 2) /* a mapped page is not read */
		paged->methods.iVersion = 2;
	paged->methods.xRead = paged_read;
	paged->methods.xWrite = paged_write;
	paged->methods.xTruncate = paged_truncate;
	file->pMethods = &paged->methods;
	note_first_page(file);
	return SQLITE_OK;
}

int
book_check_file(struct book *book, struct err *err)
{
	sqlite3_file *file = NULL;

	if (sqlite3_file_control(book->sqlite, "main",
		SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
	    file == NULL || file->pMethods != &paged_of(file)->methods ||
	    paged_is_ours(file))
		return 0;
	return err_set(err, -EUCLEAN,
	    "%s was overwritten by another program: it is not what llmc has "
	    "written",
	    book->path);
}

const char *
book_pages_vfs(void)
{
	sqlite3_vfs *standard = sqlite3_vfs_find(NULL);

	if (standard == below_vfs || standard == NULL)
		return pages_vfs.zName;
	if (below_vfs != NULL)
		sqlite3_vfs_unregister(&pages_vfs);
	below_vfs = standard;
	pages_vfs = *standard;
	pages_vfs.pNext = NULL;
	pages_vfs.zName = "llmc";
	pages_vfs.szOsFile += (int)sizeof(struct paged);
	pages_vfs.xOpen = paged_open;
	sqlite3_vfs_register(&pages_vfs, 0);
	return pages_vfs.zName;
}
