/* SPDX-License-Identifier: ISC */

/*
 * The daemon is killed again and again while two workers get tasks and their
 * work is accepted. It is killed as soon as the state shows a certain step of
 * a prompt or of a landing, and started again. The oracle is git, and the log
 * of the fake agent; the state only decides when to kill and what to request
 * next.
 *
 *   FAULTS       number of kills (12), and of those beside a user who works in
 *                the same checkout, half of the time on the landing branch (6)
 *   FAULTS_SEED  seed for tasks, victims and times (1)
 *
 * To check that the test can fail, the daemon was broken on purpose: pasting a
 * prompt before it was saved gave it to the agent twice, and a Stop that was
 * answered too early made a round never end.
 */
#include "fleet.h"
#include "book.h"
#include "faults.h"
#include "state-book.h"
#include "state.h"
#include "watch.h"

#define WORKERS   2
#define ROUND_MS  90000 /* for two tasks, whatever is killed meanwhile */
#define BESIDE_MS 300000 /* the same, while a user holds up the landings */
#define UP_TRIES  50
#define UP_MS     100 /* between them */
#define DELAY_MS  40 /* of a late kill */
#define READ_MAX  (16 * 1024 * 1024)
#define TASKS_MAX 100 /* and two per kill */

static struct target {
	const char *key, *word; /* of a worker's record */
	int hits; /* kills when this was seen */
	int found; /* the last state of killed daemons */
} targets[] = {
	{ "status", "starting", 0, 0 },
	{ "step", "parked", 0, 0 },
	{ "step", "clearing", 0, 0 },
	{ "step", "pasted", 0, 0 },
	{ "status", "working", 0, 0 },
	{ "status", "needs_review", 0, 0 },
	{ "status", "accepting", 0, 0 },
	{ "landing", "queued", 0, 0 },
	{ "landing", "moving", 0, 0 },
	{ "landing", "landed", 0, 0 },
	{ "status", "rebasing", 0, 0 },
	/* Not what is saved but what is done. */
	{ "agent", "told", 0, 0 },
	{ "git", "moved", 0, 0 },
};

/* The contents of tasks; %s is the name. The last one makes two workers
 * conflict. */
static const char *const scenes[] = {
	"fake: commit %s.txt %s",
	"fake: commit %s.txt %s\nfake: commit more/%s.txt %s",
	"fake: write %s.txt %s",
	"fake: sleep 200\nfake: commit %s.txt %s",
	"fake: commit shared.txt %s\nfake: commit %s.txt %s\nfake: resolve",
};
#define COLLISION (nitems(scenes) - 1)

/* A user who commits, and begins what they end in another way than usual:
 * rebases that stop, are left for another branch, and then are aborted or
 * continued; bisects, merges, cherry-picks. Now and then the last landing is
 * thrown away. Whatever fails because of a lock is tried again, as a person
 * does. The subjects of the commits, none of which may be lost, are in
 * `commits`. */
