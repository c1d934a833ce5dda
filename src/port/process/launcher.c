/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "launcher.h"
#include "schema.h"
#include "sibling.h"

#define LAUNCHER_MAX (4 * 1024 * 1024)

static const struct schema keeper_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("record", STRING, NULL),
	    SCHEMA_MAY("mark", STRING, NULL),
	    SCHEMA_MAY("cgroup", STRING, NULL),
	    SCHEMA_MAY("scope", LIST, NULL),
	    SCHEMA_MAY("modes", STRING, NULL),
	    SCHEMA_MAY("boxed", BOOL, NULL),
	    SCHEMA_END,
	},
};

static const struct schema launcher_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("argv", LIST, NULL, .min = 1),
	    SCHEMA_IS("env", LIST, NULL),
	    SCHEMA_IS("cwd", STRING, NULL),
	    SCHEMA_MAY("keeper", OBJECT, NULL, .of = &keeper_shape),
	    SCHEMA_END,
	},
};

/* What tmux set for the pane stays; everything else comes from the file. */
static void
set_environment(struct json_object *variables)
{
	static const char *const pane[] = { "TMUX", "TMUX_PANE", "TERM",
		"COLORTERM" };
	char *kept[nitems(pane)];

	for (size_t i = 0; i < nitems(pane); i++) {
		const char *value = getenv(pane[i]);

		kept[i] = value != NULL ? xstrdup(value) : NULL;
	}
	clearenv();
	for (size_t i = 0; i < json_object_array_length(variables); i++) {
		const char *entry = json_object_get_string(
		    json_object_array_get_idx(variables, i));
		cleanup_free char *name = xstrndup(entry, strcspn(entry, "="));

		if (strchr(entry, '=') != NULL && name[0] != '\0')
			setenv(name, strchr(entry, '=') + 1, 1);
	}
	for (size_t i = 0; i < nitems(pane); i++) {
		if (kept[i] != NULL)
			setenv(pane[i], kept[i], 1);
		else
			unsetenv(pane[i]);
		free(kept[i]);
	}
}

static void
add_option(char ***argv, struct json_object *keeper, const char *name,
    const char *flag)
{
	const char *value = json_string_or(keeper, name, "");

	if (value[0] == '\0')
		return;
	strv_add(argv, flag);
	strv_add(argv, value);
}

/* The keeper's arguments, and behind them those of the agent. */
static char **
keeper_argv(const char *program, struct json_object *json)
{
	struct json_object *keeper = json_member(json, "keeper");
	struct json_object *words = json_member(json, "argv");
	char **argv = strv_from_json(json_member(keeper, "scope"));

	strv_add(&argv, program);
	strv_add(&argv, "--terminal");
	if (keeper != NULL) {
		add_option(&argv, keeper, "record", "--record");
		add_option(&argv, keeper, "mark", "--mark");
		add_option(&argv, keeper, "cgroup", "--cgroup");
		add_option(&argv, keeper, "modes", "--mode");
		if (json_bool_or(keeper, "boxed", false)) {
			strv_add(&argv, "--mode");
			strv_add(&argv, "box");
		}
	}
	strv_add(&argv, "--");
	for (size_t i = 0; i < json_object_array_length(words); i++)
		strv_add(&argv,
		    json_object_get_string(
			json_object_array_get_idx(words, i)));
	return argv;
}

/* Can the agent be executed? The keeper would find out too late to say where
 * its name comes from. 0 or negative errno. */
static int
find_agent(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy =
	    xstrdup(path != NULL ? path : "/usr/bin:/bin");
	char *rest = copy, *dir;
	int r = -ENOENT;

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == -1 ? -errno : 0;
	while ((dir = strsep(&rest, ":")) != NULL) {
		cleanup_free char *file =
		    file_join(dir[0] != '\0' ? dir : ".", name);

		if (access(file, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			r = -EACCES;
	}
	return r;
}

static int
refuse(const char *agent, int code, struct err *err)
{
	return err_errno(err, code,
	    "cannot start the agent %s; see: llmc config get "
	    "defaults.agent_command",
	    agent);
}

/* Execute the agent below a keeper. */
static int
become_keeper(struct json_object *json, struct err *err)
{
	const char *mark =
	    json_string_or(json_member(json, "keeper"), "mark", "");
	const char *agent = json_object_get_string(
	    json_object_array_get_idx(json_member(json, "argv"), 0));
	cleanup_free char *program = sibling_find("keeper");
	cleanup_strv char **argv = NULL;
	int r;

	if (program == NULL)
		return err_set(err, -ENOENT,
		    "the program keeper is not there: it belongs beside llmc "
		    "or into its libexec folder; install llmc again");
	argv = keeper_argv(program, json);
	set_environment(json_member(json, "env"));
	/* By this the keeper itself is found too: orphans.h. */
	setenv("LLMC_KEEPER", mark, 1);
	r = find_agent(agent);
	if (r < 0)
		return refuse(agent, r, err);
	execv(argv[0], argv);
	return refuse(agent, -errno, err);
}

int
launcher_exec(const char *file, struct err *err)
{
	const struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = &launcher_shape };
	cleanup_json struct json_object *json = NULL;
	const char *cwd;
	int r = json_load(file, LAUNCHER_MAX, &json, err);

	/* The environment in it may have keys, and is not needed any more. */
	unlink(file);
	if (r < 0)
		return r;
	r = schema_check(&whole, json, "", err);
	if (r < 0) {
		err_prefix(err, "%s", file);
		return r;
	}
	cwd = json_string_or(json, "cwd", ".");
	if (chdir(cwd) == -1)
		return err_errno(err, -errno, "%s", cwd);
	return become_keeper(json, err);
}
