/* SPDX-License-Identifier: ISC */

/*
 * A hostile host beside two good ones: it has its password, and nothing else.
 * For HOSTILE_SECONDS (20; tests/soak.sh: 600) it calls all that its role may
 * call, with what it can read and with nonsense, takes the lander's lease and
 * lies; then its role is locked. No task that it could not claim is wrong, and
 * nothing of others is gone. Left out is what docs/fleet.md says that such a
 * host can do to others' time: it lets go of the lease, and does not say that
 * an account is limited, or send work back.
 */
#include "hostrun.h"
#include "loop.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <sys/wait.h>

#define SECONDS    20
#define AHEAD      6 /* tasks that are not landed yet */
#define HOSTILE    2 /* processes */
#define FIRST      3 /* calls of those below */
#define PICK(list) (list)[arc4random_uniform((uint32_t)nitems(list))]
#define LOCK       "alter role llmc_llmc_cray nologin"
#define LEAVE \
	"select llmc.lander_leave_1('main',l.fence,'c1') from llmc.lander as l"
#define EACH_TASK " from llmc.task as t,lateral llmc."
#define MAIN      "(select * from llmc.lander where branch='main') as l"
#define LANDERS   " from llmc.task as t," MAIN ",lateral llmc."
#define NO_COMMIT "'0123456789012345678901234567890123456789'"

const int unit_timeout = 300;

/* With everything that is there. */
static const char *const aimed[] = {
	"select h.* from llmc.host as o,lateral llmc.hello_1('c1',o.boot,'v',"
	"99,'cray','main') as h",
	"select llmc.beat_1('c1',9000000000000,'main')",
	"select llmc.lander_take_1('main','c1')",
	"select llmc.doubt_1(1,'main')",
	"select llmc.know_server_1()",
	"select x.*" LANDERS "land_1(t.task," NO_COMMIT
	",l.branch,l.fence,'c1',t.fence) as x",
	"select x.*" LANDERS
	"land_1(t.task,(select max(commit_id) from llmc.task),l.branch,"
	"l.fence,'c1',t.fence) as x",
	"select x.*" LANDERS "found_1(t.task," NO_COMMIT
	",l.branch,l.fence,'c1',t.owner,t.host,t.boot,t.fence+1) as x",
	"select x.*" LANDERS
	"lander_renew_1(l.branch,l.fence,'c1','--output=/tmp/x') as x",
	"select x.* from llmc.meta as m," MAIN ",lateral "
	"llmc.trust_1(m.value,l.branch,l.fence,'c1') as x",
	"select x.*" EACH_TASK "drop_task_1(t.task,'x') as x",
	"select x.*" EACH_TASK "requeue_1(t.task) as x",
	"select x.*" EACH_TASK "deny_1(t.task,t.fence) as x",
	"select x.*" EACH_TASK "reprioritise_1(t.task,99) as x",
	"select x.*" EACH_TASK "inherit_1(t.task,t.boot) as x",
	"select x.*" EACH_TASK "restore_1(t.task,9000000000000,'c1') as x",
	"select x.*" EACH_TASK "claim_one_1('c1',t.task) as x",
	"select llmc.claim_any_1('c1','main')",
	"select llmc.attempts_begin_1('c1')",
	"select x.*" EACH_TASK
	"finish_1(t.task,t.fence,t.boot,'failed','{}','x') as x",
	"select x.*" EACH_TASK
	"finish_1(t.task,t.fence,'c1','done','{\"outcome\":\"landed\",\"commit\":"
	"\"0123456789012345678901234567890123456789\"}','x') as x",
	"select x.*" EACH_TASK "give_back_1(t.task,t.fence,t.boot,'x') as x",
	"select x.*" EACH_TASK
	"submit_1(t.task,t.fence,t.boot,'f',t.head_ref,'{}','{}') as x",
	"select x.*" EACH_TASK
	"publish_1(t.task,0,null,'main','x','{}',0) as x",
	"select x.* from generate_series(1,50) as n,lateral "
	"llmc.publish_1('t'||n||'-atlas',0,null,'main','x','{}',0) as x",
	"select x.*" EACH_TASK "wants_clear_1(t.task) as x",
	"select x.*" EACH_TASK "publish_want_1(t.task,'moon') as x",
	"select x.*" EACH_TASK "publish_parent_1(t.task,t.task) as x",
	"select x.* from llmc.host as h,lateral llmc.adopt_1('c1',h.boot) as x",
	"select x.* from llmc.host as h,lateral "
	"llmc.host_view_1(h.boot,'{}') as x",
	"select x.* from llmc.host as h,lateral "
	"llmc.can_set_1('host:'||h.host) as x",
	"select x.* from llmc.letter as t,lateral "
	"llmc.letter_done_1(t.id,'done','{}') as x",
	"select x.* from llmc.letter as t,lateral llmc.letter_drop_1(t.id,'x') "
	"as x",
	"select x.* from llmc.host as h,lateral "
	"llmc.letter_post_1('x'||random(),h.host,'daemon.stop','{}') as x",
	"select x.* from llmc.host as h,lateral "
	"llmc.letter_post_1('x'||random(),h.host,'mail.deliver','{\"mail\":"
	"{\"id\":\"M_'||random()||'\",\"sender\":\"actor:system:person\","
	"\"actor\":\"auto-1\",\"subject\":\"x\",\"body\":\"stop\",\"ts\":1}}') "
	"as x",
	"select llmc.drain_1(1),llmc.drain_1(0)",
	"select llmc.steal_hosts_1(),llmc.steal_tasks_1(),"
	"llmc.attempts_close_1()",
	"select llmc.prune_tasks_1()",
	"select llmc.prune_letters_1()",
	"select llmc.prune_events_1()",
	"select llmc.prune_spend_1()",
	"update llmc.task set state='landed'",
	"delete from llmc.event",
	"truncate llmc.task cascade",
	"update llmc.host set lease_until=0",
	"select llmc.submit_0('t1-atlas',1,'x','f','r','{}','{}')",
	/* Locks that it keeps for a while. */
	"begin;select llmc.claim_1('c1','main');select pg_sleep(0.3);rollback",
	LEAVE,
	LEAVE,
	LEAVE,
	LEAVE,
};

