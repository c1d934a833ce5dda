/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "behaviour-private.h"
#include "error-signature.h"
#include "ladder.h"

#define ERROR_WINDOW   5 /* iterations, at least */
#define BOTH_WAYS      2 /* a number goes up and down: it says nothing */
#define STUCK_MOVES    5 /* warnings that numbers alone keep back */
#define SLOTS          4096 /* answers and calls that are remembered */
#define BLOCKERS_SHOWN 5

/* Answers that were seen in this attempt, and how often each call was made in
 * this turn. A table that is nearly full is emptied: what is not remembered is
 * new, and good work is left alone. */
struct stuck_calls {
	uint64_t answers[SLOTS], calls[SLOTS];
	uint16_t times[SLOTS];
	size_t answer_count, call_count;
	bool news[CALLS_SLICE]; /* of the last calls, in a ring */
	int run; /* calls in this turn, on the tree as it is */
	int most; /* of one call */
	uint64_t tree, trees; /* the last, and how many were not known */
	int slices; /* one after the other, without news */
	int slice; /* calls since the last of them */
};

static void
stuck_keep(struct iteration **kept, const struct iteration *it)
{
	iteration_unref(*kept);
	*kept = iteration_ref(it);
}

/* --- the same failure -------------------------------------------------------
 */

/* The way of this key, or the one that was not met for longest. */
static struct stuck_way *
way_find(struct stuck_way ways[STUCK_SEEN], uint64_t key)
{
	struct stuck_way *oldest = &ways[0];

	for (size_t i = 0; i < STUCK_SEEN; i++) {
		if (ways[i].key == key)
			return &ways[i];
		if (ways[i].last < oldest->last)
			oldest = &ways[i];
	}
	*oldest = (struct stuck_way){ .key = key, .stated = -1, .lines = -1 };
	return oldest;
}

static void
errors_begin(struct stuck *s)
{
	for (size_t i = 0; i < STUCK_SEEN; i++)
		s->errors[i].count = 0;
}

static void
refusals_begin(struct stuck *s)
{
	s->refusal_count = 0;
	s->moving = 0;
}

/* A new attempt, or the work has passed: what was before does not count. */
static void
failures_begin(struct stuck *s)
{
	memset(s->failures, 0, sizeof s->failures);
	refusals_begin(s);
	s->fewest_names = s->most_ok = -1;
}

/* Is there less of it than ever? Keeps the least. */
static bool
is_less(int64_t now, int64_t *least)
{
	bool less = now >= 0 && *least >= 0 && now < *least;

	if (now >= 0 && (*least < 0 || now < *least))
		*least = now;
	return less;
}

/* What a number says that goes one way, as a case or a line that is the next
 * one each time: the refusals before do not count. One that changes while the
 * tree does not, or that soon goes back, has never said anything. */
static void
way_move(
    struct stuck_way *way, const struct failure *f, int64_t now, bool same_tree)
{
	for (size_t i = 0; i < f->number_count; i++) {
		struct stuck_number *n = &way->numbers[i];
		int to = way->number_count != f->number_count ? 0 :
		    f->numbers[i] > n->value                  ? 1 :
		    f->numbers[i] < n->value                  ? -1 :
								0;

		n->value = f->numbers[i];
		if (to == 0 || n->way == BOTH_WAYS)
			continue;
		if (same_tree || n->way == -to) {
			n->way = BOTH_WAYS;
			n->moved = n->moves < STUCK_FIRM ? 0 : n->moved;
			continue;
		}
		n->way = to;
		n->moves++;
		n->moved = now;
	}
	way->number_count = f->number_count;
}

/* The iteration from which on refusals count. */
static int64_t
numbers_moved(const struct stuck *s)
{
	int64_t at = 0;

	for (size_t i = 0; i < STUCK_SEEN; i++)
		for (size_t k = 0; k < s->failures[i].number_count; k++)
			if (s->failures[i].numbers[k].moved > at)
				at = s->failures[i].numbers[k].moved;
	return at;
}

/* Refusals from an iteration on: the most that were of one way, those of the
 * last one's way, and those that were not the first of their way: a few
 * failures in turn are met as often as one alone. */
struct stuck_alike {
	int most, last, again;
};

