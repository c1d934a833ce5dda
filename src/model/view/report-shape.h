/* SPDX-License-Identifier: ISC */

/* What a report (report-make.h) looks like. */
#ifndef REPORT_SHAPE_H
#define REPORT_SHAPE_H

#include "schema.h"

extern const struct schema_field report_shape;

#endif
