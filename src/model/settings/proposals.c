/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "proposals.h"
#include "settings.h"
#include "toml.h"

#define DAY_COST     "50"
#define COMMAND_MAX  1000 /* of a postCreateCommand */
#define PATTERNS_MAX 100 /* of .worktreeinclude */

const char *const proposals_read[] = { "package.json", "pyproject.toml",
	"requirements.txt", "requirements-dev.txt", "setup.cfg", "GNUmakefile",
	"makefile", "Makefile", "CMakeLists.txt", "composer.json",
	".yarnrc.yml", ".worktreeinclude", ".devcontainer.json",
	".devcontainer/devcontainer.json", NULL };

const char *const proposals_made[] = { "node_modules", ".venv", "venv",
	"vendor", "build", "_build", "builddir", NULL };

struct look {
	const struct project_facts *facts;
	struct buf kind, check, check_why, setup, setup_why;
	char **when; /* files after whose change the set-up runs again */
	char **seed; /* folders that a new worktree gets a copy of */
	struct proposals *out;
};

/* --- reading ------------------------------------------------------------- */

static const struct project_file *
find(const struct look *l, const char *path)
{
	for (size_t i = 0; i < l->facts->count; i++)
		if (strcmp(l->facts->files[i].path, path) == 0)
			return &l->facts->files[i];
	return NULL;
}

/* The first of these files that is there; NULL = none is. */
static const char *
first_of(const struct look *l, const char *const *paths)
{
	while (*paths != NULL && find(l, *paths) == NULL)
		paths++;
	return *paths;
}

#define FIRST_OF(l, ...) first_of(l, (const char *const[]){ __VA_ARGS__, NULL })

static bool
is_ignored(const struct look *l, const char *folder)
{
	return l->facts->ignored != NULL && strv_has(l->facts->ignored, folder);
}

static bool
contains(const struct look *l, const char *path, const char *word)
{
	const struct project_file *f = find(l, path);

	return f != NULL && f->text != NULL &&
	    memmem(f->text, f->len, word, strlen(word)) != NULL;
}

/* NULL if there is no such file, or it is no object. The caller owns it. */
static struct json_object *
read_json(const struct look *l, const char *path)
{
	const struct project_file *f = find(l, path);
	struct json_object *json = NULL;

	if (f == NULL || f->text == NULL ||
	    json_parse(f->text, f->len, PROPOSALS_FILE_MAX, &json, NULL) < 0)
		return NULL;
	if (json_object_is_type(json, json_type_object))
		return json;
	json_object_put(json);
	return NULL;
}

/* A member of an object, if it is of that type. */
static struct json_object *
member(struct json_object *json, const char *key, enum json_type type)
{
	struct json_object *value = NULL;

	return json != NULL && json_object_is_type(json, json_type_object) &&
		json_object_object_get_ex(json, key, &value) &&
		json_object_is_type(value, type) ?
	    value :
	    NULL;
}

static bool
has_members(struct json_object *json, const char *key)
{
	struct json_object *object = member(json, key, json_type_object);

	return object != NULL && json_object_object_length(object) > 0;
}

/* --- collecting ---------------------------------------------------------- */

static void
add(struct proposals *out, const char *path, const char *value,
    const char *reason)
{
	out->list = xreallocarray(out->list, out->count + 1, sizeof *out->list);
	out->list[out->count++] = (struct proposal){
		.path = path,
		.value = xstrdup(value),
		.reason = xstrdup(reason),
	};
}

static void
add_kind(struct look *l, const char *kind)
{
	buf_addf(&l->kind, "%s%s", l->kind.len > 0 ? ", " : "", kind);
}

static void
add_check(struct look *l, const char *command, const char *why)
{
	buf_addf(&l->check, "%s%s", l->check.len > 0 ? " && " : "", command);
	buf_addf(&l->check_why, "%s%s", l->check_why.len > 0 ? "; " : "", why);
}

/* folder: what the command makes in the worktree; NULL = nothing that git would
 * see. What git does not ignore would land with the work. */
