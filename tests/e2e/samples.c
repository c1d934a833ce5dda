/* SPDX-License-Identifier: ISC */

#include "autorun.h"
#include "samples.h"

#define WORKERS 3

/* A server, and a client of it, at the port or database of argument 1. It fails
 * if another one is there. With arguments 2 and 3 it ends when that many of
 * this round have been up at once. */
static const char serve_py[] =
    "import glob, os, socket, sys, time\n"
    "fleet = os.environ['FLEET'] + '/'\n"
    "at = sys.argv[1]\n"
    "if at.isdigit():\n"
    "    s = socket.socket()\n"
    "    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
    "    s.bind(('127.0.0.1', int(at)))\n"
    "else:\n"
    "    s = socket.socket(socket.AF_UNIX)\n"
    "    s.bind(fleet + at)\n"
    "s.listen()\n"
    "c = socket.socket(s.family)\n"
    "c.connect(s.getsockname())\n"
    "with open(fleet + 'used', 'a') as f:\n"
    "    f.write(os.environ['LLMC_WORKER'] + ' ' + at + '\\n')\n"
    "if len(sys.argv) > 2:\n"
    "    up = fleet + 'up-' + sys.argv[3] + '-'\n"
    "    open(up + os.environ['LLMC_INDEX'], 'w').close()\n"
    "    end = time.monotonic() + 60\n"
    "    while len(glob.glob(up + '*')) < int(sys.argv[2]):\n"
    "        assert time.monotonic() < end, 'alone'\n"
    "        time.sleep(0.02)\n"
    "if not at.isdigit():\n"
    "    os.unlink(fleet + at)\n";

/* The same in C, for the check of a project in C. */
static const char serve_c[] =
    "#include <arpa/inet.h>\n"
    "#include <stdlib.h>\n"
    "int main(void)\n"
    "{\n"
    "	int s = socket(AF_INET, SOCK_STREAM, 0);\n"
    "	struct sockaddr_in a = { .sin_family = AF_INET };\n"
    "	a.sin_port = htons(atoi(getenv(\"LLMC_PORT\")));\n"
    "	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n"
    "	return bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 1);\n"
    "}\n";

/* A machine may have no npm and no uv, and neither may ask another machine;
 * meson takes a second to set up an empty project: a script does what matters
 * here. */
#define MANAGER(made, lock, at)                                                \
	"case \"$1\" in\n"                                                     \
	"ci | sync)\n"                                                         \
	"	echo \"$PWD $(cat " lock ")\" >>\"$FLEET/setups\"\n"           \
	"	mkdir -p " made " && cp " lock " " made "/of ;;\n"             \
	"*)\n"                                                                 \
	"	cmp " lock " " made "/of && exec python3 serve.py " at " ;;\n" \
	"esac\n"

static const struct sample {
	const char *files[4][2]; /* name and text */
	const char *tool, *script; /* in front of the PATH */
	const char *env; /* an item of defaults.env */
	const char *serve; /* what an agent runs, before the two arguments */
	const char *check, *setup, *when; /* that init proposes */
	const char *lock; /* whose change makes the set-up due again */
	bool changes; /* the lock file, half way */
	bool module;
} samples[SAMPLES] = {
	[SAMPLE_NODE] = {
	    .files = { { "package.json",
			   "{\"scripts\":{\"test\":\"serve\"}}" },
		{ "package-lock.json", "1\n" },
		{ ".gitignore", "node_modules/\n.env\n" },
		{ "serve.py", serve_py } },
	    .tool = "npm",
	    .script = MANAGER("node_modules", "package-lock.json", "\"$PORT\""),
	    .env = "PORT={port}",
	    .serve = "python3 serve.py \"$PORT\"",
	    .check = "npm test",
	    .setup = "npm ci",
	    .when = "package-lock.json",
	    .lock = "package-lock.json",
	    .changes = true,
	},
	[SAMPLE_PYTHON] = {
	    .files = { { "pyproject.toml", "[tool.pytest.ini_options]\n" },
		{ "uv.lock", "1\n" }, { ".gitignore", ".venv/\n.env\n" },
		{ "serve.py", serve_py } },
	    .tool = "uv",
	    .script = MANAGER(".venv", "uv.lock", "\"$DATABASE\""),
	    .env = "DATABASE=app_{index}",
	    .serve = "python3 serve.py \"$DATABASE\"",
	    .check = "uv run pytest",
	    .setup = "uv sync",
	    .when = "uv.lock",
	    .lock = "uv.lock",
	},
	[SAMPLE_MESON] = {
	    .files = { { "meson.build",
			   "project('x', 'c')\n"
			   "test('x', executable('x', 'x.c'))\n" },
		{ "x.c", serve_c }, { ".gitignore", ".env\n" },
		{ "serve.py", serve_py } },
	    .tool = "meson",
	    .script = "case \"$1\" in\n"
		      "setup)\n"
		      "	echo \"$PWD\" >>\"$FLEET/setups\"\n"
		      "	mkdir build && echo '*' >build/.gitignore ;;\n"
		      "*) cc -o build/x x.c && exec build/x ;;\n"
		      "esac\n",
	    .env = "FLEET",
	    .serve = "python3 serve.py \"$LLMC_PORT\"",
	    .check = "meson test -C build --print-errorlogs",
	    .setup = "meson setup build",
	    .when = "",
	},
	[SAMPLE_SUBMODULE] = {
	    .files = { { "Makefile",
		"check:\n\tpython3 lib/serve.py \"$$DATABASE\"\n" },
		{ ".gitignore", ".env\n" } },
	    .env = "DATABASE=app_{index}",
	    .serve = "python3 lib/serve.py \"$DATABASE\"",
	    .check = "make check",
	    .setup = "",
	    .when = "",
	    .module = true,
	},
};