static const char user_text[] =
    "exec 3<&0; (read -r end <&3; kill -KILL 0) &\n"
    "export GIT_AUTHOR_NAME=User GIT_EDITOR=true\n"
    "s=$KILLS_SEED n=0 left=20\n"
    "next() { s=$(((s * 1103515245 + 12345) % 2147483648)); "
    "r=$((s / 65536 % $1)); }\n"
    "try() { t=0; while [ $t -lt 40 ]; do t=$((t + 1)); "
    "\"$@\" >>../user.log 2>&1 && return 0; sleep 0.03; done; "
    "echo \"gave up: $*\" >>../user.log; return 1; }\n"
    "clear() { t=0; while [ -d .git/rebase-merge ]; do "
    "t=$((t + 1)); [ $t -lt 100 ] || git rebase --quit; "
    "git rebase --abort || sleep 0.03; done; "
    "git merge --abort; git bisect reset; "
    "try git checkout -q -- user.txt; } >>../user.log 2>&1\n"
    "rest() { next 6; sleep 0.$((r + 1)); }\n"
    "commit() { n=$((n + 1)); echo $n >>user.txt; "
    "if try git commit -qam \"user $n.\"; then echo \"user $n.\" "
    ">>../commits; else try git checkout -q -- user.txt; fi; }\n"
    "stop() { git rebase -q --force-rebase --exec false \"$1\" "
    ">>../user.log 2>&1; [ -d .git/rebase-merge ] && "
    "echo rebase >>../doings; rest; }\n"
    "while [ ! -e ../stop ]; do\n"
    "	next 14\n"
    "	case $r in\n"
    "	0 | 1) try git switch -q side ;;\n"
    "	2 | 3) try git switch -q main ;;\n"
    "	4 | 5) commit ;;\n"
    "	6) stop HEAD~2; clear ;;\n"
    "	7) stop HEAD~2; while [ -d .git/rebase-merge ] && "
    "git rebase --continue; do rest; done >>../user.log 2>&1; clear ;;\n"
    "	8 | 9) stop main~2; try git checkout -q main; rest; clear ;;\n"
    "	10) try git cherry-pick --no-commit side~1..side && "
    "echo pick >>../doings; rest; git cherry-pick --quit; "
    "try git reset -q --hard ;;\n"
    "	11) try git bisect start HEAD HEAD~3 && echo bisect >>../doings; "
    "rest; try git bisect reset ;;\n"
    "	12) try git merge -q --no-ff --no-commit side && "
    "echo merge >>../doings; rest; clear ;;\n"
    "	13) [ $left -gt 0 ] && ! git log -1 --format=%s | grep -q '[.]$' && "
    "left=$((left - 1)) && git reset -q --hard HEAD~1 && "
    "echo reset >>../doings ;;\n"
    "	esac >>../user.log\n"
    "	rest\n"
    "done\n"
    "clear; try git switch -q main\n";

enum stage {
	STAGE_WANTED, /* the task is to be started */
	STAGE_TAKEN,
	STAGE_ACCEPTED, /* the decision was sent, or has arrived */
	STAGE_OVER
};

struct job {
	struct kills *kills;
	const char *worker;
	char *task; /* its name */
	char *prompt;
	enum stage stage;
	bool asking; /* a command for it is running */
};

struct kills {
	struct loop *loop;
	struct watch *watch, *told, *moved;
	struct loop_timer *guard, *late, *again, *soon;
	char *book, *log; /* files: the log changes with each commit */
	char head[48]; /* of the index of the log, when it was last read */
	struct procref daemon;
	bool up; /* it is running, as far as we know */
	int up_tries;
	struct target *target; /* NULL = none left */
	size_t victim;
	int wanted, done;
	bool beside_user;
	struct child *user;
	int user_life; /* it ends with this, and with us */
	int tasks; /* given so far */
	struct dice dice;
	struct job jobs[WORKERS];
	char *failure;
};

static void kills_look(void *arg);
static void daemon_start(void *arg);

static void
kills_fail(struct kills *k, char *words)
{
	if (k->failure == NULL)
		k->failure = words;
	else
		free(words);
	loop_stop(k->loop, 1);
}

static void
kills_late(void *arg)
{
	kills_fail(arg, xstrdup("a round did not come to its end"));
}

/* --- the state -------------------------------------------------------- */

/* Where the worker's work is in the landing queue; "" = not in it. */
static const char *
landing(struct json_object *state, const char *worker)
{
	struct json_object *queue = NULL, *items = NULL, *item;
	const char *step;

	if (!json_object_object_get_ex(state, "landings", &queue) ||
	    !json_object_object_get_ex(queue, "items", &items))
		return "";
	for (size_t i = 0; i < json_object_array_length(items); i++) {
		item = json_object_array_get_idx(items, i);
		if (strcmp(json_string_or(item, "worker", ""), worker) != 0)
			continue;
		step = json_string_or(item, "step", "");
		return strcmp(step, "queued") == 0 &&
			json_string_or(item, "commit", NULL) != NULL ?
		    "moving" :
		    step;
	}
	return "";
}

static const char *
member(struct json_object *state, const char *worker, const char *key)
{
	struct json_object *workers = NULL, *record = NULL;

	if (strcmp(key, "landing") == 0)
		return landing(state, worker);
	if (!json_object_object_get_ex(state, "workers", &workers) ||
	    !json_object_object_get_ex(workers, worker, &record))
		return "";
	return json_string_or(record, key, "");
}