static bool
add_setup(
    struct look *l, const char *command, const char *folder, const char *why)
{
	if (folder != NULL && !is_ignored(l, folder)) {
		strv_take(&l->out->remarks,
		    xasprintf("not proposed: %s, because git does not ignore "
			      "%s/ and it would land with the work",
			command, folder));
		return false;
	}
	buf_addf(&l->setup, "%s%s", l->setup.len > 0 ? " && " : "", command);
	buf_addf(&l->setup_why, "%s%s", l->setup_why.len > 0 ? "; " : "", why);
	return true;
}

/* --- node --------------------------------------------------------- */

static const struct manager {
	const char *name, *locks[3], *frozen;
	const char *unlocked; /* writes no lock file, which would land */
} managers[] = {
	{ "npm", { "package-lock.json", "npm-shrinkwrap.json" }, "ci",
	    "install --no-package-lock" },
	{ "pnpm", { "pnpm-lock.yaml" }, "install --frozen-lockfile",
	    "install --no-lockfile" },
	{ "yarn", { "yarn.lock" }, "install --frozen-lockfile",
	    "install --no-lockfile" },
	{ "bun", { "bun.lock", "bun.lockb" }, "install --frozen-lockfile",
	    "install --no-save" },
};

/* What package.json says, else the lock file, else npm. */
static const struct manager *
find_manager(const struct look *l, struct json_object *package)
{
	const char *said = json_object_get_string(
	    member(package, "packageManager", json_type_string));

	for (size_t i = 0; said != NULL && i < nitems(managers); i++) {
		size_t len = strlen(managers[i].name);

		if (strncmp(said, managers[i].name, len) == 0 &&
		    (said[len] == '@' || said[len] == '\0'))
			return &managers[i];
	}
	for (size_t i = 0; i < nitems(managers); i++)
		if (first_of(l, managers[i].locks) != NULL)
			return &managers[i];
	return &managers[0];
}

/* npm init writes: echo "Error: no test specified" && exit 1. */
static const char *
find_script(struct json_object *package)
{
	static const char *const names[] = { "test", "check", "typecheck",
		"lint", "build" };
	struct json_object *scripts =
	    member(package, "scripts", json_type_object);

	for (size_t i = 0; i < nitems(names); i++) {
		const char *text = json_object_get_string(
		    member(scripts, names[i], json_type_string));

		if (text != NULL && text[strspn(text, " ")] != '\0' &&
		    strstr(text, "no test specified") == NULL)
			return names[i];
	}
	return NULL;
}

static void
look_node(struct look *l)
{
	cleanup_json struct json_object *package = read_json(l, "package.json");
	const struct manager *m = find_manager(l, package);
	const char *lock = first_of(l, m->locks), *script;
	cleanup_free char *command = NULL, *why = NULL, *setup = NULL;
	bool berry =
	    strcmp(m->name, "yarn") == 0 && find(l, ".yarnrc.yml") != NULL;
	/* By default it makes no such folder (Plug'n'Play). */
	const char *folder =
	    berry && !contains(l, ".yarnrc.yml", "nodeLinker") ? NULL :
								 "node_modules";

	if (find(l, "package.json") == NULL)
		return;
	add_kind(l, "node");
	script = find_script(package);
	if (script != NULL) {
		bool test = strcmp(script, "test") == 0;

		command = xasprintf("%s %s%s", m->name,
		    test && m->name[0] != 'b' ? "" : "run ", script);
		why = xasprintf("package.json has %sa script \"%s\"",
		    test ? "" : "no script \"test\", but ", script);
		add_check(l, command, why);
	}
	if (lock == NULL && !has_members(package, "dependencies") &&
	    !has_members(package, "devDependencies") &&
	    !json_object_object_get_ex(package, "workspaces", NULL))
		return;
	setup = xasprintf("%s %s", m->name,
	    berry ? lock == NULL ? "install" : "install --immutable" :
		lock == NULL ? m->unlocked :
			       m->frozen);
	free(why);
	why = lock != NULL ?
	    xasprintf("%s lists the packages", lock) :
	    xstrdup("package.json has packages to install, and there is "
		    "no lock file");
	if (!add_setup(l, setup, folder, why))
		return;
	strv_add(&l->when, "package.json");
	if (lock != NULL)
		strv_add(&l->when, lock);
	if (folder != NULL && strcmp(setup, "npm ci") != 0) /* removes it */
		strv_add(&l->seed, "node_modules");
}

/* --- python ------------------------------------------------------- */

