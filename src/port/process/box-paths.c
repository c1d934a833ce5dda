/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <libgen.h>
#include <strings.h>
#include <sys/stat.h>

#include "box-paths.h"
#include "box-plan.h"
#include "sibling.h"

#define CONFIG_MAX   (1024 * 1024)
#define INCLUDES_MAX 8 /* files inside each other */
#define LINKS_MAX    40 /* as the kernel has it */
#define PROGRAMS_MAX 4 /* interpreters of each other */

/* What all programs of a machine need. Those of Nix, Guix, snap and Homebrew
 * have a place of their own. Of /var only what holds no data of services. */
static const char *const machine_folders[] = { "/usr", "/bin", "/sbin", "/lib",
	"/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys", "/nix/store",
	"/nix/var/nix/profiles", "/gnu/store", "/var/guix/profiles", "/snap",
	"/home/linuxbrew/.linuxbrew", "/var/lib/ca-certificates",
	"/var/lib/dpkg", "/var/lib/rpm" };

void
box_paths_release(struct box_paths *paths)
{
	strv_clear(&paths->machine);
	strv_clear(&paths->hidden);
	strv_clear(&paths->shown);
	strv_clear(&paths->owned);
	free(take_ptr(&paths->links));
}

/* The length of the deepest of the folders around a path; 0 = none. */
static size_t
deepest(char *const *folders, const char *path)
{
	size_t most = 0;

	for (; folders != NULL && *folders != NULL; folders++)
		if (box_is_within(path, *folders) && strlen(*folders) > most)
			most = strlen(*folders);
	return most;
}

/* A deeper mount hides what is around it. */
static bool
is_seen(const struct box_paths *p, const char *path)
{
	size_t hidden = deepest(p->hidden, path);

	return deepest(p->machine, path) > hidden ||
	    (deepest(p->shown, path) > 0 && deepest(p->shown, path) >= hidden);
}

static bool
holds_hidden(const struct box_paths *p, const char *path)
{
	for (char **h = p->hidden; h != NULL && *h != NULL; h++)
		if (box_is_within(*h, path))
			return true;
	return false;
}

static void
add_shown(struct box_paths *p, const char *path)
{
	if (!is_seen(p, path) && !holds_hidden(p, path))
		strv_add(&p->shown, path);
}

static void
add_link(struct box_paths *p, const char *text, const char *at)
{
	char *from, *place;

	for (size_t i = 0; i < p->link_count; i++)
		if (strcmp(p->links[i].at, at) == 0)
			return;
	from = xstrdup(text);
	place = xstrdup(at);
	strv_take(&p->owned, from);
	strv_take(&p->owned, place);
	p->links = xreallocarray(p->links, p->link_count + 2, sizeof *p->links);
	p->links[p->link_count++] = (struct box_bind){ from, place, false };
	p->links[p->link_count] = (struct box_bind){ 0 };
}

void
box_paths_follow(struct box_paths *p, const char *path)
{
	cleanup_free char *rest = xstrdup(path);
	cleanup_buf struct buf here = BUF_INIT;
	char text[PATH_MAX];

	for (int links = 0; links <= LINKS_MAX;) {
		char *name = rest + strspn(rest, "/");
		size_t len = strcspn(name, "/"), before = here.len;
		cleanup_free char *more = NULL;
		ssize_t got;

		if (len == 0 || (len == 2 && text_begins(name, "..")))
			return;
		buf_addf(&here, "/%.*s", (int)len, name);
		got = readlink(here.data, text, sizeof text - 1);
		if (got <= 0) {
			memmove(rest, name + len, strlen(name + len) + 1);
			continue;
		}
		text[got] = '\0';
		if (!is_seen(p, here.data))
			add_link(p, text, here.data);
		buf_truncate(&here, text[0] == '/' ? 0 : before);
		more = xasprintf("%s%s", text, name + len);
		free(rest);
		rest = take_ptr(&more);
		links++;
	}
}

