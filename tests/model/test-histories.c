/* SPDX-License-Identifier: ISC */

/* With the default settings, good work is left alone: over histories of healthy
 * work nothing more than a note is ever due. And no loop is missed: a sick one
 * is noticed in time, and a person is asked within twelve iterations more. */

#include "unit.h"
#include "histories.h"

#define LEAST 30 /* of each kind */

struct seen {
	int healthy, sick;
};

static void
check(const struct history *h, void *arg)
{
	struct seen *seen = arg;
	int64_t at;

	if (!h->sick) {
		seen->healthy++;
		for (int i = 0; i < DETECTION_TYPES; i++)
			ck_assert_msg(h->seen[i] == 0,
			    "%s: %s for %s at iteration %lld", h->name,
			    progress_step_words[h->highest],
			    detection_type_words[i], (long long)h->seen[i]);
		return;
	}
	seen->sick++;
	ck_assert_msg(h->expected < DETECTION_TYPES, "%s", h->name);
	at = h->seen[h->expected];
	ck_assert_msg(at > 0 && at <= h->within,
	    "%s: %s at iteration %lld, expected at %lld", h->name,
	    detection_type_words[h->expected], (long long)at,
	    (long long)h->within);
}

TEST(healthy_work_is_only_noted_and_sick_work_is_noticed_in_time)
{
	cleanup_buf struct buf table = BUF_INIT;
	struct seen seen = { 0 };

	histories_table(HEALTHY_HISTORIES, SICK_HISTORIES, &table);
	for (char *line = table.data, *end; *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		printf("# %.*s\n", (int)(end - line), line);
		end += *end == '\n';
	}
	histories_live(HEALTHY_HISTORIES, SICK_HISTORIES, check, &seen);
	ck_assert_int_ge(seen.healthy, LEAST);
	ck_assert_int_ge(seen.sick, LEAST);
}

/* The iterations at which the steps are taken. */
static const struct {
	const char *name;
	int64_t redirected, restarted, retried, asked;
} climbs[] = {
	{ "a contract that is not met", 6, 9, 0, 12 },
	{ "two failures in turn, with another tree each time", 7, 10, 0, 13 },
	{ "three failures in a circle", 8, 11, 0, 14 },
};

static void
check_steps(const struct history *h, void *arg)
{
	size_t *found = arg;

	for (size_t i = 0; i < nitems(climbs); i++) {
		if (strcmp(h->name, climbs[i].name) != 0)
			continue;
		++*found;
		ck_assert_int_eq(h->redirected, climbs[i].redirected);
		ck_assert_int_eq(h->restarted, climbs[i].restarted);
		ck_assert_int_eq(h->retried, climbs[i].retried);
		ck_assert_int_eq(h->asked, climbs[i].asked);
	}
}

TEST(the_same_failure_is_met_twelve_times_at_most_before_a_person_is_asked)
{
	size_t found = 0;

	histories_live(HEALTHY_HISTORIES, SICK_HISTORIES, check_steps, &found);
	ck_assert_uint_eq(found, nitems(climbs));
}