/* Is there a table [tool.NAME]? */
static bool
has_tool(struct json_object *pyproject, const char *name)
{
	return member(member(pyproject, "tool", json_type_object), name,
		   json_type_object) != NULL;
}

/* What runs the tests; *ret_why: why. NULL = not known. */
static const char *
find_runner(
    const struct look *l, struct json_object *pyproject, const char **ret_why)
{
	const struct {
		const char *runner;
		bool found;
		const char *why;
	} rows[] = {
		{ "nox", find(l, "noxfile.py") != NULL, "There is noxfile.py" },
		{ "tox", find(l, "tox.ini") != NULL, "There is tox.ini" },
		{ "tox", has_tool(pyproject, "tox"),
		    "pyproject.toml has [tool.tox]" },
		{ "pytest", has_tool(pyproject, "pytest"),
		    "pyproject.toml has [tool.pytest]" },
		{ "pytest", find(l, "pytest.ini") != NULL,
		    "There is pytest.ini" },
		{ "pytest", find(l, "conftest.py") != NULL,
		    "There is conftest.py" },
		{ "pytest", contains(l, "setup.cfg", "[tool:pytest]"),
		    "setup.cfg has [tool:pytest]" },
		{ "pytest", contains(l, "pyproject.toml", "pytest"),
		    "pyproject.toml names pytest" },
		{ "pytest", contains(l, "requirements-dev.txt", "pytest"),
		    "requirements-dev.txt names pytest" },
		{ "pytest", contains(l, "requirements.txt", "pytest"),
		    "requirements.txt names pytest" },
		{ "manage.py test", find(l, "manage.py") != NULL,
		    "There is manage.py, of Django" },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		if (rows[i].found) {
			*ret_why = rows[i].why;
			return rows[i].runner;
		}
	return NULL;
}

/* Can pip install it? Many have the settings of tools only. */
static bool
is_package(struct json_object *pyproject)
{
	return member(pyproject, "project", json_type_object) != NULL ||
	    member(pyproject, "build-system", json_type_object) != NULL;
}

/* A virtual environment in the worktree, with pip. */
static void
set_up_venv(struct look *l, struct json_object *pyproject, const char *runner,
    char **ret_prefix)
{
	const char *folder =
	    !is_ignored(l, ".venv") && is_ignored(l, "venv") ? "venv" : ".venv";
	const char *required = FIRST_OF(l, "requirements.txt"),
		   *more = FIRST_OF(l, "requirements-dev.txt"),
		   *package = is_package(pyproject) ? "pyproject.toml" :
						      FIRST_OF(l, "setup.py");
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_free char *why = NULL;

	if (required == NULL && more == NULL && package == NULL)
		return;
	buf_addf(&command, "python3 -m venv %s && %s/bin/pip install", folder,
	    folder);
	if (required != NULL)
		buf_addf(&command, " -r %s", required);
	if (more != NULL)
		buf_addf(&command, " -r %s", more);
	if (required == NULL && more == NULL)
		buf_adds(&command, " -e .");
	if (text_is(runner, "pytest") &&
	    !contains(l, "requirements.txt", "pytest") &&
	    !contains(l, "requirements-dev.txt", "pytest"))
		buf_adds(&command, " pytest");
	why = xasprintf("%s lists the packages",
	    required != NULL ? required :
		more != NULL ? more :
			       package);
	if (!add_setup(l, command.data, folder, why))
		return;
	*ret_prefix = xasprintf("%s/bin/python ", folder);
	if (required != NULL)
		strv_add(&l->when, required);
	if (more != NULL)
		strv_add(&l->when, more);
	if (required == NULL && more == NULL)
		strv_add(&l->when, package);
}

static const struct python_tool {
	const char *lock, *table, *setup, *prefix;
} python_tools[] = {
	{ "uv.lock", "uv", "uv sync", "uv run " },
	{ "poetry.lock", "poetry", "poetry install", "poetry run " },
	{ "pdm.lock", "pdm", "pdm sync", "pdm run " },
	{ "Pipfile.lock", NULL, "pipenv sync --dev", "pipenv run " },
};

static void
look_python(struct look *l)
{
	const struct project_file *text = find(l, "pyproject.toml");
	cleanup_json struct json_object *pyproject = NULL;
	const struct python_tool *tool = NULL;
	cleanup_free char *prefix = NULL, *why = NULL, *command = NULL;
	const char *runner, *runner_why = NULL;

	if (FIRST_OF(l, "pyproject.toml", "requirements.txt",
		"requirements-dev.txt", "setup.py", "setup.cfg", "Pipfile.lock",
		"tox.ini", "noxfile.py", "manage.py", "pytest.ini") == NULL)
		return;
	if (text != NULL && text->text != NULL)
		toml_parse(text->text, text->len, &pyproject, NULL, NULL);
	add_kind(l, "python");
	runner = find_runner(l, pyproject, &runner_why);
	for (size_t i = 0; i < nitems(python_tools) && tool == NULL; i++)
		if (find(l, python_tools[i].lock) != NULL ||
		    (python_tools[i].table != NULL &&
			has_tool(pyproject, python_tools[i].table)))
			tool = &python_tools[i];
	if (runner != NULL && runner[1] == 'o') { /* both make their own */
		add_check(l, runner, runner_why);
		return;
	}
	if (tool != NULL) {
		bool locked = find(l, tool->lock) != NULL;

		why = locked ?
		    xasprintf("%s lists the packages", tool->lock) :
		    xasprintf("pyproject.toml has [tool.%s]", tool->table);
		add_setup(l, tool->setup, NULL, why);
		if (locked)
			strv_add(&l->when, tool->lock);
		if (text != NULL)
			strv_add(&l->when, "pyproject.toml");
		prefix = xstrdup(tool->prefix);
	} else {
		set_up_venv(l, pyproject, runner, &prefix);
	}
	if (runner == NULL)
		return;
	if (tool != NULL)
		command = xasprintf("%s%s%s", prefix,
		    runner[0] == 'm' ? "python " : "", runner);
	else
		command =
		    xasprintf("%s%s%s", prefix != NULL ? prefix : "python3 ",
			runner[0] == 'm' ? "" : "-m ", runner);
	add_check(l, command, runner_why);
}

/* --- what needs no reading ---------------------------------------- */

/* Of rows of the same kind the first one counts whose files are there. In the
 * commands, @ is a folder that git ignores. */
static const struct row {
	const char *kind, *file, *beside;
	const char *check, *setup, *lock;
} rows[] = {
	{ "rust", "Cargo.toml", NULL, "cargo test --workspace", NULL, NULL },
	{ "go", "go.mod", NULL, "go test ./...", NULL, NULL },
	/* Its build folder has an ignore file of its own. */
	{ "meson", "meson.build", NULL, "meson test -C build --print-errorlogs",
	    "meson setup build", NULL },
	{ "cmake", "CMakeLists.txt", NULL,
	    "cmake --build @ && ctest --test-dir @ --output-on-failure",
	    "cmake -S . -B @", NULL },
	{ "ruby", "Gemfile", ".rspec", "bundle exec rspec", "bundle install",
	    "Gemfile.lock" },
	{ "ruby", "Gemfile", "spec/", "bundle exec rspec", "bundle install",
	    "Gemfile.lock" },
	{ "ruby", "Gemfile", "Rakefile", "bundle exec rake test",
	    "bundle install", "Gemfile.lock" },
	{ "ruby", "Gemfile", NULL, NULL, "bundle install", "Gemfile.lock" },
	{ "java", "pom.xml", "mvnw", "./mvnw -B verify", NULL, NULL },
	{ "java", "pom.xml", NULL, "mvn -B verify", NULL, NULL },
	{ "java", "build.gradle", "gradlew", "./gradlew check", NULL, NULL },
	{ "java", "build.gradle.kts", "gradlew", "./gradlew check", NULL,
	    NULL },
	/* Often all build files are in folders. */
	{ "java", "settings.gradle", "gradlew", "./gradlew check", NULL, NULL },
	{ "java", "settings.gradle.kts", "gradlew", "./gradlew check", NULL,
	    NULL },
	{ "java", "build.gradle", NULL, "gradle check", NULL, NULL },
	{ "java", "build.gradle.kts", NULL, "gradle check", NULL, NULL },
	{ "java", "settings.gradle", NULL, "gradle check", NULL, NULL },
	{ "java", "settings.gradle.kts", NULL, "gradle check", NULL, NULL },
};

/* The caller frees. */
static char *
with_folder(const char *command, const char *folder)
{
	cleanup_buf struct buf out = BUF_INIT;

	for (; *command != '\0'; command++)
		if (*command == '@')
			buf_adds(&out, folder);
		else
			buf_addc(&out, *command);
	return buf_take(&out);
}

static void
look_row(struct look *l, const struct row *row)
{
	const char *folder = is_ignored(l, "_build") ? "_build" :
	    is_ignored(l, "builddir")                ? "builddir" :
						       "build";
	bool builds = row->setup != NULL && strchr(row->setup, '@') != NULL;
	cleanup_free char *why = xasprintf("There is %s%s%s", row->file,
	    row->beside != NULL ? " and " : "",
	    row->beside != NULL ? row->beside : "");
	cleanup_free char *check = NULL, *setup = NULL;

	if (is_ignored(l, "build"))
		folder = "build";
	add_kind(l, row->kind);
	if (row->setup != NULL) {
		setup = with_folder(row->setup, folder);
		if (!add_setup(l, setup, builds ? folder : NULL, why) && builds)
			return;
		if (row->lock != NULL && find(l, row->lock) != NULL)
			strv_add(&l->when, row->lock);
	}
	if (row->check != NULL) {
		check = with_folder(row->check, folder);
		add_check(l, check, why);
	}
}

static void
look_rows(struct look *l)
{
	const char *done = "";

	for (size_t i = 0; i < nitems(rows); i++) {
		const struct row *row = &rows[i];

		if (strcmp(row->kind, done) == 0 ||
		    find(l, row->file) == NULL ||
		    (row->beside != NULL && find(l, row->beside) == NULL))
			continue;
		done = row->kind;
		look_row(l, row);
	}
}

static void
look_php(struct look *l)
{
	cleanup_json struct json_object *json = read_json(l, "composer.json");
	struct json_object *scripts = member(json, "scripts", json_type_object);

	if (find(l, "composer.json") == NULL)
		return;
	add_kind(l, "php");
	if (scripts != NULL && json_object_object_get_ex(scripts, "test", NULL))
		add_check(
		    l, "composer test", "composer.json has a script \"test\"");
	else if (find(l, "phpunit.xml") != NULL)
		add_check(l, "vendor/bin/phpunit", "There is phpunit.xml");
	else if (find(l, "phpunit.xml.dist") != NULL)
		add_check(l, "vendor/bin/phpunit", "There is phpunit.xml.dist");
	if (!add_setup(
		l, "composer install", "vendor", "There is composer.json"))
		return;
	strv_add(&l->when, "composer.json");
	if (find(l, "composer.lock") != NULL)
		strv_add(&l->when, "composer.lock");
	strv_add(&l->seed, "vendor");
}

/* --- the project's own words --------------------------------------------- */

/* Does a makefile have a rule for this target? */
static bool
has_target(const struct project_file *f, const char *target)
{
	const char *line = f->text, *end = line + f->len;
	size_t len = strlen(target);

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		const char *at = line;
		const char *colon, *after;

		stop = stop != NULL ? stop : end;
		colon = memchr(line, ':', (size_t)(stop - line));
		/* No rule: a variable, or a comment. */
		after = colon;
		while (after != NULL && after < stop && *after == ':')
			after++;
		if (colon != NULL &&
		    ((after < stop && *after == '=') ||
			memchr(line, '=', (size_t)(colon - line)) != NULL ||
			memchr(line, '#', (size_t)(colon - line)) != NULL))
			colon = NULL;
		while (colon != NULL && at < colon && *line != '\t') {
			const char *word = at;

			while (at < colon && *at != ' ' && *at != '\t')
				at++;
			if ((size_t)(at - word) == len &&
			    memcmp(word, target, len) == 0)
				return true;
			while (at < colon && (*at == ' ' || *at == '\t'))
				at++;
		}
		line = stop + 1;
	}
	return false;
}

