/* SPDX-License-Identifier: ISC */

#include "livework.h"
#include "watchlog.h"

#define WORKS_MAX 100
#define TURNS_MAX 12 /* within which a sick one is told something */
#define TURNS_LED 8 /* of a healthy one: twice what it takes to be told */

struct work {
	const char *name;
	bool is_sick;
};

static struct {
	struct work works[WORKS_MAX];
	size_t count, healthy, sick;
} live;

/* --- the agent and the check ---------------------------------------------- */

static const char *
place(const char *name)
{
	return e2e_path("%s/%s", auto_gates(), name);
}

/* play start NUMBER, play next, play good: one commit each. */
#define PLAY                                      \
	"#!/bin/sh\n"                             \
	"own='%s'/of-$(basename \"$PWD\")\n"      \
	"test $1 != start || echo $2 >\"$own\"\n" \
	"file=play-$(cat \"$own\").txt\n"         \
	"n=$(cat $file 2>/dev/null || echo 0)\n"  \
	"case $1,$n in\n"                         \
	"good,*) n=done ;;\n"                     \
	"*,done) ;;\n"                            \
	"*) n=$((n + 1)) ;;\n"                    \
	"esac\n"                                  \
	"echo $n >$file\n"                        \
	"git add $file\n"                         \
	"git commit -qm \"$file: $n\"\n"          \
	"date +%%N | tr 0-9 a-j\n"

/* What the check says last is what the agent does next. */
#define CHECK                                                                   \
	"#!/bin/sh\n"                                                           \
	"for file in play-*.txt; do\n"                                          \
	"	test -e $file || continue\n"                                          \
	"	n=$(cat $file)\n"                                                     \
	"	test $n != done || continue\n"                                        \
	"	at=${file#play-} at='%s'/${at%%.txt}\n"                               \
	"	count=$(cat $at/count) next=next\n"                                   \
	"	i=$(((n - 1) %% count + 1))\n"                                        \
	"	cat $at/$i\n"                                                         \
	"	if test -e $at/sick; then\n"                                          \
	"		grep '\"type\":\"oversight\"' '%s' |\n"                              \
	"		    grep -v '\"action\":\"log\"' |\n"                                \
	"		    grep -q \"\\\"task\\\":\\\"$(cat $at/sick)\\\"\" && next=good\n" \
	"		test $n -lt 12 || next=good\n"                                       \
	"	elif test $i = $count; then\n"                                        \
	"		next=good\n"                                                         \
	"	fi\n"                                                                 \
	"	echo \"fake: run sh '%s' $next\"\n"                                   \
	"	exit 1\n"                                                             \
	"done\n"

void
livework_begin(void)
{
	const char *here = auto_gates();

	e2e_script(place("play"), e2e_path(PLAY, here));
	e2e_script(place("check"),
	    e2e_path(CHECK, here, fleet_file("logs/auto.log"), place("play")));
	auto_set("auto.check_command", e2e_path("sh '%s'", place("check")));
	auto_set("auto.max_turns", "40");
}

/* --- the histories ------------------------------------------------------- */

static const char *
failure_of(struct json_object *iteration)
{
	return json_string_or(json_object_object_get(iteration, "analysis"),
	    "checkFailure", NULL);
}

/* How many turns its check fails; 0 = it is not the check that ends them, or
 * more than one attempt. */
static size_t
turns_of(struct json_object *turns)
{
	size_t count = json_object_array_length(turns), failed = 0;

	for (size_t i = 0; i < count; i++) {
		struct json_object *turn = json_object_array_get_idx(turns, i);

		if (json_int_or(turn, "attempt", 1) > 1 ||
		    (failure_of(turn) == NULL && i + 1 < count))
			return 0;
		failed += failure_of(turn) != NULL;
	}
	return failed;
}

/* Its folder has what the check says in each turn. */
static void
add_work(const char *name, struct json_object *turns, size_t count, bool sick)
{
	const char *id = e2e_path("%02zu", live.count);
	const char *folder = place(id);

	ck_assert_uint_lt(live.count, WORKS_MAX);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	for (size_t i = 0; i < count; i++)
		e2e_write(e2e_path("%s/%zu", folder, i + 1),
		    e2e_path("%s\n",
			failure_of(json_object_array_get_idx(turns, i))));
	e2e_write(e2e_path("%s/count", folder), e2e_path("%zu\n", count));
	live.works[live.count++] = (struct work){ xstrdup(name), sick };
	if (sick)
		e2e_write(e2e_path("%s/sick", folder),
		    e2e_path("t%zu\n", live.count));
	*(sick ? &live.sick : &live.healthy) += 1;
	auto_task(e2e_path("%s.md", id),
	    "Live through %s\nfake: run sh '%s' start %s", name, place("play"),
	    id);
}

static void
add_works(const char *file, bool sick, size_t step, size_t limit)
{
	struct json_object *list =
	    e2e_load(e2e_path("%s/%s", unit_vectors(), file));
	size_t found = 0;

	ck_assert_ptr_nonnull(list);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		struct json_object *turns =
		    json_object_object_get(one, "history");
		size_t count = turns_of(turns);

		if (!sick && count > TURNS_LED)
			count = TURNS_LED;
		if (count > 0 && found < limit * step && found++ % step == 0)
			add_work(json_string_or(one, "name", ""), turns, count,
			    sick);
	}
	json_object_put(list);
}

/* --- the story ----------------------------------------------------------- */

static void
judge(const struct work *work, const char *task)
{
	int told = watchlog_first(task);

	printf("# %s %s: told after turn %d\n",
	    work->is_sick ? "sick" : "healthy", work->name, told);
	watchlog_last(task, "objective", work->name);
	watchlog_last(task, "testsPassing", "true");
	ck_assert_msg(work->is_sick ? told > 0 && told <= TURNS_MAX : told == 0,
	    "%s (%s): told after turn %d: %s", work->name, task, told,
	    fleet_do("task", "iterations", task, NULL)->out);
}

void
livework_story(size_t step, size_t healthy, size_t sick)
{
	add_works("healthy-histories.json", false, step, healthy);
	add_works("sick-histories.json", true, step, sick);
	ck_assert_uint_eq(live.healthy, healthy);
	ck_assert_uint_eq(live.sick, sick);
	auto_up(NULL);
	auto_wait_finished("landed", (int)live.count);
	for (size_t i = 0; i < live.count; i++)
		judge(&live.works[i], e2e_path("t%zu", i + 1));
	auto_drain();
	auto_no_complaints();
}