static struct stuck_alike
refusals_alike(const struct stuck *s, int64_t from)
{
	struct stuck_alike a = { 0 };

	for (size_t i = 0; i < s->refusal_count; i++) {
		if (s->refusals[i].at < from)
			continue;
		a.last = 0;
		for (size_t k = 0; k <= i; k++)
			a.last += s->refusals[k].at >= from &&
			    s->refusals[k].key == s->refusals[i].key;
		a.again += a.last > 1;
		a.most = a.last > a.most ? a.last : a.most;
	}
	return a;
}

/* Words that stand for the names of tests, or for lines. */
static void
take_failing(const struct iteration *it, struct failure *f)
{
	uint64_t sum = 0;

	if (strv_count(it->failing) == 0)
		return;
	for (char **word = it->failing; *word != NULL; word++)
		sum += behaviour_hash(*word, strlen(*word));
	f->key = behaviour_hash_end(sum);
	f->named = it->failing_named > 0;
	f->names = f->named ? (int64_t)strv_count(it->failing) : 0;
}

static void
add_failure(struct stuck *s, const struct iteration *it,
    const struct thresholds *t, bool same_tree)
{
	struct stuck_way *way;
	struct failure f;
	struct stuck_alike alike;
	bool better;

	failure_read(it->failure != NULL ? it->failure : "", &f);
	take_failing(it, &f);
	better = is_less(f.named ? f.names : -1, &s->fewest_names);
	if (f.ok > s->most_ok) {
		better = better || s->most_ok >= 0;
		s->most_ok = f.ok;
	}
	if (f.coverage > s->best_coverage)
		better = true;
	if (!isnan(f.coverage) && !(s->best_coverage >= f.coverage))
		s->best_coverage = f.coverage;
	way = way_find(s->failures, f.key);
	better = is_less(f.stated > 0 ? f.stated : -1, &way->stated) || better;
	better = is_less(f.lines, &way->lines) || better;
	way_move(way, &f, s->count, same_tree);
	way->last = s->count;
	if (better)
		refusals_begin(s);
	if (s->refusal_count == STUCK_KEPT)
		memmove(&s->refusals[0], &s->refusals[1],
		    (--s->refusal_count) * sizeof s->refusals[0]);
	s->refusals[s->refusal_count++] =
	    (struct stuck_refusal){ f.key, s->count };
	/* A number alone is not believed for ever. */
	s->moving = refusals_alike(s, 0).most;
	alike = refusals_alike(s, numbers_moved(s));
	if (alike.most >= t->same_error_count ||
	    s->moving < STUCK_MOVES * t->same_error_count)
		s->moving = 0;
	s->found[STUCK_FAILURE] =
	    alike.most >= t->same_error_count ? alike.again + 1 : alike.most;
	if (alike.last == alike.most)
		stuck_keep(&s->latest, it);
}

/* --- the same error
 * ------------------------------------------------------------- */

static void
add_errors(
    struct stuck *s, const struct iteration *it, const struct thresholds *t)
{
	int window = t->no_progress_iterations > t->same_error_count ?
	    t->no_progress_iterations :
	    t->same_error_count;

	if (window < ERROR_WINDOW)
		window = ERROR_WINDOW;
	for (size_t i = 0; i < strv_count(it->errors); i++) {
		const char *text = it->errors[i];
		uint64_t hash = error_signature_hash(text, strlen(text));
		struct stuck_way *way;

		if (hash == 0)
			continue;
		way = way_find(s->errors, hash);
		if (way->last == s->count && way->count > 0)
			continue; /* twice in one iteration */
		way->count =
		    s->count - way->last >= window ? 1 : way->count + 1;
		way->last = s->count;
		if (way->count > s->found[STUCK_ERROR]) {
			s->found[STUCK_ERROR] = way->count;
			s->error = i;
			if (it->failure == NULL)
				stuck_keep(&s->latest, it);
		}
	}
}

/* Does anything say that the work gets on? */
static bool
gets_on(struct stuck *s, const struct iteration *it)
{
	bool on = it->tests > 0 || it->coverage > s->best_coverage;

	if (!isnan(it->coverage) && !(s->best_coverage >= it->coverage))
		s->best_coverage = it->coverage;
	if (!isnan(it->completion)) {
		s->rate = isnan(s->completion) ?
		    NAN :
		    (it->completion - s->completion) /
			(double)(s->count - s->completion_at);
		on = on || s->rate >= PROGRESS_LEAST;
		if (!(s->completion >= it->completion))
			s->completion = it->completion;
		s->completion_at = s->count;
	}
	return on;
}

