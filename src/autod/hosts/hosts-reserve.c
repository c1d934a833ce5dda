/* SPDX-License-Identifier: ISC */

/*
 * Files that agents have reserved, on all hosts. The shared book decides who
 * was first. What is reserved while it is away is told later; if somebody else
 * has it by then, theirs holds.
 */

#include "base.h"
#include "book.h"
#include "guard.h"
#include "hosts-private.h"
#include "json.h"
#include "work-record.h"

#define READ_MS  ((int64_t)60 * 1000) /* while others have some */
#define WAIT_MS  ((int64_t)5 * 1000) /* an agent waits */
#define AT_ONCE  48 /* calls of an ask */
#define WAIT_MAX 32
#define BODY_MAX ((size_t)16 * 1024)

/* What an agent waits for. */
struct request {
	struct hosts_floor *floor;
	struct reservation **list; /* borrowed until `done` */
	size_t count;
	auto_reserved_fn *done;
	void *arg;
};

struct hosts_reserve {
	struct request *requests[WAIT_MAX];
	size_t request_count;
	struct reservation **late; /* ours, that the book does not know */
	size_t late_count;
	char **drops; /* ids of ours that are over */
	size_t dropping, telling; /* the first that are being told */
	struct reservation **others;
	size_t other_count;
	char *known; /* the rows that they are of */
	bool read;
	int64_t read_ms; /* clock_boot_ms() */
};

/* --- those of the others ------------------------------------------ */

static void
forget(struct reservation ***list, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		reservation_free((*list)[i]);
	free(take_ptr(list));
	*count = 0;
}

static void
keep(struct reservation ***list, size_t *count, struct reservation *r)
{
	*list = xreallocarray(*list, *count + 1, sizeof(struct reservation *));
	(*list)[(*count)++] = r;
}

/* What another version of llmc says is taken for what it must mean. */
static struct reservation *
parse(const struct shared_rows *rows, size_t n)
{
	const char *text = shared_text(rows, n, "body");
	const char *host = shared_text(rows, n, "host");
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *worker = NULL;
	struct reservation *r = NULL;

	if (json_parse(text, strlen(text), BODY_MAX, &json, NULL) < 0 ||
	    reservation_from_json(json, "", &r, NULL) < 0) {
		r = reservation_new();
		xstrset(&r->id, shared_text(rows, n, "id"));
		xstrset(&r->actor, host);
	}
	worker = xasprintf("%s:%s", host, r->worker != NULL ? r->worker : "?");
	xstrset(&r->worker, worker);
	xstrset(&r->path, shared_text(rows, n, "path"));
	r->until_ms = clock_wall_ms() + shared_int(rows, n, "left_ms");
	r->ended = false;
	return r;
}

static void
take_others(struct hosts_floor *floor, const struct shared_rows *rows)
{
	struct hosts_reserve *reserve = floor->reserve;
	cleanup_buf struct buf known = BUF_INIT;

	reserve->read = false;
	reserve->read_ms = clock_boot_ms();
	forget(&reserve->others, &reserve->other_count);
	for (size_t i = 0; i < rows->count; i++) {
		keep(&reserve->others, &reserve->other_count, parse(rows, i));
		buf_addf(&known, "%s %s\n", shared_text(rows, i, "host"),
		    shared_text(rows, i, "body"));
	}
	if (reserve->known == NULL || strcmp(reserve->known, known.data) != 0)
		auto_reserved_elsewhere(floor->mode);
	xstrset(&reserve->known, known.data);
}

const struct reservation *
reserve_elsewhere(void *arg, size_t n)
{
	const struct hosts_floor *floor = arg;

	return n < floor->reserve->other_count ? floor->reserve->others[n] :
						 NULL;
}

static void
drop_out(char **list, size_t n)
{
	free(list[n]);
	memmove(list + n, list + n + 1,
	    (strv_count(list + n + 1) + 1) * sizeof(char *));
}

/* --- ours --------------------------------------------------------- */

