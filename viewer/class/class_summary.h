/* class_summary.h: what a teacher wants to know of a graded class: results, and checks that many fail. */
#ifndef FERRY_CLASS_SUMMARY_H
#define FERRY_CLASS_SUMMARY_H

#include <stdio.h>

#include "class_rows.h"
#include "submissions.h"

void class_summary(FILE *to, const class_rows *rows, const submissions *all);
/* Appends a test suite per submission, in the XML that build servers read: a test a check. */
void class_junit(fy_text *to, const class_rows *rows);

#endif
