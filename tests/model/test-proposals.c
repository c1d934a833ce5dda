/* SPDX-License-Identifier: ISC */

/* From the files of a project to what llmc init proposes. */
#include "unit.h"

#include "proposals.h"

#define FILES_MAX 12

/* Files as NAME or NAME=TEXT. No check or set-up: nothing is proposed. */
static const struct row {
	const char *files[FILES_MAX];
	const char *check, *setup, *kind;
	const char *when; /* repo.setup_when; NULL = any */
} rows[] = {
	/* A placeholder is no check, and no package needs no set-up. */
	{ { "package.json={\"scripts\":{\"test\":\"echo \\\"Error: no test "
	    "specified\\\" && exit 1\"}}" },
	    NULL, NULL, "node", NULL },
	{ { "package.json={\"scripts\":{\"test\":\"jest\"}}",
	      "package-lock.json" },
	    "npm test", "npm ci", "node",
	    "[\"package.json\",\"package-lock.json\"]" },
	{ { "package.json={\"scripts\":{\"test\":\"vitest run\"},"
	    "\"packageManager\":\"pnpm@9.1.0\",\"devDependencies\":{\"v\":1}}",
	      "package-lock.json", "pnpm-lock.yaml" },
	    "pnpm test", "pnpm install --frozen-lockfile", "node", NULL },
	{ { "package.json={\"scripts\":{\"lint\":\"eslint\",\"build\":\"b\"}}",
	      "yarn.lock", ".yarnrc.yml=nodeLinker: node-modules\n" },
	    "yarn run lint", "yarn install --immutable", "node", NULL },
	{ { "package.json={\"scripts\":{\"test\":\"bun test\"},"
	    "\"dependencies\":{\"a\":\"1\"}}",
	      "bun.lockb" },
	    "bun run test", "bun install --frozen-lockfile", "node", NULL },
	{ { "package.json={\"dependencies\":{\"a\":\"1\"}}" }, NULL,
	    "npm install --no-package-lock", "node", NULL },
	{ { "package.json={\"devDependencies\":{\"a\":\"1\"},"
	    "\"packageManager\":\"yarn@1.22.22\"}" },
	    NULL, "yarn install --no-lockfile", "node", NULL },
	{ { "package.json={\"workspaces\":[\"a\"]}" }, NULL,
	    "npm install --no-package-lock", "node", NULL },
	{ { "package.json=not json", "package-lock.json" }, NULL, "npm ci",
	    "node", NULL },
	{ { "package.json=[]" }, NULL, NULL, "node", NULL },

	{ { "pyproject.toml=[tool.pytest.ini_options]\n", "uv.lock" },
	    "uv run pytest", "uv sync", "python",
	    "[\"uv.lock\",\"pyproject.toml\"]" },
	{ { "pyproject.toml=[tool.poetry]\nname='x'\n"
	    "[tool.poetry.group.dev.dependencies]\npytest='*'\n" },
	    "poetry run pytest", "poetry install", "python", NULL },
	{ { "requirements.txt=flask\npytest\n" }, ".venv/bin/python -m pytest",
	    "python3 -m venv .venv && .venv/bin/pip install -r "
	    "requirements.txt",
	    "python", NULL },
	{ { "requirements.txt=django\n", "manage.py" },
	    ".venv/bin/python manage.py test",
	    "python3 -m venv .venv && .venv/bin/pip install -r "
	    "requirements.txt",
	    "python", NULL },
	{ { "pyproject.toml=[project]\nname='x'\n", "conftest.py" },
	    ".venv/bin/python -m pytest",
	    "python3 -m venv .venv && .venv/bin/pip install -e . pytest",
	    "python", NULL },
	{ { "pyproject.toml=[build-system]\n" }, NULL,
	    "python3 -m venv .venv && .venv/bin/pip install -e .", "python",
	    "[\"pyproject.toml\"]" },
	{ { "pyproject.toml=[tool.ruff]\n", "setup.py" }, NULL,
	    "python3 -m venv .venv && .venv/bin/pip install -e .", "python",
	    "[\"setup.py\"]" },
	{ { "pyproject.toml=[tool.ruff]\n" }, NULL, NULL, "python", NULL },
	{ { "tox.ini", "setup.py", "uv.lock" }, "tox", NULL, "python", NULL },
	{ { "noxfile.py", "pyproject.toml=[broken" }, "nox", NULL, "python",
	    NULL },
	{ { "Pipfile.lock", "pytest.ini" }, "pipenv run pytest",
	    "pipenv sync --dev", "python", NULL },
	{ { "pytest.ini" }, "python3 -m pytest", NULL, "python", NULL },

	{ { "Cargo.toml" }, "cargo test --workspace", NULL, "rust", NULL },
	{ { "go.mod" }, "go test ./...", NULL, "go", NULL },
	{ { "meson.build" }, "meson test -C build --print-errorlogs",
	    "meson setup build", "meson", NULL },
	{ { "CMakeLists.txt" },
	    "cmake --build build && ctest --test-dir build "
	    "--output-on-failure",
	    "cmake -S . -B build", "cmake", NULL },
	{ { "Gemfile", "Gemfile.lock", "spec/" }, "bundle exec rspec",
	    "bundle install", "ruby", "[\"Gemfile.lock\"]" },
	{ { "Gemfile", "Rakefile" }, "bundle exec rake test", "bundle install",
	    "ruby", NULL },
	{ { "pom.xml", "mvnw" }, "./mvnw -B verify", NULL, "java", NULL },
	{ { "build.gradle.kts" }, "gradle check", NULL, "java", NULL },
	{ { "settings.gradle.kts", "app/", "gradlew" }, "./gradlew check", NULL,
	    "java", NULL },
	{ { "composer.json={\"scripts\":{\"test\":[\"phpunit\"]}}" },
	    "composer test", "composer install", "php", NULL },
	{ { "composer.json={}", "phpunit.xml" }, "vendor/bin/phpunit",
	    "composer install", "php", NULL },

	/* A makefile's own word counts for the whole. */
	{ { "Makefile=CC = cc\nall: x\ntest check: all\n\ttrue\n",
	      "meson.build" },
	    "make check", "meson setup build", "meson", NULL },
	{ { "Makefile=x = y:test\ntest := 1\n\ttest: no\nprogram: test\n" },
	    NULL, NULL, "", NULL },
	{ { "Makefile=# How to test: see the manual\ntest ::= 1\n"
	    "export X = a test:b\nall: x\n" },
	    NULL, NULL, "", NULL },
	{ { "Makefile=all\ttest\t: x\n" }, "make test", NULL, "make", NULL },
	{ { "Makefile=.PHONY: test\ntest:" }, "make test", NULL, "make", NULL },
	{ { "Makefile=all:\n", "GNUmakefile=test:\n" }, "make test", NULL,
	    "make", NULL },

	/* Several kinds in one repository. */
	{ { "package.json={\"scripts\":{\"test\":\"jest\"}}",
	      "package-lock.json", "go.mod" },
	    "npm test && go test ./...", "npm ci", "node, go", NULL },
	{ { ".pre-commit-config.yaml", "go.mod" }, "go test ./...", NULL, "go",
	    NULL },
	{ { ".pre-commit-config.yaml" }, "pre-commit run --all-files", NULL, "",
	    NULL },

	{ { ".devcontainer/devcontainer.json={ // as editors read it\n"
	    "\"image\": \"a//b\", /* no */ \"postCreateCommand\": "
	    "\"./setup.sh\", }" },
	    NULL, "./setup.sh", "", NULL },
	{ { ".devcontainer.json={\"postCreateCommand\":[\"sh\",\"a b\"]}" },
	    NULL, "sh 'a b'", "", NULL },
	{ { ".devcontainer.json={\"postCreateCommand\":{\"a\":\"x\","
	    "\"b\":[\"y\",\"z\"]}}" },
	    NULL, "x && y z", "", NULL },
	{ { ".devcontainer.json={\"postCreateCommand\":\"a\\nb\"}" }, NULL,
	    NULL, "", NULL },
	{ { ".devcontainer.json={\"postCreateCommand\":\"no\"}",
	      "package.json={}", "package-lock.json" },
	    NULL, "npm ci", "node", NULL },
	{ { "README" }, NULL, NULL, "", NULL },
};