/* One transaction: nobody else reserves meanwhile, ours, what others have. */
static void
put(struct hosts_floor *floor, struct reservation *const *list, size_t count,
    shared_fn *fn, void *arg)
{
	struct shared_call calls[AT_ONCE + 2];
	struct book_value values[AT_ONCE][4];
	cleanup_strv char **bodies = NULL;
	int64_t now = clock_wall_ms();

	calls[0] = SHARED_CALL0(SHARED_RESERVE_BEGIN);
	for (size_t i = 0; i < count; i++) {
		cleanup_json struct json_object *json =
		    reservation_to_json(list[i]);
		cleanup_json struct json_object *safe = book_masked(json);
		cleanup_buf struct buf text = BUF_INIT;

		json_print(safe, false, &text);
		strv_add(&bodies, text.data);
		values[i][0] = BOOK_T(list[i]->id);
		values[i][1] = BOOK_T(list[i]->path);
		values[i][2] = BOOK_I(list[i]->until_ms - now);
		values[i][3] = BOOK_T(bodies[i]);
		calls[i + 1] =
		    (struct shared_call){ SHARED_RESERVE_PUT, values[i], 4 };
	}
	calls[count + 1] = SHARED_CALL0(SHARED_RESERVATIONS);
	if (arg == floor)
		hosts_ask(floor, calls, count + 2, fn);
	else
		shared_ask(floor->shared, calls, count + 2, WAIT_MS, fn, arg);
}

/* taken: what somebody else has: what was written is released by who asked.
 * Otherwise the agent has them now; known: the book says so, too. */
static void
end_request(
    struct request *request, const struct reservation *taken, bool known)
{
	struct hosts_reserve *reserve = request->floor->reserve;
	size_t n = 0;

	while (reserve->requests[n] != request)
		n++;
	reserve->requests[n] = reserve->requests[--reserve->request_count];
	for (size_t i = 0; i < request->count && !known; i++) {
		cleanup_json struct json_object *json =
		    reservation_to_json(request->list[i]);
		struct reservation *copy = NULL;

		if (reservation_from_json(json, "", &copy, NULL) == 0)
			keep(&reserve->late, &reserve->late_count, copy);
	}
	request->done(request->arg, taken);
	hosts_look(request->floor);
	free(request);
}

static const struct reservation *
find_taken(const struct hosts_reserve *reserve, const char *path)
{
	for (size_t i = 0; i < reserve->other_count; i++)
		if (scope_path_meets(reserve->others[i]->path, path))
			return reserve->others[i];
	return NULL;
}

static void
on_put(const struct shared_answer *answer, void *arg)
{
	struct request *request = arg;
	const struct reservation *taken = NULL;

	if (answer->verdict == SHARED_DONE) {
		take_others(request->floor, &answer->of[answer->calls - 1]);
		for (size_t i = 0; i < request->count && taken == NULL; i++)
			if (answer->of[i + 1].count == 0)
				taken = find_taken(request->floor->reserve,
				    request->list[i]->path);
	}
	end_request(request, taken, answer->verdict == SHARED_DONE);
}

void
reserve_ask(void *arg, struct reservation **list, size_t count,
    auto_reserved_fn *done, void *done_arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_reserve *reserve = floor->reserve;
	struct request *request;

	if (reserve->request_count == WAIT_MAX) {
		done(done_arg, NULL);
		return;
	}
	for (size_t i = 0; i < count; i++) /* it is not over after all */
		for (size_t n = strv_count(reserve->drops);
		     n-- > reserve->dropping;)
			if (strcmp(reserve->drops[n], list[i]->id) == 0)
				drop_out(reserve->drops, n);
	request = xcalloc(1, sizeof *request);
	*request = (struct request){ .floor = floor,
		.list = list,
		.count = count,
		.done = done,
		.arg = done_arg };
	reserve->requests[reserve->request_count++] = request;
	if (count <= AT_ONCE && floor->up && floor->shared != NULL &&
	    shared_state(floor->shared) == SHARED_UP)
		put(floor, list, count, on_put, request);
	else
		end_request(request, NULL, false);
}