static const char *const texts[] = { "'t1-atlas'", "'t1-borg'", "'atlas'",
	"'borg'", "'cray'", "'main'", "'c1'", "'{}'", "''", "null", "'landed'",
	"'queued'", "'../../x'", "'--output=x'", "repeat('x',100000)",
	"(select max(boot) from llmc.host)",
	"(select max(task) from llmc.task)",
	"(select min(commit_id) from llmc.task)" };
static const char *const numbers[] = { "0", "1", "2", "-1", "9000000000000",
	"9223372036854775807", "null", "(select max(fence) from llmc.task)",
	"(select max(fence) from llmc.lander)" };

/* Not with nonsense: what takes only time from others, or ends this host. */
static const char *const spared[] = { "quota_limit", "eject", "leave",
	"drain" };

static PGconn *
open_book(const char *address)
{
	PGconn *conn = PQconnectdb(address);

	PQclear(PQexec(conn, "set client_min_messages=error"));
	return conn;
}

/* What a call of every function with any arguments is; the names of its
 * functions and their types. */
static void
call_nonsense(PGconn *conn, const PGresult *functions, struct buf *sql)
{
	int n = (int)arc4random_uniform((uint32_t)PQntuples(functions));
	const char *name = PQgetvalue(functions, n, 0);
	cleanup_free char *types = xstrdup(PQgetvalue(functions, n, 1));
	char *rest = types, *type;
	bool first = true;

	(void)conn;
	for (size_t i = 0; i < nitems(spared); i++)
		if (strncmp(name, spared[i], strlen(spared[i])) == 0)
			return;
	buf_addf(sql, "select llmc.%s(", name);
	while (*types != '\0' && (type = strsep(&rest, ",")) != NULL) {
		buf_addf(sql, "%s%s", first ? "" : ",",
		    strstr(type, "bigint") != NULL ? PICK(numbers) :
						     PICK(texts));
		first = false;
	}
	buf_adds(sql, ")");
}

static const char *
calls_of(int n)
{
	return e2e_path("%s/calls-%d", unit_scratch(), n);
}

/* The hostile host, until it is killed. Its role may be locked, and the network
 * is as it is. It begins as the lander. */
static void
be_hostile(const char *address, const char *file)
{
	cleanup_fd int log = file_open(file, O_WRONLY | O_APPEND, 0600);
	int64_t calls = 0;

	for (;;) {
		PGconn *conn = open_book(address);
		PGresult *functions = PQexec(conn,
		    "select proname,pg_get_function_arguments(oid) from "
		    "pg_proc where pronamespace='llmc'::regnamespace");

		for (int i = 0; i < FIRST; i++)
			PQclear(PQexec(conn, aimed[i]));
		while (PQstatus(conn) == CONNECTION_OK) {
			cleanup_buf struct buf sql = BUF_INIT;

			if (arc4random_uniform(2) == 0)
				buf_adds(&sql, PICK(aimed));
			else if (PQntuples(functions) > 0)
				call_nonsense(conn, functions, &sql);
			PQclear(PQexec(conn, sql.data));
			if (PQtransactionStatus(conn) != PQTRANS_IDLE)
				PQclear(PQexec(conn, "rollback"));
			/* The others are to land now and then. */
			if (strstr(sql.data, "lander_leave") != NULL)
				poll(NULL, 0, 1500);
			if (++calls % 10 == 0)
				file_write_all(log, ".", 1);
		}
		PQclear(functions);
		PQfinish(conn);
		poll(NULL, 0, 100);
	}
}