/* Is it a link in one of these folders, which is there as it is? */
static bool
is_link_in(const struct box_paths *p, char *const *folders, const char *path)
{
	struct stat st;

	return deepest(folders, path) > 0 &&
	    deepest(folders, path) >= deepest(p->hidden, path) &&
	    lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

void
box_paths_finish(struct box_paths *p, char *const *read, char *const *write)
{
	char **shown = take_ptr(&p->shown), **all;
	size_t links = 0, given = 0;

	for (; read != NULL && read[given] != NULL; given++)
		strv_add(&p->shown, read[given]);
	/* A folder comes before what is in it. */
	for (size_t i = 0; shown != NULL && shown[i] != NULL; i++) {
		size_t least = i;

		for (size_t n = i + 1; shown[n] != NULL; n++)
			if (strlen(shown[n]) < strlen(shown[least]))
				least = n;
		/* What can be written around it does not make it writable. */
		if (!is_seen(p, shown[least]) &&
		    !is_link_in(p, write, shown[least]))
			strv_add(&p->shown, shown[least]);
		free(shown[least]);
		shown[least] = shown[i];
	}
	free(shown);
	for (size_t i = 0; i < p->link_count; i++)
		if (!is_seen(p, p->links[i].at) &&
		    !is_link_in(p, write, p->links[i].at))
			p->links[links++] = p->links[i];
	if (p->links != NULL)
		p->links[links] = (struct box_bind){ 0 };
	p->link_count = links;
	all = take_ptr(&p->shown);
	for (size_t i = given; i < strv_count(all); i++)
		strv_add(&p->shown, all[i]);
	strv_free(all);
}

void
box_paths_begin(struct box_paths *p)
{
	for (size_t i = 0; i < nitems(machine_folders); i++) {
		cleanup_free char *real = realpath(machine_folders[i], NULL);

		if (real == NULL)
			continue;
		box_paths_follow(p, machine_folders[i]);
		if (deepest(p->machine, real) == 0)
			strv_take(&p->machine, take_ptr(&real));
	}
	box_paths_follow(p, "/var/run");
}

bool
box_paths_hide(struct box_paths *p, const char *folder)
{
	char *real = realpath(folder, NULL);

	if (real == NULL)
		return false;
	strv_take(&p->hidden, real);
	return true;
}

void
box_paths_show(struct box_paths *p, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *upper = xstrdup(path), *lower = xstrdup(path);
	cleanup_free char *folder = NULL, *here = NULL;
	const char *above = dirname(upper);
	struct stat st;

	/* A box has its own /dev/null, and one mounted over it is no device. */
	if (real == NULL || stat(real, &st) < 0 || S_ISCHR(st.st_mode))
		return;
	box_paths_follow(p, above);
	add_shown(p, real);
	/* The path itself, with the links in its folders followed. */
	folder = realpath(above, NULL);
	if (folder == NULL)
		return;
	here = file_join(folder, basename(lower));
	if (strcmp(here, real) != 0)
		add_shown(p, here);
}

/* The words of "#!PROGRAM WORD", if the file begins so: PROGRAM, or WORD if it
 * is env. The caller frees; NULL = it is no script. */
static char *
interpreter_of(const char *file)
{
	char line[PATH_MAX] = "";
	FILE *stream = fopen(file, "re");
	char *rest = line + 2, *program, *word;

	if (stream == NULL)
		return NULL;
	if (fgets(line, sizeof line, stream) == NULL)
		line[0] = '\0';
	fclose(stream);
	if (!text_begins(line, "#!"))
		return NULL;
	rest[strcspn(rest, "\r\n")] = '\0';
	rest += strspn(rest, " \t");
	program = strsep(&rest, " \t");
	if (strcmp(basename(program), "env") != 0)
		return xstrdup(program);
	while ((word = strsep(&rest, " \t")) != NULL)
		if (word[0] != '\0' && word[0] != '-')
			return xstrdup(word);
	return NULL;
}

static void
show_program(struct box_paths *p, const char *name, int depth)
{
	cleanup_free char *path = sibling_program(name), *real = NULL;
	cleanup_free char *interpreter = NULL;
	char *modules;

	if (path == NULL || depth > PROGRAMS_MAX)
		return;
	box_paths_show(p, path);
	real = realpath(path, NULL);
	interpreter = real != NULL ? interpreter_of(real) : NULL;
	if (interpreter != NULL)
		show_program(p, interpreter, depth + 1);
	modules = real != NULL ? strstr(real, "/node_modules/") : NULL;
	if (modules == NULL)
		return;
	modules[strlen("/node_modules")] = '\0';
	box_paths_show(p, real);
}

void
box_paths_show_program(struct box_paths *p, const char *name)
{
	show_program(p, name, 0);
}

/* What programs of a folder bin read, in the folders beside it. Never share of
 * a home directory, where passwords are kept too. */
static void
show_beside(struct box_paths *p, const char *bin, const char *home)
{
	static const char *const beside[] = { "lib", "lib64", "libexec",
		"include", "share" };
	cleanup_free char *upper = xstrdup(bin), *lower = xstrdup(bin);
	const char *name = basename(lower), *prefix = dirname(upper);
	size_t count =
	    box_is_within(bin, home) ? nitems(beside) - 1 : nitems(beside);

	if ((strcmp(name, "bin") != 0 && strcmp(name, "sbin") != 0) ||
	    strcmp(prefix, home) == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *path = file_join(prefix, beside[i]);

		box_paths_show(p, path);
	}
}

void
box_paths_show_search(struct box_paths *p, const char *home, const char *except)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = xstrdup(path != NULL ? path : "");
	char *rest = copy;
	const char *dir;

	while ((dir = strsep(&rest, ":")) != NULL) {
		cleanup_free char *real =
		    dir[0] == '/' ? realpath(dir, NULL) : NULL;

		if (real == NULL || box_is_within(real, except))
			continue;
		box_paths_show(p, dir);
		show_beside(p, real, home);
	}
}

