/* SPDX-License-Identifier: ISC */

/*
 * Checks of the lander that run on other hosts. What is to be checked is pushed
 * to origin (refs/llmc/check/ID) and posted; a host with a free slot takes it,
 * fetches it, runs its own check_command in its own box, and writes how that
 * ended. The job of a host that was lost is taken again. A host whose command
 * is another one judges nothing.
 */

#include "base.h"
#include "git-upstream.h"
#include "hosts-private.h"
#include "id.h"
#include "landing.h"
#include "loop.h"
#include "workspace.h"

#define READ_MS    ((int64_t)5 * 1000) /* while others check for us */
#define TAKE_MS    ((int64_t)120 * 1000) /* without a hint */
#define REST_MS    ((int64_t)5 * 1000) /* after something failed */
#define OUTPUT_MAX ((size_t)32 * 1024) /* the end of it */

static const char *const verdicts[CHECK_VERDICT_COUNT + 1] = {
	[CHECK_PASSED] = "passed",
	[CHECK_FAILED] = "failed",
	[CHECK_UNJUDGED] = "unjudged",
};

enum job_step {
	JOB_NEW, /* to be pushed */
	JOB_PUSHED, /* to be posted */
	JOB_POSTED,
	JOB_OVER, /* to be dropped, with its ref */
};

struct job {
	char id[ID_UUID_SIZE];
	enum job_step step;
	bool unwanted; /* nobody waits for it */
	char *tree, *commit, *command;
	char key[CHECK_KEY_SIZE];
};

struct hosts_check {
	struct hosts_floor *floor;
	struct git *git;
	struct loop_call *look;
	struct loop_timer *timer;
	bool busy;
	bool take, read; /* now */
	int64_t rest_ms, read_ms, take_ms, room_ms; /* clock_boot_ms() */
	int slots; /* of the other hosts */
	struct job **jobs;
	size_t count;
	char current[ID_UUID_SIZE]; /* the one that something is done for */
	/* What we check for another host; "" = nothing. */
	char lent[ID_UUID_SIZE];
	char lent_commit[GIT_ID_SIZE], lent_key[CHECK_KEY_SIZE];
	int64_t lent_fence;
	bool lent_afresh;
	char *result, *output; /* how it ended, not told yet; NULL = it has not
				*/
};

static void
look_soon(void *arg)
{
	loop_call_request(((struct hosts_check *)arg)->look);
}

static void
arm(struct hosts_check *check, int64_t ms)
{
	loop_timer_set(
	    &check->timer, check->floor->core->loop, ms, look_soon, check);
}

static void
done(struct hosts_check *check)
{
	check->busy = false;
	look_soon(check);
}

/* Tried again in a moment; the lander's own slots go on meanwhile. */
static void
failed(struct hosts_check *check)
{
	check->busy = false;
	check->rest_ms = clock_boot_ms() + REST_MS;
	arm(check, REST_MS);
}

static void
ask(struct hosts_check *check, const struct shared_call *call, shared_fn *fn)
{
	check->busy = true;
	shared_ask(check->floor->shared, call, 1, HOSTS_ANSWER_MS, fn, check);
}

static bool
is_answered(struct hosts_check *check, const struct shared_answer *answer)
{
	if (answer->verdict != SHARED_DONE)
		failed(check);
	return answer->verdict == SHARED_DONE;
}

/* --- the lander --------------------------------------------------- */

static struct job *
job_of(const struct hosts_check *check, const char *id)
{
	for (size_t i = 0; i < check->count; i++)
		if (strcmp(check->jobs[i]->id, id) == 0)
			return check->jobs[i];
	return NULL;
}

static struct job *
job_new(struct hosts_check *check, const char *id, const char *tree,
    const char *commit, const char *key, bool afresh)
{
	struct job *job = xcalloc(1, sizeof *job);

	strlcpy(job->id, id, sizeof job->id);
	job->tree = xstrdup(tree);
	job->commit = xstrdup(commit);
	job->command = xasprintf("%s%s", key, afresh ? " afresh" : "");
	strlcpy(job->key, key, sizeof job->key);
	check->jobs =
	    xreallocarray(check->jobs, check->count + 1, sizeof(struct job *));
	check->jobs[check->count++] = job;
	return job;
}

static void
job_remove(struct hosts_check *check, struct job *job)
{
	size_t i = 0;

	while (check->jobs[i] != job)
		i++;
	check->jobs[i] = check->jobs[--check->count];
	free(job->tree);
	free(job->commit);
	free(job->command);
	free(job);
}

