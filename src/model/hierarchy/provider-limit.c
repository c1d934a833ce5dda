/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "provider-limit.h"
#include "text.h"

#define COUNT_MAX        10000
#define DEFAULT_PROVIDER "anthropic"

static bool
parse(const char *limit, size_t *ret_name, size_t *ret_count)
{
	size_t name = strcspn(limit, "=");
	int64_t count;

	for (size_t i = 0; i < name; i++)
		if (!isalnum((unsigned char)limit[i]) &&
		    strchr("._-", limit[i]) == NULL)
			return false;
	if (name == 0 || limit[name] == '\0' ||
	    !text_parse_int(limit + name + 1, 0, COUNT_MAX, &count))
		return false;
	*ret_name = name;
	*ret_count = (size_t)count;
	return true;
}

bool
provider_limit_valid(const char *limit)
{
	size_t name, count;

	return parse(limit, &name, &count);
}

size_t
provider_limit_count(const char *limit)
{
	size_t name, count;

	return parse(limit, &name, &count) ? count : 0;
}

bool
provider_limit_covers(const char *limit, const char *model)
{
	const char *slash = model != NULL ? strchr(model, '/') : NULL;
	const char *own = slash != NULL ? slash + 1 : model;
	size_t name, count;

	if (!parse(limit, &name, &count))
		return false;
	if (slash == NULL ? name == strlen(DEFAULT_PROVIDER) &&
		    strncasecmp(limit, DEFAULT_PROVIDER, name) == 0 :
			    (size_t)(slash - model) == name &&
		    strncasecmp(limit, model, name) == 0)
		return true;
	return own != NULL && strncasecmp(own, limit, name) == 0 &&
	    !isalnum((unsigned char)own[name]);
}
