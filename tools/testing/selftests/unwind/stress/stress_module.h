/* SPDX-License-Identifier: GPL-2.0 */
/* The stress module, kernel/unwind/tests/stress_main.c, and its files. */
#ifndef SELFTEST_UNWIND_STRESS_MODULE_H
#define SELFTEST_UNWIND_STRESS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

struct check;

/* 0, or an error: ENOENT when there is no such module */
int module_load(void);
int module_unload(void);

/* Write to one of the module's files, or read it and discard the text */
bool module_set(const char *name, unsigned long value);
bool module_wait(const char *name);

/* Print one of its files */
void module_show(const char *name);

/* Check the log; @event, if given, is called with each event as well */
struct unwind_stress_event;
bool module_check(struct check *check,
		  void (*event)(const struct unwind_stress_event *event));

#endif /* SELFTEST_UNWIND_STRESS_MODULE_H */
