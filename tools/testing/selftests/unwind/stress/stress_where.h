/* SPDX-License-Identifier: GPL-2.0 */
/* Count the unwinder's functions that NMIs hit. */
#ifndef SELFTEST_UNWIND_STRESS_WHERE_H
#define SELFTEST_UNWIND_STRESS_WHERE_H

struct unwind_stress_event;

/* Call it before the module is unloaded: it also looks up the module's functions */
int where_init(void);
void where_event(const struct unwind_stress_event *event);
void where_print(void);

/* The number of requests from NMIs that hit the core itself */
unsigned long where_in_core(void);

#endif /* SELFTEST_UNWIND_STRESS_WHERE_H */
