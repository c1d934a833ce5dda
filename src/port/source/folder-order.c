/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "folder-order.h"
#include "folder.h"
#include "mem.h"
#include "natural.h"
#include "source-base.h"
#include "task-head.h"

#define HEAD_BYTES 512 /* a head is shorter */

struct folder_rank {
	char *name;
	struct stat st; /* of the file whose priority it is */
	bool settled; /* it can be known that the file has not changed */
	enum priority priority;
};

static enum priority
read_priority(const char *path)
{
	cleanup_fd int fd =
	    open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[HEAD_BYTES + 1];
	struct task_head head;
	ssize_t len = fd == -1 ? -1 : read(fd, text, HEAD_BYTES);

	text[len < 0 ? 0 : len] = '\0';
	task_head_read(text, &head);
	return head.priority;
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
	return rank->settled && folder_is_same(&rank->st, st) ? rank : NULL;
}

static struct folder_rank
rank_of(const struct folder_order *order, const char *where, const char *name,
    size_t *at)
{
	cleanup_free char *path = folder_path(where, FOLDER_TODO, name);
	struct folder_rank rank = { .priority = PRIORITY_NORMAL };
	const struct folder_rank *known;

	rank.name = xstrdup(name);
	if (lstat(path, &rank.st) == -1 || !S_ISREG(rank.st.st_mode))
		return rank;
	known = recall(order, name, &rank.st, at);
	rank.settled = clock_wall_ms() - clock_file_ms(&rank.st.st_mtim) >=
	    SOURCE_SETTLED_MS;
	rank.priority = known != NULL ? known->priority : read_priority(path);
	return rank;
}

void
folder_order_sort(
    struct folder_order *order, const char *where, struct folder_names *names)
{
	struct folder_order next = { .count = names->count };
	size_t at = 0, sorted = 0;

	next.at = xcalloc(names->count + 1, sizeof *next.at);
	for (size_t i = 0; i < names->count; i++)
		next.at[i] = rank_of(order, where, names->at[i], &at);
	folder_order_release(order);
	*order = next;
	for (int priority = 0; priority < PRIORITY_COUNT; priority++)
		for (size_t i = 0; i < next.count; i++)
			if (next.at[i].priority == (enum priority)priority)
				xstrset(&names->at[sorted++], next.at[i].name);
}

void
folder_order_release(struct folder_order *order)
{
	for (size_t i = 0; i < order->count; i++)
		free(order->at[i].name);
	free(order->at);
	*order = (struct folder_order){ NULL, 0 };
}
