/* SPDX-License-Identifier: ISC */

/* What tests/tools/diskrecord.c writes and tests/port/disk-replay.c reads:
 * a head, then two paths and the content of a file, without NULs at their
 * ends. */
#ifndef DISKRECORD_H
#define DISKRECORD_H

#include <stdint.h>

enum disk_op {
	DISK_CREATE = 'c', /* an empty file */
	DISK_WRITE = 'w', /* a file has this content now */
	DISK_RENAME = 'r', /* path to path2 */
	DISK_LINK = 'l', /* a file gets this path, too */
	DISK_REMOVE = 'u', /* a file or an empty folder */
	DISK_MKDIR = 'm',
	DISK_SYNC = 's', /* fsync(2) of a file, or of a folder's names */
	DISK_SYNC_ALL = 'S', /* syncfs(2) */
};

struct diskrecord {
	uint64_t ino; /* of the file, 0 = none */
	uint32_t path_len, path2_len, data_len;
	char op; /* enum disk_op */
	char unused[3];
};

#endif
