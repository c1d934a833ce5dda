/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "hostrun.h"
#include "loop.h"
#include "settings-table.h"
#include "shared.h"

#define LOOK_MS 250
#define TUNING \
	"trial=0 admission=0 host_lease=8000 host_beat=1000 host_poll=1000"

static struct {
	bool pair; /* the server gets a standby */
	int count;
	const char *names[HOSTS_MAX];
	const char *roots[HOSTS_MAX];
	const char *env[HOSTS_MAX]; /* assignments before each command */
	const char *origin, *database, *owner;
	int port; /* of the server; of its standby, the next one */
	bool lost; /* some of what the hosts have written */
} fleet;

static const char *
scratch(const char *name)
{
	return e2e_path("%s/%s", unit_scratch(), name);
}

const char *
hosts_name(int host)
{
	return fleet.names[host];
}

const char *
hosts_root(int host)
{
	return fleet.roots[host];
}

const char *
hosts_database(void)
{
	return fleet.database;
}

const char *
hosts_owner(void)
{
	return fleet.owner;
}

void
hosts_env(int host, const char *assignment)
{
	fleet.env[host] =
	    e2e_path("%s\nexport '%s'", fleet.env[host], assignment);
	e2e_write(e2e_path("%s/env-%s", unit_scratch(), fleet.names[host]),
	    fleet.env[host]);
}

/* People reach a host by its name: ssh is a script that goes there. */
static void
make_ssh(void)
{
	const char *bin = e2e_path("%s/bin", unit_scratch());
	const char *ssh = e2e_path("%s/ssh", bin);

	ck_assert_int_eq(file_mkdirs(bin, 0755, NULL), 0);
	e2e_write(ssh,
	    "#!/bin/sh\n[ \"$1\" = -t ] && shift\n. \"$FLEET/env-$1\"\n"
	    "PATH=\"${LLMC%/*}:$PATH\" exec sh -c \"$2\"\n");
	ck_assert_int_eq(chmod(ssh, 0755), 0);
}

void
hosts_set(int host, const char *key, const char *value)
{
	for (int i = 0; i < fleet.count; i++)
		if (host < 0 || host == i)
			e2e_set(fleet.roots[i], key, value);
}

struct e2e_run *
hosts_sh(int host, const char *script)
{
	return e2e_sh(
	    fleet.roots[host], e2e_path("%s\n%s", fleet.env[host], script));
}

const char *
hosts_do(int host, const char *script)
{
	struct e2e_run *run = hosts_sh(host, script);

	ck_assert_msg(run->status == 0, "%s: %s: status %d: %s%s",
	    fleet.names[host], script, run->status, e2e_shown(run->out),
	    e2e_shown(run->err));
	return run->out;
}

/* --- the beginning and the end ----------------------------------------- */

/* Shell: the pids of a host's daemon and overseer. */
#define PIDS                                                               \
	"$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' .llmc/daemon.json " \
	".llmc/overseer.json 2>/dev/null)"

void
hosts_end(void)
{
	for (int i = 0; i < fleet.count; i++)
		hosts_sh(i,
		    "for p in " PIDS "; do kill -CONT $p; kill -KILL $p; done "
		    "2>/dev/null; tmux -L \"$SOCKET\" kill-server "
		    ">/dev/null 2>&1; true");
	if (fleet.port != 0)
		e2e_sh(NULL,
		    e2e_path("for d in pg standby; do '%s' stop \"%s/$d\" "
			     ">/dev/null 2>&1; done; true",
			e2e_source("contrib/fleet/postgres.sh"),
			unit_scratch()));
	fleet.count = 0;
}

