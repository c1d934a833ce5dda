/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-records.h"

void
git_records_init(struct git_records *records, const char *out, size_t len)
{
	records->at = out;
	records->end = out + len;
}

const char *
git_records_next(struct git_records *records)
{
	const char *record = records->at;

	if (record >= records->end)
		return NULL;
	records->at += strnlen(record, (size_t)(records->end - record)) + 1;
	return record;
}

const char *
git_records_skip(const char *s, int n)
{
	for (; s != NULL && n > 0; n--) {
		s = strchr(s, ' ');
		if (s != NULL)
			s++;
	}
	return s;
}

bool
git_records_word(const char *s, char *out, size_t size)
{
	size_t len;

	if (s == NULL)
		return false;
	len = strcspn(s, " ");
	if (len == 0 || len >= size)
		return false;
	memcpy(out, s, len);
	out[len] = '\0';
	return true;
}
