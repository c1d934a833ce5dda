/* SPDX-License-Identifier: ISC */

/* Any file of records can be read, and the last records are the last of all. */

#include "base.h"

#include <sys/mman.h>

#include "fuzz.h"
#include "jsonl.h"

struct all {
	struct buf text; /* one per line */
	size_t count;
};

static bool
collect(struct json_object *record, void *arg)
{
	struct all *all = arg;

	if (!json_object_is_type(record, json_type_object))
		abort();
	json_print(record, false, &all->text);
	buf_addc(&all->text, '\n');
	all->count++;
	return true;
}

static void
read_last(const char *path, size_t count, struct all *all)
{
	buf_init(&all->text);
	all->count = 0;
	if (jsonl_last(path, count, collect, all, NULL) < 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_fd int fd = memfd_create("jsonl", MFD_CLOEXEC);
	struct all all, some;
	char path[64];

	if (fd == -1 || file_write_all(fd, data, size) < 0)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	read_last(path, 0, &all);
	for (size_t count = 1; count < 4; count++) {
		read_last(path, count, &some);
		if (some.count != (count < all.count ? count : all.count) ||
		    some.text.len > all.text.len ||
		    memcmp(all.text.data + all.text.len - some.text.len,
			some.text.data, some.text.len) != 0)
			abort();
		buf_release(&some.text);
	}
	buf_release(&all.text);
	return 0;
}