/* A server of its own, on a port that is free, and the proxy before it. */
static void
start_postgres(const char *proxy)
{
	const char *script = e2e_source("contrib/fleet/postgres.sh");
	struct e2e_run *run;

	if (e2e_sh(NULL, e2e_path("'%s' find", script))->status != 0)
		unit_skip("PostgreSQL is not installed");
	ck_assert_msg(proxy != NULL, "TCP_PROXY is not set");
	/* Its server does not run as root. */
	ck_assert_int_eq(chmod(unit_scratch(), 0711), 0);
	fleet.port = 20000 + (int)(getpid() % 20000);
	run = e2e_sh(NULL,
	    e2e_path("'%s' start '%s' %d", script, scratch("pg"), fleet.port));
	ck_assert_msg(run->status == 0, "%s", e2e_shown(run->err));
	e2e_guard(
	    fleet.roots[0], e2e_path("'%s' stop '%s'", script, scratch("pg")));
	e2e_leave_behind(e2e_path("exec '%s' %d '%s' %d >'%s' "
				  "2>/dev/null </dev/null",
	    proxy, fleet.port, scratch("network"), (int)getpid(),
	    scratch("proxy-port")));
	while (!e2e_exists(scratch("proxy-port")) ||
	    strchr(e2e_read(scratch("proxy-port")), '\n') == NULL) {
		ck_assert_msg(!unit_is_late(), "no proxy");
		poll(NULL, 0, 5); /* a file of another program */
	}
	fleet.owner = e2e_path("postgresql://owner@/llmc?host=%s&port=%d",
	    scratch("pg"), fleet.port);
	if (fleet.pair) {
		e2e_guard(fleet.roots[0],
		    e2e_path("'%s' stop '%s'", script, scratch("standby")));
		fleet.database = e2e_path("postgresql://127.0.0.1:%d,"
					  "127.0.0.1:%d/llmc?"
					  "target_session_attrs=read-write",
		    fleet.port, fleet.port + 1);
		return;
	}
	fleet.database = e2e_path("postgresql://127.0.0.1:%ld/llmc",
	    strtol(
		e2e_read(scratch("proxy-port")) + strlen("PORT "), NULL, 10));
}

static void
make_host(int i, const char *agent)
{
	static const char *const names[HOSTS_MAX] = { "atlas", "borg", "cray" };
	const char *root = unit_path(names[i]);
	const char *home = e2e_dir(e2e_path("home-%s", names[i]));

	fleet.names[i] = names[i];
	fleet.roots[i] = root;
	fleet.env[i] =
	    e2e_path("export HOME='%s' TMUX_TMPDIR='%s' "
		     "FAKE_CLAUDE_LOG='%s/prompts' PATH=\"%s:$PATH\"",
		home, home, home, e2e_path("%s/bin", unit_scratch()));
	e2e_git(NULL, "clone", "-q", fleet.origin, root, NULL);
	e2e_git(root, "config", "user.name", names[i], NULL);
	e2e_git(root, "config", "user.email", "h@example.invalid", NULL);
	hosts_do(i, "\"$LLMC\" init >/dev/null");
	e2e_set(root, "defaults.agent_command", agent);
	e2e_set(root, "defaults.allow_root", "true");
	e2e_set(root, "defaults.env",
	    "[\"FLEET\", \"FAKE_CLAUDE_LOG\", \"FAKE_CLAUDE_FAULTS\"]");
	e2e_set(root, "daemon.patrol_interval", "1500ms");
	e2e_set(root, "auto.concurrency", "2");
	e2e_set(root, "auto.check_command",
	    "! grep -L good work-*.txt 2>/dev/null | grep -q .");
	e2e_set(root, "repo.default_branch", "main");
	e2e_set(root, "fleet.database", fleet.database);
	e2e_set(root, "fleet.host", names[i]);
	e2e_set(root, "fleet.ssh", names[i]);
	hosts_env(i, e2e_path("SOCKET=%s", e2e_setting(root, "tmux.socket")));
	e2e_guard(root,
	    e2e_path("cd '%s' && for p in " PIDS "; do kill -CONT $p; kill "
		     "-KILL $p; done; TMUX_TMPDIR='%s' tmux -L '%s' "
		     "kill-server",
		root, home, e2e_setting(root, "tmux.socket")));
}

/* llmc fleet init, llmc fleet join. */
static void
owner_runs(
    const char *verb, int host, const struct shared_ddl *steps, size_t count)
{
	const char *first =
	    e2e_git(fleet.origin, "rev-list", "--max-parents=0", "main", NULL);
	const struct shared_owner_task task = { .verb = verb,
		.database = fleet.database,
		.owner = fleet.owner,
		.passfile = host < 0 ?
		    NULL :
		    e2e_path("%s/.llmc/fleet.pass", fleet.roots[host]),
		.host = host < 0 ? NULL : fleet.names[host],
		.steps = steps,
		.step_count = count,
		.repository =
		    e2e_path("%.*s", (int)strcspn(first, "\n"), first) };
	struct json_object *report = NULL;
	struct err err = { 0 };

	ck_assert_msg(shared_owner_run(&task, &report, &err) == 0, "%s: %s",
	    verb, err.msg);
	json_object_put(report);
}

