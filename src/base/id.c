/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "id.h"

#define ID_TIME_MAX ((INT64_C(1) << 48) - 1)

/* Crockford's alphabet: no I, L, O, U. */
static const char id_base32[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

void
id_uuid(char out[ID_UUID_SIZE])
{
	unsigned char bytes[16];
	char *p = out;

	arc4random_buf(bytes, sizeof bytes);
	bytes[6] = (bytes[6] & 0x0f) | 0x40; /* version 4 */
	bytes[8] = (bytes[8] & 0x3f) | 0x80; /* the usual variant */
	for (size_t i = 0; i < sizeof bytes; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		snprintf(p, 3, "%02x", bytes[i]);
		p += 2;
	}
}

bool
id_uuid_valid(const char *s)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	for (i = 0; form[i] != '\0'; i++) {
		if (form[i] == '-' ? s[i] != '-' :
				     !isxdigit((unsigned char)s[i]))
			return false;
	}
	return s[i] == '\0';
}

void
id_ulid(int64_t wall_ms, char out[ID_ULID_SIZE])
{
	/* The last one made, as a 128-bit number, and the process that made it:
	 * after a fork, parent and child would continue from the same
	 * number. */
	static struct {
		pid_t pid;
		int64_t wall_ms;
		uint64_t high, low;
	} last;
	uint64_t high, low;

	if (wall_ms < 0)
		wall_ms = 0;
	if (wall_ms > ID_TIME_MAX)
		wall_ms = ID_TIME_MAX;
	if (last.pid == getpid() && last.wall_ms == wall_ms) {
		if (++last.low == 0)
			last.high++;
	} else {
		last.pid = getpid();
		last.wall_ms = wall_ms;
		last.high = (uint64_t)wall_ms << 16 | (arc4random() & 0xffff);
		arc4random_buf(&last.low, sizeof last.low);
	}
	high = last.high;
	low = last.low;
	out[ID_ULID_SIZE - 1] = '\0';
	for (int i = ID_ULID_SIZE - 2; i >= 0; i--) {
		out[i] = id_base32[low & 31];
		low = low >> 5 | high << 59;
		high >>= 5;
	}
}

bool
id_ulid_valid(const char *s)
{
	/* 26 digits hold 130 bits, so the first has only eight values. */
	return *s >= '0' && *s <= '7' &&
	    strspn(s, id_base32) == ID_ULID_SIZE - 1 &&
	    s[ID_ULID_SIZE - 1] == '\0';
}

uint64_t
id_hash64(const char *s)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *s != '\0'; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return hash;
}

void
id_hash(const char *s, char *out, int n)
{
	char digits[17];

	snprintf(digits, sizeof digits, "%016" PRIx64, id_hash64(s));
	strlcpy(out, digits, (size_t)n + 1);
}