/* A makefile that has such a target says how the whole is tested. */
static void
look_make(struct look *l)
{
	static const char *const targets[] = { "check", "test" };
	const char *name = FIRST_OF(l, "GNUmakefile", "makefile", "Makefile");
	const struct project_file *f = name != NULL ? find(l, name) : NULL;

	for (size_t i = 0; i < nitems(targets); i++) {
		cleanup_free char *why = NULL, *command = NULL;

		if (f == NULL || f->text == NULL || !has_target(f, targets[i]))
			continue;
		if (l->kind.len == 0)
			add_kind(l, "make");
		command = xasprintf("make %s", targets[i]);
		why = xasprintf("%s has a target \"%s\"", name, targets[i]);
		buf_clear(&l->check);
		buf_clear(&l->check_why);
		add_check(l, command, why);
		return;
	}
}

/* JSON with comments and commas too many, as editors of Microsoft read it. */
static void
strip_comments(const char *text, size_t len, struct buf *out)
{
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i], next = i + 1 < len ? text[i + 1] : '\0';

		if (quoted) {
			buf_addc(out, c);
			if (c == '\\' && i + 1 < len)
				buf_addc(out, text[++i]);
			else if (c == '"')
				quoted = false;
		} else if (c == '/' && next == '/') {
			while (i + 1 < len && text[i + 1] != '\n')
				i++;
		} else if (c == '/' && next == '*') {
			for (i += 2; i + 1 < len &&
			     (text[i] != '*' || text[i + 1] != '/');
			     i++)
				continue;
			i++;
		} else {
			if (c == '}' || c == ']')
				for (size_t at = out->len; at-- > 0;) {
					if (out->data[at] == ',')
						out->data[at] = ' ';
					if (strchr(" \t\r\n", out->data[at]) ==
					    NULL)
						break;
				}
			quoted = c == '"';
			buf_addc(out, c);
		}
	}
}