static void
owner_does(const char *verb, int host)
{
	owner_runs(verb, host, NULL, 0);
}

void
hosts_migrate(int version, int min_writer)
{
	size_t count = shared_ddl_count;
	struct shared_ddl *steps =
	    xcalloc(count + (size_t)version, sizeof *steps);

	memcpy(steps, shared_ddl_rows, count * sizeof *steps);
	for (int i = SHARED_SCHEMA + 1; i <= version; i++)
		steps[count++] = (struct shared_ddl){ i, min_writer,
			e2e_path(
			    "alter table task add column more%d text", i) };
	owner_runs("migrate", -1, steps, count);
	free(steps);
}

static void
begin(bool pair, int count, const char *agent)
{
	const char *proxy = getenv("TCP_PROXY"), *seed;

	unit_at_end(hosts_end);
	if (agent == NULL)
		agent = getenv("LLMC_FAKE_CLAUDE");
	ck_assert_msg(agent != NULL, "LLMC_FAKE_CLAUDE is not set");
	agent = e2e_path("%s", agent);
	fleet.pair = pair;
	e2e_env(e2e_path("TMPDIR=%s", unit_scratch()));
	e2e_env(e2e_path("FLEET=%s", unit_scratch()));
	e2e_write(scratch("tuning"), TUNING);
	ck_assert(tuning_read(TUNING)); /* the owner of the database, too */
	e2e_env(e2e_path("LLMC_TEST_TUNING=%s", scratch("tuning")));
	make_ssh();
	seed = e2e_repo("seed");
	fleet.origin = scratch("origin.git");
	e2e_git(NULL, "clone", "-q", "--bare", seed, fleet.origin, NULL);
	e2e_git(fleet.origin, "config", "core.logAllRefUpdates", "true", NULL);
	fleet.roots[0] = fleet.origin;
	start_postgres(proxy);
	owner_does("init", -1);
	for (fleet.count = 0; fleet.count < count;) {
		int i = fleet.count++;

		make_host(i, agent);
		owner_does("join", i);
	}
}

void
hosts_begin(int count, const char *agent)
{
	begin(false, count, agent);
}

void
hosts_begin_pair(int count)
{
	begin(true, count, NULL);
}

/* --- hosts ---------------------------------------------------------------- */

void
hosts_tasks(int host, int first, int count, const char *steps)
{
	const char *todo = e2e_path("%s/.llmc/tasks/todo", fleet.roots[host]);

	ck_assert_int_eq(file_mkdirs(todo, 0755, NULL), 0);
	for (int i = first; i < first + count; i++) {
		const char *aside = e2e_path("%s/.%04d.new", todo, i);

		e2e_write(aside,
		    e2e_path("Work %d\n%s%sfake: commit work-%d.txt good", i,
			steps, steps[0] != '\0' ? "\n" : "", i));
		ck_assert_int_eq(
		    rename(aside, e2e_path("%s/%04d.md", todo, i)), 0);
	}
}

void
hosts_up(int host)
{
	hosts_do(host, "\"$LLMC\" up --auto --detach >/dev/null");
}

void
hosts_down(int host)
{
	hosts_do(host, "\"$LLMC\" down >/dev/null");
}

void
hosts_signal(int host, int signo)
{
	hosts_sh(host,
	    e2e_path(
		"for p in " PIDS "; do kill -%d $p; done 2>/dev/null", signo));
}

void
hosts_kill(int host)
{
	hosts_sh(host,
	    "for p in " PIDS "; do kill -KILL $p; tail --pid=$p -s 0.05 -f "
	    "/dev/null; done 2>/dev/null; tmux -L \"$SOCKET\" kill-server; "
	    "true");
}

void
hosts_network(const char *mode)
{
	const char *file = scratch("network");

	e2e_write(e2e_path("%s.new", file), e2e_path("%s\n", mode));
	ck_assert_int_eq(rename(e2e_path("%s.new", file), file), 0);
}

void
hosts_server_kill(void)
{
	struct e2e_run *run = e2e_sh(NULL,
	    /* Nobody may have waited for it: then it still has its pid. */
	    e2e_path("f='%s/data/postmaster.pid'; p=$(head -n1 \"$f\") && "
		     "kill -KILL $p; timeout 3 tail --pid=$p -s 0.05 -f "
		     "/dev/null; rm -f \"$f\"; '%s' start '%s' %d",
		scratch("pg"), e2e_source("contrib/fleet/postgres.sh"),
		scratch("pg"), fleet.port));

	ck_assert_msg(run->status == 0, "%s", e2e_shown(run->err));
}