static const char *const all_ignored[] = { "node_modules", ".venv", "vendor",
	"build", NULL };

static void
make(const char *const *files, struct project_facts *facts,
    struct proposals *ret)
{
	static struct project_file list[FILES_MAX];
	static char names[FILES_MAX][64];

	facts->files = list;
	for (size_t i = 0; i < FILES_MAX && files[i] != NULL; i++) {
		const char *text = strchr(files[i], '=');
		size_t len =
		    text != NULL ? (size_t)(text - files[i]) : strlen(files[i]);

		snprintf(names[i], sizeof names[i], "%.*s", (int)len, files[i]);
		list[i] = (struct project_file){ .path = names[i],
			.text = text != NULL ? text + 1 : NULL,
			.len = text != NULL ? strlen(text + 1) : 0 };
		facts->count = i + 1;
	}
	proposals_make(facts, ret);
}

static void
assert_is(const struct proposals *p, const char *path, const char *value)
{
	const struct proposal *found = proposals_find(p, path);

	if (value == NULL) {
		ck_assert_msg(found == NULL, "%s = %s", path,
		    found != NULL ? found->value : "");
		return;
	}
	ck_assert_msg(found != NULL, "%s is not proposed", path);
	ck_assert_str_eq(found->value, value);
	ck_assert_str_ne(found->reason, "");
}