/* It has ended, or cannot run: the queue decides again. */
static void
job_ends(struct hosts_check *check, struct job *job, enum check_verdict verdict,
    const char *how, const char *output, int64_t ms)
{
	job->step = JOB_OVER;
	if (!job->unwanted)
		landings_checked_elsewhere(check->floor->mode->landings,
		    &(struct check_end){ .tree = job->tree,
			.key = job->key,
			.verdict = verdict,
			.how = how,
			.output = output,
			.duration_ms = ms });
	job->unwanted = true;
}

static void
on_posted(const struct shared_answer *answer, void *arg)
{
	struct hosts_check *check = arg;
	struct job *job;

	if (!is_answered(check, answer))
		return;
	job = job_of(check, check->current);
	if (job != NULL && job->step == JOB_PUSHED)
		job->step = JOB_POSTED;
	done(check);
}

static void
on_pushed(enum push_answer result, const char *words, void *arg)
{
	struct hosts_check *check = arg;
	struct job *job = job_of(check, check->current);

	if (job != NULL && result == PUSH_OK)
		job->step = JOB_PUSHED;
	else if (job != NULL)
		job_ends(check, job, CHECK_UNJUDGED, words, "", 0);
	if (result == PUSH_OK)
		done(check);
	else
		failed(check);
}

static void
on_removed(enum push_answer result, const char *words, void *arg)
{
	struct hosts_check *check = arg;
	struct job *job = job_of(check, check->current);

	(void)result; /* what is left of it does no harm */
	(void)words;
	if (job != NULL)
		job_remove(check, job);
	done(check);
}

static void
push(struct hosts_check *check, const struct job *job)
{
	cleanup_free char *ref = xasprintf(LAND_CHECK_REFS "%s", job->id);
	bool over = job->step == JOB_OVER;

	check->busy = true;
	git_upstream_push(check->git,
	    &(struct git_push_spec){ .remote = LAND_REMOTE,
		.commit = over ? NULL : job->commit,
		.ref = ref,
		.expected = over ? job->commit : "",
		.deadline_ms = LAND_PUSH_MS },
	    over ? on_removed : on_pushed, check);
}

static void
on_dropped(const struct shared_answer *answer, void *arg)
{
	struct hosts_check *check = arg;
	const struct job *job;

	if (!is_answered(check, answer))
		return;
	job = job_of(check, check->current);
	if (job != NULL)
		push(check, job);
	else
		done(check);
}

static bool
act(struct hosts_check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		struct job *job = check->jobs[i];

		if (job->unwanted) /* nobody waits for it */
			job->step = JOB_OVER;
		strlcpy(check->current, job->id, sizeof check->current);
		switch (job->step) {
		case JOB_NEW:
			push(check, job);
			return true;
		case JOB_PUSHED:
			ask(check,
			    &SHARED_CALL(SHARED_CHECK_POST, BOOK_T(job->id),
				BOOK_T(core_branch(check->floor->core)),
				BOOK_T(job->commit), BOOK_T(job->command)),
			    on_posted);
			return true;
		case JOB_OVER:
			ask(check,
			    &SHARED_CALL(SHARED_CHECK_DROP, BOOK_T(job->id)),
			    on_dropped);
			return true;
		case JOB_POSTED:
			break;
		}
	}
	return false;
}

static void
on_read(const struct shared_answer *answer, void *arg)
{
	struct hosts_check *check = arg;
	const struct shared_rows *rows;

	if (!is_answered(check, answer))
		return;
	rows = &answer->of[0];
	/* One that is not there any more is too old for the book. */
	for (size_t i = 0; i < check->count; i++) {
		struct job *job = check->jobs[i];
		size_t n = 0;

		while (n < rows->count &&
		    strcmp(shared_text(rows, n, "id"), job->id) != 0)
			n++;
		if (job->step == JOB_POSTED && n == rows->count &&
		    n < SHARED_ROWS_MAX)
			job_ends(check, job, CHECK_UNJUDGED,
			    "was forgotten by the other hosts", "", 0);
	}
	for (size_t n = 0; n < rows->count; n++) {
		const char *id = shared_text(rows, n, "id");
		const char *state = shared_text(rows, n, "state");
		struct job *job = job_of(check, id);
		const char *text = shared_text(rows, n, "result");
		const char *output = shared_text(rows, n, "output");
		cleanup_json struct json_object *json = NULL;
		unsigned verdict = CHECK_UNJUDGED;

		/* An earlier daemon waited for it. */
		if (job == NULL) {
			job = job_new(check, id, "",
			    shared_text(rows, n, "commit_id"), "", false);
			job->unwanted = true;
			continue;
		}
		if (job->step != JOB_POSTED || strcmp(state, "done") != 0)
			continue;
		if (text != NULL)
			json_parse(
			    text, strlen(text), SHARED_CELL_MAX, &json, NULL);
		word_find(
		    verdicts, json_string_or(json, "verdict", ""), &verdict);
		job_ends(check, job, (enum check_verdict)verdict,
		    json_string_or(json, "how", "has no result"),
		    output != NULL ? output : "", json_int_or(json, "ms", 0));
	}
	done(check);
}

