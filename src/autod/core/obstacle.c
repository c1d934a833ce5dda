/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "asks.h"
#include "core.h"
#include "identity.h"
#include "notice.h"
#include "obstacle.h"
#include "people.h"
#include "state.h"
#include "workspace.h"

#define FILES_ASK   "files"
#define FILES_OWN   128 /* the book, sockets, watches, helpers of git */
#define FILES_EACH  16 /* of a worker: its socket, session, calls, a helper */
#define NAME_FORMAT "%s.aside-%s"

/* Where something else than ours must not be. A link to a folder is one. */
static const struct own {
	const char *name;
	bool folder;
} owns[] = {
	{ IDENTITY_PANES, false },
	{ "checks", true },
};

static const char *
obstacle_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFREG:
		return "a file";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* NULL = nothing is in the way of it. */
static const char *
obstacle_find(const struct own *own, const char *path)
{
	struct stat st, to;

	if (lstat(path, &st) == -1)
		return NULL;
	if (own->folder ? stat(path, &to) == 0 && S_ISDIR(to.st_mode) :
			  S_ISREG(st.st_mode))
		return NULL;
	return obstacle_kind(st.st_mode);
}

/* In the list of asks, and by the channels. */
static void
obstacle_tell(struct core *core, const struct ask_draft *draft)
{
	asks_open(core, draft);
	if (core->people != NULL && core->settings != NULL)
		people_escalate(core->people, core->settings,
		    &(struct escalation){ .level = draft->level,
			.asked = true,
			.title = draft->title,
			.text = draft->words });
}

/* False: it is still there, and a person knows. */
static bool
obstacle_put_aside(struct core *core, const struct own *own, const char *path,
    const char *kind)
{
	char stamp[CLOCK_STAMP_SIZE];
	cleanup_free char *to = NULL, *key = NULL, *words = NULL,
			  *command = NULL;
	int r;

	clock_format_compact(clock_wall_ms(), stamp);
	to = xasprintf(NAME_FORMAT, path, stamp);
	key = xasprintf("aside/%s", own->name);
	r = rename(path, to) == 0 ? 0 : -errno;
	if (r < 0 && state_ask(&core->state, key) != NULL)
		return false;
	command = xasprintf("rm -r '%s'", r == 0 ? to : path);
	words = r == 0 ?
	    xasprintf("%s was %s, where llmc has a %s of its own. It is kept "
		      "as %s; remove it when you have looked at it, and look "
		      "for what has put it there.",
		path, kind, own->folder ? "folder" : "file", to) :
	    xasprintf("%s is %s, where llmc needs a %s of its own, and it "
		      "cannot be put aside: %s. Remove it.",
		path, kind, own->folder ? "folder" : "file", strerror(-r));
	obstacle_tell(core,
	    &(struct ask_draft){ .kind = ASK_TOLD,
		.level = ESCALATION_CRITICAL,
		.key = key,
		.title = "something is in the place of a file of llmc",
		.words = words,
		.command = command,
		.stays = true });
	return true;
}

bool
obstacle_clear(struct core *core)
{
	bool found = false;

	for (size_t i = 0; i < nitems(owns); i++) {
		cleanup_free char *path =
		    workspace_path(core->workspace, owns[i].name);
		const char *kind = obstacle_find(&owns[i], path);

		if (kind != NULL)
			found |= obstacle_put_aside(core, &owns[i], path, kind);
	}
	return found;
}

size_t
obstacle_files_needed(size_t workers)
{
	return FILES_OWN + FILES_EACH * workers;
}

void
obstacle_look_files(struct core *core)
{
	size_t needed = obstacle_files_needed(core->state.count);
	cleanup_free char *words = NULL;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return;
	if (limit.rlim_cur < needed) {
		limit.rlim_cur =
		    limit.rlim_max < needed ? limit.rlim_max : needed;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= needed) {
		asks_resolve(core, FILES_ASK);
		return;
	}
	if (state_ask(&core->state, FILES_ASK) != NULL)
		return;
	words =
	    xasprintf("The daemon may have %llu files open at the same "
		      "time, and needs %zu for %zu worker%s: sessions and "
		      "checks cannot begin. Allow it more (ulimit -n %zu in "
		      "the shell, LimitNOFILE=%zu in a systemd unit), and "
		      "start it anew: llmc down, then llmc up --detach.",
		(unsigned long long)limit.rlim_cur, needed, core->state.count,
		core->state.count == 1 ? "" : "s", needed, needed);
	obstacle_tell(core,
	    &(struct ask_draft){ .kind = ASK_BLOCKED,
		.level = ESCALATION_CRITICAL,
		.key = FILES_ASK,
		.title = "the daemon may open too few files",
		.words = words,
		.command = "llmc down",
		.stays = true });
}