TEST_ROWS(files_lead_to_commands, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct project_facts facts = { .ignored = all_ignored };
	struct proposals p;

	make(row->files, &facts, &p);
	assert_is(&p, "auto.check_command", row->check);
	assert_is(&p, "repo.setup_command", row->setup);
	ck_assert_str_eq(p.kind, row->kind);
	if (row->when != NULL)
		assert_is(&p, "repo.setup_when", row->when);
	assert_is(&p, "repo.seed_from",
	    row->setup == NULL || row->kind[0] == '\0' ||
		    strcmp(row->setup, "npm ci") == 0 ?
		NULL :
		strstr(row->kind, "node") != NULL ? "[\"node_modules\"]" :
		strstr(row->kind, "php") != NULL  ? "[\"vendor\"]" :
						    NULL);
	ck_assert_uint_eq(strv_count(p.remarks), row->check == NULL);
	assert_is(&p, "defaults.sandbox", "worktree");
	assert_is(&p, "budget.day_cost", "50");
	proposals_release(&p);
}

TEST(what_git_would_see_is_not_set_up)
{
	const char *const files[FILES_MAX] = { "package.json={}",
		"package-lock.json", "CMakeLists.txt", "go.mod" };
	struct project_facts facts = { .no_sandbox = "there is no bwrap" };
	struct proposals p;

	make(files, &facts, &p);
	assert_is(&p, "repo.setup_command", NULL);
	assert_is(&p, "auto.check_command", "go test ./...");
	assert_is(&p, "defaults.sandbox", NULL);
	ck_assert_uint_eq(strv_count(p.remarks), 3);
	ck_assert(strstr(p.remarks[0], "does not ignore node_modules/"));
	ck_assert(strstr(p.remarks[1], "does not ignore build/"));
	ck_assert(strstr(p.remarks[2], "there is no bwrap"));
	proposals_release(&p);
}

TEST(the_reason_names_the_file_that_is_there)
{
	const char *const files[FILES_MAX] = { "composer.json={}",
		"phpunit.xml.dist" };
	struct project_facts facts = { .ignored = all_ignored };
	struct proposals p;

	make(files, &facts, &p);
	ck_assert_str_eq(proposals_find(&p, "auto.check_command")->reason,
	    "There is phpunit.xml.dist");
	proposals_release(&p);
}

/* Not node_modules: nothing to ignore, and nothing to copy. */
TEST(yarn_without_node_modules_is_set_up)
{
	const char *const files[FILES_MAX] = { "package.json={}", "yarn.lock",
		".yarnrc.yml=enableTelemetry: false\n", "go.mod" };
	struct project_facts facts = { 0 };
	struct proposals p;

	make(files, &facts, &p);
	assert_is(&p, "repo.setup_command", "yarn install --immutable");
	assert_is(&p, "repo.seed_from", NULL);
	ck_assert_uint_eq(strv_count(p.remarks), 0);
	proposals_release(&p);
}

TEST(submodules_and_a_sandbox_do_not_go_together)
{
	const char *const files[FILES_MAX] = { ".gitmodules", "go.mod" };
	struct project_facts facts = { 0 };
	struct proposals p;

	make(files, &facts, &p);
	assert_is(&p, "defaults.sandbox", NULL);
	ck_assert_uint_eq(strv_count(p.remarks), 1);
	ck_assert(strstr(p.remarks[0], "there are submodules"));
	proposals_release(&p);
}

TEST(a_sandbox_without_a_clone_says_what_it_leaves_open)
{
	const char *const files[FILES_MAX] = { "go.mod" };
	struct project_facts facts = { .no_clone = true };
	const struct proposal *found;
	struct proposals p;

	make(files, &facts, &p);
	assert_is(&p, "defaults.sandbox", "worktree");
	found = proposals_find(&p, "defaults.sandbox");
	ck_assert(strstr(found->reason, "agents can change git objects"));
	proposals_release(&p);
}

TEST(files_that_git_does_not_have_are_copied)
{
	static const char *const secrets[] = { ".env", ".env.local", NULL };
	const char *const include[FILES_MAX] = { "go.mod",
		".worktreeinclude=# mine\n/.env\r\n!.env.bad\n\nconfig/*.key  "
		"\n" };
	const char *const none[FILES_MAX] = { "go.mod" };
	struct project_facts facts = { .secrets = secrets };
	struct proposals p;

	make(none, &facts, &p);
	assert_is(&p, "repo.copy_files", "[\".env\",\".env.local\"]");
	proposals_release(&p);
	make(include, &facts, &p);
	assert_is(&p, "repo.copy_files", "[\".env\",\"config/*.key\"]");
	ck_assert_uint_eq(strv_count(p.remarks), 1);
	proposals_release(&p);
}