static bool
shows(struct json_object *state, const char *worker, const struct target *t)
{
	return strcmp(member(state, worker, t->key), t->word) == 0;
}

/* --- the killing ------------------------------------------------------ */

static bool
is_late(const struct kills *k)
{
	return k->late != NULL && loop_timer_pending(k->late);
}

/* Each target once, then any. */
static void
target_next(struct kills *k)
{
	size_t left = 0, nth;

	k->target = NULL;
	if (k->done >= k->wanted)
		return;
	k->victim = dice_below(&k->dice, WORKERS);
	for (size_t i = 0; i < nitems(targets); i++)
		left += targets[i].hits == 0;
	nth = dice_below(&k->dice, left > 0 ? left : nitems(targets));
	for (size_t i = 0; i < nitems(targets); i++)
		if ((left == 0 || targets[i].hits == 0) && nth-- == 0)
			k->target = &targets[i];
}

/* As it was committed; NULL = it cannot be read now. In this process: a program
 * would be too late. */
static struct json_object *
load_state(const struct kills *k)
{
	struct json_object *json = NULL;
	struct book *book = NULL;
	struct state state;

	if (book_look(k->book, &book, NULL) < 0)
		return NULL;
	state_init(&state);
	if (state_book_load(book, clock_wall_ms(), &state, NULL) == 0)
		json = state_to_json(&state);
	state_release(&state);
	book_close(book);
	return json;
}

static void
daemon_died(struct kills *k)
{
	cleanup_json struct json_object *state = load_state(k);

	for (size_t i = 0; i < nitems(targets); i++)
		for (size_t j = 0; j < WORKERS; j++)
			targets[i].found +=
			    shows(state, k->jobs[j].worker, &targets[i]);
	target_next(k);
	daemon_start(k);
}

static void
daemon_kill(void *arg)
{
	struct kills *k = arg;
	struct pollfd gone = { .fd = k->daemon.pidfd, .events = POLLIN };

	k->target->hits++;
	k->done++;
	k->up = false;
	if (procref_signal(&k->daemon, SIGKILL) < 0 ||
	    poll(&gone, 1, 10000) != 1)
		kills_fail(k, xstrdup("the daemon ended by itself"));
	else
		daemon_died(k);
}

static bool
is_moment(struct kills *k, struct json_object *state)
{
	return k->target != NULL && !is_late(k) &&
	    shows(state, k->jobs[k->victim].worker, k->target);
}

/* In the first round kill at once, later also with a delay. */
static void
strike(struct kills *k)
{
	bool later = k->target->hits > 0 && dice_below(&k->dice, 2) == 0;

	if (!later) {
		daemon_kill(k);
		return;
	}
	loop_timer_free(k->late);
	k->late = loop_after(k->loop,
	    1 + (int64_t)dice_below(&k->dice, DELAY_MS), daemon_kill, k);
}

static void
kills_effect(struct kills *k, const char *word)
{
	if (k->up && k->target != NULL && !is_late(k) &&
	    strcmp(k->target->word, word) == 0)
		strike(k);
}

static void
kills_told(void *arg)
{
	kills_effect(arg, "told");
}

static void
kills_moved(void *arg)
{
	kills_effect(arg, "moved");
}

/* --- commands --------------------------------------------------------- */

static void
spawn(struct kills *k, const char *const *args, child_fn *fn, void *arg)
{
	const char *argv[8] = { e2e_llmc_path() };
	struct child_spec spec = {
		.argv = argv, .cwd = fleet_root(), .env = e2e_edits()
	};
	struct err err = { 0 };

	for (size_t i = 0; args[i] != NULL; i++)
		argv[1 + i] = args[i];
	if (child_spawn(k->loop, &spec, fn, arg, NULL, &err) < 0)
		kills_fail(k, xstrdup(err.msg));
}

/* Which daemon is running now? */
static bool
daemon_find(struct kills *k)
{
	cleanup_free char *file =
	    xasprintf("%s/.llmc/daemon.json", fleet_root());
	cleanup_json struct json_object *json = e2e_load(file);

	k->up = json != NULL &&
	    procref_from_json(&k->daemon, json, NULL) == 0 &&
	    procref_open(&k->daemon) == 0;
	return k->up;
}