/* A command, a command and its arguments, or an object of them. */
static void
add_lifecycle(struct json_object *value, struct buf *out)
{
	if (json_object_is_type(value, json_type_string)) {
		buf_addf(out, "%s%s", out->len > 0 ? " && " : "",
		    json_object_get_string(value));
	} else if (json_object_is_type(value, json_type_array)) {
		size_t count = json_object_array_length(value);

		for (size_t i = 0; i < count; i++) {
			const char *word = json_object_get_string(
			    json_object_array_get_idx(value, i));

			if (out->len > 0)
				buf_adds(out, i > 0 ? " " : " && ");
			text_add_shell(out, word != NULL ? word : "");
		}
	} else if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, key, part)
		{
			(void)key;
			if (!json_object_is_type(part, json_type_object))
				add_lifecycle(part, out);
		}
	}
}

static void
look_container(struct look *l)
{
	const char *path = FIRST_OF(
	    l, ".devcontainer/devcontainer.json", ".devcontainer.json");
	const struct project_file *f = path != NULL ? find(l, path) : NULL;
	cleanup_buf struct buf text = BUF_INIT, command = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct json_object *value = NULL;
	cleanup_free char *why = NULL;

	if (f == NULL || f->text == NULL || l->setup.len > 0)
		return;
	strip_comments(f->text, f->len, &text);
	if (json_parse(text.data, text.len, PROPOSALS_FILE_MAX, &json, NULL) <
		0 ||
	    !json_object_is_type(json, json_type_object) ||
	    !json_object_object_get_ex(json, "postCreateCommand", &value))
		return;
	add_lifecycle(value, &command);
	if (command.len == 0 || command.len > COMMAND_MAX ||
	    strpbrk(command.data, "\n\r") != NULL)
		return;
	why = xasprintf("It is the postCreateCommand of %s", path);
	add_setup(l, command.data, NULL, why);
}