static void
server_does(const char *verb, const char *more)
{
	struct e2e_run *run = e2e_sh(NULL,
	    e2e_path("'%s' %s '%s' %s", e2e_source("contrib/fleet/postgres.sh"),
		verb, scratch("standby"), more));

	ck_assert_msg(run->status == 0, "%s: %s", verb, e2e_shown(run->err));
}

void
hosts_standby(void)
{
	server_does("standby",
	    e2e_path("%d '%s' %d", fleet.port + 1, scratch("pg"), fleet.port));
}

void
hosts_standby_cut(void)
{
	server_does("cut", "");
}

void
hosts_failover(void)
{
	e2e_sh(NULL,
	    e2e_path("p=$(head -n1 '%s/data/postmaster.pid') && kill -KILL $p; "
		     "timeout 3 tail --pid=$p -s 0.05 -f /dev/null",
		scratch("pg")));
	server_does("promote", "");
	fleet.lost = true;
}

/* --- waiting -------------------------------------------------------------- */

static struct json_object *
book_rows(enum shared_statement id, const char *task);

static const char *
known(void)
{
	struct buf text = BUF_INIT;
	const char *kept;

	buf_addf(&text, "--- open in the shared book\n%s\n",
	    json_object_to_json_string(book_rows(SHARED_TASKS, NULL)));

	for (int i = 0; i < fleet.count; i++)
		buf_addf(&text, "--- %s\n%s", fleet.names[i],
		    hosts_sh(i,
			"{ \"$LLMC\" status --here; tail -n 12 "
			".llmc/logs/autod.log | cut -c1-300; } 2>&1 | tail -c "
			"1100")
			->out);
	kept = e2e_path("%s", text.data);
	buf_release(&text);
	return kept;
}

void
hosts_wait(int host, const char *what, const char *script)
{
	while (hosts_sh(host, script)->status != 0) {
		if (unit_is_late())
			ck_abort_msg("waited in vain for %s: %s", what,
			    e2e_shown(known()));
		poll(NULL, 0, LOOK_MS); /* for other programs */
	}
}

static int
landed(void)
{
	return (int)strtol(
	    e2e_sh(fleet.origin,
		"git log --format='%(trailers:key=Llmc-Task,valueonly)' main | "
		"grep -c .")
		->out,
	    NULL, 10);
}

void
hosts_wait_landed(int tasks)
{
	while (landed() < tasks) {
		if (unit_is_late())
			ck_abort_msg("%d of %d landed: %s", landed(), tasks,
			    e2e_shown(known()));
		poll(NULL, 0, LOOK_MS); /* for other programs */
	}
}

/* --- the oracle ----------------------------------------------------------- */

struct asking {
	struct loop *loop;
	struct shared *shared;
	struct json_object *rows;
	enum shared_statement id;
	const char *task; /* NULL = of none */
};

static void
on_rows(const struct shared_answer *answer, void *arg)
{
	struct asking *a = arg;
	const struct shared_rows *rows = &answer->of[0];

	ck_assert_msg(answer->verdict == SHARED_DONE, "%s", answer->words);
	a->rows = json_object_new_array();
	for (size_t i = 0; i < rows->count; i++) {
		struct json_object *row = json_object_new_object();

		for (size_t c = 0; c < rows->width; c++)
			json_set_string(row, rows->names[c],
			    rows->cells[i * rows->width + c]);
		json_object_array_add(a->rows, row);
	}
	loop_stop(a->loop, 0);
}

static void
on_state(enum shared_state state, const char *words, void *arg)
{
	struct asking *a = arg;

	(void)words;
	if (state == SHARED_UP)
		loop_stop(a->loop, 0);
}

/* Rows of the shared book, asked as the first host. The caller puts them. */
static struct json_object *
book_rows(enum shared_statement id, const char *task)
{
	struct asking a = { .loop = loop_new() };
	struct book_value value = BOOK_T(task);
	struct err err = { 0 };
	const struct shared_options options = { .loop = a.loop,
		.database = fleet.database,
		.passfile = e2e_path("%s/.llmc/fleet.pass", fleet.roots[0]),
		.host = fleet.names[0],
		.state = on_state,
		.arg = &a };

	ck_assert_msg(
	    shared_new(&options, &a.shared, &err) == 0, "%s", err.msg);
	while (shared_state(a.shared) != SHARED_UP)
		loop_run(a.loop);
	shared_ask(a.shared,
	    &(struct shared_call){ id, &value, task != NULL ? 1 : 0 }, 1, 20000,
	    on_rows, &a);
	while (a.rows == NULL)
		loop_run(a.loop);
	shared_free(a.shared);
	loop_free(a.loop);
	return a.rows;
}