/* --- calls
 * ------------------------------------------------------------------------ */

static size_t
slot_of(const uint64_t slots[SLOTS], uint64_t hash)
{
	size_t slot = hash % SLOTS;

	while (slots[slot] != 0 && slots[slot] != hash)
		slot = (slot + 1) % SLOTS;
	return slot;
}

static uint64_t
call_hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = BEHAVIOUR_HASH_INIT;

	hash = (hash ^ a) * 0x100000001b3u;
	hash = (hash ^ (hash >> 29) ^ b) * 0x100000001b3u;
	hash = (hash ^ (hash >> 29) ^ c) * 0x100000001b3u;
	return behaviour_hash_end(hash);
}

static void
calls_forget(struct stuck_calls *c)
{
	memset(c->calls, 0, sizeof c->calls);
	memset(c->times, 0, sizeof c->times);
	c->call_count = 0;
	c->most = 0;
}

static void
turn_begins(struct stuck_calls *c)
{
	calls_forget(c);
	c->run = c->slice = c->slices = 0;
}

static void
add_call(
    struct stuck_calls *c, uint64_t tree, const struct iteration_call *call)
{
	uint64_t answer = call_hash(call->answer, 1, 0);
	uint64_t made = call_hash(call->action, tree, call->answer);
	size_t slot = slot_of(c->answers, answer);
	bool news = c->answers[slot] == 0;
	int fresh = 0;

	if (news && ++c->answer_count > SLOTS / 4 * 3) {
		memset(c->answers, 0, sizeof c->answers);
		c->answer_count = 1;
		slot = slot_of(c->answers, answer);
	}
	c->answers[slot] = answer;
	if (tree != c->tree)
		c->run = c->slice = c->slices = 0;
	c->tree = tree;
	c->news[c->run % CALLS_SLICE] = news;
	c->run++;
	c->slice++;
	for (int i = 0; i < CALLS_SLICE; i++)
		fresh += c->news[i];
	if (c->run < CALLS_SLICE) {
		c->slices = 0;
	} else if (c->slice >= CALLS_SLICE && fresh <= CALLS_NEWS) {
		c->slices++;
		c->slice = 0;
	} else if (c->slice >= CALLS_SLICE && c->slices > 0 &&
	    fresh > CALLS_NEWS) {
		c->slices = 0;
	}
	slot = slot_of(c->calls, made);
	if (c->calls[slot] == 0 && ++c->call_count > SLOTS / 4 * 3) {
		calls_forget(c);
		slot = slot_of(c->calls, made);
	}
	c->calls[slot] = made;
	if (c->times[slot] < UINT16_MAX)
		c->times[slot]++;
	if (c->times[slot] > c->most)
		c->most = c->times[slot];
}

/* A tree that is known only when all its calls have been made may be another
 * one at each of them, unless nothing has changed. */
static void
add_calls(struct stuck *s, const struct iteration *it, bool same_tree)
{
	struct stuck_calls *c = s->calls;

	if (it->call_count == 0)
		return;
	if (c == NULL)
		c = s->calls = xcalloc(1, sizeof *c);
	for (size_t i = 0; i < it->call_count; i++) {
		const struct iteration_call *call = &it->calls[i];
		uint64_t tree = call->tree != 0 ? call->tree :
		    same_tree                   ? s->tree :
						  ++c->trees;

		if ((call->flags & CALL_ATTEMPT) != 0) {
			memset(c->answers, 0, sizeof c->answers);
			c->answer_count = 0;
			turn_begins(c);
		}
		if ((call->flags & (CALL_WORDS | CALL_WAITS)) == 0)
			add_call(c, tree + 1, call);
		if (c->slices > s->found[STUCK_NO_NEWS])
			s->found[STUCK_NO_NEWS] = c->slices;
		if (c->most > s->found[STUCK_CALL])
			s->found[STUCK_CALL] = c->most;
		if ((call->flags & (CALL_END | CALL_WORDS)) == CALL_END)
			turn_begins(c);
	}
	if (!it->part)
		turn_begins(c);
}

