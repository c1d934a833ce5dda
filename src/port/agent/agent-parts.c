/* SPDX-License-Identifier: ISC */

/* The parts that a kind launches its agent with: settings, words, files. */
#include "base.h"

#include <fcntl.h>

#include "agent-card.h"
#include "agent-kind.h"
#include "config.h"
#include "settings.h"
#include "workspace.h"

#define MEMORY_MAX (4 * 1024 * 1024)

char *
agent_source(const struct agent_kind *kind)
{
	const char *home = getenv("HOME"), *set = getenv(kind->variable);

	if (set != NULL && set[0] != '\0')
		return xstrdup(set);
	if (home == NULL || home[0] == '\0')
		return NULL;
	return xasprintf("%s%s", home, kind->home);
}

char *
agent_path(const struct agent_launch *launch, const char *name)
{
	cleanup_free char *relative =
	    xasprintf("sessions/%s/%s", launch->worker, name);

	return workspace_path(launch->workspace, relative);
}

const char *
agent_string(const struct agent_launch *launch, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(launch->settings, launch->worker, key, &path);
	return settings_string(launch->settings, path.data);
}

size_t
agent_list(const struct agent_launch *launch, const char *key,
    const char *const **ret_items)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(launch->settings, launch->worker, key, &path);
	return settings_list(launch->settings, path.data, ret_items);
}

int64_t
agent_int(const struct agent_launch *launch, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(launch->settings, launch->worker, key, &path);
	return settings_int(launch->settings, path.data);
}

bool
agent_bool(const struct agent_launch *launch, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(launch->settings, launch->worker, key, &path);
	return settings_bool(launch->settings, path.data);
}

const struct launch_choice *
agent_choice(const struct agent_launch *launch)
{
	static const struct launch_choice none;

	return launch->choice != NULL ? launch->choice : &none;
}

const char *
agent_mode(const struct agent_launch *launch)
{
	return launch_choice_mode(
	    agent_choice(launch), agent_string(launch, "permission_mode"));
}

const char *
agent_model(const struct agent_launch *launch)
{
	const struct launch_choice *choice = agent_choice(launch);

	return choice->model != NULL ? choice->model :
				       agent_string(launch, "model");
}

void
agent_add_model(const char *model, char ***argv)
{
	if (model[0] != '\0') {
		strv_add(argv, "--model");
		strv_add(argv, model);
	}
}

void
agent_add_extra(const struct agent_launch *launch, char ***argv)
{
	const char *const *items;

	agent_list(launch, "extra_args", &items);
	strv_add_all(argv, items);
}

void
agent_hook_words(const struct agent_kind *kind,
    const struct agent_launch *launch, const char *event, char ***words)
{
	cleanup_free char *generation =
	    xasprintf("%llu", (unsigned long long)launch->generation);
	cleanup_free char *spool =
	    run_dir_spool(launch->workspace, launch->worker);
	const char *const args[] = { launch->llmc, "hook", event, "--worker",
		launch->worker, "--generation", generation, "--socket",
		launch->socket, "--spool", spool, NULL };

	strv_add_all(words, args);
	if (launch->guarded && strcmp(event, "PreToolUse") == 0) {
		strv_add(words, "--policy");
		strv_take(
		    words, policy_file_path(launch->workspace, launch->worker));
	}
	if (kind->event != NULL) {
		strv_add(words, "--agent");
		strv_add(words, kind->name);
	}
}

void
agent_hook_command(const struct agent_kind *kind,
    const struct agent_launch *launch, const char *event, struct buf *command)
{
	cleanup_strv char **words = NULL;

	agent_hook_words(kind, launch, event, &words);
	for (char **word = words; *word != NULL; word++) {
		if (command->len > 0)
			buf_addc(command, ' ');
		text_add_shell(command, *word);
	}
}

void
agent_mcp_words(const struct agent_launch *launch, char ***words)
{
	const char *const args[] = { launch->llmc, "mcp", "--socket",
		launch->socket, "--worker", launch->worker, "--generation",
		NULL };

	strv_add_all(words, args);
	strv_take(
	    words, xasprintf("%llu", (unsigned long long)launch->generation));
	if (launch->guarded) {
		strv_add(words, "--policy");
		strv_take(
		    words, policy_file_path(launch->workspace, launch->worker));
	}
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

int
agent_clear_place(const char *path, struct err *err)
{
	int r = unlink(path) == -1 ? -errno : 0;

	if (r == -EISDIR)
		r = put_aside(path);
	if (r == 0 || r == -ENOENT)
		return 0;
	return err_errno(
	    err, r, "%s must be replaced; remove it by hand", path);
}

int
agent_write_file(
    const char *path, const void *bytes, size_t len, struct err *err)
{
	cleanup_fd int fd = -1;
	int r = agent_clear_place(path, err);

	if (r < 0)
		return r;
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return err_errno(err, -errno, "cannot create %s", path);
	r = file_write_all(fd, bytes, len);
	return r < 0 ? err_errno(err, r, "cannot write %s", path) : 0;
}

int
agent_write(const struct agent_kind *kind, const char *folder, const char *tree,
    struct err *err)
{
	cleanup_free char *source = agent_source(kind), *from = NULL,
			  *to = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const char *const *gone = kind->gone;
	int r = kind->write != NULL ? kind->write(folder, tree, err) : 0;

	for (; r == 0 && gone != NULL && *gone != NULL; gone++) {
		cleanup_free char *path = file_join(folder, *gone);

		r = agent_clear_place(path, err);
	}
	if (r < 0 || kind->memory == NULL)
		return r;
	to = file_join(folder, kind->memory);
	from = source != NULL ? file_join(source, kind->memory) : NULL;
	if (from == NULL || file_read(from, MEMORY_MAX, &text, NULL) < 0)
		return agent_clear_place(to, err);
	return agent_write_file(to, text.data, text.len, err);
}
