/* SPDX-License-Identifier: ISC */

/*
 * The connection to the shared book, whatever its engine: its state and when it
 * is tried again, what is asked and answered, hints, and rows.
 */
#include "base.h"
#include "loop.h"
#include "shared-private.h"

#define HINTS_MAX 64

static void on_deadline(void *arg);
static void on_retry(void *arg);
static void tell(void *arg);

/* --- the life of a connection ------------------------------------------- */

void
shared_init(struct shared *shared, const struct shared_engine_ops *ops,
    const struct shared_options *options)
{
	shared->ops = ops;
	shared->loop = options->loop;
	shared->database = xstrdup(options->database);
	xstrset(&shared->passfile, options->passfile);
	shared->host = xstrdup(options->host);
	xstrset(&shared->repository, options->repository);
	shared->state_fn = options->state;
	shared->notified_fn = options->notified;
	shared->arg = options->arg;
	TAILQ_INIT(&shared->waits);
	TAILQ_INIT(&shared->done);
	shared->tell = loop_call_new(shared->loop, tell, shared);
}

static void
wait_free(struct shared_wait *wait)
{
	for (size_t i = 0; i < wait->count; i++) {
		for (size_t j = 0; j < wait->calls[i].count; j++)
			free((char *)(uintptr_t)wait->calls[i].values[j].text);
		free(wait->calls[i].values);
		shared_rows_release(&wait->rows[i]);
	}
	free(wait->calls);
	free(wait->rows);
	free(wait);
}

void
shared_free(struct shared *shared)
{
	struct shared_wait *wait;
	struct shared_waits *lists[2];

	if (shared == NULL)
		return;
	shared->ops->drop(shared);
	shared->ops->end(shared);
	lists[0] = &shared->waits;
	lists[1] = &shared->done;
	for (size_t i = 0; i < nitems(lists); i++)
		while ((wait = TAILQ_FIRST(lists[i])) != NULL) {
			TAILQ_REMOVE(lists[i], wait, entry);
			wait_free(wait);
		}
	loop_timer_free(shared->deadline);
	loop_timer_free(shared->retry);
	loop_timer_free(shared->hint_pause);
	loop_call_free(shared->tell);
	strv_free(shared->hints);
	free(shared->database);
	free(shared->passfile);
	free(shared->host);
	free(shared->repository);
	free(shared);
}

int64_t
shared_jitter(int64_t ms)
{
	return ms / 2 + (int64_t)arc4random_uniform((uint32_t)ms + 1);
}

void
shared_set_state(
    struct shared *shared, enum shared_state state, const char *words)
{
	if (words == NULL)
		words = "";
	if (state == SHARED_UP)
		shared->tries = 0;
	if (shared->state == state && strcmp(shared->words, words) == 0)
		return;
	shared->state = state;
	snprintf(shared->words, sizeof shared->words, "%s", words);
	shared->state_changed = true;
	loop_call_request(shared->tell);
}

/* Close it, and try again after ms. */
static void
leave(struct shared *shared, enum shared_state state, const char *words,
    int64_t ms)
{
	struct shared_wait *wait;

	shared->ops->drop(shared);
	shared_set_state(shared, state, words);
	while ((wait = TAILQ_FIRST(&shared->waits)) != NULL)
		shared_answer_wait(shared, wait, SHARED_AWAY, words);
	loop_timer_set(&shared->retry, shared->loop, ms, on_retry, shared);
}

void
shared_went(struct shared *shared, const char *words)
{
	int64_t ms = SHARED_RETRY_FIRST_MS;

	for (int i = 0; i < shared->tries && ms < SHARED_RETRY_MAX_MS; i++)
		ms *= 2;
	shared->tries++;
	leave(shared, SHARED_CONNECTING, words,
	    shared_jitter(ms < SHARED_RETRY_MAX_MS ? ms : SHARED_RETRY_MAX_MS));
}

void
shared_bar(struct shared *shared, const char *words)
{
	leave(shared, SHARED_BARRED, words, shared_jitter(SHARED_BARRED_MS));
}

static void
on_retry(void *arg)
{
	struct shared *shared = arg;

	loop_timer_free(take_ptr(&shared->retry));
	shared->ops->begin(shared);
}

enum shared_state
shared_state(const struct shared *shared)
{
	return shared->state;
}

const char *
shared_words(const struct shared *shared)
{
	return shared->words;
}

const char *
shared_identity(const struct shared *shared)
{
	return shared->identity;
}