/* --- all rules
 * ----------------------------------------------------------------------- */

void
stuck_init(struct stuck *s)
{
	s->best_coverage = s->completion = s->rate = NAN;
	failures_begin(s);
}

void
stuck_release(struct stuck *s)
{
	iteration_unref(s->latest);
	iteration_unref(s->last);
	free(s->calls);
}

/* Did words alone end the turn? */
static bool
is_words_only(const struct iteration *it)
{
	if (!it->calls_known || it->part || it->waits)
		return false;
	for (size_t i = 0; i < it->call_count; i++)
		if ((it->calls[i].flags & CALL_WORDS) == 0)
			return false;
	return true;
}

static bool
begins_attempt(struct stuck *s, const struct iteration *it)
{
	bool begins =
	    it->attempt > 0 && s->attempt > 0 && it->attempt != s->attempt;

	if (it->attempt > 0)
		s->attempt = it->attempt;
	for (size_t i = 0; i < it->call_count && !begins; i++)
		begins = (it->calls[i].flags & CALL_ATTEMPT) != 0;
	return begins;
}

void
stuck_add(
    struct stuck *s, const struct iteration *it, const struct thresholds *t)
{
	uint64_t tree = it->tree != NULL && it->tree[0] != '\0' ?
	    behaviour_hash(it->tree, strlen(it->tree)) :
	    0;
	bool known = tree != 0 && s->tree != 0;
	bool changed = tree != 0 && s->tree != 0 && tree != s->tree;
	bool refused = it->failure != NULL || strv_count(it->failing) > 0;
	int kept = s->found[STUCK_FAILURE], erred = s->found[STUCK_ERROR];

	s->count++;
	if (tree != 0)
		s->tree = tree;
	memset(s->found, 0, sizeof s->found);
	if (begins_attempt(s, it)) {
		failures_begin(s);
		memset(s->errors, 0, sizeof s->errors);
		s->best_coverage = NAN;
		s->idle = 0;
		kept = erred = 0;
	}
	if (gets_on(s, it)) {
		if (it->tests > 0)
			failures_begin(s);
		refusals_begin(s);
		errors_begin(s);
		kept = erred = 0;
	} else if (changed) {
		errors_begin(s);
	}
	if (!it->part)
		s->idle = is_words_only(it) ? s->idle + 1 : 0;
	s->found[STUCK_IDLE] = s->idle;
	s->refused = refused;
	if (refused)
		add_failure(s, it, t, known && !changed);
	else
		s->found[STUCK_FAILURE] = kept; /* nobody has judged it */
	if (it->errors_known)
		add_errors(s, it, t);
	else if (!changed)
		s->found[STUCK_ERROR] = erred;
	add_calls(s, it,
	    known ? !changed : it->files_known && strv_count(it->files) == 0);
	stuck_keep(&s->last, it);
}

/* What is due when it was found so many times, the strongest first. A failure
 * or an error begins at sameErrorCount, and again that much later each time. */
static const struct {
	int at, then; /* times, and again so much later */
	enum progress_step steps[4];
} stuck_ladder[STUCK_RULES] = {
	[STUCK_FAILURE] = { 0, 0,
	    { STEP_WARN, STEP_REDIRECT, STEP_RESTART, STEP_PAUSE } },
	[STUCK_ERROR] = { 0, 0,
	    { STEP_WARN, STEP_REDIRECT, STEP_RESTART, STEP_PAUSE } },
	[STUCK_NO_NEWS] = { 1, 1,
	    { STEP_WARN, STEP_REDIRECT, STEP_REDIRECT, STEP_REDIRECT } },
	[STUCK_CALL] = { CALLS_SAME, 1,
	    { STEP_WARN, STEP_WARN, STEP_WARN, STEP_WARN } },
	[STUCK_IDLE] = { STUCK_IDLE_AT, 1,
	    { STEP_CHECK, STEP_CHECK, STEP_CHECK, STEP_CHECK } },
};