static void
daemon_started(const struct child_result *result, void *arg)
{
	struct kills *k = arg;

	if (child_succeeded(result) && daemon_find(k)) {
		k->up_tries = 0;
		kills_look(k);
	} else if (++k->up_tries == UP_TRIES) {
		kills_fail(k, xstrdup("the daemon does not start"));
	} else {
		/* A command that found no daemon may hold the state. */
		loop_timer_free(k->again);
		k->again = loop_after(k->loop, UP_MS, daemon_start, k);
	}
}

static void
daemon_start(void *arg)
{
	spawn(arg, (const char *[]){ "up", "--detach", NULL }, daemon_started,
	    arg);
}

static void
job_asked(const struct child_result *result, void *arg)
{
	struct job *job = arg;

	/* It failed: the daemon was killed, perhaps after it received the
	 * call. */
	job->asking = false;
	if (job->stage == STAGE_WANTED && child_succeeded(result))
		job->stage = STAGE_TAKEN;
	kills_look(job->kills);
}

static void
job_ask(struct job *job)
{
	job->asking = true;
	if (job->stage == STAGE_WANTED)
		spawn(job->kills,
		    (const char *[]){ "start", "--worker", job->worker,
			"--prompt", job->prompt, NULL },
		    job_asked, job);
	else
		spawn(job->kills,
		    (const char *[]){ "accept", job->worker, NULL }, job_asked,
		    job);
}

/* --- the life of a task ----------------------------------------------- */

static void
job_look(struct job *job, struct json_object *state)
{
	struct kills *k = job->kills;
	const char *status = member(state, job->worker, "status");
	bool idle = strcmp(status, "idle") == 0;

	if (status[0] == '\0' || strcmp(status, "error") == 0 ||
	    strcmp(status, "paused") == 0 || strcmp(status, "no_changes") == 0)
		kills_fail(k,
		    xasprintf("%s is %s: %s", job->worker,
			status[0] != '\0' ? status : "gone",
			member(state, job->worker, "reason")));
	else if (job->stage == STAGE_WANTED && idle)
		job_ask(job);
	else if (job->stage == STAGE_WANTED && strcmp(status, "offline") != 0)
		job->stage = STAGE_TAKEN;
	else if (job->stage == STAGE_TAKEN && idle)
		kills_fail(k,
		    xasprintf("%s lost its task %s", job->worker, job->task));
	else if (strcmp(status, "needs_review") == 0) {
		job->stage = STAGE_ACCEPTED;
		job_ask(job);
	} else if (job->stage == STAGE_ACCEPTED && idle)
		job->stage = STAGE_OVER;
}

static void
kills_look(void *arg)
{
	struct kills *k = arg;
	cleanup_json struct json_object *state = NULL;
	bool over = true;

	if (!k->up || k->failure != NULL)
		return;
	state = load_state(k);
	if (is_moment(k, state)) {
		strike(k);
		if (!k->up)
			return;
	}
	for (size_t i = 0; i < WORKERS; i++) {
		struct job *job = &k->jobs[i];

		if (!job->asking && job->stage != STAGE_OVER)
			job_look(job, state);
		over = over && job->stage == STAGE_OVER && !job->asking;
	}
	if (over && !is_late(k))
		loop_stop(k->loop, 0);
}

/* Look if the index of the log has changed. */
static bool
look_if_new(struct kills *k)
{
	cleanup_free char *path = xasprintf("%s-shm", k->book);
	char head[sizeof k->head] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool same = fd != -1 && pread(fd, head, sizeof head, 0) > 0 &&
	    memcmp(head, k->head, sizeof head) == 0;

	if (fd != -1)
		close(fd);
	if (same)
		return false;
	memcpy(k->head, head, sizeof head);
	kills_look(k);
	return true;
}

static void
kills_soon(void *arg)
{
	look_if_new(arg);
}

/* A commit is several writes, and then a change of the index that nobody is
 * told about. */
static void
kills_written(void *arg)
{
	struct kills *k = arg;

	if (!look_if_new(k) &&
	    (k->soon == NULL || !loop_timer_pending(k->soon))) {
		loop_timer_free(k->soon);
		k->soon = loop_after(k->loop, 1, kills_soon, k);
	}
}