/* The attempts of a task, oldest first: fences rise, so each has one row,
 * whichever daemon of its host ended it; the one that landed is among them. */
static void
check_attempts(const char *task, const char *landed_by)
{
	struct json_object *rows = book_rows(SHARED_ATTEMPTS, task);
	int64_t last = 0;
	bool found = false;

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		int64_t fence =
		    strtoll(json_string_or(row, "fence", "0"), NULL, 10);
		/* A later daemon of the host may have adopted it. */
		cleanup_free char *name = xasprintf(
		    "%" PRId64 "/%s/", fence, json_string_or(row, "host", "-"));

		ck_assert_msg(fence > last, "%s: %s", task,
		    json_object_to_json_string(rows));
		last = fence;
		found = found || strncmp(name, landed_by, strlen(name)) == 0;
	}
	ck_assert_msg(found, "%s landed by %s, which is not among %s", task,
	    landed_by, json_object_to_json_string(rows));
	json_object_put(rows);
}

void
hosts_oracle(int tasks)
{
	struct e2e_run *run = e2e_sh(fleet.origin,
	    e2e_path(
		"set -e; [ \"$(git ls-tree --name-only main | grep -c "
		"'^work-')\" = %d ] || { echo files; exit 1; }; "
		"[ -z \"$(git log --format='%%(trailers:key=Llmc-Task,"
		"valueonly)' main | grep . | sort | uniq -d)\" ] || { "
		"echo twice; exit 1; }; "
		"[ -z \"$(git log --format=%%s main | grep '^Work' | sort | uniq "
		"-d)\" ] || { echo same subject twice; exit 1; }; last=; "
		"for c in $(git log -g --reverse --format=%%H main); do "
		"[ -z \"$last\" ] || git merge-base --is-ancestor $last "
		"$c || { echo set back; exit 1; }; last=$c; done; "
		"for c in $(git rev-list --first-parent main); do [ -z "
		"\"$(git grep -L good $c -- 'work-*')\" ] || { echo red $c; "
		"exit 1; }; done",
		tasks));
	struct e2e_run *list;
	char *at, *line;

	ck_assert_msg(run->status == 0, "%s %s: %s", e2e_shown(run->out),
	    e2e_shown(run->err),
	    e2e_shown(e2e_git(fleet.origin, "log", "--oneline", "main", NULL)));
	if (fleet.lost) /* attempts, too */
		return;
	list = e2e_sh(fleet.origin,
	    "git log --format='%(trailers:key=Llmc-Task,valueonly,separator="
	    "%x20) %(trailers:key=Llmc-Attempt,valueonly,separator=%x20)' "
	    "main | grep .");
	at = xstrdup(list->out);
	for (char *rest = at; (line = strsep(&rest, "\n")) != NULL;) {
		char *blank = strchr(line, ' ');

		if (blank == NULL || blank == line) /* not a task's */
			continue;
		*blank = '\0';
		check_attempts(line, blank + 1);
	}
	free(at);
}

void
hosts_idle(void)
{
	struct json_object *rows = book_rows(SHARED_TASKS, NULL);

	/* The branch has it before the book says so. */
	while (json_object_array_length(rows) > 0) {
		ck_assert_msg(!unit_is_late(), "left: %s",
		    json_object_to_json_string(rows));
		json_object_put(rows);
		poll(NULL, 0, LOOK_MS); /* for other programs */
		rows = book_rows(SHARED_TASKS, NULL);
	}
	json_object_put(rows);
	hosts_wait(0, "no ref of finished work at origin",
	    "[ -z \"$(git ls-remote origin 'refs/llmc/queue/*')\" ]");
	for (int i = 0; i < fleet.count; i++)
		hosts_wait(i, "no busy worker",
		    "[ -z \"$(\"$LLMC\" status --here --json | grep "
		    "'\"status\": *\"\\(working\\|accepting\\|starting\\)\"')\" "
		    "]");
}