int
shared_check_meta(
    const struct shared_rows *meta, const char *repository, struct err *err)
{
	const char *repository_there = "";
	int64_t version = 0, min_writer = 0;

	for (size_t i = 0; i < meta->count; i++) {
		const char *key = shared_text(meta, i, "key");
		const char *value = shared_text(meta, i, "value");

		if (strcmp(key, "schema_version") == 0)
			version = shared_int(meta, i, "value");
		else if (strcmp(key, "min_writer") == 0)
			min_writer = shared_int(meta, i, "value");
		else if (strcmp(key, "repository") == 0 && value != NULL)
			repository_there = value;
	}
	if (version < SHARED_SCHEMA)
		return err_set(err, -EPROTO,
		    "the shared book has version %lld of its tables, this llmc "
		    "needs %d; the owner of the database updates them with: "
		    "llmc fleet migrate",
		    (long long)version, SHARED_SCHEMA);
	if (min_writer > SHARED_SCHEMA)
		return err_set(err, -EPROTO,
		    "the shared book needs an llmc that knows version %lld of "
		    "its tables, this one knows %d; install a newer llmc on "
		    "this host",
		    (long long)min_writer, SHARED_SCHEMA);
	if (repository != NULL && *repository_there != '\0' &&
	    strcmp(repository_there, repository) != 0)
		return err_set(err, -EPROTO,
		    "the shared book belongs to another repository (first "
		    "commit %.12s, here %.12s); set fleet.database to the one "
		    "of this repository",
		    repository_there, repository);
	return 0;
}

/* --- asking ------------------------------------------------------------- */

static void
watch_deadline(struct shared *shared)
{
	const struct shared_wait *wait;
	int64_t until = INT64_MAX;

	TAILQ_FOREACH (wait, &shared->waits, entry)
		if (wait->until_ms < until)
			until = wait->until_ms;
	loop_timer_free(take_ptr(&shared->deadline));
	if (until != INT64_MAX)
		shared->deadline = loop_after(shared->loop,
		    until > clock_mono_ms() ? until - clock_mono_ms() : 1,
		    on_deadline, shared);
}

/* Answers come in the order of the requests, so after one that does not come
 * the connection is of no use. */
static void
on_deadline(void *arg)
{
	struct shared *shared = arg;
	struct shared_wait *wait, *next;
	int64_t now = clock_mono_ms();

	for (wait = TAILQ_FIRST(&shared->waits); wait != NULL; wait = next) {
		next = TAILQ_NEXT(wait, entry);
		if (wait->until_ms > now)
			continue;
		if (wait->is_sent) {
			shared_went(shared,
			    "the server of the shared book does not answer");
			return;
		}
		shared_answer_wait(shared, wait, SHARED_AWAY,
		    "the shared book did not answer in time");
	}
	watch_deadline(shared);
}

/* Whether it can be asked; copies it. This is where text enters the shared
 * book: what is no UTF-8 (a name, the output of a command) is replaced. */
static const char *
take_calls(
    struct shared_wait *wait, const struct shared_call *calls, size_t count)
{
	if (count == 0 || count > SHARED_CALLS_MAX)
		fatalx("%zu calls in one ask of the shared book", count);
	wait->calls = xcalloc(count, sizeof *wait->calls);
	wait->rows = xcalloc(count, sizeof *wait->rows);
	wait->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct shared_call *call = &calls[i];

		if (call->count != shared_takes(call->id))
			fatalx("%s takes %zu values",
			    shared_statements[call->id].name,
			    shared_takes(call->id));
		wait->calls[i].id = call->id;
		wait->calls[i].values =
		    xcalloc(call->count + 1, sizeof *call->values);
		for (size_t j = 0; j < call->count; j++) {
			struct book_value *to = &wait->calls[i].values[j];
			cleanup_buf struct buf text = BUF_INIT;

			*to = call->values[j];
			wait->calls[i].count = j + 1;
			if (to->text == NULL)
				continue;
			/* PostgreSQL would refuse it again and again. */
			text_add_utf8(&text, to->text, strlen(to->text));
			to->text = NULL;
			if (text.len > SHARED_CELL_MAX)
				return "a value is too long for the shared "
				       "book";
			wait->bytes += text.len;
			to->text = buf_take(&text);
		}
	}
	return NULL;
}

void
shared_ask(struct shared *shared, const struct shared_call *calls, size_t count,
    int64_t deadline_ms, shared_fn *fn, void *arg)
{
	struct shared_wait *wait = xcalloc(1, sizeof *wait);
	const char *why = take_calls(wait, calls, count);

	wait->fn = fn;
	wait->arg = arg;
	wait->until_ms = clock_mono_ms() + deadline_ms;
	TAILQ_INSERT_TAIL(&shared->waits, wait, entry);
	shared->wait_count++;
	shared->wait_bytes += wait->bytes;
	if (why != NULL)
		shared_answer_wait(shared, wait, SHARED_REFUSED, why);
	else if (shared->state != SHARED_UP)
		shared_answer_wait(shared, wait, SHARED_AWAY,
		    *shared->words != '\0' ?
			shared->words :
			"the shared book is not connected yet");
	else if (shared->wait_count > SHARED_ASKS_MAX ||
	    shared->wait_bytes > SHARED_BYTES_MAX)
		shared_answer_wait(shared, wait, SHARED_AWAY,
		    "too much waits for the shared book");
	else {
		watch_deadline(shared);
		shared->ops->send(shared);
	}
}