static void
job_begin(struct job *job, size_t scene)
{
	cleanup_free char *task =
	    xasprintf("task-%04d-%s", ++job->kills->tasks, job->worker);
	struct buf prompt = BUF_INIT;
	const char *at = scenes[scene], *mark;

	for (; (mark = strstr(at, "%s")) != NULL; at = mark + 2) {
		buf_add(&prompt, at, (size_t)(mark - at));
		buf_adds(&prompt, task);
	}
	buf_adds(&prompt, at);
	free(job->prompt);
	free(job->task);
	job->prompt = buf_take(&prompt);
	job->task = take_ptr(&task);
	job->stage = STAGE_WANTED;
}

/* --- the oracle ------------------------------------------------------- */

/* Count only the task itself, not when it is repeated to resolve a conflict. */
static int
times_told(const char *task)
{
	cleanup_free char *words = xasprintf("%s.txt", task);
	cleanup_buf struct buf text = BUF_INIT;
	int count = 0;

	file_read(fleet_prompt_log(), READ_MAX, &text, NULL);
	for (char *at = text.data, *line; (line = strsep(&at, "\n")) != NULL;)
		count += strstr(line, words) != NULL &&
		    strstr(line, "Your task was") == NULL;
	return count;
}

static void
verify_task(const struct job *job)
{
	const char *root = fleet_root(), *file = e2e_path("%s.txt", job->task);
	int told = times_told(job->task);

	/* Added by exactly one commit. */
	ck_assert_str_eq(
	    e2e_git(root, "rev-list", "--count", "main", "--", file, NULL),
	    "1\n");
	ck_assert_str_eq(e2e_git(root, "show", e2e_path("main:%s", file), NULL),
	    e2e_path("%s\n", job->task));
	ck_assert_msg(told == 1, "%s was told %d times", job->task, told);
}

static void
verify_round(const struct kills *k)
{
	const char *root = fleet_root();

	for (size_t i = 0; i < WORKERS; i++) {
		verify_task(&k->jobs[i]);
		if (strcmp(e2e_sandbox(), "off") == 0) /* else detached */
			e2e_has(e2e_git(root, "worktree", "list", "--porcelain",
				    NULL),
			    e2e_path("branch refs/heads/llmc/%s",
				k->jobs[i].worker));
		ck_assert_str_eq(e2e_git(fleet_worktree(k->jobs[i].worker),
				     "status", "--porcelain", NULL),
		    "");
	}
	ck_assert_int_eq(fleet_commits(), 1 + k->tasks);
	ck_assert_str_eq(e2e_git(root, "status", "--porcelain", NULL), "");
	ck_assert_str_eq(
	    e2e_git(root, "symbolic-ref", "HEAD", NULL), "refs/heads/main\n");
}

/* Everything that ever landed is still there. */
static void
verify_all(const struct kills *k)
{
	const char *files =
	    e2e_git(fleet_root(), "ls-tree", "--name-only", "main", NULL);

	for (int i = 1; i <= k->tasks; i++)
		e2e_has(files,
		    e2e_path("task-%04d-%s.txt", i,
			k->jobs[(i - 1) % WORKERS].worker));
	e2e_git(fleet_root(), "fsck", "--no-dangling", "--no-progress", NULL);
}

/* --- the run ---------------------------------------------------------- */

static void
round_run(struct kills *k)
{
	bool collide =
	    k->target != NULL && strcmp(k->target->word, "rebasing") == 0;
	size_t both = dice_below(&k->dice, nitems(scenes));

	for (size_t i = 0; i < WORKERS; i++)
		job_begin(&k->jobs[i],
		    collide || both == COLLISION ?
			COLLISION :
			dice_below(&k->dice, COLLISION));
	k->guard = loop_after(
	    k->loop, k->beside_user ? BESIDE_MS : ROUND_MS, kills_late, k);
	kills_look(k);
	loop_run(k->loop);
	loop_timer_free(take_ptr(&k->guard));
	if (k->failure != NULL) {
		struct e2e_run *log = e2e_sh(fleet_root(),
		    "{ tail -n 40 .llmc/logs/autod.log; \"$LLMC\" status; "
		    "\"$STATE\"; } | sed 's/^/# /'");

		fputs(log->out, stdout);
		ck_abort_msg("after %d kills: %s", k->done, k->failure);
	}
	if (!k->beside_user)
		verify_round(k);
}