/* The first cell. */
static int64_t
owner_counts(const char *sql)
{
	PGconn *conn = open_book(hosts_owner());
	PGresult *result = PQexec(conn, sql);
	int64_t count = PQntuples(result) > 0 ?
	    strtoll(PQgetvalue(result, 0, 0), NULL, 10) :
	    0;

	ck_assert_msg(PQresultStatus(result) == PGRES_TUPLES_OK ||
		PQresultStatus(result) == PGRES_COMMAND_OK,
	    "%s: %s", sql, PQerrorMessage(conn));
	PQclear(result);
	PQfinish(conn);
	return count;
}

static int
landed_files(void)
{
	return (int)strtol(hosts_do(0,
			       "git -C \"$FLEET/origin.git\" ls-tree "
			       "--name-only main | grep -c '^work-' || true"),
	    NULL, 10);
}

/* One that the hostile host cannot claim. */
static void
add_work(int n)
{
	const char *todo = e2e_path("%s/.llmc/tasks/todo", hosts_root(n % 2));
	const char *aside = e2e_path("%s/.%04d.new", todo, n);

	ck_assert_int_eq(file_mkdirs(todo, 0755, NULL), 0);
	e2e_write(aside,
	    e2e_path("Wants: host:%s\n\nWork %d\nfake: commit work-%d.txt good",
		hosts_name(n / 2 % 2), n, n));
	ck_assert_int_eq(rename(aside, e2e_path("%s/%04d.md", todo, n)), 0);
}

TEST(a_hostile_host_harms_no_task_of_two_good_ones)
{
	int64_t seconds = e2e_number("HOSTILE_SECONDS", SECONDS), end;
	int64_t events = 0, rows = 0, now;
	const char *address;
	int64_t calls = 0;
	int added = 0;
	pid_t hostile[HOSTILE];

	hosts_begin(3, NULL);
	hosts_set(-1, "auto.concurrency", "2");
	address = strchr(hosts_database(), ':') + strlen("://");
	address = e2e_path("postgresql://llmc_llmc_cray@%s?passfile=%s/.llmc/"
			   "fleet.pass",
	    address, hosts_root(2));
	for (int i = 0; i < HOSTILE; i++) {
		cleanup_free char *file = xstrdup(calls_of(i));

		e2e_write(file, "");
		hostile[i] = fork();
		if (hostile[i] == 0) {
			be_hostile(xstrdup(address), file);
			_exit(1);
		}
	}
	hosts_up(0);
	hosts_up(1);
	hosts_wait(0, "both", "\"$LLMC\" status | grep -q '^borg .* up'");
	end = clock_mono_ms() + seconds * 1000;
	while (clock_mono_ms() < end) {
		if (added - landed_files() < AHEAD)
			add_work(added++);
		poll(NULL, 0, 200); /* for other programs */
		/* What others have said stays. */
		now = owner_counts(
		    "select count(*) from llmc.event where host<>'cray'");
		ck_assert_int_ge(now, events);
		events = now;
		now = owner_counts(
		    "select count(*) from llmc.task where owner<>'cray'");
		ck_assert_int_ge(now, rows);
		rows = now;
	}
	owner_counts(LOCK);
	for (int i = 0; i < HOSTILE; i++) {
		kill(hostile[i], SIGKILL);
		waitpid(hostile[i], NULL, 0);
		calls += 10 * (int64_t)strlen(e2e_read(calls_of(i)));
	}
	hosts_wait(0, "all tasks to land",
	    e2e_path("[ \"$(git -C \"$FLEET/origin.git\" ls-tree --name-only "
		     "main | grep -c '^work-')\" = %d ]",
		added));
	hosts_oracle(added);
	for (int i = 0; i < 2; i++) {
		hosts_wait(i, "its tasks to settle",
		    "! ls .llmc/tasks/todo .llmc/tasks/doing | grep -q '[.]md'");
		ck_assert_str_eq(
		    hosts_do(i, "ls .llmc/tasks/failed 2>/dev/null || true"),
		    "");
	}
	/* What is called landed is on the branch, or its owner takes it back.
	 */
	hosts_wait(0, "no task to be called landed that is not",
	    "[ \"$(git -C \"$FLEET/origin.git\" log --format='%(trailers:key="
	    "Llmc-Task,valueonly)' main | grep -c .)\" -ge 1 ]");
	ck_assert_int_eq(owner_counts("select count(*) from llmc.task where "
				      "owner<>'cray' and state='landed' and "
				      "commit_id=" NO_COMMIT),
	    0);
	fprintf(stderr,
	    "# %d tasks, %lld hostile calls, %lld times a lander, asks:\n%s",
	    added, (long long)calls,
	    (long long)owner_counts("select max(fence) from llmc.lander"),
	    hosts_do(0, "\"$LLMC\" asks | head -20"));
}