/* --- files that git does not have --------------------------------- */

static void
propose_list(
    struct look *l, const char *path, char *const *items, const char *reason)
{
	cleanup_json struct json_object *json = strv_to_json(items);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	add(l->out, path, text.data, reason);
}

static void
look_untracked(struct look *l)
{
	const struct project_file *f = find(l, ".worktreeinclude");
	cleanup_strv char **patterns = NULL;
	cleanup_free char *text = NULL;

	if (f == NULL || f->text == NULL) {
		if (l->facts->secrets == NULL || *l->facts->secrets == NULL)
			return;
		strv_add_all(&patterns, l->facts->secrets);
		propose_list(l, "repo.copy_files", patterns,
		    "Git ignores them, and they are here");
		return;
	}
	text = xstrndup(f->text, f->len);
	for (char *rest = text, *line; (line = strsep(&rest, "\r\n")) != NULL &&
	     strv_count(patterns) < PATTERNS_MAX;) {
		size_t len = strlen(line);

		while (
		    len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
			line[--len] = '\0';
		if (len == 0 || line[0] == '#')
			continue;
		if (line[0] == '!' || !text_utf8_valid(line, len)) {
			cleanup_buf struct buf shown = BUF_INIT;

			text_add_visible(
			    &shown, line, text_cut(line, len, 60), false);
			strv_take(&l->out->remarks,
			    xasprintf("left out of repo.copy_files: the line "
				      "%s of .worktreeinclude",
				shown.data));
			continue;
		}
		line += line[0] == '/';
		if (line[0] != '\0')
			strv_add(&patterns, line);
	}
	if (patterns != NULL)
		propose_list(l, "repo.copy_files", patterns,
		    ".worktreeinclude lists them");
}

/* --- all of it ---------------------------------------------------- */

/* Can it be typed? */
static bool
is_allowed(const struct proposal *p)
{
	cleanup_buf struct buf text = BUF_INIT;

	return text_utf8_valid(p->value, strlen(p->value)) &&
	    settings_value_text(
		settings_find(p->path, NULL), p->value, &text, NULL) == 0;
}

void
proposals_make(const struct project_facts *facts, struct proposals *ret)
{
	struct look l = { .facts = facts, .out = ret };
	struct buf *const bufs[] = { &l.kind, &l.check, &l.check_why, &l.setup,
		&l.setup_why };
	size_t kept = 0;

	*ret = (struct proposals){ 0 };
	for (size_t i = 0; i < nitems(bufs); i++)
		buf_init(bufs[i]);
	look_node(&l);
	look_python(&l);
	look_rows(&l);
	look_php(&l);
	look_make(&l);
	look_container(&l);
	if (l.check.len == 0 && find(&l, ".pre-commit-config.yaml") != NULL)
		add_check(&l, "pre-commit run --all-files",
		    "There is .pre-commit-config.yaml, and no test was found");
	if (l.check.len > 0)
		add(ret, "auto.check_command", l.check.data, l.check_why.data);
	else
		strv_add(&ret->remarks,
		    "no command that tests the project was found; set one, or "
		    "none on purpose: llmc config set auto.check_command "
		    "COMMAND");
	if (l.setup.len > 0)
		add(ret, "repo.setup_command", l.setup.data, l.setup_why.data);
	if (l.when != NULL)
		propose_list(&l, "repo.setup_when", l.when,
		    "The set-up depends on them");
	if (l.seed != NULL)
		propose_list(&l, "repo.seed_from", l.seed,
		    "With a copy, the set-up has less to do");
	look_untracked(&l);
	if (find(&l, ".gitmodules") != NULL)
		strv_add(&ret->remarks,
		    "no sandbox is proposed: there are submodules, which are "
		    "checked out for a worker only without one");
	else if (facts->no_sandbox == NULL)
		add(ret, "defaults.sandbox", "worktree",
		    facts->no_clone ?
			"A sandbox works here, but agents can change git "
			"objects: Git LFS, a partial clone or a reftable" :
			"A sandbox works here: agents change nothing but their "
			"own clone");
	else
		strv_take(&ret->remarks,
		    xasprintf("no sandbox is proposed: %s", facts->no_sandbox));
	add(ret, "budget.day_cost", DAY_COST,
	    "Nothing else limits what a day costs; in US dollars");
	for (size_t i = 0; i < ret->count; i++) {
		struct proposal *p = &ret->list[i];

		if (is_allowed(p)) {
			ret->list[kept++] = *p;
			continue;
		}
		free(p->value);
		free(p->reason);
	}
	ret->count = kept;
	ret->kind = buf_take(&l.kind);
	for (size_t i = 0; i < nitems(bufs); i++)
		buf_release(bufs[i]);
	strv_clear(&l.when);
	strv_clear(&l.seed);
}

void
proposals_release(struct proposals *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->list[i].value);
		free(p->list[i].reason);
	}
	free(p->list);
	free(p->kind);
	strv_clear(&p->remarks);
	*p = (struct proposals){ 0 };
}

const struct proposal *
proposals_find(const struct proposals *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->list[i].path, path) == 0)
			return &p->list[i];
	return NULL;
}
