/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <string.h>

#include "natural.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Of any length; both are passed over. */
static int
compare_numbers(const char **a, const char **b)
{
	size_t len_a, len_b;
	int order;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	len_a = strspn(*a, "0123456789");
	len_b = strspn(*b, "0123456789");
	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	order = strncmp(*a, *b, len_a);
	*a += len_a;
	*b += len_b;
	return order;
}

int
natural_compare(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;
	int order;

	while (*a != '\0' && *b != '\0') {
		if (is_digit(*a) && is_digit(*b)) {
			order = compare_numbers(&a, &b);
			if (order != 0)
				return order;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	if (*a != *b)
		return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
	return strcmp(whole_a, whole_b); /* 01 and 1 */
}