/* --- git ------------------------------------------------------------- */

static void
show_config(struct box_paths *p, const char *file, const char *home, int depth);

/* The value of "path = VALUE", without quotes and space around it; NULL if the
 * line is another one. Changes the line. */
static char *
path_value(char *line)
{
	char *end;

	line += strspn(line, " \t");
	if (strncasecmp(line, "path", 4) != 0)
		return NULL;
	line += 4;
	line += strspn(line, " \t");
	if (*line++ != '=')
		return NULL;
	line += strspn(line, " \t\"");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r\"", end[-1]) != NULL)
		end--;
	*end = '\0';
	return line;
}

static void
show_include(struct box_paths *p, const char *value, const char *file,
    const char *home, int depth)
{
	cleanup_free char *copy = xstrdup(file), *path = NULL;

	if (value[0] == '~' && value[1] == '/')
		path = file_join(home, value + 2);
	else
		path = file_join(dirname(copy), value);
	show_config(p, path, home, depth + 1);
}

static void
show_config(struct box_paths *p, const char *file, const char *home, int depth)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *line, *value;
	bool including = false;

	if (depth > INCLUDES_MAX ||
	    file_read(file, CONFIG_MAX, &text, NULL) < 0)
		return;
	box_paths_show(p, file);
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		if (line[0] == '[')
			including = strncasecmp(line, "[include", 8) == 0;
		else if (including && (value = path_value(line)) != NULL)
			show_include(p, value, file, home, depth);
	}
}

static void
show_alternates(struct box_paths *p, const char *git_dir)
{
	cleanup_free char *objects = file_join(git_dir, "objects");
	cleanup_free char *file = file_join(objects, "info/alternates");
	cleanup_buf struct buf text = BUF_INIT;
	char *rest;
	const char *line;

	if (file_read(file, CONFIG_MAX, &text, NULL) < 0)
		return;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0' && line[0] != '#') {
			cleanup_free char *path = file_join(objects, line);

			box_paths_show(p, path);
		}
}

void
box_paths_show_git(struct box_paths *p, const char *home, const char *git_dir)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	cleanup_free char *plain = file_join(home, ".gitconfig");
	cleanup_free char *folder = xdg != NULL && xdg[0] == '/' ?
	    file_join(xdg, "git") :
	    file_join(home, ".config/git");
	cleanup_free char *config = file_join(folder, "config");
	cleanup_free char *ignore = file_join(folder, "ignore");
	cleanup_free char *attributes = file_join(folder, "attributes");

	show_config(p, plain, home, 0);
	show_config(p, config, home, 0);
	/* Not the folder: git keeps passwords in it, too. */
	box_paths_show(p, ignore);
	box_paths_show(p, attributes);
	show_alternates(p, git_dir);
}

void
box_paths_show_machine(struct box_paths *p)
{
	static const char *const variables[] = { "NODE_EXTRA_CA_CERTS",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM" };

	box_paths_show(p, "/etc/resolv.conf");
	/* The programs of NixOS. */
	box_paths_show(p, "/run/current-system");
	for (size_t i = 0; i < nitems(variables); i++) {
		const char *path = getenv(variables[i]);

		if (path != NULL && path[0] == '/')
			box_paths_show(p, path);
	}
}

/* --- sockets --------------------------------------------------------- */

/* The path in a line of /proc/net/unix; NULL if it has none, or one that means
 * something else to each process. */
static const char *
socket_path(char *line)
{
	const char *path = strchr(line, '/');

	line[strcspn(line, "\n")] = '\0';
	/* An abstract name may have one, too. */
	return path != NULL && path > line && path[-1] == ' ' &&
		!box_is_within(path, "/proc") ?
	    path :
	    NULL;
}

char **
box_paths_sockets(void)
{
	FILE *stream = fopen("/proc/net/unix", "re");
	char *line = NULL, **list = NULL;
	size_t size = 0;
	struct stat st;

	while (stream != NULL && getline(&line, &size, stream) > 0) {
		const char *path = socket_path(line);
		char *real = path != NULL ? realpath(path, NULL) : NULL;

		if (real != NULL && lstat(real, &st) == 0 &&
		    S_ISSOCK(st.st_mode))
			strv_take(&list, real);
		else
			free(real);
	}
	free(line);
	if (stream != NULL)
		fclose(stream);
	return list;
}
