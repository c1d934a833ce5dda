/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "box-plan.h"
#include "cgroup.h"

#define TEXT_MAX 65536

static const char *
or_else(const char *given, const char *usual)
{
	return given != NULL ? given : usual;
}

/* --- a folder of our own ------------------------------------------------ */

/* Where cgroup v2 is mounted, owned by the caller; NULL = nowhere. */
static char *
find_mount(void)
{
	FILE *file = setmntent("/proc/self/mounts", "re");
	char *found = NULL, text[4096];
	struct mntent entry;

	while (file != NULL && found == NULL &&
	    getmntent_r(file, &entry, text, sizeof text) != NULL)
		if (strcmp(entry.mnt_type, "cgroup2") == 0)
			found = xstrdup(entry.mnt_dir);
	if (file != NULL)
		endmntent(file);
	return found;
}

/* The folder that this process is in; NULL = none that can be reached. */
static char *
find_own(const struct cgroup_world *world)
{
	cleanup_free char *mount =
	    world->mount != NULL ? xstrdup(world->mount) : find_mount();
	cleanup_buf struct buf text = BUF_INIT;
	const char *line;
	size_t len;

	if (mount == NULL ||
	    file_read(or_else(world->self, "/proc/self/cgroup"), TEXT_MAX,
		&text, NULL) < 0)
		return NULL;
	line = text.data;
	while (line != NULL && !text_begins(line, "0::/")) {
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	if (line == NULL || text_begins(line, "0::/.."))
		return NULL;
	line += 3;
	len = strcspn(line, "\n");
	return xasprintf("%s%.*s", mount, len == 1 ? 0 : (int)len, line);
}

static unsigned
read_set(const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, TEXT_MAX, &text, NULL) < 0)
		return 0;
	return box_limits_available(text.data);
}

/* One write, as the kernel wants it; negative errno. */
static int
put(const char *dir, const char *name, const char *value)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, value, strlen(value)) == -1)
		return -errno;
	return 0;
}

static bool
is_writable(const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);

	return access(path, W_OK) == 0;
}

/* What systemd manages is not ours, even if we may write to it. */
static bool
is_delegated(const char *dir, const struct cgroup_world *world)
{
	char value[8] = "";

	if (!file_exists(or_else(world->booted, "/run/systemd/system")))
		return true;
	return getxattr(dir, "user.delegate", value, sizeof value - 1) > 0 &&
	    value[0] == '1';
}

/* The limits that folders in it can have; 0 also if they cannot be made. */
static unsigned
judge_folder(const char *dir, unsigned wanted, const struct cgroup_world *world)
{
	unsigned missing;

	if (access(dir, W_OK | X_OK) != 0 || !is_writable(dir, "cgroup.procs"))
		return 0;
	if (!is_delegated(dir, world))
		return 0;
	missing = wanted & read_set(dir, "cgroup.controllers") &
	    ~read_set(dir, "cgroup.subtree_control");
	/* Fails where processes live in the folder itself. */
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		cleanup_free char *word =
		    xasprintf("+%s", box_limit_rows[i].controller);

		if ((missing & 1u << i) != 0)
			put(dir, "cgroup.subtree_control", word);
	}
	return wanted & read_set(dir, "cgroup.subtree_control");
}

/* Our own folder, or the one around it: systemd can put the processes of a
 * unit with Delegate= into a folder below that of the unit. */
static void
find_folder(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *place)
{
	cleanup_free char *own = find_own(world);
	cleanup_free char *around = NULL;
	unsigned held;

	if (own == NULL) {
		place->why = xstrdup("cgroup v2 is not there");
		return;
	}
	held = judge_folder(own, wanted, world);
	if (held == 0) {
		around = xstrndup(own, (size_t)(strrchr(own, '/') - own));
		held = is_writable(around, "cgroup.procs") ?
		    judge_folder(around, wanted, world) :
		    0;
	}
	if (held == 0) {
		place->why = xasprintf(
		    "no cgroup with these controllers was delegated to us in "
		    "%s",
		    own);
		return;
	}
	place->way = CGROUP_FOLDER;
	place->held = held;
	place->folder = take_ptr(around != NULL ? &around : &own);
}

/* --- a scope ------------------------------------------------------------ */

static char *
find_program(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = xstrdup(path != NULL ? path : "");
	char *rest = copy;
	const char *dir;

	while ((dir = strsep(&rest, ":")) != NULL) {
		cleanup_free char *file = file_join(dir, name);

		if (dir[0] == '/' && access(file, X_OK) == 0)
			return take_ptr(&file);
	}
	return NULL;
}

static bool
find_scope(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *place)
{
	const char *run_dir = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *user = xasprintf(
	    "%s/systemd/private", run_dir != NULL ? run_dir : "/nowhere");
	const char *root =
	    or_else(world->system_manager, "/run/systemd/private");
	cleanup_free char *program = world->systemd_run != NULL ?
	    xstrdup(world->systemd_run) :
	    find_program("systemd-run");

	if (program == NULL)
		return false;
	place->as_root = geteuid() == 0 && file_exists(root);
	if (!place->as_root && !file_exists(or_else(world->user_manager, user)))
		return false;
	place->way = CGROUP_SCOPE;
	place->held = wanted;
	place->systemd_run = take_ptr(&program);
	free(take_ptr(&place->folder));
	free(take_ptr(&place->why));
	return true;
}

/* --- both --------------------------------------------------------------- */

void
cgroup_find(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *ret_place)
{
	static const struct cgroup_world here = { 0 };
	struct cgroup_place *place = ret_place;

	*place = (struct cgroup_place){ 0 };
	if (wanted == 0)
		return;
	if (world == NULL)
		world = &here;
	find_folder(wanted, world, place);
	if (place->held == wanted || find_scope(wanted, world, place))
		return;
	if (place->held != 0) {
		cleanup_buf struct buf missing = BUF_INIT;

		box_limits_describe(wanted & ~place->held, &missing);
		place->why = xasprintf(
		    "%s has no controller for %s", place->folder, missing.data);
	} else {
		char *words = xasprintf(
		    "%s, and no systemd can be asked for a scope", place->why);

		free(place->why);
		place->why = words;
	}
}

void
cgroup_place_release(struct cgroup_place *place)
{
	free(place->folder);
	free(place->systemd_run);
	free(place->why);
	*place = (struct cgroup_place){ 0 };
}

int
cgroup_make(const struct cgroup_place *place, const struct box_limits *limits,
    const char *name, char **ret_dir, struct err *err)
{
	cleanup_free char *dir = file_join(place->folder, name);
	int r;

	rmdir(dir); /* of an earlier one: what was counted there is not ours */
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "%s", dir);
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		const struct box_limit_row *row = &box_limit_rows[i];
		cleanup_free char *value = limits->values[i] > 0 ?
		    xasprintf("%lld", (long long)limits->values[i]) :
		    xstrdup(row->none);

		if ((place->held & 1u << i) == 0)
			continue;
		r = put(dir, row->file, value);
		if (r < 0 && limits->values[i] > 0) {
			rmdir(dir);
			return err_errno(err, r, "%s/%s", dir, row->file);
		}
	}
	*ret_dir = take_ptr(&dir);
	return 0;
}

int64_t
cgroup_oom_kills(const char *dir)
{
	cleanup_free char *path = file_join(dir, "memory.events");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, TEXT_MAX, &text, NULL) < 0)
		return -1;
	return box_limits_oom_kills(text.data);
}