static const struct sample *sample; /* of the running test */

/* The repository, and the tool that it needs. */
static const char *
make_origin(void)
{
	const char *dir = e2e_empty_repo("origin"), *bin = e2e_dir("bin");
	const char *lib;

	if (sample->tool != NULL)
		e2e_script(e2e_path("%s/%s", bin, sample->tool),
		    e2e_path("#!/bin/sh\n%s", sample->script));
	/* A sandbox shows the machine's programs, whatever PATH names. */
	e2e_env(e2e_path("PATH=%s:%s:/usr/bin:/bin", bin, getenv("PATH")));
	for (size_t i = 0; i < nitems(sample->files); i++)
		if (sample->files[i][0] != NULL)
			e2e_write(e2e_path("%s/%s", dir, sample->files[i][0]),
			    sample->files[i][1]);
	if (sample->module) {
		lib = e2e_empty_repo("lib");
		e2e_write(e2e_path("%s/serve.py", lib), serve_py);
		e2e_git(lib, "add", "-A", NULL);
		e2e_git(lib, "commit", "-q", "-m", "Serve", NULL);
		e2e_git(dir, "-c", "protocol.file.allow=always", "submodule",
		    "add", "-q", lib, "lib", NULL);
	}
	e2e_git(dir, "add", "-A", NULL);
	e2e_git(dir, "commit", "-q", "-m", "Start", NULL);
	return dir;
}

/* All workers at once, each with its server up, and with work that lands. */
static void
work_together(const char *round, int landed)
{
	for (int i = 0; i < WORKERS; i++)
		auto_task(e2e_path("%s%d.md", round, i),
		    "fake: run . ./.env && [ $KEY = mine ] && %s %d %s\n"
		    "fake: commit %s%d.txt x",
		    sample->serve, WORKERS, round, round, i);
	auto_wait_finished("landed", landed + WORKERS);
}

void
sample_story(int number, void (*begin)(void))
{
	sample = &samples[number];
	fleet_clone_of(make_origin);
	begin();
	ck_assert_str_eq(
	    e2e_setting(fleet_root(), "auto.check_command"), sample->check);
	ck_assert_str_eq(
	    e2e_setting(fleet_root(), "repo.setup_command"), sample->setup);
	e2e_has(e2e_setting(fleet_root(), "repo.setup_when"), sample->when);
	e2e_has(e2e_setting(fleet_root(), "repo.copy_files"), "\".env\"");
	auto_set("defaults.env",
	    e2e_path("[\"FLEET\", \"FAKE_CLAUDE_LOG\", \"%s\"]", sample->env));
	auto_set("auto.concurrency", e2e_path("%d", WORKERS));
	auto_set("auto.check_slots", "2");
	/* The check is tried on the untouched branch first, as by default. */
	auto_tune("trial=1");
	auto_up(NULL);
	work_together("a", 0);
	if (sample->changes) {
		auto_task("lock.md",
		    "fake: run echo 2 >%s && git commit -qam 'Lock 2'",
		    sample->lock);
		auto_wait_finished("landed", WORKERS + 1);
		work_together("b", WORKERS + 1);
	}
	auto_drain();
	auto_no_complaints();
	auto_history("a0.txt: x", "a1.txt: x", "a2.txt: x", NULL);
	/* Nobody was at another's port or socket, and all are gone. */
	ck_assert_str_eq(
	    e2e_sh(unit_scratch(),
		"sort -u used | awk '{ print $2 }' | uniq -d; ls | grep ^app_")
		->out,
	    "");
	if (sample->tool == NULL)
		return;
	/* A worktree or slot that saw a lock file was set up with it once; a
	 * slot where a check changes what the set-up made, each time. */
	ck_assert_str_eq(
	    e2e_sh(unit_scratch(),
		sample->lock != NULL ? "sort setups | uniq -d" :
				       "grep worktrees setups | sort | uniq -d")
		->out,
	    "");
	for (int i = 0; i <= WORKERS; i++)
		for (int lock = 1; lock <= (sample->changes ? 2 : 1); lock++)
			e2e_has(e2e_read(unit_path("setups")),
			    e2e_path("/%s%s\n",
				i == 0 ? "checks/1" :
					 e2e_path(".worktrees/auto-%d", i),
				sample->lock == NULL ? "" :
						       e2e_path(" %d", lock)));
}
