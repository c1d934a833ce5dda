/* SPDX-License-Identifier: ISC */

/* Any history of iterations: judged, or refused with a reason; what is read is
 * written and read again to the same. */

#include "fuzz.h"
#include "behaviour.h"
#include "error-signature.h"
#include "failure-text.h"
#include "iteration.h"
#include "thresholds.h"

static void
round_trip(struct json_object *json)
{
	cleanup_iteration struct iteration *it = NULL, *again = NULL;
	cleanup_json struct json_object *once = NULL, *twice = NULL;

	if (iteration_from_json(json, "x", 1, &it, NULL) < 0)
		return;
	once = iteration_to_json(it);
	check(iteration_from_json(once, "x", 1, &again, NULL) == 0);
	twice = iteration_to_json(again);
	check(json_object_equal(once, twice));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL, *found = NULL;
	cleanup_json struct json_object *steps = NULL;
	cleanup_strv char **unknown = NULL;
	struct failure failure;
	cleanup_buf struct buf signature = BUF_INIT, same = BUF_INIT;
	cleanup_buf struct buf text = BUF_INIT, quote = BUF_INIT;
	struct thresholds thresholds;
	struct err err = { 0 };

	error_signature((const char *)data, size, &signature);
	error_signature_hash((const char *)data, size);
	buf_add(&text, data, size);
	failure_read(text.data, &failure);
	check(failure.key != 0);
	failure_quote(text.data, &quote);
	error_signature((const char *)data, size, &same);
	check(signature.len == same.len);
	if (json_parse((const char *)data, size, 1 << 20, &json, NULL) < 0)
		return 0;
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	if (behaviour_check(&thresholds, json, &found, &unknown, &err) < 0)
		check(found == NULL && err.msg[0] != '\0');
	else
		check(json_object_is_type(found, json_type_array));
	if (behaviour_replay(&thresholds, json, &steps, &err) < 0)
		check(steps == NULL && err.msg[0] != '\0');
	else
		check(json_object_is_type(steps, json_type_array));
	if (json_object_is_type(json, json_type_array))
		for (size_t i = 0; i < json_object_array_length(json); i++)
			round_trip(json_object_array_get_idx(json, i));
	return 0;
}