static void
on_hosts(const struct shared_answer *answer, void *arg)
{
	struct hosts_check *check = arg;
	const struct shared_rows *rows;
	int slots = 0;

	if (!is_answered(check, answer))
		return;
	rows = &answer->of[0];
	for (size_t n = 0; n < rows->count; n++)
		if (strcmp(shared_text(rows, n, "state"), "up") == 0 &&
		    shared_int(rows, n, "draining") == 0 &&
		    strcmp(shared_text(rows, n, "host"), check->floor->host) !=
			0)
			slots += (int)shared_int(rows, n, "check_slots");
	if (slots > check->slots)
		landings_kick(check->floor->mode->landings);
	check->slots = slots;
	done(check);
}

int
hosts_check_room(const struct hosts_floor *floor)
{
	const struct hosts_check *check = floor->check;

	return check == NULL || check->slots <= (int)check->count ?
	    0 :
	    check->slots - (int)check->count;
}

bool
hosts_check_has(const struct hosts_floor *floor, const char *id)
{
	const struct hosts_check *check = floor->check;

	for (size_t i = 0; i < check->count; i++)
		if (strncmp(check->jobs[i]->id, id,
			strlen(check->jobs[i]->id)) == 0)
			return true;
	return false;
}

void
hosts_check_post(struct hosts_floor *floor, const char *tree,
    const char *commit, const char *key, bool afresh)
{
	struct hosts_check *check = floor->check;
	char id[ID_UUID_SIZE];

	id_uuid(id);
	job_new(check, id, tree, commit, key, afresh);
	look_soon(check);
}

void
hosts_check_drop(struct hosts_floor *floor, const char *tree)
{
	struct hosts_check *check = floor->check;

	for (size_t i = 0; i < check->count; i++) {
		struct job *job = check->jobs[i];

		job->unwanted |= strcmp(job->tree, tree) == 0;
	}
	look_soon(check);
}

/* --- for another host --------------------------------------------- */

static void
tell(struct hosts_check *check, enum check_verdict verdict, const char *how,
    const char *output, int64_t ms)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(output);

	json_set_string(json, "verdict", verdicts[verdict]);
	json_set_string(json, "how", how);
	json_set_int(json, "ms", ms);
	json_print(json, false, &text);
	xstrset(&check->result, text.data);
	xstrset(&check->output,
	    len > OUTPUT_MAX ? output + len - OUTPUT_MAX : output);
	look_soon(check);
}

void
hosts_check_lent(struct hosts_floor *floor, const struct check_end *end)
{
	if (floor->check->lent[0] != '\0')
		tell(floor->check,
		    end->cancelled ? CHECK_UNJUDGED : end->verdict, end->how,
		    end->output, end->duration_ms);
}

/* An earlier daemon of this host was at it. */
void
hosts_check_adopted(struct hosts_floor *floor, const struct shared_rows *rows)
{
	struct hosts_check *check = floor->check;

	if (rows->count == 0 || check->lent[0] != '\0')
		return;
	strlcpy(check->lent, shared_text(rows, 0, "id"), sizeof check->lent);
	check->lent_fence = shared_int(rows, 0, "fence");
	tell(check, CHECK_UNJUDGED, "was ended with its daemon", "", 0);
}

static void
on_told(const struct shared_answer *answer, void *arg)
{
	struct hosts_check *check = arg;

	if (!is_answered(check, answer))
		return;
	check->lent[0] = '\0';
	xstrset(&check->result, NULL);
	xstrset(&check->output, NULL);
	check->take = true; /* there may be more */
	done(check);
}

static void
on_fetched(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct hosts_check *check = arg;
	bool has = fetched->result == PUSH_OK &&
	    strcmp(fetched->remote, check->lent_commit) == 0;

	if (!has ||
	    !landings_lend(check->floor->mode->landings, check->lent,
		check->lent_commit, check->lent_key, check->lent_afresh))
		tell(check, CHECK_UNJUDGED,
		    has ? "has another command or no free slot on that host" :
			  "cannot be fetched there",
		    words, 0);
	done(check);
}

