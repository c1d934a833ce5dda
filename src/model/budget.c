/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "budget.h"

#define DOLLAR  1000000
#define CENT    (DOLLAR / 100)
#define DECIMAL 6 /* digits after the point */

static int64_t
sum(int64_t a, int64_t b)
{
	return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + (b > 0 ? b : 0);
}

/* "1,204,332" */
static void
add_grouped(struct buf *out, uint64_t number)
{
	char digits[32];
	int len;

	len =
	    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, digits[i]);
	}
}

static uint64_t
magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

void
budget_add_tokens(struct buf *out, int64_t tokens)
{
	if (tokens < 0)
		buf_addc(out, '-');
	add_grouped(out, magnitude(tokens));
	buf_adds(out, tokens == 1 ? " token" : " tokens");
}

/* Only as precise as useful: dollars to the cent, cents to a tenth, less than a
 * cent exactly. */
void
budget_add_cost(struct buf *out, int64_t cost)
{
	uint64_t micros = magnitude(cost);
	uint64_t unit = micros >= DOLLAR ? CENT :
	    micros >= CENT               ? CENT / 10 :
					   1;
	char decimals[DECIMAL + 1];
	size_t len = DECIMAL;

	micros = (micros + unit / 2) / unit * unit;
	buf_adds(out, cost < 0 ? "-$" : "$");
	add_grouped(out, micros / DOLLAR);
	for (uint64_t rest = micros % DOLLAR, i = DECIMAL; i > 0; rest /= 10)
		decimals[--i] = (char)('0' + rest % 10);
	while (len > 2 && decimals[len - 1] == '0')
		len--;
	buf_addc(out, '.');
	buf_add(out, decimals, len);
}

static void
add_turns(struct buf *out, int64_t turns)
{
	buf_addf(out, "%lld turn%s", (long long)turns, turns == 1 ? "" : "s");
}

bool
budget_reached(const struct budget *budget, const struct budget *granted,
    const struct budget *spent, const char *prefix, struct buf *words)
{
	const struct {
		const char *name;
		int64_t bound, granted, spent;
		void (*add)(struct buf *out, int64_t amount);
	} rows[] = {
		{ "tokens", budget->tokens, granted->tokens, spent->tokens,
		    budget_add_tokens },
		{ "cost", budget->cost, granted->cost, spent->cost,
		    budget_add_cost },
		{ "turns", budget->turns, granted->turns, spent->turns,
		    add_turns },
		{ "time", budget->time_ms, granted->time_ms, spent->time_ms,
		    text_add_duration },
	};
	bool reached = false;

	for (size_t i = 0; i < nitems(rows); i++) {
		if (rows[i].bound <= 0 ||
		    rows[i].spent < sum(rows[i].bound, rows[i].granted))
			continue;
		buf_adds(words, reached ? "; " : "");
		reached = true;
		rows[i].add(words, rows[i].spent);
		buf_adds(words, " used of ");
		rows[i].add(words, sum(rows[i].bound, rows[i].granted));
		buf_addf(words, " (budget.%s_%s", prefix, rows[i].name);
		if (rows[i].granted > 0) {
			buf_adds(words, " and ");
			rows[i].add(words, rows[i].granted);
			buf_adds(words, " granted");
		}
		buf_addc(words, ')');
	}
	return reached;
}

void
budget_spend(
    struct budget_day *day, int64_t today, int64_t tokens, int64_t cost)
{
	if (day->day != today)
		*day = (struct budget_day){ .day = today };
	day->tokens = sum(day->tokens, tokens);
	day->cost = cost >= 0 ? sum(day->cost, cost) :
	    cost > -day->cost ? day->cost + cost :
				0;
}
