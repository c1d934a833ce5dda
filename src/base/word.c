/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "word.h"

#define SHOWN_MAX 40 /* bytes shown of an unknown word */

bool
word_find(const char *const *words, const char *word, unsigned *ret_index)
{
	for (unsigned i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], word) == 0) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

int
word_parse(const char *word, const char *path, const char *const *words,
    unsigned *ret_index, struct err *err)
{
	cleanup_buf struct buf seen = BUF_INIT;
	const char *nearest;

	if (word_find(words, word, ret_index))
		return 0;
	text_add_visible(
	    &seen, word, text_cut(word, strlen(word), SHOWN_MAX), false);
	nearest = text_nearest(word, words);
	if (nearest == NULL)
		return err_set(err, -EINVAL, "%s: \"%s\" is not a valid value",
		    path, seen.data);
	return err_set(err, -EINVAL,
	    "%s: \"%s\" is not a valid value; did you mean \"%s\"?", path,
	    seen.data, nearest);
}

int
word_get(struct json_object *json, const char *at, const char *key,
    const char *const *words, unsigned *ret_index, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *word = NULL;
	int r = json_get_string(json, at, key, &word, err);

	if (r < 0)
		return r;
	json_path_key(&path, at, key);
	return word_parse(word, path.data, words, ret_index, err);
}
