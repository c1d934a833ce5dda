/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errtext.h"
#include "mem.h"
#include "store-header.h"
#include "store-schema.h"

#define HEADER_SIZE 100
#define MAGIC       "SQLite format 3" /* and its NUL */

/* Offsets in the header, from SQLite's file format. */
#define AT_PAGE_SIZE       16
#define AT_CHANGES         24
#define AT_PAGES           28
#define AT_APPLICATION_ID  68
#define AT_PAGES_VALID_FOR 92

static uint32_t
number(const unsigned char *header, size_t at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
	    (uint32_t)header[at + 2] << 8 | (uint32_t)header[at + 3];
}

/* While a log is beside it, the file may be shorter than it will be. */
static bool
has_log(const char *path)
{
	cleanup_free char *log = xasprintf("%s-wal", path);
	struct stat st;

	return stat(log, &st) == 0 && st.st_size > 0;
}

static int
check(const char *path, const unsigned char *header, ssize_t len, off_t size,
    struct err *err)
{
	uint32_t page_size;

	if (len < HEADER_SIZE)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: it has only %zd bytes", path, len);
	if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: it does not begin as a database", path);
	if (number(header, AT_APPLICATION_ID) != STORE_APPLICATION_ID)
		return err_set(err, -EINVAL,
		    "%s is a database of another program; move it away", path);
	page_size = number(header, AT_PAGE_SIZE) >> 16;
	if (page_size == 1)
		page_size = 65536;
	if (page_size < 512 || (page_size & (page_size - 1)) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: pages of %u bytes", path, page_size);
	if (number(header, AT_CHANGES) == number(header, AT_PAGES_VALID_FOR) &&
	    (uint64_t)size < (uint64_t)number(header, AT_PAGES) * page_size &&
	    !has_log(path))
		return err_set(err, -EUCLEAN,
		    "%s is damaged: %llu of its bytes are missing", path,
		    (unsigned long long)number(header, AT_PAGES) * page_size -
			(unsigned long long)size);
	return 0;
}

int
store_header_check(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char header[HEADER_SIZE];
	struct stat st;
	ssize_t len;

	if (fd == -1)
		return errno == ENOENT ? -ENOENT :
					 err_errno(err, -errno, "%s", path);
	if (fstat(fd, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a file", path);
	len = pread(fd, header, sizeof header, 0);
	if (len == -1)
		return err_errno(err, -errno, "%s", path);
	return check(path, header, len, st.st_size, err);
}
