/* SPDX-License-Identifier: ISC */

/* In place of PostgreSQL where libpq was not there when llmc was built. */
#include "base.h"
#include "shared-private.h"

/* Without the address: it may have a password in it. */
static int
refuse(struct err *err)
{
	return err_set(err, -EINVAL,
	    "fleet.database: this llmc was built without PostgreSQL; install "
	    "libpq-dev and build it again");
}

int
shared_postgres_new(
    const struct shared_options *options, struct shared **ret, struct err *err)
{
	(void)options;
	(void)ret;
	return refuse(err);
}

int
shared_postgres_owner(const struct shared_owner_task *task,
    struct json_object *report, struct err *err)
{
	(void)task;
	(void)report;
	return refuse(err);
}
