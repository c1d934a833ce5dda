/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "claude-box.h"
#include "claude.h"

#define COPY_MAX (4 * 1024 * 1024)
#define HOME_MAX (64 * 1024 * 1024)

const char *const claude_box_shared[] = { "agents", "commands", "skills",
	"output-styles", "rules", NULL };

char *
claude_box_source(void)
{
	const char *home = getenv("HOME"), *set = getenv("CLAUDE_CONFIG_DIR");

	if (set != NULL && set[0] != '\0')
		return xstrdup(set);
	if (home == NULL || home[0] == '\0')
		return NULL;
	return file_join(home, ".claude");
}

/* A folder may be of any size, and is only put aside. */
static int
put_aside(const char *path)
{
	cleanup_free char *aside = xasprintf("%s.folder-XXXXXX", path);

	if (mkdtemp(aside) == NULL || rename(path, aside) == -1)
		return -errno;
	log_debug("%s was a folder; it is %s now", path, aside);
	return 0;
}

/* Remove what is at path, so that nothing is followed or written through. */
static int
clear_place(const char *path, struct err *err)
{
	int r = unlink(path) == -1 ? -errno : 0;

	if (r == -EISDIR)
		r = put_aside(path);
	if (r == 0 || r == -ENOENT)
		return 0;
	return err_errno(
	    err, r, "%s must be replaced; remove it by hand", path);
}

static int
write_file(const char *path, const void *bytes, size_t len, struct err *err)
{
	cleanup_fd int fd = -1;
	int r = clear_place(path, err);

	if (r < 0)
		return r;
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return err_errno(err, -errno, "cannot create %s", path);
	r = file_write_all(fd, bytes, len);
	return r < 0 ? err_errno(err, r, "cannot write %s", path) : 0;
}

static int
write_json(const char *path, struct json_object *json, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return write_file(path, text.data, text.len, err);
}

static struct json_object *
load_object(const char *file, size_t max)
{
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, max, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return json_object_new_object();
	return take_ptr(&json);
}

static void
keep(struct json_object *from, struct json_object *to, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_object_get_ex(from, key, &value))
		json_set(to, key, json_object_get(value));
}

/* --- .claude.json ---------------------------------------------------- */

static int
write_home(
    const char *folder, const char *tree, const char *api_key, struct err *err)
{
	static const char *const kept[] = { "hasCompletedOnboarding",
		"lastOnboardingVersion", "customApiKeyResponses",
		"oauthAccount", "userID", "theme", "installMethod",
		"bypassPermissionsModeAccepted" };
	cleanup_free char *own = claude_home_file();
	cleanup_free char *file = file_join(folder, ".claude.json");
	cleanup_json struct json_object *user =
	    own != NULL ? load_object(own, HOME_MAX) : json_object_new_object();
	cleanup_json struct json_object *json = json_object_new_object();
	int r;

	for (size_t i = 0; i < nitems(kept); i++)
		keep(user, json, kept[i]);
	/* A new version is installed outside of boxes only. */
	json_set_bool(json, "autoUpdates", false);
	r = write_json(file, json, err);
	return r < 0 ? r : claude_home_trust(file, tree, api_key, true, err);
}

/* --- settings.json, CLAUDE.md ---------------------------------------- */

static int
write_settings(const char *folder, const char *source, struct err *err)
{
	cleanup_free char *from = file_join(source, "settings.json");
	cleanup_free char *to = file_join(folder, "settings.json");
	cleanup_json struct json_object *json = load_object(from, COPY_MAX);

	json_object_object_del(json, "enabledPlugins");
	json_object_object_del(json, "extraKnownMarketplaces");
	return write_json(to, json, err);
}

static int
copy_memory(const char *folder, const char *source, struct err *err)
{
	cleanup_free char *from = file_join(source, "CLAUDE.md");
	cleanup_free char *to = file_join(folder, "CLAUDE.md");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(from, COPY_MAX, &text, NULL) < 0)
		return clear_place(to, err);
	return write_file(to, text.data, text.len, err);
}

int
claude_box_write(
    const char *folder, const char *tree, const char *api_key, struct err *err)
{
	cleanup_free char *source = claude_box_source();
	int r = write_home(folder, tree, api_key, err);

	if (r == 0 && source != NULL)
		r = write_settings(folder, source, err);
	if (r == 0 && source != NULL)
		r = copy_memory(folder, source, err);
	return r;
}

int
claude_box_login_place(const char *folder, char **ret_path, struct err *err)
{
	cleanup_free char *path = file_join(folder, ".credentials.json");
	int r = write_file(path, "", 0, err);

	if (r == 0)
		*ret_path = take_ptr(&path);
	return r;
}

int
claude_box_folder_place(
    const char *folder, const char *name, char **ret_path, struct err *err)
{
	cleanup_free char *path = file_join(folder, name);
	struct stat st;
	int r;

	if (lstat(path, &st) == -1 || !S_ISDIR(st.st_mode)) {
		r = clear_place(path, err);
		if (r < 0)
			return r;
		if (mkdir(path, 0700) == -1)
			return err_errno(err, -errno, "cannot create %s", path);
	}
	*ret_path = take_ptr(&path);
	return 0;
}