static void
kills_report(const struct kills *k)
{
	printf("# %d kills, %d tasks, %d sessions started again\n", k->done,
	    k->tasks, fleet_prompts("has been resumed"));
	printf("# %-8s %-14s %5s %8s\n", "", "", "hits", "written");
	for (size_t i = 0; i < nitems(targets); i++)
		printf("# %-8s %-14s %5d %8d\n", targets[i].key,
		    targets[i].word, targets[i].hits, targets[i].found);
	fflush(stdout);
}

static void
watch(struct kills *k, const char *path, watch_fn *fn, struct watch **ret)
{
	struct err err = { 0 };

	ck_assert_msg(
	    watch_new(k->loop, path, fn, k, ret, &err) == 0, "%s", err.msg);
}

static void
kills_open(struct kills *k)
{
	static const char *const names[WORKERS] = { "adam", "eve" };

	k->loop = loop_new();
	k->dice.state = faults_seed();
	k->book = xasprintf("%s/.llmc/llmc.db", fleet_root());
	k->log = xasprintf("%s-wal", k->book);
	for (size_t i = 0; i < WORKERS; i++) {
		k->jobs[i] = (struct job){ .kills = k, .worker = names[i] };
		fleet_add(names[i]);
	}
	watch(k, k->log, kills_written, &k->watch);
	watch(k, fleet_prompt_log(), kills_told, &k->told);
	watch(k, e2e_path("%s/.git/refs/heads/main", fleet_root()), kills_moved,
	    &k->moved);
	ck_assert(daemon_find(k));
}

static void
kills_close(struct kills *k)
{
	for (size_t i = 0; i < WORKERS; i++) {
		free(k->jobs[i].task);
		free(k->jobs[i].prompt);
	}
	procref_release(&k->daemon);
	loop_timer_free(k->late);
	loop_timer_free(k->again);
	loop_timer_free(k->soon);
	watch_free(k->watch);
	watch_free(k->told);
	watch_free(k->moved);
	loop_free(k->loop);
	free(k->book);
	free(k->log);
}

static void
kills_run(struct kills *k)
{
	target_next(k);
	do {
		ck_assert_msg(k->tasks < TASKS_MAX + WORKERS * k->wanted,
		    "%s %s is never met", k->target->key, k->target->word);
		round_run(k);
	} while (k->target != NULL);
}

START_TEST(nothing_is_lost_and_nothing_is_done_twice)
{
	struct kills k = { .daemon = PROCREF_INIT, .wanted = faults_count(12) };

	kills_open(&k);
	kills_run(&k);
	verify_all(&k);
	kills_report(&k);
	for (size_t i = 0; i < nitems(targets); i++)
		ck_assert_msg(
		    k.wanted < (int)nitems(targets) || targets[i].hits > 0,
		    "%s %s was never met", targets[i].key, targets[i].word);
	kills_close(&k);
}
END_TEST

static void
kills_user_ended(const struct child_result *result, void *arg)
{
	struct kills *k = arg;

	k->user = NULL;
	if (!child_succeeded(result))
		kills_fail(k, xstrdup("the user has failed"));
	loop_stop(k->loop, 0);
}

static int64_t
user_deadline_ms(void)
{
	return (60 + 30 * (int64_t)faults_count(6)) * 1000;
}