static void
on_taken(const struct shared_answer *answer, void *arg)
{
	struct hosts_check *check = arg;
	const struct shared_rows *rows;
	const char *command, *commit;
	cleanup_free char *ref = NULL;

	if (!is_answered(check, answer))
		return;
	rows = &answer->of[0];
	if (rows->count == 0) {
		done(check);
		return;
	}
	command = shared_text(rows, 0, "command");
	commit = shared_text(rows, 0, "commit_id");
	strlcpy(check->lent, shared_text(rows, 0, "id"), sizeof check->lent);
	check->lent_fence = shared_int(rows, 0, "fence");
	snprintf(check->lent_key, sizeof check->lent_key, "%.*s",
	    (int)strcspn(command != NULL ? command : "", " "),
	    command != NULL ? command : "");
	check->lent_afresh = command != NULL && strchr(command, ' ') != NULL;
	snprintf(check->lent_commit, sizeof check->lent_commit, "%s",
	    commit != NULL ? commit : "");
	ref = xasprintf(LAND_CHECK_REFS "%s", check->lent);
	git_upstream_fetch(check->git,
	    &(struct git_fetch_spec){ .remote = LAND_REMOTE,
		.ref = ref,
		.keep = "refs/llmc/lent",
		.deadline_ms = LAND_PUSH_MS },
	    on_fetched, check);
}

/* --- what is next ------------------------------------------------- */

static void
look(void *arg)
{
	struct hosts_check *check = arg;
	const struct hosts_floor *floor = check->floor;
	int64_t now = clock_boot_ms();
	bool lands = hosts_land_has_lease(floor);

	if (!floor->begun || floor->core->stopping || check->busy ||
	    check->rest_ms > now || !floor->up ||
	    shared_state(floor->shared) != SHARED_UP)
		return; /* a timer runs, or the floor calls again */
	if (act(check))
		return;
	if (check->result != NULL) {
		ask(check,
		    &SHARED_CALL(SHARED_CHECK_DONE, BOOK_T(check->lent),
			BOOK_I(check->lent_fence), BOOK_T(floor->boot),
			BOOK_T(check->result), BOOK_T(check->output)),
		    on_told);
		return;
	}
	if (check->read_ms == 0 ||
	    (check->count > 0 &&
		(check->read || now - check->read_ms >= READ_MS))) {
		check->read = false;
		check->read_ms = now;
		ask(check, &SHARED_CALL0(SHARED_CHECK_READ), on_read);
		return;
	}
	if (lands && (check->room_ms == 0 || now - check->room_ms >= TAKE_MS)) {
		check->room_ms = now;
		ask(check, &SHARED_CALL0(SHARED_HOSTS), on_hosts);
		return;
	}
	if (!lands && check->lent[0] == '\0' && !floor->drains &&
	    !landings_checking(floor->mode->landings) &&
	    (check->take || now - check->take_ms >= TAKE_MS)) {
		check->take = false;
		check->take_ms = now;
		ask(check, &SHARED_CALL(SHARED_CHECK_TAKE, BOOK_T(floor->boot)),
		    on_taken);
		return;
	}
	arm(check, check->count > 0 ? READ_MS : TAKE_MS);
}

void
hosts_check_look(struct hosts_floor *floor, const char *word)
{
	struct hosts_check *check = floor->check;
	bool all = word != NULL && strcmp(word, "all") == 0;

	if (check == NULL)
		return;
	check->take |= all || (word != NULL && strcmp(word, "check") == 0);
	check->read |= all || (word != NULL && strcmp(word, "checked") == 0);
	look_soon(check);
}

struct hosts_check *
hosts_check_new(struct hosts_floor *floor)
{
	struct hosts_check *check = xcalloc(1, sizeof *check);
	struct core *core = floor->core;

	check->floor = floor;
	check->look = loop_call_new(core->loop, look, check);
	check->git = git_new(
	    core->loop, &(struct git_options){ .root = core->workspace->root });
	return check;
}

void
hosts_check_free(struct hosts_check *check)
{
	if (check == NULL)
		return;
	if (check->floor->shared != NULL)
		shared_forget(check->floor->shared, check);
	git_free(check->git);
	loop_timer_free(check->timer);
	loop_call_free(check->look);
	while (check->count > 0)
		job_remove(check, check->jobs[0]);
	free(check->jobs);
	free(check->result);
	free(check->output);
	free(check);
}