void
reserve_release(void *arg, const char *id)
{
	struct hosts_floor *floor = arg;
	struct hosts_reserve *reserve = floor->reserve;

	for (size_t i = 0; i < reserve->late_count; i++)
		if (strcmp(reserve->late[i]->id, id) == 0)
			reserve->late[i]->ended = true;
	if (!strv_has(strv_const(reserve->drops), id))
		strv_add(&reserve->drops, id);
	hosts_look(floor);
}

/* --- what is next ------------------------------------------------- */

static void
on_dropped(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_reserve *reserve = floor->reserve;

	if (!hosts_answered(floor, answer))
		reserve->dropping = 0;
	while (reserve->dropping > 0)
		drop_out(reserve->drops, --reserve->dropping);
	hosts_done(floor);
}

static void
on_late(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_reserve *reserve = floor->reserve;

	if (hosts_answered(floor, answer)) {
		for (size_t i = 0; i < reserve->telling; i++)
			reservation_free(reserve->late[i]);
		reserve->late_count -= reserve->telling;
		memmove(reserve->late, reserve->late + reserve->telling,
		    reserve->late_count * sizeof(struct reservation *));
		take_others(floor, &answer->of[answer->calls - 1]);
	}
	hosts_done(floor);
}

static void
on_read(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer))
		take_others(floor, &answer->of[0]);
	hosts_done(floor);
}

bool
reserve_act(struct hosts_floor *floor)
{
	struct hosts_reserve *reserve = floor->reserve;
	struct shared_call calls[AT_ONCE];
	struct book_value values[AT_ONCE];
	int64_t now = clock_wall_ms();
	size_t n = 0;

	for (size_t i = 0; i < reserve->late_count; i++)
		if (reservation_holds(reserve->late[i], now))
			reserve->late[n++] = reserve->late[i];
		else
			reservation_free(reserve->late[i]);
	reserve->late_count = n;
	if (n > 0) {
		reserve->telling = n < AT_ONCE ? n : AT_ONCE;
		put(floor, reserve->late, reserve->telling, on_late, floor);
		return true;
	}
	n = 0;
	for (;
	     reserve->drops != NULL && reserve->drops[n] != NULL && n < AT_ONCE;
	     n++) {
		values[n] = BOOK_T(reserve->drops[n]);
		calls[n] =
		    (struct shared_call){ SHARED_RESERVE_DROP, &values[n], 1 };
	}
	if (n > 0) {
		reserve->dropping = n;
		hosts_ask(floor, calls, n, on_dropped);
		return true;
	}
	if (!reserve->read && reserve->read_ms != 0 &&
	    (reserve->other_count == 0 ||
		clock_boot_ms() - reserve->read_ms < READ_MS))
		return false;
	hosts_ask(floor, &SHARED_CALL0(SHARED_RESERVATIONS), 1, on_read);
	return true;
}

void
reserve_hint(struct hosts_floor *floor)
{
	floor->reserve->read = true;
}

void
reserve_new(struct hosts_floor *floor)
{
	floor->reserve = xcalloc(1, sizeof *floor->reserve);
}

/* Before the connection is closed: nobody waits for it any more. */
void
reserve_stop(struct hosts_floor *floor)
{
	struct hosts_reserve *reserve = floor->reserve;

	while (reserve->request_count > 0) {
		if (floor->shared != NULL)
			shared_forget(floor->shared, reserve->requests[0]);
		end_request(reserve->requests[0], NULL, false);
	}
}

void
reserve_free(struct hosts_floor *floor)
{
	struct hosts_reserve *reserve = take_ptr(&floor->reserve);

	forget(&reserve->late, &reserve->late_count);
	forget(&reserve->others, &reserve->other_count);
	strv_free(reserve->drops);
	free(reserve->known);
	free(reserve);
}