static void
kills_user_begin(struct kills *k)
{
	struct child_spec spec = { .shell = user_text,
		.cwd = fleet_root(),
		.deadline_ms = user_deadline_ms() };
	cleanup_free char *seed =
	    xasprintf("KILLS_SEED=%d", (int)faults_seed());
	cleanup_strv char **env = strv_copy(e2e_edits());
	struct err err = { 0 };
	int life[2];

	e2e_sh(fleet_root(),
	    "echo 0 >user.txt; git add .; git commit -qm 'user 0.'; "
	    "git branch side; git switch -q side; for i in 1 2; do "
	    "echo $i >side.txt; git add .; git commit -qm \"side $i.\"; done; "
	    "git switch -q main; for i in 1 2; do git commit -q --allow-empty "
	    "-m \"empty $i.\"; done; >../doings; "
	    "git log --branches --format=%s | grep '[.]$' >../commits");
	strv_add(&env, seed);
	ck_assert_int_eq(pipe2(life, O_CLOEXEC), 0);
	spec.env = strv_const(env);
	spec.stdin_fd = life[0];
	k->user_life = life[1];
	ck_assert_msg(child_spawn(k->loop, &spec, kills_user_ended, k, &k->user,
			  &err) == 0,
	    "%s", err.msg);
	close(life[0]);
}

static void
kills_user_end(struct kills *k)
{
	e2e_sh(fleet_root(), ">../stop");
	while (k->user != NULL)
		loop_run(k->loop);
	close(k->user_life);
	ck_assert_msg(k->failure == NULL, "%s", k->failure);
}

/* Each task is on the branch, or in a commit that an ask names; it may take the
 * daemon a moment to see how the user has left the branch. */
static const char all_is_there[] =
    "missing() { named=$(\"$LLMC\" asks --json | "
    "grep -o 'refs/llmc/landed/[a-z0-9-]*' | sort -u); "
    "for f in $(cat ../tasks); do git cat-file -e main:$f 2>/dev/null && "
    "continue; for ref in $named; do "
    "[ \"$(git diff --name-only --diff-filter=A $ref^ $ref -- $f)\" ] && "
    "continue 2; done; echo $f; done; }\n"
    "for i in $(seq 100); do lost=$(missing); [ \"$lost\" ] || break; "
    "sleep 0.3; done; echo $lost\n"
    "git log --branches --format=%s >../subjects; "
    "grep -vxFf ../subjects ../commits\n"
    "git status --porcelain; git fsck --no-dangling --no-progress 2>&1; "
    "find .git -name '*.lock' -o -name 'llmc*index*'\n";

static void
verify_beside_user(const struct kills *k)
{
	cleanup_buf struct buf tasks = BUF_INIT;

	for (int i = 1; i <= k->tasks; i++)
		buf_addf(&tasks, "task-%04d-%s.txt\n", i,
		    k->jobs[(i - 1) % WORKERS].worker);
	ck_assert_int_eq(file_replace(e2e_path("%s/../tasks", fleet_root()),
			     tasks.data, tasks.len, 0644, NULL),
	    0);
	ck_assert_str_eq(e2e_sh(fleet_root(), all_is_there)->out, "\n");
	printf("# the user: %s",
	    e2e_sh(fleet_root(),
		"echo $(sort ../doings | uniq -c), $(wc -l <../commits) "
		"commits, $(\"$LLMC\" asks --json | "
		"grep -o 'refs/llmc/landed/[a-z0-9-]*' | sort -u | wc -l) "
		"landings named, gave up $(grep -c '^gave up' ../user.log)")
		->out);
}

START_TEST(beside_a_user_nothing_is_lost_in_silence)
{
	struct kills k = { .daemon = PROCREF_INIT,
		.beside_user = true,
		.wanted = faults_count(6) };

	kills_open(&k);
	kills_user_begin(&k);
	kills_run(&k);
	kills_user_end(&k);
	verify_beside_user(&k);
	kills_report(&k);
	kills_close(&k);
}
END_TEST

static void
begin(void)
{
	fleet_begin();
	fleet_up();
}

Suite *
unit_suite(void)
{
	Suite *s = suite_create("kills");
	TCase *tc = tcase_create("kills");

	unit_set_timeout(tc, 60 + 20.0 * (double)faults_count(12));
	tcase_add_checked_fixture(tc, begin, fleet_end);
	tcase_add_test(tc, nothing_is_lost_and_nothing_is_done_twice);
	suite_add_tcase(s, tc);
	tc = tcase_create("user");
	tcase_set_timeout(tc, (double)user_deadline_ms() / 1000);
	tcase_add_checked_fixture(tc, begin, fleet_end);
	tcase_add_test(tc, beside_a_user_nothing_is_lost_in_silence);
	suite_add_tcase(s, tc);
	return s;
}