static enum progress_step
step_of(const struct stuck *s, const struct thresholds *t, enum stuck_rule rule)
{
	int at = stuck_ladder[rule].at, then = stuck_ladder[rule].then;
	int times = s->found[rule], n;

	if (at == 0)
		at = then = t->same_error_count;
	if (rule == STUCK_FAILURE && s->moving > 0)
		times = at;
	if (times < at)
		return STEP_NONE;
	n = (times - at) / then;
	if (n > 3)
		n = 3;
	/* Who only talks has no approach that could be changed. */
	if (rule == STUCK_FAILURE && s->idle > 0 && n > 0)
		n = 0;
	/* The check has refused the work as it is. */
	if (rule == STUCK_IDLE && n > 0 && s->refused)
		return STEP_PAUSE;
	return stuck_ladder[rule].steps[n];
}

enum severity
stuck_judge(const struct stuck *s, const struct thresholds *t,
    enum stuck_rule *ret_rule, enum progress_step *ret_step)
{
	enum progress_step most = STEP_NONE;

	for (int rule = 0; rule < STUCK_RULES; rule++) {
		enum progress_step step = step_of(s, t, (enum stuck_rule)rule);

		if (step > most) {
			most = step;
			*ret_rule = (enum stuck_rule)rule;
		}
	}
	*ret_step = most;
	if (most == STEP_NONE)
		return SEVERITY_NONE;
	switch (*ret_rule) {
	case STUCK_FAILURE:
	case STUCK_ERROR:
		return s->found[*ret_rule] >= STUCK_CRITICAL ?
		    SEVERITY_CRITICAL :
		    SEVERITY_HIGH;
	case STUCK_NO_NEWS:
		return SEVERITY_HIGH;
	default:
		return SEVERITY_MEDIUM;
	}
}

/* --- in words
 * -----------------------------------------------------------------------------
 */

static const char *const failure_recommendations[] = {
	"Change approach or strategy",
	"Break task into smaller sub-tasks",
	"Request human intervention",
	"Review and address root cause",
	NULL,
};

static const char *const call_recommendations[] = {
	"Use what the calls have said already",
	"Take a step whose result you do not know yet",
	"Say what is missing if nothing is left to try",
	NULL,
};

static const char *const idle_recommendations[] = {
	"Check the work as it is",
	NULL,
};

void
stuck_describe(const struct stuck *s, enum stuck_rule rule, struct detection *d)
{
	const struct iteration *it = s->latest;
	struct json_object *blockers = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;
	int times = s->found[rule];

	d->recommendations = failure_recommendations;
	switch (rule) {
	case STUCK_FAILURE:
		if (it != NULL && it->failure != NULL)
			failure_quote(it->failure, &text);
		times = s->moving > 0 ? s->moving : times;
		d->message = xasprintf(
		    "Stuck: The end of the turn was refused %d times in the "
		    "same way, and %s",
		    times,
		    s->moving > 0 ? "only a number in it has changed" :
				    "nothing got better");
		break;
	case STUCK_ERROR:
		if (it != NULL && s->error < strv_count(it->errors))
			buf_adds(&text, it->errors[s->error]);
		d->message = xasprintf("Stuck: Same error repeated %d times "
				       "with minimal progress",
		    times);
		break;
	case STUCK_NO_NEWS:
		if (s->last->repeated != NULL)
			buf_adds(&text, s->last->repeated);
		d->message = xasprintf(
		    "Stuck: %d calls that changed nothing, and at most %d of "
		    "each %d brought anything new",
		    times * CALLS_SLICE, CALLS_NEWS, CALLS_SLICE);
		d->recommendations = call_recommendations;
		break;
	case STUCK_CALL:
		if (s->last->repeated != NULL)
			buf_adds(&text, s->last->repeated);
		d->message = xasprintf("Stuck: The same call gave the same "
				       "answer %d times, on the same tree",
		    times);
		d->recommendations = call_recommendations;
		break;
	default:
		d->message =
		    xasprintf("Stuck: %d turns with words only", times);
		d->recommendations = idle_recommendations;
		break;
	}
	for (size_t i = 0;
	     it != NULL && i < strv_count(it->blockers) && i < BLOCKERS_SHOWN;
	     i++)
		json_object_array_add(
		    blockers, json_object_new_string(it->blockers[i]));
	json_set_string(d->evidence, "repeatedError", text.data);
	json_set_int(d->evidence, "occurrences", times);
	json_set(d->evidence, "avgProgressRate",
	    isnan(s->rate) ? NULL : json_object_new_double(s->rate / 100));
	json_set(d->evidence, "recentBlockers", blockers);
}
