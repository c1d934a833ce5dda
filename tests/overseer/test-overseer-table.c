/* SPDX-License-Identifier: ISC */

/* The table of the overseer: each state has an answer to each event. */
#include "unit.h"

#include "overseer-private.h"

static const struct overseer_row *
answer(enum overseer_state state, enum overseer_event event)
{
	return &overseer_table[state][event];
}

static const char *
pair(enum overseer_state state, enum overseer_event event)
{
	static char words[128];

	snprintf(words, sizeof words, "%s, %s", overseer_state_name(state),
	    overseer_event_name(event));
	return words;
}

TEST(each_state_answers_each_event)
{
	for (unsigned s = 0; s < STATE_COUNT; s++)
		for (unsigned e = 0; e < WHEN_COUNT; e++) {
			const struct overseer_row *row = answer(s, e);

			ck_assert_msg(
			    row->act != ACT_UNSET, "nothing: %s", pair(s, e));
			ck_assert_msg(row->act != ACT_NONE || row->next == s,
			    "leaves it without an act: %s", pair(s, e));
		}
}

/* Else it could be left out. */
TEST(each_act_is_in_the_table_and_can_be_performed)
{
	bool used[ACT_COUNT] = { false };

	for (unsigned s = 0; s < STATE_COUNT; s++)
		for (unsigned e = 0; e < WHEN_COUNT; e++)
			used[answer(s, e)->act] = true;
	for (unsigned act = ACT_NONE + 1; act < ACT_COUNT; act++) {
		ck_assert_msg(used[act], "%s", overseer_act_name(act));
		ck_assert_msg(
		    respond_acts[act] != NULL, "%s", overseer_act_name(act));
	}
}

TEST(each_state_is_reached_and_each_event_matters)
{
	bool reached[STATE_COUNT] = { [STATE_STARTING] = true }, more = true;

	while (more) {
		more = false;
		for (unsigned s = 0; s < STATE_COUNT; s++)
			for (unsigned e = 0; e < WHEN_COUNT && reached[s];
			     e++) {
				enum overseer_state next = answer(s, e)->next;

				more = more || !reached[next];
				reached[next] = true;
			}
	}
	for (unsigned s = 0; s < STATE_COUNT; s++)
		ck_assert_msg(reached[s], "%s", overseer_state_name(s));
	for (unsigned e = 0; e < WHEN_COUNT; e++) {
		bool matters = false;

		for (unsigned s = 0; s < STATE_COUNT; s++)
			matters = matters || answer(s, e)->act != ACT_NONE;
		ck_assert_msg(matters, "%s", overseer_event_name(e));
	}
}

TEST(the_end_is_the_end)
{
	for (unsigned e = 0; e < WHEN_COUNT; e++)
		ck_assert_msg(
		    answer(STATE_TERMINATED, e)->next == STATE_TERMINATED, "%s",
		    pair(STATE_TERMINATED, e));
	for (unsigned s = 0; s < STATE_TERMINATED; s++)
		ck_assert_msg(answer(s, WHEN_OVER)->next == STATE_TERMINATED,
		    "%s", pair(s, WHEN_OVER));
}

/* Whatever it is at. Then nothing is started or repaired any more. */
TEST(a_person_can_always_stop_it)
{
	for (unsigned s = 0; s < STATE_TERMINATED; s++)
		ck_assert_msg(answer(s, WHEN_STOP)->next == STATE_STOPPING,
		    "%s", pair(s, WHEN_STOP));
	for (unsigned e = 0; e < WHEN_COUNT; e++) {
		enum overseer_state next = answer(STATE_STOPPING, e)->next;

		ck_assert_msg(
		    next == STATE_STOPPING || next == STATE_TERMINATED, "%s",
		    pair(STATE_STOPPING, e));
	}
}

/* In the states in which there may be a daemon. */
TEST_ROWS(no_end_of_a_daemon_is_missed, 4)
{
	static const enum overseer_state with[] = { STATE_STARTING,
		STATE_RUNNING, STATE_ENDING_DAEMON, STATE_STOPPING };
	static const enum overseer_event ends[] = { WHEN_ENDED, WHEN_DIED,
		WHEN_BEATEN };

	for (size_t i = 0; i < nitems(ends); i++)
		ck_assert_msg(answer(with[_i], ends[i])->act != ACT_NONE, "%s",
		    pair(with[_i], ends[i]));
}

/* A failure is recorded once its daemon has ended, and only then chosen
 * about. */
TEST(one_death_is_recorded_once)
{
	unsigned records = 0;

	for (unsigned s = 0; s < STATE_COUNT; s++)
		for (unsigned e = 0; e < WHEN_COUNT; e++) {
			enum overseer_act act = answer(s, e)->act;

			if (act == ACT_RECORD) {
				records++;
				ck_assert_uint_eq(s, STATE_ENDING_DAEMON);
			}
			if (act == ACT_FIND_DEAD || act == ACT_END_DAEMON)
				ck_assert_uint_ne(s, STATE_ENDING_DAEMON);
		}
	ck_assert_uint_eq(records, 3);
}