static void
send_hints(void *arg)
{
	struct shared *shared = arg;
	cleanup_strv char **hints = take_ptr(&shared->hints);

	loop_timer_free(take_ptr(&shared->hint_pause));
	if (hints == NULL)
		return;
	shared->hint_pause =
	    loop_after(shared->loop, SHARED_HINT_MS, send_hints, shared);
	for (size_t i = 0; hints[i] != NULL; i++) {
		char *space = strchr(hints[i], ' ');

		if (space != NULL)
			*space = '\0';
		shared->ops->hint(
		    shared, hints[i], space != NULL ? space + 1 : NULL);
	}
}

/* What the others should hear of this. */
static void
collect_hints(struct shared *shared, const struct shared_wait *wait)
{
	for (size_t i = 0; i < wait->count; i++) {
		const struct shared_row *row =
		    &shared_statements[wait->calls[i].id];
		const struct shared_rows *rows = &wait->rows[i];

		for (size_t n = 0; row->tells != NULL && n < rows->count; n++) {
			const char *host = row->tells_to != NULL ?
			    shared_text(rows, n, row->tells_to) :
			    NULL;
			cleanup_free char *hint = host != NULL ?
			    xasprintf("%s %s", row->tells, host) :
			    xstrdup(row->tells);

			if ((row->tells_to != NULL && host == NULL) ||
			    strv_has(strv_const(shared->hints), hint) ||
			    strv_count(shared->hints) >= HINTS_MAX)
				continue;
			strv_add(&shared->hints, hint);
		}
	}
	if (shared->hint_pause == NULL)
		send_hints(shared);
}

void
shared_hinted(struct shared *shared, const char *word, const char *host)
{
	if (shared->notified_fn != NULL &&
	    (host == NULL || strcmp(host, shared->host) == 0))
		shared->notified_fn(word, shared->arg);
}

void
shared_answer_wait(struct shared *shared, struct shared_wait *wait, int verdict,
    const char *words)
{
	TAILQ_REMOVE(&shared->waits, wait, entry);
	shared->wait_count--;
	shared->wait_bytes -= wait->bytes;
	wait->verdict = verdict;
	if (verdict != SHARED_DONE)
		err_set(&wait->err, -EIO, "%s", words);
	TAILQ_INSERT_TAIL(&shared->done, wait, entry);
	loop_call_request(shared->tell);
	if (verdict == SHARED_DONE)
		collect_hints(shared, wait);
}

/* Our user may free us, or ask again. */
static void
tell(void *arg)
{
	struct shared *shared = arg;
	struct shared_wait *wait;

	if (shared->state_changed) {
		shared->state_changed = false;
		loop_call_request(shared->tell);
		if (shared->state_fn != NULL)
			shared->state_fn(
			    shared->state, shared->words, shared->arg);
		return;
	}
	wait = TAILQ_FIRST(&shared->done);
	if (wait == NULL)
		return;
	TAILQ_REMOVE(&shared->done, wait, entry);
	if (!TAILQ_EMPTY(&shared->done))
		loop_call_request(shared->tell);
	if (wait->fn != NULL)
		wait->fn(
		    &(struct shared_answer){
			.verdict = wait->verdict,
			.words = wait->err.msg,
			.of = wait->rows,
			.calls = wait->count,
		    },
		    wait->arg);
	wait_free(wait);
}

void
shared_forget(struct shared *shared, const void *arg)
{
	struct shared_waits *lists[] = { &shared->waits, &shared->done };
	struct shared_wait *wait;

	for (size_t i = 0; i < nitems(lists); i++)
		TAILQ_FOREACH (wait, lists[i], entry)
			if (wait->arg == arg)
				wait->fn = NULL;
}

/* --- rows --------------------------------------------------------------- */

void
shared_rows_release(struct shared_rows *rows)
{
	for (size_t i = 0; i < rows->width; i++)
		free(rows->names[i]);
	for (size_t i = 0; i < rows->count * rows->width; i++)
		free(rows->cells[i]);
	free(rows->names);
	free(rows->cells);
	*rows = (struct shared_rows){ 0 };
}

const char *
shared_text(const struct shared_rows *rows, size_t n, const char *column)
{
	for (size_t i = 0; i < rows->width; i++)
		if (strcmp(rows->names[i], column) == 0 && n < rows->count)
			return rows->cells[n * rows->width + i];
	fatalx("the shared book gave no row %zu with a column %s", n, column);
}

int64_t
shared_int(const struct shared_rows *rows, size_t n, const char *column)
{
	const char *text = shared_text(rows, n, column);

	return text != NULL ? strtoll(text, NULL, 10) : 0;
}
