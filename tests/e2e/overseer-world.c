/* SPDX-License-Identifier: ISC */

#include "overseer-world.h"
#include "shown.h"

int
overseer_world_lock(const char *root)
{
	int fd = lock_try(e2e_path("%s/.llmc/overseer.lock", root), NULL);

	ck_assert_int_ge(fd, 0);
	return fd;
}

void
overseer_world_write(
    const char *root, const char *state, bool alive, const char *more)
{
	struct procref self = PROCREF_INIT;
	struct json_object *json;

	ck_assert_int_eq(procref_set_self(&self), 0);
	if (!alive)
		self.start_time++;
	json = procref_to_json(&self);
	procref_release(&self);
	e2e_write(e2e_path("%s/.llmc/overseer.json", root),
	    e2e_path("{\"pid\":%lld,\"start_time\":%lld,\"boot_id\":\"%s\","
		     "\"start_time_unix\":%lld,\"instance_id\":\"i-1\","
		     "\"version\":\"1\",\"state\":\"%s\"%s}",
		(long long)json_int_or(json, "pid", 0),
		(long long)json_int_or(json, "start_time", 0),
		json_string_or(json, "boot_id", ""),
		(long long)clock_wall_ms() / 1000 - 125, state, more));
	json_object_put(json);
}
